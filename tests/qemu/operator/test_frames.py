# SPDX-License-Identifier: Apache-2.0
"""The frames of a serial line (docs/frames.md), however they come."""

import os
import random
import subprocess

import plain
from recorded import merged
from tallylib.frames import (
    Answer, AnswerEnd, Begun, Frames, Name, Output, Own, Plain, framed, typed_to,
)

LINE = (b"OpenSBI\r\ntally: early\n\x1e+\n\x1e:A alpha\n\x1e:B beta\n\x1eAlogin: \n"
        b"\x1e!vm beta: ended\n"
        b"\x1eA100%25%0D%0A\x1b\n\x1e=r1 {\"a\": 1}\n\x1e.r1 0\n\x1eB\xc3\xa9\n\x1e-\n tail")
EVENTS = [Plain(b"OpenSBI\r\ntally: early\n"), Begun(True), Name(0, "alpha"), Name(1, "beta"),
          Output(0, b"login: "), Own("vm beta: ended"), Output(0, b"100%\r\n\x1b"),
          Answer("r1", '{"a": 1}'), AnswerEnd("r1", 0), Output(1, b"\xc3\xa9"), Begun(False),
          Plain(b" tail")]


def read(data, sizes):
    """All events of data that comes in parts of those sizes."""
    frames, events = Frames(), []
    while data:
        n = next(sizes)
        events += frames.feed(data[:n])
        data = data[n:]
    return merged(events + frames.end())


def test_in_parts_of_any_size():
    for seed in range(200):
        chance = random.Random(seed)
        assert read(LINE, iter(lambda c=chance: c.randint(1, 9), 0)) == EVENTS
    assert read(LINE, iter(lambda: 1 << 16, 0)) == EVENTS


def test_through_a_line_that_adds_cr():
    assert read(LINE.replace(b"\n", b"\r\n"), iter(lambda: 1, 0))[1:-1] == EVENTS[1:-1]


def test_output_comes_at_once():
    frames = Frames()
    assert frames.feed(b"\x1eC# ") == [Output(2, b"# ")]
    assert frames.feed(b"%0") == []
    assert frames.feed(b"7") == [Output(2, b"\a")]


def test_a_lost_end():
    """Of output the next frame is an end, too; of any other it is waited for, not for ever."""
    assert read(b"\x1eAab\x1e!own\n", iter(lambda: 3, 0)) == [Output(0, b"ab"), Own("own")]
    endless = b"\x1e!" + b"x" * 5000
    assert read(endless, iter(lambda: 700, 0)) == [Plain(endless)]


def test_what_is_no_frame_stays():
    for data in (b"\x1eZ no\n", b"\x1e.r1 done\n", b"\x1e:Q name\n", b"\x1e\n", b"\x1e"):
        assert read(data, iter(lambda: 2, 0)) == [Plain(data)]


def test_typing():
    assert typed_to(1, b"a\x14b") == b"\x14>Ba\x14\x14b"


def test_made_and_read():
    """Every event, with all bytes that a guest may print."""
    events = [*EVENTS, Output(3, bytes(range(256))), Plain(b"")]
    assert read(b"".join(map(framed, events)), iter(lambda: 5, 0)) == events[:-1]
    assert b"".join(map(framed, EVENTS)) == LINE.replace(b"\x1b", b"%1B")


def test_what_tally_writes(tmp_path):
    """The console's own random talk (tests/host/test_console_frames.c): each VM's bytes arrive, and
    nothing that is no VM's but what Tally says."""
    plain.make("build/host/console_frames")
    subprocess.run([plain.ROOT / "build/host/console_frames"], check=True, capture_output=True,
                   env=dict(os.environ, TALLY_FRAMES=str(tmp_path)))
    chance = random.Random(1)
    events = read((tmp_path / "line").read_bytes(), iter(lambda: chance.randint(1, 5000), 0))
    for vm, name in enumerate(("linux-a", "linux-b", "c")):
        assert b"".join(event.data for event in events if isinstance(event, Output)
                        and event.vm == vm) == (tmp_path / name).read_bytes()
    others = [event for event in events if not isinstance(event, Output)]
    assert len(others) > 1000 and set(others) == {Own("own"), Answer("r7", "own")}
