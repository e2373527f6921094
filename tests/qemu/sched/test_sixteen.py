# SPDX-License-Identifier: Apache-2.0
"""Sixteen VMs on one hart, each with events, filters, sharers and sampling of its own: each counts
exactly what it counts when it has the hart to itself."""

import pytest

import bare_guests
import harness

SINH, UINH = 0x40, 0x20
PARTS = 2
# (event, flags, sharers, sampling period, length): all different, each longer than several time
# slices.
GUESTS = {
    f"vm{n}": (1 + n % 2, (0, UINH, SINH, 0)[n // 2 % 4], (0, 2, 1, 0, 3)[n % 5],
               (0, 0, 20011 + 500 * n)[n % 3], 1200000 + 50021 * n)
    for n in range(16)
}


def bootargs(event, flags, share, period, length):
    """What kind=mix is told."""
    return (f"kind=mix event={event} flags={flags} share={share} period={period} length={length} "
            f"parts={PARTS}")


def check(name, lines):
    """The numbers that follow from the program's length. Where the guest samples, its handler is
    in what it counts in S."""
    _, flags, share, period, length = GUESTS[name]
    one = PARTS * (2 * length + 1)
    assert len(lines) == share + 2, lines
    for n, line in enumerate(lines[:-1]):
        assert line.startswith(f"mix: counter {n}: S "), line
        s, u = (int(word) for word in line.replace(",", "").split()[4::2])
        assert u == (0 if flags & UINH else one)
        if flags & SINH:
            assert s == 0
        elif period:
            assert one < s < 1.1 * one
        else:
            assert s == one
    overflows = int(lines[-1].split()[1])
    # The sampler counts in S alone, as often as there are counters to measure.
    assert overflows == 0 if not period else overflows >= (share + 1) * one // period, lines[-1]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """{(back end, VM): its lines} of each VM with the hart to itself."""
    lines = {}
    for backend in harness.BACKENDS:
        for name, guest in GUESTS.items():
            result = bare_guests.boot(tmp_path_factory.mktemp(name), {name: bootargs(*guest)},
                                      backend=backend)
            lines[backend, name] = result.vm(name)
    return lines


@harness.both_backends
def test_each_alone(alone, backend):
    for name in GUESTS:
        check(name, alone[backend, name])
        assert alone[backend, name] == alone["sbi", name]


@harness.both_backends
def test_sixteen_at_once(alone, tmp_path, backend):
    guests = {name: bootargs(*guest) for name, guest in GUESTS.items()}
    result = bare_guests.boot(tmp_path, guests, backend=backend)
    for name in GUESTS:
        assert result.vm(name) == alone[backend, name], name
        # It was interrupted while it counted, by others' turns and wake-ups.
        assert bare_guests.exits(result, name)["timer"] >= 3
