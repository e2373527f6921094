# SPDX-License-Identifier: Apache-2.0
"""What tools/perf-vms prints: tables as those of `perf stat --for-each-cgroup`, with VMs in the
place of cgroups."""
import json

NS = 1000000000
UNSUPPORTED = "not supported"
# A counter that ends with its vcpu has missed nothing of it.
WHOLE = (None, "the vcpu stopped")


class Line:
    """An event of a VM, or of a vcpu of it, in one table. found: of the observation's span."""

    def __init__(self, vm, vcpu, event, found):
        self.vm, self.vcpu, self.event, self.group = vm, vcpu, event.name, event.group
        reasons = [line["ended"] for _, _, _, line in found]
        self.value = sum(value for _, value, _, _ in found)
        self.ns = sum(ns for _, _, ns, _ in found)
        self.vcpus = len(found)
        self.reason = next((why for why in reasons if why not in WHOLE), None)
        self.shared = any(line["shared"] for _, _, _, line in found)
        self.stopped = self.reason is None and WHOLE[1] in reasons
        self.broken_by = None  # one of its group that is not counted
        self.percent = 100.0

    def counted(self):
        return self.reason is None and not self.broken_by

    def text(self):
        """The count, or the word that perf has for there being none."""
        if self.counted():
            return str(self.value)
        return "<not supported>" if self.reason == UNSUPPORTED else "<not counted>"

    def run_time(self):
        """In words; "": none."""
        if not self.ns:
            return ""
        return "in %.9f s%s" % (self.ns / NS,
                                " of %d vcpus" % self.vcpus if self.vcpus > 1 else "")

    def note(self):
        if not self.counted():
            if self.broken_by:
                return "%s of its group is not" % self.broken_by
            if self.reason == UNSUPPORTED:
                return ""
            return self.reason + (", after %d" % self.value if self.ns else "")
        notes = ["shared with the guest"] if self.shared else []
        return ", ".join(notes + ([WHOLE[1]] if self.stopped else []))


def end_groups(lines):
    """A group is counted as a whole or not at all."""
    broken = {}
    for line in lines:
        if line.group and not line.counted():
            broken.setdefault((line.group, line.vm, line.vcpu), line.event)
    for line in lines:
        if line.counted():
            line.broken_by = broken.get((line.group, line.vm, line.vcpu))


class Printer:
    """Plain tables."""

    def __init__(self, args, out):
        self.out = out
        self.per_vcpu = args.per_vcpu
        self.interval = args.interval is not None
        self.first = None  # perf_vms_session.Moment
        self.last = None
        self.began = False

    def begin(self, moment):
        self.first = self.last = moment

    def lines(self, rows):
        for vm, event, observed in rows:
            if not self.per_vcpu:
                yield Line(vm, None, event, observed.span)
                continue
            for one in observed.span:
                yield Line(vm, one[0], event, [one])

    def table(self, moment, rows):
        """The span that ends at this moment."""
        enabled = moment.ns - self.last.ns
        lines = list(self.lines(rows))
        for line in lines:
            if enabled and not line.counted():
                line.percent = min(100.0, 100.0 * line.ns / (enabled * line.vcpus))
        end_groups(lines)
        self.last = moment
        self.show(lines)
        self.out.flush()

    def elapsed(self):
        """Seconds since the beginning, by the machine's clock and by this computer's."""
        return ((self.last.ns - self.first.ns) / NS, (self.last.host_ns - self.first.host_ns) / NS)

    def show(self, lines):
        time = "%17.9f %13.6f " % self.elapsed() if self.interval else ""
        if not self.began:
            self.began = True
            vms = list(dict.fromkeys(line.vm for line in lines))
            print("#  machine's time   this one's       counts events" if self.interval else
                  "\n Performance counter stats for %s:\n" % " ".join("'vm %s'" % vm for vm in vms),
                  file=self.out)
        for line in lines:
            where = line.vm + ("/%d" % line.vcpu if line.vcpu is not None else "")
            note = "  # " + line.note() if line.note() else ""
            text = "%s%18s      %-24s %-16s %s%s" % (time, line.text(), line.event, where,
                                                     line.run_time(), note)
            print(text.rstrip(), file=self.out)
        if not self.interval:
            self.show_clocks()

    def show_clocks(self):
        print("\n%18.9f seconds time elapsed by the machine's clock" % self.elapsed()[0],
              file=self.out)
        print("%18.9f seconds time elapsed by this computer's clock" % self.elapsed()[1],
              file=self.out)
        apart = max(self.first.apart_ns, self.last.apart_ns)
        if apart:
            print("%18.9f seconds at most between the looks of two harts" % (apart / NS),
                  file=self.out)
        print(file=self.out)


class Fields(Printer):
    """-x: [TIME,][VCPU,]COUNT,UNIT,EVENT,VM,RUN TIME,PERCENT[,NOTE]"""

    def __init__(self, args, out):
        super().__init__(args, out)
        self.separator = args.field_separator

    def show(self, lines):
        for line in lines:
            fields = ["%.9f" % self.elapsed()[0]] if self.interval else []
            fields += ["vcpu%d" % line.vcpu] if line.vcpu is not None else []
            fields += [line.text(), "", line.event, line.vm, str(line.ns), "%.2f" % line.percent]
            fields += [line.note()] if line.note() else []
            print(self.separator.join(fields), file=self.out)


class Objects(Printer):
    """-j"""

    def show(self, lines):
        machine, host = self.elapsed()
        for line in lines:
            fields = {"interval": machine, "host-interval": host} if self.interval else {}
            fields.update({"vcpu": line.vcpu} if line.vcpu is not None else {})
            fields.update({
                "counter-value": "%d.000000" % line.value if line.counted() else line.text(),
                "unit": "", "event": line.event, "vm": line.vm, "event-runtime": line.ns,
                "pcnt-running": round(line.percent, 2)})
            fields.update({"note": line.note()} if line.note() else {})
            print(json.dumps(fields), file=self.out)


def printer(args, out):
    if args.json_output:
        return Objects(args, out)
    return Printer(args, out) if args.field_separator is None else Fields(args, out)
