# SPDX-License-Identifier: Apache-2.0
"""What tools/perf-vms prints: tables as those of `perf stat --for-each-cgroup`, with VMs in the place
of cgroups."""
import json

NS = 1000000000
UNSUPPORTED = "not supported"
# A counter that ends with its vcpu has missed nothing of it.
WHOLE = (None, "the vcpu stopped")


class Line:
    """An event of a VM, or of a vcpu of it, in one table."""

    def __init__(self, vm, vcpu, event, found):
        self.vm, self.vcpu, self.event = vm, vcpu, event
        reasons = [line["ended"] for _, _, _, line in found]
        self.value = sum(value for _, value, _, _ in found)
        self.ns = sum(ns for _, _, ns, _ in found)
        self.reason = next((why for why in reasons if why not in WHOLE), None)
        self.shared = any(line["shared"] for _, _, _, line in found)
        self.stopped = self.reason is None and WHOLE[1] in reasons

    def counted(self):
        return self.reason is None

    def text(self):
        """The count, or the word that perf has for there being none."""
        if self.counted():
            return str(self.value)
        return "<not supported>" if self.reason == UNSUPPORTED else "<not counted>"

    def note(self):
        if not self.counted():
            if self.reason == UNSUPPORTED:
                return ""
            return self.reason + (", after %d" % self.value if self.ns else "")
        notes = ["shared with the guest"] if self.shared else []
        return ", ".join(notes + ([WHOLE[1]] if self.stopped else []))


class Printer:
    """Plain tables."""

    def __init__(self, args, out):
        self.out = out
        self.per_vcpu = args.per_vcpu
        self.interval = args.interval is not None
        self.begin = 0
        self.last = None
        self.began = False

    def lines(self, observed):
        for o in observed:
            found = o.since_last()
            if not self.per_vcpu:
                yield Line(o.vm, None, o.event, found)
                continue
            for one in found:
                yield Line(o.vm, one[0], o.event, [one])

    def table(self, now, observed):
        enabled = now - (self.begin if self.last is None else self.last)
        self.last = now
        lines = list(self.lines(observed))
        for line in lines:
            line.percent = 100.0
            vcpus = 1 if self.per_vcpu else len(
                next(o for o in observed if (o.vm, o.event) == (line.vm, line.event)).vcpus)
            if enabled and not line.counted():
                line.percent = min(100.0, 100.0 * line.ns / (enabled * vcpus))
        self.show(now - self.begin, lines)
        self.out.flush()

    def show(self, elapsed, lines):
        time = "%17.9f " % (elapsed / NS) if self.interval else ""
        if not self.began:
            self.began = True
            vms = list(dict.fromkeys(line.vm for line in lines))
            print("#           time      counts events" if self.interval else
                  "\n Performance counter stats for %s:\n" % " ".join("'vm %s'" % vm for vm in vms),
                  file=self.out)
        for line in lines:
            where = line.vm + ("/%d" % line.vcpu if line.vcpu is not None else "")
            note = line.note()
            print("%s%18s      %-24s %s%s" % (time, line.text(), line.event, where,
                                              "  # " + note if note else ""), file=self.out)
        if not self.interval:
            print("\n%18.9f seconds time elapsed\n" % (elapsed / NS), file=self.out)


class Fields(Printer):
    """-x: [TIME,][VCPU,]COUNT,UNIT,EVENT,VM,RUN TIME,PERCENT[,NOTE]"""

    def __init__(self, args, out):
        super().__init__(args, out)
        self.separator = args.field_separator

    def show(self, elapsed, lines):
        for line in lines:
            fields = ["%.9f" % (elapsed / NS)] if self.interval else []
            fields += ["vcpu%d" % line.vcpu] if line.vcpu is not None else []
            fields += [line.text(), "", line.event, line.vm, str(line.ns), "%.2f" % line.percent]
            fields += [line.note()] if line.note() else []
            print(self.separator.join(fields), file=self.out)


class Objects(Printer):
    """-j"""

    def show(self, elapsed, lines):
        for line in lines:
            fields = {"interval": elapsed / NS} if self.interval else {}
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
