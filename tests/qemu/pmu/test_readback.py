# SPDX-License-Identifier: Apache-2.0
"""Events of Kunminghu on QEMU's hart, whose device tree has the node that tools/pmu-events makes: a
guest asks, and QEMU's debug interface tells what mhpmevent holds. This hart does not count them, so
Tally is told not to refuse what may never count (tally.silent-events)."""

import itertools
import random
import re

import pytest

import bare_guests
from event_tables import random_tree
import harness
import peers
from pmulib import expressions, perf, tables
from pmulib.expressions import ExpressionError
import readback
from readback import NOT_SUPPORTED, RAW, RAW_V2, Request

CORE = "kunminghu"
EVENTS, RANDOM, STANDARD, WIDE = 346, 1000, 6, 200
# Events of the SBI that boot tries, the second by the table's stimulus. Both are of the back end.
INSTRUCTIONS, BRANCHES = 2, 5
FLAGS = (readback.VUINH, readback.VSINH, readback.UINH, readback.SINH, readback.MINH)
# Of single events; QEMU would count cycles and instructions for them.
TAKEN_FOR_OWN = ["frontendFlush", "ifu_req"]
WARNING = ("WARNING: tally.silent-events: events that a hart may never count are not refused, "
           "and read 0")
OPERATORS = (0, 1, 2, 4)

# Back end, release of the firmware (None: this machine's), how many bits of a selector can be asked
# for, and how many requests are refused.
WAYS = [("sbi", None, 48, 4952), ("sbi", "forky", 56, 4752), ("ssccfg", None, 56, 4752)]
each_way = pytest.mark.parametrize("backend, firmware, bits, refused", WAYS,
                                   ids=["sbi-v1", "sbi-v2", "ssccfg"])


@pytest.fixture(scope="module")
def table():
    return tables.load(CORE)


def options(debug_build, firmware):
    """For tools/run."""
    return [*debug_build, "--append", "tally.silent-events",
            *(["--bios", peers.opensbi(firmware)] if firmware else [])]


def homes(table):
    """Selectors of the SBI's general and cache events, each of which has one counter on QEMU."""
    return {event.selector for event in table.standard if event.selector is not None}


def singles(table):
    """(group, selector) of each event."""
    return [(group, table.layout.encode(event))
            for group in table.groups for event in group.events if not event.nothing]


def combinations(table, chance):
    """(group, selector) of legal combinations of several events, without end: those of which QEMU
    takes none for an event of its own."""
    while True:
        tree = random_tree(chance, table)
        events = expressions.events(tree)
        try:
            selector = table.layout.encode(tree)
        except ExpressionError:
            continue
        if len(events) > 1 and not readback.taken_for_own(selector):
            yield events[0].group, selector


def taken_combinations(table):
    """Legal ones that it does take: events in the upper two places, and beside them one whose
    number QEMU knows."""
    for first, low, high in itertools.product((1, 2), OPERATORS, (5, 17)):
        selector = first | 20 << 20 | high << 30 | low << 45
        assert table.encode(expressions.text(table.decode(selector)))
        yield selector


def some_flags(chance):
    return sum(flag for flag in FLAGS if chance.random() < 0.5)


def asked(chance, selector, **more):
    """A request for it, as a raw event that can have it."""
    fits = (RAW, RAW_V2) if perf.fits_v1(selector) else (RAW_V2,)
    return Request(selector, chance.choice(fits), some_flags(chance), **more)


