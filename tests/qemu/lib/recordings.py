# SPDX-License-Identifier: Apache-2.0
"""Samples of guests that run, taken by `perf-vms record` and by a program that asks for them."""

import re
import statistics
import subprocess
import threading

import pytest

import harness
import measured
import operator_trees
import operators
from operators import MS
from perf_runs import TOOL
from perflib import samples
import prompts
import replayed
from tallylib import tally_ctl

LENGTH = 1000000
PERIOD = 100000
# Of its neighbour, which goes on.
LONG_PERIOD = 10 * PERIOD
ROUNDS = 3
# The jump to the work, two instructions a round and the return, and the ecall.
USER_WORK = 2 * LENGTH + 3
OWN = pytest.mark.parametrize("own", ["", "own=yes", "own=restarts"])
# Of each filter of an event, what a sample's period is. Of alpha, which executes ten thousand times
# as much, a thousand times that.
PERIODS = {"0x2:uk": 777, "0x2:u": 1000, "0x1:k": 5000, "0x1:uk": 101, "0x2:k": 12345}

TICK = 100  # instructions, at 1,000 of them in a microsecond
CHEAP = 10000  # a period that is no multiple of a tick less than a sample costs


def cost(found):
    """How many instructions of all levels a sample takes: what is left of the time from one to the
    next, which is counted in ticks. Other exits, for each question that is asked meanwhile, take
    more than two ticks: a span with one of them is far from the most frequent one."""
    spans = [(after.ticks - before.ticks) * TICK - CHEAP for before, after in zip(found, found[1:])]
    usual = statistics.mode(spans)
    return statistics.mean(span for span in spans if abs(span - usual) <= TICK)


def taken(machine):
    """The samples that were noted since the last call."""
    status, lines = machine.ask("samples")
    assert status == 0
    return samples.told(lines)


def noted(answer):
    """The samples of an operator's answer to `!`."""
    return [samples.Sample(*one) for one in replayed.words(answer)]


def check_places(found):
    """Each is at the instruction after its period: the loop has two, and which it is follows from
    the number of the sample."""
    places = {}
    for n, sample in enumerate(found, 1):
        behind = n * PERIOD % USER_WORK
        assert 0 < behind <= 2 * LENGTH, "choose numbers for which a sample is in the loop"
        places.setdefault(behind % 2, set()).add(sample.pc)
    (first,), (second,) = places[1], places[0]
    assert second - first in (2, 4)


# When alpha is told to work, in ticks, and when it is looked at: it has worked, and waits again.
EVERY = 40 * MS
LOOKS = [(n + 1) * EVERY - 10 * MS for n in range(ROUNDS + 1)]


def every_period(tmp_path, own, **arguments):
    """Samples of instructions in U of a fixed loop, beside a busy neighbour that is sampled as
    well, whether or not the guest counts the same; and the guest's counts are its own."""
    result, told = operators.boot(
        tmp_path, {"alpha": f"kind=waits filter=u every={EVERY} rounds={ROUNDS + 1} "
                            f"length={LENGTH} {own}",
                   "beta": f"kind=busy ticks={(ROUNDS + 2) * EVERY}"}, [
            (LOOKS[0], f"sample alpha 0x2:u {PERIOD} --json"),
            ("+0", f"sample beta 0x2:k {LONG_PERIOD} --json"),
            *((at, "observed --json") for at in LOOKS[1:]), ("+0", "unobserve --json"),
            ("+0", "!")],
        more=operator_trees.samples_hz(), **arguments)
    *begun, ends = map(operators.objects, told[:-1])
    (number, other) = [line["observation"] for (line,) in begun[:2]]
    for n, (line, _) in enumerate(begun[2:], 1):
        assert (line["value"], line["ended"]) == (USER_WORK * n, None)
    line, beta = ends
    assert line["shared"] == (own != "")
    assert (line["lost"], line["late"]) == (beta["lost"], beta["late"]) == (0, 0)

    found = noted(told[-1])
    mine = [sample for sample in found if sample.observation == number]
    assert len(mine) == line["samples"] == USER_WORK * ROUNDS // PERIOD
    assert [sample.number for sample in mine] == list(range(1, len(mine) + 1))
    assert {(sample.hart, sample.vcpu, sample.events, sample.mode(), sample.satp, sample.flags)
            for sample in mine} == {(0, 0, PERIOD, "user", 0, samples.USER)}
    assert [sample.ticks for sample in mine] == sorted(sample.ticks for sample in mine)
    check_places(mine)

    theirs = [sample for sample in found if sample.observation == other]
    assert len(theirs) == beta["samples"] == beta["value"] // LONG_PERIOD > 0
    assert {sample.flags for sample in theirs} == {samples.MASKED}
    if own:
        seen = [re.search(r"waits: [1-9]: (\d+)$", line) for line in result.vm("alpha")]
        assert [int(each[1]) for each in seen if each] == [USER_WORK] * ROUNDS


