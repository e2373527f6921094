#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the event table of a core as a C header for tests/host: its events, what OpenSBI's node
says, and the node /pmu of a VM tree as a blob.

usage: event_table.py CORE FILE

Exit status: 0; 1 the table is not sound, or dtc refuses the node; 2 wrong use."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "tools/lib"))
# pylint: disable=wrong-import-position
from pmulib import nodes, tables  # noqa: E402
from pmulib.reader import TableError  # noqa: E402
from pmulib.selectors import ALL  # noqa: E402


def rows(name, kind, lines):
    """A C array."""
    return [f"static const {kind} {name}[] = {{", *(f"    {line}," for line in lines), "};"]


def blob(table):
    """The node /pmu of a VM tree, as a device tree blob."""
    source = "/dts-v1/;\n" + nodes.vm_tree(table)
    return subprocess.run(["dtc", "-q", "-O", "dtb"], input=source.encode(), check=True,
                          stdout=subprocess.PIPE).stdout


def header(table):
    """The text of the header."""
    events = [f'{{{table.layout.encode(e):#x}, {e.counters:#x}, "{e.id}"}}'
              for e in table.all_events()]
    standard = [f"{{{s.event_idx:#x}, {s.counters:#x}, {s.selector:#x}}}" for s in table.standard
                if s.selector is not None]
    raw = [f"{{{table.layout.base(g):#x}, {ALL & ~table.layout.variable(g):#x}, {g.counters:#x}}}"
           for g in table.groups]
    return "\n".join([
        f"/* Made from dts/pmu/{table.core}.yaml by tests/host/event_table.py. */",
        *rows("table_events", "struct table_event", events),
        *rows("table_standard", "struct opensbi_event", standard),
        *rows("table_raw", "struct opensbi_raw", raw),
        *rows("table_blob", "uint8_t", [", ".join(map(str, blob(table)))]), ""])


def main():
    """Writes the header."""
    if len(sys.argv) != 3:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    try:
        text = header(tables.load(sys.argv[1]))
    except TableError as error:
        print(error, file=sys.stderr)
        return 1
    except subprocess.CalledProcessError:
        return 1
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
