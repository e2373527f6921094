# SPDX-License-Identifier: Apache-2.0
"""Several VMs on a hart without Ssccfg that shows VS the OF bits of open counters only: each
samples as if it had the hart to itself, sees its own flags, and counts all that it counted before.
"""

import argparse
import re

import pytest

import bare_guests
import harness
from linux_counts import LINUX, exact
from measured import ONE_EXPECTED, ONE_ROUND
import peers
from perf_scaling import check_scaled, show, turns
import plain
from platforms import cpu, hides_flags
import sampling
from tool_module import tool

CALLS, SWITCH = tool("bench-calls"), tool("bench-switch")
SWITCH.SWITCHES = 600

# The first emulator that hides them, where this machine's does not.
SUITE = "sid"
# OpenSBI of these releases; None: this machine's.
SUITES = (None, "trixie", SUITE)
CPUS = ("tt-ascalon", "xiangshan-kunminghu")


def emulator():
    """QEMU's path."""
    return plain.QEMU if hides_flags() else peers.qemu(SUITE)


def options(text, *more):
    """A hart of this model."""
    return ["--qemu", emulator(), "--any-qemu", "--cpu", text, *more]


def boot(folder, guests, text="tt-ascalon", more=(), **arguments):
    """Guests that share such a hart: {name: bootargs}."""
    return bare_guests.boot(folder, guests, options=options(text, *more),
                            timeout=harness.GUARD, **arguments)


def chance(sequences, **words):
    """A guest that does random sequences of calls and waits for its LCOFIs."""
    return "sampling=chance sharers=1 " + " ".join(
        [f"{key}={value}" for key, value in words.items()] + [f"sequences={sequences}"])


@pytest.mark.parametrize("text", CPUS)
def test_two_guests_sample_and_a_third_counts(tmp_path, text):
    result = boot(tmp_path, {"alpha": chance(400, clean="yes"), "beta": chance(400, clean="yes"),
                             "gamma": ONE_ROUND}, text)
    for name in ("alpha", "beta"):
        (line,) = result.vm(name)
        assert line.endswith(" interrupts, 0 wrong"), line
    assert result.vm("gamma") == ONE_EXPECTED


def test_every_arming_brings_one_interrupt_at_its_instruction(tmp_path):
    result = boot(tmp_path, {"alpha": "sampling=table", "beta": "sampling=table"})
    for name in ("alpha", "beta"):
        assert result.vm(name) == sampling.table("alone")


@pytest.mark.long
@pytest.mark.parametrize("text", CPUS)
def test_two_debian_guests(tmp_path, text):
    tree = harness.linux_tree(tmp_path, {"alpha": LINUX, "beta": LINUX})
    result = harness.run(tree, options=options(text))
    assert result.status == harness.OK, str(result)
    for name in ("alpha", "beta"):
        assert exact(result.guest_output(name, name))


def test_a_storm_beside_changes_nothing(tmp_path):
    """Of a neighbour whose counter overflows at each event, and one that does random calls."""
    result = boot(tmp_path, {"alpha": "sampling=rate period=1000 samples=2000",
                             "beta": "sampling=rate period=1 samples=4000",
                             "gamma": chance(400, calls="yes")})
    assert result.vm("alpha") == ["rate: ends, 2000 samples, 0 wrong"]
    assert result.vm("beta") == ["rate: ends, 4000 samples, 0 wrong"]
    assert result.vm("gamma")[0].endswith(" interrupts, 0 wrong")


WINDOWS = """
/ { schedules { hart0 {
	major-frame-us = <400>;
	alpha { vm = "alpha"; start-us = <0>; length-us = <150>; guard-us = <50>; };
	beta { vm = "beta"; start-us = <200>; length-us = <150>; guard-us = <50>; };
}; }; };
"""


def stand(folder, guests, suite, more="", harts="0", machine=()):
    """A run of guests that leave overflows standing, on OpenSBI of a Debian release; None: of this
    machine's."""
    plain.make("build/guests/sampling.bin")
    file = folder / "stand.dts"
    file.write_text(bare_guests.tree(guests, vcpus=(harts,)) + more, encoding="utf-8")
    bios = ["--bios", peers.opensbi(suite)] if suite else []
    return harness.run(file, options=options("tt-ascalon", "--include", harness.BUILD / "guests",
                                             *bios, *machine))


