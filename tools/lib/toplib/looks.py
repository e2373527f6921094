# SPDX-License-Identifier: Apache-2.0
"""What tools/tally-top asks of the hypervisor, and what follows from two looks. HS gives totals
since power-on with the machine's time; shares and rates are made here, so several programs may look
at once, each in its own steps."""
import collections

from toplib import counts, functions

CAUSES = ("ecall", "timer", "irq", "lcofi", "mmio", "csr", "wfi", "other")
MICROSECONDS = 1e6
FRAMES = ("sent", "sent_bytes", "received", "received_bytes", "refused", "lost")
MOST_FUNCTIONS = 10  # of a vcpu, in an object of --json

# What is known of a vcpu at one look. us: the machine's time since power-on; cpu, steal:
# microseconds of it; counted, why_not: of toplib/counts.py; sampled: of toplib/functions.py since
# the look before, None: nobody samples; windows: how many were late or missed since power-on, None:
# it has none; ports: lines of `vms` about its VM's ports, of vcpu 0 alone.
Vcpu = collections.namedtuple("Vcpu", "vm vcpu state uptime_ms hart us cpu steal exits hs_insns "
                                      "counters overflows counted why_not sampled windows "
                                      "ports")


class Machine:
    """Looks at a machine (tallylib/tally_ctl.py). counts, functions: has guests counted or sampled
    (toplib/counts.py, toplib/functions.py), which takes a counter of the hart that no guest wants.
    None: has not."""

    def __init__(self, machine, counts=None, functions=None):
        self.machine = machine
        self.counts, self.functions = counts, functions

    def look(self):
        """Returns a Vcpu for each, in the order of the VM tree."""
        told = self.machine.objects("vms")
        vms = {line["vm"]: line for line in told if "port" not in line}
        ports = [line for line in told if "port" in line]
        if self.counts:
            self.counts.look(vms)
        sampled = self.functions.look(vms) if self.functions else {}
        exits = self.machine.objects("exits")
        pmu = {(line["vm"], line["vcpu"]): line for line in self.machine.objects("pmu")
               if "counter" not in line}
        return [self._vcpu(line, vms[line["vm"]], pmu[line["vm"], line["vcpu"]], sampled, [
            port for port in ports if (port["vm"], 0) == (line["vm"], line["vcpu"])])
                for line in exits]

    def _vcpu(self, exits, vm, pmu, sampled, ports):
        key = exits["vm"], exits["vcpu"]
        counted = self.counts.counted.get(key, {}) if self.counts else {}
        state = "asleep" if vm.get("asleep") else vm["state"]
        return Vcpu(*key, state, vm["uptime_ms"], pmu["hart"], exits["time_us"],
                    exits["cpu_us"], exits["steal_us"], {cause: exits[cause] for cause in CAUSES},
                    exits["hs_instructions"], pmu["counters"], pmu["overflows"], counted,
                    self.counts.why_not.get(key) if self.counts else None, sampled.get(key),
                    exits.get("windows"), ports)

    def drain(self):
        """Between two looks that are far from each other."""
        if self.functions:
            self.functions.drain()

    def end(self):
        """Ends all counts and samples."""
        for each in (self.counts, self.functions):
            if each:
                each.end()


def per_second(before, after, seconds):
    """Returns a rate, or None if the count began anew."""
    return round((after - before) / seconds, 2) if after >= before else None


def percent(before, after, whole):
    """Returns the same as a share of a whole."""
    return round(100 * (after - before) / whole, 2) if after >= before and whole > 0 else None


def hs_percent(before, after, cpu):
    """Returns the share of HS and M in all instructions of the vcpu's time. None: not known, or of
    a vcpu that had less than 0.05 % of a hart, shown as 0.0: a share of next to nothing."""
    if not cpu or cpu < 0.05:
        return None
    guest = counts.grown(before, after, "instructions")
    if guest is None:
        return None
    hs = after.hs_insns - before.hs_insns
    return percent(0, hs, guest + hs)


def instructions_per_cycle(before, after):
    """Of the guest alone."""
    instructions, cycles = (counts.grown(before, after, name) for name in ("instructions",
                                                                          "cycles"))
    return round(instructions / cycles, 3) if instructions is not None and cycles else None


def functions_of(sampled):
    """What --json tells of samples."""
    if sampled is None:
        return {"samples": None, "samples_lost": None, "not_sampled": None, "functions": None}
    return {"samples": sampled.n, "samples_lost": sampled.lost, "not_sampled": sampled.why_not,
            "functions": [{"function": function, "mode": mode, "percent": share}
                          for mode, function, share in functions.greatest([sampled],
                                                                          MOST_FUNCTIONS)]}


def ports_of(before, after, seconds):
    """What --json tells of its VM's ports: frames and bytes in a second. None: not known, or the VM
    began a life between two looks."""
    known = {port["port"]: port for port in before.ports} if before and seconds > 0 else {}
    return [{"network": port["network"],
             **{key + "_per_s": per_second(known[port["port"]][key], port[key], seconds)
                if port["port"] in known else None for key in FRAMES}} for port in after.ports]


def row(before, after):
    """What is shown of a vcpu: a dictionary, --json prints it. None: not known; before None: this
    is the first look at it."""
    seconds = (after.us - before.us) / MICROSECONDS if before else 0
    shown = {"vm": after.vm, "vcpu": after.vcpu, "state": after.state,
             "uptime_ms": after.uptime_ms, "hart": after.hart, "seconds": round(seconds, 6),
             "cpu_percent": None, "steal_percent": None, "exits_per_s": None,
             "exits_per_s_by": {cause: None for cause in CAUSES}, "hs_instructions_per_s": None,
             "hs_percent": None, "counters": after.counters, "overflows_per_s": None,
             "instructions_per_s": None, "ipc": None, "not_counted": after.why_not,
             **functions_of(after.sampled), **({"windows": after.windows} if after.windows else {}),
             **({"ports": ports_of(before, after, seconds)} if after.ports else {})}
    if seconds <= 0:
        return shown
    us = after.us - before.us
    shown.update(
        cpu_percent=percent(before.cpu, after.cpu, us),
        steal_percent=percent(before.steal, after.steal, us),
        exits_per_s=per_second(sum(before.exits.values()), sum(after.exits.values()), seconds),
        exits_per_s_by={cause: per_second(before.exits[cause], after.exits[cause], seconds)
                        for cause in CAUSES},
        hs_instructions_per_s=per_second(before.hs_insns, after.hs_insns, seconds),
        hs_percent=hs_percent(before, after, percent(before.cpu, after.cpu, us)),
        instructions_per_s=counts.rate(before, after, "instructions"),
        ipc=instructions_per_cycle(before, after),
        overflows_per_s=per_second(before.overflows, after.overflows, seconds))
    return shown


def rows(before, after):
    """Returns the rows of all vcpus, from two looks."""
    known = {(vcpu.vm, vcpu.vcpu): vcpu for vcpu in before}
    return [row(known.get((vcpu.vm, vcpu.vcpu)), vcpu) for vcpu in after]
