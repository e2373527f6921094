# SPDX-License-Identifier: Apache-2.0
"""`tools/tally-ctl metrics`: all that the prompt knows in numbers, for Prometheus
(docs/metrics.md). Values are the prompt's to the last digit."""
import errno

from perflib import events
from tallylib import printable, tally_ctl, whole_file
from tallylib.exposition import Families, decimal

CAUSES = ("ecall", "timer", "irq", "lcofi", "mmio", "csr", "wfi", "other")
STATES = ("clearing", "loading", "running", "ending", "off")
MS, US, NS = 10 ** 3, 10 ** 6, 10 ** 9


def event_names():
    """{event_idx: name}; of several names the first."""
    names = {}
    for _, group in events.groups():
        for name, event_idx in group.items():
            names.setdefault(event_idx, name)
    return names


NAMES = event_names()


def event_of(row):
    """An event by its name, or as the prompt prints it."""
    data = row.get("data", "0x0")
    if data == "0x0":
        return NAMES.get(int(row["event"], 16), row["event"])
    return row["event"] + "/" + data


def add_vm(out, row):
    """A line of `vms`."""
    vm = {"vm": row["vm"]}
    state = out.gauge("tally_vm_state", "1 for the state that the VM is in.")
    for name in dict.fromkeys((*STATES, row["state"])):
        state.add(int(name == row["state"]), **vm, state=name)
    out.gauge("tally_vm_uptime_seconds",
              "Machine's time since the VM was started last; 0 while it is off.").add(
                  decimal(row["uptime_ms"], MS), **vm)
    out.gauge("tally_vm_virtual_cpus", "Vcpus of the VM.").add(row["vcpus"], **vm)
    out.gauge("tally_vm_memory_bytes", "Memory of the VM.").add(row["memory"], **vm)
    out.gauge("tally_vm_dma_trusted", "1 if a device of the VM may write all memory.").add(
        int(row.get("dma") == "trusted"), **vm)
    out.gauge("tally_vm_first_start_awaited", "1 if the VM waits to be started first.").add(
        int(row.get("waits_for_first_start", False)), **vm)
    out.gauge("tally_vm_shutdown_late",
              "1 if the VM was asked to shut down and has not ended in time.").add(
                  int(row.get("shutdown") == "late"), **vm)
    out.gauge("tally_vm_asleep", "1 if the VM runs and has suspended itself.").add(
        int(row.get("asleep", False)), **vm)


def add_port(out, row):
    """A line of `vms` about a port."""
    who = {"vm": row["vm"], "network": row["network"], "port": row["port"]}
    for key, name, meaning in (
            ("sent", "sent_frames", "Frames that the port sent since its VM's last start."),
            ("sent_bytes", "sent_bytes", "Bytes of these."),
            ("refused", "refused_frames", "Frames of the port that the switch refused."),
            ("received", "received_frames",
             "Frames that the port received since its VM's last start."),
            ("received_bytes", "received_bytes", "Bytes of these."),
            ("lost", "lost_frames",
             "Frames that found no buffer of the port, or its link down.")):
        out.counter(f"tally_port_{name}_total", meaning).add(row[key], **who)
    out.gauge("tally_port_up", "0 if the operator has set the port's link down.").add(
        int(row["link"] == "up"), **who)


def add_crash(out, vm, row):
    """The first line of `crash`."""
    failed = row["failure"] is not None
    out.counter("tally_vm_crashes_total", "How often the VM has failed.").add(
        row["crash"] if failed else 0, vm=vm)
    if failed:
        out.gauge("tally_vm_last_crash_seconds",
                  "Machine's time since power-on at which the VM failed last.").add(
                      decimal(row["time_us"], US), vm=vm)


def crash_of(machine, vm):
    """That line, or None: the VM failed again while it was told, and once more."""
    for _ in range(2):
        status, lines = machine.ask(f"crash {vm} --json")
        if status == tally_ctl.DONE:
            return printable.loads(lines[0])
    return None


def add_exits(out, row):
    """A line of `exits`."""
    who = {"vm": row["vm"], "vcpu": row["vcpu"]}
    out.counter("tally_vcpu_cpu_seconds_total",
                "Machine's time for which the vcpu had a hart, the work for it included.").add(
                    decimal(row["cpu_us"], US), **who)
    out.counter("tally_vcpu_steal_seconds_total",
                "Machine's time for which the vcpu wanted a hart and had none.").add(
                    decimal(row["steal_us"], US), **who)
    exits = out.counter("tally_vcpu_exits_total", "How often the vcpu left its guest.")
    for cause in CAUSES:
        exits.add(row[cause], **who, reason=cause)
    insns = out.counter("tally_vcpu_hs_instructions_total",
                        "Instructions of HS and M for the vcpu, by what the stay began with; "
                        "loading: for its VM's next life.")
    for cause, count in row["hs_instructions_by"].items():
        insns.add(count, **who, reason=cause)
    out.gauge("tally_vcpu_longest_stay_instructions",
              "The most instructions of HS and M from one exit to the next entry.").add(
                  row["longest_stay"], **who)
    if "budget" in row:
        add_budget(out, row["budget"], who)
    if "windows" in row:
        add_windows(out, row["windows"], who)


