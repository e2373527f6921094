# SPDX-License-Identifier: Apache-2.0
"""What a VM asks of its own vcpus on other harts, and what that costs the VMs who run there.

All harts of QEMU's take turns under -icount, and a timer of a third VM on a third hart keeps these
so short that requests come in between. Nothing depends on the host: two runs are the same. Exits
are counted, and times have Tally's own clock. But a hart's counters see all harts, and how much of
a time each hart gets is QEMU's affair: rounds of a loop can be compared only, with those beside a
sender that is as busy.
"""

import functools
import re

import pytest

import bare_guests
from bare_guests import on_harts
import harness
import plain

TICKS = 200000
CLOCK = f"kind=idle period=50 ticks={TICKS}"
# A hypervisor that checks its invariants stays longer, so more comes in between.
SLOWER = 2 if harness.KERNEL else 1
# A time slice, and how many begin meanwhile, and one more.
SLICE = 20000
TURNS = TICKS // 2 // SLICE + 1
# Interruptions: one in each turn, and one at its begin that was on its way when the peer's ended.
IRQS = 2 * TURNS
# How much slower beta may be beside a sender of something, for that is busy in other ways than one
# of nothing. A flood that came through took 97 % of its rounds.
NEARLY = 0.95
# The same beside a sender of the same that wakes nobody, of the time that is not stolen. The bound
# on what is stolen is the sharp one. What share of a time a hart gets from QEMU shifts by 1 % when
# Tally's code changes, also beside a sender from whom nothing is stolen.
EQUALLY = 1 - 0.02 * SLOWER
# Ticks that an interruption of beta takes at most. The third hart's timer ends each hart's turn
# after 50; a stay may begin in one turn and end in the next but one, and both other harts have
# theirs in between.
ONE = 2 * 2 * 50 * SLOWER
# Ticks that a turn of the peer's takes more than a slice: a switch, and what the two other harts
# have of the time meanwhile. It does so beside a sender of nothing as well.
LATE = 2 * 50 * SLOWER
# A round of beta that takes longer has more in it than an interruption: a turn of the peer's, who
# is awake for as long as the sender happens to keep its pace.
LONG = 3 * ONE
BETA = f"kind=steal ticks={TICKS // 2} after={TICKS // 4} long={LONG}"
# Instructions in HS: the two calls that read beta's counters, with such a turn in each, of 100 a
# tick.
SPENT = 2 * 50 * 100 * SLOWER
STEAL = re.compile(r"steal: (\d+) of (\d+), (\d+) rounds, (\d+) instructions in HS, "
                   r"(\d+) long rounds of (\d+)")

VM = """
		{name} {{
			memory = /bits/ 64 <(16 << 20)>;
			kernel = <&bare>;
			bootargs = "{bootargs}";
			restart-limit = <1000>;
{vcpus}
		}};
"""
TREE = """/dts-v1/;
/ {{
	compatible = "tally,vm-tree-1";
	images {{ bare: bare {{ data = /incbin/("bare.bin"); }}; }};
	vms {{{nodes}
	}};
}};
"""


def boot(folder, guests, options=(), status=harness.OK, **arguments):
    """guests: {NAME: (bootargs, harts of each vcpu)}; on a machine of three harts."""
    plain.make("build/guests/bare.bin")
    nodes = "".join(
        VM.format(name=name, bootargs=bootargs, vcpus="\n".join(
            bare_guests.VCPU.format(n=n, harts=hart) for n, hart in enumerate(vcpus)))
        for name, (bootargs, vcpus) in guests.items())
    tree = folder / "vms.dts"
    tree.write_text(TREE.format(nodes=nodes), encoding="ascii")
    if arguments.get("profile") != "smp":
        options = [*on_harts(folder, 3), *options]
    result = harness.run(tree, options=["--include", harness.BUILD / "guests", *options],
                         stays=False, **arguments)
    assert result.status == status, str(result)
    return result


class Beta:
    """What beta, on hart 1, says of the time that alpha did something."""

    def __init__(self, folder, alpha, harts=("0", "1"), **arguments):
        guests = {"alpha": (alpha + " after=20000", harts), "beta": (BETA, ["1"]),
                  "clock": (CLOCK, ["2"])}
        self.result = boot(folder, guests, **arguments)
        (line,) = [line for line in self.result.vm("beta") if line.startswith("steal: ")]
        numbers = map(int, STEAL.fullmatch(line).groups())
        self.stolen, self.ticks, self.rounds, self.spent, self.turns, self.in_turns = numbers
        self.exits = bare_guests.exits(self.result, "beta")

    def causes(self):
        """{cause: exits}, of those that there were."""
        return {cause: n for cause, n in self.exits.items() if n and "-" not in cause}


@pytest.fixture(scope="module", name="beside")
def beside_a_sleeper(tmp_path_factory):
    """(what) -> beta, beside an alpha that sends this and wakes nobody; or sends nothing, and is as
    busy."""
    return functools.lru_cache(None)(lambda what: Beta(
        tmp_path_factory.mktemp(what), f"kind=flood what={what} peer=sleeps ticks={TICKS}"))


