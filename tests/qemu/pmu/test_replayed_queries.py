# SPDX-License-Identifier: Apache-2.0
"""What guests printed earlier and a terminal is shown again asks the terminal nothing: its answers
would be typed into the guest. What comes live is as it was printed."""

import os
import re
import select
import time

import pyte
import pytest

import consoles
import fakes
import harness
from consolelib.session import Session
from tallylib import frames, replay

E = b"\x1b"
# That a terminal answers, by those that know them.
QUERIES = {
    "DSR": b"\x1b[5n", "CPR": b"\x1b[6n", "zeros": b"\x1b[06n", "DECXCPR": b"\x1b[?6n",
    "printer": b"\x1b[?15n", "keys": b"\x1b[?25n", "colour scheme": b"\x1b[?996n",
    "DA1": b"\x1b[c", "DA1 with 0": b"\x1b[0c", "DA2": b"\x1b[>c", "DA3": b"\x1b[=0c",
    "DECID": b"\x1bZ", "ENQ": b"\x05", "DECREQTPARM": b"\x1b[1x", "DECRQM": b"\x1b[?2026$p",
    "DECRQM of ANSI": b"\x1b[4$p", "DECRQPSR": b"\x1b[1$w", "DECRQTSR": b"\x1b[1$u",
    "DECRQUPSS": b"\x1b[&u", "DECRQDE": b'\x1b["v', "DECRQCRA": b"\x1b[1;1;1;1;9;9*y",
    "locator": b"\x1b[1'|", "macro": b"\x1b[1*z", "XTVERSION": b"\x1b[>0q", "kitty": b"\x1b[?u",
    "XTQMODKEYS": b"\x1b[?4m", "XTSMGRAPHICS": b"\x1b[?1;1;0S", "colours": b"\x1b[#R",
    "SGR": b"\x1b[1;1;1;1#|", "title stack": b"\x1b[#S",
    **{f"window {n}": b"\x1b[%dt" % n for n in (11, 13, 14, 15, 16, 18, 19, 20, 21)},
    "window 14;2": b"\x1b[14;2t", "focus": b"\x1b[?1004h", "size": b"\x1b[?2048h",
    **{f"OSC {n}": b"\x1b]%d;?\a" % n for n in (10, 11, 12, 17, 19, 50, 708)},
    "OSC 4": b"\x1b]4;1;?\x1b\\", "OSC 5": b"\x1b]5;0;?\a", "several": b"\x1b]10;red;?;?\a",
    "clipboard": b"\x1b]52;c;?\a", "kitty's colours": b"\x1b]21;foreground=?\x1b\\",
    "pointer": b"\x1b]22;?__current__\x1b\\", "features": b"\x1b]60\x1b\\",
    "cell": b"\x1b]1337;ReportCellSize\a", "notification": b"\x1b]99;i=1:p=?;\x1b\\",
    "DECRQSS": b"\x1bP$qm\x1b\\", "XTGETTCAP": b"\x1bP+q544e\x1b\\",
    "tmux": b"\x1bPtmux;\x1b\x1b[6n\x1b\\",
    "graphics": b"\x1b_Gi=1,a=q;AAAA\x1b\\", "APC of 8 bits": b"\x9fGi=1;A\x1b\\",
    "CSI of 8 bits": b"\x9b6n", "CSI in UTF-8": b"\xc2\x9b6n", "DECID of 8 bits": b"\x9a",
    "DCS in UTF-8": b"\xc2\x90$qm\xc2\x9c\x1b\\", "OSC of 8 bits": b"\x9d11;?\a",
    "DEL inside": b"\x1b[6\x7fn", "two ESC": b"\x1b\x1b[6n", "after CAN": b"\x1b[\x18\x1b[6n",
    "in a title": b"\x1b]0;a\x1b[6n", "in graphics": b"\x1bPq#0\x1b[6n",
    "long": b"\x1b[6" + b";0" * 999 + b"n",
    "UTF-8 cut short": b"\xe2\x1b[6n", "two markers": b"\x1b[?>6n", "numbers late": b"\x1b[6 1n",
}
# That it does not answer.
HARMLESS = [
    b"plain text, 6n, [6n\r\n", b"\x1b[1;31mred\x1b[m", b"\x1b[2J\x1b[H", b"\x1b[?1049h",
    b"\x1b[?25l", b"\x1b[6;1H",
    b"\x1b[3 q", b"\x1b[>4;2m", b"\x1b[>1u\x1b[<u\x1b[=1u", b"\x1b[u\x1b[s",
    b"\x1b7\x1b8",
    b"\x1b(B\x0f", b"\x1b#8", b"\x1bc", b"\x1b[22;0t", b"\x1b[8;24;80t", b"\x1b[t", b"\x1b[!p",
    b"\x1b[?6c", b"\x1b[1S", b"\x1b[1;2r", b"\x1b[1$x", b"\x1b[?2004h", b"\x1b]0;What?\a",
    b"\x1b]2;title\x1b\\", b"\x1b]8;;http://x/?a\x1b\\link\x1b]8;;\x1b\\", b"\x1b]11;#123456\a",
    b"\x1b]4;1;red\a", b"\x1b]104\a", b"\x1b]7;file://h/x\a", b"\x1b]133;A\a",
    "\u8fd4\u66ff \u00e9 \U0001f600 \u279b6n".encode(), b"\x1b[31\nm",
    b"\x1bM\x1bD\x1bE", b"\t\a\b\x00",
    b"\x1b=\x1b>", b"\xa9\xff",
]
# Nothing that could begin something, but the end of a string alone.
ASKED = re.compile(rb"[\x05\x80-\x9f]|\x1b(?!\\)")


