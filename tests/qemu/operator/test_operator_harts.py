# SPDX-License-Identifier: Apache-2.0
"""A VM that is an operator on one hart, and those that it asks about on others: the counts are
exact, and samples come in the ring of the hart where they were taken."""

import json
import re

import pytest

import harness
from operator_trees import operator, run, samples_hz, vm
from operators import MS, answers, objects
from perflib import samples

LENGTH = 1000000
# The jump to the work, two instructions a round and the return, and the ecall.
USER_WORK = 2 * LENGTH + 3
PERIOD = 30011
ROUNDS = 4
# Of the guest's time, which begins when 17 ms of the machine's are over: its work begins with a
# frame, and takes 4 ms. The looks come while it sleeps, and the operator sleeps in each work, for
# QEMU counts the instructions of both harts on each.
BEGINS, FRAME = 80 * MS, 40 * MS
WORKS = f"kind=waits filter=u rounds={ROUNDS + 2} length={LENGTH} after={BEGINS - FRAME // 2} " \
        f"every={FRAME} asleep=yes"
LOOKS = [BEGINS + FRAME // 2 + 15 * MS + n * FRAME for n in range(ROUNDS + 1)]
OTHER = {0: 1, 1: 0}
BOTH = pytest.mark.parametrize("hart", [0, 1])


def sample_of(line):
    """What a line of the guest says about one."""
    hart, words = re.fullmatch(r"hart (\d+):((?: [0-9a-f]+)+)", line).groups()
    return samples.Sample(int(hart), [int(word, 16) for word in words.split()])


def taken(answer):
    """The samples of an answer to `!`."""
    lines, status = answer
    assert status == 0
    return [sample_of(line) for line in lines]


def boot(tmp_path, two_harts, *vms, **arguments):
    """The run, and the answers to "ops". The operator's hart is awake in stays of the other one,
    which counts them as well."""
    result = run(tmp_path, *vms, options=two_harts, stays=False, **arguments)
    assert result.status in (harness.OK, harness.INTERRUPTED), str(result)
    return result, answers(result)


@harness.both_backends
@BOTH
def test_counts_and_samples(tmp_path, two_harts, hart, backend):
    """Of a VM on the other hart: the number is known, each period gives a sample, and all come in
    the ring of that hart."""
    asked = [(LOOKS[0], "observe alpha 0x2:u --json"), ("+0", f"sample alpha 0x2:u {PERIOD}"),
             *((look, command) for look in LOOKS[1:] for command in ("observed --json", "!")),
             ("+0", "unobserve --json")]
    _, told = boot(tmp_path, two_harts, vm("alpha", WORKS, hart=OTHER[hart]),
                   operator(asked, more=samples_hz(), hart=hart), backend=backend)
    assert objects(told[0])[0]["ended"] is None and told[1][1] == 0
    looks, found = told[2:-1:2], [taken(answer) for answer in told[3:-1:2]]
    for n, answer in enumerate(looks, 1):
        counted, sampled = objects(answer)
        assert (counted["value"], counted["ended"]) == (n * USER_WORK, None)
        assert sampled["value"] == n * USER_WORK
        assert sampled["samples"] == n * USER_WORK // PERIOD == sum(map(len, found[:n]))
        assert (sampled["lost"], sampled["late"]) == (0, 0)
    every = sum(found, [])
    assert [sample.number for sample in every] == list(range(1, len(every) + 1))
    assert {(sample.hart, sample.vcpu, sample.events, sample.mode()) for sample in every} == {
        (OTHER[hart], 0, PERIOD, "user")}
    assert [line["value"] for line in objects(told[-1])] == [ROUNDS * USER_WORK] * 2


@harness.both_backends
@BOTH
def test_moves(tmp_path, two_harts, hart, backend):
    """Before each work the operator moves the VM, from its own hart to the other one and back: the
    sum is known, and each sample is in the ring of the hart where the work was."""
    asked = [(LOOKS[0], f"sample alpha 0x2:u {PERIOD} --json")]
    where = [(hart, OTHER[hart])[n % 2] for n in range(ROUNDS)]
    for n, look in enumerate(LOOKS[1:]):
        asked += [(look, "!"), ("+0", "observed --json"), ("+0", "vms --json"),
                  ("+0", f"move alpha 0 {where[n]}")]
    result, told = boot(tmp_path, two_harts, vm("alpha", WORKS, hart=f"{OTHER[hart]} {hart}"),
                        operator(asked, "control", more=samples_hz(), hart=hart),
                        backend=backend)
    assert objects(told[0])[0]["ended"] is None
    number = 0
    for n, was in enumerate([OTHER[hart], *where[:-1]]):
        found, (seen,), (state,), moved = (
            taken(told[4 * n + 1]), *map(objects, told[4 * n + 2:4 * n + 4]), told[4 * n + 4])
        assert (seen["value"], seen["lost"], seen["late"]) == ((n + 1) * USER_WORK, 0, 0)
        assert seen["samples"] == (n + 1) * USER_WORK // PERIOD == number + len(found)
        assert [sample.number for sample in found] == [*range(number + 1, number + len(found) + 1)]
        assert {sample.hart for sample in found} == {was} and state["harts"] == [was]
        assert moved == ([f"alpha vcpu 0 moves to hart {where[n]}"], 0)
        number += len(found)
    (line,) = [line for line in result.own if line.startswith("vm alpha: vcpu 0: exits ")]
    assert harness.exit_counts(line)["moves"] == ROUNDS


@BOTH
def test_lives(tmp_path, two_harts, hart):
    """It stops, starts and restarts a VM on the other hart. A new life is counted from its first
    instruction on, and with it the samples of that hart begin anew."""
    asked = [(LOOKS[0], "stop alpha"), ("+30000", "vms --json"), ("+0", "stop alpha"),
             ("+0", "observe alpha 0x2:u --json"), ("+0", f"sample alpha 0x2:u {PERIOD}"),
             ("+0", "start alpha"), (f"+{LOOKS[0]}", "observed --json"), ("+0", "!"),
             ("+0", "vms --json"), ("+0", "restart alpha"), ("+30000", "observed --json"),
             ("+0", "sample alpha 0x2:u 100"), (f"+{LOOKS[0]}", "vms --json"),
             ("+0", "unobserve"), ("+0", "move alpha 0 0"), ("+0", "move alpha 0 1"),
             ("+0", "stop alpha")]
    result, told = boot(tmp_path, two_harts, vm("alpha", WORKS, hart=OTHER[hart]),
                        operator(asked, "control", more=samples_hz(), hart=hart),
                        until="vm ops: ended")
    assert [status for _, status in told] == [0] * 14 + [int(bool(OTHER[hart])),
                                                         int(not OTHER[hart]), 0]
    assert told[0][0] == ["alpha is being stopped"] and told[2][0] == ["alpha is off already"]
    assert [json.loads(told[n][0][0])["state"] for n in (1, 8, 12)] == ["off", "running", "running"]
    counted, sampled = objects(told[6])
    assert counted["value"] == sampled["value"] == USER_WORK
    found = taken(told[7])
    assert [sample.number for sample in found] == [*range(1, USER_WORK // PERIOD + 1)]
    assert {sample.hart for sample in found} == {OTHER[hart]} and sampled["lost"] == 0
    assert [(line["value"], line["ended"]) for line in objects(told[10])] == [
        (USER_WORK, "the vcpu stopped")] * 2
    assert result.own.count("vm alpha: starts again") == 2


@BOTH
def test_itself(tmp_path, two_harts, hart):
    """It counts and samples itself, and moves itself, in the middle of its own requests. The period
    is longer than what a sample's line takes to be printed, which is sampled, too."""
    asked = [("+0", "observe ops 0x2:uk --json"), ("+0", "sample ops 0x2:uk 10007 --json"),
             *[("+0", "observed --json"), ("+100000", "!")] * 2,
             ("+0", f"move ops 0 {OTHER[hart]}"), ("+0", "vms --json"),
             *[("+0", "observed --json"), ("+100000", "!")] * 2, ("+0", "unobserve --json"),
             ("+0", "stop ops")]
    node = operator(asked, "control", vms='"ops"', more=samples_hz(), hart=f"{hart} {OTHER[hart]}")
    result, told = boot(tmp_path, two_harts, vm("alpha", "kind=idle ticks=0", hart=hart), node,
                        until="vm ops: stopped")
    values = [objects(told[n]) for n in (2, 4, 8, 10, 12)]
    assert [[line["ended"] for line in lines] for lines in values] == [[None, None]] * 5
    for which in (0, 1):
        counts = [lines[which]["value"] for lines in values]
        assert counts == sorted(set(counts)) and counts[0] > 0
    assert values[-1][1]["samples"] == values[-1][1]["value"] // 10007 >= 5
    found = [taken(told[n]) for n in (3, 5, 9, 11)]
    every = sum(found, [])
    assert [sample.number for sample in every] == [*range(1, len(every) + 1)]
    assert told[6] == ([f"ops vcpu 0 moves to hart {OTHER[hart]}"], 0)
    assert objects(told[7])[0]["harts"] == [OTHER[hart]]
    # Where each was taken: the ring of the first hart is read before that of the second.
    assert {sample.hart for sample in found[0]} == {hart}
    assert {sample.hart for sample in found[-1]} == {OTHER[hart]}
    assert result.vm("ops")[-1] == "operator: 13: status 0"  # the last one is not answered


TIMES = 50
# Its end if it has waited for 100 ms of the machine's time, which is the host's here.
BUSY = "another operator is being answered: ask once more"


def test_two_at_once(tmp_path):
    """Profile smp: an operator on each of two harts, of a VM on the other one. Each is told of its
    own observations only, however far the other one is."""
    def node(name, of, hart):
        asked = [("+0", f"observe {of} 0xf0100 --json"), ("+0", "observed --json"),
                 ("+0", "observed --json"), ("+0", "unobserve --json")]
        return operator(asked, vms='"alpha", "beta"', args=f"times={TIMES}", hart=hart).replace(
            "ops {", name + " {")

    result = run(tmp_path, *(vm(name, "kind=busy ticks=10000000", hart=hart)
                             for hart, name in enumerate(("alpha", "beta"))),
                 node("ops", "beta", 0), node("more", "alpha", 1), profile="smp",
                 options=["--harts", 2])
    assert result.status == harness.OK, str(result)
    for name, of, client in (("ops", "beta", 3), ("more", "alpha", 4)):
        told = answers(result, name)
        assert len(told) == 4 * TIMES
        for lines, status in told:
            if status:
                assert lines.pop() == BUSY
            for line in map(json.loads, lines):
                assert line["vm"] == of
                assert line["observation"] is None or line["observation"] >> 24 == client
