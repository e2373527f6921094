# SPDX-License-Identifier: Apache-2.0
"""Debian guests on disks, logged in to over SSH: a file that nobody has synced is kept by a
shutdown that is asked for, and lost when the plug is pulled. A power key ends programs first."""

import contextlib
import subprocess

import pytest

from debian_machine import Machine, TREES
import harness
import plain

pytestmark = pytest.mark.long


def ctl(machine, *words):
    """The status and the lines that tools/tally-ctl prints."""
    done = subprocess.run([harness.ROOT / "tools/tally-ctl", "--socket", machine.control, *words],
                          capture_output=True, text=True, check=False, timeout=harness.GUARD)
    return done.returncode, (done.stdout + done.stderr).splitlines()


def has_to_recover(machine, name):
    """Whether the file system of a guest that is off was not unmounted, nor made read-only."""
    told = subprocess.run(["/usr/sbin/dumpe2fs", "-h", machine.folder / f"{name}.ext4"], check=True,
                          capture_output=True, text=True).stdout
    (features,) = [line for line in told.split("\n") if line.startswith("Filesystem features:")]
    return "needs_recovery" in features


# A program that writes a file when it is told to end.
SERVICE = """systemd-run --quiet --unit=ends sh -c \\
    'trap "echo ended >/root/ended; exit" TERM; while :; do sleep 1; done'
"""
ANSWERS = {"key": ["alpha has 120 s to shut down", "alpha has shut down and is off"],
           "sysrq": ["alpha has 120 s to sync and power off",
                     "alpha has synced and is off; its programs were not ended"]}


def keeps_and_loses(machine, how):
    boots = {name: machine.boot_id(name) for name in ("alpha", "beta")}
    write = "echo kept >/root/written && cat /root/written"
    assert machine.ssh("alpha", SERVICE + write) == "kept\n"
    assert ctl(machine, "shutdown", "alpha", "--timeout", "120") == (0, ANSWERS[how])
    assert not has_to_recover(machine, "alpha")
    subprocess.run(["/usr/sbin/e2fsck", "-fn", machine.folder / "alpha.ext4"], check=True,
                   capture_output=True)
    assert machine.ssh("beta", write) == "kept\n"
    assert ctl(machine, "stop", "beta") == (0, ["beta is being stopped"])
    machine.until("beta is not off",
                  lambda: any(line.startswith("beta ") and " off " in line
                              for line in ctl(machine, "vms")[1]))
    assert has_to_recover(machine, "beta")
    for name in boots:
        assert ctl(machine, "start", name) == (0, [f"{name} is being started"])
        machine.boot_id(name, boots[name])
    read = "cat /root/written 2>/dev/null || true"
    assert machine.ssh("alpha", read) == "kept\n"
    assert machine.ssh("alpha", "ls /root/ended 2>/dev/null || true") == (
        "/root/ended\n" if how == "key" else "")
    assert machine.ssh("beta", read) != "kept\n"


@pytest.mark.parametrize("tree,how", [("plic", "key"), ("aia", "key"), ("plic", "sysrq")])
def test_what_is_kept(tmp_path, tree, how):
    """With the trees and the disk of `make run-debian`, where guests have a power key."""
    for target in ("debian-disk", "build/guest/disk.cpio"):
        plain.make(target)
    file = tmp_path / "vms.dts"
    file.write_text(f'/include/ "{TREES[tree]}"\n', encoding="ascii")
    if how == "sysrq":
        file.write_text(TREES[tree].read_text().replace('shutdown = "key"', 'shutdown = "sysrq"'))
    with contextlib.closing(Machine(tmp_path, file)) as machine:
        keeps_and_loses(machine, how)
