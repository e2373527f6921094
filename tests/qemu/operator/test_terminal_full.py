# SPDX-License-Identifier: Apache-2.0
"""A full-screen program in the VM in focus: it has the whole screen, others' lines wait, and all is
as before when it ends."""
import pytest

from recorded import Bench, Screen, output_of
from runlib import full_screen, terminal
from runlib.full_screen import AS_BEFORE, BELOW, LEAVE, TAKE


@pytest.fixture
def live():
    return Bench(interactive=True)


def test_the_other_screen(live):
    assert live.put(0, b"# vi\r\n") == b"[linux-a] # vi\r\n"
    assert live.put(0, b"\033[?1049h\033[H\033[Jtext\r\n~\r\n~") == (
        TAKE + b"\033[H\033[Jtext\r\n~\r\n~")
    assert live.put(0, b"\033[5;1H\033[7m\xe2\x82") == b"\033[5;1H\033[7m"
    # Nothing of others touches the screen; a unit of the program's is not cut either.
    assert live.put(1, b"\033[31mx\033[H\r\n") == b""
    assert live.own("one", "two") == b""
    assert live.put(0, b"\xac\a\b\t\v\x0e\x1e\x01") == b"\xe2\x82\xac\a\b\t\v"
    assert live.put(0, b"\033[?1049l") == (
        AS_BEFORE + LEAVE + b"[linux-b] x\r\ntally: one\r\ntally: two\r\n")
    assert live.put(0, b"# ") == b"[linux-a] # "
    assert live.put(1, b"x\n") == b"\033[m\r\033[K[linux-b] x\r\n[linux-a] # "


def test_long_output(live):
    """More than a line holds, without an end of line."""
    live.put(0, b"\033[?47h")
    assert live.put(0, b"x" * 3000) == b"x" * 3000


def test_the_focus_moves(live):
    assert live.put(0, b"\033[?1049hA") == TAKE + b"A"
    assert live.type(b"\x142") == (
        AS_BEFORE + LEAVE + b"tally: input goes to linux-b (Ctrl-T ? for help)\r\n")
    assert live.put(1, b"# ") == b"[linux-b] # "
    assert live.put(0, b"\033[2;2Hclock\r\n") == (
        b"\033[m\r\033[K[linux-a] clock\r\n[linux-b] # ")
    assert live.type(b"\x141") == (
        b"\033[m\r\033[Ktally: input goes to linux-a (Ctrl-T ? for help)\r\n"
        b"linux-a| clock\r\n" + TAKE)


def test_the_focus_comes_back(live):
    live.put(0, b"\033[?1049h")
    live.type(b"\x142")
    live.put(1, b"\033[?1047h")  # both have a program now
    assert live.type(b"\x141") == (
        AS_BEFORE + LEAVE + b"tally: input goes to linux-a (Ctrl-T ? for help)\r\n" + TAKE)
    # Unseen, linux-b's ends.
    assert live.put(1, b"\033[?1047l# ") == b""
    assert TAKE not in live.type(b"\x14:")
    assert live.type(b"\x04").endswith(TAKE)
    assert live.type(b"\x142") == (
        AS_BEFORE + LEAVE + b"tally: input goes to linux-b (Ctrl-T ? for help)\r\n[linux-b] # ")
    live.own("vm linux-a: ended")
    assert TAKE not in live.type(b"\x141")


def test_by_key(live):
    assert live.type(b"\x14f") == b"tally: linux-a has the whole screen (Ctrl-T f)\r\n"
    assert live.put(0, b"\033[H\033[JMem:\r\n") == b"\033[H\033[JMem:\r\n"
    assert live.type(b"\x14f") == (
        AS_BEFORE + BELOW + b"tally: linux-a prints lines again (Ctrl-T f)\r\n")
    assert live.put(0, b"# ") == b"[linux-a] # "
    live.type(b"\x14f")
    assert live.own("vm linux-a: ended") == AS_BEFORE + BELOW + b"tally: vm linux-a: ended\r\n"


