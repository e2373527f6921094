# SPDX-License-Identifier: Apache-2.0
"""A core's event table: read, checked, looked things up in. dts/pmu/README.md has the format."""
import dataclasses
import os
import re

from perflib import events as perf_events
from tallylib.places import SOURCES

from . import expressions, metrics, reserved
from .expressions import ExpressionError
from .reader import TableError, read
from .selectors import RAW_V2_BITS, Layout, bits_text, mask

FOLDER = os.path.join(SOURCES, "dts", "pmu")
FIXED = 0b101  # cycle and instret, which count without a selector
# What boot can do to make an event happen, by its number in the VM tree (vpmu/selector.h).
STIMULI = {"instructions": 1, "branches": 2, "translations": 3}
NAME = r"[a-z][a-z0-9-]{0,14}"


@dataclasses.dataclass(eq=False)
class Event:
    """A row of the table. `name` is the vendor's, `id` is the one by which it is asked for."""
    code: int
    name: str
    text: str
    counters: int
    group: object
    nothing: bool
    row: object  # where it stands in the file
    id: str = ""


@dataclasses.dataclass(eq=False)
class Group:
    """Events that the same counters count."""
    name: str
    number: int
    counters: int
    text: str
    events: list = dataclasses.field(default_factory=list)

    def event(self, code):
        """The event of that number, or ExpressionError."""
        for event in self.events:
            if event.code == code:
                return event
        raise ExpressionError(f"the group {self.name} has no event {code}")


@dataclasses.dataclass(frozen=True)
class Standard:
    """A general or cache event of the SBI. selector None: a fixed counter counts it."""
    name: str
    event_idx: int
    expression: str
    selector: int
    counters: int
    stimulus: str = ""  # one of STIMULI; "": boot does not try the event