def shown(data):
    return replay.Replay().feed(data)


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_is_left_out(name):
    """Wherever it stands, and whatever is around it."""
    query = QUERIES[name]
    assert not ASKED.search(shown(query)), shown(query)
    for before, behind in ((b"", b""), (b"a\r\n", b"b\r\n"), (b"\x1b[m", b"\x1b[m")):
        got = shown(before + query + behind)
        assert got.startswith(before) and got.endswith(behind)
        assert not ASKED.search(got[len(before):len(got) - len(behind)]), got
    # C0 controls inside are carried out; so a query may go on in the next line.
    if query[:2] == b"\x1b[" and name not in ("long", "focus", "size"):
        assert shown(b"x\x1b[\r\n" + query[2:] + b"y") == b"x\r\ny"


@pytest.mark.parametrize("data", HARMLESS)
def test_all_else_is_shown(data):
    want = data.replace(b"\x1b[31\nm", b"\n\x1b[31m")
    assert shown(data) == want
    assert shown(b"a\x1b[6n" + data + b"\x05b") == b"a" + want + b"b"
    for at in range(len(data)):
        again = replay.Replay()
        assert again.feed(data[:at]) + again.feed(data[at:]) == want


def test_modes():
    """One that answers stands among others."""
    assert shown(b"\x1b[?1000;1004;1006h") == b"\x1b[?1000;1006h"
    assert shown(b"\x1b[?1004l") == b"\x1b[?1004l"


def test_the_console_of_linux():
    """Has strings without an end."""
    assert shown(b"\x1b]R\x1b]P1ff0000text") == b"text"


@pytest.mark.parametrize("name", QUERIES)
def test_cut_anywhere(name):
    """By the beginning of what is shown again, or by its end: the rest comes live."""
    query = QUERIES[name]
    for at in range(1, len(query)):
        assert not ASKED.search(shown(query[at:] + b".")), at
        again = replay.Replay()
        got = again.feed(b"a" + query[:at])
        rest = again.live(query[at:] + b"\r\nb")
        # What begins now is now's.
        if not ASKED.search(query[at:]):
            assert not ASKED.search(got + rest), (at, got, rest)
        assert rest.endswith(b"\r\nb")
        # From then on it is as it comes.
        assert again.live(query + b"x") == query + b"x"


def test_live_output_is_not_touched():
    for data in [*QUERIES.values(), *HARMLESS]:
        again = replay.Replay()
        assert again.feed(b"text\r\n") == b"text\r\n"
        assert again.live(data) == data
    # Nor is what ends a sequence from before that is none that asks.
    for data in HARMLESS:
        for at in range(len(data)):
            again = replay.Replay()
            got = again.feed(data[:at]) + again.live(data[at:] + b"\x1b[6n")
            assert got in (data + b"\x1b[6n",
                           data.replace(b"\x1b[31\nm", b"\n\x1b[31m") + b"\x1b[6n"), (data, at)
            assert again.live(b"\x1b[6n") == b"\x1b[6n"


def test_a_string_that_never_ends():
    """A guest died in it, and says all that comes."""
    for begin in (b"\x1b]0;a", b"\x1bPq#0", b"\x1b_G", b"\x1b[6"):
        again = replay.Replay()
        assert again.feed(begin) == b""
        assert again.live(b";") == b"" and again.live(b"x\r\nboot\r\n")[-6:] == b"boot\r\n"
        again = replay.Replay()
        again.feed(begin)
        assert len(again.live(b"y" * 10000)) >= 10000 - replay.LIVE_BYTES
        assert again.live(b"z") == b"z"