@pytest.mark.parametrize("windows", ["", WINDOWS], ids=["turns", "windows"])
@pytest.mark.parametrize("stopped", ["yes", "no"])
@pytest.mark.parametrize("suite", SUITES)
def test_overflows_that_stand(tmp_path, suite, stopped, windows):
    """Two guests leave OF of five counters at 1, and use the same ones. Each OF is made again, of
    stopped counters in stays of their own, or one stay would take more than 8,700 instructions.
    None is longer than boot has computed (harness.note_stays)."""
    bootargs = f"sampling=stand stopped={stopped} rounds=200"
    result = stand(tmp_path, {"alpha": bootargs, "beta": bootargs}, suite, windows)
    assert len(harness.promises(result)) == bool(windows)
    longest = 7000 if stopped == "yes" else harness.LONGEST_STAY
    for name in ("alpha", "beta"):
        assert result.vm(name) == ["stand: 5 counters, 200 rounds, 0 wrong"]
        assert bare_guests.exits(result, name)["longest-stay"] < longest


TICKS = {"alpha": "frame=4000 start=0", "beta": "frame=4000 start=2000"}


@pytest.mark.parametrize("counters", [1, 5])
@pytest.mark.parametrize("guard", [50, 3, 0])
def test_windows_are_as_late_as_told(tmp_path, counters, guard):
    """OF bits of stopped counters are made while the guests wait for their windows, in what the
    guards leave: all five are with the least guard. The windows that begin late for them are
    counted, as late as the guest finds; without a guard, not those within the least guard."""
    def late(name):
        told = re.findall(rf"vm {name}: vcpu 0: \d+ windows began late, by (\d+) ticks at most; "
                          "0 missed", "\n".join(result.own))
        return int(told[0]) if told else 0

    result = stand(tmp_path, {name: f"sampling=stand stopped=yes counters={counters} rounds=100 "
                                    f"{ticks}" for name, ticks in TICKS.items()}, None,
                   WINDOWS.replace("guard-us = <50>;", f"guard-us = <{guard}>;"))
    for name in TICKS:
        first, second = result.vm(name)
        assert first == f"stand: {counters} counters, 100 rounds, 0 wrong"
        found = int(second.removeprefix("stand: late by ").removesuffix(" ticks at most"))
        print(f"{name}: late by {found}, told {late(name)}")
        if guard == 50:
            assert late(name) == found == 0
        elif guard:
            # The guest finds it when the last slice has ended, and it is entered.
            assert late(name) <= found <= late(name) + 10
            assert bool(found) == bool(late(name)) == (counters == 5)
        else:
            ((_, least),) = harness.promises(result)
            assert late(name) == 0 < found <= 10 * least


def test_overflows_that_stand_move(tmp_path, roaming):
    """Of stopped counters of a guest that goes to the other hart after each of its turns: there
    each OF is made, and then the guest goes on before it moves again."""
    result = stand(tmp_path, {"alpha": "sampling=stand stopped=yes rounds=200000"}, None,
                   harts="0 1", machine=[*harness.several_harts(tmp_path, 2, qemu=emulator()),
                                         *roaming])
    assert result.vm("alpha") == ["stand: 5 counters, 200000 rounds, 0 wrong"]
    assert bare_guests.exits(result, "alpha")["moves"] > 10


@pytest.mark.parametrize("suite", SUITES)
def test_cost_of_an_overflow_that_waits(tmp_path, suite):
    """Beside a neighbour that counts the same event, against one that counts nothing; and without
    what the neighbour costs a counter that has not overflowed, which is that of the switch. If the
    handler has stopped the counter, OF takes a start and a stop more."""
    def work(wraps, stopped, beside, rounds):
        alpha = f"sampling=stand counters=1 wraps={wraps} stopped={stopped} rounds={rounds}"
        beta = f"sampling=stand counters={beside} wraps=no rounds={rounds}"
        result = stand(tmp_path, {"alpha": alpha, "beta": beta}, suite)
        assert result.vm("alpha") == [f"stand: 1 counters, {rounds} rounds, 0 wrong"]
        return sum(bare_guests.exits(result, name)["hs-instructions"]
                   for name in ("alpha", "beta"))

    def of_neighbour(wraps, stopped):
        """For each round."""
        return sum((work(wraps, stopped, beside, 300) - work(wraps, stopped, beside, 100)) / 200
                   * sign for beside, sign in ((1, 1), (0, -1)))

    switch = of_neighbour("no", "no")
    # Calls of OpenSBI 1.5 take longer. If OF has to be made, that is in a stay of its own, whose
    # time is not the turn's.
    for stopped, most in ("no", 2400), ("yes", 3050 if suite else 3300):
        cost = of_neighbour("yes", stopped) - switch
        print(f"stopped {stopped}: {cost} besides {switch}")
        assert 0 < cost <= most


def test_all_that_counted_before_counts(tmp_path):
    """TLB events, counters that share an event, and counters by index; two that would sample under
    one filter are refused, and the counter is as before."""
    lines = boot(tmp_path, {"alpha": "sampling=tlb", "beta": "sampling=steps shared=yes"})
    assert lines.vm("alpha") == sampling.TLB_LINES
    assert lines.vm("beta")[-1] == "steps: ends"
    assert any("18 counters (0, 2 to 18)" in line for line in lines.own)


