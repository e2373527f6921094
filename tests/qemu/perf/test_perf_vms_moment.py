# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms looks at all events of all VMs at one moment: what is equal in a guest is equal in
each span that it shows."""

import json
import subprocess

import pytest

from bare_guests import FOREVER
import harness
from perf_runs import exits_of, perf_vms, tool_of
from perflib import events as perf_events

TABLES = 4


def tables(run, words):
    """The first tables of perf-vms -j -I, as {(vm, event): object}, until each value has been
    something: an interval of this computer's clock may be any time of the machine's."""
    found = []
    with subprocess.Popen([*tool_of(run), "-j", "-I", "20", *words],
                          stdout=subprocess.PIPE, text=True) as tool:
        for line in tool.stdout:
            told = json.loads(line)
            key = told["vm"], told["event"]
            if not found or key in found[-1]:
                if len(found) >= TABLES and all(
                        any(value(table[key]) for table in found) for key in found[0]):
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
    words = ["-e", "{cycles,instructions},cycles,{exits,branches}", "-x,", "--",
             *exits_of(run, "beta", "timer", 2)]
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
