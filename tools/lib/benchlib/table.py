# SPDX-License-Identifier: Apache-2.0
"""The figures as tables: runs that measure the same rows stand side by side."""

import textwrap

from benchlib import compare, conclusions

# Of a line of a page.
COLUMNS = 100


def groups(data):
    """[(title, rows, columns, {(row, column): figure})]; columns are runs without their family."""
    families = {}
    for name, run in data["runs"].items():
        family, _, column = name.partition("/")
        families.setdefault(family, {})[column] = run.get("figures", {})
    found = []
    for family, columns in families.items():
        rows = list(dict.fromkeys(row for figures in columns.values() for row in figures))
        cells = {(row, column): figures[row] for column, figures in columns.items()
                 for row in figures}
        found.append((family, rows, list(columns), cells))
    return found


TITLES = {
    "calls": "SBI PMU calls and reads: instructions from before the call to behind it",
    "switch": "World switches: instructions",
    "linux": "Debian's kernel with workloads: instructions of a part of each, workload/condition",
    "scale": "Several guests on the hart: instructions of a part, for each guest",
    "beside": "A guest without perf, while its neighbour uses perf: instructions of a part",
}


def columns_of(head, rows):
    """Lines of a small table."""
    widths = [max(len(row[i]) for row in [head] + rows) for i in range(len(head))]
    return ["  " + row[0].ljust(widths[0]) +
            "".join("  " + cell.rjust(w) for cell, w in zip(row[1:], widths[1:]))
            for row in [head] + rows]


def wrapped(sentences):
    """Lines of them. A number stays with its unit."""
    return [line.replace("_%", " %") for line in textwrap.wrap(sentences.replace(" %", "_%"), 96)]


def summary(data):
    """What a person reads in a terminal first: sentences, and what they are drawn from. All
    figures, if they answer no question."""
    lines, found = [], conclusions.of(data)
    if not found:
        return text(data)
    for question, sentence, (head, rows), note in found + conclusions.interrupts(data):
        lines += ["", question, *wrapped(sentence), "", *columns_of(head, rows), *wrapped(note)]
    saw = conclusions.alike(data)
    lines += ["", *(textwrap.wrap(saw, 96) if saw else [])]
    return "\n".join(lines + ["", determinism(data)])


def text(data):
    """All figures, for a terminal."""
    lines = []
    for family, rows, columns, cells in groups(data):
        lines += ["", TITLES.get(family, family)]
        width = max([len(row) for row in rows] + [10])
        widths = [max(len(column), 12) for column in columns]
        lines.append(" " * width +
                     "".join(f"  {column:>{w}}" for column, w in zip(columns, widths)))
        for row in rows:
            lines.append(f"{row:<{width}}" + "".join(
                f"  {compare.number(cells[row, column]) if (row, column) in cells else '-':>{w}}"
                for column, w in zip(columns, widths)))
    lines += ["", determinism(data)]
    return "\n".join(lines)


def markdown(data):
    """For docs/evaluation-figures.md."""
    lines = ["| what | version |", "| --- | --- |"]
    lines += ["| %s | %s |" % pair for pair in data["versions"].items()]
    for run in data["runs"].values():
        if "host" in run and run["name"].startswith("linux/"):
            lines.append("| host of %s | Linux %s |" % (run["name"], run["host"]))
    for text in (conclusions.alike(data), determinism(data)):
        lines.append("")
        for line in (text or "").splitlines():
            lines += textwrap.wrap(line, COLUMNS, break_on_hyphens=False)
    for family, rows, columns, cells in groups(data):
        lines += ["", "## " + TITLES.get(family, family), "",
                  "| | " + " | ".join(columns) + " |", "| --- |" + " --- |" * len(columns)]
        for row in rows:
            lines.append("| %s | " % row + " | ".join(
                compare.number(cells[row, c]) if (row, c) in cells else "-"
                for c in columns) + " |")
    taken = {name: {c: seen["samples"] for c, seen in run.get("perf", {}).items()
                    if "samples" in seen}
             for name, run in data["runs"].items()}
    conditions = list(dict.fromkeys(c for seen in taken.values() for c in seen))
    if conditions:
        lines += ["", "## Samples that perf took, in all workloads of a run together", "",
                  "| | " + " | ".join(conditions) + " |", "| --- |" + " --- |" * len(conditions)]
        lines += ["| %s | " % name + " | ".join(str(seen.get(c, "-")) for c in conditions) + " |"
                  for name, seen in taken.items() if seen]
    return "\n".join(lines)


def determinism(data):
    """What repeated runs said, in words."""
    repeated = data["determinism"]
    if not repeated:
        return "No run was repeated."
    differing = [name for name, entry in repeated.items() if not entry["identical"]]
    rows = sum(entry["rows"] for entry in repeated.values())
    if not differing:
        return "Repeated: %s. All %d figures were identical." % (", ".join(repeated), rows)
    lines = ["Repeated: %s. NOT identical:" % ", ".join(repeated)]
    for name in differing:
        for row, (one, two) in repeated[name]["differ"].items():
            lines.append("  %s: %s: %s and %s" % (name, row, one, two))
    return "\n".join(lines)
