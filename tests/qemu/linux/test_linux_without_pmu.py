# SPDX-License-Identifier: Apache-2.0
"""A Linux guest that is given no PMU: nothing to count, and time goes on for its processes."""

import shutil

import harness
import plain

SCRIPT = """
/test/workload syscalls 1 2>&1
perf stat -x, -e instructions:u work 1000 2>&1
dmesg | grep -c 'SBI PMU extension is available'
true
"""


def test_processes_read_the_time(linux, tmp_path):
    (tmp_path / "test").mkdir()
    shutil.copy(plain.make("build/guests/workloads/workload"), tmp_path / "test")
    result = linux({"alpha": SCRIPT}, tree={"properties": '\t\t\tpmu = "off";'})
    assert result.status == harness.OK, str(result)
    lines = result.guest_output("alpha", "alpha")
    assert len(lines) == 3 and lines[0].startswith("work syscalls "), lines
    assert lines[1].startswith("<not supported>,") and lines[2] == "0", lines
