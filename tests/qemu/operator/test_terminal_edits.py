# SPDX-License-Identifier: Apache-2.0
"""The line that is typed at the prompt of tools/run: arrows, last commands, Tab; and what a screen
shows of it."""

import pytest

from recorded import Bench, Screen
from runlib.editing import Sequences

UP, DOWN, RIGHT, LEFT = (b"\x1b[" + key for key in (b"A", b"B", b"C", b"D"))
HELP = ("vms [--json]: state of each VM", "exits [--json]: exits", "stop VM: pulls the plug",
        "exit: back to the guest")


@pytest.fixture
def live():
    """At the prompt."""
    bench = Bench(True)
    bench.type(b"\x14:")
    return bench


def entered(live, keys):
    """The command that these keys give to Tally."""
    live.type(keys + b"\r")
    return live.answer(1, "no").removesuffix(" --json")


def test_the_cursor(live):
    for keys, command in (
            (b"vs" + LEFT + b"m", "vms"), (b"ms" + LEFT * 9 + b"x" + RIGHT * 9 + b"y", "xmsy"),
            (b"axb" + LEFT + b"\x7f\b\b" + b"c", "cb"), (b"bc\x1b[Ha\x1b[Fd", "abcd"),
            (b"b\x1bOD" + b"a", "ab"), (b"y" * 64 + LEFT + b"z", "y" * 64)):
        # At once, and as a slow line brings them.
        assert entered(live, keys) == command
        for n in range(len(keys)):
            live.type(keys[n:n + 1])
        assert entered(live, b"") == command


def test_the_screen(live):
    """The line is whole and the cursor in its place, also when others have printed."""
    screen = Screen(60, 10)
    live.type(b"\x03")
    for keys, shown, column in ((b"sp alpha", "sp alpha", 8), (b"\x1b[H" + RIGHT, "sp alpha", 1),
                                (b"to", "stop alpha", 3), (b"\x7f", "stp alpha", 2),
                                (b"\x03", "", 0), (b"vmx" + LEFT, "vmx", 2), (b"s", "vmsx", 3)):
        screen.feed(live.type(keys))
        screen.feed(live.put(0, b"a line of the guest\n"))
        row = screen.cursor.y
        assert screen.display[row - 1].rstrip() == "[linux-a] a line of the guest"
        assert screen.display[row].rstrip() == ("tally> " + shown).rstrip()
        assert screen.cursor.x == len("tally> ") + column


def test_a_lone_escape(live):
    for keys in (b"\x1bxstop a", b"stop a\x1b", b"stop a\x1b[", b"stop a\x1b[1;5"):
        assert entered(live, keys) == "stop a"


def test_sequences():
    """Each byte of some: None is one of a person's text."""
    sequences = Sequences()
    for text, told in ((b"\x1b[A", [b"", b"", b"A"]), (b"\x1bOP", [b"", b"", b"P"]),
                       (b"\x1b[1;5C", [b"", b"", b"", b"", b"", b"C"]),
                       (b"\x1bxa", [b"", b"", None]), (b"\x1b\rA", [b"", None, None]),
                       (b"\x1b\x1b[D", [b"", b"", b"", b"D"])):
        assert [sequences.take(bytes([byte])) for byte in text] == told


def test_last_commands(live):
    assert live.type(UP + DOWN) == b""
    for text in ("one", "", "two", "two"):
        live.type(text.encode() + b"\r")
        if text:
            live.answer(1, "no")
    assert entered(live, b"thr" + UP) == "two"
    assert entered(live, UP + UP + UP) == "one"
    assert entered(live, UP + UP + DOWN + b"x") == "onex"
    assert entered(live, UP + DOWN + DOWN + b"x") == "x"
    live.type(UP + UP + b"\x03")
    assert entered(live, UP) == "x"
    for n in range(60):
        assert entered(live, b"n%d" % n) == f"n{n}"
    assert entered(live, UP * 99) == "n10"


def test_tab(live):
    """The commands are those that Tally tells, once; what is typed meanwhile waits."""
    live.type(b"v\tx")
    assert live.answer(0, *HELP) == "help"
    assert entered(live, b"") == "vms x"
    assert entered(live, b"st\tli\t") == "stop linux-"
    assert entered(live, b"st\tlinux-b\t") == "stop linux-b "
    assert entered(live, b"c\tstop c\t") == "cstop c "
    assert entered(live, b"s l" + LEFT * 2 + b"\t") == "stop  l"
    assert b"linux-a linux-b" not in live.type(b"stop li\t")
    assert b"tally: linux-a linux-b\r\n" in live.type(b"\t")
    live.type(b"\x03")
    assert b"tally: vms exits stop exit\r\n" in live.type(b"\t\t")
    assert b"tally: exits exit\r\n" in live.type(b"exit\t\t")
    assert entered(live, b"x") == "exitx"
    # No room for a word: nothing of it.
    assert entered(live, b"s" + b" " * 57 + b"linux\t\t") == "s" + " " * 57 + "linux-"
    assert entered(live, b"s" + b" " * 58 + b"linux\t\t") == "s" + " " * 58 + "linux"
