# SPDX-License-Identifier: Apache-2.0
"""The terminal of tools/run while the VM in focus has a line unfinished: the exact bytes that it
gets, and what it shows of them."""
import random
import re

import pytest

from recorded import Bench, Screen, output_of

ERASE = b"\033[m\r\033[K"
EURO = "\u20ac".encode()


@pytest.fixture
def live():
    return Bench(interactive=True)


def test_the_focus_is_shown_as_it_grows(live):
    assert live.put(0, b"~") == b"[linux-a] ~"
    assert live.put(0, b" # ") == b" # "
    assert live.put(0, b"l\b \b") == b"l\b \b"
    assert live.put(0, b"ls\r\n") == b"ls\r\n"
    assert live.put(0, b"\r\n") == b"[linux-a] \r\n"
    assert live.put(1, b"boot") == b""
    assert live.put(1, b"ing\r\n") == b"[linux-b] booting\r\n"
    assert live.put(0, b"\033[31mred\a") == b"[linux-a] \033[31mred\a"
    # The line comes back plain; what is printed next looks as the guest said.
    assert live.put(1, b"\033[31mred\a\n") == (
        ERASE + b"[linux-b] red\r\n[linux-a] red\033[31m")
    assert live.put(0, b"\b\b\b\b\b") == b"\b\b\b"  # not into the prefix
    assert live.put(1, b"x\n") == ERASE + b"[linux-b] x\r\n[linux-a] red\033[3D\033[31m"
    assert live.put(0, b"\x0e\0\v\x7f") == b""


def test_sequences_are_not_cut(live):
    assert live.put(0, b"a") == b"[linux-a] a"
    assert live.put(0, b"\033[3") == b""
    assert live.put(1, b"x\n") == ERASE + b"[linux-b] x\r\n[linux-a] a"
    assert live.put(0, b"1m") == b"\033[31m"
    assert live.put(0, b"\xe2\x82") == b""
    assert live.own("y") == ERASE + b"tally: y\r\n[linux-a] a\033[31m"
    assert live.put(0, b"\xac") == EURO


def test_a_lone_cr_spares_the_prefix(live):
    assert live.put(0, b"10 %") == b"[linux-a] 10 %"
    assert live.put(0, b"\r") == b""
    assert live.put(0, b"2") == b"\r[linux-a] 2"
    assert live.put(1, b"x\n") == ERASE + b"[linux-b] x\r\n[linux-a] 20 %\033[3D"
    assert live.put(0, b"\r\033[Knew") == b"\r[linux-a] \033[Knew"
    assert live.put(1, b"x\n") == ERASE + b"[linux-b] x\r\n[linux-a] new"
    assert live.put(0, b"\r\n") == b"\r\n"
    assert live.put(0, b"\rnew") == b"[linux-a] new"


def test_a_move_of_the_focus_draws_anew(live):
    live.put(0, b"a # ")
    live.put(1, b"b # ")
    assert live.type(b"\x142") == (
        ERASE + b"tally: input goes to linux-b (Ctrl-T ? for help)\r\n[linux-b] b # ")
    assert live.put(1, b"ls") == b"ls"
    assert live.put(0, b"late") == b""
    again = ERASE + b"tally: input goes to linux-a (Ctrl-T ? for help)\r\n[linux-a] a # late"
    assert live.type(b"\x141") == again
    assert live.type(b"\x141") == again
    assert live.own("vm c: ended") == ERASE + b"tally: vm c: ended\r\n[linux-a] a # late"
    live.put(2, b"x")
    assert live.own("vm c: starts again") == (
        ERASE + b"[c] x\r\ntally: vm c: starts again\r\n[linux-a] a # late")
    # Its last lines come once more.
    assert live.type(b"\x143") == (
        ERASE + b"tally: input goes to c (Ctrl-T ? for help)\r\nc| x\r\n")
    assert live.put(0, b"\n") == b"[linux-a] a # late\r\n"
    assert live.own("vm linux-b: ended") == b"[linux-b] b # ls\r\ntally: vm linux-b: ended\r\n"
    live.put(2, b"c")
    assert live.own("vm c: ended") == b"\r\ntally: vm c: ended\r\n"


def test_a_redraw_begins_with_a_whole_character(live):
    line = b"x" * 44 + EURO + b"x" * 254  # the last 256 bytes begin inside of it
    live.put(0, line)
    assert live.put(1, b"z\n") == ERASE + b"[linux-b] z\r\n[linux-a] " + line[47:]
    live.put(0, b"\b\b")
    assert live.put(1, b"\n") == ERASE + b"[linux-b] \r\n[linux-a] " + line[47:] + b"\033[2D"


def test_many_lines_at_once_are_one_redraw(live):
    live.put(0, b"~ # ")
    assert live.put(2, b"\n" * 200) == ERASE + b"[c] \r\n" * 200 + b"[linux-a] ~ # "
    assert live.put(2, b"abc") == b""


