# SPDX-License-Identifier: Apache-2.0
"""No stay in HS of a Debian guest that is sampled, with its callers, and asked for its samples, is
longer than others may be."""

import re
import subprocess

import boots
import harness
from perf_runs import TOOL
from recordings import until

LOAD = ("cat $(yes /proc/zoneinfo | head -200) >/dev/null; ls -lR /proc/1 >/dev/null 2>&1; "
        "head -c 4000000 /dev/zero | gzip >/dev/null")
GUEST = f"""
echo begins
while true; do {LOAD}; done
"""
ENOUGH = 3000


@harness.short_on("ssccfg")
def test_while_it_is_sampled(running, tmp_path, backend):
    """Neither by a sample and its chain, nor by lines of samples, observed and exits."""
    run = running(boots.smp_tree(tmp_path, {"alpha": GUEST}, {"alpha": ("0",)}), backend=backend)
    run.read_until("begins")
    file = tmp_path / "samples"
    subprocess.run([TOOL, "record", "--socket", run.path, "--timeout", str(harness.GUARD), "-g",
                    "-e", "instructions:k", "-c", "20011", "-o", file, "--",
                    *until(file, ENOUGH)], check=True, timeout=harness.GUARD)
    # The longest lines of all.
    assert run.ctl("exits")[0] == 0
    assert run.ctl("poweroff")[0] == 0
    run.read_until(None)
    stays = [int(stay) for stay in re.findall(r"longest-stay=(\d+)", run.console)]
    assert stays and max(stays) <= harness.LONGEST_STAY
