# SPDX-License-Identifier: Apache-2.0
"""encode and decode of tools/pmu-events: there and back, what a selector counts, and refusals."""

import itertools
import json
import os
import random
import signal
import subprocess

import pytest

from event_tables import TOOL, random_tree, tool
import harness
from pmulib import expressions, perf, tables
from pmulib.expressions import ExpressionError, Join
import schemas

ROUNDS = 3000
# Of these, by the seeds below.
WITH_V2, REFUSED = 516, 811
# One event 3; 2, 3 and 4 by one operator 4 * (6 + 10 + 15); (A . B) with one more 12 * 6 * 3, with
# two more 12 * 6 * 6, with (C . D) 4 * 18 * 19 / 2.
POSSIBLE = 1459
OPERATION = {"OR": int.__or__, "AND": int.__and__, "XOR": int.__xor__, "ADD": int.__add__}
NUMBER = {0: "OR", 1: "AND", 2: "XOR", 4: "ADD"}


def encodable(core):
    """(table, tree, selector) of random trees that the core can express."""
    chance, table = random.Random(f"selectors of {core}"), tables.load(core)
    for _ in range(ROUNDS):
        tree = random_tree(chance, table)
        try:
            yield table, tree, table.layout.encode(tree)
        except ExpressionError:
            pass


def replaced(tree, events):
    """The tree with other events."""
    if isinstance(tree, Join):
        return expressions.join(tree.operator, [replaced(part, events) for part in tree.parts])
    return events[tree]


def value(tree, counts):
    """What a tree counts where each event has counted so much."""
    if not isinstance(tree, Join):
        return counts[tree.code]
    result = value(tree.parts[0], counts)
    for part in tree.parts[1:]:
        result = OPERATION[tree.operator](result, value(part, counts))
    return result


def kunminghu_value(selector, counts):
    """The same of a selector, as the chapter tells it: bit positions, numbers of operators."""
    e0, e1, e2, e3 = (counts[selector >> low & 0xff] for low in (0, 10, 20, 30))
    op0, op1, op2 = (OPERATION[NUMBER[selector >> low & 31]] for low in (40, 45, 50))
    return op2(op0(e0, e1), op1(e2, e3))


@pytest.mark.parametrize("core, trees", [("kunminghu", 2197), ("u74", 2210), ("virt", 1208)])
def test_there_and_back(core, trees):
    """The events and operators are those that were asked for, perhaps in another order."""
    seen = 0
    for table, tree, selector in encodable(core):
        assert expressions.same(table.decode(selector)) == expressions.same(tree)
        assert table.encode(expressions.text(tree))[0] == selector
        assert table.encode(expressions.text(table.decode(selector)))[0] == selector
        seen += 1
    assert seen == trees


def test_kunminghu_counts_what_was_asked_for():
    """The selector, taken apart by the chapter's words alone, gives the expression's value; its
    fixed bits are the group's; and it fits raw v1 exactly where the last operator is OR."""
    chance = random.Random("values")
    with_v2 = 0
    for table, tree, selector in encodable("kunminghu"):
        group = expressions.events(tree)[0].group
        for low in (8, 18, 28, 38):
            assert selector >> low & 3 == table.groups.index(group)
        assert selector >> 55 == 0
        assert perf.fits_v1(selector) == (selector >> 50 & 31 == 0)
        with_v2 += not perf.fits_v1(selector)
        for _ in range(3):
            counts = [0] + [chance.randrange(8) for _ in range(255)]
            assert kunminghu_value(selector, counts) == value(tree, counts)
    assert with_v2 == WITH_V2


