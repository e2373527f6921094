# SPDX-License-Identifier: Apache-2.0
"""Event tables of cores: what is in those of dts/pmu, and what the checker refuses."""

import hashlib

import pytest

from event_tables import CHAPTER, SMALL, tool
from pmulib import tables

# Rows of a group whose name another row has too.
SAME_NAMES = {"frontend": 0, "backend": 52, "memory": 18, "cache": 0}

METRIC = """metrics:
  rate:
    formula: 100 * (a + b) / branches
    text: how many of a hundred
"""
BITS = """core: small
title: A small core
source: this test
selector:
  kind: bits
  events: 15:8
  group: 7:0
groups:
  only:
    counters: 3-4
    events:
      - [8, a, the first]
"""

# (what to replace, by what, the line, the refusal)
REFUSALS = [
    ("core: small", "core: Small", 1, "core: Small is not a letter and up to 14 more of a-z, 0-9 "
     "and -"),
    ("title: A small core\n", "", 1, "title is missing"),
    ("title:", "titel:", 2, "titel: is not known here; these are: core, title, source, selector, "
     "groups, note, perf, raw, sbi, metrics"),
    ("title: A", "core: A", 2, "has core twice"),
    ("core: small", "core: [", 3, "is not YAML: expected ',' or ']', but got ':'"),
    ("kind: numbers", "kind: words", 5, "selector: kind: words is not one of numbers, bits"),
    ("[7:0, 15:8]", "[0:7, 15:8]", 6, "selector: events: 0:7 is not a range of bits 63:0, the high "
     "one first"),
    ("[7:0, 15:8]", "[7:0, 14:7]", 5, "selector: bits 14:7 belong to another field, too"),
    ("[7:0, 15:8]", "[7:0, 14:8]", 5, "selector: fields for events differ in width"),
    ("[7:0, 15:8]", "[7:0, 56:49]", 5, "selector: bits 56:49 are above bit 55, the last that a raw "
     "event of the SBI can have"),
    ("[7:0, 15:8]", "[7:0]", 5, "selector: has 1 events and 1 joins; there are 1 and none, 2 and "
     "1, or 4 and 3"),
    ("  operators: {OR: 0, ADD: 1}\n", "", 5, "selector: joins and operators go together"),
    ("ADD: 1", "NOR: 1", 8, "selector: operators: NOR: the operators are OR, AND, XOR, ADD"),
    ("ADD: 1", "ADD: 4", 8, "selector: operators: ADD: does not fit into a field of `joins`"),
    ("ADD: 1", "ADD: 0", 8, "selector: operators: two have one number"),
    ("OR: 0, ", "", 8, "selector: operators: OR is missing: it joins an event with an empty place"),
    ("  joins:", "  group: 7:6\n  joins:", 13, None),
    ("  joins:", "  group: 6:5\n  joins:", 7, "selector: group: is not the upper part of each "
     "field, counted from its lowest bit"),
    ("branches:", "branching:", 10, "sbi: branching: perf has no general or cache event of this "
     "name"),
    ("event: b}", "event: c}", 10, "sbi: branches: event: small has no event c"),
    ("event: b}", "event: a & b}", 10, "sbi: branches: event: this core has no AND; its operators: "
     "OR, ADD"),
    ("event: b}", 'event: b, counters: "5"}', 10, "sbi: branches: has counters that do not count "
     "its events"),
    ("event: b}", "event: b, stimulus: noise}", 10, "sbi: branches: stimulus: noise is not one of "
     "instructions, branches, translations"),
    ("event: b}", "event: b, stimulus: branches}", 10, None),
    ("{event: b}", "{counters: 0}", 10, "sbi: branches: counter 0 counts cycles and counter 2 "
     "instructions, nothing else"),
    ("{event: b}", "{}", 10, "sbi: branches: names no event, and its counters are not 0 or 2 "
     "alone, the two that count without a selector"),
    ("  branches:", "  branch-instructions: {event: a}\n  branches:", 11, "sbi: branches: is the "
     "same event as branch-instructions"),
    ("  only:", "  Only:", 13, "groups: Only: a group's name is a letter and up to 14 more of a-z, "
     "0-9 and -"),
    ("  only:", "  a:", 15, "groups: a: events: a: has the name of a group"),
    ("    counters: 3-4", "    number: 1\n    counters: 3-4", 13, "groups: only: its number 1 does "
     "not fit into the 0 bits that the selector has for groups"),
    ("counters: 3-4", "counters: 3-32", 13, "groups: only: counters: '3-32' is not a counter or a "
     "range of them, as 3-10"),
    ("counters: 3-4", "counters: 0-3", 13, "groups: only: counters: counter 1 is time, which "
     "counts no event"),
    ("counters: 3-4", "counters: '3,3'", 13, "groups: only: counters: has counter 3 twice"),
    ("[1, a,", "[2, a,", 16, "groups: only: events: b: has the code 2 of a"),
    ("[1, a,", "[256, a,", 15, "groups: only: events: a: code 256 is not one of 0 to 255, which "
     "the selector has for events"),
    ("[1, a,", "[one, a,", 15, "groups: only: events: a: one is not a number, as 37 or 0x25"),
    ("[1, a,", "[1, a/b,", 15, "groups: only: events: a/b is not a name: a letter, then letters, "
     "digits and _ . - ( )"),
    ("[1, a, the first]", "[1, a]", 15, "groups: only: events: an event is [CODE, NAME, TEXT], "
     "with COUNTERS behind where they are not the group's"),
    ("[1, a, the first]", "[1, a, the first, 3]", 15,
     "groups: only: events: a: raw events are told "
     "apart by groups, so the counters of an event cannot differ from its group's; say raw: no, or "
     "make a group of it"),
    ("[1, a, the first]", '[1, a, ""]', 15, "groups: only: events: a: is not a word or text"),
    ("[1, a,", "[1, Branch-misses,", 15, "groups: only: events: Branch-misses: is a name of perf's "
     "own, which could then count this instead"),
    ("[1, a,", "[1, r5a,", 15, "groups: only: events: r5a: is a name of perf's own, which could "
     "then count this instead"),
    ("[1, a,", "[1, page-faults,", 15, "groups: only: events: page-faults: is a name of perf's "
     "own, which could then count this instead"),
    ("[1, a,", "[1, L1-data-load-miss,", 15, "groups: only: events: L1-data-load-miss: is a name "
     "of perf's own, which could then count this instead"),
    ("[1, a,", "[1, rag,", 15, None),
    ("[1, a,", "[1, XOR,", 15, "groups: only: events: XOR: is an operator of expressions"),
    ("[1, a,", "[1, dé,", 15, "groups: only: events: dé is not a name: a letter, then letters, "
     "digits and _ . - ( )"),
    ("event: b}", "event: B}", 10, "sbi: branches: event: small has no event B; did you mean b?"),
    ("[2, b,", "[2, b (x),", 10, "sbi: branches: event: small has no event b; did you mean b.x?"),
    ("[1, a, the first]", "[1, B, the first]", 16,
     "groups: only: events: b: would be b, as B is B"),
]


