# SPDX-License-Identifier: Apache-2.0
"""What guests print, whatever the bytes are, from the serial line to lines, logs and the verdict:
each is what it would be if no other guest had printed, and Tally's are what Tally printed.

Hypothesis makes the bytes, and shortens what differs; keep that as an @example. The examples are
the same each time: no test depends on chance."""

import pathlib
import re
import tempfile
import types

from hypothesis import HealthCheck, given, seed, settings, strategies as st
import pytest

import recorded
from recorded import merged
from runlib.colours import Names
from runlib.console import Console
from runlib.flow import Flow
from runlib.logs import LogFile, LogFolder
from runlib.record import Record
from runlib.terminal import Terminal
from runlib.verdict import Stop, Verdict
from tallylib import frames

VMS = ("alpha", "beta", "tally")
EXPECT = "report end [0-9]"
SETTINGS = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}
SHORT = settings(max_examples=60, derandomize=True, **SETTINGS)
LONG = settings(max_examples=3000, **SETTINGS)

# What a guest would print to be taken for another.
WORDS = st.sampled_from([
    b"\n", b"\r", b"\r\n", b"\b", b"\t", b"\x1b", b"\x1b[", b"\x1b[A", b"\x1b[2K", b"\x1b[40D",
    b"\x1b[3@", b"\x1b[2P", b"\x1b[9C", b"\x1b[5G", b"\x1b]0;", b"\a", b"\x1e", b"\x1e!",
    b"\x1e-\n", b"\x1e+\n", b"\x1eB", b"%", b"%0A", b"\xc3", b"\xa9", b"\xe2\x82\xac", b"\xc2\x85",
    b"\x18",
    b"tally: all VMs ended", b"vm beta: failed: x", b"panic: x", b"[beta] ", b"report end 0",
    b"\xe2\x80\xa8", b"\xcc\x81", b"x" * 500,
])
SAID = st.lists(WORDS | st.binary(max_size=6), max_size=8).map(b"".join)
OWN = st.sampled_from(["one", "vm alpha: ended", "vm beta: failed: it broke", "all VMs ended",
                       "vm tally: starts again", "vm tally: ended", "refused: x", "a\x7fb"])
EVENTS = st.lists(
    st.builds(frames.Output, st.integers(0, len(VMS) - 1), SAID.filter(bool)) |
    st.builds(frames.Own, OWN), max_size=10)
PLAIN = re.compile(rb"[\n -~]*")
SIZES = st.lists(st.integers(1, 40), min_size=1, max_size=5)


def pieces(data, sizes):
    """The same bytes as they may come: in pieces of these sizes, again and again."""
    at = number = 0
    while at < len(data):
        size = sizes[number % len(sizes)]
        yield data[at:at + size]
        at, number = at + size, number + 1


def line_of(events):
    """The bytes of a serial line, with what comes first."""
    return recorded.names_of(VMS) + b"".join(map(frames.framed, events))


def outcome(events, sizes):
    """All that a run leaves: logs, the verdict, and what a person saw."""
    shown = []
    with tempfile.TemporaryDirectory() as folder:
        judge = Verdict([EXPECT])
        logs = LogFolder(folder, VMS)
        flow = Flow(VMS)
        Console(flow, shown.append, Names(VMS, False), Record(LogFile(None), logs, judge))
        for data in pieces(line_of(events), sizes):
            flow.feed(data)
        flow.end()
        logs.close()
        kept = {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}
    return kept, judge, b"".join(shown)


def status(judge):
    """The exit status, and why."""
    try:
        return judge.give(False, types.SimpleNamespace(keyboard=False)), ""
    except Stop as stop:
        return stop.status, str(stop)


def printable(text):
    """As Tally's lines are shown: each character that is not ASCII, or controls, by its number."""
    return re.sub(r"[^\t -~]", lambda found: "".join(
        "\\u%04x" % unit for unit in memoryview(found[0].encode("utf-16", "surrogatepass")[2:])
        .cast("H")), text)


