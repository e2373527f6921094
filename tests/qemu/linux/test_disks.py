# SPDX-License-Identifier: Apache-2.0
"""A Debian guest with a disk of its own on virtio-mmio (docs/disks.md), whose DMA is trusted: what
it writes is on the disk afterwards. And what tools/run says of a --disk or --net that cannot be."""

import re
import subprocess

import pytest

import bare_guests
from disks import BEGIN, WRITES, content, disk_of
import harness
import plain
from tool_run import start

TREE = """/dts-v1/;
/ {
	compatible = "tally,vm-tree-1";
	images {
		kernel: kernel { data = /incbin/("Image"); };
		drivers: drivers { data = /incbin/("disk.cpio"); };
		bare: bare { data = /incbin/("bare.bin"); };
	};
	vms {
		alpha {
			memory-at = /bits/ 64 <0x90000000 0x10000000>;
			kernel = <&kernel>;
			initrd = <&drivers>;
			bootargs = "console=ttyS0 panic=-1 quiet";
			vcpu0 { harts = <0>; };
			devices {
				disk0 { host = "/soc/virtio_mmio@10001000"; dma = "trusted"; };
				net0 { host = "/soc/virtio_mmio@10002000"; dma = "trusted"; };
				clock { host = "/soc/rtc@101000"; dma = "none"; };
			};
		};
		beta {
			memory = /bits/ 64 <0x1000000>;
			kernel = <&bare>;
			bootargs = "kind=measure rounds=3 length=4000000";
			vcpu0 { harts = <0>; };
		};
	};
};
"""

# Three lives end in the middle of writing.
REBOOTS = BEGIN + """life=$(($(cat /life) + 1))
echo $life >/life
sync
echo "life $life"
if [ $life -lt 4 ]; then
	while :; do head -c 1000000 /dev/urandom >/load; sync; done &
	for round in 1 2 3; do head -c 300000 /dev/urandom >/other; sync; done
	reboot -f
fi
sync
mount -o remount,ro /
poweroff -f
"""

# The drivers of keys, and their devices, that are there when the disk's first process begins.
KEYS = BEGIN + """echo "alpha begin"
grep -oE '^(virtio_input|evdev)' /proc/modules
ls -1 /sys/class/input | grep event
echo "alpha end 0"
poweroff -f
"""
KEYS_TREE = """/dts-v1/;
/ {
	compatible = "tally,vm-tree-1";
	images {
		kernel: kernel { data = /incbin/("Image"); };
		drivers: drivers { data = /incbin/("disk.cpio"); };
	};
	vms {
		alpha {
			memory = /bits/ 64 <0x10000000>;
			kernel = <&kernel>;
			initrd = <&drivers>;
			bootargs = "console=ttyS0 panic=-1 quiet";
			vcpu0 { harts = <0>; };
			devices {
				disk0 { pci = "00:01.0"; dma = "isolated"; };
				%s
			};
		};
	};
};
"""


@pytest.fixture(name="tree")
def made_tree(tmp_path):
    for path in ("build/guest/disk.cpio", "build/guests/bare.bin"):
        plain.make(path)
    path = tmp_path / "vms.dts"
    path.write_text(TREE, encoding="ascii")
    return path


def test_what_a_guest_writes_is_on_its_disk(tmp_path, tree):
    """And its neighbour's counts are exact, and Tally says on whom they rest."""
    logs, disk = tmp_path / "logs", disk_of(tmp_path, WRITES)
    result = harness.run(tree, profile="interactive", options=[
        "--disk", f"alpha={disk}", "--net", "alpha=user", "--log-dir", logs])
    assert result.status == harness.OK, str(result)
    lines = harness.framed((logs / "alpha.log").read_text().split("\n"), "alpha")
    assert "written on the host" in lines and "eth0" in lines
    assert re.fullmatch(r"[0-9a-f]{32}  -\n", content(disk, "/after"))
    subprocess.run(["/usr/sbin/e2fsck", "-fn", disk], check=True, capture_output=True)
    assert "measure: ends, 0 wrong of 24" in (logs / "beta.log").read_text()
    assert "WARNING: disk0 may write all memory" in (logs / "tally.log").read_text()


def test_a_device_is_reset_between_two_lives(tmp_path):
    """What a life leaves in the device's status is gone before the next one looks."""
    disk = tmp_path / "disk"
    disk.write_bytes(bytes(1 << 20))
    bare_guests.boot(
        tmp_path, {"alpha": "kind=virtio"}, status=harness.VM_FAILED, profile="interactive",
        properties='memory-at = /bits/ 64 <0x90000000 0x1000000>; restart = "on-failure"; '
                   'restart-limit = <2>; devices { disk { '
                   'host = "/soc/virtio_mmio@10001000"; dma = "trusted"; }; };',
        options=["--disk", f"alpha={disk}", "--log-dir", tmp_path / "logs"])
    told = re.findall("virtio: .*", (tmp_path / "logs/alpha.log").read_text())
    assert told == ["virtio: status 0, then 3"] * 3


@pytest.mark.long
def test_a_guest_that_reboots_while_it_writes(tmp_path, tree):
    """Each life finds the file system that its journal mends, and the last leaves it whole."""
    logs, disk = tmp_path / "logs", disk_of(tmp_path, REBOOTS)
    result = harness.run(tree, profile="interactive", options=[
        "--disk", f"alpha={disk}", "--net", "alpha=user", "--log-dir", logs])
    assert result.status == harness.OK, str(result)
    lives = re.findall(r"^life (\d)$", (logs / "alpha.log").read_text(), re.M)
    assert lives == ["1", "2", "3", "4"] and content(disk, "/life") == "4\n"
    subprocess.run(["/usr/sbin/e2fsck", "-fn", disk], check=True, capture_output=True)
    assert "measure: ends, 0 wrong of 24" in (logs / "beta.log").read_text()


@pytest.mark.parametrize("device, found", [
    ("", []),
    ('keys { pci = "1af4:1052"; dma = "isolated"; };',
     ["evdev", "virtio_input", "event0"])])
def test_drivers_of_keys_where_there_are_keys(tmp_path, device, found):
    plain.make("build/guest/disk.cpio")
    path, logs = tmp_path / "vms.dts", tmp_path / "logs"
    path.write_text(KEYS_TREE % device, encoding="ascii")
    result = harness.run(path, profile="interactive", options=[
        "--disk", f"alpha={disk_of(tmp_path, KEYS)}", "--log-dir", logs,
        "--device", "virtio-keyboard-pci,addr=05.0,disable-legacy=on,iommu_platform=on"])
    assert result.status == harness.OK, str(result)
    assert harness.framed((logs / "alpha.log").read_text().split("\n"), "alpha") == found


@pytest.mark.parametrize("options, said", [
    (["--disk", "alpha"], "--disk alpha: is not VM=FILE"),
    (["--disk", "alpha=none"], "there is no file none"),
    (["--disk", "beta=x"], "gives beta no (other) device whose name begins with disk"),
    (["--disk", "gamma=x"], "gives gamma no (other) device whose name begins with disk"),
    (["--net", "alpha=tap"], "--net alpha=tap: is not user, or user,hostfwd="),
    (["--net", "alpha=user", "--net", "alpha=user"], "gives alpha no (other) device"),
])
def test_what_cannot_be_is_told(tree, options, said):
    status, text = start("--vms", tree, "--profile", "smp", *options)
    assert status == 2 and said in text


def test_the_exact_profile_has_none(tree):
    status, text = start("--vms", tree, "--disk", "alpha=x")
    assert status == 2 and "--disk needs --profile interactive or smp" in text
