# SPDX-License-Identifier: Apache-2.0
"""Takes apart what a machine prints, and tells all who listen who wrote each byte (docs/frames.md).

  class Counter(Listener):
      def output(self, vm, data):
          print(vm.name, len(data))

  flow = Flow(["alpha", "beta"])
  flow.listeners.append(Counter())
  flow.feed(data)

A listener to a single VM appends a function to that VM's `listeners`. Its `backlog` has what it
printed last.
"""
from tallylib import frames
from runlib.firmware import FirmwareText

OWN = b"tally: "
# This many bytes of each VM are kept, those it printed last; in whole lines where it can be.
BACKLOG_BYTES = 16384


class Listener:
    """Is told of events. Each method does nothing here."""

    def output(self, vm, data):
        """A VM (class Vm) printed these bytes."""

    def own(self, text):
        """Tally printed this line, here without its name."""

    def plain(self, data):
        """The firmware, or another program before Tally, printed these bytes."""

    def begun(self):
        """Frames have begun: `plain` will not come first any more."""

    def answer(self, request, text):
        """A line of the answer to a request came."""

    def answer_end(self, request, status):
        """The answer to a request has ended."""

    def idle(self):
        """All that came at once has been told."""

    def end(self):
        """The machine has ended."""


class Vm:
    """A guest. Its number counts from 0, as in frames."""

    def __init__(self, number, name):
        self.number, self.name = number, name
        self.backlog = b""
        self.listeners = []  # functions that take bytes

    def output(self, data):
        """It printed these."""
        self.backlog += data
        if len(self.backlog) > 2 * BACKLOG_BYTES:
            kept = self.backlog[-BACKLOG_BYTES:]
            self.backlog = kept[kept.find(b"\n") + 1:]
        for listener in list(self.listeners):
            listener(data)


class Flow:
    """names are those of the VMs in the VM tree, in order. Frames may tell others."""

    def __init__(self, names=()):
        self.vms = [Vm(number, name) for number, name in enumerate(names)]
        self.listeners = []
        self.any = False       # something was printed
        self.framed = False    # frames have begun, once
        self.firmware = FirmwareText()
        self.frames = frames.Frames()
        self.early = b""       # the beginning of a line of Tally's, perhaps
        self.in_line = False   # in one that is none

    def vm(self, number):
        """Returns the VM of that number, or None."""
        return self.vms[number] if number < len(self.vms) else None

    def feed(self, data):
        """Takes bytes of the serial line."""
        self.any = self.any or bool(data)
        self._take(self.firmware.feed(data))

    def keeps(self):
        """Whether something is kept back. Then release() is due if nothing follows soon."""
        return bool(self.firmware.kept)

    def release(self):
        """Tells what was kept back, because nothing has followed."""
        self._take(self.firmware.release())

    def end(self):
        """The machine has ended."""
        self._take(self.firmware.end())
        for event in self.frames.end():
            self._event(event)
        self._tell("plain", self.early)
        self.early = b""
        self._tell("end")

    def _take(self, data):
        for event in self.frames.feed(data):
            self._event(event)
        if data:
            self._tell("idle")

    def _tell(self, what, *words):
        """Tells all who listen, but not of no bytes."""
        if words == (b"",):
            return
        for listener in list(self.listeners):
            getattr(listener, what)(*words)

    def _event(self, event):
        if isinstance(event, frames.Plain):
            if self.framed:
                self._tell("plain", event.data)
            else:
                self._before_frames(event.data)
        elif isinstance(event, frames.Output):
            vm = self._named(event.vm)
            vm.output(event.data)
            self._tell("output", vm, event.data)
        elif isinstance(event, frames.Own):
            self._tell("own", event.text)
        elif isinstance(event, frames.Answer):
            self._tell("answer", event.request, event.text)
        elif isinstance(event, frames.AnswerEnd):
            self._tell("answer_end", event.request, event.status)
        elif isinstance(event, frames.Name):
            self._named(event.vm).name = event.name
        elif event.on and not self.framed:
            self.framed = True
            self._tell("plain", self.early)
            self.early = b""
            self._tell("begun")

    def _named(self, number):
        """Returns the VM of that number, and makes it if it is new."""
        for n in range(len(self.vms), number + 1):
            self.vms.append(Vm(n, "vm%d" % n))
        return self.vms[number]

    def _before_frames(self, data):
        """Finds Tally's lines by their name, which no guest can print yet."""
        *lines, rest = (self.early + data).split(b"\n")
        self.early = b""
        for line in lines:
            if line.startswith(OWN) and not self.in_line:
                self._tell("own", line[len(OWN):].rstrip(b"\r").decode(errors="replace"))
            else:
                self._tell("plain", line + b"\n")
            self.in_line = False
        if not self.in_line and (rest.startswith(OWN) or OWN.startswith(rest)):
            self.early = rest
        else:
            self._tell("plain", rest)
            self.in_line = True
