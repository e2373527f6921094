# SPDX-License-Identifier: Apache-2.0
"""Where VMs are, for tools/tally-top: samples as tools/perf-vms record takes them, by function. A
guest that wants the counter wins, and it is tried again."""
import collections

from perflib import record, slides

DRAIN_S = 0.5  # of this computer's time: the rings are emptied at least so often

# Callers are asked for only where they tell where a kernel is (perflib/slides.py).
CALLERS = 8

# Of a vcpu since the last look. events: {(mode, function): how many events}; n: samples; lost: how
# many had no room; why_not: why none are taken now, None: they are; unnamed: why functions of its
# kernel have no names although there is a file, None: they have.
Sampled = collections.namedtuple("Sampled", "events n lost why_not unnamed")


class Collector:
    """Keeps what a recording would write, until the next look."""

    def __init__(self):
        self.reset()

    def reset(self):
        """Begins anew."""
        self.samples, self.lost = collections.defaultdict(list), collections.Counter()

    def put(self, **fields):
        """Takes an object of the file that a recording writes."""
        vcpu = fields["vm"], fields["vcpu"]
        if fields["type"] == "sample":
            self.samples[vcpu].append(fields)
        elif fields["type"] == "lost":
            self.lost[vcpu] += fields["lost"]

    def flush(self):
        """Nothing is kept back."""


class Places:
    """Where the kernels of VMs are that relocate themselves, as soon as samples tell."""

    def __init__(self, named):
        self.named = named
        self.given = dict(named.kernels)  # {VM, or None for all others: Symbols}
        self.lives = {}                   # {VM: number of its observation}
        self.kept, self.tried, self.why = {}, {}, {}

    def movable(self, vm):
        """Its Symbols, if it is to be found out where they are."""
        found = self.given.get(vm, self.given.get(None))
        return found if found is not None and found.movable else None

    def look(self, vm, number, samples):
        """Takes samples of one life of a VM. In the next one its kernel may be elsewhere."""
        known = self.movable(vm)
        if known is None:
            return
        if self.lives.get(vm) != number:
            self.lives[vm] = number
            self.kept[vm], self.tried[vm], self.named.kernels[vm] = [], 0, known
        if self.named.kernels[vm] is not known:
            return
        kept = self.kept[vm] = (self.kept[vm] + samples)[-slides.MOST:]
        # Each try takes a moment; it is made again when there are twice as many.
        if not kept or len(kept) < 2 * self.tried[vm]:
            return
        self.tried[vm] = len(kept)
        try:
            self.named.kernels[vm] = known.moved(slides.find(known, kept))
            self.kept[vm], self.why[vm] = [], None
        except slides.Unknown as error:
            self.why[vm] = str(error)


class Functions:
    """Samples VMs from the first look to end(). named: a Naming (perflib/naming.py); event: at
    which (perflib/events.py); hz: how many samples in a second of a vcpu's time on its hart; stop:
    has `wanted`."""

    def __init__(self, machine, named, event, hz, stop):
        self.machine, self.event, self.hz, self.stop = machine, event, hz, stop
        self.named, self.places, self.collector = named, Places(named), Collector()
        self.recording = None

    def begin(self, vms):
        """Begins on all of them. Those that are off are tried again."""
        self.recording = record.Recording(
            self.machine, [record.Recorded(vm, self.event, "%dhz" % self.hz,
                                           CALLERS if self.places.movable(vm) else 0)
                           for vm in vms], None)
        self.recording.writer = self.collector
        self.recording.begin(self.stop)

    def look(self, vms):
        """{(vm, vcpu): Sampled} since the last look."""
        if not self.recording:
            self.begin(vms)
        self.recording.take_all()
        self.recording.retry()
        found = {}
        for recorded in self.recording.recorded:
            vm, samples = recorded.vm, self.collector.samples
            self.places.look(vm, recorded.number,
                             [each for vcpu in recorded.lines for each in samples[vm, vcpu]])
            for vcpu, line in recorded.lines.items():
                events = collections.Counter()
                for each in samples[vm, vcpu]:
                    events[each["mode"], self.named.name(each, each["ip"])] += each["period"]
                found[vm, vcpu] = Sampled(events, len(samples[vm, vcpu]),
                                          self.collector.lost[vm, vcpu], line["ended"],
                                          self.places.why.get(vm))
        self.collector.reset()
        return found

    def drain(self):
        """Empties the rings, which have room for some thousand samples."""
        if self.recording:
            self.recording.take()

    def end(self):
        """Ends all of it."""
        if self.recording:
            self.recording.give_up()
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