class Driver:
    """What a session does; it adds up the answers."""

    def __init__(self, table):
        self.table = table
        self.chance = random.Random("readback")
        self.given, self.refused = 0, []

    def right(self, guest, batch, initial_value=0, flag=readback.EVENT_OF):
        """Each has a counter of its group, which holds the selector and the filters, and no other
        counter runs; or QEMU would count something else."""
        guest.ask([request for _, request in batch], initial_value)
        expected = {}
        for group, request in batch:
            if readback.taken_for_own(request.selector):
                assert request.error == NOT_SUPPORTED, request
                self.refused.append(request.selector)
                continue
            assert (request.error, request.started) == (0, 0), request
            assert group.counters >> request.counter & 1, request
            assert request.counter not in expected, request
            expected[request.counter] = request.selector | request.filters() | flag
        assert guest.events() == expected
        self.given += len(expected)

    def all_right(self, guest, pairs):
        """The same, of many: as many at a time as there are counters."""
        self.requests_right(guest, [(group, asked(self.chance, selector))
                                    for group, selector in pairs])

    def requests_right(self, guest, pairs):
        """The same, of requests."""
        for batch in readback.batches(pairs, homes(self.table)):
            self.right(guest, batch)

    def wrong(self, guest, requests):
        """All are refused, and nothing runs."""
        for n in range(0, len(requests), readback.MOST):
            part = requests[n:n + readback.MOST]
            guest.ask(part)
            assert [r for r in part if r.error != NOT_SUPPORTED] == []
            assert guest.events() == {}
            self.refused += [request.event_data for request in part]


def standard_events(table, chance):
    """(group, request) of each general and cache event of the SBI that is an event of a group."""
    return [(group, Request(0, event.event_idx, some_flags(chance), selector=event.selector))
            for event in table.standard if event.selector is not None
            for group in table.groups if group.counters == event.counters]


def other_groups(table):
    """Single events, on all counters of a group that is not theirs."""
    return [(selector, other.counters) for group, selector in singles(table)
            for other in table.groups if other is not group]


def no_selectors(table):
    """Numbers that no event of the group has, events of two groups, operators that there are not,
    bits beyond the fields, no event at all."""
    layout = table.layout
    for group in table.groups:
        base = layout.base(group)
        codes = {event.code for event in group.events}
        yield base
        for code in set(range(256)) - codes:
            yield base | code
            yield base | 1 | code << 30
        for other in table.groups:
            if other is not group:
                yield base & 0x3ff | layout.base(other) & ~0x3ff | 1
                yield base & ~(0x3ff << 30) | layout.base(other) & 0x3ff << 30 | 1
        for low in (40, 45, 50):
            for operator in set(range(32)) - set(OPERATORS):
                yield base | 0x200802 | operator << low
        for bit in range(55, 64):
            yield base | 3 | 1 << bit


@each_way
def test_selectors(tmp_path, debug_build, table, backend, firmware, bits, refused):
    driver = Driver(table)
    standard = standard_events(table, driver.chance)
    every, refusals = singles(table), list(no_selectors(table))
    chosen = combinations(table, driver.chance)
    some = list(itertools.islice((pair for pair in chosen if not pair[1] >> bits), RANDOM))
    wide = list(itertools.islice((pair for pair in chosen if not perf.fits_v1(pair[1])), WIDE))

    def drive(guest):
        driver.all_right(guest, every)
        names = [table.decode(selector).id for selector in driver.refused]
        assert (len(every), names) == (EVENTS, TAKEN_FOR_OWN)
        driver.all_right(guest, some)
        driver.requests_right(guest, standard)
        assert driver.given == EVENTS + RANDOM + STANDARD - len(TAKEN_FOR_OWN)
        driver.wrong(guest, [Request(selector) for selector in taken_combinations(table)])
        driver.wrong(guest, [asked(driver.chance, selector, counters=counters)
                             for selector, counters in other_groups(table)])
        driver.wrong(guest, [Request(selector, event_idx, some_flags(driver.chance))
                             for selector in refusals for event_idx in (RAW, RAW_V2)])
        # What does not fit is never cut.
        driver.wrong(guest, [Request(selector, event_idx) for _, selector in wide
                             for event_idx in (RAW, RAW_V2) if event_idx == RAW or bits < 56])

    result = readback.session(tmp_path, readback.of_core(CORE), backend, drive,
                              options(debug_build, firmware))
    assert result.status == harness.OK, str(result)
    assert result.vm("alpha") == [f"readback: {driver.given} counters given, "
                                  f"{len(driver.refused)} requests refused"]
    assert len(driver.refused) == refused
    assert WARNING in result.own
    assert any(f" back end {backend}, " in line for line in result.own)
    # HS counts its own work, though the firmware offers instret for what it does not have.
    exits = bare_guests.exits(result, "alpha")
    assert 0 < exits["longest-stay"] < exits["hs-instructions"]


