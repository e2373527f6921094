# SPDX-License-Identifier: Apache-2.0
"""tools/run-debian: each guest of dts/debian-disks.dts and dts/debian-disks-aia.dts has a disk of
its own, which lasts. Here these are small disks with busybox; test_debian_long.py has Debian's."""

import re
import socket
import subprocess

import pytest

from disks import BEGIN, content, disk_of
import harness
import plain
from runlib.guest_disk import file_system
import schemas

TREE = harness.ROOT / "dts/debian-disks.dts"
# Who am I, and how often was I here?
WRITES = BEGIN + """lives=$(($(cat /life) + 1))
echo $lives >/life
echo "$(cat /etc/hostname) begin"
echo "life $lives"
ls -1 /sys/class/net
echo "$(grep -c PCI-MSIX /proc/interrupts) messages"
stat -c 'key %a %u' /etc/ssh/ssh_host_ed25519_key
echo "$(cat /etc/hostname) end 0"
mount -o remount,ro /
poweroff -f
"""


@pytest.fixture(name="disks")
def made_disks(tmp_path):
    """A folder with a disk to be copied."""
    plain.make("build/guest/disk.cpio")
    disk_of(tmp_path, WRITES)
    (tmp_path / "disk.ext4.made").write_text("of this", encoding="ascii")
    (tmp_path / "key").touch()
    return tmp_path


def start(disks, *options):
    """tools/run-debian; status, messages, and each guest's lines."""
    kernel = ["--kernel", harness.KERNEL] if harness.KERNEL else []
    done = subprocess.run([harness.ROOT / "tools/run-debian", "--disks", disks, "--port",
                           str(harness.first_port()), *options, "--", "--log-dir", disks / "logs",
                           *kernel], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False, timeout=harness.GUARD)
    return done.returncode, done.stderr


def lines(disks, name):
    return harness.framed((disks / f"logs/{name}.log").read_text().split("\n"), name)


def check_disk(disk):
    subprocess.run(["/usr/sbin/e2fsck", "-fn", file_system(disk)], check=True, capture_output=True)


@pytest.mark.long  # test_disks.py looks at what one guest writes
def test_what_guests_write_lasts(disks):
    """Two boots of the same disks, without and with an AIA: names, keys and ids are each guest's
    own and stay, and a port that somebody has is nobody's."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        status, said = start(disks, "--port", str(port))
    assert status == harness.OK, said
    assert f"copying {disks}/disk.ext4 for beta" in said
    assert f"alpha: log in with  ssh -F {disks}/ssh_config alpha" in said
    ids = [content(disks / f"{name}.ext4", "/etc/machine-id") for name in ("alpha", "beta")]
    assert ids[0] != ids[1] and all(re.fullmatch(r"[0-9a-f]{32}\n", text) for text in ids)
    config = (disks / "ssh_config").read_text()
    ports = [int(text) for text in re.findall(r"Port (\d+)", config)]
    assert len(set(ports)) == 2 and port not in ports
    assert "0 messages" in lines(disks, "alpha")
    status, said = start(disks, "--aia")
    assert status == harness.OK and "copying" not in said
    for name, own in zip(("alpha", "beta"), ids):
        found = lines(disks, name)
        # Two of the disk, three of the network.
        assert "5 messages" in found
        assert "life 2" in found and "eth0" in found and "key 600 0" in found
        disk = disks / f"{name}.ext4"
        assert content(disk, "/etc/machine-id") == own and content(disk, "/life") == "2\n"
        key = content(disk, "/etc/ssh/ssh_host_ed25519_key.pub").split()[:2]
        assert " ".join([name, *key]) in (disks / "known_hosts").read_text().split("\n")
        check_disk(disk)
    assert content(disks / "disk.ext4", "/life") == "0\n"


def test_what_a_program_is_told(disks):
    """Disks and ports are made ready, and nothing is booted."""
    done = subprocess.run([harness.ROOT / "tools/run-debian", "--disks", disks, "--aia", "--json",
                           "--", "--memory", "2G"], check=True, capture_output=True, text=True)
    told = schemas.read("run-debian", done.stdout)
    config = (disks / "ssh_config").read_text()
    for name, guest in told["guests"].items():
        assert guest["disk"] == str(disks / f"{name}.ext4")
        check_disk(guest["disk"])
        assert guest["ssh"] == ["ssh", "-F", str(disks / "ssh_config"), name]
        assert f"Host {name}\n    HostName 127.0.0.1\n    Port {guest['port']}\n" in config
        assert f"{name}=user,hostfwd=tcp:127.0.0.1:{guest['port']}-:22" in told["command"]
    assert list(told["guests"]) == ["alpha", "beta"]
    assert told["command"][-2:] == ["--memory", "2G"]
    assert str(harness.ROOT / "dts/debian-disks-aia.dts") in told["command"]


def test_a_disk_in_a_partition(tmp_path):
    """What a guest with its own firmware is told from others by."""
    disk_of(tmp_path, WRITES, {"vmlinux": b""}).rename(tmp_path / "bootable.img")
    done = subprocess.run([harness.ROOT / "tools/run-debian", "--disks", tmp_path,
                           "--own-firmware", "--json"], check=True, capture_output=True, text=True)
    guests = schemas.read("run-debian", done.stdout)["guests"]
    assert list(guests) == ["debian"]
    disk = guests["debian"]["disk"]
    assert disk == str(tmp_path / "debian.ext4")
    assert content(disk, "/etc/hostname") == "debian\n"
    assert content(tmp_path / "bootable.img", "/etc/hostname") == ""
    check_disk(disk)


@pytest.fixture(name="no_boot")
def tree_that_is_refused(tmp_path):
    """As dts/debian-disks.dts for tools/run-debian; refused by tools/run."""
    path = tmp_path / "refused.dts"
    path.write_text("""/dts-v1/;
