# SPDX-License-Identifier: Apache-2.0
"""YAML in which nothing is overlooked: whoever reads it knows the line of each word.

Each scalar is text as it was typed: what is a number is decided by who wants one, so that neither
`9:0` nor `no` becomes something else.
"""
import re

import yaml

from tallylib import printable


class TableError(Exception):
    """A table cannot be used: FILE:LINE: WHAT: REASON."""


class Item:
    """A scalar, a list or a mapping of a file, with what it is called in messages."""

    def __init__(self, file, node, what):
        self.file, self.node, self.what = file, node, what

    def refuse(self, reason):
        """Raises TableError."""
        line = self.node.start_mark.line + 1
        what = self.what + ": " if self.what else ""
        raise TableError(f"{self.file}:{line}: {what}{reason}")

    def inside(self, node, what):
        """One of its parts."""
        return Item(self.file, node, what)

    def text(self):
        """The text of a scalar that is not empty."""
        if not isinstance(self.node, yaml.ScalarNode) or not self.node.value.strip():
            self.refuse("is not a word or text")
        text = " ".join(self.node.value.split())
        # It goes to perf, to pages and to terminals.
        if printable.line(text) != text:
            self.refuse(f"{text} has characters that cannot be shown")
        return text

    def number(self):
        """A number, decimal or 0x."""
        text = self.text()
        if not re.fullmatch(r"0x[0-9a-fA-F]+|[0-9]+", text):
            self.refuse(f"{text} is not a number, as 37 or 0x25")
        return int(text, 16 if text.startswith("0x") else 10)

    def word(self, pattern, meaning):
        """A text of a certain form."""
        text = self.text()
        if not re.fullmatch(pattern, text):
            self.refuse(f"{text} is not {meaning}")
        return text

    def choice(self, words):
        """One of some words."""
        return self.word("|".join(words), "one of " + ", ".join(words))

    def list(self):
        """The members of a list."""
        if not isinstance(self.node, yaml.SequenceNode):
            self.refuse("is not a list")
        return [self.inside(node, self.what) for node in self.node.value]

    def pairs(self):
        """[(name, Item)] of a mapping, no name twice."""
        if not isinstance(self.node, yaml.MappingNode):
            self.refuse("is not a mapping, NAME: VALUE")
        found = {}
        for key, value in self.node.value:
            name = self.inside(key, self.what).text()
            if name in found:
                self.inside(key, self.what).refuse(f"has {name} twice")
            found[name] = self.inside(value, f"{self.what}: {name}" if self.what else name)
        return list(found.items())

    def fields(self, needed, optional=()):
        """{name: Item} of a mapping with these names and no others."""
        found = dict(self.pairs())
        for name, item in found.items():
            if name not in needed and name not in optional:
                item.refuse("is not known here; these are: " + ", ".join((*needed, *optional)))
        for name in needed:
            if name not in found:
                self.refuse(f"{name} is missing")
        return found

    def bits(self):
        """(lowest bit, width) of a range, HIGH:LOW."""
        text = self.word("[0-9]+:[0-9]+", "a range of bits, HIGH:LOW")
        high, low = (int(n) for n in text.split(":"))
        if not low <= high < 64:
            self.refuse(f"{text} is not a range of bits 63:0, the high one first")
        return low, high - low + 1

    def counters(self):
        """A set of counters as a mask, of a text as 0,3-10."""
        mask = 0
        for part in self.text().split(","):
            ends = re.fullmatch(r"\s*([0-9]{1,2})(?:-([0-9]{1,2}))?\s*", part)
            first, last = (int(ends[1]), int(ends[2] or ends[1])) if ends else (1, 0)
            if not first <= last < 32:
                self.refuse(f"'{part.strip()}' is not a counter or a range of them, as 3-10")
            for n in range(first, last + 1):
                if n == 1:
                    self.refuse("counter 1 is time, which counts no event")
                if mask >> n & 1:
                    self.refuse(f"has counter {n} twice")
                mask |= 1 << n
        return mask


def read(path, name):
    """The whole of a file, called `name` in messages."""
    try:
        with open(path, encoding="utf-8") as file:
            node = yaml.compose(file, Loader=yaml.BaseLoader)
    except OSError as error:
        raise TableError(f"{name}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TableError(f"{name}: is not text in UTF-8") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        reason = getattr(error, "problem", None) or "cannot be read"
        raise TableError(f"{name}{line}: is not YAML: {reason}") from error
    if node is None:
        raise TableError(f"{name}: is empty")
    return Item(name, node, "")