def costs(more):
    """{row: instructions} of PMU calls, and of switches, on a hart. A hundred rounds begin at every
    phase of the tick, and more of them measure the same."""
    args = argparse.Namespace(timeout=harness.GUARD)
    found = CALLS.rows(CALLS.on_tally(args, "sbi", 'bootargs = "rounds=1000";', options=more))
    for row in ("switch", "free"):
        for name, cost in SWITCH.boot(args, "sbi", row, 2, 0, SWITCH.COUNTERS, more).items():
            found[f"{row}/{name}"] = cost
    return found


def test_costs():
    """Beside the same hart with Ssccfg, whose counters the firmware drives as well."""
    plain.make("build/guests/bench.bin")
    shown, base = (costs(options(cpu(without))) for without in (["ssccfg"], []))
    for row, cost in base.items():
        more = shown[row] - cost
        if row.startswith(("switch", "free")):
            assert more <= 0.02 * cost, (row, cost, shown[row])
        elif row in ("config-first", "read-many") or row.startswith("stop-read-start-four"):
            pass  # counters of TLB events among them, whose reads take an exit
        elif row.startswith(("config", "start", "stop")):
            assert more <= 40, (row, cost, shown[row])
        elif row == "context-switch":
            assert more <= 3 * 40, (row, cost, shown[row])
        elif row.startswith("sample"):
            # An overflow, and two calls that look at OF; the guest's own look takes no exit here.
            assert more <= 240, (row, cost, shown[row])
        else:
            assert more <= 0, (row, cost, shown[row])


# Linux must not throttle: a lost record of that counts as a loss of samples. A buffer of a page is
# full soon.
LOSSES = """
echo 10000000 > /proc/sys/kernel/perf_event_max_sample_rate
echo 0 > /proc/sys/kernel/perf_cpu_time_max_percent
for how in 10000 1000 "1000 -m 1" "300 -m 1"; do
  echo "period $how"
  awk '/riscv-pmu/ { print "before", $2 }' /proc/interrupts
  perf record -q -e instructions:u -c $how -o /tmp/data work 20000000 >/dev/null 2>&1
  awk '/riscv-pmu/ { print "after", $2 }' /proc/interrupts
  perf report -D -i /tmp/data 2>/dev/null | awk '/PERF_RECORD_SAMPLE/ { samples++ }
      /PERF_RECORD_LOST:/ { sub(/.*lost:/, ""); lost += $1 } /PERF_RECORD_THROTTLE/ { throttled++ }
      END { print "samples", samples + 0; print "lost", lost + 0
            print "throttled", throttled + 0 }'
done
echo turns
perf stat -v -e instructions:u,instructions:k,instructions:uk,cycles:u,cycles:k work 20000000 2>&1
"""


@pytest.mark.long
def test_linux_tells_each_loss_and_each_turn(tmp_path):
    """Of two Debian guests: each LCOFI is a sample, or one that perf tells as lost; and events that
    find no counter take turns, of which perf tells the part that each one had."""
    tree = harness.linux_tree(tmp_path, {"alpha": LOSSES, "beta": LOSSES})
    result = harness.run(tree, options=options("tt-ascalon"))
    assert result.status == harness.OK, str(result)
    losses = 0
    for name in ("alpha", "beta"):
        lines = result.guest_output(name, name)
        for period, how in (10000, ""), (1000, ""), (1000, " -m 1"), (300, " -m 1"):
            at = lines.index(f"period {period}{how}") + 1
            told = {word: int(number) for word, number in map(str.split, lines[at : at + 5])}
            assert told["throttled"] == 0
            assert told["after"] - told["before"] == 20000000 // period
            assert told["samples"] + told["lost"] == 20000000 // period
            losses += told["lost"]
        found = turns(lines[lines.index("turns"):])
        show(found)
        assert len(found) == 5
        # Two filters of an event cannot be counted at once by this hart.
        for some in found[:3], found[3:]:
            assert sum(turn.running for turn in some) <= some[0].enabled
            assert all(0 < turn.running < turn.enabled for turn in some)
        check_scaled(found[0], 20000000)
        for turn in found:
            part = f"({100 * turn.running / turn.enabled:.2f}%)"
            assert any(turn.event in line and line.endswith(part) for line in lines), part
    assert losses > 0


@pytest.mark.long
@pytest.mark.parametrize("suite", ["trixie", "forky"])
def test_eight_debian_guests(tmp_path, suite):
    names = [f"vm{n}" for n in range(8)]
    tree = harness.linux_tree(tmp_path, dict.fromkeys(names, LINUX))
    result = harness.run(tree, options=[*options("tt-ascalon"), "--memory", "4G",
                                        "--bios", peers.opensbi(suite)])
    assert result.status == harness.OK, str(result)
    for name in names:
        assert exact(result.guest_output(name, name))
