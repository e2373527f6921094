# SPDX-License-Identifier: Apache-2.0
"""What tools/tally-top asks of the microvisor, and what follows from two looks. HS gives totals
since power-on with the machine's time; shares and rates are made here, so several programs may look
at once, each in its own steps."""
import collections

CAUSES = ("ecall", "timer", "irq", "lcofi", "mmio", "csr", "wfi", "other")
# All that a guest executes, in its two modes. HS's own instructions are not in it.
GUEST_INSTRUCTIONS = "0x2:uk"
MICROSECONDS = 1e6

# What is known of a vcpu at one look. us: the machine's time since power-on; cpu, steal:
# microseconds of it; instructions: the guest's own, None: nobody counts them.
Vcpu = collections.namedtuple("Vcpu", "vm vcpu state uptime_ms hart us cpu steal exits hs_insns "
                                      "counters overflows instructions")


class Machine:
    """Looks at a machine (tallylib/tally_ctl.py). share: have the guests' instructions counted,
    which takes a counter of the hart that no guest wants."""

    def __init__(self, machine, share=False):
        self.machine = machine
        self.observations = {}  # (vm, vcpu) -> number
        self.counted = {}       # (vm, vcpu) -> (number, instructions)
        self.share = share

    def look(self):
        """Returns a Vcpu for each, in the order of the VM tree."""
        vms = {line["vm"]: line for line in self.machine.objects("vms")}
        if self.share:
            self._count(vms)
        exits = self.machine.objects("exits")
        pmu = {(line["vm"], line["vcpu"]): line for line in self.machine.objects("pmu")
               if "counter" not in line}
        return [self._vcpu(line, vms[line["vm"]], pmu[line["vm"], line["vcpu"]]) for line in exits]

    def _vcpu(self, exits, vm, pmu):
        key = exits["vm"], exits["vcpu"]
        return Vcpu(*key, vm["state"], vm["uptime_ms"], pmu["hart"], exits["time_us"],
                    exits["cpu_us"], exits["steal_us"], {cause: exits[cause] for cause in CAUSES},
                    exits["hs_instructions"], pmu["counters"], pmu["overflows"],
                    self.counted.get(key))

    def _count(self, vms):
        """Begins counts that do not run yet, and reads the others. A count that has ended, because
        its VM has started again for instance, begins anew at the next look."""
        for vm in vms:
            if vm not in self.observations and vms[vm]["state"] == "running":
                self._begin(vm)
        self.counted, alive = {}, set()
        for line in self.machine.objects("observed"):
            number = line["observation"]
            if number in self.observations.get(line["vm"], ()) and line["ended"] is None:
                self.counted[line["vm"], line["vcpu"]] = (number, line["value"])
                alive.add(line["vm"])
        for vm in set(self.observations) - alive:
            self._end(vm)

    def _begin(self, vm):
        found = self.machine.objects("observe %s %s" % (vm, GUEST_INSTRUCTIONS))
        self.observations[vm] = {line["observation"] for line in found
                                 if line["observation"] is not None}

    def _end(self, vm):
        for number in self.observations.pop(vm, ()):
            self.machine.ask("unobserve %d" % number)

    def end(self):
        """Ends all counts."""
        for vm in list(self.observations):
            self._end(vm)


def per_second(before, after, seconds):
    """Returns a rate, or None if the count began anew."""
    return round((after - before) / seconds, 2) if after >= before else None


def percent(before, after, whole):
    """Returns the same as a share of a whole."""
    return round(100 * (after - before) / whole, 2) if after >= before and whole > 0 else None


def hs_percent(before, after):
    """Returns the share of HS and M in all instructions of the vcpu's time."""
    if not (before.instructions and after.instructions):
        return None
    (began, guest), (number, guest_now) = before.instructions, after.instructions
    hs = after.hs_insns - before.hs_insns
    if began != number or guest_now < guest:
        return None
    return percent(0, hs, guest_now - guest + hs)


def row(before, after):
    """What is shown of a vcpu: a dictionary, --json prints it. None: not known; before None: this
    is the first look at it."""
    seconds = (after.us - before.us) / MICROSECONDS if before else 0
    shown = {"vm": after.vm, "vcpu": after.vcpu, "state": after.state,
             "uptime_ms": after.uptime_ms, "hart": after.hart, "seconds": round(seconds, 6),
             "cpu_percent": None, "steal_percent": None, "exits_per_s": None,
             "exits_per_s_by": {cause: None for cause in CAUSES}, "hs_instructions_per_s": None,
             "hs_percent": None, "counters": after.counters, "overflows_per_s": None}
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
        hs_percent=hs_percent(before, after),
        overflows_per_s=per_second(before.overflows, after.overflows, seconds))
    return shown


def rows(before, after):
    """Returns the rows of all vcpus, from two looks."""
    known = {(vcpu.vm, vcpu.vcpu): vcpu for vcpu in before}
    return [row(known.get((vcpu.vm, vcpu.vcpu)), vcpu) for vcpu in after]
