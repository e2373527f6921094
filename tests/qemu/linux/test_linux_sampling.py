# SPDX-License-Identifier: Apache-2.0
"""Debian's perf takes samples in a guest: as many as there are periods, in the right places, in
every way that perf has; and what it makes of the snapshot."""

import re
import shutil

import pytest

import bare_guests
import harness
from linux_counts import ALL, HEAVY, PERIOD, PROFILE, symbols
import peers
from platforms import instret_is_alike

BACKENDS = ("sbi", "ssccfg")
KNOWN = 20000000


def boot(folder, script, program=None, snapshot="off", **arguments):
    """Lines of a script in a guest, and the result."""
    (folder / "test").mkdir(exist_ok=True)
    if program:
        shutil.copy(program, folder / "test")
    tree = harness.linux_tree(folder, {"alpha": script},
                              properties=f'\t\t\tpmu-snapshot = "{snapshot}"; pmu-overflow = "on";')
    result = harness.run(tree, **arguments)
    assert result.status == harness.OK, str(result)
    return result.guest_output("alpha", "alpha"), result


@pytest.mark.parametrize("backend", BACKENDS)
def test_profile_of_two_functions(tmp_path, two_functions, backend):
    """A sample's pc is that of the instruction after its period: both numbers are known."""
    lines, result = boot(tmp_path, PROFILE, two_functions, backend=backend)
    heavy = (HEAVY - 1) // PERIOD
    assert symbols(lines) == {"heavy": heavy, "light": ALL // PERIOD - heavy}, lines
    assert bare_guests.exits(result, "alpha")["lcofi"] == ALL // PERIOD


@pytest.mark.peer
def test_profile_on_the_firmware_alone(tmp_path, two_functions, bare):
    """Samples are lost there, and none is added. It is interrupts that never come: each that comes
    is a sample, so nothing of it is Linux's doing. How many are lost depends on where the kernel's
    ticks fall, 1 to 25 % with no more than other files in the initramfs, and is nobody's to
    promise."""
    (tmp_path / "test").mkdir()
    shutil.copy(two_functions, tmp_path / "test")
    heavy = (HEAVY - 1) // PERIOD
    *lines, interrupts = bare(PROFILE + "awk '/riscv-pmu/ { print $2 }' /proc/interrupts\n")
    seen = symbols(lines)
    added = seen["heavy"] > heavy or seen["light"] > ALL // PERIOD - heavy or len(seen) > 2
    peers.check("perf record on the firmware alone", f"{peers.kernel()}, {peers.machine()}", {
        "samples are lost": yes(sum(seen.values()) < ALL // PERIOD),
        "samples are added": yes(added),
        "each interrupt is a sample": yes(sum(seen.values()) == int(interrupts))})


def yes(it_is):
    return "yes" if it_is else "no"


@pytest.mark.peer
def test_linux_loses_samples_with_the_snapshot(tmp_path, two_functions):
    """After each overflow Linux starts its counters with base 4096, which names none, and is told
    so; they stand until its next context switch or tick (docs/guests.md). That Tally's snapshot
    loses nothing is shown in test_sampling.py, test_snapshot."""
    script = "dmesg | grep -c 'SBI PMU snapshot detected'\n" + PROFILE
    lines, result = boot(tmp_path, script, two_functions, snapshot="on")
    assert lines[0] == "1"
    samples = sum(symbols(lines[1:]).values())
    peers.check("perf record with the snapshot", peers.kernel(), {
        "fewer than one sample in ten": yes(0 < samples < ALL // PERIOD // 10)})
    # What came was told once: the loss is not of interrupts, but of armings.
    assert bare_guests.exits(result, "alpha")["lcofi"] == samples


@harness.short_on("sbi")
def test_linux_counts_with_the_snapshot_alone(tmp_path, backend):
    """Without overflow interrupts there is no sampler whose handler would stop other counters: perf
    is refused one, again and again (test_machines.py), and a filter, in words; what it counts is
    all there is."""
    script = f"""
        dmesg | grep -c 'SBI PMU snapshot detected'
        perf record -q -e instructions -c {PERIOD} -o /tmp/data work {KNOWN} >/dev/null 2>&1 &
        sleep 1; kill -9 $!; wait $! 2>/dev/null; echo "record $?"
        perf stat -x, -e instructions -e instructions:u -e cycles work {KNOWN} 2>&1
    """
    (tmp_path / "test").mkdir()
    tree = harness.linux_tree(tmp_path, {"alpha": script},
                              properties='\t\t\tpmu-snapshot = "on";')
    result = harness.run(tree, backend=backend)
    assert result.status == harness.OK, str(result)
    lines = result.guest_output("alpha", "alpha")
    counts = harness.perf_counts(lines)
    assert lines[0] == "1"
    assert "record 137" in lines, lines
    assert counts["instructions:u"] == "<not supported>", lines
    # The kernel's are in it: few beside those of the program.
    assert KNOWN < counts["instructions"] < 1.2 * KNOWN, lines
    # One cycle each, and the kernel's way from the start of the one counter to that of the other.
    assert 0 < counts["instructions"] - counts["cycles"] < 2000, lines


@pytest.mark.long
@pytest.mark.parametrize("backend", BACKENDS)
def test_tlb_events_are_sampled(tmp_path, backend):
    """How many there are is the emulator's business; each hundred of them is a sample."""
    lines, _ = boot(tmp_path, f"""
        perf record -q -e dTLB-load-misses -c 100 -o /tmp/data work {KNOWN * 2} 2>&1
        echo "status $?"
        perf report -i /tmp/data -D 2>/dev/null | grep -c PERF_RECORD_SAMPLE
        perf report -i /tmp/data --stdio 2>/dev/null | sed -n 's/^# Event count (approx.): //p'
    """, backend=backend)
    assert lines[0] == "status 0"
    samples, events = int(lines[1]), int(lines[2])
    assert samples > 20 and events == 100 * samples, lines


# Each way of perf to take samples; lines are told apart by the first word.
WAYS = f"""
perf record -q -g -e instructions:u -c 100000 -o /tmp/g work {KNOWN} 2>&1
echo "graph: $(perf script -i /tmp/g -F comm,period 2>/dev/null | grep -c 'work *100000')"
echo "chains: $(perf report -i /tmp/g -D 2>/dev/null | grep -c 'FP chain: nr:')"
perf stat -x, -I 10 -e instructions:u work {KNOWN * 5} 2>&1 | sed 's/^/interval: /'
perf record -q -F 1000 -e instructions:u -o /tmp/f work 200000000 2>&1
perf report -i /tmp/f --stdio 2>/dev/null | sed -n 's/^# Samples: \\([0-9]*\\) .*/rate: \\1/p'
perf report -i /tmp/f --stdio 2>/dev/null | sed -n 's/^# Event count (approx.): /count: /p'
work 3000000000 &
sleep 5 | timeout -s INT 3 perf top --stdio -d 1 -e instructions:u -c 1000000 >/tmp/top 2>&1
wait
grep '^ *[0-9.]*% ' /tmp/top | sed 's/^/top: /'
perf record -q -e instructions:u -e instructions:k -c 100000 -o /tmp/uk work {KNOWN} 2>&1
perf script -i /tmp/uk -F event,ip 2>/dev/null | sed 's/^/filters: /'
perf record -q -c 100000 -o /tmp/m -e cycles:u,instructions:u,cycles,instructions,cycles:k \\
	-e instructions:k,dTLB-load-misses:u,dTLB-store-misses:u,iTLB-load-misses:u \\
	work {KNOWN * 5} 2>&1
perf script -i /tmp/m -F event 2>/dev/null | sort | uniq -c | sed 's/^/many: /'
"""


# What each of them asks of a counter the others of this file and test_linux_perf.py ask of both.
@harness.short_on("ssccfg")
def test_every_way_of_perf(tmp_path, backend):
    lines, _ = boot(tmp_path, WAYS, backend=backend)
    words = {}
    for line in lines:
        words.setdefault(line.split(":")[0], []).append(line.split(":", 1)[-1].strip())
    assert words["graph"] == words["chains"] == [str(KNOWN // 100000)], lines
    intervals = [row.split(",") for row in words["interval"]]
    assert len(intervals) >= 9
    assert sum(int(row[1]) for row in intervals) == KNOWN * 5
    # 1,000 a second for 0.2 s, in periods that perf finds by trying; all but the last began ones.
    assert 190 <= int(words["rate"][0]) <= 230
    assert 0.99 * 200000000 < int(words["count"][0]) <= 200000000
    top = re.match(r"([\d.]+)% +work +\[\.\] loop", words["top"][0])
    assert top and float(top.group(1)) > 90, words["top"]
    # Two filters at once, test_linux_filters.py has more of them; or in turn.
    user = [row for row in words["filters"] if row.startswith("instructions:u")]
    if instret_is_alike():
        assert len(user) == KNOWN // 100000
        # The last period ends with the ecall by which work does.
        assert sum(int(row.split()[1], 16) >= 1 << 63 for row in user) == 1
    else:
        assert 0 < len(user) < KNOWN // 100000
    many = {row.split()[1].rstrip(":"): int(row.split()[0]) for row in words["many"]}
    # Three filters of an event, where two can be had: they take turns, and none comes off empty.
    for event in ("cycles", "instructions"):
        for taken in (many[event], many[f"{event}:u"], many[f"{event}:k"]):
            assert 0 < taken < KNOWN * 5 // 100000, many


# Not "Number of exit events": it looks whether a process that it just started has ended, and finds
# it so or not, on the firmware alone too. perf numbers its cases anew in each version, and says of
# those that take long that they are running.
PERF_TEST = """
cd /tmp
left_out=$(perf test list 2>&1 | sed -n 's/^ *\\([0-9]*\\): Number of exit events.*/\\1/p')
echo "left out: $left_out"
perf test -s $left_out 2>&1 | grep -v ': Running' | cut -c1-100
"""


def cases(lines):
    """{name: verdict} of perf's lines "21.1: NAME   : VERDICT". It says twice what is left out."""
    found = {}
    for row in filter(None, (re.fullmatch(r"\s*\d[\d.]*: (.*?)\s*: (\S.*?)\s*", line)
                             for line in lines)):
        assert found.setdefault(row[1], row[2]) == row[2], row[0]
    assert len(found) > 50, lines
    return found


@pytest.mark.long
@pytest.mark.peer
def test_perf_test_as_on_the_firmware_alone(tmp_path, bare):
    """All cases, the PMU's among them, have the same verdict; docs/guests.md explains those that
    fail on both."""
    lines, _ = boot(tmp_path, PERF_TEST)
    reference = bare(PERF_TEST, timeout=harness.GUARD)
    assert lines == reference
    assert re.fullmatch(r"left out: \d+", lines[0])
    verdicts = cases(lines)
    assert verdicts.pop("Number of exit events of a simple workload") == "Skip (user override)"
    peers.check("perf test", f"{peers.kernel()}, {peers.machine()}", verdicts)
