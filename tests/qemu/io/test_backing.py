# SPDX-License-Identifier: Apache-2.0
"""--disk, --net, --device and --iommu of tools/run: what QEMU gets for what the VM tree names, and
one sentence for what it could not use."""

import argparse
import contextlib
import socket
import subprocess

import pytest

import harness  # pylint: disable=unused-import  # it makes tools/ known
from runlib import devices, qemu
from runlib.verdict import Stop

TREE = """/dts-v1/;
/ {
	vms {
		alpha {
			devices {
				disk0 { pci = "00:03.0"; dma = "isolated"; };
				net0 { pci = "00:1F.0"; dma = "isolated"; };
				disk1 { pci = "1af4:1042"; dma = "isolated"; };
				net1 { pci = "1AF4:1041"; dma = "isolated"; };
				edu { pci = "00:01.0"; dma = "isolated"; };
			};
		};
		beta {
			devices {
				disk0 { host = "/soc/virtio_mmio@10003000"; dma = "trusted"; };
				disk1 { host = "/soc/rtc@101000"; dma = "none"; };
			};
		};
		gamma { devices { disk0 { pci = "%s"; dma = "isolated"; }; }; };
	};
};
"""


def blob_of(folder, place="01:01.0"):
    source, blob = folder / "vms.dts", folder / "vms.dtb"
    source.write_text(TREE % place, encoding="ascii")
    subprocess.run(["dtc", "-q", "-O", "dtb", "-o", blob, source], check=True)
    return blob


@pytest.fixture(name="files")
def made_files(tmp_path):
    """Two files for disks."""
    for name in ("one", "two"):
        (tmp_path / name).write_bytes(bytes(512))
    return tmp_path / "one", tmp_path / "two"


def given(blob, disk=(), net=(), device=()):
    """What QEMU gets, without the first two words, which are of virtio-mmio."""
    args = argparse.Namespace(disk=[str(text) for text in disk], net=list(net),
                              device=list(device))
    words = devices.options(args, blob)
    return [word for word in words if "force-legacy" not in word and word != "-global"]


def complaint(blob, **options):
    with pytest.raises(Stop) as stop:
        given(blob, **options)
    assert stop.value.status == harness.USAGE
    return str(stop.value)


def test_what_the_tree_names(tmp_path, files):
    """A function at its slot, one that is named by its kind where there is room, and virtio-mmio.
    None goes past the IOMMU."""
    words = given(blob_of(tmp_path), net=["alpha=user"] * 2, device=["edu,addr=01.0"],
                  disk=[f"alpha={files[0]}", f"beta={files[1]}"])
    isolated = "disable-legacy=on,iommu_platform=on"
    assert words == [
        "-drive", f"file={files[0]},format=raw,if=none,id=disk0",
        "-device", f"virtio-blk-pci,drive=disk0,addr=03.0,{isolated}",
        "-drive", f"file={files[1]},format=raw,if=none,id=disk1",
        "-device", "virtio-blk-device,drive=disk1,bus=virtio-mmio-bus.2",
        "-netdev", "user,id=net0",
        "-device", f"virtio-net-pci,netdev=net0,addr=1f.0,{isolated},romfile=",
        "-netdev", "user,id=net1",
        "-device", f"virtio-net-pci,netdev=net1,addr=02.0,{isolated},romfile=",
        "-device", "edu,addr=01.0"]


def test_by_kind(tmp_path, files):
    """The second disk of alpha is a kind of function: the first slot that nobody names."""
    words = given(blob_of(tmp_path), disk=[f"alpha={file}" for file in files])
    assert words[7].startswith("virtio-blk-pci,drive=disk1,addr=02.0,")


@pytest.mark.parametrize("place", ["01:01.0", "00:01.1", "00:00.0", "00:20.0", "1af4:1041", "x"])
def test_where_this_machine_has_no_function(tmp_path, files, place):
    said = complaint(blob_of(tmp_path, place), disk=[f"gamma={files[0]}"])
    assert said == (f"--disk gamma={files[0]}: disk0 of gamma is {place}, which is no virtio disk "
                    "of this machine")


