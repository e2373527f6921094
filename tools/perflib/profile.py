# SPDX-License-Identifier: Apache-2.0
"""A file of samples as sums: how many events each stack of each VM stands for, and what the file
says of samples that are missing. For what draws profiles (page.py, speedscope.py)."""
import collections
import re

from perflib import samples

# What sums are kept for: the names of the VM and the event, how the vcpu was, and the frames from
# the outermost to where it was.
Stack = collections.namedtuple("Stack", "vm vcpu event mode masked satp frames")

TEXT, NUMBER, TRUTH, LIST = str, int, bool, list
FIELDS = {
    "sample": {"timestamp": NUMBER, "vm": TEXT, "vcpu": NUMBER, "event": TEXT, "period": NUMBER,
               "mode": TEXT, "masked": TRUTH, "ip": TEXT, "satp": TEXT},
    "lost": {"timestamp": NUMBER, "vm": TEXT, "vcpu": NUMBER, "event": TEXT, "lost": NUMBER},
    "end": {"vm": TEXT, "vcpu": NUMBER, "event": TEXT, "count": NUMBER, "samples": NUMBER,
            "lost": NUMBER, "late": NUMBER, "ns": NUMBER, "unsampled_ns": NUMBER, "reasons": LIST},
}


def is_address(text):
    return isinstance(text, str) and re.fullmatch("0x[0-9a-f]{1,16}", text)


def frames(sample, name):
    """From the outermost caller to where it was, named by name(sample, address)."""
    return tuple(name(sample, address)
                 for address in (*reversed(sample.get("callchain", ())), sample["ip"]))


def address(_sample, text):
    """A name for those who have none."""
    return text


class Profile:
    """sums: {Stack: [samples, events]}; ends: {(vm, vcpu, event): what its `end` says, or None if
    there is none}; arrived, lost: {the same: how many samples the file has, and tells of as
    lost}."""

    def __init__(self, objects, name=address):
        self.head = objects[0]
        self.vms, self.events = self.head.get("vms"), self.head.get("events")
        for words in (self.vms, self.events):
            if not (isinstance(words, list) and all(isinstance(word, str) for word in words)):
                raise samples.BadSamples("line 1: does not say which VMs and events")
        self.name = name
        self.complaints = []
        self.sums = {}
        self.ends = {}
        self.arrived, self.lost = collections.Counter(), collections.Counter()
        self.first_ns = self.last_ns = None
        for number, fields in enumerate(objects[1:], 2):
            self.check(number, fields)
            getattr(self, "take_" + fields["type"])(fields)

    def check(self, number, fields):
        """Is it what record.py writes?"""
        kind = fields.get("type") if isinstance(fields, dict) else None
        wanted = FIELDS.get(kind) if isinstance(kind, str) else None
        if wanted is None:
            raise samples.BadSamples(f"line {number}: is no sample, and says nothing of samples")
        for key, what in wanted.items():
            value = fields.get(key)
            if type(value) is not what or (what is NUMBER and value < 0):  # a truth is no number
                raise samples.BadSamples(f'line {number}: a {kind} without a proper "{key}"')
        chain = fields.get("callchain", [])
        for word in fields.get("reasons", ()):
            if not isinstance(word, str):
                raise samples.BadSamples(f"line {number}: a reason that is no text")
        if kind == "sample" and not (isinstance(chain, list) and
                                     all(map(is_address, (fields["ip"], fields["satp"], *chain)))):
            raise samples.BadSamples(f"line {number}: an address that is none")
        if fields["vm"] not in self.vms or fields["event"] not in self.events:
            raise samples.BadSamples(f"line {number}: a VM or an event that line 1 does not name")

    def seen(self, fields):
        key = fields["vm"], fields["vcpu"], fields["event"]
        self.ends.setdefault(key, None)
        return key

    def take_sample(self, fields):
        self.arrived[self.seen(fields)] += 1
        time_ns = fields["timestamp"]
        self.first_ns = time_ns if self.first_ns is None else min(self.first_ns, time_ns)
        self.last_ns = time_ns if self.last_ns is None else max(self.last_ns, time_ns)
        stack = Stack(*(fields[key] for key in Stack._fields[:-1]), frames(fields, self.name))
        both = self.sums.setdefault(stack, [0, 0])
        both[0] += 1
        both[1] += fields["period"]

    def take_lost(self, fields):
        self.lost[self.seen(fields)] += fields["lost"]

    def take_end(self, fields):
        self.ends[self.seen(fields)] = fields

    def why_empty(self):
        """One sentence for a file without samples."""
        reasons = {f"{vm}/{vcpu}: no {event}: {'; '.join(end['reasons'])}"
                   for (vm, vcpu, event), end in self.ends.items() if end and end["reasons"]}
        return "has no sample" + "".join(f"; {why}" for why in sorted(reasons))


def add_options(parser):
    """For who calls of()."""
    from perflib import naming  # wants a library that only names need
    parser.add_argument("file", metavar="FILE", help="of tools/perf-vms record")
    naming.add_options(parser)


def of(args, complain):
    """The Profile of the file that is given, with names as they are asked for. complain(TEXT): of
    what has none although there is a file for it. Raises samples.BadSamples, OSError."""
    from perflib import naming, symbols
    try:
        with open(args.file, encoding="utf-8") as lines:
            objects = samples.read(lines)
        Profile(objects)  # so that what is wrong is told before names are looked for
        names = naming.Naming(args, objects)
        found = Profile(objects, names.name)
    except (samples.BadSamples, RecursionError, UnicodeDecodeError) as error:
        raise samples.BadSamples(f"{args.file}: {error}") from error
    except symbols.BadSymbols as error:
        raise samples.BadSamples(str(error)) from error
    for text in names.complaints:
        complain(text)
    if not found.sums:
        raise samples.BadSamples(f"{args.file}: {found.why_empty()}")
    found.complaints = names.complaints
    return found
