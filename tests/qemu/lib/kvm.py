# SPDX-License-Identifier: Apache-2.0
"""Bare guests under Linux's KVM: Debian's kernel on OpenSBI, and the VMM of guests/kvm."""

import re
import subprocess

import harness
import plain

SCRIPT = """\
insmod /test/kvm.ko || exit 1
{runs}
# What a guest did to its host.
dmesg | grep -E 'BUG|WARNING|Oops|Unable to handle' && exit 1
exit 0
"""
RUN = """\
echo 'run{n} begin'
/test/vmm -u /test/guest.bin '{bootargs}'
echo "run{n} end $?"
"""


# {name: the host's kernel and its module}
HOSTS = {"debian": (harness.GUEST / "Image", harness.GUEST / "modules/kvm.ko"),
         "newest": (harness.GUEST / "peer/Image", harness.GUEST / "peer/kvm.ko")}


def run(folder, guest, *bootargs, host="debian", dies=None):
    """Runs a guest of build/guests under KVM, once with each of the bootargs, all in one boot of
    the host. newest: what tools/fetch/peer-kernel has fetched. A list of its lines for each; fails
    if one does not end well, or hurts the host. dies: what a host says that a guest has brought
    down; the lines up to there are that guest's, and the last."""
    kernel, module = HOSTS[host]
    vmm = plain.make("build/guests/kvm/vmm")
    image = plain.make(f"build/guests/{guest}.bin")
    base = plain.make("build/guest/initramfs.cpio")
    script = folder / "kvm"
    runs = "".join(RUN.format(n=n, bootargs=text) for n, text in enumerate(bootargs))
    script.write_text(SCRIPT.format(runs=runs), encoding="utf-8")
    packed = folder / "initramfs-kvm.cpio"
    subprocess.run([harness.ROOT / "tools/initramfs", "-b", base, "-o", packed,
                    f"{module}=test/kvm.ko", f"{vmm}=test/vmm",
                    f"{image}=test/guest.bin", f"{script}=test/kvm"], check=True)
    text = plain.run(kernel,
                     "console=ttyS0 panic=-1 quiet tally.name=kvm tally.test=kvm",
                     initrd=packed, memory="512M", dies=dies)
    if dies and dies in text:
        return up_to_the_end_of_the_host(text.split("\n"))
    lines = harness.framed(text.split("\n"), "kvm")
    return [harness.framed(lines, f"run{n}") for n in range(len(bootargs))]


def up_to_the_end_of_the_host(lines):
    """What each guest printed that was started."""
    runs = []
    for line in lines:
        if re.fullmatch(r"run\d+ begin", line):
            runs.append([])
        elif runs and not line.startswith("["):
            runs[-1].append(line)
    return runs