def test_a_long_line_in_focus(live):
    x = b"x"
    assert live.put(0, x * 512) == b"[linux-a] " + x * 512
    assert live.put(0, b"y") == b"\r\n[linux-a]+y"
    assert live.put(1, b"z\n") == ERASE + b"[linux-b] z\r\n[linux-a]+y"
    live.put(0, x * 300)
    # Only the tail comes back: what has wrapped still stands above.
    assert live.put(1, b"z\n") == ERASE + b"[linux-b] z\r\n[linux-a]+" + x * 256


def test_how_text_looks(live):
    """It is over with the line, so that it is no other's, and goes on in the VM's next one."""
    assert live.put(0, b"\033[8mhidden\r\n") == b"[linux-a] \033[8mhidden\033[m\r\n"
    assert live.own("seen") == b"tally: seen\r\n"
    assert live.put(0, b"x\033[1;31mred\033[mplain\r\n") == (
        b"[linux-a] \033[8mx\033[1;31mred\033[mplain\r\n")
    assert live.put(0, b"\033[0;32ma\rb") == b"[linux-a] \033[0;32ma\033[m\r[linux-a] \033[0;32mb"
    for _ in range(1000):
        live.put(0, b"\033[1m")
    assert len(live.own("x")) < 200


def test_editing_inside_of_a_line(live):
    live.put(0, b"# abcd")
    assert live.put(0, b"\033[2D\033[1P") == b"\033[2D\033[1P"
    assert live.put(0, b"\033[@c") == b"\033[@c"
    assert live.own("x") == ERASE + b"tally: x\r\n[linux-a] # abcd\b"
    assert live.put(0, b"\033[J\033[3G\033[99C") == b"\033[K\033[3D\033[3C"
    # Nobody knows how many columns a tab or a wide character takes.
    live.put(0, b"\r\n")
    live.put(0, b"a\t\xe6\xbc\xa2")
    assert live.put(0, b"\b") == b"\033[m\r[linux-a] a\t"
    assert live.put(0, b"\033[C") == b"\xe6\xbc\xa2"


def test_a_line_without_end(live):
    """One that is drawn over and over does not grow, and the next one is whole."""
    for n in range(20000):
        live.flow.feed(output_of(0, b"\r\x1b[K%d %%" % n) + b"\n")
    assert len(live.console.lines[0].text) == len("19999 %")
    live.put(0, b"\r\x1b[Kdone\n")
    live.own("all VMs ended")
    assert live.record.lines == [("linux-a", "done", False), ("", "all VMs ended", False)]


# --- Random talk ---------------------------------------------------------------------------------


def test_random_talk():
    """Each VM's text is on the screen complete and in order, whoever talked in between, however the
    focus moved."""
    live, chance = Bench(interactive=True), random.Random(3)
    screen = Screen(columns=400, lines=50)
    names = ("linux-a", "linux-b", "c")
    said, own = {name: [""] for name in names}, 0
    for _ in range(1500):
        draw = chance.random()
        if draw < 0.03:
            live.flow.feed(b"\x1e!one\n\x1e!two\n")
            own += 2
        elif draw < 0.05:
            live.keys.take(b"\x14%d" % chance.randint(1, 3))
            own += 1
        else:
            vm = chance.randrange(3)
            text = "".join(chr(chance.randrange(0x21, 0x7f)) for _ in range(chance.randint(1, 25)))
            end = chance.random() < 0.2 or len(said[names[vm]][-1]) > 250
            said[names[vm]][-1] += text
            if end:
                said[names[vm]].append("")
            live.flow.feed(output_of(vm, text.encode() + (b"\n" if end else b"")) + b"\n")
        screen.feed(live.emitted())
    for vm in range(3):
        live.flow.feed(output_of(vm, b"$\n") + b"\n")
    screen.feed(live.emitted())
    shown = {name: [] for name in names}
    rows = screen.all_rows()
    for row in rows:
        found = re.fullmatch(r"(?:\[([\w-]+)\] |(tally): |([\w-]+)\| )(.*)", row)
        assert found, row
        if found[1]:
            shown[found[1]].append(found[4])
    assert sum(row.startswith("tally: ") for row in rows) == own
    for name in names:
        said[name][-1] += "$"
        assert shown[name] == said[name]


def test_random_bytes(live):
    """Of all bytes, valid or not, none moves the cursor to a row above or to another's."""
    chance = random.Random(4)
    likely = [b"\033", b"[", *(bytes([byte]) for byte in b"\r\n\b09;JKCDAHmGP@Xf")]
    never = re.compile(rb"\x1b\[[\d;]*[A-BE-FHLMS-TZ`d-lr-su]|\x1b[^\[]|[\0-\x06\x0b\x0c\x0e-\x1a]")
    for n in range(6000):
        data = b"".join(chance.choice(likely) if chance.random() < 0.5 else
                        bytes([chance.randrange(256)]) for _ in range(chance.randint(1, 20)))
        live.flow.feed(output_of(chance.randrange(3), data) + b"\n")
        if n % 100 == 0:
            live.keys.take(b"\x14%d" % chance.randint(1, 3))
        written = live.emitted()
        assert not never.search(written), written
        assert all(0 <= line.pos <= len(line.text) for line in live.console.lines)
