# SPDX-License-Identifier: Apache-2.0
"""Waits for a VM that was asked to shut down. Tally keeps the time: it tells when that is over."""
import re
import time

from tallylib import tally_ctl

# Between two looks, in seconds.
PAUSE_S = 0.2

DONE = {"sync": " has synced and is off; its programs were not ended",
        "shut down": " has shut down and is off"}
PAST = {"sync": "synced", "shut down": "shut down"}


def command(words, seconds, json):
    """The command for Tally, which refuses --json. seconds: how long the VM may take; None: as long
    as Tally says."""
    return " ".join(words) + ("" if seconds is None else " %g" % seconds) + (
        " --json" if json else "")


def outcome(machine, name, seconds, how):
    """Returns a status of tally_ctl and a line about the VM, or None while it may still end. how:
    "sync" and "shut down", as Tally says what the guest does."""
    (row,) = [row for row in machine.objects("vms") if row["vm"] == name]
    if row["state"] == "off":
        end = machine.objects("last " + name)[0]["end"]
        if end == "shutdown":
            return tally_ctl.DONE, name + DONE[how]
        return tally_ctl.FAILED, "%s is off, but has not %s: %s" % (name, PAST[how], end)
    if row.get("shutdown") == "late":
        return tally_ctl.FAILED, "%s did not end in %s s: stop pulls the plug" % (name, seconds)
    if row["state"] == "running" and "shutdown" not in row:
        return tally_ctl.FAILED, name + " has ended, and runs again"
    return None


def wait(machine, name, answer):
    """Returns a status and lines when the VM has ended, or has not in time. answer: the line with
    which Tally has taken up the request."""
    asked = re.search(r" has (\d+) s to (sync|shut down)\b", answer)
    if not asked:
        return tally_ctl.DONE, []  # it is off already
    while not (found := outcome(machine, name, asked[1], asked[2])):
        time.sleep(PAUSE_S)
    return found[0], [found[1]]