class Answering:
    """A terminal that answers what it is asked, as pyte does; and one query of each other kind."""

    def __init__(self):
        self.screen = pyte.Screen(80, 24)
        self.answers = b""
        self.screen.write_process_input = self.answer
        self.stream = pyte.ByteStream(self.screen)

    def answer(self, text):
        self.answers += text.encode()

    def gets(self, data):
        """Returns what it types."""
        self.answers = b""
        self.stream.feed(data)
        # pyte answers DSR and DA alone.
        self.answers += b"".join(b"\x1b[?1$y" for _ in re.findall(
            rb"\x05|\x1b\[\??\d*\$p|\x1b\[>0?q|\x1b\[\?u|\x1b\[1[48]t|;\?(?:\a|\x1b\\)|\x1bP[$+]q",
            data))
        return self.answers


@pytest.fixture(name="machine")
def a_machine(tmp_path):
    """Whose guest has asked everything."""
    made = fakes.Framed(tmp_path)
    made.output_of(0, b"before\r\n" + b"".join(
        query for name, query in QUERIES.items() if name != "long") + b"\x1b\\\x18\r\nlogin: ")
    while not made.flow.vms[0].backlog.endswith(b"login: "):
        time.sleep(0.01)
    yield made
    made.end()


def test_the_terminal_answers_alone_what_is_asked_now(machine):
    """tools/tally-console: nothing is typed when it attaches."""
    child = consoles.attached("--socket", machine.path, "alpha")
    try:
        terminal = Answering()
        child.expect_exact("login: ")
        assert terminal.gets((child.before + child.after).encode("latin-1")) == b""
        assert "before" in child.before
        child.send("x")
        machine.reads(b"\x14>Ax")
        # Now it asks.
        machine.output_of(0, b"\x1b[6n\x1b[?2026$p.")
        child.expect_exact(".")
        answers = terminal.gets((child.before + child.after).encode("latin-1"))
        assert re.fullmatch(rb"\x1b\[\d+;\d+R\x1b\[\?1\$y", answers)
        child.send(answers.decode())
        machine.reads(answers)
    finally:
        child.close(force=True)


def read_until(fd, end):
    """What comes until then."""
    got = b""
    while not got.endswith(end):
        assert select.select([fd], [], [], harness.GUARD)[0], got
        got += os.read(fd, 65536)
    return got


def test_pseudo_terminals(machine):
    """Those of tools/run and tally-serve, for any terminal program."""
    terminal = Answering()
    opened = os.open(os.path.join(machine.folder, "alpha"), os.O_RDWR | os.O_NOCTTY)
    try:
        got = read_until(opened, b"login: ")
        assert terminal.gets(got) == b"" and b"before" in got
        os.write(opened, b"x")
        machine.reads(b"\x14>Ax")
        machine.output_of(0, b"\x1b[6n.")
        answers = terminal.gets(read_until(opened, b"."))
        assert re.fullmatch(rb"\x1b\[\d+;\d+R", answers)
        os.write(opened, answers)
        machine.reads(answers)
    finally:
        os.close(opened)


def test_a_sequence_over_the_end(machine):
    """Half of a query is from before, and its end comes now."""
    machine.output_of(0, b"\x1b[6")
    child = consoles.attached("--socket", machine.path, "alpha")
    try:
        child.expect_exact("login: ")
        machine.output_of(0, b"n")
        machine.output_of(0, b"go on\x1b[5n.")
        child.expect_exact(".")
        assert child.before == "go on\x1b[5n"
    finally:
        child.close(force=True)


def test_a_board():
    """What came on a serial line while frames began, and the lines that are chosen of it."""
    typed, written = [], []

    class Line:
        """Of tallylib.line."""
        serial, paced = True, True
        send = staticmethod(typed.append)

    session = Session(Line, None, written.append, lambda _: None, 2)
    session.events([frames.Name(0, "alpha"), frames.Output(0, b"a\nb\x1b[c\nc\x1b[6n\n# \x1b]11;"),
                    frames.AnswerEnd("fr", 0)])
    session.events([frames.Output(0, b"?\a"), frames.Output(0, b"\x1b[6n")])
    assert b"".join(written) == b"c\n# \x1b[6n"
