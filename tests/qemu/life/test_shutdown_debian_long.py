# SPDX-License-Identifier: Apache-2.0
"""Debian guests on disks, logged in to over SSH: a file that nobody has synced is kept by a
shutdown that is asked for, and lost when the plug is pulled."""

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


def keeps_and_loses(machine):
    boots = {name: machine.boot_id(name) for name in ("alpha", "beta")}
    write = "echo kept >/root/written && cat /root/written"
    assert machine.ssh("alpha", write) == "kept\n"
    asked = "alpha has 120 s to sync and power off"
    assert ctl(machine, "shutdown", "alpha", "--timeout", "120") == (
        0, [asked, "alpha has synced and is off; its programs were not ended"])
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
    assert machine.ssh("beta", read) != "kept\n"


def test_what_is_kept(tmp_path):
    """With the tree and the disk of `make run-debian`."""
    for target in ("debian-disk", "build/guest/disk.cpio"):
        plain.make(target)
    with contextlib.closing(Machine(tmp_path, TREES["plic"])) as machine:
        keeps_and_loses(machine)