@harness.both_backends
def test_silent_events_are_refused(tmp_path, table, backend):
    """Without the option nothing is given but two events of the SBI, of which boot cannot know.
    It finds that instructions and branches stand still."""
    driver = Driver(table)
    known = {event.selector for event in table.standard
             if event.event_idx not in (INSTRUCTIONS, BRANCHES)}

    def drive(guest):
        driver.wrong(guest, [Request(selector) for _, selector in singles(table)
                             if selector not in known])
        driver.all_right(guest, [pair for pair in singles(table) if pair[1] in known])

    result = readback.session(tmp_path, readback.of_core(CORE), backend, drive)
    assert (driver.given, len(driver.refused)) == (2, EVENTS - 2)
    assert result.status == harness.OK, str(result)
    assert not any("silent" in line for line in result.own)
    for event in ("instructions", "branches"):
        assert f"hart 0: {event} is refused: it has a counter that stands still" in result.own


@harness.both_backends
@pytest.mark.parametrize("initial_value, flag", [
    (0, readback.EVENT_OF), (1 << 63, readback.EVENT_OF), ((1 << 64) - 1000, 0)])
def test_overflow_flag(tmp_path, debug_build, table, backend, initial_value, flag):
    """A machine whose hart can be tried: the node maps raw events alone, so QEMU's own cycles and
    instructions are there, on counters 3 and 4. OF is 0 where a wrap is near, else 1."""
    driver = Driver(table)
    node, vm_node = readback.of_core(CORE)
    raw_events = re.search(r"(?s)\t\triscv,raw-event.*?;\n", node)[0]
    own = "sbi-events = <1 0 1 0x7f8>, <2 0 2 0x7f8>;"
    nodes = (f"/ {{\n\tpmu {{\n{raw_events}\t}};\n}};\n",
             re.sub(r"(?s)sbi-events =.*?;.*sbi-stimuli =.*?;", own, vm_node))
    assert own in nodes[1]
    counters = {group: group.counters & ~0x18 for group in table.groups}
    batch = [(group, asked(driver.chance, table.layout.encode(event)))
             for group in table.groups
             for event in group.events[3:3 + counters[group].bit_count()]]

    def drive(guest):
        driver.right(guest, batch, initial_value, flag)

    result = readback.session(tmp_path, nodes, backend, drive, options(debug_build, None))
    assert result.status == harness.OK, str(result)
    assert driver.given == 27
    assert any(f" back end {backend}, overflow to guests" in line for line in result.own)


@harness.both_backends
def test_hs_counts_its_own_work(tmp_path, backend):
    """The firmware maps cycles and instructions to the fixed counters, and offers these instead of
    any other: HS, which measures its work with instret, goes on counting."""
    nodes = (readback.of_core(CORE)[0], "")
    result = readback.boot(tmp_path, nodes, backend, kind="chatter lines=10 by=dbcn")
    assert result.status == harness.OK, str(result)
    exits = bare_guests.exits(result, "alpha")
    assert 0 < exits["longest-stay"] < exits["hs-instructions"]


def test_what_the_page_says():
    text = (harness.ROOT / "docs/kunminghu.md").read_text(encoding="utf-8")
    words = " ".join(text.split())
    rows = re.findall(r"\| `(\w+)` \| ([0-9.]+) \| (\d+) \| ([0-9,]+) \| ([0-9,]+) \|\n", text)
    given = EVENTS + RANDOM + STANDARD - len(TAKEN_FOR_OWN)
    assert rows == [
        (backend, "1.9" if firmware else "1.5.1", str(bits), f"{given:,}", f"{refused:,}")
        for backend, firmware, bits, refused in WAYS]
    assert re.findall(r"The single events among them are (.*?)\. ", words) == [
        " and ".join(f"`{name}`" for name in TAKEN_FOR_OWN)]
