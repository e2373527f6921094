# SPDX-License-Identifier: Apache-2.0
"""What a person reads of commands that tell something. Tally answers them in JSON.

  told = Told("vms")
  status, lines = machine.ask(told.command)       # vms --json
  text = [row for line in lines for row in told.rows(line)] + told.end()
"""
import urllib.parse

from tallylib import printable, tally_ctl

CAUSES = ("ecall", "timer", "irq", "lcofi", "mmio", "csr", "wfi", "other")
PAGES = ("load", "store", "fetch")
# What `vms` tells of a VM that was asked to shut down.
SHUTDOWNS = {"asked": ", asked to shut down", "late": ", asked to shut down, which took too long"}


def seconds(number, unit, digits):
    """Returns a time as text, cut off after that many digits. A second has `unit` of its units."""
    scale = 10 ** digits
    return "%d.%0*d s" % (number // unit, digits, number % unit * scale // unit)


def data_of(row):
    """Returns the data of an event that has some."""
    return "" if row["data"] == "0x0" else "/" + row["data"]


def vms(row):
    """A VM, or one of its ports."""
    if "port" in row:
        return ["  network %s: sent %d, %d bytes, refused %d; received %d, %d bytes, lost %d" % (
            row["network"], row["sent"], row["sent_bytes"], row["refused"], row["received"],
            row["received_bytes"], row["lost"]) + ("; link down" if row["link"] == "down" else "")]
    return ["%-15s %-8s up %s, vcpus %d, harts %s, memory %d MiB" % (
        row["vm"], row["state"], seconds(row["uptime_ms"], 1000, 3), row["vcpus"],
        ",".join(map(str, row["harts"])), row["memory"] >> 20) + (
            ", dma trusted" if row.get("dma") == "trusted" else "") + (
                ", waits for its first start" if row.get("waits_for_first_start") else "") + (
                    ", asleep" if row.get("asleep") else "") + (
                    SHUTDOWNS.get(row.get("shutdown"), "")) + (
                    ", " + windows(row["windows"]) if "windows" in row else "")]


def is_late(row):
    """Whether there is something to tell of windows."""
    return bool(row["late"] or row["missed"])


def windows(row):
    """What `exits` and `vms` tell of windows, in words."""
    return "%d windows began late, by %.1f us at most, and %d were missed" % (
        row["late"], row["latest_ns"] / 1000, row["missed"])


def exits(row):
    """A line for each thing: a terminal of 80 columns has room for each."""
    budget, loading = row.get("budget"), row["hs_instructions_by"].get("loading")
    return ["vm %s: vcpu %d: ran %s, stolen %s, HS instructions %d, longest stay %d" % (
        row["vm"], row["vcpu"], seconds(row["cpu_us"], 10**6, 3),
        seconds(row["steal_us"], 10**6, 3), row["hs_instructions"], row["longest_stay"]),
            "  exits: " + ", ".join("%s %d" % (cause, row[cause]) for cause in CAUSES)] + (
                ["  loading: %d of the HS instructions" % loading] if loading else []) + ([
                "  budget: %d of event %s in %d us, spent %d times, throttled %s" % (
                    budget["count"], budget["event"], budget["period_us"], budget["spent"],
                    seconds(budget["throttled_us"], 10**6, 3))] if budget else []) + (
                        ["  " + windows(row["windows"])] if "windows" in row else [])


def pmu(row):
    """A vcpu, or one of its counters."""
    if "counters" in row:
        return ["vm %s: vcpu %d: hart %d, counters %d, overflows %d, held back %d" % (
            row["vm"], row["vcpu"], row["hart"], row["counters"], row["overflows"],
            row["held_back"])]
    if row["state"] == "gone":
        return ["  vm %s: vcpu %d: counter %d: gone" % (row["vm"], row["vcpu"], row["counter"])]
    value = row["value"]
    if value is None:
        value = "value on that hart" if row["state"] == "running" else "no value"
    return ["  counter %2d: event %s%s:%s, %s, %s, %s%s, %s%s" % (
        row["counter"], row["event"], data_of(row), row["filter"], row["state"],
        "firmware" if row["hctr"] is None else "hctr %d" % row["hctr"], row["read"],
        ", shared" if row["shared"] else "", value, ", OF" if row["of"] else "")]


def what_of(row):
    """What an exit was for, as text."""
    cause = row["cause"]
    if cause == "ecall":
        what = row.get("call") or "extension %s function %s" % (
            row["extension"][2:], row["function"][2:])
    elif cause in PAGES:
        what = row["address"][2:]
    elif cause == "csr":
        what = "%x" % (int(row["stval"], 16) >> 20)
    elif cause == "virtual-instruction":
        what = row["stval"][2:]
    elif cause == "exception":
        what = "%d, stval %s" % (int(row["scause"], 16), row["stval"][2:])
    else:
        what = ""
    return cause + (what and " " + what)


def trace(row):
    """An exit."""
    return ["%s vm %s: vcpu %d: %s at %s" % (
        seconds(row["time_us"], 10**6, 6)[:-2], row["vm"], row["vcpu"], what_of(row),
        row["pc"][2:])]


def registers(row):
    """As many in a line as in one of the log. They have 16 digits each."""
    named = [(name, int(value, 16)) for name, value in row.items() if name not in ("vm", "vcpu")]
    width, most = (3, 4) if len(named) <= 4 else (8, 3)
    return ["  " + "  ".join("%-*s %016x" % (width, *pair) for pair in named[at:at + most])
            for at in range(0, len(named), most)]


def text_of(row):
    """The bytes that a piece of a VM's text stands for."""
    return urllib.parse.unquote_to_bytes(row["text"])


class LastWords:
    """Of a VM's last crash or end: a heading before each kind of row, and whole lines of its text.
    """

    def __init__(self):
        self.heading = None
        self.text = b""

    def under(self, heading, rows):
        """Returns the rows, with their heading if they are the first of it."""
        before = [heading] if heading != self.heading else []
        self.heading = heading
        return before + rows

    def flush(self):
        """Returns the VM's last line, if it did not end it."""
        lines = self.text.decode(errors="replace").replace("\r\n", "\n").split("\n")
        self.text = b""
        return ["  " + printable.line(line) for line in lines if line or len(lines) > 1]

    def __call__(self, row):
        if "failure" in row:
            return self.head(row)
        if "end" in row:
            return self.end_of(row)
        if "text" in row:
            self.text += text_of(row)
            if not self.text.endswith(b"\n"):
                return []
            self.text = self.text.removesuffix(b"\n").removesuffix(b"\r")
            return self.under("its last text:", self.flush() or ["  "])
        rest = self.under("its last text:", self.flush()) if self.text else []
        if "cause" in row:
            return rest + self.under("last exits of vcpu %d:" % row["vcpu"], [
                "  %s  %-24s at %-16s %6d instructions in HS" % (
                    seconds(row["time_us"], 10**6, 6)[:-2], what_of(row), row["pc"][2:],
                    row["hs_instructions"])])
        return rest + self.under("registers of vcpu %d:" % row["vcpu"], registers(row))

    @staticmethod
    def head(row):
        """When and why, and what is not there."""
        if row["failure"] is None:
            return ["%s has not failed" % row["vm"]]
        return ["vm %s: failed: %s" % (row["vm"], row["failure"]),
                "  at %s, %s after its start number %d; crash number %d" % (
                    seconds(row["time_us"], 10**6, 6), seconds(row["uptime_us"], 10**6, 6),
                    row["life"], row["crash"])] + (
                        [] if row["exits_noted"] else ["  its exits were not noted: crash-exits "
                                                       "is not on in its node of the VM tree"])

    @staticmethod
    def end_of(row):
        """When and why its last life has ended."""
        if row["end"] is None:
            return ["%s has not ended" % row["vm"]]
        return ["vm %s: its last life ended: %s" % (row["vm"], row["end"]),
                "  at %s, %s after its start number %d" % (
                    seconds(row["time_us"], 10**6, 6), seconds(row["uptime_us"], 10**6, 6),
                    row["life"])]

    def end(self):
        """Returns what is left when the answer has ended."""
        return self.under("its last text:", self.flush()) if self.text else []


def observed(row):
    """A vcpu's part of an observation."""
    name = "vm %s: vcpu %d: " % (row["vm"], row["vcpu"])
    if row["observation"] is None:
        return [name + row["ended"]]
    return ["%sobservation %d: event %s%s:%s: %d in %s%s%s" % (
        name, row["observation"], row["event"], data_of(row), row["filter"], row["value"],
        seconds(row["ns"], 10**9, 6), ", shared" if row["shared"] else "",
        ", ended: " + row["ended"] if row["ended"] else "")]


TABLES = {"vms": vms, "exits": exits, "pmu": pmu, "trace": trace, "observe": observed,
          "observed": observed, "unobserve": observed}
# They begin to observe, unless that has ended before it began.
BEGIN = ("observe", "sample", "account")


class Told:
    """The answer to a command, as text. command: what Tally is asked in its place. refused: a vcpu
    is not observed although the command asked for it."""

    def __init__(self, command):
        words = command.split()
        self.begins, self.refused = bool(words) and words[0] in BEGIN, False
        tells = "--json" not in words and (words[:1] != ["trace"] or len(words) == 1)
        self.table = TABLES.get(words[0]) if words and tells else None
        if words[:1] in (["crash"], ["last"]) and tells:
            self.table = LastWords()
        self.command = command + " --json" if self.table else command
        if len(self.command) > tally_ctl.COMMAND_BYTES:
            self.table, self.command = None, command
        self.empty = "no exit was noted" if self.table is trace else None

    def rows(self, line):
        """Returns lines of text for a line of the answer."""
        self.empty = None
        row = printable.loads(line) if line.startswith("{") else None
        if self.begins and row and row["ended"]:
            self.refused = True
        return self.table(row) if self.table and row else [line]

    def end(self):
        """Returns the lines for an answer that had none."""
        if isinstance(self.table, LastWords):
            return self.table.end()
        return [self.empty] if self.empty else []
