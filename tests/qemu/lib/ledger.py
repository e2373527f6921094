#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a ledger (core/vcpu/ledger.h): who had which counter, the FP and vector registers, and the
VMID of each hart, from when to when. Nothing of one vcpu may be there for another.

  tests/qemu/lib/ledger.py [--units] FILE...    a line for each breach; --units: for each owner, too

Exit status: 0; 1 there are some; 2 wrong use, or no ledger.
"""
import argparse
import collections
import struct
import sys

ENTRY = struct.Struct("<QQHHHHQ")
(COMES, GOES, FP, VECTOR, RESET, GVMA, VVMA, EVICTED, OWNS, SET, RUN, STOP, PREPARED,
 ENTERS) = range(1, 15)
NOBODY = 0
TIME = 0b10
FIXED = 0b101  # cycle and instret belong to a vcpu from a start to a stop only
VMID_SHIFT, VMID_MASK = 44, (1 << 14) - 1

Entry = collections.namedtuple("Entry", "number time what unit hart vcpu value")
# Who had what, from when to when; end None: still.
Span = collections.namedtuple("Span", "hart unit vcpu begin end")


class NoLedger(Exception):
    """It cannot be read, or is not whole."""


def read(path):
    """The entries, in the order of all harts."""
    waiting, following = {}, 0
    try:
        with open(path, "rb") as file:
            while data := file.read(ENTRY.size * 4096):
                if len(data) % ENTRY.size:
                    raise NoLedger("%s: the last entry is cut" % path)
                for fields in ENTRY.iter_unpack(data):
                    waiting[fields[0]] = fields
                    while following in waiting:
                        yield Entry(*waiting.pop(following))
                        following += 1
                # A hart writes what it has numbered at once. When the machine ends, each may have
                # numbered one that it did not write any more.
                if len(waiting) > 4096 or len(data) < ENTRY.size * 4096 and len(waiting) > 16:
                    raise NoLedger("%s: entry %d is missing" % (path, following))
    except OSError as error:
        raise NoLedger(str(error)) from error


def bits(mask):
    """The numbers of the bits of a mask."""
    return [bit for bit in range(mask.bit_length()) if mask >> bit & 1]


class Hart:
    """What the entries of one hart say of it."""

    def __init__(self):
        self.resident = NOBODY
        self.owner = collections.defaultdict(lambda: NOBODY)  # of each counter
        self.value_of = {}                                    # whose value a counter holds
        self.event_of = {}                                    # who gave it its event last
        self.evicted = {}                                     # whose count was read last
        self.runs = 0
        self.last = {}       # of each VMID: who used it last, since any fence
        self.walked = set()  # VMIDs under which the G-stage tables are known to be fresh


class Ledger:
    """Goes through the entries."""

    def __init__(self):
        self.harts = collections.defaultdict(Hart)
        self.breaches = []
        self.spans = []
        self.begun = {}  # (hart, unit): (vcpu, time)
        self.sums = {}   # (vcpu, FP or VECTOR): its sum when it went last
        self.coming = {} # hart: whether a sum is of a vcpu that comes
        self.where = {}  # vcpu: the hart where it is resident
        self.was_on = {} # vcpu: the hart where it was resident last
        self.vmid_of = {}

    def breach(self, entry, text, *values):
        """Something is where it must not be."""
        self.breaches.append("entry %d, time %d, hart %d: %s" % (
            entry.number, entry.time, entry.hart, text % values))

    def hold(self, entry, unit, vcpu):
        """From now on a unit is this vcpu's."""
        key = (entry.hart, unit)
        before = self.begun.pop(key, (NOBODY, 0))
        if before[0] != NOBODY:
            self.spans.append(Span(entry.hart, unit, before[0], before[1], entry.time))
        if vcpu != NOBODY:
            self.begun[key] = (vcpu, entry.time)

    def comes(self, entry, hart):
        """A vcpu is resident: alone, on one hart, under a VMID with nothing of another one."""
        vcpu, vmid = entry.vcpu, entry.value >> VMID_SHIFT & VMID_MASK
        if hart.resident != NOBODY:
            self.breach(entry, "vcpu %d comes while vcpu %d is resident", vcpu, hart.resident)
        if vcpu in self.where:
            self.breach(entry, "vcpu %d is resident on hart %d, too", vcpu, self.where[vcpu])
        if hart.last.get(vmid, vcpu) != vcpu:
            self.breach(entry, "VMID %d has translations of vcpu %d for vcpu %d", vmid,
                        hart.last[vmid], vcpu)
        elif hart.last.get(vmid) == vcpu and self.was_on.get(vcpu, entry.hart) != entry.hart:
            self.breach(entry, "VMID %d has translations of vcpu %d from before it was elsewhere",
                        vmid, vcpu)
        if entry.value not in hart.walked:
            self.breach(entry, "hgatp %#x is used without a fence of its table", entry.value)
        if vmid and self.vmid_of.setdefault(vmid, entry.value) != entry.value:
            self.breach(entry, "VMID %d has two tables", vmid)
        hart.resident, hart.last[vmid] = vcpu, vcpu
        # Without VMIDs another table of that number makes this one strange again.
        hart.walked = {hgatp for hgatp in hart.walked
                       if hgatp == entry.value or hgatp >> VMID_SHIFT & VMID_MASK != vmid}
        self.where[vcpu] = self.was_on[vcpu] = entry.hart
        self.coming[entry.hart] = True
        self.hold(entry, "VMID %d" % vmid, vcpu)
        self.hold(entry, "FP", vcpu)

    def goes(self, entry, hart):
        """It leaves; its counters stop before another one comes."""
        if hart.resident != entry.vcpu:
            self.breach(entry, "vcpu %d goes, vcpu %d is resident", entry.vcpu, hart.resident)
        hart.resident = NOBODY
        self.where.pop(entry.vcpu, None)
        self.coming[entry.hart] = False
        self.hold(entry, "VMID %d" % (entry.value >> VMID_SHIFT & VMID_MASK), NOBODY)
        self.hold(entry, "FP", NOBODY)

    def registers(self, entry):
        """When it comes, they are what they were when it went."""
        key = (entry.vcpu, entry.what)
        if self.coming[entry.hart] and self.sums.get(key, 0) != entry.value:
            self.breach(entry, "the %s registers of vcpu %d are not its own",
                        "FP" if entry.what == FP else "vector", entry.vcpu)
        self.sums[key] = entry.value

    def fenced(self, entry, hart):
        """Of the VMID in hgatp, or all tables."""
        if entry.what == GVMA:
            hart.walked.add(entry.value)
        hart.last.pop(entry.value >> VMID_SHIFT & VMID_MASK, None)

    def owns(self, entry, hart):
        """Who had it before has been told what it held; and it does not run for anybody."""
        before = hart.owner[entry.unit]
        if before not in (NOBODY, entry.vcpu) and hart.evicted.get(entry.unit) != before:
            self.breach(entry, "counter %d goes from vcpu %d to %d, and was not read for it",
                        entry.unit, before, entry.vcpu)
        if hart.runs >> entry.unit & 1 and not FIXED >> entry.unit & 1:
            self.breach(entry, "counter %d runs while it changes its owner", entry.unit)
        hart.owner[entry.unit] = entry.vcpu
        hart.value_of.pop(entry.unit, None)
        hart.event_of.pop(entry.unit, None)
        hart.evicted.pop(entry.unit, None)
        self.hold(entry, "counter %d" % entry.unit, entry.vcpu)

    def uses(self, entry, hart, mask, what):
        """Counters that count for, or are read by, the resident vcpu are its own, with its own
        event and value."""
        for unit in bits(mask & ~FIXED):
            if hart.owner[unit] != entry.vcpu or entry.vcpu == NOBODY:
                self.breach(entry, "counter %d %s for vcpu %d and is vcpu %d's", unit, what,
                            entry.vcpu, hart.owner[unit])
            elif hart.event_of.get(unit) != entry.vcpu:
                self.breach(entry, "counter %d %s for vcpu %d with the event of another one", unit,
                            what, entry.vcpu)
            elif hart.value_of.get(unit) != entry.vcpu:
                self.breach(entry, "counter %d %s for vcpu %d with the value of another one", unit,
                            what, entry.vcpu)

    def take(self, entry):
        """One entry."""
        hart = self.harts[entry.hart]
        if entry.what == COMES:
            self.comes(entry, hart)
        elif entry.what == GOES:
            self.goes(entry, hart)
        elif entry.what in (FP, VECTOR):
            self.registers(entry)
        elif entry.what == RESET:
            self.sums[entry.vcpu, FP] = self.sums[entry.vcpu, VECTOR] = 0
        elif entry.what in (GVMA, VVMA):
            self.fenced(entry, hart)
        elif entry.what == EVICTED:
            hart.evicted[entry.unit] = entry.vcpu
        elif entry.what == OWNS:
            self.owns(entry, hart)
        elif entry.what == PREPARED:
            hart.event_of[entry.unit] = entry.vcpu
        elif entry.what == SET:
            hart.value_of.update({unit: entry.vcpu for unit in bits(entry.value)})
        elif entry.what == RUN:
            self.uses(entry, hart, entry.value, "runs")
            hart.runs |= entry.value
        elif entry.what == STOP:
            hart.runs &= ~entry.value
        else:
            self.uses(entry, hart, entry.value & ~TIME, "is open")
            self.uses(entry, hart, hart.runs, "runs")


def check(entries):
    """The ledger, gone through."""
    found = Ledger()
    for entry in entries:
        found.take(entry)
    for (hart, unit), (vcpu, begin) in found.begun.items():
        found.spans.append(Span(hart, unit, vcpu, begin, None))
    return found


def main():
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--units", action="store_true")
    parser.add_argument("files", nargs="+", metavar="FILE")
    args = parser.parse_args()
    breaches = 0
    for path in args.files:
        try:
            found = check(read(path))
        except NoLedger as error:
            print("ledger:", error, file=sys.stderr)
            return 2
        for span in sorted(found.spans, key=lambda span: span.begin) if args.units else ():
            print("hart %d: %s: vcpu %d from %d to %s" % (
                span.hart, span.unit, span.vcpu, span.begin,
                "the end" if span.end is None else span.end))
        for line in found.breaches:
            print("%s: %s" % (path, line))
        breaches += len(found.breaches)
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
