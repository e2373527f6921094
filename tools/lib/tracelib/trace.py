# SPDX-License-Identifier: Apache-2.0
"""tools/tally-trace at work: has stays noted, takes them while the guests run, and writes them."""
import time

from perflib import samples
from perflib.samples import BadSamples, Merged
from tracelib import records, trace_event, tracks

POLL = 0.02  # seconds from one look at the rings to the next


class Trace:
    """From begin() to end()."""

    def __init__(self, machine, out, vm):
        self.machine, self.out, self.vm = machine, out, vm
        self.merged = Merged(lambda one: one.time)
        self.writer = self.tracks = None
        self.over = False  # before its end

    def ask(self, command):
        status, lines = self.machine.ask(command)
        if status:
            raise BadSamples("; ".join(lines))
        return lines

    def batch(self):
        """What the harts had noted."""
        made = [records.record(*one) for one in samples.records(self.ask("samples"))]
        return [record for record in made if record]  # others are samples

    def begin(self):
        self.ask("stays off")
        while self.batch():  # what another trace has left
            pass
        lines = self.machine.objects("stays on" + (f" {self.vm}" if self.vm else ""))
        self.writer = trace_event.Writer(self.out, lines[0]["timebase"])
        self.tracks = tracks.Tracks(self.writer, lines)

    def is_over(self):
        """Whether another program has begun a trace, which ends this one."""
        return self.tracks.is_complete()

    def take(self):
        """Returns how many there were."""
        batch = self.batch()
        for record in self.merged.add(batch):
            self.tracks.add(record)
        return len(batch)

    def end(self):
        """However it ends: what has come is in the file, which is whole."""
        try:
            self.take_last()
        finally:
            for record in self.merged.rest():
                self.tracks.add(record)
            self.writer.close(vcpus=[self.summary(vcpu) for vcpu in self.traced()],
                              lost={f"hart {hart.id}": hart.lost
                                    for hart in self.tracks.harts.values()})

    def take_last(self):
        self.over, why = self.is_over(), []
        if not self.over:
            # An operator VM is refused if another operator has begun a trace, and so ended this.
            status, why = self.machine.ask("stays off")
            self.over = status != 0
            while self.take():
                pass
            for record in self.merged.rest():
                self.tracks.add(record)
        if not self.tracks.is_complete():
            raise BadSamples("; ".join(why) if self.over else
                             "another program has taken the end of the trace from the line")

    def traced(self):
        return [vcpu for _, vcpu in sorted(self.tracks.vcpus.items())
                if self.vm in (None, vcpu.vm)]

    @staticmethod
    def summary(vcpu):
        """What is not known, because the trace has no end, is null."""
        accounted = vcpu.accounted()
        return {"vm": vcpu.vm, "vcpu": vcpu.id, "stays": vcpu.stays,
                "instructions": vcpu.instructions, "hs_instructions": accounted,
                "missing": None if accounted is None else accounted - vcpu.instructions,
                "moves": vcpu.moves, "lcofis": vcpu.lcofis}

    def report(self, out):
        for vcpu in self.traced():
            missing = vcpu.accounted() - vcpu.instructions
            print("[ tally-trace: %s: %d stays of %d instructions in HS%s ]" % (
                vcpu.name, vcpu.stays, vcpu.instructions,
                ", %d instructions are missing" % missing if missing else ""), file=out)
        for hart in self.tracks.harts.values():
            if hart.lost:
                print("[ tally-trace: hart %d: %d records were lost: they came faster than they "
                      "were taken ]" % (hart.id, hart.lost), file=out)
        if self.over:
            print("[ tally-trace: another program has begun a trace, and this one ended there ]",
                  file=out)


def run(trace, until, child, stop):
    """Until the time or the child is over, or it is told to stop."""
    while not stop.wanted and not trace.is_over():
        now = time.monotonic()
        if (child and child.poll() is not None) or (until is not None and now >= until):
            return
        if not trace.take():
            stop.sleep(POLL if until is None else max(0, min(POLL, until - now)))
