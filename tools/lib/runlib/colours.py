# SPDX-License-Identifier: Apache-2.0
"""Names in colours."""
import os
import sys

COLOURS = (32, 33, 36, 35, 34, 31)
BOLD = 1


def colours_wanted():
    """As https://no-color.org has it."""
    return (sys.stdout.isatty() and not os.environ.get("NO_COLOR") and
            os.environ.get("TERM", "dumb") != "dumb")


class Names:
    """What stands before lines. names: of the VMs; wanted: in colours, of which each VM has one of
    its own, as far as there are enough."""

    def __init__(self, names, wanted):
        self.wanted = wanted
        self.codes = {name: COLOURS[n % len(COLOURS)] for n, name in enumerate(names)}

    def painted(self, text, code):
        """Bytes of it."""
        text = text.encode()
        return b"\x1b[%dm%s\x1b[m" % (code, text) if self.wanted and code else text

    def tally(self, after):
        """Tally's, with what follows it."""
        return self.painted("tally", BOLD) + after

    def vm(self, name, continued=False):
        """A VM's; one that says that a line goes on."""
        return self.painted("[%s]" % name, self.codes.get(name)) + (b"+" if continued else b" ")
