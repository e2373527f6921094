# SPDX-License-Identifier: Apache-2.0
"""Device tree nodes of a table: OpenSBI's, and that of a VM tree."""
from .selectors import ALL
from .tables import STIMULI


def cells(*numbers):
    """Cells between brackets; 64-bit numbers come as pairs()."""
    return "<" + " ".join(f"{n:#x}" for n in numbers) + ">"


def pair(number):
    """A 64-bit number as two cells."""
    return number >> 32, number & 0xFFFFFFFF


def prop(name, rows):
    """A property of several rows, none: no property."""
    if not rows:
        return []
    return [f"\t\t{name} =", *(f"\t\t\t{row}," for row in rows[:-1]), f"\t\t\t{rows[-1]};"]


def ranges(standard):
    """[first event_idx, last, counters] of what follows each other and has the same counters."""
    found = []
    for event in standard:
        if found and found[-1][1] + 1 == event.event_idx and found[-1][2] == event.counters:
            found[-1][1] = event.event_idx
        else:
            found.append([event.event_idx, event.event_idx, event.counters])
    return found


def opensbi(table):
    """The node /pmu of the machine's device tree, as OpenSBI's docs/pmu_support.md has it.

    An event whose selector is its event_idx has no row: that is what OpenSBI writes then.
    """
    selectors = [cells(s.event_idx, *pair(s.selector)) for s in table.standard
                 if s.selector is not None and s.selector != s.event_idx]
    raw = [cells(*pair(table.layout.base(g)), *pair(ALL & ~table.layout.variable(g)), g.counters)
           for g in table.groups] if table.raw else []
    return "\n".join([
        f"/* {table.title}: made by tools/pmu-events of {table.core}.yaml. */", "/ {", "\tpmu {",
        '\t\tcompatible = "riscv,pmu";',
        *prop("riscv,event-to-mhpmevent", selectors),
        *prop("riscv,event-to-mhpmcounters", [cells(*row) for row in ranges(table.standard)]),
        *prop("riscv,raw-event-to-mhpmcounters", raw), "\t};", "};", ""])


def runs(table, group):
    """[first number, last, counters] of events whose numbers follow each other."""
    found = []
    for event in sorted(group.events, key=lambda event: event.code):
        number = table.layout.number(event)
        if event.nothing:
            continue
        if found and found[-1][1] + 1 == number and found[-1][2] == event.counters:
            found[-1][1] = number
        else:
            found.append([number, number, event.counters])
    return found


def vm_tree(table):
    """The node /pmu of a VM tree (dts/README.md): what a selector may be, and who counts it."""
    layout = table.layout
    events = [cells(*pair(layout.base(group)), *row) for group in table.groups
              for row in runs(table, group)]
    standard = [cells(s.event_idx, *pair(s.selector or 0), s.counters) for s in table.standard]
    stimuli = [cells(s.event_idx, STIMULI[s.stimulus]) for s in table.standard if s.stimulus]
    return "\n".join([
        f"/* {table.title}: made by tools/pmu-events of {table.core}.yaml. */", "/ {", "\tpmu {",
        f'\t\tcore = "{table.core}";', f'\t\tselector = "{layout.kind}";',
        *prop("event-fields", [cells(*bits) for bits in layout.fields]),
        *prop("operator-fields", [cells(*bits) for bits in layout.joins]),
        *prop("operators", [cells(*layout.operators.values())] if layout.joins else []),
        *prop("events", events), *prop("sbi-events", standard),
        *prop("sbi-stimuli", stimuli), "\t};", "};", ""])


def allowed(table, name):
    """(selector, mask) of single events that a name of the VM tree stands for: a group's, or an
    event's."""
    layout = table.layout
    for group in table.groups:
        if name == group.name:
            low, width = layout.fields[0]
            if layout.kind == "numbers" and layout.group:
                width = layout.group[0]
            return layout.base(group), ALL & ~((1 << width) - 1 << low)
    event = table.find(name)
    return layout.encode(event), ALL
