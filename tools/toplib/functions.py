# SPDX-License-Identifier: Apache-2.0
"""Where VMs are, for tools/tally-top: samples as tools/perf-vms record takes them, by function. A
guest that wants the counter wins, and it is tried again."""
import collections

from perflib import record

DRAIN_S = 0.5  # of this computer's time: the rings are emptied at least so often

# Of a vcpu since the last look. events: {(mode, function): how many events}; n: samples; lost: how
# many had no room; why_not: why none are taken now, None: they are.
Sampled = collections.namedtuple("Sampled", "events n lost why_not")


class Collector:
    """Adds up what a recording would write."""

    def __init__(self, name):
        self.name = name
        self.reset()

    def reset(self):
        """Begins anew."""
        self.events = collections.defaultdict(collections.Counter)  # {(vm, vcpu): ...}
        self.taken, self.lost = collections.Counter(), collections.Counter()

    def put(self, **fields):
        """Takes an object of the file that a recording writes."""
        vcpu = fields["vm"], fields["vcpu"]
        if fields["type"] == "sample":
            function = fields["mode"], self.name(fields, fields["ip"])
            self.events[vcpu][function] += fields["period"]
            self.taken[vcpu] += 1
        elif fields["type"] == "lost":
            self.lost[vcpu] += fields["lost"]

    def flush(self):
        """Nothing is kept back."""


class Functions:
    """Samples VMs from the first look to end(). name: of a sample's address (perflib/naming.py);
    event: at which (perflib/events.py); hz: how many samples in a second of a vcpu's time on its
    hart; stop: has `wanted`."""

    def __init__(self, machine, name, event, hz, stop):
        self.machine, self.event, self.hz, self.stop = machine, event, hz, stop
        self.collector = Collector(name)
        self.recording = None

    def begin(self, vms):
        """Begins on all of them. Those that are off are tried again."""
        self.recording = record.Recording(
            self.machine, [record.Recorded(vm, self.event, "%dhz" % self.hz, 0) for vm in vms],
            None)
        self.recording.writer = self.collector
        self.recording.begin(self.stop)

    def look(self, vms):
        """{(vm, vcpu): Sampled} since the last look."""
        if not self.recording:
            self.begin(vms)
        self.recording.take()
        self.recording.retry()
        found = {}
        for recorded in self.recording.recorded:
            for vcpu, line in recorded.lines.items():
                key = recorded.vm, vcpu
                found[key] = Sampled(self.collector.events[key], self.collector.taken[key],
                                     self.collector.lost[key], line["ended"])
        self.collector.reset()
        return found

    def drain(self):
        """Empties the rings, which have room for some thousand samples."""
        if self.recording:
            self.recording.take()

    def end(self):
        """Ends all of it."""
        for recorded in self.recording.recorded if self.recording else ():
            if recorded.number is not None:
                self.machine.ask("unobserve %d" % recorded.number)
        self.recording = None


def greatest(sampled, most):
    """[(mode, function, its share in percent)] of several Sampled."""
    added = collections.Counter()
    for each in sampled:
        added.update(each.events)
    whole = sum(added.values())
    # Among equals by name, so that the same is shown for the same.
    order = sorted(added.items(), key=lambda item: (-item[1], item[0]))
    return [(mode, function, round(100 * n / whole, 2)) for (mode, function), n in order[:most]]
