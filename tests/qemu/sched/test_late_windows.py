# SPDX-License-Identifier: Apache-2.0
"""Trees at the limits beside a window with a guard: 59 vcpus of nine VMs or of sixteen on one hart,
whose timers come together, nine device interrupts, and a VM that restarts without a pause."""

import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

import pytest

import harness
import plain
from tallylib import exposition, metrics, tally_ctl, told
from toplib import table

FRAME, START, LENGTH = 2000, 1000, 100  # us
WINDOWS = 100
DEVICES = "".join(f'd{n} {{ host = "/soc/virtio_mmio@{0x10001000 + 0x1000 * n:x}"; '
                  'dma = "trusted"; };' for n in range(8))
DEVICES += 'clock { host = "/soc/rtc@101000"; dma = "none"; };'
WIRES = 0x7fffffff & ~(1 << 10)  # all but the UART's

VM = """
	{name} {{
		{memory}
		kernel = <&bare>;
		restart-limit = <1000>;
		bootargs = "{bootargs}";
		{devices}
		{vcpus}
	}};
"""
TREE = """/dts-v1/;
/ {{
	compatible = "tally,vm-tree-1";
	images {{ bare: bare {{ data = /incbin/("bare.bin"); }}; }};
	vms {{ turn-us = <100>; {vms} }};
	shared {{ gusts {{
		size = /bits/ 64 <4096>;
		restarts {{ at = /bits/ 64 <0x100000000>; access = "read-write"; }};
		victim {{ at = /bits/ 64 <0x100000000>; }};
	}}; }};
	schedules {{ hart0 {{
		major-frame-us = <{frame}>;
		slack = {slack};
		victim {{ vm = "victim"; start-us = <{start}>; length-us = <{length}>; {guard} }};
	}}; }};
}};
"""


TOLD = re.compile(r"vm victim: vcpu 0: (\d+) windows began late, by (\d+) ticks at most; "
                  r"(\d+) missed")


def told_late(result):
    """What Tally tells of late windows: [(how many, ticks, missed)]."""
    return [tuple(map(int, found.groups())) for found in map(TOLD.match, result.own) if found]


def vm(name, bootargs, vcpus, wires=False):
    """The text of a VM's node; wires: with all devices of the machine."""
    return VM.format(
        name=name, bootargs=bootargs, devices=f"devices {{ {DEVICES} }};" if wires else "",
        memory="memory-at = /bits/ 64 <0x90000000 0x400000>;" if wires else
        "memory = /bits/ 64 <(4 << 20)>;",
        vcpus=" ".join(f"vcpu{n} {{ harts = <0>; }};" for n in range(vcpus)))


def tree(folder, guard, nap=0, beside=0, neighbour="nothing", each=8, windows=WINDOWS,
         ticks=1000000):
    """The file of a tree. beside: VMs with `each` vcpus, which end after so many ticks; neighbour:
    the storm of one more VM."""
    vms = [vm("victim", f"kind=delays frame={FRAME * 10} start={START * 10} windows={windows}", 1),
           vm("restarts", "kind=tempest what=" + neighbour, 2)]
    for n in range(beside):
        wires = f"wires={WIRES}" if n == 0 else ""
        vms.append(vm(f"naps{n}", f"kind=naps nap={nap} ticks={ticks} {wires}", each, n == 0))
    slack = ", ".join(f'"naps{n}"' for n in range(beside))
    file = folder / "late.dts"
    file.write_text(TREE.format(vms="".join(vms), frame=FRAME, start=START, length=LENGTH,
                                slack='"restarts"' + (slack and ", " + slack),
                                guard=f"guard-us = <{guard}>;" if guard else ""),
                    encoding="ascii")
    return file


def boot(folder, guard, nap, beside=7, neighbour="restart", each=8, ticks=1000000, **arguments):
    """{ticks that a window was late: how many windows}, and the run."""
    file = tree(folder, guard, nap, beside, neighbour, each, ticks=ticks)
    plain.make("build/guests/bare.bin")
    options = ["--aia", "none", "--include", harness.BUILD / "guests",
               *arguments.pop("options", ())]
    result = harness.run(file, until="vm victim: ended", options=options, **arguments)
    lines = result.vm("victim")
    assert lines and lines[-1].startswith(f"delays: {WINDOWS} windows in"), str(result)
    return {int(late): int(times) for late, times in
            re.findall(r"^delay (\d+) ticks, (\d+) times$", "\n".join(lines), re.M)}, result


