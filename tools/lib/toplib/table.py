# SPDX-License-Identifier: Apache-2.0
"""The table of tools/tally-top as lines of text, and its orders."""
from tallylib import told
from toplib import functions
from toplib.looks import CAUSES

# Key, what it sorts by, greatest first; n: the order of the VM tree.
SORT_KEYS = {"n": None, "c": "cpu_percent", "s": "steal_percent", "e": "exits_per_s",
             "h": "hs_instructions_per_s", "o": "overflows_per_s"}
SORT_NAMES = {"name": "n", "cpu": "c", "steal": "s", "exits": "e", "hs": "h", "overflows": "o"}

# Head, width, what it shows. VM names have 15 characters at most.
COLUMNS = (("VM", -15, lambda row: row["vm"]),
           ("VCPU", 4, lambda row: str(row["vcpu"])),
           ("HART", 4, lambda row: str(row["hart"])),
           ("STATE", -8, lambda row: row["state"]),
           ("CPU%", 5, lambda row: share(row["cpu_percent"])),
           ("STEAL%", 6, lambda row: share(row["steal_percent"])),
           ("HS%", 5, lambda row: share(row["hs_percent"])),
           ("INSN/S", 7, lambda row: rate(row["instructions_per_s"])),
           ("IPC", 5, lambda row: ratio(row["ipc"])),
           ("HS-I/S", 7, lambda row: rate(row["hs_instructions_per_s"])),
           ("EXIT/S", 6, lambda row: rate(row["exits_per_s"])),
           ("CTR", 3, lambda row: str(row["counters"])),
           ("OVF/S", 5, lambda row: rate(row["overflows_per_s"])),
           *((cause.upper(), 6, lambda row, cause=cause: rate(row["exits_per_s_by"][cause]))
             for cause in CAUSES))


# Those that are shown only while guests are counted.
OF_COUNTS = {"INSN/S", "IPC"}


def columns(counted):
    """Those that are shown."""
    return [column for column in COLUMNS if counted or column[0] not in OF_COUNTS]


def share(value):
    """Returns a share of 100 as text."""
    return "-" if value is None else "%.1f" % value


def ratio(value):
    """Returns a small number as text."""
    return "-" if value is None else "%.2f" % value


def rate(value):
    """Returns a number as text of six columns; k and M are thousands and millions."""
    if value is None:
        return "-"
    for limit, divisor, suffix in ((99999.5, 1, ""), (99999500, 1e3, "k"), (1e15, 1e6, "M")):
        if value < limit:
            break
    return "%.0f%s" % (value / divisor, suffix)


def line(shown, cells, width=None):
    """One line of cells, as many whole ones as there is room for."""
    text = ""
    for (_, size, _), cell in zip(shown, cells):
        padded = cell.ljust(-size) if size < 0 else cell.rjust(size)
        if width is not None and len(text) + bool(text) + len(padded) > width:
            break
        text += " " * bool(text) + padded
    return text.rstrip()


def in_order(rows, key, backwards=False):
    """Sorts rows by a key of SORT_KEYS. Unknown values come last."""
    field = SORT_KEYS[key]
    if not field:
        return rows[::-1] if backwards else rows
    known = sorted((row for row in rows if row[field] is not None), key=lambda row: row[field],
                   reverse=not backwards)
    return known + [row for row in rows if row[field] is None]


def table(rows, width=None, counted=False):
    """Returns the head, and a line for each row."""
    shown = columns(counted)
    return [line(shown, [name for name, _, _ in shown], width)] + [
        line(shown, [show(row) for _, _, show in shown], width) for row in rows]


# The same of ports.
PORT_COLUMNS = (("VM", -15, lambda port: port["vm"]),
                ("NETWORK", -15, lambda port: port["network"]),
                ("SENT/S", 6, lambda port: rate(port["sent_per_s"])),
                ("BYTES/S", 7, lambda port: rate(port["sent_bytes_per_s"])),
                ("RECV/S", 6, lambda port: rate(port["received_per_s"])),
                ("BYTES/S", 7, lambda port: rate(port["received_bytes_per_s"])),
                ("LOST/S", 6, lambda port: rate(port["lost_per_s"])),
                ("REFUSED/S", 9, lambda port: rate(port["refused_per_s"])))


def ports(rows):
    """A table of the VMs' ports, below the one of vcpus. Nothing, if there are none."""
    found = [{**port, "vm": row["vm"]} for row in rows for port in row.get("ports", ())]
    return found and ["", line(PORT_COLUMNS, [name for name, _, _ in PORT_COLUMNS]), *(
        line(PORT_COLUMNS, [show(port) for _, _, show in PORT_COLUMNS]) for port in found)]


# Of steal time: shown as much, in percent.
MUCH_STEAL = 10


def colour(row):
    """The colour of a row, or None: blue: its VM does not run; red: the vcpu waited longer for a
    hart than it had one; yellow: it waited long."""
    if row["state"] not in ("running", "asleep"):
        return "blue"
    steal = row["steal_percent"]
    if steal is None or steal < MUCH_STEAL:
        return None
    return "red" if steal > row["cpu_percent"] else "yellow"


def notes(rows):
    """A line for each vcpu whose guest is not counted, with the reason, or whose windows began
    late."""
    return ["%s vcpu %d: not counted: %s" % (row["vm"], row["vcpu"], row["not_counted"])
            for row in rows if row["not_counted"]] + [
                "%s vcpu %d: %s" % (row["vm"], row["vcpu"], told.windows(row["windows"]))
                for row in rows if row.get("windows") and told.is_late(row["windows"])]


def pane(vcpus, most):
    """Lines with the functions in which each VM was most."""
    lines = []
    for vm in dict.fromkeys(vcpu.vm for vcpu in vcpus if vcpu.sampled):
        mine = [vcpu for vcpu in vcpus if vcpu.vm == vm and vcpu.sampled]
        n, lost = (sum(numbers) for numbers in zip(*((vcpu.sampled.n, vcpu.sampled.lost)
                                                     for vcpu in mine)))
        lines += ["", "%s: %d samples%s" % (vm, n, ", %d lost" % lost if lost else "")]
        lines += ["  vcpu %d is not sampled: %s" % (vcpu.vcpu, vcpu.sampled.why_not)
                  for vcpu in mine if vcpu.sampled.why_not]
        lines += ["  no names of its kernel yet: %s" % why for why in dict.fromkeys(
            vcpu.sampled.unnamed for vcpu in mine) if why]
        lines += ["%6.2f%%  %-6s  %s" % (share_, mode, function) for mode, function, share_ in
                  functions.greatest([vcpu.sampled for vcpu in mine], most)]
    return lines


def summary(rows):
    """Returns the line above the table."""
    vms = {row["vm"]: row["state"] for row in rows}
    running = sum(state in ("running", "asleep") for state in vms.values())
    seconds = max((row["seconds"] for row in rows), default=0)
    # With sixteen VMs it fits into 80 columns.
    return "%d of %d VMs run, %d vcpus; rates of %.3f s of the machine's time" % (
        running, len(vms), len(rows), seconds)
