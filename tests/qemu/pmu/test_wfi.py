# SPDX-License-Identifier: Apache-2.0
"""An instruction that waits counts as one, whether the vcpu is alone on its hart or not; WFI takes
an exit only where a count needs it."""

import re

import pytest

import bare_guests
import peers
import plain

BACKENDS = ("sbi", "ssccfg")
# Each body has ten instructions, guests/bare/time/wfi.S five more between its reads.
ONE = "nop 15 wrs 15 wfi 15 asleep 15"
NONE = "nop 0 wrs 0 wfi 0 asleep 0"
FILTERS = (("0x0", ONE), ("0x20", ONE), ("0x40", NONE))
EXPECTED = [f"wfi: event {event} flags {flags}: {counts}"
            for event in ("0x2", "0x1") for flags, counts in FILTERS] + ["wfi: ends"]
# 100 rounds for each event and filter, of two kinds of WFI and of WRS.NTO, which traps with it.
# Where WFI does not count what follows it twice, it traps while cycles count alone.
WAITS = 100 * 3 * 6


@pytest.mark.peer
def test_the_firmware_alone_counts_more():
    """What Tally has to make good: the rest of the block counts twice, and sleep as cycles. When
    this fails, an emulator without the defect has come."""
    text = plain.run(plain.make("build/guests/bare.bin"), "kind=wfi")
    lines = re.findall(r"^wfi: (event 0x[12] flags 0x0): (nop \d+ wrs \d+ wfi \d+ asleep \d)",
                       text, re.M)
    peers.check("WFI counted on the firmware alone", peers.machine(), dict(lines))


@pytest.mark.parametrize("backend", BACKENDS)
def test_alone(tmp_path, backend):
    result = bare_guests.boot(tmp_path, {"alpha": "kind=wfi"}, backend=backend)
    assert result.vm("alpha") == EXPECTED
    recounts = any(line.startswith("quirks: ") and "wfi-recounts" in line for line in result.own)
    assert bare_guests.exits(result, "alpha")["wfi"] == (WAITS if recounts else WAITS // 2)


@pytest.mark.parametrize("backend", BACKENDS)
def test_at_the_end_of_a_page(tmp_path, backend):
    """QEMU says of a WFI that traps there that it is a page further on. A guest whose kernel has
    one would go on somewhere else."""
    guests = {"alpha": "kind=wfi edges=yes", "beta": "kind=wfi edges=yes"}
    result = bare_guests.boot(tmp_path, guests, backend=backend)
    seven = "nop 7 wrs 7 wfi 7 asleep 7"
    for name in guests:
        assert result.vm(name) == [f"wfi: edges: {seven}; across: {seven}"]
    assert "wfi-pc-at-page-end" in next(line for line in result.own if line.startswith("quirks: "))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", ["busy", "wfi"])
def test_beside(tmp_path, backend, kind):
    guests = {"alpha": "kind=wfi", "beta": f"kind={kind} ticks=10000000"}
    result = bare_guests.boot(tmp_path, guests, backend=backend)
    assert result.vm("alpha") == EXPECTED
    if kind == "wfi":
        assert result.vm("beta") == EXPECTED


def test_no_exit_where_nothing_counts(tmp_path):
    result = bare_guests.boot(tmp_path, {"alpha": "kind=wfi idle=yes"})
    assert bare_guests.exits(result, "alpha")["wfi"] == 0


def test_idle_cycles(tmp_path):
    """Time asleep is cycles, without an exit. Instructions, which QEMU 10 then counts wrong, are
    refused there."""
    result = bare_guests.boot(tmp_path, {"alpha": "kind=wfi"},
                              properties='\t\t\tpmu-idle-cycles = "on";')
    lines = result.vm("alpha")
    # A QEMU that does not is exact.
    recounts = any(line.startswith("quirks: ") and "wfi-recounts" in line for line in result.own)
    assert lines[:3] == ([f"wfi: event 0x2 flags {flags}: refused" for flags, _ in FILTERS]
                         if recounts else EXPECTED[:3])
    asleep = int(lines[3].split()[-1].split("..")[0])
    assert 900000 < asleep < 1000000, lines
    assert lines[5] == EXPECTED[5]
    assert bare_guests.exits(result, "alpha")["wfi"] == 0
