# SPDX-License-Identifier: Apache-2.0
"""The extensions that Debian finds are the machine's, so that its kernel does the same work in as many
instructions as without Tally."""

import harness

# H is Tally's own, the others are of M-mode, or need a CSR that guests have not.
KEPT = {"h", "ssaia", "smaia", "ssccfg", "smcdeleg", "smcntrpmf", "smcsrind", "sscsrind"}
# The kernel clears some 8 MB of pages, which is where Zicboz matters.
SCRIPT = """
grep -m1 '^isa' /proc/cpuinfo
perf stat -x, -e instructions:k dd if=/dev/zero of=/zeros bs=1M count=8 2>&1
"""


def isa(lines):
    """The extensions that the kernel names, of one letter and of several."""
    base, *others = next(line for line in lines if line.startswith("isa")).split(":")[1].strip().split("_")
    return set(base.removeprefix("rv64")) | set(others)


def test_as_on_the_firmware_alone(linux, bare):
    """Two guests; what the firmware's machine has more is known, and nobody has less work."""
    alone = bare(SCRIPT)
    result = linux({"alpha": SCRIPT, "beta": SCRIPT})
    assert result.status == harness.OK, str(result)
    expected = harness.perf_counts(alone)["instructions:k"]
    for name in ("alpha", "beta"):
        lines = result.guest_output(name, name)
        assert isa(alone) - isa(lines) <= KEPT
        assert isa(lines) <= isa(alone)
        assert {"zicboz", "zicbom", "svvptc"} & isa(alone) == {"zicboz", "zicbom", "svvptc"} & isa(lines)
        counted = harness.perf_counts(lines)["instructions:k"]
        print(name, counted, "alone", expected)
        assert abs(counted / expected - 1) < 0.03