class Table:
    """What a file says, checked."""

    def __init__(self, path):
        self.path = path
        shown = os.path.relpath(path, SOURCES)
        item = read(path, path if shown.startswith("..") else shown)
        top = item.fields(("core", "title", "source", "selector", "groups"),
                          ("note", "perf", "raw", "sbi", "metrics"))
        self.core = top["core"].word(NAME, "a letter and up to 14 more of a-z, 0-9 and -")
        self.title, self.source = top["title"].text(), top["source"].text()
        self.note = top["note"].text() if "note" in top else ""
        self.raw = "raw" not in top or top["raw"].choice(("yes", "no")) == "yes"
        self.perf = self.read_perf(top["perf"]) if "perf" in top else None
        self.layout = read_layout(top["selector"])
        self.groups = self.read_groups(top["groups"])
        self.give_ids()
        self.standard = self.read_standard(top["sbi"]) if "sbi" in top else []
        self.metrics = self.read_metrics(top["metrics"]) if "metrics" in top else []

    @staticmethod
    def read_perf(item):
        """Where perf's tree keeps the core: (vendor, regular expression of its ids)."""
        perf = item.fields(("vendor", "cpuid"))
        number = r"0x(?:[0-9a-f\[\]]+|\[\[:xdigit:\]\]\+)"
        return (perf["vendor"].word("[a-z0-9]+", "a folder of perf's tree"),
                perf["cpuid"].word(f"{number}-{number}-{number}",
                                   "MVENDORID-MARCHID-MIMPID as in perf's mapfile.csv"))

    def read_groups(self, item):
        """[Group]"""
        groups = []
        for name, body in item.pairs():
            if not re.fullmatch(NAME, name):
                body.refuse("a group's name is a letter and up to 14 more of a-z, 0-9 and -")
            parts = body.fields(("counters", "events"), ("number", "text"))
            group = Group(name, parts["number"].number() if "number" in parts else 0,
                          parts["counters"].counters(),
                          parts["text"].text() if "text" in parts else "")
            self.check_group(body, group, groups)
            for row in parts["events"].list():
                group.events.append(self.read_event(row, group))
            if not group.events:
                body.refuse("has no events")
            groups.append(group)
        if not groups:
            item.refuse("there is none")
        return groups

    def check_group(self, item, group, others):
        """Its number fits, and tells it from the others."""
        width = self.layout.group[1] if self.layout.group else 0
        if group.number >> width:
            item.refuse(f"its number {group.number} does not fit into the {width} bits that the "
                        "selector has for groups")
        for other in others:
            if other.number == group.number:
                item.refuse(f"has the number of {other.name}, {group.number}")

    def read_event(self, item, group):
        """A row: [CODE, NAME, TEXT] or [CODE, NAME, TEXT, COUNTERS]."""
        row = item.list()
        if len(row) not in (3, 4):
            item.refuse("an event is [CODE, NAME, TEXT], with COUNTERS behind where they are not "
                        "the group's")
        name = row[1].word(r"[A-Za-z][A-Za-z0-9_ .()\-]*",
                           "a name: a letter, then letters, digits and _ . - ( )")
        for part in row:
            part.what = f"{item.what}: {name}"
        code, text = row[0].number(), row[2].text()
        least = self.layout.fields[0][0] if self.layout.kind == "bits" else 0
        if not least <= code < self.layout.limit():
            what = "bit" if self.layout.kind == "bits" else "code"
            row[0].refuse(f"{what} {code} is not one of {least} to {self.layout.limit() - 1}, "
                          "which the selector has for events")
        for other in group.events:
            if other.code == code:
                row[0].refuse(f"has the code {code} of {other.name}")
        counters = row[3].counters() if len(row) == 4 else group.counters
        if self.raw and counters != group.counters:
            row[3].refuse("raw events are told apart by groups, so the counters of an event cannot "
                          "differ from its group's; say raw: no, or make a group of it")
        return Event(code, name, text, counters, group,
                     self.layout.kind == "numbers" and code == 0, row[1])

    def give_ids(self):
        """Names by which events are asked for, each once: 'enq (LsqWrapper)' is enq.LsqWrapper,
        and several of one name have their codes behind it."""
        plain = {}
        for event in self.all_events(nothing=True):
            event.id = re.sub(r"[^\w.\-]+", ".", event.name).strip(".")
            plain.setdefault(event.id, []).append(event)
        for name, events in plain.items():
            groups = {event.group.name for event in events}
            if len(events) > 1:
                for event in events:
                    event.id = f"{event.group.name}.{name}" if len(groups) > 1 else name
                    if len({e.code for e in events if e.group is event.group}) > 1:
                        event.id += f".{event.code}"
        seen = {}
        for event in self.all_events(nothing=True):
            if event.id in (group.name for group in self.groups):
                event.row.refuse("has the name of a group")
            why = reserved.refusal(event.id, self.raw)
            if why:
                event.row.refuse(why)
            other = seen.setdefault(event.id.lower(), event)  # perf tells no cases apart
            if other is not event:
                event.row.refuse(f"would be {event.id}, as {other.name} is {other.id}")

    def read_standard(self, item):
        """[Standard], in the order of event_idx."""
        names = perf_events.GENERAL | perf_events.caches()
        found = {}
        for name, body in item.pairs():
            if name not in names:
                body.refuse("perf has no general or cache event of this name")
            if names[name] in found:
                body.refuse(f"is the same event as {found[names[name]].name}")
            parts = body.fields((), ("event", "counters", "stimulus"))
            found[names[name]] = self.one_standard(name, names[name], body, parts)
        return [found[event_idx] for event_idx in sorted(found)]

    def one_standard(self, name, event_idx, body, parts):
        """An entry of `sbi`."""
        counters = parts["counters"].counters() if "counters" in parts else None
        stimulus = parts["stimulus"].choice(STIMULI) if "stimulus" in parts else ""
        if "event" not in parts:
            if counters not in (1, 4):
                body.refuse("names no event, and its counters are not 0 or 2 alone, the two that "
                            "count without a selector")
            if counters != (1 if event_idx == 1 else 4) or event_idx > 2:
                body.refuse("counter 0 counts cycles and counter 2 instructions, nothing else")
            return Standard(name, event_idx, None, None, counters, stimulus)
        try:
            tree = self.parse(parts["event"].text())
            selector = self.layout.encode(tree)
        except ExpressionError as error:
            parts["event"].refuse(str(error))
        able = counters_of(tree)
        if counters is None:
            counters = able
        able |= {1: 1, 2: 4}.get(event_idx, 0)  # the fixed counter, if the table says so
        if counters & ~able:
            body.refuse("has counters that do not count its events")
        if event_idx > 2 and counters & FIXED:
            body.refuse("counters 0 and 2 count cycles and instructions only")
        return Standard(name, event_idx, expressions.text(tree), selector, counters, stimulus)

    def read_metrics(self, item):
        """[Metric], of events that perf can open by their names."""
        found = []
        for name, body in item.pairs():
            if not re.fullmatch(r"[A-Za-z]\w*", name, re.A):
                body.refuse("a metric's name has letters, digits and _")
            parts = body.fields(("formula", "text"))
            formula = parts["formula"].text()
            try:
                for event in metrics.check(formula):
                    self.check_metric(event)
            except ExpressionError as error:
                parts["formula"].refuse(str(error))
            found.append(metrics.Metric(name, formula, parts["text"].text()))
        return found

    def check_metric(self, name):
        """Is it an event of the SBI or, where raw events are offered, of the table?"""
        known = [standard.name for standard in self.standard]
        if name in known:
            return
        self.find(name)
        if not self.raw:
            raise ExpressionError(f"perf would open {name} as a raw event, which this core does "
                                  "not offer; it has " + ", ".join(known))

    def all_events(self, nothing=False):
        """All events, in the order of the table; nothing: those that stand for no event too."""
        return [event for group in self.groups for event in group.events
                if nothing or not event.nothing]

    def find(self, name):
        """The event of an id, GROUP:ID too; ExpressionError tells what there is instead."""
        group, _, rest = name.rpartition(":")
        events = [e for e in self.all_events(nothing=True) if group in ("", e.group.name)]
        for event in events:
            if rest == event.id:
                return event
        alike = [e.id for e in events if plain_name(e.name) == rest or
                 e.id.lower().startswith(rest.lower() + ".") and not e.nothing]
        if len(alike) > 1:
            raise ExpressionError(f"{name} is the name of {len(alike)} events: "
                                  + ", ".join(alike))
        alike = alike or [e.id for e in events if e.id.lower() == rest.lower()]
        hint = f"; did you mean {alike[0]}?" if alike else ""
        raise ExpressionError(f"{self.core} has no event {name}{hint}")

    def parse(self, text):
        """The tree of an expression, or ExpressionError."""
        return expressions.parse(text, self.find)

    def encode(self, text):
        """(selector, tree) of an expression, or ExpressionError."""
        tree = self.parse(text)
        return self.layout.encode(tree), tree

    def decode(self, selector):
        """The tree of a selector, or ExpressionError."""
        return self.layout.decode(selector, self.groups)