def check_outcome(events, sizes):
    """Of each guest as if it were alone, of Tally as if no guest had printed."""
    kept, judge, shown = outcome(events, sizes)
    own = [event for event in events if isinstance(event, frames.Own)]
    texts = [printable(event.text) for event in own]
    assert kept["tally.log"].decode() == "".join(text + "\n" for text in texts)
    assert judge.own == outcome(own, [4096])[1].own
    for number, name in enumerate(VMS):
        alone, judge_alone, _ = outcome(
            [event for event in events if event in own or event.vm == number], [4096])
        file = "tally.vm.log" if name == "tally" else name + ".log"
        assert kept[file] == alone[file]
        assert judge.seen.get(name) == judge_alone.seen.get(name)
        said = b"".join(event.data for event in events
                        if event not in own and event.vm == number)
        if PLAIN.fullmatch(said) and not any("vm %s:" % name in text for text in texts):
            assert kept[file] == said + b"\n" * (not said.endswith(b"\n") and bool(said))
    if not any(b"report end" in event.data for event in events if event not in own):
        assert status(judge) == status(outcome(own + [frames.Output(0, b"x\n")], [4096])[1])
    *lines, rest = shown.decode().split("\n")
    assert rest == ""
    assert all(re.match(r"(\[(alpha|beta|tally)\][ +]|tally: )", line) for line in lines)
    assert not re.search("[\0-\x08\x0b-\x1f\x7f-\x9f]", shown.decode())
    assert [line for line in lines if line.startswith("tally: ")] == [
        "tally: " + text for text in texts]


def check_screen(events, sizes):
    """The rows of a person's terminal that begin with Tally's name are Tally's, and all of them."""
    screen = recorded.Screen(columns=1500, lines=40)
    flow = Flow(VMS)
    Terminal(flow, screen.feed, Names(VMS, False), recorded.Record())
    for data in pieces(line_of(events), sizes):
        flow.feed(data)
    flow.end()
    texts = ["tally: " + printable(event.text) for event in events
             if isinstance(event, frames.Own)]
    assert [row for row in screen.all_rows() if row.startswith("tally: ")] == texts


def check_frames(data, sizes):
    """Whatever is on the line, how it comes decides nothing."""
    whole, parts = frames.Frames(), frames.Frames()
    expected = merged(whole.feed(data) + whole.end())
    events = [event for part in pieces(data, sizes) for event in parts.feed(part)]
    assert merged(events + parts.end()) == expected


@SHORT
@given(events=EVENTS, sizes=SIZES)
def test_lines_logs_and_verdict(events, sizes):
    check_outcome(events, sizes)


def test_a_lost_line_is_no_success():
    """One that says that a VM has failed may be among them."""
    events = [frames.Output(0, b"report end 0\n"), frames.Own("vm alpha: ended"),
              frames.Own("all VMs ended")]
    assert status(outcome(events, [4096])[1])[0] == 0
    events.insert(1, frames.Own("3 lines were lost"))
    assert status(outcome(events, [4096])[1])[0] == 6
    events.insert(0, frames.Own("vm beta: failed: it broke"))
    assert status(outcome(events, [4096])[1])[0] == 1


@SHORT
@given(events=EVENTS, sizes=SIZES)
def test_the_screen(events, sizes):
    check_screen(events, sizes)


@SHORT
@given(data=SAID, sizes=SIZES)
def test_frames_in_pieces(data, sizes):
    check_frames(data, sizes)


@pytest.mark.long
@seed(2)
@LONG
@given(events=EVENTS, sizes=SIZES)
def test_more_lines_logs_and_verdicts(events, sizes):
    check_outcome(events, sizes)


@pytest.mark.long
@seed(2)
@LONG
@given(events=EVENTS, sizes=SIZES)
def test_more_screens(events, sizes):
    check_screen(events, sizes)


@pytest.mark.long
@seed(2)
@settings(LONG, max_examples=20000)
@given(data=SAID, sizes=SIZES)
def test_more_frames_in_pieces(data, sizes):
    check_frames(data, sizes)
