# SPDX-License-Identifier: Apache-2.0
"""The kernel and the initrd of Debian guests with disks. In a checkout `make` makes them; installed
tools fetch and pack them here, for a user of theirs."""
import os
import subprocess

from runlib.guest_disk import DiskError
from tallylib import places

GUEST = os.path.join(places.MADE, "guest")
IMAGE = os.path.join(GUEST, "Image")
INITRAMFS = os.path.join(GUEST, "disk.cpio")
# The guests of dts/operator.dts without a disk. Only a checkout builds them.
WATCHED = (os.path.join(GUEST, "partitions.cpio"), os.path.join(places.MADE, "guests/bare.bin"))


def missing(paths=(IMAGE, INITRAMFS)):
    """The path of the first that is not there, or None."""
    return next((path for path in paths if not os.path.exists(path)), None)


def fetch():
    """Makes both for installed tools. Raises DiskError; what failed has said why."""
    os.makedirs(GUEST, exist_ok=True)
    for words in ([os.path.join(places.TOP, "tools/fetch/guest-parts"), "linux"],
                  [os.path.join(places.SOURCES, "guests/debian/pack"),
                   os.path.join(places.TOP, "tools/initramfs"), GUEST, INITRAMFS]):
        try:
            status = subprocess.run(words, stdin=subprocess.DEVNULL, check=False).returncode
        except OSError as error:
            raise DiskError("%s: %s" % (words[0], error.strerror)) from error
        if status:
            raise DiskError("no %s: %s failed" % (missing(), os.path.basename(words[0])))
