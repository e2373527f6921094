# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms record: begins to sample VMs, takes the samples while the guests run, and writes
them."""
import time

from perflib import samples

NS = 1000000000
POLL = 0.02  # seconds from one look at the clock to the next
# An answer with few samples takes more bytes for each, so after one so much time goes by before the
# next. A ring has room for 5,400 samples without callers.
FEW = 64
WAIT = 0.1  # seconds
AGAIN = 0.5  # seconds until what was refused or has ended is tried again
# What may be over later.
PASSING = ("the guest needed that counter", "the guest counts something else on that counter",
           "the vcpu stopped", "somebody else ended it")


class Vcpu:
    """What is known of one event of one vcpu, over all observations of it."""

    def __init__(self, vm, vcpu, event):
        self.vm, self.vcpu, self.event = vm, vcpu, event
        self.count = self.taken = self.lost = self.late = self.ns = self.written = self.hs = 0
        self.cut = 0  # samples whose callers end at a word that is no code
        self.reasons = []  # why it was not sampled for a while

    def end(self, line, first):
        """Adds an observation that is over, by its last line and its first one."""
        self.hs += line["lcofi_hs"] - first["lcofi_hs"]
        self.count += line["value"]
        self.taken += line["samples"] - line["lost"]
        self.lost += line["lost"]
        self.late += line["late"]
        self.ns += line["ns"]
        if line["ended"] and line["ended"] not in self.reasons:
            self.reasons.append(line["ended"])


class Recorded:
    """An event of a VM that is sampled; again and again, if its guest takes the counter."""

    def __init__(self, vm, event, period, depth):
        self.vm, self.event = vm, event
        self.how = f"{period} {depth}" if depth else period
        self.vcpus = {}  # {vcpu: Vcpu}
        self.lines = {}  # {vcpu: what was told last of the observation that goes on}
        self.first = {}  # {vcpu: what was told first of it}
        self.seen = {}  # {vcpu: the number of its last sample}
        self.over = {}  # {vcpu: the number of the last one before the end}
        self.number = None
        self.retry_at = 0

    def begin(self, machine):
        self.number, self.lines, self.seen, self.over = None, {}, {}, {}
        for line in machine.objects(f"sample {self.vm} {self.event.text} {self.how}"):
            vcpu = line["vcpu"]
            self.vcpus.setdefault(vcpu, Vcpu(self.vm, vcpu, self.event))
            for key in ("value", "samples", "lost", "late", "ns", "lcofi_hs"):
                line.setdefault(key, 0)
            self.number = line["observation"] or self.number
            self.lines[vcpu] = line
            self.seen[vcpu] = 0
        self.first = dict(self.lines)
        self.retry_at = time.monotonic() + AGAIN

    def look(self, machine, word="observed"):
        """Takes what is told of it; with `unobserve` it is over."""
        if self.number is None:
            return
        for line in machine.objects(f"{word} {self.number}"):
            self.lines[line["vcpu"]] = line

    def wants_again(self):
        return time.monotonic() >= self.retry_at and any(
            line["ended"] in PASSING for line in self.lines.values())

    def ended(self):
        """Why it will never be sampled. None: it is, or may be later."""
        reasons = [line["ended"] for line in self.lines.values()]
        never = reasons and all(why and why not in PASSING for why in reasons)
        return reasons[0] if never else None


class Recording:
    """Some events of some VMs, from begin() to end()."""

    def __init__(self, machine, recorded, out):
        self.machine = machine
        self.recorded = recorded
        self.writer = samples.Writer(out)
        # A vcpu may have left its hart, whose ring is taken later than that of the next one.
        self.merged = samples.Merged(lambda sample: sample.ticks)
        self.by_number = {}  # {observation: Recorded}
        self.timebase = None
        self.first_ns = self.last_ns = None

    def moment(self, recorded):
        looked = [line["looked_ns"] for line in recorded.lines.values() if "looked_ns" in line]
        if looked:
            self.first_ns = self.first_ns or min(looked)
            self.last_ns = max(looked)

    def begin(self, stop):
        self.drop_old()
        for recorded in self.recorded:
            if not stop.wanted:
                self.begin_one(recorded)

    def why_none(self):
        """Why nothing will be sampled. "": something is, or may be later."""
        reasons = [recorded.ended() for recorded in self.recorded]
        return "" if None in reasons else "; ".join(
            f"{recorded.vm}: no {recorded.event.name}: {why}"
            for recorded, why in zip(self.recorded, reasons))

    def drop_old(self):
        """What nobody has taken since another recording."""
        self.ask()

    def begin_one(self, recorded):
        recorded.begin(self.machine)
        self.moment(recorded)
        self.by_number[recorded.number] = recorded
        for line in recorded.lines.values():
            self.timebase = line.get("timebase", self.timebase)

    def ask(self):
        status, lines = self.machine.ask("samples")
        if status:
            raise samples.BadSamples("; ".join(lines))
        return lines

    def take(self):
        """Takes what the harts have noted, and writes what they had when it was called before.
        Returns how many samples were taken."""
        batch = samples.told(self.ask())
        for sample in self.merged.add(batch):
            self.write(sample)
        self.writer.flush()
        return len(batch)

    def take_all(self):
        """And writes all that they have by now."""
        self.take()
        self.take()

    def write(self, sample):
        recorded = self.by_number.get(sample.observation)
        if recorded is None or sample.vcpu not in recorded.seen:
            return  # somebody else's
        if sample.number > recorded.over.get(sample.vcpu, sample.number):
            return
        missing = sample.number - recorded.seen[sample.vcpu] - 1
        recorded.seen[sample.vcpu] = sample.number
        time_ns = sample.ticks * NS // self.timebase
        who = {"vm": recorded.vm, "vcpu": sample.vcpu, "event": recorded.event.name}
        if missing > 0:
            self.writer.put(type="lost", timestamp=time_ns, **who, lost=missing)
        fields = {"callchain": [f"{pc:#x}" for pc in sample.chain]} if sample.chain else {}
        if sample.flags & samples.CUT:
            fields["cut"] = True
            recorded.vcpus[sample.vcpu].cut += 1
        self.writer.put(type="sample", timestamp=time_ns, **who, hart=sample.hart,
                        period=sample.events, mode=sample.mode(),
                        masked=bool(sample.flags & samples.MASKED), ip=f"{sample.pc:#x}",
                        satp=f"{sample.satp:#x}", **fields)
        recorded.vcpus[sample.vcpu].written += 1

    def retry(self):
        for recorded in self.recorded:
            recorded.look(self.machine)
            self.moment(recorded)
            if recorded.wants_again():
                self.end_one(recorded)
                self.begin_one(recorded)

    def end_one(self, recorded):
        """What came behind the last look, but before the end, is not told."""
        recorded.look(self.machine, "unobserve")
        recorded.over = {vcpu: line["samples"] for vcpu, line in recorded.lines.items()}
        self.take_all()
        self.moment(recorded)
        for vcpu, line in recorded.lines.items():
            recorded.vcpus[vcpu].end(line, recorded.first[vcpu])
        recorded.lines = {}

    def end(self):
        for recorded in self.recorded:
            if recorded.lines:
                self.end_one(recorded)
        self.tell()

    def give_up(self):
        """Ends what goes on in the machine, and no more."""
        for recorded in self.recorded:
            if recorded.number is not None:
                self.machine.ask(f"unobserve {recorded.number}")

    def tell(self):
        for recorded in self.recorded:
            for vcpu in recorded.vcpus.values():
                self.writer.put(
                    type="end", vm=vcpu.vm, vcpu=vcpu.vcpu, event=vcpu.event.name,
                    count=vcpu.count, samples=vcpu.taken, lost=vcpu.lost, late=vcpu.late,
                    ns=vcpu.ns, unsampled_ns=max(0, self.last_ns - self.first_ns - vcpu.ns),
                    reasons=vcpu.reasons, lcofi_hs_instructions=vcpu.hs, cut=vcpu.cut)


def run(recording, until, child, stop):
    """Until the time or the child is over, or it is told to stop."""
    look_at = time.monotonic() + AGAIN
    take_at = 0
    while not stop.wanted:
        now = time.monotonic()
        if (child and child.poll() is not None) or (until is not None and now >= until):
            return
        if now >= take_at:
            take_at = now if recording.take() >= FEW else now + WAIT
        if now >= look_at:
            recording.retry()
            look_at = time.monotonic() + AGAIN
        if now < take_at:
            stop.sleep(POLL if until is None else max(0, min(POLL, until - now)))
