# SPDX-License-Identifier: Apache-2.0
"""What a machine prints, told to who listens (tools/lib/runlib/flow.py)."""
import harness  # pylint: disable=unused-import  # finds the tools
from runlib import flow
from runlib.firmware import TEXT


class Notes(flow.Listener):
    """All that was told; neighbours of a kind are one."""

    def __init__(self):
        self.told = []

    def note(self, kind, text):
        if self.told and self.told[-1][0] == kind and kind != "own":
            text = self.told.pop()[1] + text
        self.told.append((kind, text))

    def output(self, vm, data):
        self.note(vm.name, data)

    def plain(self, data):
        self.note("plain", data)

    def own(self, text):
        self.note("own", text)

    def answer(self, request, text):
        self.note("answer", (request, text))

    def answer_end(self, request, status):
        self.note("end", (request, status))

    def begun(self):
        self.note("begun", "")


def told(data, size, names=()):
    """Of bytes that come `size` at a time."""
    machine, notes = flow.Flow(names), Notes()
    machine.listeners.append(notes)
    for at in range(0, len(data), size):
        machine.feed(data[at:at + size])
    machine.end()
    return notes.told


LINE = (b"OpenSBI\r\ntally: one\r\nnot tally: two\n\x1e+\n\x1e:A alpha\n\x1e:B beta\n"
        b"\x1eAx%0Atally: no\n\x1e!yes\n\x1eB[alpha] no\n\x1e=r1 a\n\x1e.r1 1\ntally: no\n")
TOLD = [("plain", b"OpenSBI\r\n"), ("own", "one"), ("plain", b"not tally: two\n"), ("begun", ""),
        ("alpha", b"x\ntally: no"), ("own", "yes"), ("beta", b"[alpha] no"),
        ("answer", ("r1", "a")), ("end", ("r1", 1)), ("plain", b"tally: no\n")]


def test_who_is_told_what():
    """Tally's name counts before frames begin, and no more then."""
    for size in (1, 2, 5, 1000):
        assert told(LINE, size) == TOLD


def test_a_line_that_is_not_complete():
    """It is told at once, unless it may become one of Tally's."""
    machine, notes = flow.Flow(), Notes()
    machine.listeners.append(notes)
    machine.feed(b"Hit any key: 2")
    machine.feed(b"\b1")
    assert notes.told == [("plain", b"Hit any key: 2\b1")]
    machine.feed(b"\ntal")
    assert notes.told == [("plain", b"Hit any key: 2\b1\n")]
    machine.feed(b"k")
    assert notes.told == [("plain", b"Hit any key: 2\b1\ntalk")]


def test_the_firmware_falls_into_a_frame():
    """No byte of it is the guest's."""
    line = b"\x1e+\n\x1e:A alpha\n\x1eAone%0A"
    came = told(line + TEXT + b"two\n", 3)
    assert [entry for entry in came if entry[0] == "alpha"] == [("alpha", b"one\ntwo")]
    assert came[-1] == ("plain", b"firmware: " + TEXT + b"\r\n")


def test_the_last_lines_are_kept():
    machine, heard = flow.Flow(["alpha"]), []
    machine.feed(b"\x1e+\n\x1eA" + b"".join(b"%d%%0A" % n for n in range(100000)))
    vm = machine.vm(0)
    assert len(vm.backlog) <= 2 * flow.BACKLOG_BYTES
    lines = vm.backlog.split(b"\n")
    assert lines[-1] == b"" and [int(n) for n in lines[:-1]] == list(
        range(100000 - len(lines) + 1, 100000))
    assert len(lines) > 1000
    vm.listeners.append(heard.append)
    machine.feed(b"more")
    assert heard == [b"more"] and machine.vm(1) is None
