# SPDX-License-Identifier: Apache-2.0
"""Makes tracks of what harts have noted: one for each hart, with who was resident, and one for each
vcpu, with its stays in HS and what happened to it."""
from tracelib import names, records

HARTS = 1  # the process that the tracks of harts are in; those of VMs come behind
TIDS = 100  # of each process; unique, because viewers may look at nothing else


class Vcpu:
    """By what the hypervisor has answered of it."""

    def __init__(self, line, track):
        self.vm, self.id, self.index = line["vm"], line["vcpu"], line["index"]
        self.name = f"{self.vm}/{self.id}"
        self.track = track
        self.stays = self.instructions = self.lcofis = self.moves = 0
        self.home = None  # the hart that had it last
        self.begun = self.ended = None  # instructions accounted until then
        self.gone = None  # (ticks, how, steal time) since when it is on no hart
        self.since = []  # [(begin, end)] of its stays since then

    def accounted(self):
        """Instructions in HS from the begin to the end. None: that is not known."""
        return None if None in (self.begun, self.ended) else self.ended - self.begun


class Hart:
    """What is on it."""

    def __init__(self, number, track):
        self.id, self.track = number, track
        self.number = None  # of the last record
        self.time = 0
        self.resident = None  # (Vcpu, since when, its steal time then or None)
        self.idle_since = None
        self.lost = 0


class Tracks:
    """Takes records in the order of time, and writes events."""

    def __init__(self, writer, lines):
        """lines: what `stays` has answered."""
        self.writer = writer
        vms = list(dict.fromkeys(line["vm"] for line in lines))
        self.vcpus, self.harts = {}, {}
        writer.process(HARTS, "harts")
        for pid, vm in enumerate(vms, HARTS + 1):
            writer.process(pid, f"VM {vm}")
            for line in lines:
                if line["vm"] == vm:
                    vcpu = Vcpu(line, (pid, pid * TIDS + line["vcpu"]))
                    self.vcpus[vcpu.index] = vcpu
                    writer.track(vcpu.track, vcpu.name)

    def hart(self, number):
        if number not in self.harts:
            self.harts[number] = Hart(number, (HARTS, HARTS * TIDS + len(self.harts)))
            self.writer.track(self.harts[number].track, f"hart {number}")
        return self.harts[number]

    def add(self, record):
        hart = self.hart(record.hart)
        vcpu = self.vcpus[record.index]
        if hart.number is not None and record.number != (hart.number + 1) % (1 << 32):
            self.gap(hart, record)
        hart.number = record.number
        if vcpu.ended is not None:
            return  # of another trace, which has ended this one
        {records.STAY: self.stay, records.COME: self.come, records.GO: self.go,
         records.MOVED: self.moved, records.BEGIN: self.begin,
         records.END: self.end}[record.kind](hart, vcpu, record)
        hart.time = record.time

    def gap(self, hart, record):
        """What there was no room for. Who came and went meanwhile is not known."""
        lost = (record.number - hart.number - 1) % (1 << 32)
        hart.lost += lost
        self.leave(hart, hart.time, {"until": "lost"})
        self.awake(hart, hart.time)
        # A part of a stay may begin before it.
        until = max(hart.time, record.begin or record.time)
        self.writer.span(hart.track, f"lost: {lost}", "lost", hart.time, until, {"records": lost})
        for vcpu in self.vcpus.values():
            if vcpu.home is hart:
                vcpu.gone = None

    # --- who is resident -------------------------------------------------------------------

    def leave(self, hart, time, args):
        if hart.resident:
            vcpu, since, _ = hart.resident
            self.writer.span(hart.track, vcpu.name, "resident", since, time, args)
        hart.resident = None

    def awake(self, hart, time):
        if hart.idle_since is not None and time > hart.idle_since:
            self.writer.span(hart.track, "no vcpu", "idle", hart.idle_since, time, {})
        hart.idle_since = None

    def come(self, hart, vcpu, record):
        self.awake(hart, record.time)
        self.leave(hart, record.time, {})
        hart.resident = (vcpu, record.time, record.words[2])
        self.at_home(hart, vcpu, record.time)
        if vcpu.gone:
            since, how, stolen = vcpu.gone
            # Its request to run may be as old as its going, which was a little earlier.
            ticks = min(record.words[2] - stolen, record.time - since)
            self.steal(vcpu, record.time - ticks, record.time, how)
        vcpu.gone, vcpu.since = None, []
        self.interrupts(vcpu, record.time, record.injected)

    def go(self, hart, vcpu, record):
        how = records.LEFT[record.words[2]] if record.words[2] < len(records.LEFT) else "off"
        args = {"then": how}
        if hart.resident and hart.resident[2] is not None:
            args["stolen_us"] = self.writer.microseconds(record.words[4] - hart.resident[2])
        self.leave(hart, record.time, args)
        hart.idle_since = record.time
        vcpu.gone, vcpu.since = (record.time, how, record.words[4]), []
        self.interrupts(vcpu, record.time, record.injected)

    def steal(self, vcpu, begin, end, how):
        """Between its stays, which are of the same track."""
        for stay in vcpu.since + [(end, end)]:
            if min(stay[0], end) > begin:
                self.writer.span(vcpu.track, "steal", "steal", begin, min(stay[0], end),
                                 {"since": how})
            begin = max(begin, stay[1])

    def at_home(self, hart, vcpu, time):
        if vcpu.home not in (None, hart):
            vcpu.moves += 1
            self.writer.instant(vcpu.track, f"moved to hart {hart.id}", "move", time,
                                {"from": vcpu.home.id})
        vcpu.home = hart

    def moved(self, hart, vcpu, record):
        self.at_home(hart, vcpu, record.time)

    # --- stays -----------------------------------------------------------------------------

    def stay(self, hart, vcpu, record):
        resident = self.vcpus.get(record.resident)
        if resident and hart.resident is None:
            self.awake(hart, hart.time)
            hart.resident = (resident, hart.time, None)  # its coming was lost
        name, args = names.of_exit(record)
        self.writer.span(vcpu.track, name, "stay", record.begin, record.time, args)
        vcpu.stays += 1
        vcpu.instructions += record.instructions
        if vcpu.gone or hart.resident is None or hart.resident[0] is not vcpu:
            vcpu.since.append((record.begin, record.time))
        if resident:
            self.interrupts(resident, record.time, record.injected)

    def interrupts(self, vcpu, time, hvip):
        for name in names.of_interrupts(hvip):
            vcpu.lcofis += "LCOFI" in name
            self.writer.instant(vcpu.track, name, "interrupt", time, {})

    def begin(self, hart, vcpu, record):
        if vcpu.begun is None:
            vcpu.begun = record.words[2]
        vcpu.home = hart

    def end(self, hart, vcpu, record):
        vcpu.ended = record.words[2]
        if hart.resident and hart.resident[0] is vcpu:
            self.leave(hart, record.time, {"until": "the end of the trace"})

    def is_complete(self):
        """Whether all that there will be has come."""
        return all(vcpu.ended is not None for vcpu in self.vcpus.values())