@pytest.fixture
def write(tmp_path):
    """write(TEXT) -> path of a table."""
    path = tmp_path / "small.yaml"

    def put(text):
        path.write_text(text, encoding="utf-8")
        return path

    return put


def test_kunminghu_is_the_chapters():
    """Every number and name, each in its group, with the group's counters and fixed bits."""
    table = tables.load("kunminghu")
    assert [group.name for group in table.groups] == list(CHAPTER)
    for group in table.groups:
        count, digest, counters, base = CHAPTER[group.name]
        assert [event.code for event in group.events] == list(range(count))
        rows = "".join(f"{event.code} {event.name}\n" for event in group.events)
        assert hashlib.sha256(rows.encode()).hexdigest() == digest, group.name
        assert group.counters == sum(1 << n for n in counters)
        assert table.layout.base(group) == base
        assert [event.name for event in group.events if event.nothing] == ["noEvent"]
    assert sum(count for count, *_ in CHAPTER.values()) == 350


def test_kunminghu_keeps_names_apart():
    table = tables.load("kunminghu")
    for group in table.groups:
        names = [event.name for event in group.events]
        same = [event for event in group.events if names.count(event.name) > 1]
        assert len(same) == SAME_NAMES[group.name]
        assert all(event.id.endswith(f".{event.code}") for event in same)
    ids = [event.id.lower() for event in table.all_events(nothing=True)]
    assert len(set(ids)) == len(ids) == 350


