# SPDX-License-Identifier: Apache-2.0
"""A VM that is an operator of all VMs traces stays, accounts them and switches the machine off
(docs/operator.md)."""

import collections
import re
import time

import pytest

import harness
from operator_trees import BUSY, operator, run, samples_hz, tree, vm
from operators import MS, answers, at_once, objects
from tallylib import tally_ctl
from tracelib import records

FOREVER = "kind=busy ticks=100000000000"
ASKS = vm("alpha", "kind=asks repeat=yes", 'pmu-overflow = "on";')
ALL = '"alpha", "beta", "ops"'
# A guest that works by its clock, and sleeps in between.
BEGINS, FRAME = 60 * MS, 20 * MS
ROUNDS = "kind=waits filter=u rounds=3 length=20000 asleep=yes " \
         f"after={BEGINS - FRAME // 2} every={FRAME}"
WORKS = vm("alpha", ROUNDS)
OF_ALL = "stays on", "trace on", "trace", "account alpha", "accounts", "poweroff"
LIST = "{}: slows or ends all VMs, so operator-vms must name each of them"
# Words of a ring, and what is left there for the ends of a trace.
RING, SPARE = 4096, 512


def ops(asked, vms=ALL, access="control", **arguments):
    """The operator, by default of all VMs. asked: as for operator()."""
    return operator(asked, access, vms, **({"more": samples_hz()} | arguments))


def recorded(lines):
    """The records that lines of "!" have."""
    found = []
    for line in lines:
        hart, words = re.fullmatch(r"hart (\d+):((?: [0-9a-f]+)+)", line).groups()
        words = [int(word, 16) for word in words.split()]
        assert len(words) == words[0] & 0xff
        found.append(records.record(int(hart), words))
    return found


def missing(found):
    """How many numbers are not there, on one hart."""
    numbers = [record.number for record in found]
    return numbers[-1] - numbers[0] + 1 - len(numbers)


def sums(found):
    """Of each vcpu that has a beginning and an end: its instructions by its stays, and as they were
    accounted to it."""
    by, ends = collections.Counter(), collections.defaultdict(dict)
    for record in found:
        by[record.index] += record.instructions
        if record.kind in (records.BEGIN, records.END):
            assert record.kind not in ends[record.index]
            ends[record.index][record.kind] = record.words[2]
    return {index: (by[index], end[records.END] - end[records.BEGIN])
            for index, end in sorted(ends.items())}


def causes(found, index):
    """How often a vcpu has left its guest for each cause."""
    return collections.Counter(record.cause for record in found if record.kind == records.STAY and
                               record.index == index and record.cause != records.GOES_ON)


@pytest.mark.parametrize("access,vms,why", [
    ("watch", ALL, '{}: needs operator = "control"'), ("control", '"alpha", "ops"', LIST),
    ("control", '"alpha", "beta"', LIST)], ids=["watch", "not beta", "not itself"])
def test_refused(tmp_path, access, vms, why):
    """What slows or ends all VMs is for an operator that controls each of them."""
    result = run(tmp_path, vm("alpha", BUSY), vm("beta", BUSY),
                 ops(at_once(*OF_ALL, "vms --json"), vms, access))
    assert result.status == harness.OK, str(result)
    *told, rows = answers(result)
    assert told == [([why.format(command.split()[0])], 1) for command in OF_ALL]
    assert {row.get("operator") for row in objects(rows)} <= {None, access}


def test_needs_rings(tmp_path):
    """Without operator-samples-hz there is no room for records; the rest is allowed."""
    asked = ["stays on", "stays off", "samples", "frames on", "account alpha --json", "trace on",
             "trace off", "vms --json"]
    result = run(tmp_path, vm("alpha", BUSY), vm("beta", BUSY), ops(at_once(*asked), more=""))
    told = answers(result)
    assert told[:2] == [(["stays: needs operator-samples-hz"], 1)] * 2
    assert told[2:4] == [([f"{name}: only the serial line may"], 1) for name in
                         ("samples", "frames")]
    assert objects(told[4])[0]["ended"] is None
    assert told[5:7] == [(["trace is on"], 0), (["trace is off"], 0)]
    assert {row["vm"]: row.get("operator") for row in objects(told[7])} == {
        "alpha": None, "beta": None, "ops": "all"}