def test_kunminghu_refuses_only_what_no_selector_is():
    """Three events in all places under all operators: whatever these selectors count is encoded,
    and nothing else."""
    table = tables.load("kunminghu")
    codes = (0, *(table.find(name).code for name in ("BpInstr", "BpRight", "BpWrong")))
    possible = set()
    for places in itertools.product(codes, repeat=4):
        for joins in itertools.product(NUMBER, repeat=3):
            selector = sum(code << 10 * n for n, code in enumerate(places))
            selector |= sum(number << 40 + 5 * n for n, number in enumerate(joins))
            try:
                possible.add(expressions.same(table.decode(selector)))
            except ExpressionError:
                pass
    assert len(possible) == POSSIBLE
    chance, refused = random.Random("possible"), 0
    for _ in range(ROUNDS):
        tree = random_tree(chance, table)
        few = {event: table.find(chance.choice(("BpInstr", "BpRight", "BpWrong")))
               for event in expressions.events(tree)}
        tree = replaced(tree, few)
        try:
            table.layout.encode(tree)
            assert expressions.same(tree) in possible
        except ExpressionError:
            assert expressions.same(tree) not in possible
            refused += 1
    assert refused == REFUSED


@pytest.mark.parametrize("expression, selector, counters, raw", [
    ("BpBWrong", 0x25, "3-10", ["v1", "v2"]),
    ("BpBWrong + BpJWrong", 0x40000009c25, "3-10", ["v1", "v2"]),
    ("BpBWrong ADD BpJWrong", 0x40000009c25, "3-10", ["v1", "v2"]),
    ("frontend:BpBWrong^BpJWrong", 0x20000009c25, "3-10", ["v1", "v2"]),
    ("(BpBWrong & BpJWrong) | (BpCWrong + BpRWrong)", 0x810b42b09c25, "3-10", ["v1", "v2"]),
    ("BpBWrong + BpJWrong + BpCWrong", 0x10040002b09c25, "3-10", ["v2"]),
    ("decoder_stall_cycle", 0x4010040103, "11-18", ["v1", "v2"]),
    ("std_freelist_1_4_valid.27", 0x401004011b, "11-18", ["v1", "v2"]),
    ("enq.LsqWrapper.40 & deq.LsqWrapper", 0x1802008ae28, "19-26", ["v1", "v2"]),
    ("selfdir_A_req | selfdir_B_req", 0xc0300c470f, "27-31", ["v1", "v2"]),
])
def test_kunminghu_by_hand(expression, selector, counters, raw):
    done = tool("kunminghu", "encode", "--json", expression)
    assert (done.returncode, done.stderr) == (0, "")
    said = schemas.read("pmu-events", done.stdout, "encode")
    assert (int(said["selector"], 16), said["counters"], said["raw"]) == (selector, counters, raw)
    back = tool("kunminghu", "decode", "--json", hex(selector))
    assert schemas.read("pmu-events", back.stdout, "decode") == said


@pytest.mark.parametrize("expression, selector", [
    ("DATA_TLB_MISS", 0x1002), ("INST_TLB_MISS | DATA_TLB_MISS", 0x1802),
    ("EXCEPTION_TAKEN | OTHER_FP_RETIRED", 0x2000100),
])
def test_u74_by_hand(expression, selector):
    done = tool("u74", "encode", "--json", expression)
    assert int(json.loads(done.stdout)["selector"], 16) == selector


def test_what_is_shown():
    done = tool("kunminghu", "encode", "BpBWrong + BpJWrong")
    assert done.stdout == """\
events    BpBWrong + BpJWrong
selector  0x40000009c25
counters  3-10
raw       v1 and v2
perf      perf stat -e cpu/config=0x40000009c25,name=BpBWrong-ADD-BpJWrong/
"""
    done = tool("kunminghu", "decode", "0x10040002b09c25", "--name", "wrong")
    assert done.stdout == """\
events    BpBWrong + BpJWrong + BpCWrong
selector  0x10040002b09c25
counters  3-10
raw       v2 alone: it has bits above 47, so both kernel and firmware must know SBI 3.0's 56 bits
perf      perf stat -e cpu/event=0x10040002b09c25,name=wrong/
"""


