# SPDX-License-Identifier: Apache-2.0
"""All runs: what each boots and measures. A run has a name, a part, and figures {row: number};
where it is not told otherwise a figure is a number of instructions, and smaller is better."""

import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections import namedtuple

from benchlib import guests, kvm, machine
from tallylib import ended

# quick, full: what each set does, None: the run is not in it. cost: seconds of an idle core, full
# set.
Run = namedtuple("Run", "name part function cost quick full")

SOME = ("alone", "stat-2", "record-1000")
ALL = tuple(guests.CONDITIONS)
SHORT = ("compute", "pipe")
GUEST_MEMORY = 256  # MiB; with perf in an initramfs a guest wants as much
SLOT = 200  # ms
TICKS_OF_MS = 10000

BARE = ("all", "build/guests/bench.bin", "build/guests/bare.bin")
LINUX = ("all", "build/guest/initramfs.cpio", "build/guests/workloads/workload")
# What the runs of a part want of `make`.
TARGETS = {"calls": BARE, "switch": BARE, "linux": LINUX, "scale": LINUX,
           "kvm": (*BARE, *LINUX, "build/guests/kvm/vmm")}


class Log:
    """The commands of a run, as they can be typed, and the VM trees that they name."""

    def __init__(self, timeout):
        self.timeout = timeout
        self.commands = []
        self.trees = []

    def console(self, command):
        """What a command printed."""
        self.commands.append(shlex.join(command))
        return machine.console(command, self.timeout)


def from_rows(timed):
    """Figures of timed rows: instructions of a part, in the mean; and how far parts lie apart."""
    figures = {row: 100 * statistics.mean(times["ticks"]) for row, times in timed.items()}
    spread = {row: 100 * (max(times["ticks"]) - min(times["ticks"]))
              for row, times in timed.items()}
    return figures, spread


def result(figures, **more):
    """What a run gives."""
    return {"figures": {row: round(value, 1) for row, value in figures.items()}, **more}


def tool_figures(log, name, where):
    """The figures of tools/bench-calls or tools/bench-switch at one place."""
    command = [os.path.join(machine.TOP, "tools", name), "--json", "--on", where, "--timeout",
               str(log.timeout)]
    log.commands.append(shlex.join(command))
    done = ended.captured(command, stderr=subprocess.PIPE)
    if done.returncode:
        raise machine.Failure(done.stderr.strip())
    return result({row: costs[where] for row, costs in json.loads(done.stdout).items()})


def calls(log, _, where):
    """Prices of SBI PMU calls on OpenSBI and on Tally."""
    return tool_figures(log, "bench-calls", where)


def switch(log, _, where):
    """Prices of world switches."""
    return tool_figures(log, "bench-switch", where)


def calls_kvm(log, folder, host):
    """The same guest as in calls(), under KVM. Overflows are left out: QEMU swallows the half of
    KVM's, and the guest would wait for ever."""
    machine.make("build/guests/bench.bin")
    command = kvm.command(folder, host, os.path.join(machine.BUILD, "guests/bench.bin"),
                          "rows=calls rounds=1000")
    lines, release = kvm.guest_lines(log.console(command))
    return result(machine.tool("bench-calls").rows("\n".join(lines)), host=release)


def linux_rows(lines, scale):
    """The result of a guest's lines. scale: (workloads, conditions)."""
    timed, seen = guests.rows(lines, *scale)
    figures, spread = from_rows(timed)
    return result(figures, spread=spread, ticks=timed, perf=seen, isa=guests.extensions(lines))


def linux_bare(log, folder, scale):
    """A Debian guest's kernel and initramfs on OpenSBI alone."""
    packed = guests.initramfs(folder, {"bench": guests.script(*scale, SLOT)})
    command = machine.bare_command(os.path.join(machine.GUEST, "Image"), packed,
                                   guests.BOOTARGS.format("bench"), f"{GUEST_MEMORY}M")
    return linux_rows(log.console(command).split("\n"), scale)


def linux_kvm(log, folder, scale, host):
    """The same under KVM."""
    packed = guests.initramfs(folder, {"bench": guests.script(*scale, SLOT)})
    command = kvm.command(folder, host, os.path.join(machine.GUEST, "Image"),
                          guests.BOOTARGS.format("bench"), packed)
    lines, release = kvm.guest_lines(log.console(command))
    return {**linux_rows(lines, scale), "host": release}


def boot_tally(log, folder, backend, vms, scripts):
    """The consoles of VMs on Tally, all on one hart. vms: [(script, properties)]."""
    guests.initramfs(folder, scripts)
    tree = guests.tree(folder, vms, GUEST_MEMORY)
    with open(tree, encoding="ascii") as file:
        log.trees.append(file.read())
    memory = f"{(len(vms) + 2) * GUEST_MEMORY}M"
    text = log.console(machine.tally_command(tree, backend, memory))
    return [guests.said_by(text, f"vm{n}") for n in range(len(vms))]


def linux_tally(log, folder, scale, backend, properties=""):
    """The same on Tally, alone on the hart."""
    lines, = boot_tally(log, folder, backend, [("bench", properties)],
                        {"bench": guests.script(*scale, SLOT)})
    return linux_rows(lines, scale)