/ { compatible = "tally,vm-tree-1"; images { }; vms { alpha { devices {
	disk { host = "/nowhere"; }; }; }; }; };
""", encoding="ascii")
    return path


def test_older_and_fresh_disks(disks, no_boot):
    """A disk is copied anew when that is asked for, and else kept, and that is told."""
    start(disks, "--vms", no_boot)
    first = content(disks / "alpha.ext4", "/etc/machine-id")
    (disks / "disk.ext4.made").write_text("of that", encoding="ascii")
    said = start(disks, "--vms", no_boot)[1]
    assert "alpha.ext4 is a copy of an older " in said
    assert content(disks / "alpha.ext4", "/etc/machine-id") == first
    said = start(disks, "--vms", no_boot, "--fresh")[1]
    assert "copying " in said and "copy of an older" not in said
    assert content(disks / "alpha.ext4", "/etc/machine-id") != first


def test_what_cannot_be(disks, no_boot, tmp_path):
    """One sentence for each, and no disk is left half made."""
    for options, wanted, said in (
            (["--port", "0"], 2, "--port 0: is not from 1 to 65535"),
            (["more"], 2, "unrecognized arguments: more"),
            (["--aia", "--vms", no_boot], 2, "--vms: not allowed with argument --aia"),
            (["--vms", "none.dts"], 2, "--vms: no such file: none.dts"),
            (["--vms", harness.ROOT / "dts/two-linux.dts"], 2,
             "two-linux.dts gives no VM a device whose name begins with disk"),
            (["--disks", tmp_path / "none", "--vms", no_boot], 1, "disk.ext4; `make debian-disk`"),
            (["--own-firmware"], 1, "bootable.img; `make bootable-disk` makes it"),
            (["--disks", "/proc/none", "--vms", no_boot], 1, "disk.ext4; `make debian-disk`")):
        status, text = start(disks, *options)
        assert status == wanted and said in text.split("\n")[-2], text
    (disks / "disk.ext4").write_bytes(bytes(1 << 20))
    status, text = start(disks, "--vms", no_boot)
    assert status == 1 and "debugfs" in text
    assert not (disks / "alpha.ext4").exists()


def test_only_root_makes_the_disk(tmp_path):
    """Its files are root's."""
    tool, nobody = harness.ROOT / "tools/debian-disk", {
        "user": 65534, "group": 65534, "extra_groups": []}
    if subprocess.run(["test", "-x", tool], check=False, **nobody).returncode:
        pytest.skip(f"other users cannot reach {tool}")
    done = subprocess.run([tool, "-o", tmp_path / "disk"], text=True, capture_output=True,
                          check=False, **nobody)
    assert (done.returncode, done.stderr) == (
        1, "debian disk: stopped: only root can make it, whose files are root's and others'\n")