def add_windows(out, row, who):
    """How its schedule was kept."""
    out.counter("tally_vcpu_windows_late_total",
                "Windows that began later than promised.").add(row["late"], **who)
    out.gauge("tally_vcpu_windows_latest_seconds",
              "How late at most, from the window's tick on.").add(
                  decimal(row["latest_ns"], 10**9), **who)
    out.counter("tally_vcpu_windows_missed_total",
                "Windows that the hart did not come to.").add(row["missed"], **who)


def add_budget(out, budget, who):
    """What an event may happen in a period."""
    what = {**who, "event": event_of(budget)}
    out.gauge("tally_vcpu_budget_events",
              "How often the event may happen in a period.").add(budget["count"], **what)
    out.gauge("tally_vcpu_budget_period_seconds",
              "Machine's time of a period.").add(decimal(budget["period_us"], US), **what)
    out.counter("tally_vcpu_budget_periods_spent_total",
                "Periods in which the budget was spent.").add(budget["spent"], **what)
    out.gauge("tally_vcpu_budget_exceeded_events",
              "By how many events a budget was exceeded at most.").add(
                  budget["exceeded_by"], **what)
    out.counter("tally_vcpu_budget_throttled_seconds_total",
                "Machine's time for which the vcpu had spent its budget.").add(
                    decimal(budget["throttled_us"], US), **what)


def add_pmu(out, row):
    """A line of `pmu` about a vcpu."""
    who = {"vm": row["vm"], "vcpu": row["vcpu"]}
    out.gauge("tally_vcpu_info", "1 for the hart that the vcpu is at.").add(
        1, **who, hart=row["hart"])
    out.gauge("tally_vcpu_guest_counters", "Counters that the guest has configured.").add(
        row["counters"], **who)
    for key, name, meaning in (
            ("overflows", "overflow_interrupts", "Overflow interrupts that the guest got."),
            ("held_back", "overflow_interrupts_held",
             "Overflow interrupts that came later, because of pmu-overflow-limit."),
            ("refusals", "pmu_refusals", "Requests for a counter that were refused.")):
        out.counter(f"tally_vcpu_{name}_total", meaning).add(row[key], **who)


def add_counter(out, row):
    """A line of `pmu` about a counter of the guest. Without a value: it runs on another hart than
    the prompt, it was lost, or it has just been released."""
    if row.get("value") is None:
        return
    out.gauge("tally_vcpu_guest_events",
              "What the guest reads of its counter, which it may set to any value.").add(
                  row["value"], vm=row["vm"], vcpu=row["vcpu"], counter=row["counter"],
                  event=event_of(row), mode=row["filter"], state=row["state"])


def add_observed(out, row):
    """A line of `observed`."""
    what = {"vm": row["vm"], "vcpu": row["vcpu"], "event": event_of(row), "mode": row["filter"],
            "observation": row["observation"]}
    out.counter("tally_observed_events_total",
                "Events of the vcpu since the observation began.").add(row["value"], **what)
    out.counter("tally_observed_seconds_total",
                "Machine's time for which the observation has counted.").add(
                    decimal(row["ns"], NS), **what)
    out.gauge("tally_observed_running", "0 if the observation has ended.").add(
        int(row["ended"] is None), **what)
    out.gauge("tally_observed_shared",
              "1 if the guest counts the same on the same counter of the hart.").add(
                  int(row["shared"]), **what)
    if row["ended"] is not None:
        out.gauge("tally_observed_end_info", "1, with the reason why the observation ended.").add(
            1, **what, reason=row["ended"])
    if "samples" in row:
        for key, name, meaning in (
                ("samples", "samples", "Samples of the observation, lost ones included."),
                ("lost", "samples_lost", "Samples for which the hart's ring had no room."),
                ("late", "samples_late", "Periods that were over before the last was sampled.")):
            out.counter(f"tally_observed_{name}_total", meaning).add(row[key], **what)


def collect(machine):
    """Asks a tally_ctl.Machine. Returns the text."""
    out = Families()
    told = machine.objects("vms")
    vms = [row for row in told if "port" not in row]
    for row in vms:
        add_vm(out, row)
    for row in told:
        if "port" in row:
            add_port(out, row)
    for row in vms:
        crash = crash_of(machine, row["vm"])
        if crash:
            add_crash(out, row["vm"], crash)
    time_us = 0
    for row in machine.objects("exits"):
        add_exits(out, row)
        time_us = row["time_us"]
    out.counter("tally_time_seconds_total",
                "Machine's time since power-on, when the last vcpu's exits were told.").add(
                    decimal(time_us, US))
    for row in machine.objects("time"):
        out.gauge("tally_time_of_day_seconds",
                  "The machine's time of day, in seconds since 1970.").add(
                      row["seconds"])
    for row in machine.objects("pmu"):
        (add_counter if "counter" in row else add_pmu)(out, row)
    for row in machine.objects("observed"):
        add_observed(out, row)
    return out.text()


def write(path, text):
    """Writes a file so that its readers find the old one or the new one, whole."""
    if whole_file.is_special(path):
        # A device's name would be that of a file afterwards.
        raise OSError(errno.EINVAL, "is no file that can be replaced")
    whole_file.replace(path, text.encode())
