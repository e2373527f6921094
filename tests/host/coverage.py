#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Reads what gcov counted and prints lines and branches reached, file by file.

  coverage.py [--lines PERCENT] [--explained FILE.md] [--by-chance] OBJECTS FOLDER

OBJECTS: where the .gcda files are. FOLDER: the sources that matter, from the repository's root.
FILE.md explains lines that no test reaches, one a list item, after a heading with the file:

  ## vpmu/counter.c
  - `start()`: `return false;` - why no test can come here, or need not
  - `start()` - why no test reaches any of its lines, or reaches some of them only

An item stands for all lines of this function, or for those with this text. Exit status 1: too few
lines, a line that is not explained, or an explanation of a line that is reached or not there.
With --by-chance, where random tests reach this line today and that one tomorrow, only too few
lines are an error, and the others are printed.
"""
import argparse
import collections
import gzip
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

Line = collections.namedtuple("Line", "count branches taken function")


def gcov(objects, folder):
    """{file: {line number: Line}} of the sources in a folder, over all objects."""
    found = collections.defaultdict(dict)
    data = sorted(Path(objects).rglob(f"{folder}/*.gcda"))
    data += [path for path in sorted(Path(objects).rglob("*.gcda")) if path not in data]
    with tempfile.TemporaryDirectory() as scratch:
        for path in data:
            subprocess.run(["gcov", "--json-format", "--branch-probabilities", path.resolve()],
                           cwd=scratch, check=True, stdout=subprocess.DEVNULL)
            for report in Path(scratch).glob("*.json.gz"):
                with gzip.open(report, "rt", encoding="utf-8") as file:
                    read(json.load(file), folder, found)
                report.unlink()
    return found


def read(report, folder, found):
    """Adds one object's counts; headers are in many."""
    for entry in report["files"]:
        name = entry["file"]
        if not name.startswith(folder + "/"):
            continue
        for line in entry["lines"]:
            number, branches = line["line_number"], line["branches"]
            taken = [branch["count"] > 0 for branch in branches]
            old = found[name].get(number)
            if old:
                if len(old.taken) == len(taken):
                    taken = [a or b for a, b in zip(old.taken, taken)]
                found[name][number] = old._replace(count=old.count + line["count"], taken=taken)
            else:
                found[name][number] = Line(line["count"], len(taken), taken,
                                           line.get("function_name", ""))


def explanations(path):
    """{(file, function, text or None): explanation}"""
    found, name = {}, None
    for line in path.read_text(encoding="utf-8").splitlines() if path else []:
        heading = re.fullmatch(r"## (\S+)", line)
        item = re.fullmatch(r"- `(\w+)\(\)`(?:: `(.+)`)? - (.+)", line)
        if heading:
            name = heading.group(1)
        elif item:
            found[name, item.group(1), item.group(2)] = item.group(3)
        elif line.startswith("- "):
            sys.exit(f"{path}: not understood: {line}")
    return found


def percent(part, whole):
    """A share as text."""
    return f"{100 * part / whole:6.2f} %" if whole else "     - "


def table(found):
    """Prints a line a file; returns lines reached and all."""
    total = [0, 0, 0, 0]
    print(f"{'file':26} {'lines':>18} {'branches':>20}")
    for name, lines in sorted(found.items()):
        row = [sum(line.count > 0 for line in lines.values()), len(lines),
               sum(sum(line.taken) for line in lines.values()),
               sum(line.branches for line in lines.values())]
        total = [a + b for a, b in zip(total, row)]
        print_row(name, row)
    print_row("all", total)
    return total[0], total[1]


def print_row(name, row):
    """One line of the table."""
    print(f"{name:26} {row[0]:4}/{row[1]:4} {percent(row[0], row[1])}"
          f" {row[2]:5}/{row[3]:5} {percent(row[2], row[3])}")


def uncovered(found, explained):
    """Prints lines that were not reached; returns how many have no explanation."""
    missing, used = 0, set()
    for name, lines in sorted(found.items()):
        source = (ROOT / name).read_text(encoding="utf-8").splitlines()
        for number, line in sorted(lines.items()):
            if line.count:
                continue
            text = source[number - 1].strip()
            key = (name, line.function, text)
            if key not in explained:
                key = (name, line.function, None)
            used.add(key)
            why = explained.get(key)
            missing += why is None
            print(f"{name}:{number}: {line.function}(): {text}\n    "
                  f"{why or 'NOT REACHED, and not explained'}")
    for key in sorted(set(explained) - used, key=str):
        print(f"{key[0]}: {key[1]}(): {key[2] or ''}\n    explained, but reached or gone")
        missing += 1
    return missing


def main():
    """See the top."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines", type=float, default=0)
    parser.add_argument("--explained", type=Path)
    parser.add_argument("--by-chance", action="store_true")
    parser.add_argument("objects")
    parser.add_argument("folder")
    options = parser.parse_args()
    found = gcov(options.objects, options.folder)
    if not found:
        sys.exit(f"nothing counted in {options.objects}")
    reached, lines = table(found)
    bad = uncovered(found, explanations(options.explained))
    if options.by_chance:
        bad = 0
    if 100 * reached < options.lines * lines:
        print(f"fewer than {options.lines} % of the lines")
        bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
