# SPDX-License-Identifier: Apache-2.0
"""A VM that is an operator takes samples from rings in its memory (docs/operator.md)."""

import re

import pytest

import harness
import perf_runs
from operator_trees import BUSY, operator, run, samples_hz, tree, vm
from operators import MS, answers
from perflib import samples
from recordings import CHEAP, cost, taken
from tallylib import tally_ctl

LENGTH = 100000
ROUNDS = 3
# The jump to the work, two instructions a round and the return, and the ecall.
USER_WORK = 2 * LENGTH + 3
# Words of a ring, and of a sample without callers.
RING, SAMPLE = 4096, 6


# A guest that works when it is told to, oftener than it will be.
WAITS = vm("alpha", f"kind=waits filter=u rounds={2 * ROUNDS} length={LENGTH}")


def sample_of(line):
    """What a line of the guest says about one."""
    hart, words = re.fullmatch(r"hart (\d+):((?: [0-9a-f]+)+)", line).groups()
    words = [int(word, 16) for word in words.split()]
    assert len(words) == words[0] & 0xff
    return samples.Sample(int(hart), words)


class Operator:
    """The VM number n of the machine, whose script waits for a key before each command."""

    def __init__(self, screen, n):
        self.screen, self.n, self.request = screen, n, 0

    def next(self):
        """The lines of the next answer, which is not an error."""
        self.request += 1
        self.screen.send(f"\x14{self.n}")
        self.screen.send("x")
        # Its last lines are shown again when the input goes there, without brackets.
        line = rf"\] operator: {self.request}: "
        self.screen.expect(line + r"status 0\r")
        return re.findall(line + r"([^\r]*)\r", self.screen.before)

    def samples(self):
        """Those that the next command takes."""
        return [sample_of(line) for line in self.next()]


FIRST = 2 << 24 | 1  # the first observation of the second VM


def work(screen, machine, number=FIRST):
    """Alpha, which is the first VM, works once. Returns what the serial line then says of it."""
    screen.send("\x141")
    screen.send("x")
    screen.expect(r"waits: \d+: \d+\r+\n")
    return perf_runs.quiet(machine, number)


def keys(*commands):
    """Commands of a script that each wait for a key."""
    return [("key", command) for command in commands]


def booted(console, tmp_path, *vms, begins="waits: begins"):
    """A machine of these VMs, and where it is asked."""
    path = tmp_path / "control"
    screen = console(tree(tmp_path, *vms), timeout=harness.GUARD,
                     options=["--include", harness.BUILD / "guests", "--control", path])
    screen.expect(begins)
    return screen, path


def told(found):
    """What two observations of the same event both say."""
    return [(s.hart, s.vcpu, s.pc, s.satp, s.events, s.number, s.flags, s.chain) for s in found]


@pytest.mark.parametrize("callers", ["", " 5"])
def test_the_same_as_by_the_serial_line(console, tmp_path, callers):
    """Each period gives one sample, in the rings of two operators and by the serial line."""
    period = 1009
    command = f"sample alpha 0x2:u {period}{callers}"
    script = keys(command, *["!"] * ROUNDS, "unobserve --json")
    screen, path = booted(
        console, tmp_path, WAITS, operator(script, more=samples_hz()),
        operator(script, more=samples_hz()).replace("ops {", "more {"))
    first, second = Operator(screen, 2), Operator(screen, 3)
    with tally_ctl.Machine(str(path), timeout=harness.GUARD) as machine:
        (line,) = machine.objects(command)
        assert line["ended"] is None
        first.next()
        second.next()
        found = ([], [], [])
        for _ in range(ROUNDS):
            work(screen, machine, line["observation"])
            found[0].extend(taken(machine))
            found[1].extend(first.samples())
            found[2].extend(second.samples())
        assert len(found[0]) == USER_WORK * ROUNDS // period
        assert told(found[0]) == told(found[1]) == told(found[2])
        assert [{s.observation >> 24 for s in those} for those in found] == [{0}, {2}, {3}]
        (outside,) = machine.objects("unobserve %d" % line["observation"])
    for one in (first, second):
        (inside,) = one.next()
        for name in ("value", "samples", "lost", "late"):
            assert f'"{name}":{outside[name]},' in inside, inside
    assert (outside["lost"], outside["late"]) == (0, 0)