@harness.both_backends
def test_each_instruction_in_hs_is_in_the_trace(tmp_path, backend):
    """Of all vcpus; nothing is lost, and each run is the same. (What it prints during a trace would
    be in the trace.)"""
    asked = [(BEGINS, "exits --json"), ("+0", "stays on"), (BEGINS + FRAME, "stays off"),
             ("+0", "exits --json"), ("+0", "!"), ("+0", "!")]
    vms = WORKS, vm("beta", f"kind=busy ticks={BEGINS + 2 * FRAME}"), ops(asked)
    first, second = (run(tmp_path, *vms, backend=backend) for _ in range(2))
    assert first.status == harness.OK, str(first)
    assert first.console == second.console
    before, begun, off, after, taken, nothing = answers(first)
    assert [status for _, status in (begun, off)] == [0, 0]
    assert re.fullmatch(r"vm alpha, vcpu 0, index 0, hart 0, timebase \d+", begun[0][0])
    assert len(begun[0]) == len(off[0]) == 3
    assert nothing == ([], 0)
    found = recorded(taken[0])
    assert missing(found) == 0
    of_each = sums(found)
    assert list(of_each) == [0, 1, 2]
    assert all(by == accounted > 0 for by, accounted in of_each.values()), of_each
    # Alpha sleeps at the ends of the trace: it has each of its exits.
    early, late = (objects(answer)[0] for answer in (before, after))
    of_alpha = causes(found, 0)
    grown = {kind: late[kind] - early[kind] for kind in ("ecall", "mmio", "wfi")}
    assert (of_alpha[10], of_alpha[21] + of_alpha[23]) == (grown["ecall"], grown["mmio"])
    assert grown["ecall"] > 0 and of_alpha[22] >= grown["wfi"] > 0, (of_alpha, grown)


@pytest.mark.parametrize("hart", [0, 1])
def test_of_another_hart(tmp_path, two_harts, hart):
    """Each hart's records come in its own ring, and a VM on the other one is in the trace."""
    asked = [(BEGINS, "stays on alpha"), (BEGINS + FRAME, "stays off"), ("+0", "!")]
    result = run(tmp_path, vm("alpha", ROUNDS, hart=1 - hart),
                 ops(asked, '"alpha", "ops"', hart=hart), options=two_harts, stays=False)
    assert result.status == harness.OK, str(result)
    found = recorded(answers(result)[2][0])
    for n, index in (hart, 1), (1 - hart, 0):
        of_hart = [record for record in found if record.hart == n]
        assert {record.index for record in of_hart} == {index} and missing(of_hart) == 0
    assert causes(found, 0)[10] > 0
    by, accounted = sums(found)[0]
    assert by == accounted > 0


def test_what_has_no_room_is_lost(tmp_path):
    """It is a gap in the numbers. The ends of the trace have room, and so has the next trace."""
    asked = [(BEGINS, "stays on alpha"), (f"+{10 * FRAME}", "stays off"), ("+0", "!"),
             ("+0", "stays on alpha"), ("+0", "stays off"), ("+0", "!"),
             ("+0", "stop alpha"), ("+0", "stop beta")]
    result = run(tmp_path, ASKS, vm("beta", FOREVER), ops(asked),
                 until="vm ops: ended")
    found = answers(result)
    assert [status for _, status in found] == [0] * len(asked), found
    first, second = recorded(found[2][0]), recorded(found[5][0])
    words = [len(record.words) for record in first]
    assert RING - SPARE - 7 < sum(words[:-3]) <= RING - SPARE
    assert [record.kind for record in first[-3:]] == [records.END] * 3
    assert missing(first) > 1000 and missing(second) == 0
    by, accounted = sums(first)[0]
    # A stay of such a call has at least as many.
    assert accounted - by > 10 * missing(first)
    # Of others it has only who had the hart.
    assert {record.index for record in first if record.kind == records.STAY} == {0}
    assert {record.index for record in first} == {0, 1, 2}
    by, accounted = sums(second)[0]
    assert by == accounted


class Typed:
    """The VM number n of the machine, whose commands each wait for a key. Its answers are read from
    its log, whose lines nothing interrupts."""

    def __init__(self, screen, n, log):
        self.screen, self.n, self.log, self.request, self.at = screen, n, log, 0, 0

    def next(self, status=0):
        """The lines of the next answer."""
        self.request += 1
        self.screen.send(f"\x14{self.n}x")
        line = f"operator: {self.request}: "
        self.screen.expect(rf"\] {line}status (\d)\r")
        assert int(self.screen.match[1]) == status
        while f"\n{line}status" not in (text := self.log.read_text(encoding="utf-8")[self.at:]):
            time.sleep(0.01)
        self.at += len(text)
        return re.findall(f"^{line}(?!status)(.*)$", text, re.M)


