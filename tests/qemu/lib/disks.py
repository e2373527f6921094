# SPDX-License-Identifier: Apache-2.0
"""Disks of Debian guests: made on the host, and read there afterwards."""

import shutil
import subprocess

import harness
from runlib.guest_disk import PARTITION, add_table, file_system

# Of the first process on the disk.
BEGIN = """#!/bin/busybox sh
export PATH=/bin
/bin/busybox --install -s /bin
mkdir -p /sys /proc
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
"""
# 8 MiB go out and come back; what the disk had before is there.
WRITES = BEGIN + """echo "alpha begin"
cat /before
dd if=/dev/urandom of=/random bs=1M count=8 2>/dev/null
sync
sum=$(md5sum </random)
echo 3 >/proc/sys/vm/drop_caches
[ "$(md5sum </random)" = "$sum" ] && echo "$sum" >/after
ls -1 /sys/class/net
sync
mount -o remount,ro /
echo "alpha end $?"
poweroff -f
"""


def disk_of(folder, process, boot=None):
    """A file system with busybox and a first process. boot: {name: bytes} of its /boot; then it is
    in a partition."""
    root = folder / "root"
    for name in ("bin", "sbin", "dev", "mnt", "etc/ssh"):
        (root / name).mkdir(parents=True)
    shutil.copy(harness.GUEST / "root/usr/bin/busybox", root / "bin/busybox")
    (root / "sbin/init").write_text(process, encoding="ascii")
    (root / "sbin/init").chmod(0o755)
    (root / "before").write_text("written on the host\n", encoding="ascii")
    (root / "life").write_text("0\n", encoding="ascii")
    path = folder / "disk.ext4"
    make = ["/usr/sbin/mke2fs", "-q", "-t", "ext4", "-L", "tally", "-d", root]
    if not boot:
        subprocess.run([*make, path, "32M"], check=True)
        return path
    for name, data in boot.items():
        (root / "boot" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "boot" / name).write_bytes(data)
    subprocess.run([*make, "-E", f"offset={PARTITION}", path, "95M"], check=True)
    add_table(path, 96 << 20)
    return path


def content(disk, name):
    """A file on the disk, read on the host."""
    return subprocess.run(["/usr/sbin/debugfs", "-R", f"cat {name}", file_system(disk)],
                          check=True, text=True, capture_output=True).stdout