def test_a_clock_is_no_disk(tmp_path, files):
    said = complaint(blob_of(tmp_path), disk=[f"beta={file}" for file in files])
    assert "disk1 of beta is /soc/rtc@101000, which is no virtio disk of this machine" in said


def test_one_file_for_two(tmp_path, files):
    """By whatever name."""
    link = tmp_path / "link"
    link.symlink_to(files[0])
    said = complaint(blob_of(tmp_path), disk=[f"alpha={files[0]}", f"beta={link}"])
    assert said == f"--disk beta={link}: the file is that of --disk alpha={files[0]}"


def test_a_file_in_use(tmp_path, files):
    """As QEMU locks it: a byte of its range."""
    holder = subprocess.Popen(["/usr/bin/python3", "-c", "import fcntl, sys\n"
                               "file = open(sys.argv[1], 'rb')\n"
                               "fcntl.lockf(file, fcntl.LOCK_SH, 1, 103)\n"
                               "print('locked', flush=True)\nsys.stdin.read()", files[0]],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with contextlib.closing(holder.stdin), holder.stdout:
        holder.stdout.readline()
        said = complaint(blob_of(tmp_path), disk=[f"alpha={files[0]}"])
    holder.wait()
    assert said.endswith(f"another machine that runs has the file {files[0]} for its disk")
    assert given(blob_of(tmp_path), disk=[f"alpha={files[0]}"])


def test_a_file_that_cannot_be_written(tmp_path, files):
    """What root may not write either: a file of the kernel's."""
    assert files
    said = complaint(blob_of(tmp_path), disk=["alpha=/sys/kernel/uevent_seqnum"])
    assert "cannot write /sys/kernel/uevent_seqnum: " in said


def test_an_empty_file(tmp_path):
    (tmp_path / "none").touch()
    assert complaint(blob_of(tmp_path), disk=[f"alpha={tmp_path}/none"]).endswith("none is empty")


def test_a_port_that_is_taken(tmp_path):
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        option = f"alpha=user,hostfwd=tcp:127.0.0.1:{port}-:22"
        assert complaint(blob_of(tmp_path), net=[option]) == (
            f"--net {option}: cannot have port {port} of this computer: Address already in use")
    assert given(blob_of(tmp_path), net=[option])


def test_ports_that_cannot_be(tmp_path):
    blob = blob_of(tmp_path)
    one, other = (f"alpha=user,hostfwd=tcp::2222-:{port}" for port in (22, 80))
    assert complaint(blob, net=[one, other]) == (
        f"--net {other}: tcp port 2222 of this computer is that of --net {one}")
    assert "ports end at 65535" in complaint(blob, net=["alpha=user,hostfwd=tcp::99999-:22"])


@pytest.mark.parametrize("iommu, harts_see", [("auto", True), ("on", True), ("off", False)])
def test_the_iommu(tmp_path, iommu, harts_see):
    """The machine has one where functions are given, or where it is asked for."""
    args = argparse.Namespace(iommu=iommu)
    assert qemu.has_iommu(args, blob_of(tmp_path)) == harts_see


def test_no_iommu_without_functions(tmp_path):
    """The machine of trees without PCI functions is what it was."""
    source, blob = tmp_path / "vms.dts", tmp_path / "vms.dtb"
    source.write_text("/dts-v1/; / { vms { alpha { devices { disk0 { host = \"x\"; }; }; }; }; };",
                      encoding="ascii")
    subprocess.run(["dtc", "-q", "-O", "dtb", "-o", blob, source], check=True)
    assert not qemu.has_iommu(argparse.Namespace(iommu="auto"), blob)
    assert qemu.has_iommu(argparse.Namespace(iommu="on"), blob)