def plain_name(name):
    """A name without what stands in parentheses."""
    return re.sub(r"[^\w.\-]+", ".", name).strip(".")


def counters_of(tree):
    """The counters that count all events of a tree."""
    able = (1 << 32) - 1
    for event in expressions.events(tree):
        able &= event.counters
    return able


def read_layout(item):
    """Layout of the selector, its fields apart from each other and within raw v2."""
    parts = item.fields(("kind", "events"), ("group", "joins", "operators"))
    kind = parts["kind"].choice(("numbers", "bits"))
    group = parts["group"].bits() if "group" in parts else None
    if kind == "bits":
        for name in ("joins", "operators"):
            if name in parts:
                parts[name].refuse("is for the kind `numbers`; bits are joined by OR")
        layout = Layout(kind, (parts["events"].bits(),), group, (), {"OR": 0})
        check_apart(item, [*layout.fields, *([group] if group else [])])
        return layout
    fields = tuple(field.bits() for field in parts["events"].list())
    joins = tuple(field.bits() for field in parts["joins"].list()) if "joins" in parts else ()
    operators = read_operators(parts["operators"], joins) if "operators" in parts else {}
    if {1: 0, 2: 1, 4: 3}.get(len(fields)) != len(joins):
        item.refuse(f"has {len(fields)} events and {len(joins)} joins; there are 1 and none, 2 "
                    "and 1, or 4 and 3")
    if bool(joins) != bool(operators):
        item.refuse("joins and operators go together")
    if len({width for _, width in fields}) > 1:
        item.refuse("fields for events differ in width")
    if group and sum(group) != fields[0][1]:
        parts["group"].refuse("is not the upper part of each field, counted from its lowest bit")
    check_apart(item, [*fields, *joins])
    return Layout(kind, fields, group, joins, operators)


def read_operators(item, joins):
    """{"OR": number}"""
    operators = {}
    for name, value in item.pairs():
        if name not in expressions.OPERATORS:
            value.refuse("the operators are " + ", ".join(expressions.OPERATORS))
        operators[name] = value.number()
        if any(operators[name] >> width for _, width in joins):
            value.refuse("does not fit into a field of `joins`")
    if len(set(operators.values())) < len(operators):
        item.refuse("two have one number")
    if "OR" not in operators:
        item.refuse("OR is missing: it joins an event with an empty place")
    return operators


def check_apart(item, fields):
    """No two fields have a bit in common, and raw v2 reaches all."""
    seen = 0
    for bits in fields:
        if seen & mask(bits):
            item.refuse(f"bits {bits_text(bits)} belong to another field, too")
        if sum(bits) > RAW_V2_BITS:
            item.refuse(f"bits {bits_text(bits)} are above bit {RAW_V2_BITS - 1}, the last that "
                        "a raw event of the SBI can have")
        seen |= mask(bits)


def names():
    """Tables that there are, by the name of their core."""
    return sorted(name.removesuffix(".yaml") for name in os.listdir(FOLDER)
                  if name.endswith(".yaml"))


def load(name):
    """The table of a core's name or of a path, or TableError."""
    if name.endswith((".yaml", ".yml")) or "/" in name:
        return Table(name)
    if name not in names():
        raise TableError(f"{name}: there is no table of this name; there are "
                         + ", ".join(names()) + ", and files that end in .yaml")
    table = Table(os.path.join(FOLDER, name + ".yaml"))
    if table.core != name:
        raise TableError(f"{table.path}: core: is {table.core}, and the file is called {name}")
    return table
