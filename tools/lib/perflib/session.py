# SPDX-License-Identifier: Apache-2.0
"""What tools/perf-vms asks of the hypervisor: to observe events of VMs, and to look at all of them
at one moment, again and again. Spans go from look to look."""
import time


class Observed:
    """An event of a VM: what is known of it on each vcpu."""

    def __init__(self, vm, text):
        self.vm, self.text = vm, text
        self.vcpus = {}  # {vcpu: the last object of `observed`}
        self.number = None
        self.before = {}  # {vcpu: value and ns at the last look that ended a span}
        self.span = []  # [(vcpu, value, ns, object)] of the last span

    def begin(self, machine):
        for line in machine.objects(f"observe {self.vm} {self.text}"):
            for key in ("value", "ns", "looked_ns"):
                line.setdefault(key, 0)
            line.setdefault("shared", False)
            self.vcpus[line["vcpu"]] = line
            self.number = line["observation"] or self.number

    def update(self, lines):
        """Takes what is told of all observations."""
        told = {line["vcpu"]: line for line in lines
                if line["vm"] == self.vm and line["observation"] == self.number}
        for vcpu, line in self.vcpus.items():
            if vcpu not in told and line["ended"] is None:
                told[vcpu] = {**line, "ended": "somebody else ended it"}
        self.vcpus.update(told)

    def end_span(self):
        """The next one begins at the last look."""
        self.span = []
        for vcpu, line in sorted(self.vcpus.items()):
            value, ns = self.before.get(vcpu, (0, 0))
            self.span.append((vcpu, (line["value"] - value) % (1 << 64), line["ns"] - ns, line))
            self.before[vcpu] = (line["value"], line["ns"])


class Moment:
    """A look at everything: when it was, by the machine's clock and by this computer's, and how far
    apart the harts were."""

    def __init__(self, lines, host_ns):
        looked = [line["looked_ns"] for line in lines]
        self.ns = max(looked, default=0)
        self.apart_ns = self.ns - min(looked, default=0)
        self.host_ns = host_ns


class Session:
    """Some events of some VMs, from begin() to end(). rows: [(VM, Event, Observed)]; one that is in
    several groups is observed once."""

    def __init__(self, machine, vms, events, printer):
        self.machine = machine
        self.printer = printer
        self.observed = {(vm, event.text): Observed(vm, event.text)
                         for vm in vms for event in events}
        self.rows = [(vm, event, self.observed[vm, event.text]) for vm in vms for event in events]
        self.last = None  # Moment

    def begin(self, stop):
        for observed in self.observed.values():
            if not stop.wanted:
                observed.begin(self.machine)
        self.look()
        self.end_span()
        self.printer.begin(self.last)

    def look(self):
        host_ns = time.monotonic_ns()
        lines = self.machine.objects("observed")
        for observed in self.observed.values():
            observed.update(lines)
        mine = {observed.number for observed in self.observed.values()}
        lines = [line for line in lines if line["observation"] in mine]
        # If nothing is observed nobody knows what time it is.
        if lines or not self.last:
            self.last = Moment(lines, host_ns)

    def end(self):
        """With a last look."""
        self.look()
        for observed in self.observed.values():
            if observed.number:
                self.machine.objects("unobserve %d" % observed.number)

    def end_span(self):
        for observed in self.observed.values():
            observed.end_span()

    def tell(self):
        """Of what was looked at last; nothing, if that is nothing."""
        if self.last:
            self.end_span()
            self.printer.table(self.last, [row for row in self.rows if row[2].vcpus])
