# SPDX-License-Identifier: Apache-2.0
"""Two results side by side: of two versions, or of two runs of the same."""

from benchlib import machine


def regressions(before, after, percent):
    """A line for each figure that has grown by more than so many percent, and for each that is
    there no more. Runs that only one of the two has are no regression: parts can be run alone."""
    if before["set"] != after["set"]:
        raise machine.Failure("a %s set and a %s set: their rows do not measure the same" %
                              (before["set"], after["set"]))
    lines = []
    for name, run in after["runs"].items():
        old = before["runs"].get(name)
        if old is None or "failure" in old:
            continue
        if "failure" in run:
            lines.append("%s: does not come to its end any more" % name)
            continue
        for row, cost in old["figures"].items():
            now = run["figures"].get(row)
            if now is None:
                lines.append("%s: %s: is not measured any more" % (name, row))
            elif now > cost + abs(cost) * percent / 100:
                growth = " (%+.1f %%)" % (100 * (now - cost) / abs(cost)) if cost else ""
                lines.append("%s: %s: %s instructions, %s before%s" %
                             (name, row, number(now), number(cost), growth))
    if not before["runs"].keys() & after["runs"].keys():
        raise machine.Failure("the two have no run in common")
    return lines


def number(value):
    """A figure without needless digits."""
    return f"{value:,.1f}".removesuffix(".0")


def determinism(first, second):
    """{run: {"identical": bool, "rows": N, "differ": {row: [first, second]}}} of repeated runs."""
    found = {}
    for name, again in second.items():
        one = first[name].get("figures", {})
        two = again.get("figures", {})
        differ = {row: [one.get(row), two.get(row)] for row in sorted(one.keys() | two.keys())
                  if one.get(row) != two.get(row)}
        found[name] = {"identical": not differ and bool(one), "rows": len(one), "differ": differ}
    return found