@pytest.mark.parametrize("core, words, refusal", [
    ("kunminghu", ["encode", "BpBad"], "kunminghu has no event BpBad"),
    ("kunminghu", ["encode", "bpwrong"],
     "kunminghu has no event bpwrong; did you mean BpWrong?"),
    ("kunminghu", ["encode", "backend:BpWrong"], "kunminghu has no event backend:BpWrong"),
    ("kunminghu", ["encode", "frontend"], "kunminghu has no event frontend"),
    ("kunminghu", ["encode", "enq"],
     "enq is the name of 3 events: enq.LsqWrapper.38, enq.LsqWrapper.40, enq.LsqWrapper.42"),
    ("kunminghu", ["encode", "load_req"],
     "load_req is the name of 3 events: load_req.90, load_req.95, load_req.100"),
    ("kunminghu", ["encode", "frontend.noEvent"],
     "frontend.noEvent is no event: it stands for an empty place"),
    ("kunminghu", ["encode", "BpInstr + rob_commitInstr"],
     "BpInstr is of the group frontend and rob_commitInstr of backend: no counter counts both"),
    ("kunminghu", ["encode", "BpInstr + BpRight & BpWrong"],
     "ADD and AND side by side want parentheses"),
    ("kunminghu", ["encode", "BpInstr | BpRight | BpWrong | ftb_hit | ifu_req"],
     "it has 5 events, and a selector of this core takes 4"),
    ("kunminghu", ["encode", "BpInstr & (BpRight | BpWrong | ftb_hit)"],
     "(BpRight | BpWrong | ftb_hit) would have to be one result, and one joins two events"),
    ("kunminghu", ["encode", "(BpInstr & (BpRight | BpWrong)) + ftb_hit"],
     "(BpInstr & (BpRight | BpWrong)) would have to be one result, and one joins two events"),
    ("kunminghu", ["encode", ""], "there is no event in it"),
    ("kunminghu", ["encode", "BpInstr +"], "ends where an event is wanted"),
    ("kunminghu", ["encode", "| BpInstr"], "has '|' where an event is wanted"),
    ("kunminghu", ["encode", "(BpInstr"], "has a parenthesis that is not closed"),
    ("kunminghu", ["encode", "BpInstr BpWrong"], "'BpWrong' follows what is complete"),
    ("kunminghu", ["encode", "BpInstr / BpWrong"],
     "'/' belongs to no expression; events are joined by | & ^ +, or by OR AND XOR ADD"),
    ("kunminghu", ["encode", "(" * 30 + "BpInstr"], "has too many parentheses"),
    ("kunminghu", ["encode", "--raw", "v1", "BpInstr + BpRight + BpWrong"],
     "0x10040002308820 does not fit the 48 bits of raw v1, which reach the last operator only "
     "where it is OR; it wants raw v2"),
    ("kunminghu", ["decode", "0x80000000000025"], "bit 55 belongs to no field of this core's "
     "selector"),
    ("kunminghu", ["decode", "0x100000000000000"],
     "0x100000000000000 does not fit the 56 bits of a raw event"),
    ("kunminghu", ["decode", "--raw", "v1", "0x10040002b09c25"],
     "0x10040002b09c25 does not fit the 48 bits of a raw event"),
    ("kunminghu", ["decode", "-1"], "-1 does not fit the 56 bits of a raw event"),
    ("kunminghu", ["decode", "0x125"], "its fixed bits are those of no group: frontend has 0x0, "
     "backend has 0x4010040100, memory has 0x8020080200, cache has 0xc0300c0300"),
    ("kunminghu", ["decode", "0x37"], "the group frontend has no event 55"),
    ("kunminghu", ["decode", "0x30000009c25"], "its bits 44:40 are 3, which is no operator of this "
     "core"),
    ("kunminghu", ["decode", "0x4010040100"], "it has no event"),
    ("kunminghu", ["decode", "0x10000000025"],
     "it would read 0 for ever: AND joins an event with nothing"),
    ("u74", ["encode", "DATA_TLB_MISS + INST_TLB_MISS"],
     "this core has no ADD; its operators: OR"),
    ("u74", ["encode", "DATA_TLB_MISS | DATA_TLB_MISS"],
     "DATA_TLB_MISS is there twice, and has one bit"),
    ("u74", ["encode", "DATA_TLB_MISS | JAL_INSTRUCTION_RETIRED"],
     "DATA_TLB_MISS is of the group memory and JAL_INSTRUCTION_RETIRED of instructions: no counter "
     "counts both"),
    ("u74", ["decode", "0x103"], "its fixed bits are those of no group: instructions has 0x0, "
     "pipeline has 0x1, memory has 0x2"),
    ("u74", ["decode", "0x4002"], "the group memory has no event 14"),
    ("u74", ["decode", "0x2"], "it has no event"),
    ("virt", ["encode", "CYCLES | INSTRUCTIONS"],
     "this core has no OR; its operators: none: it counts one event at a time"),
    ("virt", ["decode", "3"], "the group all has no event 3"),
])
def test_refusals(core, words, refusal):
    # A number below 0 is no option.
    done = tool(core, *([words[0], "--", words[1]] if words[1:] == ["-1"] else words))
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"pmu-events: {refusal}\n")


