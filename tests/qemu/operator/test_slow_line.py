# SPDX-License-Identifier: Apache-2.0
"""A serial line that takes 11 bytes each millisecond, as one of 115,200 baud does, while all print
more than that: VMs, the operator, and Tally."""

import json
import re
import socket
import subprocess
import time

import pytest

import bare_guests
from bare_guests import letters
import harness
import plain
from runlib import flow
from runlib.qemu import BIOS_PLACES, CPU, EXACT
from tallylib import frames
from tallylib.vm_tree import compile_tree

PACE, PAUSE_S = 11, 0.001
# A line that takes each byte alone, as fast as this computer does.
ALONE = 1, 0
FLOODS = {"alpha": "uart", "beta": "dbcn", "gamma": "byte", "delta": "call", "epsilon": "blind"}


class Line:
    """The other end of the serial line of a machine in the exact profile. It buffers little: each
    byte is a buffer of its own for a socket."""

    def __init__(self, folder, tree, append="", pace=(PACE, PAUSE_S)):
        for name in ("selftest", "bare", "sampling"):
            plain.make(f"build/guests/{name}.bin")
        file = folder / "vms.dts"
        file.write_text(tree, encoding="utf-8")
        include = [str(harness.BUILD / "guests")]
        assert compile_tree(str(file), include, str(folder / "vms.dtb")) is None
        self.here, there = socket.socketpair()
        self.typed, self.pace = b"", pace
        for end in (self.here, there):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
        words = ["qemu-system-riscv64", "-machine", "virt", "-cpu", CPU, "-smp", "1", "-m", "1G",
                 "-display", "none", "-monitor", "none", "-no-reboot", *EXACT,
                 "-bios", BIOS_PLACES[0], "-kernel", harness.KERNEL or harness.BUILD / "tally.bin",
                 "-append", append, "-initrd", folder / "vms.dtb", "-serial", "chardev:line",
                 "-chardev", f"socket,id=line,fd={there.fileno()}"]
        # pylint: disable-next=consider-using-with  # __exit__() ends it
        self.qemu = subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                     pass_fds=[there.fileno()])
        there.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.here.close()
        self.qemu.kill()
        self.qemu.wait()

    def pieces(self):
        """What it prints until it is off, at the line's pace. Meanwhile it gets what is typed."""
        most, pause_s = self.pace
        while piece := self.here.recv(most):
            yield piece
            if self.typed:
                try:
                    self.typed = self.typed[self.here.send(self.typed, socket.MSG_DONTWAIT):]
                except BlockingIOError:
                    pass  # later
            if pause_s:
                time.sleep(pause_s)
        assert self.qemu.wait(harness.GUARD) == 0


def stays(own):
    """The longest stay in HS of each vcpu, of each life."""
    return [harness.exit_counts(line)["longest-stay"] for line in own if " exits " in line]


def test_a_slow_line(tmp_path):
    """Each guest's lines are whole, in order and complete, whatever way they are printed. However
    fast the line is read, no stay in HS is longer than a promised one. Tally's lines about the ends
    are all there."""
    tree = bare_guests.tree({name: f"kind=chatter lines=120 by={by}"
                             for name, by in FLOODS.items()})
    with Line(tmp_path, tree) as line:
        lines = b"".join(line.pieces()).decode().replace("\r", "").split("\n")
    for name in FLOODS:
        assert [line for line in lines if line.startswith(f"[{name}]")] == [
            f"[{name}] {letters(n)}" for n in range(120)]
    own = [line for line in lines if line.startswith("tally: ")]
    assert len(stays(own)) == len(FLOODS) and max(stays(own)) <= harness.LONGEST_STAY, stays(own)
    assert {line for line in own if line.endswith(": ended")} == {
        f"tally: vm {name}: ended" for name in FLOODS}
    assert not any(line.endswith(" lines were lost") for line in own)


