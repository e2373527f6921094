# SPDX-License-Identifier: Apache-2.0
"""What a machine prints, taken apart: of each byte it is known whose it is, and all who listen are
told (docs/frames.md).

  class Counter(Listener):
      def output(self, vm, data):
          print(vm.name, len(data))

  flow = Flow(["alpha", "beta"])
  flow.listeners.append(Counter())
  flow.feed(data)

One who wants a single VM appends a function to that VM's `listeners`, and finds what it printed
last in its `backlog`.
"""
from tallylib import frames
from runlib.firmware import FirmwareText

OWN = b"tally: "
# Of each VM so much of what it printed last is kept, in whole lines as far as there are such.
BACKLOG_BYTES = 16384


class Listener:
    """Is told of events; each method does nothing here."""

    def output(self, vm, data):
        """A VM (class Vm) printed these bytes."""

    def own(self, text):
        """A line of Tally's, without its name."""

    def plain(self, data):
        """Bytes of the firmware, or of who else runs before Tally."""

    def begun(self):
        """Frames have begun: `plain` is no longer what comes first."""

    def answer(self, request, text):
        """A line of the answer to a request; both are text."""

    def answer_end(self, request, status):
        """There is no more of it."""

    def idle(self):
        """What came at once has been told."""

    def end(self):
        """The machine has ended."""


class Vm:
    """A guest. number: from 0, as in frames."""

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
    """names: of the VMs, in order, as the VM tree has them; frames may tell others."""

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
        """The VM of that number; None: there is none."""
        return self.vms[number] if number < len(self.vms) else None

    def feed(self, data):
        """Bytes of the serial line."""
        self.any = self.any or bool(data)
        self._take(self.firmware.feed(data))

    def keeps(self):
        """Is something kept back that release() is to be called for, if nothing follows soon?"""
        return bool(self.firmware.kept)

    def release(self):
        """Nothing has followed."""
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
        """Tells all who listen; of no bytes nobody."""
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
        """The VM of that number, which there is."""
        for n in range(len(self.vms), number + 1):
            self.vms.append(Vm(n, "vm%d" % n))
        return self.vms[number]

    def _before_frames(self, data):
        """No guest runs yet, so what begins a line with Tally's name is Tally's."""
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
