# SPDX-License-Identifier: Apache-2.0
"""Takes the frames of a serial line apart (docs/frames.md).

  for event in Frames().feed(data):
      if isinstance(event, Output):
          screens[event.vm] += event.data
"""
import dataclasses
import re
import urllib.parse

from tallylib import printable

RS = b"\x1e"
LF = b"\n"
CTRL_T = b"\x14"
VMS = 16
# No frame but output is longer. What does not end by then is none.
LONGEST = 1024
CODED = re.compile(rb"[\x00-\x1f\x7f%]")
HALF_CODE = re.compile(rb"%[0-9A-Fa-f]?\Z")


@dataclasses.dataclass(frozen=True)
class Plain:
    """Bytes outside of frames: the firmware's, or from before frames began."""
    data: bytes


@dataclasses.dataclass(frozen=True)
class Output:
    """Bytes that a VM printed. vm: its number, from 0."""
    vm: int
    data: bytes


@dataclasses.dataclass(frozen=True)
class Name:
    """The name of a VM."""
    vm: int
    name: str


@dataclasses.dataclass(frozen=True)
class Own:
    """A line of Tally's."""
    text: str


@dataclasses.dataclass(frozen=True)
class Answer:
    """A line of the answer to a request."""
    request: str
    text: str


@dataclasses.dataclass(frozen=True)
class AnswerEnd:
    """The end of the answer to a request."""
    request: str
    status: int


@dataclasses.dataclass(frozen=True)
class Begun:
    """Frames have begun (True) or ended."""
    on: bool


def number_of(letter):
    """Returns the VM of a letter, or None."""
    number = ord(letter) - ord("A")
    return number if 0 <= number < VMS else None


def letter_of(vm):
    """Returns the letter of a VM."""
    return bytes([ord("A") + vm])


def typed_to(vm, data):
    """Returns the bytes that type data to a VM."""
    return CTRL_T + b">" + letter_of(vm) + data.replace(CTRL_T, CTRL_T + CTRL_T)


def request(name, command):
    """Returns the bytes of a request."""
    return CTRL_T + b"=" + name + b" " + command + b"\r"


def framed(event):
    """Returns the bytes of an event, as Tally would print them."""
    if isinstance(event, Plain):
        return event.data
    if isinstance(event, Output):
        text = letter_of(event.vm) + CODED.sub(lambda found: b"%%%02X" % found[0][0], event.data)
    elif isinstance(event, Name):
        text = b":%s %s" % (letter_of(event.vm), event.name.encode())
    elif isinstance(event, Own):
        text = b"!" + event.text.encode()
    elif isinstance(event, Answer):
        text = b"=%s %s" % (event.request.encode(), event.text.encode())
    elif isinstance(event, AnswerEnd):
        text = b".%s %d" % (event.request.encode(), event.status)
    else:
        text = b"+" if event.on else b"-"
    return RS + text + LF


def parsed(line):
    """Returns the event of a whole frame without RS and LF, or None if it is none."""
    text = printable.plain(line.decode(errors="replace"))
    kind, rest = text[:1], text[1:]
    first, _, second = rest.partition(" ")
    if kind in ("+", "-") and not rest:
        return Begun(kind == "+")
    if kind == "!":
        return Own(rest)
    if kind == "=" and first:
        return Answer(first, second)
    if kind == "." and first and second.isdecimal():
        return AnswerEnd(first, int(second))
    if kind == ":" and len(first) == 1 and number_of(first) is not None and second:
        return Name(number_of(first), second)
    return None


class Frames:
    """Reads one line. `on` is true while frames are on."""

    def __init__(self):
        self.on = False
        self.rest = b""   # what came last, and is not complete
        self.vm = None    # of the open frame of output

    def feed(self, data):
        """Takes bytes of the line, and returns the events that they complete."""
        events = []
        rest = self.rest + data
        while rest:
            vm = self.vm
            event, after = self._output(rest) if self.vm is not None else self._outside(rest)
            if event:
                events.append(event)
            if len(after) == len(rest) and self.vm == vm:
                break
            rest = after
        self.rest = rest
        return events

    def end(self):
        """Returns the events of what is left at the end of the line."""
        left, self.rest, self.vm = self.rest, b"", None
        return [Plain(left)] if left else []

    def _output(self, rest):
        """Reads in an open frame of output. Returns an event or None, and the rest."""
        # A frame that begins ends this one, whose end was lost.
        ends = [n for n in (rest.find(LF), rest.find(RS)) if n >= 0]
        end = min(ends, default=len(rest))
        part, after = rest[:end], rest[end:]
        vm = self.vm
        if ends:
            self.vm = None
            after = after.removeprefix(LF)
        elif half := HALF_CODE.search(part):
            part, after = part[:half.start()], half[0]
        # A serial line may add CR before each LF.
        part = urllib.parse.unquote_to_bytes(part.replace(b"\r", b""))
        return (Output(vm, part) if part else None), after

    def _outside(self, rest):
        """Does the same outside of one."""
        start = rest.find(RS)
        if start != 0:
            end = len(rest) if start < 0 else start
            return Plain(rest[:end]), rest[end:]
        if len(rest) == 1:
            return None, rest
        vm = number_of(chr(rest[1]))
        if vm is not None:
            self.vm = vm
            return None, rest[2:]
        end = rest.find(LF)
        if not 0 <= end < LONGEST:
            # One that never ends, or one that is not here yet.
            return (Plain(rest[:1]), rest[1:]) if len(rest) >= LONGEST else (None, rest)
        event = parsed(rest[1:end].rstrip(b"\r"))
        if isinstance(event, Begun):
            self.on = event.on
        return event or Plain(rest[:end + 1]), rest[end + 1:]