FRAME, START, LENGTH, WINDOWS = 2000, 1000, 100, 100  # us, and how many
REQUESTS = ("vms", "exits --json", "frames on")
HELP = 3  # times that its key is pressed
# Ticks of 100 instructions: the longest stay; the one right behind it that turns the UART's
# interrupt off; and a switch to the victim's window. It counts as away after more than the first
# two, so a longer one in the midst of a window shows as a late one.
STAY_TICKS, REST_TICKS, SWITCH_TICKS = harness.LONGEST_STAY // 100, 10, 25
AWAY_TICKS = STAY_TICKS + REST_TICKS
# Bytes of each flood: more than may wait for the line, several times for those that use SBI.
ENOUGH = 4096
ENDS, BEGINS = "vm restarts: asked for a restart", "vm restarts: starts again"


def flooded_tree():
    """VMs that print all the time in each way, and one that restarts all the time, so that Tally
    prints, beside one in windows that says how late it had its hart."""
    guests = {name: f"kind=chatter lines=1000000 by={by}" for name, by in FLOODS.items()}
    guests["delta"] = "kind=chatter lines=4000 by=call"  # all are made before the first is printed
    guests["restarts"] = "kind=tempest what=restart"
    guests["victim"] = (f"kind=delays frame={FRAME * 10} start={START * 10} windows={WINDOWS} "
                        f"away={AWAY_TICKS}")
    text = bare_guests.tree(guests, own={"restarts": "\t\t\trestart-limit = <1000>;"})
    slack = ", ".join(f'"{name}"' for name in guests if name != "victim")
    return text.rstrip().removesuffix("};") + f"""
	shared {{ gusts {{
		size = /bits/ 64 <4096>;
		restarts {{ at = /bits/ 64 <0x100000000>; access = "read-write"; }};
	}}; }};
	schedules {{ hart0 {{
		major-frame-us = <{FRAME}>;
		slack = {slack};
		victim {{
			vm = "victim";
			start-us = <{START}>;
			length-us = <{LENGTH}>;
			guard-us = <32>;
		}};
	}}; }};
}};
"""


class Seen(flow.Listener):
    """Sorts what a machine prints, and is its operator: floods it as well when all VMs do, and
    switches it off when enough was seen."""

    def __init__(self, line):
        self.line = line
        self.vms = dict.fromkeys(FLOODS, b"")
        self.lines, self.answers, self.ended = [], {}, {}
        self.asks, self.leaves = False, False

    def output(self, vm, data):
        self.vms[vm.name] = self.vms.get(vm.name, b"") + data

    def own(self, text):
        self.lines.append(text)

    def answer(self, request, text):
        self.answers.setdefault(request, []).append(text)

    def answer_end(self, request, status):
        self.ended[request] = status

    def idle(self):
        least = min(len(self.vms[name]) for name in FLOODS)
        if not self.asks and least > 1000:
            self.asks = True
            self.line.typed += b"\x14?" * HELP + b"".join(
                b"\x14=r%d %s\r" % (n, command.encode()) for n, command in enumerate(REQUESTS))
        if (not self.leaves and least > ENOUGH and len(self.ended) == len(REQUESTS)
                and "vm victim: ended" in self.lines and self.lines.count(ENDS) > 10):
            self.leaves = True
            self.line.typed += b"\x14=off poweroff\r"


def flood(folder, pace):
    """All that is seen of it."""
    with Line(folder, flooded_tree(), append="tally.console=frames", pace=pace) as line:
        machine, seen = flow.Flow(), Seen(line)
        machine.listeners.append(seen)
        text = b""
        for piece in line.pieces():
            machine.feed(piece)
            text += piece
        machine.end()
    # At boot, and once by request.
    assert text.count(b"\x1e+\n") == 2
    return seen


