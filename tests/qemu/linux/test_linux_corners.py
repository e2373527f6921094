# SPDX-License-Identifier: Apache-2.0
"""Uses of the PMU by Debian guests that few programs have: one overflow at a time, samples of
emulated instructions, all firmware counters at once, a counter open while its vcpu stops."""

import os
import subprocess

import pytest

import bare_guests
import boots
import harness

# Each source of a program, with further options of the compiler.
PROGRAMS = {"one_overflow.c": [], "alarm_clock.c": [],
            "emulated_loop.S": ["-nostdlib", "-no-pie", "-Wl,--build-id=none"]}
EVENTS = [f"r80000000000001{n:02x}" for n in range(16)]
SCRIPTS = {
    "overflows": "/test/one_overflow 5000 100; /test/one_overflow 1000003 10",
    "emulated": """
echo 2 >/proc/sys/kernel/perf_user_access
perf stat -x, -o /tmp/stat -e instructions:u \\
    perf record -q -e cycles:u -c 1000 -o /tmp/data /test/emulated_loop
perf script -i /tmp/data -F comm,ip 2>/dev/null | awk '$1 == "emulated_loop" { print $2 }' |
    sort | uniq -c
""",
    # Linux reads its clock at boot, and sets the alarm when it is asked to.
    "clock": """
cat /sys/class/rtc/rtc0/name
date -u +%F
/test/alarm_clock
awk '/rtc/ { print $2 }' /proc/interrupts
""",
    "firmware": f"perf stat -x, -e {','.join(EVENTS)} work 1000 2>&1",
}


@pytest.fixture(name="booted", scope="module", params=harness.backends_short_on("ssccfg"))
def run_all(request, tmp_path_factory):
    """One guest that runs all of SCRIPTS in turn."""
    folder = tmp_path_factory.mktemp("corners")
    (folder / "test").mkdir()
    for source, options in PROGRAMS.items():
        subprocess.run([os.environ.get("CROSS_COMPILE", "riscv64-linux-gnu-") + "gcc", "-static",
                        "-O2", "-Wall", "-Wextra", "-Werror", *options,
                        harness.ROOT / "tests/qemu/programs" / source,
                        "-o", folder / "test" / source.split(".", maxsplit=1)[0]], check=True)
    return harness.run(harness.linux_tree(folder, {"alpha": boots.in_turn(SCRIPTS)}),
                       backend=request.param)


def lines_of(booted, name):
    """What one of SCRIPTS printed."""
    assert booted.status == harness.OK, str(booted)
    return booted.guest_output("alpha", name)


def test_the_clock(booted):
    """The alarm was one interrupt."""
    name, *others = lines_of(booted, "clock")
    assert (name.split()[0], *others) == (
        "goldfish_rtc", "2026-01-01", "alarm_clock: 2 s, an alarm", "1")


def test_one_overflow_at_a_time(booted):
    """As record-and-replay tools stop a program: at the signal the count is the period."""
    assert lines_of(booted, "overflows") == ["one_overflow: 100 of 100 counts are 5000",
                                             "one_overflow: 10 of 10 counts are 1000003"]


def test_samples_of_an_emulated_instruction(booted):
    """Each of a loop's three instructions has its share, the emulated one as well: the period is
    no multiple of three."""
    lines = lines_of(booted, "emulated")
    assert [line.split()[0] for line in lines] == ["100"] * 3, lines
    assert bare_guests.exits(booted, "alpha")["csr"] >= 100000


def test_sixteen_firmware_events(booted):
    """As many as a VM has firmware counters: perf need not let them take turns."""
    rows = [line.split(",") for line in lines_of(booted, "firmware")]
    assert [row[2] for row in rows] == EVENTS
    assert {row[4] for row in rows} == {"100.00"}
    count = {name: int(row[0]) for name, row in zip(EVENTS, rows)}
    # The calls that start and stop the sixteen are its only exits, but for one; each counter of
    # exits sees the same ones, since perf starts and stops them in the same order.
    assert count[EVENTS[0]] == count[EVENTS[1]] == 32
    assert [count[name] for name in EVENTS[2:8]] == [0] * 6


HOTPLUG = """
cpu1=/sys/devices/system/cpu/cpu1/online
for n in 1 2 3; do
    taskset 2 perf stat -x, -o /tmp/stat -e instructions:u work 300000000 &
    sleep 0.05; echo 0 >$cpu1; echo "online $(cat /sys/devices/system/cpu/online)"
    jobs | grep -c Running
    wait; grep instructions /tmp/stat | cut -d, -f1,5; echo 1 >$cpu1
done
"""


# test_smp.py has it on sbi, between counts.
@harness.short_on("ssccfg")
def test_hotplug_under_a_counter(tmp_path, backend):
    """The vcpu stops while a program on it is counted; Linux moves both, and loses nothing."""
    tree = boots.smp_tree(tmp_path, {"alpha": HOTPLUG}, {"alpha": ("0", "0")})
    result = harness.run(tree, backend=backend, timeout=harness.GUARD)
    assert result.status == harness.OK, str(result)
    assert result.guest_output("alpha", "alpha") == ["online 0", "1", "300000000,100.00"] * 3