def test_wrong_use():
    done = tool("kunminghu", "decode", "twenty")
    assert (done.returncode, done.stderr) == (
        2, "pmu-events: twenty: is not a number, as 0x9c25\n")
    done = tool("kunminghu")
    assert done.returncode == 2 and "COMMAND" in done.stderr


def test_who_reads_no_further_is_told_nothing():
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as closed:
        done = subprocess.run([TOOL, "kunminghu", "list"], stdout=closed, stderr=subprocess.PIPE,
                              check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")


@pytest.mark.parametrize("name", ["", "a b", "a,config=0x5", "a/", "5", "a'b", "é"])
def test_a_name_that_perf_would_not_take_as_one(name):
    done = tool("kunminghu", "encode", "BpWrong", "--name", name)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("error: argument --name: a name for perf is a letter or _, then "
                                "letters, digits and _ . -\n")


def test_what_perf_cannot_ask_for_as_a_raw_event():
    """Where the firmware offers none: by the SBI's own names."""
    assert tool("virt", "encode", "DTLB_READ_MISS").stdout == """\
events    DTLB_READ_MISS
selector  0x10019
counters  3-18
raw       none: this core offers no raw events
perf      perf stat -e dTLB-load-misses/name=DTLB_READ_MISS/
"""
    said = json.loads(tool("virt", "decode", "0x2", "--name", "work", "--json").stdout)
    assert (said["raw"], said["perf"]) == ([], "instructions/name=work/")


def test_what_perf_has_no_name_for(tmp_path):
    text = (harness.ROOT / "dts/pmu/virt.yaml").read_text(encoding="utf-8")
    line = "  dTLB-store-misses: {event: DTLB_WRITE_MISS, stimulus: translations}\n"
    metric = "dTLB-load-misses + dTLB-store-misses"
    assert text.count(line) == text.count(metric) == 1
    path = tmp_path / "less.yaml"
    path.write_text(text.replace(line, "").replace(metric, "dTLB-load-misses"), encoding="utf-8")
    lines = tool(path, "encode", "DTLB_WRITE_MISS").stdout.splitlines()
    assert lines[-1] == "perf      has no name for it"
    assert tool(path, "perf-lines").stdout.splitlines() == [
        "cycles/name=CYCLES/", "instructions/name=INSTRUCTIONS/",
        "dTLB-load-misses/name=DTLB_READ_MISS/", "iTLB-load-misses/name=ITLB_FETCH_MISS/"]
