# SPDX-License-Identifier: Apache-2.0
"""The lines that tools/run makes of frames: what it prints without a terminal, and what it keeps.
"""
import random
import re

import pytest

from recorded import Bench, names_of, output_of

EURO = "\u20ac".encode()


@pytest.fixture
def batch():
    return Bench(interactive=False)


def test_whole_lines_with_prefix(batch):
    assert batch.put(0, b"hello") == b""
    assert batch.put(1, b"other\n") == b"[linux-b] other\n"
    assert batch.put(0, b" world\r\n") == b"[linux-a] hello world\n"
    assert batch.put(2, b"\n") == b"[c] \n"
    assert batch.put(2, b"\r\n\r\n") == b"[c] \n[c] \n"
    assert batch.put(2, b"a\r\r\nb\n\rc\n\r") == b"[c] a\n[c] b\n[c] c\n"
    assert batch.put(0, b"tab\there\n") == b"[linux-a] tab\there\n"


def test_a_lone_cr_keeps_the_text(batch):
    assert batch.put(0, b"10 %\r20 %\r30 %\r\n") == (
        b"[linux-a] 10 %\n[linux-a] 20 %\n[linux-a] 30 %\n")
    # Redrawn prompt: what was there is not erased from the log.
    assert batch.put(0, b"~ # ab\r\033[J~ # abc\r\n") == b"[linux-a] ~ # ab\n[linux-a] ~ # abc\n"
    assert batch.put(0, b"\r\033[K\r\033[Kx\n") == b"[linux-a] x\n"


@pytest.mark.parametrize("printed, text", [
    (b"ls -x\b \bl\n", b"ls -l"),
    (b"abc\b\b\033[K\n", b"a"),
    (b"abcdef\033[4DX\033[2CY\033[99CZ\n", b"abXdeYZ"),
    (b"ab\033[DX\033[0DY\033[CZ\n", b"aYZ"),
    (b"abc\033[1K\033[2J\033[1;2K\033K\n", b"abc"),
    (b"abc\b\033(K\n", b"abc"),
    (b"abc\033[?1DX\033[1;1DY\n", b"abcXY"),
    (b"a\b\b\b\b\bxyz\n", b"xyz"),
    # A character of several bytes is one step, replaced as a whole.
    (b"a" + EURO + b"b\b\bX\n", b"aXb"),
    (b"abc\b\b" + EURO + b"\n", b"a" + EURO + b"c"),
    # What shells send that edit a line in the middle.
    (b"abcd\033[3D\033[2P\n", b"ad"),
    (b"abcd\033[3D\033[2@xy\n", b"axybcd"),
    (b"abcd\033[3D\033[2X\n", b"a  d"),
    (b"abcd\033[2Gx\033[99Gy\n", b"axcdy"),
])
def test_backspace_and_erase(batch, printed, text):
    assert batch.put(0, printed) == b"[linux-a] " + text + b"\n"


def test_control_bytes_are_left_out(batch):
    assert batch.put(0, b"a\033[A\033[1;1H\033[31mb\033]0;t\ac\a\0\x0e\x0f\v\fd\x7f\n") == (
        b"[linux-a] abcd\n")
    assert batch.put(0, b"\x9b1A\xc2\x9b1A\xff\n") == b"[linux-a] ?1A?1A?\n"
    assert batch.put(0, b"caf\xc3\xa9\n") == b"[linux-a] caf\xc3\xa9\n"


def test_nobody_fakes_a_prefix(batch):
    assert batch.put(0, b"x\r[linux-b] fake\n") == b"[linux-a] x\n[linux-a] [linux-b] fake\n"
    assert batch.put(0, b"\033[2K\b\b\b\b\btally: fake\n") == b"[linux-a] tally: fake\n"
    assert batch.put(0, b"\xe2\n[linux-b] fake\n") == b"[linux-a] \n[linux-a] [linux-b] fake\n"
    assert {owner for owner, _, _ in batch.record.lines} == {"linux-a"}


def test_long_lines_in_pieces(batch):
    x = b"x"
    assert batch.put(0, x * 512 + b"\n") == b"[linux-a] " + x * 512 + b"\n"  # just fits
    assert batch.put(0, x * 1100 + b"\n") == (
        b"[linux-a] " + x * 512 + b"\n[linux-a]+" + x * 512 + b"\n[linux-a]+" + x * 76 + b"\n")
    assert [continued for _, _, continued in batch.record.lines] == [False, False, True, True]
    assert batch.put(0, b"next\n") == b"[linux-a] next\n"
    # No character is cut in two.
    assert batch.put(0, x * 511 + EURO + b"y\n") == (
        b"[linux-a] " + x * 511 + b"\n[linux-a]+" + EURO + b"y\n")
    # Nor lost when a long one replaces a short one in a full line.
    assert batch.put(0, x * 512 + b"\b" + EURO + b"\n") == (
        b"[linux-a] " + x * 512 + b"\n[linux-a]+" + EURO + b"\n")