def test_no_full_screen(live):
    """Not by anything else, and not where there is no terminal."""
    assert live.put(0, b"\033[?25h\033[?1049$p\033[1049h\033[?104hx") == b"[linux-a] x"
    assert live.put(1, b"\033[?1049hx\n") == b"\033[m\r\033[K[linux-b] x\r\n[linux-a] x"
    batch = Bench(interactive=False)
    assert batch.put(0, b"\033[?1049hx\n") == b"[linux-a] x\n"


def test_lines_that_wait(live):
    """No more of them than there is room for, and the person is told."""
    live.put(0, b"\033[?1049h")
    for n in range(terminal.HELD + 5):
        live.flow.feed(output_of(1, b"%d\n" % n) + b"\n")
    assert live.emitted() == b""
    lines = live.put(0, b"\033[?1049l").removeprefix(AS_BEFORE + LEAVE).split(b"\r\n")
    assert lines[0] == b"tally: 5 lines are left out here" and lines[1] == b"[linux-b] 5"
    assert len(lines) == terminal.HELD + 2
    assert len([line for line in live.record.lines if line[0] == "linux-b"]) == terminal.HELD + 5


def test_the_machine_ends(live):
    """With a program on the screen."""
    live.put(0, b"\033[?1049hA")
    live.put(1, b"x\n")
    live.flow.end()
    assert live.emitted() == AS_BEFORE + LEAVE + b"[linux-b] x\r\n"


# --- What a terminal shows -----------------------------------------------------------------------

HEAD = [b"\033[H\033[J", b"\033[?25l\033[4h\033[?6h\033[3;5r"]
LAST = "tally: vm linux-b: ended"


@pytest.mark.parametrize("head", HEAD)
@pytest.mark.parametrize("how", [b"", b"1049", b"1047", b"47", b"25;1049"])
def test_what_it_leaves_is_not_overwritten(live, how, head):
    """By key or by itself: what it has drawn stays above the lines that follow, wherever it left
    the cursor and what else it set; a program on the other screen leaves nothing."""
    screen = Screen()
    live.flow.feed(output_of(0, b"before\r\n" + (b"\033[?%sh" % how if how else b"")) + b"\n")
    if not how:
        live.keys.take(b"\x14f")
    rows = b"".join(b"\033[%d;1Hrow %d" % (n, n) for n in range(1, 21))
    live.flow.feed(output_of(0, head + rows + b"\033[1;3H") + b"\n\x1e!vm linux-b: ended\n")
    drawn = [row.rstrip() for row in screen.feed(live.emitted()).display if row.strip()]
    assert drawn[-1].endswith("row 20")
    if how:
        live.flow.feed(output_of(0, b"\033[?%sl" % how) + b"\n")
    else:
        live.keys.take(b"\x14f")
    live.flow.feed(output_of(0, b"after\r\n# ") + b"\n")
    shown = screen.feed(live.emitted()).all_rows()
    last = [LAST, "[linux-a] after", "[linux-a] #"]
    if how:
        assert shown == ["[linux-a] before", *last]
    else:
        told = ["tally: linux-a prints lines again (Ctrl-T f)"]
        assert shown[-len(drawn) - 4:] == drawn + [LAST] + told + last[1:]
    assert not screen.cursor.hidden


def test_no_other_way_to_the_screen_below(live):
    """What a program paints on the other screen is gone with it: it cannot get to the main one
    while it is thought to be on the other."""
    screen = Screen()
    forged = b"\033[1;1Htally: vm linux-b: failed"
    for way in (b"\033[?25;1049l", b"\033[?1049;25l", b"\033c", b"\033[?1046l", b"\033[?47l"):
        live.flow.feed(output_of(0, b"\033[?1049h" + way + forged) + b"\n")
        live.flow.feed(output_of(0, b"\033[?1049l\r\n") + b"\n")
    assert full_screen.RESET not in live.written
    rows = screen.feed(live.emitted()).all_rows()
    assert not [row for row in rows if row.startswith("tally: ")]
