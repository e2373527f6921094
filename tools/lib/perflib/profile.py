# SPDX-License-Identifier: Apache-2.0
"""A file of samples as sums: how many events each stack of each VM stands for, and what the file
says of samples that are missing. For what draws profiles (html.py, speedscope.py)."""
import collections

from perflib import naming, samples, symbols
from tallylib import progress

# What sums are kept for: the names of the VM and the event, how the vcpu was, and the frames from
# the outermost to where it was.
Stack = collections.namedtuple("Stack", "vm vcpu event mode masked satp frames")

# What is wanted besides what samples.each() has checked, and of which type; a truth is no number.
FIELDS = {
    "sample": {"vcpu": int, "masked": bool},
    "lost": {"vcpu": int},
    "end": {"vcpu": int, "count": int, "samples": int, "lost": int, "late": int, "ns": int,
            "unsampled_ns": int, "reasons": list},
}


class Profile:
    """sums: {Stack: [samples, events]}; ends: {(vm, vcpu, event): what its `end` says, or None if
    there is none}; arrived, lost: {the same: how many samples the file has, and tells of as
    lost}. objects: of samples.each(); there may be many more than stacks. timed: keeps in `moments`
    [(time in ns, Stack)] of all samples, in the order of time."""

    def __init__(self, objects, timed=False):
        objects = iter(objects)
        self.head = next(objects)
        self.vms, self.events = self.head.get("vms"), self.head.get("events")
        self.complaints = []
        self.sums = {}
        self.moments = [] if timed else None
        self.ends = {}
        self.arrived, self.lost = collections.Counter(), collections.Counter()
        self.first_ns = self.last_ns = None
        self.has_exits = False
        take = {"sample": self.take_sample, "lost": self.take_lost, "end": self.take_end}
        for number, fields in enumerate(objects, 2):
            if fields["type"] == "exits" or fields["type"] == "end" and "samples" not in fields:
                self.has_exits = True
                continue
            self.check(number, fields)
            take[fields["type"]](fields)
        if timed:
            self.moments.sort(key=lambda moment: moment[0])

    @staticmethod
    def check(number, fields):
        """Is it what record.py writes?"""
        for key, what in FIELDS[fields["type"]].items():
            value = fields.get(key)
            if type(value) is not what or (what is int and value < 0):
                raise samples.BadSamples(
                    f'line {number}: {fields["type"]} without a proper "{key}"')
        if fields["type"] == "end" and not all(isinstance(word, str)
                                               for word in fields["reasons"]):
            raise samples.BadSamples(f"line {number}: a reason that is no text")

    def seen(self, fields):
        key = fields["vm"], fields["vcpu"], fields["event"]
        self.ends.setdefault(key, None)
        return key

    def take_sample(self, fields):
        self.arrived[self.seen(fields)] += 1
        time_ns = fields["timestamp"]
        self.first_ns = time_ns if self.first_ns is None else min(self.first_ns, time_ns)
        self.last_ns = time_ns if self.last_ns is None else max(self.last_ns, time_ns)
        stack = Stack(*(fields[key] for key in Stack._fields[:-1]),
                      (*reversed(fields.get("callchain", ())), fields["ip"]))
        self.add(stack, 1, fields["period"])
        if self.moments is not None:
            self.moments.append((time_ns, stack))

    def add(self, stack, n, events):
        both = self.sums.setdefault(stack, [0, 0])
        both[0] += n
        both[1] += events

    def named(self, name):
        """Gives the frames, which are addresses, the names of name(sample, address)."""
        sums, self.sums = self.sums, {}
        found = {}
        for (stack, (n, events)), sample in zip(sums.items(), self.shown(sums)):
            frames = tuple(name(sample, address) for address in stack.frames)
            found[stack] = stack._replace(frames=frames)
            self.add(found[stack], n, events)
        if self.moments is not None:
            self.moments = [(time_ns, found[stack]) for time_ns, stack in self.moments]

    @staticmethod
    def shown(stacks):
        """A sample of each, as the file has it."""
        return [{"type": "sample", "vm": stack.vm, "vcpu": stack.vcpu, "event": stack.event,
                 "mode": stack.mode, "masked": stack.masked, "satp": stack.satp,
                 "ip": stack.frames[-1], "callchain": stack.frames[-2::-1]} for stack in stacks]

    def take_lost(self, fields):
        self.lost[self.seen(fields)] += fields["lost"]

    def take_end(self, fields):
        self.ends[self.seen(fields)] = fields

    def why_empty(self):
        """One sentence for a file without samples."""
        reasons = {f"{vm}/{vcpu}: no {event}: {'; '.join(end['reasons'])}"
                   for (vm, vcpu, event), end in self.ends.items() if end and end["reasons"]}
        if self.has_exits:
            return "has exits instead of samples: tools/perf-vms folded reads it"
        return "has no sample" + "".join(f"; {why}" for why in sorted(reasons))


def add_options(parser):
    """For who calls of()."""
    parser.add_argument("file", metavar="FILE", help="of tools/perf-vms record")
    naming.add_options(parser)


def of(args, complain, timed=False):
    """The Profile of the file that is given, with names as they are asked for. complain(TEXT): of
    what has none although there is a file for it. Raises samples.BadSamples, OSError."""
    try:
        with open(args.file, encoding="utf-8", errors="replace") as file:
            found = Profile(samples.each(progress.lines(file)), timed)
        names = naming.Naming(args, [found.head, *found.shown(found.sums)])
        found.named(names.name)
    except samples.BadSamples as error:
        raise samples.BadSamples(f"{args.file}: {error}") from error
    except symbols.BadSymbols as error:
        raise samples.BadSamples(str(error)) from error
    for text in names.complaints:
        complain(text)
    if not found.sums:
        raise samples.BadSamples(f"{args.file}: {found.why_empty()}")
    found.complaints = names.complaints
    return found
