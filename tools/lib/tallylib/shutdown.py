# SPDX-License-Identifier: Apache-2.0
"""Waits for VMs that were asked to shut down. Tally keeps the time: it tells when that is over."""
import re
import time

from tallylib import tally_ctl

# Between two looks, in seconds.
PAUSE_S = 0.2

DONE = {None: " is off", "sync": " has synced and is off; its programs were not ended",
        "shut down": " has shut down and is off"}
PAST = {None: "ended as it was asked to", "sync": "synced", "shut down": "shut down"}


def command(words, seconds, json):
    """The command for Tally, which refuses --json. seconds: how long the VM may take; None: as long
    as Tally says."""
    return " ".join(words) + ("" if seconds is None else " %g" % seconds) + (
        " --json" if json else "")


def outcome(machine, name, within, how):
    """Returns a status of tally_ctl and a line about the VM, or None while it may still end.
    within: what it has, in words. how: what it does, as Tally says it; None: another asked."""
    (row,) = [row for row in tally_ctl.vms(machine) if row["vm"] == name]
    if row["state"] == "off":
        end = machine.objects("last " + name)[0]["end"]
        if end == "shutdown":
            return tally_ctl.DONE, name + DONE[how]
        return tally_ctl.FAILED, "%s is off, but has not %s: %s" % (name, PAST[how], end)
    if row.get("shutdown") == "late":
        return tally_ctl.FAILED, "%s did not end in %s: stop pulls the plug" % (name, within)
    if row["state"] == "running" and "shutdown" not in row:
        return tally_ctl.FAILED, name + " has ended, and runs again"
    return None


def given(answer):
    """Returns `within` and `how` of outcome(), from the line with which Tally has taken up the
    request; None: it is off already."""
    found = re.search(r" has (\d+ s) to (sync|shut down)\b", answer)
    return found and found.groups()


def end_of(machine, name, within, how):
    """Waits for outcome()."""
    while not (found := outcome(machine, name, within, how)):
        time.sleep(PAUSE_S)
    return found


def wait(machine, name, answer):
    """Returns a status and lines when the VM has ended, or has not in time. answer: as for
    given()."""
    asked = given(answer)
    if not asked:
        return tally_ctl.DONE, []
    status, line = end_of(machine, name, *asked)
    return status, [line]


def ask_all(machine, seconds):
    """Asks each VM that is on, but not the one that asks. Waits for those that can be asked, and
    yields lines about both. seconds: as for command()."""
    waits = []
    for row in tally_ctl.vms(machine):
        if row["state"] == "off" or "operator" in row:
            continue
        if row.get("shutdown") == "asked":
            waits.append((row["vm"], "time", None))
            continue
        status, lines = machine.ask(command(["shutdown", row["vm"]], seconds, False))
        if status == tally_ctl.WRONG:
            raise tally_ctl.BadCommand("; ".join(lines))
        yield from lines
        if status == tally_ctl.DONE and given(lines[0]):
            waits.append((row["vm"], *given(lines[0])))
    for asked in waits:
        yield end_of(machine, *asked)[1]
