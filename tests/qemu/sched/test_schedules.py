# SPDX-License-Identifier: Apache-2.0
"""Harts with a schedule: when windows begin, whatever the neighbour does, and what waits for
them."""

import re

import pytest

import bare_guests
import budgets
import harness
from hosts import CHIPS
import plain
from platforms import cpu
from schedules import BEGINS, FRAME, TICKS_A_US, boot, schedule, told

CLOCK = 'devices { clock { host = "/soc/rtc@101000"; dma = "none"; }; };'


@harness.both_backends
def test_two_windows(tmp_path, backend):
    """Two VMs with a window each: with their guards both begin at their ticks in each frame."""
    kind = f"kind=windows frame={FRAME * TICKS_A_US} ticks=1000000"
    result = boot(tmp_path, {"alpha": kind, "beta": kind},
                  [schedule([("alpha", 500, 1000, 50), ("beta", 2000, 2500, 50)])],
                  backend=backend)
    for name, start in ("alpha", 500), ("beta", 2000):
        windows, (begin, end, away, stolen) = told(result, name)
        ((first, last, times),) = windows
        assert first == last == start * TICKS_A_US, str(result)
        assert times == (end - begin) // (FRAME * TICKS_A_US) + 1
        assert 0 <= away - stolen <= times * 10


STORMS = {"storm": "kind=storm quiet=yes ticks=1500000", "fuzz": "kind=fuzz ticks=1500000",
          "hostile": "kind=hostile again=yes"}


@harness.both_backends
@pytest.mark.parametrize("storm, guard", [("storm", "least"), ("storm", 100), ("storm", 0),
                                          ("fuzz", "least"), ("fuzz", 0), ("hostile", "least")])
def test_beside_a_hostile_neighbour(tmp_path, backend, storm, guard):
    """With a guard that suffices a window begins at its tick; without one it is late by the longest
    stay and a switch at most."""
    kind = f"kind=windows frame={FRAME * TICKS_A_US} ticks=800000"
    least = harness.LEAST_GUARD[backend]
    guard = least if guard == "least" else guard
    result = boot(tmp_path, {"alpha": kind, "beta": STORMS[storm]},
                  [schedule([("alpha", 500, 1000, guard), ("beta", 1500, 2000)],
                            slack='"beta"')],
                  backend=backend, status=None, until="vm alpha: ended")
    ((first, last, times),), (begin, end, away, stolen) = told(result, "alpha")
    assert first >= 500 * TICKS_A_US
    assert harness.promises(result)[0][1] == least
    assert last <= (500 if guard else 500 + least) * TICKS_A_US, str(result)
    assert times == end // (FRAME * TICKS_A_US) - begin // (FRAME * TICKS_A_US) + 1
    assert 0 <= away - stolen <= times * 15


# As boot computes it for a window of four vcpus.
FOUR = {"ssccfg": 9, "sbi": 32}


@harness.both_backends
def test_requests_of_four_vcpus(tmp_path, backend):
    """IPIs and fences that a VM sends itself wait for its windows, and are served in the guard."""
    result = boot(tmp_path, {"alpha": "kind=storm quiet=yes", "beta": STORMS["fuzz"]},
                  [schedule([("alpha", 100, 300, FOUR[backend])], '"beta"', 1000)],
                  backend=backend, vcpus=("0",) * 4, status=None, until="vm alpha: ended")
    assert harness.promises(result)[0][1] == FOUR[backend]
    assert "storm: PMU done" in result.vm("alpha")
    assert not [line for line in result.own if "vm alpha" in line and "began late" in line]


@harness.both_backends
def test_slack(tmp_path, backend):
    """Who has the slack runs where no window or guard is, and takes turns there."""
    kind = f"kind=windows frame={FRAME * TICKS_A_US} ticks=1000000"
    result = boot(tmp_path, {"alpha": kind, "beta": kind, "gamma": kind},
                  [schedule([("alpha", 500, 1000, 50), ("gamma", 3000, 1000, 50)],
                            slack='"beta"')], backend=backend)
    for name in "alpha", "gamma":
        ((first, last, _),), _ = told(result, name)
        assert first == last == (500 if name == "alpha" else 3000) * TICKS_A_US
    windows, (_, _, away, stolen) = told(result, "beta")
    assert len(windows) == 2
    for first, last, times in windows:
        assert times >= 19
        start = (1500 if first < 2000 * TICKS_A_US else 4000) * TICKS_A_US
        assert start < first and last <= start + harness.LEAST_GUARD[backend] * TICKS_A_US
    assert 0 <= away - stolen <= 2 * 22 * 15


