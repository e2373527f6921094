# SPDX-License-Identifier: Apache-2.0
"""Full-screen programs (vi, top): the sequences by which they take a terminal and give it back."""
import re

MODES = re.compile(rb"\x1b\[\?([\d;]*)([hl])")
OTHER_SCREEN = {b"1049", b"1047", b"47"}
# These move between screens as well, or forbid it, or turn the terminal into another one.
NEVER = {b"1046", b"38", b"2", b"3"}
RESET = b"\x1bc"  # of everything, the screen included

# The other screen, empty. By whatever number a program asks for it, the terminal keeps the cursor.
TAKE = b"\x1b[?1049h\x1b[H\x1b[J"
LEAVE = b"\x1b[?1049l"
# Nothing is left of what a program may have set: insertion, keys of its own, mouse and paste
# reports, character sets, how text looks, a hidden cursor; and the region, which to set moves the
# cursor, so it is saved around that.
AS_BEFORE = (b"\x1b[4l\x1b[?1;1000;1002;1003;1006;2004l\x1b>\x1b(B\x0f\x1b[?7h"
             b"\x1b7\x1b[?6l\x1b[r\x1b8\x1b[m\x1b[?25h")
# Below all that the program has left.
BELOW = b"\x1b[?6l\x1b[999;1H\r\n"


def switch(sequence):
    """Whether a sequence shows (True) or leaves (False) the other screen. None: neither."""
    found = MODES.fullmatch(sequence)
    if not found or OTHER_SCREEN.isdisjoint(found[1].split(b";")):
        return None
    return found[2] == b"h"


def harmless(sequence):
    """Whether a program that has the whole screen may send it. Only we show another screen."""
    found = MODES.fullmatch(sequence)
    return sequence != RESET and not (found and NEVER.intersection(found[1].split(b";")))
