# SPDX-License-Identifier: Apache-2.0
"""The escape key of tools/tally-console."""
import re

TYPED, LEAVE, SIZE, HELP = range(4)
# The key that follows the escape key -> what is done. The escape key itself leaves, too.
AFTER = {b"q": LEAVE, b".": LEAVE, b"w": SIZE, b"?": HELP}
SEND = b"s"


def named(text):
    """The byte of a name as ^] or ^A; None for "none": there is no escape key. ValueError: no key.
    """
    if text == "none":
        return None
    found = re.fullmatch(r"\^([@-_a-z])", text)
    if not found:
        raise ValueError(text)
    return bytes([ord(found[1]) & 31])


def name(key):
    """Returns the name of a key for people."""
    return "Ctrl-" + chr(key[0] | 64)


class Keys:
    """feed(bytes) -> [(kind, bytes)]. begun: the escape key was the last one."""

    def __init__(self, escape):
        self.escape, self.begun = escape, False

    def feed(self, data):
        """Takes bytes that are typed or pasted, and returns what they mean."""
        if self.escape is None:
            return [(TYPED, data)]
        actions = []
        while data:
            if self.begun:
                key, data = data[:1], data[1:]
                self.begun = False
                if key == SEND:
                    actions.append((TYPED, self.escape))
                else:
                    actions.append((LEAVE if key == self.escape else AFTER.get(key, HELP), b""))
                continue
            plain, found, data = data.partition(self.escape)
            if plain:
                actions.append((TYPED, plain))
            self.begun = bool(found)
        return actions
