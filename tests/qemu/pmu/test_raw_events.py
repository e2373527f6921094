# SPDX-License-Identifier: Apache-2.0
"""Raw events, on a machine whose firmware takes them: QEMU's device tree with a map of raw events.
This hart knows cycles as 1 and instructions as 2, so code of known length judges the counts."""

import re

import pytest

import bare_guests
import harness
import plain
from raw_events import COUNTS, CPU, boot

# What QEMU would count as something else than it was told, or never: see docs/platform-counters.md.
REFUSED = [f"raw: event {event} data {data} flags 0x0: error -2"
           for event in ("0x20000", "0x30000") for data in ("0x1234", "0x100002")]


@pytest.fixture(scope="module")
def on_firmware(raw_machine):
    """Lines of the same guest on the firmware alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain, "QEMU", str(raw_machine()))
        text = plain.run(plain.make("build/guests/bare.bin"), "kind=raw", memory="1G")
    return [line for line in text.splitlines() if line.startswith("raw: ")]


@pytest.mark.parametrize("backend", ["sbi", "ssccfg"])
def test_counts(tmp_path, raw_machine, on_firmware, backend):
    result = boot(tmp_path, raw_machine(), {"alpha": "kind=raw"}, backend=backend)
    lines = result.vm("alpha")
    assert lines[:16] == COUNTS
    # OpenSBI 1.5.1 knows version 1 only.
    assert [line for line in on_firmware[:16] if "0x20000" in line] == COUNTS[::2]
    # Beside its other name: what the firmware counts under one of them, twice.
    total = re.search(r": (\d+), apart by", on_firmware[16]).group(1)
    assert [line.split(": ")[2] for line in lines[16:20]] == [f"{total}, apart by 0"] * 4
    assert lines[20:24] == REFUSED
    for line, when in zip(lines[24:26], ("with nothing configured", "while both are counted")):
        assert line == f"raw: event info {when}: error 0, 2000 of 4000 can be counted, 0 wrong"
    assert lines[26:] == ["raw: ends"]
    assert bare_guests.exits(result, "alpha")["longest-stay"] <= harness.LONGEST_STAY


@pytest.mark.parametrize("backend", ["sbi", "ssccfg"])
def test_neighbours(tmp_path, raw_machine, backend):
    """Raw events in one guest, the same events by their names in another, on one hart."""
    guests = {"alpha": "kind=raw", "beta": "kind=measure rounds=1 length=1000000",
              "gamma": "kind=pmuloop ticks=300000"}
    result = boot(tmp_path, raw_machine(), guests, backend=backend)
    assert result.vm("alpha")[:16] == COUNTS
    assert result.vm("beta")[-1] == "measure: ends, 0 wrong of 8"
    for name in guests:
        assert bare_guests.exits(result, name)["longest-stay"] <= harness.LONGEST_STAY


@pytest.mark.parametrize("backend", ["sbi", "ssccfg"])
def test_perf(tmp_path, raw_machine, backend):
    """Debian's perf counts r1 and r2."""
    script = "perf stat -x, -e r2:u,instructions:u,r1:u work 3000000 2>&1\n"
    result = harness.run(harness.linux_tree(tmp_path, {"alpha": script}), backend=backend,
                         options=["--qemu", raw_machine()], timeout=harness.GUARD)
    assert result.status == harness.OK, str(result)
    counts = harness.perf_counts(result.guest_output("alpha", "alpha"))
    assert counts == {"r2:u": 3000000, "instructions:u": 3000000, "r1:u": 3000000}


def test_refused_where_selectors_cannot_be_learnt(tmp_path, raw_machine):
    """Without Ssccfg nobody can say that raw 2 and instructions want the same counter."""
    cpu = CPU.replace(",ssccfg=on", "")
    result = bare_guests.boot(tmp_path, {"alpha": "kind=raw"}, timeout=harness.GUARD,
                              options=["--qemu", raw_machine(cpu), "--cpu", cpu])
    lines = result.vm("alpha")
    assert [line for line in lines if line.startswith("raw: event 0x")
            and "error" not in line] == []
    assert bare_guests.exits(result, "alpha")["longest-stay"] <= harness.LONGEST_STAY