def test_the_end_of_a_vm(batch):
    """What it has not finished is whole; nothing of the old life reaches the new one."""
    batch.put(0, b"last words")
    assert batch.own("vm linux-a: ended") == b"[linux-a] last words\ntally: vm linux-a: ended\n"
    assert batch.own("vm linux-a: stopped") == b"tally: vm linux-a: stopped\n"
    batch.put(1, b"x\r")
    assert batch.own("vm linux-b: failed: why 3") == (
        b"[linux-b] x\ntally: vm linux-b: failed: why 3\n")
    batch.put(1, b"\033[")
    batch.own("vm linux-b: starts again")
    assert batch.put(1, b"Hello\n") == b"[linux-b] Hello\n"


def test_the_end_of_the_machine(batch):
    batch.put(0, b"half")
    batch.flow.end()
    assert batch.emitted() == b"[linux-a] half\n"


def test_lines_of_tally(batch):
    assert batch.own("one line") == b"tally: one line\n"
    assert batch.own("one", "two", "", "four") == b"tally: one\ntally: two\ntally: \ntally: four\n"
    assert batch.own("a\033[2Jb\r\tc\x7f") == rb"tally: a\u001b[2Jb\u000d" + b"\tc\\u007f\n"
    batch.put(0, b"half a ")
    assert batch.own("in between") == b"tally: in between\n"
    assert batch.put(0, b"line\n") == b"[linux-a] half a line\n"
    early = Bench(interactive=True, frames=False)
    early.flow.feed(b"tally: early\n")
    assert early.emitted() == b"tally: early\r\n"


def test_the_firmware(batch):
    """As it is before frames begin; then in lines of its own, which are nobody's."""
    early = Bench(interactive=False, frames=False)
    early.flow.feed(b"OpenSBI\r\nHit a key: 3\b2")
    assert early.emitted() == b"OpenSBI\r\nHit a key: 3\b2" == early.record.told
    batch.put(0, b"half")
    batch.flow.feed(b"trap\033[A!\r\nmo")
    assert batch.emitted() == b"trap!\n"
    assert batch.put(0, b"!\n") == b"[linux-a] half!\n"
    batch.flow.feed(b"re\n")
    assert batch.emitted() == b"more\n"
    assert batch.record.lines == [(None, "trap!", False), ("linux-a", "half!", False),
                                  (None, "more", False)]


# --- Random talk ---------------------------------------------------------------------------------


def pieces_together(written):
    """{name: what it said} of whole lines."""
    said = {}
    for line in written.decode().split("\n")[:-1]:
        name, sign, text = re.fullmatch(r"\[([\w-]+)\]([ +])(.*)", line).groups()
        if sign == "+":
            said[name] = said[name][:-1]
        said[name] = said.get(name, "") + text + "\n"
    return said


def test_random_talk(batch):
    """Each VM's text is there complete and in order, whoever talked in between, in lines of
    several pieces, too."""
    chance = random.Random(1)
    said = {name: "" for name in ("linux-a", "linux-b", "c")}
    for _ in range(6000):
        vm = chance.randrange(3)
        text = "".join(chr(chance.randrange(0x20, 0x7f)) for _ in range(chance.randint(1, 25)))
        if chance.random() < (0.002 if vm == 2 else 0.2):
            text += chance.choice(("\n", "\r\n"))
        said[("linux-a", "linux-b", "c")[vm]] += text.replace("\r", "")
        batch.flow.feed(output_of(vm, text.encode()) + b"\n")
    for vm, name in enumerate(said):
        batch.flow.feed(output_of(vm, b"$\n") + b"\n")
        said[name] += "$\n"
    written = batch.emitted()
    assert len(re.findall(rb"^\[c\]\+", written, re.M)) > 20
    assert pieces_together(written) == said


def test_random_bytes(batch):
    """All bytes, valid or not: nothing but whole lines comes out, and each has an owner and no
    control byte."""
    chance = random.Random(2)
    likely = [b"\033", b"[", *(bytes([byte]) for byte in b"\r\n\b09JKCDmGP@X")]
    for _ in range(6000):
        data = b"".join(chance.choice(likely) if chance.random() < 0.4 else
                        bytes([chance.randrange(256)]) for _ in range(chance.randint(1, 20)))
        batch.flow.feed(output_of(chance.randrange(3), data) + b"\n")
    batch.flow.end()
    for line in batch.emitted().decode().split("\n")[:-1]:
        assert re.fullmatch(r"\[(linux-a|linux-b|c)\][ +][^\x00-\x08\x0a-\x1f\x7f-\x9f]*", line)


def test_names_come_from_frames():
    batch = Bench(interactive=False, vms=("x",), frames=False)
    batch.flow.feed(names_of(("alpha", "beta")) + output_of(1, b"hello\n") + b"\n")
    assert batch.emitted() == b"[beta] hello\n"
