# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms looks at all events of all VMs at one moment: what is equal in a guest is equal in
each span that it shows."""

import json
import subprocess

import pytest

from bare_guests import FOREVER
import harness
from moving import ROAM
from perf_runs import begin, perf_vms, tool_of
from perflib import events as perf_events
from tallylib import tally_ctl

LOOKS = 20
TABLES = 4


def tables(run, words):
    """The first tables of perf-vms -j -I, as {(vm, event): object}."""
    found = []
    with subprocess.Popen([*tool_of(run), "-j", "-I", "20", *words],
                          stdout=subprocess.PIPE, text=True) as tool:
        for line in tool.stdout:
            told = json.loads(line)
            key = told["vm"], told["event"]
            if not found or key in found[-1]:
                if len(found) >= TABLES and sum(value(told)
                                                for table in found for told in table.values()):
                    break
                found.append({})
            found[-1][key] = told
        tool.terminate()
        tool.communicate(timeout=harness.GUARD)
    assert tool.returncode == 0
    return found


def value(told):
    return float(told["counter-value"])


@harness.both_backends
def test_equal_in_each_span(running, backend):
    """Without WFI a guest takes a cycle for each instruction, emulated ones too. waits counts both
    itself, so there the hart's counters are shared."""
    run = running({"alpha": FOREVER, "beta": FOREVER, "gamma": "kind=waits filter=u own=yes"},
                  backend=backend)
    run.read_until("waits: begins")
    found = tables(run, ["-e", "{cycles,instructions},exits", "--vm", "alpha", "--vm", "beta"])
    for table in found:
        for vm in ("alpha", "beta"):
            cycles, instructions = (table[vm, name] for name in ("cycles", "instructions"))
            assert value(cycles) == value(instructions)
        assert len({told["event-runtime"] for told in table.values()}) == 1
        assert len({told["interval"] for told in table.values()}) == 1
    for vm in ("alpha", "beta"):
        assert sum(value(table[vm, "cycles"]) for table in found) > 0


def test_groups(running):
    """All of a group or none; who is alone in the list is shown by himself."""
    for words, names in (("{cycles,instructions}:u,exits", ["cycles:u", "instructions:u", "exits"]),
                         ("{cycles:k,instructions}", ["cycles:k", "instructions"])):
        events = perf_events.parse_list(words)
        assert [event.name for event in events] == names
        assert events[0].group is events[1].group is not None
    for words in ("{cycles", "cycles}", "{{cycles}}", "cycles,,exits", "", "{}", "{cycles}x"):
        with pytest.raises(perf_events.BadEvent):
            perf_events.parse_list(words)
    run = running({"alpha": "kind=waits filter=u own=yes", "beta": FOREVER})
    run.read_until("waits: begins")
    # alpha counts its user instructions itself, and has the counter for that.
    words = ["-e", "{cycles,instructions},cycles,{exits,branches}", "-x,", "--duration", "0.1"]
    # Until beta has come to do anything in so much of this computer's time.
    table = [["0"]] * 10
    while table[5][0] == "0":
        lines, complaints = perf_vms(run, *words)
        assert complaints == []
        table = [line.split(",") for line in lines]
    assert [fields[0].isdigit() for fields in table] == [
        False, False, True, False, False, True, True, True, False, False]
    assert [fields[6:] for fields in table[:5]] == [
        ["instructions of its group is not"],
        ["the guest counts something else on that counter"], [], ["branches of its group is not"],
        []]
    assert table[5][0] == table[6][0] == table[7][0] != "0"


@harness.both_backends
def test_one_moment(running, backend):
    """Of all vcpus of a hart, to the tick, whoever runs then."""
    run = running({name: FOREVER for name in ("alpha", "beta", "gamma")}, backend=backend)
    run.read_until("busy: begins")
    with tally_ctl.Machine(str(run.path), timeout=harness.GUARD) as machine:
        for vm in ("alpha", "beta", "gamma"):
            for event in ("0x1:uk", "0x2:uk", "0xf0100"):
                begin(machine, vm, event)
        last = machine.objects("observed")
        for command in ["observed"] * LOOKS + ["unobserve"]:
            lines = machine.objects(command)
            assert len(lines) == 9
            assert len({line["at_ns"] for line in lines}) == 1
            grown = {}
            for line, before in zip(lines, last):
                grown[line["vm"], line["event"]] = line["value"] - before["value"]
            assert all(grown[vm, "0x1"] == grown[vm, "0x2"] for vm in ("alpha", "beta", "gamma"))
            last = lines
        assert machine.objects("observed") == []


def test_as_many_as_there_may_be(running):
    """A look at all of them has no stay that is longer than those of guests; one more is refused."""
    names = [f"vm{n}" for n in range(7)]
    run = running({name: FOREVER for name in names}, vcpus=("0", "0"))
    run.read_until("busy: begins")
    with tally_ctl.Machine(str(run.path), timeout=harness.GUARD) as machine:
        for vm in names[:6]:
            for event in ("0x2:uk", "0x1:uk", "0x2:uk", "0x10019:u", "0x1001b:u", "0xf0100",
                          "0xf0109", "0xf010a"):
                lines = machine.objects(f"observe {vm} {event}")
                assert [line["ended"] for line in lines] == [None] * 2
        for line in machine.objects("observe vm6 0x2:uk"):
            assert (line["observation"], line["ended"]) == (None, "too many observers")
        for _ in range(LOOKS):
            lines = machine.objects("observed")
            assert len(lines) == 96 and len({line["at_ns"] for line in lines}) == 1
        longest = max(told["longest_stay"] for told in machine.objects("exits"))
        assert longest <= harness.LONGEST_STAY
        # One that has ended makes room.
        machine.objects(f"unobserve {lines[0]['observation']}")
        assert [line["ended"] for line in machine.objects("observe vm6 0x2:uk")] == [None] * 2


@pytest.mark.parametrize("roams", [False, True])
def test_two_harts(running, two_harts, roams):
    """Who is asked for on another hart, or between two of them, is found; and no span has a part of
    what it counts. (Under -icount a hart's counters see the other's instructions, alike.)"""
    options = [*two_harts, *(ROAM if roams else ())]
    run = running({"alpha": FOREVER}, vcpus=("1 0",), options=options)
    run.read_until("busy: begins")
    with tally_ctl.Machine(str(run.path), timeout=harness.GUARD) as machine:
        for event in ("0x1:uk", "0x2:uk"):
            begin(machine, "alpha", event)
        last, harts = machine.objects("observed"), set()
        for _ in range(LOOKS):
            lines = machine.objects("observed")
            assert len({line["looked_ns"] for line in lines}) == 1
            cycles, instructions = (line["value"] - before["value"]
                                    for line, before in zip(lines, last))
            assert cycles == instructions > 0
            last = lines
            harts |= set(machine.objects("vms")[0]["harts"])
        # It moves at each stay, and what falls into the stays of a question is chance.
        for n in range(500):
            if len(harts) > roams:
                break
            for _ in range(n % 3):
                machine.objects("exits")
            harts |= set(machine.objects("vms")[0]["harts"])
    assert harts == ({0, 1} if roams else {1})
