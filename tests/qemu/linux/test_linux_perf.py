# SPDX-License-Identifier: Apache-2.0
"""What Debian's perf makes of the SBI PMU's corners: sharing, the snapshot, firmware events,
Tally's own, user access, more events than counters."""

import os
import shutil
import subprocess

import pytest

import harness
import plain
from perf_scaling import check_scaled, show, turns
from platforms import instret_is_alike

KNOWN = 20000000

# Each line of perf's output carries the name that it was asked for.
# perf tells the signal that ended its program only if it was waiting for it already: the signal of
# a child that ends earlier makes it forget the child.
SCRIPT = f"""
echo "dmesg: $(dmesg | grep -c 'SBI PMU snapshot detected')"
perf stat -x, -e instructions:u,instructions:u work {KNOWN} 2>&1
for access in 0 1 2; do
  echo $access > /proc/sys/kernel/perf_user_access
  echo "access $access"
  perf stat -x, -e instructions:u,cycles:u work {KNOWN} 2>&1
  echo "reads $access"
  /test/mmap_reads 20 1 2>&1
  echo "legacy $access"
  /test/legacy 2>&1; echo "status $?"
  perf stat -x, -o /dev/null -e instructions:u,cycles:u sh -c 'sleep 1; exec /test/legacy' 2>&1
done
echo 1 > /proc/sys/kernel/perf_user_access
echo "three filters"
perf stat -v -x, -e instructions:u,instructions:k,instructions:uk work {KNOWN} 2>&1
echo "firmware"
perf stat -x, -e r8000000000000005,r800000000000000a,r8000000000000004,r800000000000010a \\
	/test/illegal 123 2>&1
echo "refused"
perf stat -x, -e r8000000000000010,cache-misses work 1000 2>&1
echo "end"
"""


def part(lines, name):
    """What stands between a marker and the next one, as lists of perf's fields."""
    start = lines.index(name) + 1
    rows = [line.split(",") for line in lines[start:]]
    end = next((i for i, row in enumerate(rows) if len(row) < 4), len(rows))
    return rows[:end]


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """The programs of illegal.c and legacy.c."""
    folder = tmp_path_factory.mktemp("programs")
    for name in ("illegal", "legacy"):
        subprocess.run([os.environ.get("CROSS_COMPILE", "riscv64-linux-gnu-") + "gcc", "-static",
                        "-O2", "-Wall", "-Wextra", "-Werror",
                        harness.ROOT / f"tests/qemu/programs/{name}.c", "-o", folder / name],
                       check=True)
    return sorted(folder.iterdir())


@pytest.mark.parametrize("snapshot, backend", [
    ("off", "sbi"), ("on", "ssccfg"), pytest.param("off", "ssccfg", marks=pytest.mark.long),
    pytest.param("on", "sbi", marks=pytest.mark.long)])
def test_corners(tmp_path, programs, snapshot, backend):
    folder = tmp_path / "test"
    folder.mkdir()
    for program in programs:
        shutil.copy(program, folder)
    shutil.copy(plain.make("build/guests/linux/mmap_reads"), folder)
    tree = harness.linux_tree(tmp_path, {"alpha": SCRIPT},
                              properties=f'\t\t\tpmu-snapshot = "{snapshot}"; pmu-overflow = "on";')
    result = harness.run(tree, backend=backend)
    assert result.status == harness.OK, str(result)
    lines = result.guest_output("alpha", "alpha")
    assert f"dmesg: {int(snapshot == 'on')}" in lines

    # The same event twice: two counters, one hardware counter, one number.
    twice = part(lines, f"dmesg: {int(snapshot == 'on')}")
    assert [(row[0], row[2]) for row in twice] == [(str(KNOWN), "instructions:u")] * 2

    # Legacy access, 2, asks for counters 0 and 2 by SKIP_MATCH. Another counter is behind them, so
    # that their reads take an exit, one in the process and one in the kernel.
    for access in range(3):
        assert [row[0] for row in part(lines, f"access {access}")] == [str(KNOWN)] * 2
    reads = lines.index("reads 0") + 1
    assert lines[reads] == "the kernel offers no read from user space"
    for access, exits in (1, 0), (2, 40):
        reads = lines.index(f"reads {access}") + 1
        assert lines[reads : reads + 2] == [
            f"mmap_reads: {event} 1 of 1: 20 pairs, 0 wrong, 0 away; disabled 2, 0 wrong, 0 away; "
            f"exits for reads {exits}, again 0" for event in ("instructions", "cycles")]

    # The third filter is refused while two count, so perf lets them take turns: two of them are
    # counted at any time, or one where guests do not get instret.
    user, kernel, both = turns(lines[lines.index("three filters") :])
    show([user, kernel, both])
    assert [turn.event for turn in (user, kernel, both)] == [
        "instructions:u", "instructions:k", "instructions:uk"]
    counted = 1 + instret_is_alike()
    assert user.running + kernel.running + both.running == counted * user.enabled
    assert 0 < kernel.raw < kernel.running and (counted == 1 or user.raw < both.raw)
    check_scaled(user, KNOWN)

    # SET_TIMER: Linux with Sstc makes none. Fences: none on one vcpu. Illegal instructions, which
    # M-mode sees first: as many as were executed. Steal time, Tally's own: nobody to wait for.
    assert [row[0] for row in part(lines, "firmware")] == ["0", "0", "123", "0"]

    # Linux asks for the standard events at boot, for a firmware event only when it is added.
    assert [row[0] for row in part(lines, "refused")] == ["<not counted>", "<not supported>"]
    # A program's own rdcycle and rdinstret, docs/events.md: never without an open event, and with
    # one in legacy access only; the reads themselves count as one.
    for access in range(3):
        at = lines.index(f"legacy {access}")
        with_event = ("legacy: 101 cycles, 101 instructions" if access == 2 else
                      "sh: Illegal instruction")
        assert lines[at : at + 4] == [f"legacy {access}", "Illegal instruction", "status 132",
                                      with_event]
    assert lines[-1] == "end"


@pytest.mark.long
@harness.both_backends
def test_plain_sampling(linux, backend):
    """One guest, one counter: as many samples as periods, and as many overflow exits. The same as
    in test_linux_sampling.py, test_profile_of_two_functions, with a period that divides the length.
    """
    script = f"""
perf record -q -e instructions:u -c 100000 -o /tmp/data work {KNOWN} 2>&1
perf report -i /tmp/data -D 2>/dev/null | grep -c PERF_RECORD_SAMPLE
"""
    result = linux({"alpha": script}, backend=backend)
    assert result.status == harness.OK, str(result)
    assert result.guest_output("alpha", "alpha")[-1] == str(KNOWN // 100000)
    exits = next(line for line in result.own if line.startswith("vm alpha: vcpu 0: exits "))
    assert harness.exit_counts(exits)["lcofi"] == KNOWN // 100000