@pytest.fixture(name="two")
def fixture_two(console, tmp_path):
    """two(commands of "ops", of "more"): both as Typed, and the machine by the serial line."""
    machines = []

    def booted(first, second, more="", args=""):
        both = '"alpha", "ops", "more"'
        nodes = [ops([("key", command) for command in commands], both, args=args,
                     more=samples_hz() + more) for commands in (first, second)]
        path, logs = tmp_path / "control", tmp_path / "logs"
        screen = console(tree(tmp_path, ASKS, nodes[0], nodes[1].replace("ops {", "more {")),
                         timeout=harness.GUARD, options=["--include", harness.BUILD / "guests",
                                                         "--control", path, "--log-dir", logs])
        for _ in nodes:
            screen.expect("operator: access 2")
        machines.append(tally_ctl.Machine(str(path), timeout=harness.GUARD))
        return (Typed(screen, 2, logs / "ops.log"), Typed(screen, 3, logs / "more.log"),
                machines[0])

    yield booted
    for machine in machines:
        machine.close()


def told(lines):
    """The objects of an answer with --json."""
    return objects((lines, 0))


BUSY_ELSEWHERE = "{}: another operator traces"


def test_one_trace_at_a_time(two):
    """A second operator is refused. The serial line is not: the trace of the first one is whole."""
    first, second, machine = two(
        ["stays on", "trace on", "stays off", "!", "stays on", "trace off"],
        ["stays on", "stays off", "trace on", "stays on", "stays off", "!"])
    assert len(first.next()) == 3
    assert first.next() == ["trace is on"]
    for name in ("stays", "stays", "trace"):
        assert second.next(1) == [BUSY_ELSEWHERE.format(name)]
    assert machine.ask("stays on")[0] == 0
    assert first.next(1) == [BUSY_ELSEWHERE.format("stays")]
    found = recorded(first.next())
    assert [record.kind for record in found[:1] + found[-3:]] == [
        records.BEGIN] + [records.END] * 3
    assert first.next(1) == [BUSY_ELSEWHERE.format("stays")]
    # Its own trace of exits goes on until the serial line ends that.
    assert machine.ask("trace off") == (0, ["trace is off"])
    assert first.next() == ["trace is off"]
    assert machine.ask("stays off")[0] == 0
    assert len(second.next()) == len(second.next()) == 3
    assert sums(recorded(second.next()))


def test_nothing_is_left_of_a_life(two):
    """Its traces and accounts end with it; then another operator may trace. Its rings are empty."""
    commands = ["stays on", "trace on", "account alpha", "vms"]
    first, second, machine = two(commands, ["stays on", "trace on", "!"], args="again=yes")
    for _ in commands:
        first.next()
    first.screen.expect("operator: access 2")
    assert machine.objects("accounts") == [] == machine.objects("observed")
    assert len(second.next()) == 3
    assert second.next() == ["trace is on"]
    first.request = 0
    assert first.next(1) == [BUSY_ELSEWHERE.format("stays")]


def test_accounts(two):
    """They add up, and an operator is told of its own ones only; the serial line of all."""
    first, second, machine = two(
        ["account alpha --json", "accounts --json", "unobserve --json", "accounts"],
        ["accounts", "account ops --json", "accounts --json", "account alpha --json"])
    (begun,) = told(first.next())
    assert begun["ended"] is None and begun["observation"] == 2 << 24 | 1
    assert second.next() == []
    (own,) = told(second.next())
    assert own["ended"] is None
    for lines, number in ((first.next(), begun["observation"]),
                          (second.next(), own["observation"])):
        head, *rows = told(lines)
        assert head["observation"] == number and head["ended"] is None
        assert rows and sum(row["instructions"] for row in rows) == head["value"] > 0
        assert {row["vm"] for row in rows} == {head["vm"]}
    assert [row["observation"] for row in machine.objects("accounts") if "observation" in row] == [
        begun["observation"], own["observation"]]
    (late,) = told(second.next())
    assert late["ended"] == "its exits are accounted already"
    first.next()
    assert first.next() == []


def test_poweroff(tmp_path):
    """It ends all VMs, itself too, and the machine."""
    result = run(tmp_path, vm("alpha", FOREVER), vm("beta", FOREVER),
                 ops([(BEGINS, "poweroff"), ("+0", "vms")]))
    assert result.status == harness.OK, str(result)
    assert [sum(line == f"vm {name}: stopped" for line in result.own) for name in
            ("alpha", "beta", "ops")] == [1, 1, 1]
    assert not [line for line in result.vm("ops") if "operator: 2" in line]