# What boot computes of this tree, in instructions and us.
LIMITS = {"ssccfg": (5300, 9), "sbi": (17010, 31)}
SMALL = {"ssccfg": (5000, harness.LEAST_GUARD["ssccfg"]),
         "sbi": (16650, harness.LEAST_GUARD["sbi"])}


@harness.both_backends
@pytest.mark.parametrize("nap", [0, 300, 40000])
def test_no_window_is_late(tmp_path, backend, nap):
    """With the least guard that boot computes each begins at its tick, and no stay is longer than
    computed (harness.note_stays)."""
    found, result = boot(tmp_path, LIMITS[backend][1], nap, backend=backend)
    assert harness.promises(result) == [LIMITS[backend]]
    assert (found, told_late(result)) == ({0: WINDOWS}, [])


@harness.both_backends
@pytest.mark.parametrize("nap", [0, 40000])
def test_sixteen_vms(tmp_path, backend, nap):
    """As many as there may be, with as many vcpus as before: vcpus count, not VMs."""
    found, result = boot(tmp_path, LIMITS[backend][1], nap, beside=14, each=4, backend=backend)
    assert harness.promises(result) == [LIMITS[backend]]
    assert (found, told_late(result)) == ({0: WINDOWS}, [])
    assert len(set(re.findall(r"^tally: vm (naps\d+): ", str(result), re.M))) == 14


@harness.both_backends
def test_a_small_tree_needs_less(tmp_path, backend):
    found, result = boot(tmp_path, SMALL[backend][1], 0, beside=0, backend=backend)
    assert harness.promises(result) == [SMALL[backend]]
    assert (found, told_late(result)) == ({0: WINDOWS}, [])


@harness.both_backends
def test_a_guard_that_is_too_short(tmp_path, backend):
    """Windows are late then, by what it is too short at most."""
    found, result = boot(tmp_path, 2, 40000, backend=backend)
    least = harness.promises(result)[0][1]
    assert 0 < max(found) <= (least - 2) * 10, found
    ((late, latest, missed),) = told_late(result)
    # The guest looks for the first time behind what Tally does last, so up to two ticks later.
    assert late >= sum(times for ticks, times in found.items() if ticks > 2) > 0 and not missed
    assert max(found) - 2 <= latest <= (least - 2) * 10


def aimed(storm, guard):
    """A neighbour that does this once in each frame, at each of 60 ticks before the guard in turn.
    """
    return f"{storm} frame={FRAME * 10} at={(START - guard) * 10 - 60} span=60"


@harness.both_backends
@pytest.mark.parametrize("storm", ["console", "restart", "starts"])
def test_the_longest_stay_just_before_a_guard(tmp_path, backend, storm):
    """It ends within the guard, as long as it may be."""
    guard = harness.LEAST_GUARD[backend]
    found, result = boot(tmp_path, guard, 0, 0, aimed(storm, guard), backend=backend)
    assert harness.promises(result) == [SMALL[backend]]
    assert (found, told_late(result)) == ({0: WINDOWS}, [])


def test_that_stay_is_seen(tmp_path):
    """The same with a quarter of it: the windows are late behind which a long stay was begun,
    and no others."""
    guard = harness.LEAST_GUARD["ssccfg"] // 4
    found, result = boot(tmp_path, guard, 0, 0, aimed("console", guard))
    assert 0 < max(found) <= guard * 10 and found[0] > WINDOWS // 2, found
    assert told_late(result)


def test_vm_check_computes_the_same(tmp_path):
    """It does not know the harts' counters, so it takes them for the firmware's."""
    boot(tmp_path, LIMITS["sbi"][1], 40000, backend="sbi")
    done = subprocess.run([harness.ROOT / "tools/vm-check", "--json", "-i",
                           harness.BUILD / "guests", tmp_path / "late.dts"],
                          capture_output=True, text=True, check=True)
    (schedule,) = json.loads(done.stdout)["schedules"]
    assert (schedule["longest_stay"], schedule["least_guard_us"]) == LIMITS["sbi"]


# The victim has so many more windows: before those that it measures, and for its lines.
OTHERS = 5


@harness.both_backends
def test_late_windows_are_counted(tmp_path, backend):
    """A guard of 1 us is too short for a turn with nine device interrupts, so each window is late
    from then on that their VM has enabled them, and each is counted. Without a guard all are as
    late as they may be, and none is."""
    ticks = 2 * (WINDOWS + OTHERS) * FRAME * 10  # the others do not end before
    found, result = boot(tmp_path, 1, 0, 7, "nothing", ticks=ticks, backend=backend)
    ((late, latest, missed),) = told_late(result)
    # The guest looks for the first time behind what Tally does last, so up to two ticks later.
    assert min(found) > 2 and WINDOWS <= late <= WINDOWS + OTHERS and not missed
    assert max(found) - 2 <= latest <= max(found)
    found, result = boot(tmp_path, 0, 0, 7, "nothing", ticks=ticks, backend=backend)
    assert min(found) > 10 and not told_late(result)


