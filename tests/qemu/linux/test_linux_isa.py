# SPDX-License-Identifier: Apache-2.0
"""The extensions that Debian finds are the machine's, so that its kernel does the same work in as
many instructions as without Tally."""

import harness

# H is Tally's own, the others are of M-mode, or need a CSR that guests have not.
KEPT = {"h", "ssaia", "smaia", "ssccfg", "smcdeleg", "smcntrpmf", "smcsrind", "sscsrind"}
# The kernel clears some 8 MB of pages, which is where Zicboz matters; and makes 100 processes, with
# new page table entries, where Svvptc does.
SCRIPT = """
grep -m1 '^isa' /proc/cpuinfo
echo pages
perf stat -x, -e cycles:k,instructions:k dd if=/dev/zero of=/zeros bs=1M count=8 2>&1
echo processes
perf stat -x, -e cycles:k,instructions:k sh -c '
	n=0; while [ $n -lt 100 ]; do (:); n=$((n+1)); done' 2>&1
"""


def isa(lines):
    """The extensions that the kernel names, of one letter and of several."""
    told = next(line for line in lines if line.startswith("isa"))
    base, *others = told.split(":")[1].strip().split("_")
    return set(base.removeprefix("rv64")) | set(others)


def counted(lines):
    """{what: {event: count}}"""
    middle = lines.index("processes")
    return {"pages": harness.perf_counts(lines[:middle]),
            "processes": harness.perf_counts(lines[middle:])}


def test_as_on_the_firmware_alone(linux, bare):
    """Two guests; what the firmware's machine has more is known, and nobody has less work."""
    alone = bare(SCRIPT)
    result = linux({"alpha": SCRIPT, "beta": SCRIPT})
    assert result.status == harness.OK, str(result)
    for name in ("alpha", "beta"):
        lines = result.guest_output(name, name)
        assert isa(alone) - isa(lines) <= KEPT
        assert isa(lines) <= isa(alone)
        some = {"zicboz", "zicbom", "svvptc"}
        assert some & isa(alone) == some & isa(lines)
        for what, expected in counted(alone).items():
            for event, count in counted(lines)[what].items():
                print(name, what, event, count, "alone", expected[event])
                # Without these extensions 13 %. What is left is work of the kernel that depends on
                # the time: its ticks, and the console's exits.
                assert abs(count / expected[event] - 1) < 0.02
