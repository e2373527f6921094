# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms record -e hs-instructions: to which exits Tally's instructions went. Nothing is
sampled: Tally accounts each exit, and here the rows of its accounts are taken and added up."""
import collections
import time

from perflib import samples
from perflib.record import AGAIN, PASSING

EVENT = "hs-instructions"
POLL = 0.05  # seconds; nothing is lost meanwhile


class Refused(Exception):
    """No vcpu can be recorded."""


class Vcpu:
    """What is known of one, over all observations of it."""

    def __init__(self, vm, vcpu):
        self.vm, self.vcpu = vm, vcpu
        self.count = self.ns = 0
        self.rows = {}     # {(cause, what): row}
        self.reasons = []  # why it was not recorded for a while

    def add(self, head, rows):
        self.count += head["value"]
        self.ns += head["ns"]
        for row in rows:
            mine = self.rows.setdefault((row["cause"], row["what"]),
                                        {"exits": 0, "instructions": 0})
            mine["exits"] += row["exits"]
            mine["instructions"] += row["instructions"]
            if "least" in row:
                mine["least"] = min(mine.get("least", row["least"]), row["least"])
                mine["most"] = max(mine.get("most", row["most"]), row["most"])

    def refused(self, reason):
        if reason and reason not in self.reasons:
            self.reasons.append(reason)

    def sorted_rows(self):
        """[(cause, what, row)], the most instructions first."""
        return [(*key, row) for key, row in sorted(
            self.rows.items(), key=lambda item: (-item[1]["instructions"], item[0]))]


class Recording:
    """Some VMs, from begin() to end()."""

    def __init__(self, machine, vms):
        self.machine = machine
        self.vms = vms
        self.vcpus = {}    # {(vm, vcpu): Vcpu}
        self.numbers = {}  # {vm: its observation}
        self.first_ns = self.last_ns = None

    def begin(self, stop):
        for vm in self.vms:
            if not stop.wanted:
                self.begin_one(vm)
        if self.vcpus and all(vcpu.reasons for vcpu in self.vcpus.values()):
            self.end()
            raise Refused("; ".join("%s/%d: %s" % (vcpu.vm, vcpu.vcpu, ", ".join(vcpu.reasons))
                                    for vcpu in self.vcpus.values()))

    def begin_one(self, vm):
        for line in self.machine.objects(f"account {vm}"):
            vcpu = self.vcpus.setdefault((vm, line["vcpu"]), Vcpu(vm, line["vcpu"]))
            vcpu.refused(line["ended"])
            self.numbers[vm] = line["observation"] or self.numbers.get(vm)
            self.moment(line.get("at_ns"))

    def moment(self, at_ns):
        if at_ns is not None:
            self.first_ns = at_ns if self.first_ns is None else self.first_ns
            self.last_ns = at_ns

    def accounts(self):
        """{observation: [(head, rows)]}, one of each of its vcpus."""
        found = collections.defaultdict(list)
        rows = None
        for line in self.machine.objects("accounts"):
            if "observation" in line:
                rows = []
                found[line["observation"]].append((line, rows))
            elif rows is None:
                raise samples.BadSamples("a row without its account")
            else:
                rows.append(line)
        return found

    def end_some(self, vms):
        """Their accounts are taken, then ended."""
        found = self.accounts()
        for vm in vms:
            number = self.numbers.pop(vm, None)
            if number is None:
                continue
            for head, rows in found[number]:
                vcpu = self.vcpus[vm, head["vcpu"]]
                vcpu.add(head, rows)
                vcpu.refused(head["ended"])
                self.moment(head["at_ns"])
            self.machine.objects(f"unobserve {number}")

    def retry(self):
        """What has ended, or was refused, may be possible now."""
        again = set()
        lines = self.machine.objects("observed")
        for vm, number in self.numbers.items():
            mine = [line["ended"] for line in lines if line["observation"] == number]
            if not mine or any(why in PASSING for why in mine):
                again.add(vm)
        if again:
            self.end_some(again)
            for vm in again:
                self.begin_one(vm)

    def end(self):
        self.end_some(list(self.numbers))

    def unrecorded_ns(self, vcpu):
        return max(0, self.last_ns - self.first_ns - vcpu.ns)


def run(recording, until, child, stop):
    """Until the time or the child is over, or it is told to stop."""
    look_at = time.monotonic() + AGAIN
    while not stop.wanted:
        now = time.monotonic()
        if (child and child.poll() is not None) or (until is not None and now >= until):
            return
        if now >= look_at:
            recording.retry()
            look_at = time.monotonic() + AGAIN
        stop.sleep(POLL if until is None else max(0, min(POLL, until - now)))


def objects(recording):
    """The lines of a file, but for the first, and those of --json."""
    for vcpu in recording.vcpus.values():
        who = {"vm": vcpu.vm, "vcpu": vcpu.vcpu, "event": EVENT}
        for cause, what, row in vcpu.sorted_rows():
            yield {"type": "exits", **who, "cause": cause, "what": what, **row}
        yield {"type": "end", **who, "count": vcpu.count, "ns": vcpu.ns,
               "unsampled_ns": recording.unrecorded_ns(vcpu), "reasons": vcpu.reasons}


def number(value):
    return "" if value is None else f"{value:,}"


def table(recording):
    """Its lines, for people."""
    line = "%-34s %12s %14s %7s %9s %9s"
    for vcpu in recording.vcpus.values():
        yield "%s/%d: %s instructions in HS" % (vcpu.vm, vcpu.vcpu, number(vcpu.count))
        if not vcpu.rows:
            continue
        yield line % ("exit", "exits", "instructions", "share", "least", "most")
        for cause, what, row in vcpu.sorted_rows():
            share = 100 * row["instructions"] / vcpu.count if vcpu.count else 0
            yield (line % (f"{cause} {what}".rstrip(), number(row["exits"]),
                           number(row["instructions"]), "%.2f %%" % share,
                           number(row.get("least")), number(row.get("most")))).rstrip()
        yield ""
