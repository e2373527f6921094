# SPDX-License-Identifier: Apache-2.0
"""tools/pmu-events, and the tables of event selectors that it is given."""

import subprocess

import harness
from pmulib import expressions

TOOL = harness.ROOT / "tools/pmu-events"
# Of Kunminghu V2R2's chapter: rows, "no event" included, and the SHA-256 of its rows "NUMBER NAME",
# each with a newline, taken from the chapter's own text; counters, and the selector's reset value.
CHAPTER = {
    "frontend": (55, "f1cbdae1fa0650ced2474bf5ed50643a6feddd69877df52c3f054c48070308a0",
                 range(3, 11), 0x0000000000),
    "backend": (143, "0c537cb69b9e806b9ca964fe3e972184d45b57f037b6f64d9323f7ce27256f51",
                range(11, 19), 0x4010040100),
    "memory": (126, "e7ba2bc7e787f28546f8cdc52de6d673104df2ce0f10059ad1225a73e1514005",
               range(19, 27), 0x8020080200),
    "cache": (26, "1a1f6470d56bee598d1b4a7549e183244e1e881dfa3655b21d3ac92191d5d61c",
              range(27, 32), 0xc0300c0300),
}
SMALL = """core: small
title: A small core
source: this test
selector:
  kind: numbers
  events: [7:0, 15:8]
  joins: [17:16]
  operators: {OR: 0, ADD: 1}
sbi:
  branches: {event: b}
groups:
  only:
    counters: 3-4
    events:
      - [1, a, the first]
      - [2, b, the second]
"""


def random_tree(chance, table):
    """A tree that the core's selector may express or not, of one group."""
    group = chance.choice(table.groups)
    events = [event for event in group.events if not event.nothing]
    operators = list(table.layout.operators) or ["OR"]

    def part(depth):
        if depth == 0 or chance.random() < 0.4:
            return chance.choice(events)
        return expressions.join(chance.choice(operators),
                                [part(depth - 1) for _ in range(chance.randint(2, 4 - depth))])

    return part(2)


def tool(*words):
    """Runs tools/pmu-events."""
    return subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True, check=False)
