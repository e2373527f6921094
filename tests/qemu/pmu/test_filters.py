# SPDX-License-Identifier: Apache-2.0
"""What a guest's counter counts in each mode, under each set of inhibit bits: docs/filters.md is
what this test finds."""

import re

import bare_guests
import harness

MADE = harness.BUILD / "test/filters.md"
DOCUMENT = harness.ROOT / "docs/filters.md"
# In the order of their bits, from 3 on (SBI 3.0, section 11.8).
FLAGS = ("VUINH", "VSINH", "UINH", "SINH", "MINH")
LINE = re.compile(r"filters: event (0x\d) flags (0x[0-9a-f]+): VS (\d+), VU (\d+), HS (-?\d+), "
                  r"M (-?\d+)")
EVENTS = ("0x1", "0x2")  # cycles, instructions
WORK = 2001              # of the guest, in each of its modes
SHOWN = [0, *(1 << n for n in range(3, 8)), 0xf8]

HEAD = f"""# What each filter lets through

<!-- Made by tests/qemu/pmu/test_filters.py. -->

A guest configures a counter of instructions with some of the five inhibit bits of
`counter_config_matching` (SBI 3.0, section 11.8). Then {WORK} instructions run in VS, {WORK} in
VU, and some thousands in HS and in M for the guest: SBI calls, and illegal instructions, which
trap to M first. The table says how many of these the counter has counted. Counters of cycles say
the same, on both back ends.

| asked for | VS | VU | HS | M | U |
| --- | ---: | ---: | ---: | ---: | ---: |
"""
TAIL = """
The guest's S-mode is VS and its U-mode VU, so SINH and UINH are its filters. VSINH and VUINH are
of guests of its own, which it cannot have. HS and M are counted under no filter: a lower privilege
mode never counts a higher one, unless its VM tree says `pmu-freeze = "vcpu"`, which counts HS for
who counts VS ([dts/README.md](../dts/README.md)). Nothing runs in U: Tally has no program there.
"""


def matrix(folder, backend, properties=""):
    """{(event, flags): (VS, VU, HS, M)} and the last line."""
    result = bare_guests.boot(folder, {"alpha": "kind=filters"}, backend=backend,
                              properties=properties)
    *lines, last = result.vm("alpha")
    found = {}
    for line in lines:
        event, flags, *counts = LINE.fullmatch(line).groups()
        found[event, int(flags, 16)] = tuple(map(int, counts))
    assert found.keys() == {(event, n << 3) for event in EVENTS for n in range(32)}
    return found, last


def expected(flags):
    """By the specification, of a guest without H."""
    return (0 if flags >> 6 & 1 else WORK, 0 if flags >> 5 & 1 else WORK, 0, 0)


def named(flags):
    """The names of some bits."""
    names = [name for n, name in enumerate(FLAGS, 3) if flags >> n & 1]
    return "all five" if len(names) == 5 else " ".join(names) or "nothing"


@harness.both_backends
def test_matrix(tmp_path, backend):
    found, last = matrix(tmp_path, backend)
    assert found == {key: expected(key[1]) for key in found}
    # There was something that could have been counted.
    work, traps = map(int, re.fullmatch(r"filters: ends; meanwhile (\d+) instructions in HS and M, "
                                        r"(\d+) traps to M", last).groups())
    assert work > 1000000 and traps == 2 * 32 * 100
    rows = [f"| {named(flags)} | " + " | ".join(map(str, found["0x2", flags])) + " | none run |\n"
            for flags in SHOWN]
    MADE.parent.mkdir(parents=True, exist_ok=True)
    MADE.write_text(HEAD + "".join(rows) + TAIL, encoding="utf-8")
    assert DOCUMENT.read_text(encoding="utf-8") == MADE.read_text(encoding="utf-8"), (
        "cp build/test/filters.md docs/filters.md")


@harness.both_backends
def test_the_instrument(tmp_path, backend):
    """It sees work in HS where that is counted: with pmu-freeze = "vcpu", for who counts VS. M is
    not counted even so: there is no way to ask for it."""
    found, _ = matrix(tmp_path, backend, 'pmu-freeze = "vcpu";')
    for (_, flags), (_, _, hs, m) in found.items():
        assert (hs != 0, m) == (expected(flags)[0] != 0, 0), (flags, hs, m)
