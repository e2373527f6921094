# SPDX-License-Identifier: Apache-2.0
"""Writes a trace in the Trace Event Format (JSON), which Perfetto, Chrome's and Firefox's viewers,
and speedscope open. Times are in microseconds there."""
import json

US = 1000000


class Writer:
    """One event a line. Each track is a thread of a process."""

    def __init__(self, out, timebase):
        self.out = out
        self.timebase = timebase
        self.first = True
        out.write('{"displayTimeUnit":"ns","traceEvents":[')

    def put(self, **event):
        self.out.write(("\n" if self.first else ",\n") + json.dumps(event, separators=(",", ":")))
        self.first = False

    def microseconds(self, ticks):
        """To the nanosecond."""
        return ticks * US * 1000 // self.timebase / 1000

    def about(self, pid, tid, what, **args):
        """Some readers want a category of these as well: the one that Chrome writes."""
        self.put(ph="M", cat="__metadata", name=what, pid=pid, tid=tid, ts=0, args=args)

    def process(self, pid, name):
        self.about(pid, 0, "process_name", name=name)
        self.about(pid, 0, "process_sort_index", sort_index=pid)

    def track(self, track, name):
        pid, tid = track
        self.about(pid, tid, "thread_name", name=name)

    def span(self, track, name, category, begin, end, args):
        pid, tid = track
        ts = self.microseconds(begin)
        # Not rounded twice, so that one that ends where another begins does not overlap it.
        dur = round(self.microseconds(end) - ts, 3)
        self.put(ph="X", name=name, cat=category, ts=ts, dur=dur, pid=pid, tid=tid, args=args)

    def instant(self, track, name, category, at, args):
        pid, tid = track
        self.put(ph="i", s="t", name=name, cat=category, ts=self.microseconds(at), pid=pid, tid=tid,
                 args=args)

    def close(self, **other):
        """Ends the file; `other` is what a viewer shows of the trace as a whole."""
        self.out.write('\n],"otherData":%s}\n' % json.dumps(other))