STEAL = re.compile(r"steal: (\d+) of (\d+), (\d+) rounds, .*")


@harness.both_backends
@pytest.mark.parametrize("order", ["alpha beta gamma", "beta gamma alpha", "gamma alpha beta"])
def test_turns_go_on_where_windows_end(tmp_path, backend, order):
    """Two VMs share a slack of pieces that are shorter than a turn: each gets its half, whoever of
    the hart comes first."""
    kinds = {"alpha": "kind=steal ticks=400000", "beta": "kind=steal ticks=400000",
             "gamma": "kind=busy ticks=400000"}
    result = boot(tmp_path, {name: kinds[name] for name in order.split()},
                  [schedule([("gamma", 500, 400, 50)], slack='"alpha", "beta"', frame=1000)],
                  backend=backend)
    for name in "alpha", "beta":
        (line,) = result.vm(name)
        stolen, ticks, _ = map(int, STEAL.fullmatch(line).groups())
        # 275 us of 1000 are its own, but for switches.
        assert abs(stolen - ticks * 725 // 1000) <= ticks // 50, str(result)


@harness.both_backends
@pytest.mark.parametrize("sstc", ["on", "off"])
def test_a_wait_for_what_came_before_the_window(tmp_path, backend, sstc):
    """A timer expires outside its windows while its vcpu wants to run. The vcpu waits for it with
    its next instructions, and is awake at once: no time is stolen from it twice."""
    result = boot(tmp_path, {"alpha": "kind=steal ticks=400000 late=yes long=1000",
                             "beta": "kind=busy ticks=400000"},
                  [schedule([("alpha", 100, 300, 32)], slack='"beta"', frame=1000)],
                  backend=backend, options=["--cpu", cpu(more=f",sstc={sstc}")])
    (line,) = result.vm("alpha")
    stolen, ticks, in_long = map(int, re.fullmatch(
        r"steal: (\d+) of (\d+), .* long rounds of (\d+)", line).groups())
    assert abs(stolen - ticks * 7 // 10) <= ticks // 50, line
    assert stolen <= in_long, line


@harness.both_backends
@pytest.mark.parametrize("order", ["alpha beta", "beta alpha"])
def test_turns_in_a_window(tmp_path, backend, order):
    """The same of two vcpus of a VM that never sleep, in windows that are shorter than a turn."""
    kinds = {"alpha": "kind=flood what=all peer=spins sends=100 ticks=200000",
             "beta": "kind=busy ticks=200000"}
    result = boot(tmp_path, {name: kinds[name] for name in order.split()},
                  [schedule([("alpha", 100, 300, 32)], slack='"beta"', frame=1000)],
                  backend=backend, vcpus=("0", "0"))
    assert sorted(result.vm("alpha")) == ["flood: received 25 25 25 25",
                                          "flood: sent 100, woken 0"], str(result)


@harness.both_backends
def test_the_self_test_in_windows(tmp_path, backend):
    """Every rule of the SBI PMU chapter, in windows of 300 us."""
    result = boot(tmp_path, {"alpha": "", "beta": ""},
                  [schedule([("alpha", 100, 300, 32), ("beta", 500, 300)], frame=1000)],
                  backend=backend)
    for name in "alpha", "beta":
        kinds = bare_guests.kinds(result.vm(name))
        assert kinds["PASS"] > 300 and not kinds["FAIL"], str(result)


@harness.both_backends
@pytest.mark.parametrize("guard", [0, 32])
def test_each_sample_in_windows(tmp_path, backend, guard):
    """A sample for each 97 instructions, so at the ends of windows, too: those come in the next
    one. Each is where it belongs, and none is lost."""
    guests = {name: f"sampling=rate period={period} samples=20000 event=instructions"
              for name, period in (("alpha", 97), ("beta", 777))}
    result = boot(tmp_path, guests, [schedule([("alpha", 100, 300, guard), ("beta", 500, 300)],
                                              frame=1000)], backend=backend)
    for name in guests:
        assert result.vm(name) == ["rate: ends, 20000 samples, 0 wrong"]
        assert bare_guests.exits(result, name)["timer"] > 30


@pytest.mark.parametrize("aia", CHIPS)
def test_interrupts_of_devices_wait(tmp_path, aia):
    """Alarms that come at any time are taken in their VM's windows, each once; nothing of them
    interrupts the other's."""
    kind = f"kind=windows frame={FRAME * TICKS_A_US} ticks=1000000"
    result = boot(tmp_path, {"alpha": "kind=alarm alarms=60 delay=1700000 wait=wfi", "beta": kind},
                  [schedule([("alpha", 500, 1000), ("beta", 2000, 2500, 50)])],
                  own={"alpha": CLOCK}, options=["--aia", aia])
    assert result.vm("alpha") == [
        "alarm: 0 before the first, 60 alarms, 60 interrupts, 0 early, 0 too many or few, "
        "0 claims of nothing, 0 of others"]
    ((first, last, _),), _ = told(result, "beta")
    assert first == last == 2000 * TICKS_A_US
    assert bare_guests.exits(result, "beta")["irq"] == 0


def crossing(folder, alpha, windows):
    """Boots alpha on harts 0 and 1, beta on hart 1, which has these windows, and a third VM, whose
    timer makes QEMU's harts take turns (test_crossing.py)."""
    vcpu = "\t\t\tvcpu1 { harts = <1>; };"
    text = {"alpha": vcpu, "beta": "", "clock": ""}
    plain.make("build/guests/bare.bin")
    nodes = {"alpha": alpha, "beta": "kind=steal ticks=1000000 after=100000",
             "clock": "kind=idle period=50 ticks=1200000"}
    tree = "".join(
        bare_guests.VM.format(name=name, bootargs=bootargs, memory=16, image="bare", properties="",
                              vcpus=bare_guests.VCPU.format(n=0, harts=hart) + text[name])
        for hart, (name, bootargs) in zip("012", nodes.items()))
    file = folder / "crossing.dts"
    file.write_text("/dts-v1/; / { compatible = \"tally,vm-tree-1\"; images { bare: bare { data = "
                    "/incbin/(\"bare.bin\"); }; }; vms {" + tree + "}; schedules {"
                    + schedule(windows, hart=1) + "}; };", encoding="ascii")
    result = harness.run(file, options=bare_guests.on_harts(folder, 3), stays=False,
                         backend="ssccfg")
    assert result.status == harness.OK, str(result)
    return result


@pytest.mark.parametrize("what, peer", [("ipi", "wakes"), ("all", "spins"), ("vma", "sleeps")])
def test_mail_waits(tmp_path, what, peer):
    """What alpha sends to its vcpu on hart 1 comes in that one's windows, all of it; no hart
    interrupts beta's for it."""
    result = crossing(tmp_path, f"kind=flood what={what} peer={peer} ticks=800000 after=100000",
                      [("alpha", 500, 1000, 50), ("beta", 2000, 2500, 50)])
    (line,) = [line for line in result.vm("alpha") if line.startswith("flood: sent")]
    sent, woken = map(int, re.fullmatch(r"flood: sent (\d+), woken (\d+)", line).groups())
    assert sent > 10000
    if what == "all":
        (line,) = [line for line in result.vm("alpha") if line.startswith("flood: received")]
        assert sum(map(int, line.split()[2:])) == sent, str(result)
    # It is woken in its windows alone, of which there are 14, and often in each.
    assert woken > 100 if peer == "wakes" else not woken
    assert bare_guests.exits(result, "beta")["irq"] == 0


@harness.both_backends
def test_budgets_in_windows(tmp_path, backend):
    """A budget that is spent before the window ends: what is left of its period is throttled, also
    outside the window, and stolen is what is then left until the next window."""
    frames, frame, period, run = 20, 5000, 1000, 100
    result = boot(tmp_path, {"alpha": f"kind=budget ticks={frames * frame * TICKS_A_US}",
                             "beta": "kind=busy ticks=100000"},
                  [schedule([("alpha", 500, 1000, 50), ("beta", 2000, 2000)])], backend=backend,
                  properties=budgets.budget(2, run * 1000, period))
    times, total, longest, steal, throttled, *_ = budgets.away(result, "alpha")
    # In each window it runs from 500 and from 1000 on.
    late = budgets.LATE
    assert abs(times - 2 * frames) <= 1
    assert 0 <= total - steal - throttled <= times * late
    assert abs(longest - (5500 - 1000 - run) * TICKS_A_US) <= late
    for ticks, us in (throttled, 500 - run + period - run), (steal, 5500 - 2000):
        assert abs(ticks - frames * us * TICKS_A_US) <= us * TICKS_A_US + frames * late, str(result)


@harness.both_backends
def test_a_period_that_ends_with_the_window(tmp_path, backend):
    """The budget's period is the frame, and both end with the window: what was throttled there is
    not stolen."""
    frames, frame, run = 20, 5000, 100
    result = boot(tmp_path, {"alpha": f"kind=budget ticks={frames * frame * TICKS_A_US}",
                             "beta": "kind=busy ticks=100000"},
                  [schedule([("beta", 500, 1000), ("alpha", 4000, 1000, 50)])], backend=backend,
                  own={"alpha": budgets.budget(2, run * 1000, frame)})
    _, _, _, steal, throttled, *_ = budgets.away(result, "alpha")
    for ticks, us in (throttled, 1000 - run), (steal, 4000):
        assert abs(ticks - frames * us * TICKS_A_US) <= (
            us * TICKS_A_US + frames * budgets.LATE), str(result)


@harness.both_backends
def test_a_period_that_ends_in_a_guard(tmp_path, backend):
    """Slack leads to the window of the same vcpu, whose budget comes 20 us before the window: it is
    throttled until then, and from then on it is stolen from. Nothing is counted twice."""
    frames, frame, run = 20, 4960, 100
    result = boot(tmp_path, {"alpha": f"kind=budget ticks={frames * frame * TICKS_A_US}",
                             "beta": "kind=busy ticks=100000"},
                  [schedule([("alpha", 2500, 1000, 32), ("beta", 4000, 900)], '"alpha"', frame)],
                  backend=backend, own={"alpha": budgets.budget(2, run * 1000, frame // 2)})
    times, total, _, steal, throttled, *_ = budgets.away(result, "alpha")
    late = budgets.LATE
    assert abs(times - 2 * frames) <= 1
    assert 0 <= total - steal - throttled <= times * late, str(result)
    for ticks, us in (throttled, 2480 - run + 2480 - run), (steal, 20):
        assert abs(ticks - frames * us * TICKS_A_US) <= us * TICKS_A_US + frames * late, str(result)


@harness.both_backends
@pytest.mark.parametrize("count, period, start", [
    (900000, 1000, 1000), (100000, 1000, 1000), (100000, 5000, 0), (900000, 700, 1000)])
def test_windows_begin_with_periods(tmp_path, backend, count, period, start):
    """A budget that was spent until the window's tick, or somewhere in its guard, makes no window
    late: the vcpu is loaded within the guard, and its next period begins with the window."""
    result = boot(tmp_path, {"alpha": f"kind=windows frame={FRAME * TICKS_A_US} ticks=1000000",
                             "beta": "kind=busy ticks=1200000"},
                  [schedule([("alpha", start, 1000, 100), ("beta", 2500, 1500)])],
                  backend=backend, own={"alpha": budgets.budget(2, count, period)})
    windows, _ = told(result, "alpha")
    earliest, latest, times = windows[0]
    assert earliest == start * TICKS_A_US and times >= 19, str(result)
    # It may be stopped, and go on, in its window.
    assert latest == earliest or period < 1000, str(result)


@harness.both_backends
def test_restarts_in_windows(tmp_path, backend):
    """A VM is cleared and loaded in its own windows: in each life they begin at one tick of the
    frame, counted by the clock of that life, and its neighbour's are where they were."""
    kind = f"kind=windows frame={FRAME * TICKS_A_US} ticks="
    result = boot(tmp_path, {"alpha": kind + "300000", "beta": kind + "3000000"},
                  [schedule([("alpha", 500, 1000, 50), ("beta", 2000, 2500, 50)])],
                  backend=backend,
                  own={"alpha": 'restart = "always"; restart-limit = <2>;'})
    lives = [tuple(map(int, match.groups()))
             for match in map(BEGINS.fullmatch, result.vm("alpha")) if match]
    assert len(lives) == 3, str(result)
    for earliest, latest, times in lives:
        assert earliest == latest and times >= 6
    ((first, last, times),), _ = told(result, "beta")
    assert first == last == 2000 * TICKS_A_US and times >= 60, str(result)
