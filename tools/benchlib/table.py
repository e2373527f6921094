# SPDX-License-Identifier: Apache-2.0
"""The figures as tables: runs that measure the same rows stand side by side."""

from benchlib import compare


def groups(data):
    """[(title, rows, columns, {(row, column): figure})]; columns are runs without their family."""
    families = {}
    for name, run in data["runs"].items():
        family, _, column = name.partition("/")
        families.setdefault(family, {})[column] = run.get("figures", {})
    found = []
    for family, columns in families.items():
        rows = list(dict.fromkeys(row for figures in columns.values() for row in figures))
        cells = {(row, column): figures[row] for column, figures in columns.items() for row in figures}
        found.append((family, rows, list(columns), cells))
    return found


TITLES = {
    "calls": "SBI PMU calls and reads: instructions from before the call to behind it",
    "switch": "World switches: instructions",
    "linux": "Debian's kernel with workloads: instructions of a part of each, workload/condition",
    "scale": "Several guests on the hart: instructions of a part, for each guest",
    "beside": "A guest without perf, while its neighbour uses perf: instructions of a part",
}


def text(data):
    """For a terminal."""
    lines = []
    for family, rows, columns, cells in groups(data):
        lines += ["", TITLES.get(family, family)]
        width = max([len(row) for row in rows] + [10])
        widths = [max(len(column), 12) for column in columns]
        lines.append(" " * width + "".join(f"  {column:>{w}}" for column, w in zip(columns, widths)))
        for row in rows:
            lines.append(f"{row:<{width}}" + "".join(
                f"  {compare.number(cells[row, column]) if (row, column) in cells else '-':>{w}}"
                for column, w in zip(columns, widths)))
    lines += ["", determinism(data)]
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