REQUESTS = ("ipi", "fence_i", "vma", "asid", "plic")


@pytest.mark.parametrize("what", REQUESTS)
def test_nobody_is_interrupted_for_who_sleeps_on(beside, what):
    """Thousands of requests that do not wake their target take nothing from its neighbour: it has
    the same exits, one by one, as beside one who sends nothing."""
    beta, alone = beside(what), beside("none")
    assert int(re.search(r"flood: sent (\d+)", beta.result.console)[1]) > 5000
    assert beta.causes() == alone.causes()
    assert not {"irq", "timer"} & beta.causes().keys()
    assert beta.stolen == 0
    assert beta.rounds > NEARLY * alone.rounds
    assert beta.spent < SPENT


@pytest.mark.parametrize("what, peer", [("ipi", "wakes"), ("ipi", "suspends"), ("plic", "wakes"),
                                        ("plic", "suspends"), ("start", "none")])
def test_who_wakes_waits_for_its_turn(tmp_path, beside, what, peer):
    """One interruption in a turn, or two, whatever comes; the turn is the neighbour's to its end.
    What the interruption takes is stolen time, and no work done for the neighbour."""
    beta = Beta(tmp_path, f"kind=flood what={what} peer={peer} ticks={TICKS}")
    # It was woken at least as often as turns began, so there was something to wait for.
    assert int(re.search(r"woken (\d+)", beta.result.console)[1]) >= TURNS
    assert 0 < beta.exits["irq"] <= IRQS
    # A start is another request than any that wakes nobody.
    expected = (NEARLY * beside("none").rounds if what == "start" else
                EQUALLY * beside(what).rounds)
    assert beta.rounds > expected * (1 - beta.stolen / beta.ticks)
    assert beta.turns <= TURNS
    assert 0 < beta.stolen < ONE * beta.exits["irq"] + LONG * TURNS + beta.in_turns
    assert beta.spent < SPENT


def test_turns_of_who_is_asked_nothing(tmp_path):
    """Nobody is interrupted, and each turn that is not beta's is a slice and a switch."""
    beta = Beta(tmp_path, f"kind=flood what=none peer=spins ticks={TICKS}")
    turns, rest = divmod(beta.stolen, SLICE)
    assert "irq" not in beta.causes()
    assert turns == 2 + (beta.ticks > 5 * SLICE)
    assert 0 < rest < LATE * turns


def test_turns_are_shared_with_who_never_sleeps(tmp_path, beside):
    """A flood to a vcpu that is always ready: it has two of the five turns that begin meanwhile,
    whole ones, and all that is asked of it comes in those."""
    beta = Beta(tmp_path, f"kind=flood what=ipi peer=spins ticks={TICKS}")
    assert beta.exits["irq"] <= IRQS
    # A third one, where its time is up in the peer's turn, and it sees that only after it.
    turns, rest = divmod(beta.stolen, SLICE)
    assert turns == 2 + (beta.ticks > 5 * SLICE)
    assert 0 < rest < LATE * turns + ONE * beta.exits["irq"]
    pace, expected = (run.rounds / (run.ticks - run.stolen) for run in (beta, beside("ipi")))
    assert EQUALLY * expected < pace < expected / EQUALLY
    assert beta.spent < SPENT


def test_ends_and_restarts(tmp_path):
    """A VM that starts its vcpu on hart 1 and resets, again and again, pays with that vcpu's turns.
    """
    beta = Beta(tmp_path, "kind=flood what=ipi peer=wakes sends=50 type=1", until="beta: ended",
                status=harness.INTERRUPTED)
    # That it happened at all. How often is a matter of how QEMU shares time among the harts, and so
    # are beta's rounds: QEMU may give another hart 30 ms in one turn. The claim is that beta pays
    # for none of the restarts.
    assert beta.result.own.count("vm alpha: starts again") > 0
    assert beta.exits["irq"] <= IRQS
    assert beta.stolen < SLICE
    assert beta.spent < SPENT


def test_moves(tmp_path, roaming):
    """A vcpu that comes to hart 1 and goes, after every turn and wait: what its coming takes is
    stolen from the neighbour."""
    beta = Beta(tmp_path, f"kind=flood what=ipi peer=wakes ticks={TICKS}", harts=("0", "1 2"),
                options=roaming)
    assert 0 < beta.exits["irq"] <= 20
    assert 0 < beta.stolen < ONE * beta.exits["irq"]


@pytest.mark.parametrize("profile", ["exact", "smp"])
def test_each_one_is_counted_where_it_arrives(tmp_path, profile):
    """Three senders of 25 of each kind, at the same time."""
    guests = {"alpha": ("kind=flood what=all sends=100 ticks=10000000000 after=20000",
                        ("0", "1", "0", "0"))}
    if profile == "exact":
        guests["clock"] = ("kind=idle period=50 ticks=10000000000", ["2"])
    result = boot(tmp_path, guests, options=["--harts", 2] if profile == "smp" else [],
                  profile=profile, until="flood: sent", status=harness.INTERRUPTED)
    assert "flood: received 75 75 75 75" in result.vm("alpha")
    assert "flood: sent 300, woken 0" in result.vm("alpha")