def toggle(path, end, ended, gone):
    """Observers that sample come and go, until the event is set. gone: a mark for each time."""
    rates = set()
    with tally_ctl.Machine(str(path), timeout=harness.GUARD) as machine:
        try:
            while not end.is_set():
                for vm, times in (("alpha", 1000), ("beta", 1)):
                    for event, period in PERIODS.items():
                        machine.objects(f"sample {vm} {event} {times * period} 3")
                    (line,) = machine.objects(f"sample {vm} 0x2:uk 1000hz")
                    rates.add(line["observation"])
                for _ in range(4):
                    ended += [line["ended"] for line in machine.objects("observed")]
                    taken(machine)
                for line in machine.objects("unobserve"):
                    if line["observation"] not in rates:
                        check_sum(line)
                gone.append(True)
        except tally_ctl.NoAnswer as error:
            assert str(error) == "the machine has ended"


def check_sum(line):
    """Each period of a fixed length was sampled, or was found too late and is counted."""
    period = PERIODS[f"{line['event']}:{line['filter']}"] * (1000 if line["vm"] == "alpha" else 1)
    if line["ended"] in (None, "the guest needed that counter"):
        assert line["value"] // period == line["samples"] + line["late"], line


def count_the_same(running, beta, **arguments):  # pylint: disable=redefined-outer-name
    """The lines of beta, which ends by itself. alpha counts under all filters, and its values are
    those of a guest beside which nobody looks; here observers of both come and go."""
    run = running({"alpha": prompts.SHORT_ROWS, "beta": beta}, **arguments)
    end, ended, gone = threading.Event(), [], []
    program = threading.Thread(target=toggle, args=(run.path, end, ended, gone))
    program.start()
    seen = {None, "the guest needed that counter",
            "the guest counts something else on that counter"}
    while not ("[alpha] measure: round 1 " in run.console and "vm beta: ended" in run.console and
               seen <= set(ended) and len(gone) >= prompts.OFTEN):
        run.read_line()
    end.set()
    program.join()
    assert run.ctl("poweroff")[0] == 0
    run.read_until(None)
    assert run.process.wait() == harness.OK, run.console
    result = harness.Result(harness.OK, run.console)
    prompts.check_rounds(result.vm("alpha"), measured.rounds(1, prompts.SHORT))
    for vcpu in re.findall(r"longest-stay=(\d+)", run.console):
        assert int(vcpu) <= harness.LONGEST_STAY
    return result.vm("beta")


def record(run, file, *words, status=0):
    """What the file has and what was said."""
    done = subprocess.run([TOOL, "record", "--socket", run.path, "--timeout", str(harness.GUARD),
                           "-o", file, *words], capture_output=True, text=True, check=False,
                          timeout=harness.GUARD)
    assert done.returncode == status, done
    if status:
        return None, done.stderr
    return samples.read(file.read_text(encoding="utf-8").splitlines()), done.stderr


def until(file, n, *vms):
    """A command that ends when the file has so many lines, or so many samples of each of these VMs:
    any number of them may come before the first one of another. The tool writes whole lines, and an
    interval of this computer's clock may be any time of the machine's."""
    counts = [f"grep -c '\"sample\".* \"vm\": \"{vm}\"' {file}" for vm in vms] or [f"wc -l <{file}"]
    enough = " && ".join(f"[ $({count}) -ge {n} ]" for count in counts)
    return "sh", "-c", f"until {enough}; do sleep 0.05; done"