def test_they_are_told_while_it_runs(tmp_path):
    """At the prompt, in the words of tally-ctl, and as metrics."""
    seen = {}

    def ask():
        with tally_ctl.Machine(f"{tmp_path}/control", timeout=harness.GUARD) as tally:
            while not seen.get("late"):
                row = [row for row in tally.objects("exits") if row["vm"] == "victim"][0]
                seen.update(row["windows"])
            seen["row"] = row
            seen["vms"] = {row["vm"]: row for row in tally.objects("vms")}

    boot(tmp_path, 1, 0, 0, "nothing", options=["--control", tmp_path / "control"],
         meanwhile=threading.Thread(target=ask))
    row, vms = seen.pop("row"), seen.pop("vms")
    assert "windows" not in vms["restarts"]
    assert vms["victim"]["windows"]["late"] >= seen["late"]
    assert re.search(r" MiB, \d+ windows began late, by \d+\.\d us at most, and 0 were missed$",
                     told.vms(vms["victim"])[0])
    assert 0 < seen["late"] <= WINDOWS + OTHERS and seen["missed"] == 0
    assert 100 <= seen["latest_ns"] < 100000 and seen["latest_ns"] % 100 == 0
    words = f"{seen['late']} windows began late, by {seen['latest_ns'] / 1000:.1f} us at most, " \
            "and 0 were missed"
    assert told.exits(row)[-1] == "  " + words
    assert table.notes([{"vm": "victim", "vcpu": 0, "not_counted": None,
                         "windows": row["windows"]}]) == ["victim vcpu 0: " + words]
    assert table.notes([{"vm": "victim", "vcpu": 0, "not_counted": None}]) == []
    page = exposition.Families()
    metrics.add_exits(page, row)
    text = page.text()
    assert f'tally_vcpu_windows_late_total{{vm="victim",vcpu="0"}} {seen["late"]}' in text, text


def qemu_of(process):
    """The number of tools/run's own process of QEMU."""
    for children in pathlib.Path(f"/proc/{process.pid}/task").glob("*/children"):
        for pid in map(int, children.read_text(encoding="ascii").split()):
            if pathlib.Path(f"/proc/{pid}/comm").read_text(encoding="ascii").startswith("qemu"):
                return pid
    raise AssertionError("QEMU does not run")


def stand_still(pid, seconds):
    """For so long at least, by this computer's clock."""
    os.kill(pid, signal.SIGSTOP)
    while pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")")[1][1] != "T":
        time.sleep(0.001)
    time.sleep(seconds)
    os.kill(pid, signal.SIGCONT)


STOPPED = 0.5  # seconds
WHOLE_FRAMES = int(STOPPED * 10**6) // FRAME - 1


def test_missed_windows_are_counted(running, tmp_path):
    """A machine whose clock goes on is stopped: the windows of all frames meanwhile are missed, and
    told. A vcpu that is off misses none, nor one without a window. How many others are missed is a
    matter of this computer's speed."""
    run = running(tree(tmp_path, 20, windows=10**9), profile="smp",
                  options=["--aia", "none"])
    run.wait_for_guests()
    with tally_ctl.Machine(str(run.path), timeout=harness.GUARD) as tally:
        def missed():
            """By `exits` of the vcpu and by `vms`, which is asked later."""
            (row,) = (row for row in tally.objects("exits") if row["vm"] == "victim")
            found = {row["vm"]: row.get("windows") for row in tally.objects("vms")}
            assert not found["restarts"]
            return row["windows"]["missed"], found["victim"] and found["victim"]["missed"]

        before = missed()[0]
        stand_still(qemu_of(run.process), STOPPED)
        # The victim's hart may go on later than the one that answers.
        while missed()[0] < before + WHOLE_FRAMES:
            pass
        seen, later = missed()
        assert seen <= later
        assert tally.ask("stop victim")[0] == 0
        while tally.objects("vms")[0]["state"] != "off":
            pass
        off = missed()[0]
        assert off >= later
        stand_still(qemu_of(run.process), STOPPED)
        assert missed()[0] == off
    assert run.ctl("poweroff")[0] == 0
    run.read_until(None)
    ((_, _, told_at_end),) = told_late(harness.Result(harness.OK, run.console))
    assert later <= told_at_end <= off  # it needs its windows to be cleared
