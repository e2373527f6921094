# SPDX-License-Identifier: Apache-2.0
"""What `make run-own-firmware` boots: the guest's U-Boot boots the kernel that Debian's packages
have put on the disk, one logs in over SSH, and a reboot of the guest does it again."""

import contextlib

import pytest

from debian_machine import Machine
import harness
import plain

pytestmark = pytest.mark.long

LINES = ["Scanning virtio 0:1...", "Found /boot/extlinux/extlinux.conf", "Starting kernel ..."]


def release(machine):
    """Of the kernel that runs, which is one on the disk, started with what is written there."""
    name = machine.ssh("debian", "uname -r").strip()
    assert f"Retrieving file: /boot/vmlinux-{name}" in machine.said("debian").split("\n")
    text = machine.ssh("debian", f"""ls /boot/vmlinux-{name}
grep -c "append root=LABEL=tally ro quiet$" /boot/extlinux/extlinux.conf
cat /proc/cmdline
findmnt -no SOURCE /
systemctl is-active dbus systemd-logind""")
    assert text == (f"/boot/vmlinux-{name}\n1\nroot=LABEL=tally ro quiet\n/dev/vda1\n"
                    "active\nactive\n")
    return name


def test_debian_boots_its_own_kernel(tmp_path):
    plain.make("bootable-disk")
    tree = harness.ROOT / "dts/own-firmware.dts"
    with contextlib.closing(Machine(tmp_path, tree, disk="bootable.img")) as machine:
        life = machine.boot_id("debian")
        first = release(machine)
        machine.try_ssh("debian", "reboot")
        machine.boot_id("debian", but=life)
        assert release(machine) == first
        for line in LINES:
            assert machine.said("debian").split("\n").count(line) == 2
        machine.until("not ready", lambda: machine.messages_of("debian: ssh ready") == 2)
        machine.try_ssh("debian", "poweroff")
        machine.ends_well(["debian"])
