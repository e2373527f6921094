# SPDX-License-Identifier: Apache-2.0
"""Lists of events that a VM may count: event_get_info and config_matching say the same of every
event, and what they allow is what the list says."""

import re

import pytest

import bare_guests
from event_tables import tool
import harness
import plain
from pmulib import tables
from raw_events import boot
import readback

HART = {0x1, 0x2, 0x10019, 0x1001b, 0x10021}
OF_FIRMWARE = {0xf0000 + code for code in (*range(14), *range(256, 272))}
RAW, RAW_V2 = 0x20000, 0x30000


def events(*numbers):
    """As the guest prints them."""
    return {(number, 0) for number in numbers}


def raws(*selectors, types=(RAW, RAW_V2)):
    """The same of raw events."""
    return {(event, selector) for event in types for selector in selectors}


def listed(value):
    """The property."""
    return "" if value is None else f"pmu-events{' = ' if value else ''}{value};"


def counted(result):
    """{(event_idx, event_data)} of those that can be counted by both calls; none by one alone."""
    *lines, last = result.vm("alpha")
    assert re.fullmatch(r"answers: \d+ events, error 0, 0 differ", last), result
    found = [re.fullmatch(r"answers: (0x\w+)/(0x\w+): info 1, config 1", line) for line in lines]
    assert all(found), result
    pairs = [(int(line[1], 16), int(line[2], 16)) for line in found]
    assert len(set(pairs)) == len(pairs)
    return set(pairs)


# pmu-events, None: without; and what a guest may count then, on a machine whose firmware takes raw
# events. A name makes the tree have its core's node, and events that it has not are refused.
LISTS = {
    "none": (None, events(*HART, *OF_FIRMWARE) | raws(*HART)),
    "nothing": ("", set()),
    "some": ("<1 0x10019 0xf0005 0xf0100 0xf010e>",
             events(0x1, 0x10019, 0xf0005, 0xf0100, 0xf010e)),
    "what nobody counts": ("<3 0x10000 0xf000e 0xf0110 0xfffff>", set()),
    "raw": ("<2 0x20000>", events(2) | raws(*HART, types=(RAW,))),
    "raw v2": ("<0x30000 0xf0000>", events(0xf0000) | raws(*HART, types=(RAW_V2,))),
    "a name": ('<2>, "virt:CYCLES", "virt:DTLB_WRITE_MISS"', events(2) | raws(0x1, 0x1001b)),
    "a group": ('"virt:all"', raws(*HART)),
}


@harness.both_backends
@pytest.mark.parametrize("which", LISTS)
def test_both_calls_agree(tmp_path, raw_machine, which, backend):
    """Of every event, over a VM's list; the counted ones are those of the list."""
    value, allowed = LISTS[which]
    result = boot(tmp_path, raw_machine(), {"alpha": "kind=answers"}, backend=backend,
                  properties=listed(value))
    assert counted(result) == allowed


# Of Kunminghu: pmu-events; the names and cells in it; combinations that are asked for besides, and
# whether they are allowed.
NAMES = {
    "a group": ('"kunminghu:frontend"', ["frontend"],
                {"BpBWrong + BpJWrong": True, "(BpBWrong & BpJWrong) | BpRWrong": True}),
    "two events": ('"kunminghu:BpBWrong", "kunminghu:BpJWrong"', ["BpBWrong", "BpJWrong"],
                   {"BpBWrong + BpJWrong": True, "BpBWrong + BpRWrong": False,
                    "BpRWrong ^ BpBWrong": False}),
    "a group and an event": (
        '"kunminghu:cache", <2>, "kunminghu:rob_commitInstr"', ["cache", 2, "rob_commitInstr"],
        {"rob_commitInstr + rob_commitUop": False, "rob_commitInstr + rob_commitInstrLoad": False}),
}


def allowed_of(table, names):
    """What the names stand for: of a group all events, of both raw types; a cell is itself. Without
    what QEMU takes for its own."""
    selectors = {table.layout.encode(event) for event in table.all_events()
                 if event.id in names or event.group.name in names}
    return events(*(name for name in names if isinstance(name, int))) | raws(
        *(selector for selector in selectors if not readback.taken_for_own(selector)))


@harness.both_backends
@pytest.mark.parametrize("which", NAMES)
def test_names_of_kunminghu(tmp_path, debug_build, which, backend):
    """On a hart with its counters, which takes all selectors."""
    value, names, combinations = NAMES[which]
    table = tables.load("kunminghu")
    numbers = [table.encode(text)[0] for text in combinations]
    allowed = allowed_of(table, names) | raws(
        *(number for number, yes in zip(numbers, combinations.values()) if yes))
    plain.make("build/guests/bare.bin")
    bootargs = "kind=answers " + " ".join(f"data{n}={d}" for n, d in enumerate(numbers))
    tree = tmp_path / "core.dts"
    tree.write_text(bare_guests.tree({"alpha": bootargs}, properties=listed(value)),
                    encoding="ascii")
    qemu = readback.machine(tmp_path, tool("kunminghu", "node").stdout)
    result = harness.run(tree, backend=backend, options=[
        "--include", harness.BUILD / "guests", "--qemu", qemu, "--cpu", readback.CPU,
        *debug_build, "--append", "tally.silent-events"])
    assert result.status == harness.OK, str(result)
    assert counted(result) == allowed