def together(each):
    """Guests measure at the same time, or the run says nothing."""
    for row in each[0]["ticks"]:
        begins = [one["ticks"][row]["begin"] for one in each]
        if max(begins) - min(begins) > 10 ** 6:
            raise machine.Failure(f"{row}: the guests did not begin together: {begins}")


def scaling(log, folder, scale, backend, n):
    """n guests at once on the hart, all doing the same: what the hart executed from the moment for
    which all waited until the last had ended, for each part and guest."""
    slot = SLOT * 5 * n
    scripts = {"bench": guests.script(*scale, slot)}
    each = [linux_rows(lines, scale)
            for lines in boot_tally(log, folder, backend, [("bench", "")] * n, scripts)]
    together(each)
    figures = {}
    for row in each[0]["figures"]:
        times = [one["ticks"][row] for one in each]
        begin = times[0]["begin"] // (slot * TICKS_OF_MS) * slot * TICKS_OF_MS
        end = max(one["begin"] + sum(one["ticks"]) for one in times)
        figures[row] = 100 * (end - begin) / n / len(times[0]["ticks"])
    return result(figures, ticks=[one["ticks"] for one in each], isa=each[0]["isa"])


def beside(log, folder, scale, backend):
    """What a guest without perf pays while its neighbour on the hart uses perf: the figures are the
    guest's own, of the time that both took together."""
    workloads, conditions = scale
    slot = SLOT * 10
    scripts = {"bench": guests.script(workloads, conditions, slot),
               "plain": guests.script(workloads, conditions, slot, plain=True)}
    _, plain = boot_tally(log, folder, backend, [("bench", ""), ("plain", "")], scripts)
    return linux_rows(plain, scale)


def tally_runs():
    """Debian guests with each policy."""
    runs = [Run("linux/bare", "linux", linux_bare, 35, [(SHORT, SOME)], [(guests.WORKLOADS, ALL)])]
    for backend in ("ssccfg", "sbi"):
        runs.append(Run(f"linux/{backend}", "linux", linux_tally, 40, [(SHORT, SOME), backend],
                        [(guests.WORKLOADS, ALL), backend]))
        for name, properties in (("trap", 'pmu-reads = "trap";'),
                                 ("snapshot", 'pmu-snapshot = "on"; pmu-overflow = "on";')):
            runs.append(Run(f"linux/{backend}-{name}", "linux", linux_tally, 25, None,
                            [(guests.WORKLOADS, SOME), backend, properties]))
    runs.append(Run("linux/pmu-off", "linux", linux_tally, 10, None,
                    [(guests.WORKLOADS, ("alone",)), "ssccfg", 'pmu = "off";']))
    for backend in ("ssccfg", "sbi"):
        for n in (1, 2, 4, 8):
            runs.append(Run(f"scale/{backend}-{n}", "scale", scaling, 15 * n, None,
                            [(SHORT, SOME), backend, n]))
        runs.append(Run(f"beside/{backend}", "scale", beside, 30, None, [(SHORT, SOME), backend]))
    return runs


def all_runs():
    """{name: Run}, in the order in which they are done."""
    runs = [Run(f"calls/{where}", "calls", calls, 20, [where], [where])
            for where in ("opensbi", "sbi", "ssccfg")]
    runs += [Run(f"switch/{where}", "switch", switch, 20, [where], [where])
             for where in ("ssccfg", "sbi")]
    runs += tally_runs()
    for host in kvm.HOSTS:
        runs.append(Run(f"calls/{host}", "kvm", calls_kvm, 20, None, [host]))
        quick = [(SHORT, ("alone", "stat-2")), host] if host == "kvm-6.12" else None
        runs.append(Run(f"linux/{host}", "kvm", linux_kvm, 90, quick,
                        [(guests.WORKLOADS, ALL), host]))
    return {run.name: run for run in runs}


def cost(run, which):
    """Seconds that a run of a set takes, about."""
    return run.cost if run.full == run.quick or which == "full" else run.cost / 3


def carry_out(name, which, timeout, keep=None):
    """Does one run of a set; what tools/bench keeps of it."""
    run = all_runs()[name]
    log = Log(timeout)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="bench-") as temporary:
        folder = keep or temporary
        os.makedirs(folder, exist_ok=True)
        try:
            found = run.function(log, folder, *getattr(run, which))
        except (machine.Failure, machine.tool("bench-calls").Failure, OSError,
                subprocess.SubprocessError) as failure:
            found = {"failure": str(failure)}
    return {"name": name, "part": run.part, **found, "commands": log.commands, "trees": log.trees,
            "seconds": round(time.monotonic() - start, 1)}


def print_one(name, which, timeout):
    """The same as a line of JSON, for whoever started this process, with the versions of all that
    had a part in it, since this may be another machine."""
    found = carry_out(name, which, timeout)
    print(json.dumps({**found, "versions": machine.versions()}), flush=True)
    return 1 if "failure" in found else 0


if __name__ == "__main__":
    sys.exit("tools/bench runs this")
