# SPDX-License-Identifier: Apache-2.0
"""dts/own-firmware.dts: U-Boot is the kernel of a VM, and boots what the VM's disk holds. Here that
is a small disk; test_own_firmware_long.py has Debian's."""

from disks import BEGIN, disk_of
import harness
import plain

# As u-boot-menu writes it on Debian's.
CONF = b"""default l0
menu title U-Boot menu
prompt 0
timeout 50


label l0
	menu label Debian GNU/Linux 13 (trixie)
	linux /boot/vmlinux
	initrd /boot/initrd.img
	fdtdir /usr/lib/linux-image/
	
	append root=LABEL=tally ro quiet"""
TELLS = BEGIN + """echo "debian begin"
cat /proc/cmdline
ls -d /proc/device-tree/soc/pci@*
ls -1 /sys/bus/pci/devices
grep -c " / ext4 " /proc/mounts
echo "debian end 0"
poweroff -f
"""
TREE = """/include/ "%s"
/ { vms { debian { restart-limit = <0>; }; }; };
"""


def test_what_the_disk_holds(tmp_path):
    initrd = plain.make("build/guest/disk.cpio").read_bytes()
    disk = disk_of(tmp_path, TELLS, {
        "extlinux/extlinux.conf": CONF, "initrd.img": initrd,
        "vmlinux": (harness.GUEST / "Image").read_bytes()})
    tree, logs = tmp_path / "vms.dts", tmp_path / "logs"
    tree.write_text(TREE % (harness.ROOT / "dts/own-firmware.dts"), encoding="ascii")
    # U-Boot waits for keys in a loop, which takes long where an instruction takes a nanosecond.
    result = harness.run(tree, profile="smp", options=[
        "--harts", 1, "--disk", f"debian={disk}", "--net", "debian=user", "--log-dir", logs])
    lines = (logs / "debian.log").read_text().split("\n")
    assert result.status == harness.OK, lines
    for line in ("Scanning virtio 0:1...", "Found /boot/extlinux/extlinux.conf",
                 "Retrieving file: /boot/vmlinux", "Starting kernel ..."):
        assert line in lines
    assert harness.framed(lines, "debian") == [
        "root=LABEL=tally ro quiet", "/proc/device-tree/soc/pci@30000000", "0000:00:01.0",
        "0000:00:02.0", "0000:00:1e.0", "1"]