# A guest that works by its clock and sleeps in between, and ticks of the machine's while it does.
BEGINS, FRAME = 80 * MS, 40 * MS
WORKS = vm("alpha", f"kind=waits filter=u rounds={ROUNDS + 1} length={LENGTH} asleep=yes "
                    f"after={BEGINS - FRAME // 2} every={FRAME}")
LOOKS = [BEGINS + FRAME // 2 + 15 * MS + n * FRAME for n in range(ROUNDS)]


def test_the_reader_is_late(tmp_path):
    """What has no room is lost and counted; numbers go on, and so does the ring."""
    period, room = 200, RING // SAMPLE
    number = USER_WORK // period
    assert number > room
    result = run(tmp_path, WORKS, operator(
        [(LOOKS[0], f"sample alpha 0x2:u {period}"), (LOOKS[1], "!"), (LOOKS[2], "!"),
         ("+0", "unobserve --json")], more=samples_hz()))
    assert result.status == harness.OK, str(result)
    _, (first, _), (second, _), (last, _) = answers(result)
    assert [sample_of(line).number for line in first] == [*range(1, room + 1)]
    all_of_them = 2 * USER_WORK // period
    assert [sample_of(line).number for line in second] == [*range(number + 1, number + room + 1)]
    assert f'"samples":{all_of_them},"lost":{all_of_them - 2 * room},"late":0' in last[0]


def test_what_a_sample_costs(tmp_path):
    """No more than is told, and the harts do nothing for its way out."""
    result = run(tmp_path, vm("alpha", "kind=chain frames=4"),
                 operator([(LOOKS[0], f"sample alpha 0x2:uk {CHEAP}"), (f"+{FRAME}", "unobserve"),
                           ("+0", "!")], more=samples_hz()), until="vm ops: ended")
    found = [sample_of(line) for line in answers(result)[2][0]]
    assert len(found) == RING // SAMPLE
    assert cost(found) <= harness.at_most(340)


def test_refusals(tmp_path):
    """Without the property it has no rings; and no samples of VMs outside its list."""
    result = run(tmp_path, vm("alpha", BUSY), vm("beta", BUSY),
                 operator([(0, "sample alpha 0x2:u 1000"), (0, "!")]))
    lines = answers(result)
    assert lines[0] == (["sample: needs operator-samples-hz"], 1)
    assert lines[1] == ([], 0)
    result = run(tmp_path, vm("alpha", BUSY), vm("beta", BUSY),
                 operator([(0, "sample beta 0x2:u 1000"), (0, "samples")],
                          more=samples_hz(7)))
    assert ('vm ops: operator "watch" of alpha, at most 10000 requests a second, '
            "7 samples a second and hart") in result.own
    lines = answers(result)
    assert lines[0] == (['sample: "beta" is not in operator-vms'], 1)
    assert lines[1] == (["samples: only the serial line may"], 1)


def test_nothing_is_left_of_a_life(console, tmp_path):
    """Its observations end, and its rings are empty in the next life, from their beginning on."""
    period = 200
    script = keys(f"sample alpha 0x2:u {period}", "!", "vms")
    screen, path = booted(console, tmp_path, WAITS, operator(
        script, more=samples_hz(), args="again=yes"))
    with tally_ctl.Machine(str(path), timeout=harness.GUARD) as machine:
        for life in range(2):
            ops = Operator(screen, 2)
            ops.next()
            line = work(screen, machine, FIRST + life)
            assert line["samples"] == USER_WORK // period and line["lost"]
            # All that there is room for, where the first one of its life is at the beginning.
            assert [s.number for s in ops.samples()] == [*range(1, RING // SAMPLE + 1)]
            work(screen, machine, FIRST + life)
            ops.next()
            screen.expect(r"\] operator: access 1")
            assert machine.objects("observed") == []
