# SPDX-License-Identifier: Apache-2.0
"""No request of a guest keeps a hart in HS for more than 20,000 instructions: here the dearest
there are. harness.run() checks every other run in the exact profile too, and the session prints the
longest."""

import pytest

import bare_guests
import harness

MEASURE = "kind=measure rounds=1 length=100000"
# Without smcntrpmf, so that the firmware's instructions are in the figures (docs/events.md).
ALL_MODES = ["--cpu", "rv64,sscofpmf=on,ssaia=on,ssccfg=on"]
PARTS = ["PLIC", "RFENCE", "interrupts", "PMU", "DBCN", "UART"]


def parts_done(result, name):
    """Which parts of storm ended, in order."""
    return [line.split()[1] for line in result.vm(name)
            if line.startswith("storm: ") and line.endswith(" done")]


def stays(result, name):
    """{vcpu: longest stay} of a VM."""
    return {line.split(": ")[1]: harness.exit_counts(line)["longest-stay"]
            for line in result.own if line.startswith(f"vm {name}: vcpu ")}


# A terminal's console draws unfinished lines again, so it has its own cost.
@pytest.mark.parametrize("backend, append", [("sbi", ""), ("ssccfg", ""),
                                             ("sbi", "tally.console=interactive"),
                                             ("ssccfg", "tally.console=interactive")])
def test_storm(tmp_path, backend, append):
    """The dearest requests there are, in a row, and what they do to who runs beside them."""
    guests = {"alpha": MEASURE, "storm": "kind=storm"}
    result = bare_guests.boot(tmp_path, guests, backend=backend,
                              options=[*ALL_MODES, "--append", append])
    assert result.vm("alpha")[-1] == "measure: ends, 0 wrong of 8"
    assert parts_done(result, "storm") == PARTS
    assert "storm: 1000 overflows" in result.vm("storm")
    for name in guests:
        assert 0 < stays(result, name)["vcpu 0"] <= harness.LONGEST_STAY


@harness.both_backends
def test_storm_on_eight_vcpus(tmp_path, backend):
    """IPIs and fences to eight vcpus of one hart, and their timers; two such VMs."""
    guests = {"alpha": "kind=storm quiet=yes", "beta": "kind=storm quiet=yes"}
    result = bare_guests.boot(tmp_path, guests, vcpus=["0"] * 8, backend=backend,
                              options=ALL_MODES)
    for name in guests:
        assert "storm: 7 other vcpus" in result.vm(name)
        assert parts_done(result, name) == PARTS[:4]
        found = stays(result, name)
        assert list(found) == [f"vcpu {n}" for n in range(8)]
        assert max(found.values()) <= harness.LONGEST_STAY
