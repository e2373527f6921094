# SPDX-License-Identifier: Apache-2.0
"""A process in a Debian guest reads its events by perf's mmap page, as libperf does it, and by
read(): both say the same, to the instruction; by direct reads and by trapped ones, of a counter of
its own and of a shared one, and with the vcpu off the hart in between."""

import re
import shutil

import pytest

import harness
from linux_counts import AFTER, WAIT, with_neighbour
import plain

ALONE, BESIDE = 100, 500
# perf has libperf inside; its own tests of user space reads (4.2, 4.3) use that.
SCRIPT = f"""
echo "alone"
/test/mmap_reads {ALONE} 1
/test/mmap_reads {ALONE} 2
{WAIT}
echo "beside"
/test/mmap_reads {BESIDE} 1
/test/mmap_reads {BESIDE} 2
perf test "User space counter" 2>&1
"""
LINE = re.compile(r"mmap_reads: (\w+ \d of \d): (\d+) pairs, (\d+) wrong, (\d+) away; "
                  r"disabled (\d+), (\d+) wrong, (\d+) away; exits for reads (\d+), again (\d+)")
# What each phase prints of: the second of two that count the same shares a hardware counter, which
# is read directly by one of them only.
OWN = ["instructions 1 of 1", "cycles 1 of 1", "instructions 1 of 2", "cycles 1 of 2"]
SHARER = ["instructions 2 of 2", "cycles 2 of 2"]


def check(lines, reads, count):
    """One phase. Beside a busy neighbour the vcpu is away in many pairs, read in each way: about
    one in twenty, and one in eight of the disabled ones, whose gap is longer."""
    found = {}
    switched = {"direct": 0, "trapped": 0, "disabled": 0}
    for line in lines:
        name, *numbers = LINE.fullmatch(line).groups()
        found[name] = [int(n) for n in numbers]
    assert sorted(found) == sorted(OWN + SHARER)
    for name, (pairs, wrong, away, disabled, d_wrong, d_away, exits, again) in found.items():
        assert (pairs, wrong, disabled, d_wrong) == (count, 0, count // 10, 0), lines
        # A trapped read takes one exit in the process and one in the kernel.
        trapped = reads == "trap" or name in SHARER
        assert exits == (2 * (pairs + again) if trapped else 0), name
        switched["trapped" if trapped else "direct"] += away
        switched["disabled"] += d_away
    if count == ALONE:
        assert not any(switched.values()), lines
    else:
        assert reads == "trap" or switched["direct"] >= 10, lines
        assert switched["trapped"] >= 10 and switched["disabled"] >= 10, lines


@pytest.mark.parametrize("reads, backend", [
    ("trap", "sbi"), ("direct", "ssccfg"), pytest.param("trap", "ssccfg", marks=pytest.mark.long),
    pytest.param("direct", "sbi", marks=pytest.mark.long)])
def test_mmap_page_equals_read(tmp_path, backend, reads):
    folder = tmp_path / "test"
    folder.mkdir()
    shutil.copy(plain.make("build/guests/linux/mmap_reads"), folder)
    tree = with_neighbour(tmp_path, SCRIPT, f"busy {AFTER}",
                          properties=f'\t\t\tpmu-reads = "{reads}";')
    result = harness.run(tree, backend=backend, until="alpha end ")
    assert result.status == harness.INTERRUPTED, str(result)
    lines = result.guest_output("alpha", "alpha")
    alone, beside = lines.index("alone"), lines.index("beside")
    check(lines[alone + 1 : beside], reads, ALONE)
    check(lines[beside + 1 : beside + 1 + len(OWN + SHARER)], reads, BESIDE)
    tests = [re.sub(" +", " ", line).strip() for line in lines[beside + 1 + len(OWN + SHARER) :]]
    for line in ("4.2: User space counter reading of instructions : Ok",
                 "4.3: User space counter reading of cycles : Ok"):
        assert line in tests, tests
