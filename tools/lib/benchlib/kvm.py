# SPDX-License-Identifier: Apache-2.0
"""The peer: Debian's kernel with KVM on the same machine, and the same guests under it."""

import os
import re
import subprocess

from benchlib import machine

# {name: (kernel of the host, its module)}
HOSTS = {
    "kvm-6.12": (os.path.join(machine.GUEST, "Image"),
                 os.path.join(machine.GUEST, "modules/kvm.ko")),
    "kvm-new": (os.path.join(machine.PEER, "Image"), os.path.join(machine.PEER, "kvm.ko")),
}
MEMORY = 256  # MiB of the guest
LIMIT = 300  # seconds of the host's clock

SCRIPT = """\
insmod /test/kvm.ko || exit 1
echo "host $(uname -r)"
echo "guest begin"
/test/vmm {options} /test/guest.bin '{bootargs}'
echo "guest end $?"
dmesg | grep -E 'BUG|WARNING|Oops|Unable to handle' && exit 1
exit 0
"""


def prepare(host):
    """Fetches and builds what a host needs."""
    if host == "kvm-new":
        done = subprocess.run([os.path.join(machine.TOP, "tools/fetch/peer-kernel")], check=False)
        if done.returncode:
            raise machine.Failure("tools/fetch/peer-kernel could not fetch the newer kernel")
    machine.make("build/guest/initramfs.cpio", "build/guests/kvm/vmm")


def command(folder, host, guest, bootargs="", initrd=None):
    """Packs the host's initramfs; QEMU's command line."""
    prepare(host)
    kernel, module = HOSTS[host]
    script = os.path.join(folder, "kvm")
    options = f"-t {LIMIT}" + (f" -m {MEMORY} -i /test/initrd" if initrd else "")
    with open(script, "w", encoding="ascii") as file:
        file.write(SCRIPT.format(options=options, bootargs=bootargs))
    packed = os.path.join(folder, "kvm.cpio")
    items = [f"{module}=test/kvm.ko", f"{machine.BUILD}/guests/kvm/vmm=test/vmm",
             f"{guest}=test/guest.bin", f"{script}=test/kvm"]
    if initrd:
        items.append(f"{initrd}=test/initrd")
    subprocess.run([os.path.join(machine.TOP, "tools/initramfs"), "-b",
                    os.path.join(machine.GUEST, "initramfs.cpio"), "-o", packed, *items],
                   check=True)
    return machine.bare_command(kernel, packed,
                                "console=ttyS0 panic=-1 quiet tally.name=kvm tally.test=kvm", "1G")


def guest_lines(text):
    """(what the guest printed, the host's release) of the host's console."""
    lines = text.split("\n")
    if "guest begin" not in lines or "guest end 0" not in lines or "kvm end 0" not in lines:
        raise machine.Failure("the guest under KVM did not end well:\n" + "\n".join(lines[-40:]))
    release = re.search(r"^host (\S+)$", text, re.M)
    return (lines[lines.index("guest begin") + 1:lines.index("guest end 0")],
            release.group(1) if release else "unknown")