@pytest.mark.parametrize("pace", [(PACE, PAUSE_S), ALONE])
def test_all_flood_it(tmp_path, pace):
    """A VM in windows beside them has its hart as promised: no window begins late, and it is away
    for no longer than the longest stay in HS and a short one. Of the others nothing is lost but
    lines of Tally's, which it tells."""
    seen = flood(tmp_path, pace)
    for name in FLOODS:
        text = seen.vms[name].decode()
        all_of_it = "".join(letters(n) + "\n" for n in range(text.count("\n") + 1))
        assert all_of_it.startswith(text), text[-200:]
    assert max(stays(seen.lines)) <= harness.LONGEST_STAY, stays(seen.lines)
    found = re.findall(r"^delay (\d+) ticks, (\d+) times$", seen.vms["victim"].decode(), re.M)
    assert sum(int(times) for _, times in found) == WINDOWS
    assert max(int(late) for late, _ in found) <= AWAY_TICKS + SWITCH_TICKS, found
    assert not any("windows began late" in line for line in seen.lines)
    # Answers are whole, and so is what keys print.
    assert list(map(seen.ended.get, ("r0", "r1", "r2", "off"))) == [0] * 4
    vms = [*FLOODS, "restarts", "victim"]
    for answer in ("r0", "r1"):
        assert len(seen.answers[answer]) == len(vms)
        for name, text in zip(vms, seen.answers[answer]):
            assert name in text
    keys = [n for n, line in enumerate(seen.lines) if "?: this help" in line]
    assert len(keys) == HELP
    for name in vms:
        assert len([line for line in seen.lines if re.match(rf"[* ] \d {name}\b", line)]) == HELP
    # Lives begin and end by turns. The last one may have ended before it was off.
    ends, begins = seen.lines.count(ENDS), seen.lines.count(BEGINS)
    lost = sum(int(line.split()[0]) for line in seen.lines if line.endswith(" lines were lost"))
    assert ends - 1 <= begins + lost <= ends, (ends, begins, lost)
    assert "all VMs ended" in seen.lines


UNFINISHED = b"%" * 384  # the longest that is kept, of bytes that a frame writes as three


def test_frames_begin(tmp_path):
    """As many VMs as there may be, with names of the most characters, and with longest lines that
    are not finished. A program that asks for frames gets each VM's name before its first byte, and
    all lines in the answer, and no stay in HS is longer than a promised one."""
    names = [f"vm-of-15-char-{n:x}" for n in range(16)]
    text = (b"ready\n" + UNFINISHED).hex()
    tree = bare_guests.tree({name: f"kind=forge bytes={text} ticks=100000000000" for name in names})
    requests = b"\x14=on frames on\r\x14=exits exits --json\r\x14=off poweroff\r"
    events, reader, before = [], frames.Frames(), b""
    with Line(tmp_path, tree) as line:
        for piece in line.pieces():
            before += piece
            events += reader.feed(piece)
            if requests and before.count(b"ready") == len(names):
                line.typed, requests = requests, b""
    ends = [event.request for event in events if isinstance(event, frames.AnswerEnd)]
    assert ends == ["on", "exits", "off"]
    begin, end = events.index(frames.Begun(True)), events.index(frames.AnswerEnd("on", 0))
    told, said = {}, dict.fromkeys(range(len(names)), b"")
    for event in events[begin:end]:
        if isinstance(event, frames.Name):
            told[event.vm] = event.name
        elif isinstance(event, frames.Output):
            assert event.vm in told
            said[event.vm] += event.data
    assert told == dict(enumerate(names))
    assert set(said.values()) == {UNFINISHED}
    found = [json.loads(event.text)["longest_stay"] for event in events
             if isinstance(event, frames.Answer) and event.request == "exits"]
    assert len(found) == len(names) and max(found) <= harness.LONGEST_STAY, found


def test_answers_for_a_person(tmp_path):
    """Lines of hundreds of characters, typed for at the prompt of a line that takes them at once:
    no stay in HS is longer than a promised one."""
    names = [f"vm-of-15-char-{n:x}" for n in range(4)]
    tree = bare_guests.tree({name: f"kind=forge bytes={b'ready'.hex()}0a ticks=100000000000"
                             for name in names})
    before, typed = b"", b"\x14:vms --json\rexits --json\rpoweroff\r"
    with Line(tmp_path, tree, "tally.console=interactive", (4096, 0)) as line:
        for piece in line.pieces():
            before += piece
            if typed and before.count(b"ready") == len(names):
                line.typed, typed = typed, b""
    own = before.decode().replace("\r", "").split("\n")
    objects = [json.loads(text.removeprefix("tally: ")) for text in own
               if text.startswith('tally: {"vm":')]
    assert [o["vm"] for o in objects] == names * 2
    assert max(map(len, own)) > 320
    ends = [text for text in own if text.startswith("tally: vm ")]
    assert len(stays(ends)) == len(names) and max(stays(ends)) <= harness.LONGEST_STAY, stays(ends)