@pytest.mark.parametrize("core", tables.names())
def test_tables_are_sound(core):
    done = tool(core, "check")
    assert (done.returncode, done.stderr) == (0, "")
    table = tables.load(core)
    for group in table.groups:
        codes = [event.code for event in group.events]
        assert len(set(codes)) == len(codes)
    selectors = [table.layout.encode(event) for event in table.all_events()]
    assert len(set(selectors)) == len(selectors)


def test_small_tables_are_sound(write):
    """Each refusal is of one word that differs from these."""
    for text in (SMALL, BITS):
        done = tool(write(text), "check")
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("old, new, line, refusal", REFUSALS,
                         ids=[f"{n}" for n in range(len(REFUSALS))])
def test_refusals(write, old, new, line, refusal):
    assert SMALL.count(old) == 1
    path = write(SMALL.replace(old, new))
    done = tool(path, "check")
    if refusal is None:
        assert (done.returncode, done.stderr) == (0, "")
        return
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"pmu-events: {path}:{line}: {refusal}\n"


@pytest.mark.parametrize("formula, refusal", [
    ("a", None),
    ("a / c", "small has no event c"),
    ("a / B", "small has no event B; did you mean b?"),
    ("a / branch-misses", "small has no event branch-misses"),
    ("a-b", "small has no event a-b"),
    ("a - b", None),
    ("1.5 * a", None),
    ("a /", "is not complete, or has two events without an operator between"),
    ("a b", "is not complete, or has two events without an operator between"),
    ("a(b)", "is not complete, or has two events without an operator between"),
    ("(a", "is not complete, or has two events without an operator between"),
    ("2 + 2", "names no event"),
    ("a ? b", "'?' belongs to no formula, which has names, numbers, + - * / and ( )"),
    ("a / max", "max is a word of perf's own and no event in a formula"),
])
def test_formulas(write, formula, refusal):
    path = write(SMALL + METRIC.replace("100 * (a + b) / branches", f'"{formula}"'))
    done = tool(path, "check")
    if refusal is None:
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == "small: A small core: 2 events (only 2), 1 of the SBI's, 1 metrics\n"
        return
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"pmu-events: {path}:19: metrics: rate: formula: {refusal}\n"


def test_formulas_without_raw_events(write):
    """perf opens what is named there by itself."""
    path = write((SMALL + METRIC).replace("selector:", "raw: no\nselector:"))
    done = tool(path, "check")
    assert (done.returncode, done.stderr) == (
        1, f"pmu-events: {path}:20: metrics: rate: formula: perf would open a as a raw event, "
        "which this core does not offer; it has branches\n")


def test_refusals_of_bits(write):
    path = write(BITS.replace("[8, a,", "[7, a,"))
    assert tool(path, "check").stderr == (
        f"pmu-events: {path}:12: groups: only: events: a: bit 7 is not one of 8 to 15, which the "
        "selector has for events\n")
    path = write(BITS.replace("group: 7:0", "group: 8:0"))
    assert tool(path, "check").stderr == (
        f"pmu-events: {path}:5: selector: bits 8:0 belong to another field, too\n")
    path = write(BITS.replace("group: 7:0", "operators: {OR: 0}"))
    assert tool(path, "check").stderr == (
        f"pmu-events: {path}:7: selector: operators: is for the kind `numbers`; bits are joined by "
        "OR\n")


def test_no_such_table(tmp_path):
    done = tool("pentium", "check")
    assert (done.returncode, done.stderr) == (
        1, "pmu-events: pentium: there is no table of this name; there are kunminghu, p550, u74, "
        "virt, and files that end in .yaml\n")
    done = tool(tmp_path / "none.yaml", "check")
    assert (done.returncode, done.stderr) == (
        1, f"pmu-events: {tmp_path}/none.yaml: No such file or directory\n")
    (tmp_path / "empty.yaml").write_text("", encoding="utf-8")
    done = tool(tmp_path / "empty.yaml", "check")
    assert (done.returncode, done.stderr) == (1, f"pmu-events: {tmp_path}/empty.yaml: is empty\n")
    (tmp_path / "bytes.yaml").write_bytes(b"core: \xff\n")
    done = tool(tmp_path / "bytes.yaml", "check")
    assert (done.returncode, done.stderr) == (
        1, f"pmu-events: {tmp_path}/bytes.yaml: is not text in UTF-8\n")
