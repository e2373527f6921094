# SPDX-License-Identifier: Apache-2.0
"""The page of docs/ about a core's events."""
import os

from tallylib.places import TOP

from .selectors import ALL, bits_text


def path(table):
    """Where the page belongs."""
    return os.path.join(TOP, "docs", f"events-{table.core}.md")


def counters_text(mask):
    """A set of counters, as 0, 3-10."""
    parts, n = [], 0
    while mask >> n:
        first = n
        while mask >> n & 1:
            n += 1
        if n > first:
            parts.append(str(first) if n == first + 1 else f"{first}-{n - 1}")
        n += 1
    return ", ".join(parts)


def wrap(text):
    """Lines of at most 100 columns."""
    rows = [""]
    for word in text.split():
        if len(rows[-1]) + len(word) >= 100:
            rows.append("")
        rows[-1] += (" " if rows[-1] else "") + word
    return rows


def fields(table):
    """The rows about the selector's fields."""
    layout = table.layout
    if layout.kind == "bits":
        yield bits_text(layout.fields[0]), "a bit for each event"
        if layout.group:
            yield bits_text(layout.group), "the group"
        return
    width = layout.group[0] if layout.group else layout.fields[0][1]
    for n, (low, _) in enumerate(layout.fields):
        if layout.group:
            yield (bits_text((low + width, layout.group[1])),
                   f"the group, the same as in {bits_text((layout.group[0], layout.group[1]))}"
                   if n else "the group")
        yield bits_text((low, width)), f"event {n}"
    joined = ("joins events 0 and 1", "joins events 2 and 3", "joins both results")
    for bits, text in zip(layout.joins, joined):
        yield bits_text(bits), text


def stimulus(standard):
    """What boot tries an event with: any instruction is a cycle and an instruction."""
    return "instructions" if standard.event_idx <= 2 else standard.stimulus


def page(table):
    """The text of the page."""
    name = os.path.basename(table.path)
    rows = [f"# Events of {table.title}", "",
            *wrap(f"Made by `tools/pmu-events {table.core} page` of "
                  f"[dts/pmu/{name}](../dts/pmu/{name}): change that. "
                  f"[dts/pmu/README.md](../dts/pmu/README.md) tells what one does with it. Facts "
                  f"come from: {table.source}."), ""]
    if table.note:
        rows += [*wrap(table.note), ""]
    rows += ["## Selector", "", "| bits of `mhpmevent` | |", "| --- | --- |",
             *(f"| {bits} | {text} |" for bits, text in fields(table)), ""]
    if table.layout.joins:
        rows += ["Operators: " + ", ".join(f"{word} {value}" for word, value in
                                           table.layout.operators.items()) + ".", ""]
    rows += ["| group | events | counters | no event in it | mask of what is fixed |",
             "| --- | --- | --- | --- | --- |"]
    for group in table.groups:
        rows.append(f"| {group.name}{': ' + group.text if group.text else ''} | "
                    f"{sum(not event.nothing for event in group.events)} | "
                    f"{counters_text(group.counters)} | `{table.layout.base(group):#x}` | "
                    f"`{ALL & ~table.layout.variable(group):#x}` |")
    if table.standard:
        rows += ["", "## Events of the SBI", "",
                 "| `event_idx` | perf | what counts it | counters | tried at boot with |",
                 "| --- | --- | --- | --- | --- |"]
        rows += [f"| `{s.event_idx:#x}` | {s.name} | "
                 + (f"`{s.expression}`, `{s.selector:#x}`".replace("|", "\\|")
                    if s.expression else "the fixed counter")
                 + f" | {counters_text(s.counters)} | {stimulus(s)} |" for s in table.standard]
    if table.metrics:
        rows += ["", "## Metrics", "", "| perf | formula | |", "| --- | --- | --- |"]
        rows += [f"| {m.name} | `{m.formula}` | {m.text} |" for m in table.metrics]
    for group in table.groups:
        rows += ["", f"## Group {group.name}", "", "| event | code | selector | |",
                 "| --- | --- | --- | --- |"]
        for event in group.events:
            number = table.layout.base(group) if event.nothing else table.layout.encode(event)
            rows.append(f"| {event.id} | {event.code} | `{number:#x}` | {event.text} |")
    return "\n".join(rows) + "\n"
