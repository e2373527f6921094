# SPDX-License-Identifier: Apache-2.0
"""Names of events in the source of a VM tree, which become numbers before dtc sees it.

`pmu-events = <1>, "kunminghu:frontend";` keeps its cells; each name becomes a row of
`pmu-raw-events`, and the tree gets the node /pmu of the core, unless it has one.
"""
import os
import re

from . import nodes
from .expressions import ExpressionError
from .tables import TableError, load

# Comments and strings are skipped, so that neither hides a property nor looks like one.
SKIP = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"'
TOKEN = re.compile(SKIP + r"|\bpmu-events\s*=\s*(?P<value>(?:" + SKIP + r"|[^;])*?);", re.S)
STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"((?:\\.|[^"\\])*)"', re.S)
INCLUDE = re.compile(r'/\*.*?\*/|//[^\n]*|/include/\s*"([^"\n]+)"|"(?:\\.|[^"\\])*"', re.S)


class BadName(Exception):
    """A name in a tree is no event: FILE:LINE: REASON."""


def includes(text):
    """Files that a source includes."""
    return [found[1] for found in INCLUDE.finditer(text) if found[1]]


def names_of(value):
    """Names in the value of a property."""
    return [found[1] for found in STRING.finditer(value) if found[1] is not None]


def cells_of(value):
    """What is left of the value without them; newlines stay, so lines keep their numbers."""
    kept = [part.strip() for part in STRING.sub("", value).split(",") if part.strip()]
    text = ", ".join(kept)
    return text + "\n" * (value.count("\n") - text.count("\n"))


class Names:
    """Of a tree and what it includes; all of one core."""

    def __init__(self):
        self.table = None

    def row(self, name):
        """The cells of pmu-raw-events of a name, or an exception."""
        core, _, event = name.partition(":")
        if not event:
            raise ExpressionError(f'"{name}" is no event: names are CORE:GROUP or CORE:EVENT')
        if self.table and self.table.core != core:
            raise ExpressionError(f'"{name}": the tree names events of {self.table.core} already, '
                                  "and a machine has one kind of core")
        self.table = self.table or load(core)
        selector, mask = nodes.allowed(self.table, event)
        return nodes.cells(*nodes.pair(selector), *nodes.pair(mask))

    def resolve(self, text, file):
        """The source with numbers; the same text where it has no name."""
        def change(found):
            value = found["value"]
            if value is None or not names_of(value):
                return found[0]
            line = text.count("\n", 0, found.start()) + 1
            try:
                rows = [self.row(name) for name in names_of(value)]
            except (ExpressionError, TableError) as error:
                raise BadName(f"{file}:{line}: pmu-events: {error}") from error
            cells = cells_of(value)
            own = f"pmu-events = {cells};" if cells.strip() else f"pmu-events;{cells}"
            return f"{own} pmu-raw-events = {', '.join(rows)};"

        return TOKEN.sub(change, text)


def has_node(text):
    """Has the source a node /pmu of its own?"""
    return re.search(r'\bselector\s*=\s*"(?:numbers|bits)"', text) is not None


def resolve(source, find, folder):
    """Writes a source that names events, and all that it includes, into `folder` with numbers
    instead. find(NAME, FILE) gives the path of what FILE includes, or None. Returns {new path: old
    path}, the source's first; {} where nothing names an event. May raise BadName, OSError."""
    names, texts, places = Names(), {}, {}
    waiting = [source]
    while waiting:
        path = waiting.pop()
        if path in texts:
            continue
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            texts[path] = names.resolve(file.read(), path)
        places[path] = os.path.join(folder, f"{len(places)}-{os.path.basename(path)}")
        waiting += filter(None, (find(other, path) for other in includes(texts[path])))
    if names.table is None:
        return {}
    if not any(has_node(text) for text in texts.values()):
        texts[source] += "\n" + nodes.vm_tree(names.table)
    for path, text in texts.items():
        def point(found, path=path):
            other = found[1] and find(found[1], path)
            return f'/include/ "{places[other]}"' if other else found[0]
        with open(places[path], "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(INCLUDE.sub(point, text))
    return {new: old for old, new in places.items()}
