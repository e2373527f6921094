# SPDX-License-Identifier: Apache-2.0
"""Small packages with what each tool that fetches looks for, for a mirror of mirrors.py."""

import importlib.machinery
import importlib.util
import io
import lzma
import platform
import re
import subprocess
import sys
import tarfile

from harness import ROOT

LIB = "usr/lib/riscv64-linux-gnu"
# Of no release of Debian's, and later than all of them.
NEWER = "99.3.1+deb99-riscv64"
MODULES = ("arch/riscv/kvm/kvm", "drivers/virtio/virtio_mmio", "drivers/block/virtio_blk",
           "drivers/block/nbd", "drivers/net/virtio_net", "drivers/uio/uio_pci_generic",
           "drivers/virtio/virtio_input", "drivers/input/evdev", "fs/ext4/ext4",
           "fs/nfs/nfsv4", "fs/nfsd/nfsd", "lib/crc32c_generic", "crypto/crc32c",
           "net/core/failover", "net/dns_resolver/dns_resolver", "net/sunrpc/sunrpc",
           "net/netfilter/nft_ct", "net/netfilter/nft_masq", "net/netfilter/nft_chain_nat",
           "net/ipv4/netfilter/nf_defrag_ipv4", "net/ipv6/netfilter/nf_defrag_ipv6")
# The smallest header of an ELF file for RISC-V: it needs no library.
ELF = (b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\0\xf3\0\x01\0\0\0" + bytes(28) +
       b"\x40\0\x38\0\0\0\x40\0\0\0\0\0")
IMAGE = bytes(56) + b"RSC\x05" + bytes(64)


def host():
    """Debian's name for this computer's architecture, and that of its library folders."""
    return {"x86_64": ("amd64", "x86_64-linux-gnu"),
            "aarch64": ("arm64", "aarch64-linux-gnu")}[platform.machine()]


def kernel(mirror, split, release="6.12.48+deb13-riscv64"):
    """A kernel, its modules and the package that names it. split: as from Linux 7 on."""
    modules = f"usr/lib/modules/{release}"
    files = {f"{modules}/kernel/{name}.ko.xz": lzma.compress(b"\0depends=\0") for name in MODULES}
    image = {f"{modules}/vmlinuz" if split else f"boot/vmlinux-{release}": IMAGE}
    if split:
        mirror.add(f"linux-binary-{release}", image)
        mirror.add(f"linux-modules-{release}", files)
        mirror.add(f"linux-image-{release}")
    else:
        mirror.add(f"linux-image-{release}", image | files)
    mirror.add("linux-image-riscv64", Depends=f"linux-image-{release} (= 1)")


# Each of these returns the package that others depend on, or the only one. newer: with a kernel
# later than any that Debian has.
def guest_linux(mirror, newer):
    kernel(mirror, False, *[NEWER] * newer)
    mirror.add("busybox-static", {"usr/bin/busybox": b"none"})
    mirror.add("u-boot-qemu", {"usr/lib/u-boot/qemu-riscv64_smode/u-boot.bin": b"none"}, arch="all")
    programs(mirror, {"nbd-server": "usr/bin/nbd-server", "nftables": "usr/sbin/nft",
                      "dnsmasq-base": "usr/sbin/dnsmasq", "dropbear-bin": "usr/sbin/dropbear"})
    programs(mirror, {"linux-perf": "usr/bin/perf"}, "libc6 (>= 1), python3")
    return "linux-perf"


def programs(mirror, paths, depends="libc6 (>= 1)"):
    """A program of this computer for each of Debian's of {PACKAGE: paths, by spaces}: it wants a
    loader and a C library."""
    with open("/bin/true", "rb") as file:
        program = file.read()
    wants = subprocess.run(["readelf", "-ldW", "/bin/true"], check=True, capture_output=True,
                           text=True).stdout
    names = re.findall(r"\(NEEDED\).*\[(.*)\]|interpreter: .*/(.*)\]", wants)
    for package, words in paths.items():
        mirror.add(package, {path: program for path in words.split()}, Depends=depends)
    mirror.add("libc6", {f"{LIB}/{needed or loader}": ELF for needed, loader in names})


def load_parts(mirror, _):
    programs(mirror, {
        "iperf3": "usr/bin/iperf3", "nfs-common": "usr/sbin/mount.nfs",
        "nfs-kernel-server": "usr/sbin/exportfs usr/sbin/nfsdcld usr/sbin/rpc.mountd"
                             " usr/sbin/rpc.nfsd"})
    mirror.add("libtirpc-common", {"etc/netconfig": b"none"})
    mirror.add("libgcc-s1", {f"{LIB}/libgcc_s.so.1": ELF})
    return "iperf3"


def guest_fdt(mirror, _):
    mirror.add("libfdt-dev", {f"{LIB}/libfdt.a": b"none", "usr/include/libfdt.h": b"none"})
    return "libfdt-dev"


def peer_kernel(mirror, newer):
    kernel(mirror, newer, *[NEWER] * newer)
    return "linux-image-6.12.48+deb13-riscv64"


def kernel_events(mirror, newer):
    name = "linux-source-99.3" if newer else "linux-source-6.12"
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz") as archive:
        for path in ("jevents.py", "arch/riscv/events.json", "arch/test/events.json"):
            member = tarfile.TarInfo(f"{name}/tools/perf/pmu-events/{path}")
            member.size = 4
            archive.addfile(member, io.BytesIO(b"none"))
    mirror.add(name, {f"usr/src/{name}.tar.xz": packed.getvalue()}, arch="all")
    mirror.add("linux-source", arch="all", Depends=name)
    return name


def opensbi(mirror, _):
    mirror.add("opensbi", {f"{LIB}/opensbi/generic/fw_dynamic.bin": b"none"}, arch="all")
    return "opensbi"


def machine(mirror, package, files, version="1"):
    """A program for this computer, and its libraries."""
    arch, folder = host()
    with open("/bin/true", "rb") as file:
        program = file.read()
    mirror.add(package, {path: content or program for path, content in files.items()}, arch,
               version, Depends="libc6")
    mirror.add("libc6", {f"usr/lib/{folder}/{name}": ELF for name in (
        "libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1")}, arch)
    return "libc6"


def qemu(mirror, newer):
    return machine(mirror, "qemu-system-riscv", {"usr/bin/qemu-system-riscv64": None},
                   "2~bpo13+1" if newer else "1")


def herd(mirror, _):
    return machine(mirror, "herdtools7", {"usr/bin/herd7": None,
                                          "usr/share/herdtools7/herd/riscv.cat": b"none"})


def of_disk():
    """What tools/debian-disk asks apt for."""
    loader = importlib.machinery.SourceFileLoader("debian_disk",
                                                  str(ROOT / "tools/debian-disk"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("debian_disk", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return [*module.ALWAYS, *module.PACKAGES.split(",")]


def debian_disk(mirror, _):
    mirror.add("base-files", {"etc/debian_version": b"13\n"}, Essential="yes", Priority="required")
    for name in of_disk():
        if name.startswith("?"):  # a pattern
            continue
        mirror.add(name, Depends="libtest" if name == "udev" else "base-files")
    mirror.add("libtest", {f"{LIB}/libtest.so": b"none"}, Multi_Arch="same")
    return "libtest"


# Tools: the words that start each, its mirror's suites, what the mirror has, a file that is made,
# and the one by which the tool knows that all is.
TOOLS = {
    "fetch/guest-parts linux": (["trixie"], guest_linux, "guest/root/usr/bin/perf",
                                "guest/linux.stamp"),
    "fetch/guest-parts fdt": (["trixie"], guest_fdt, "guest/libfdt.a", "guest/fdt.stamp"),
    "fetch/load-parts": (["trixie"], load_parts, "guest/load/root/usr/bin/iperf3",
                         "guest/load/VERSIONS"),
    "fetch/peer-kernel": (["trixie-backports", "forky"], peer_kernel, "guest/peer/kvm.ko",
                          "guest/peer/VERSIONS"),
    "fetch/kernel-events": (["trixie"], kernel_events, "guest/kernel-events/jevents.py",
                            "guest/kernel-events/VERSIONS"),
    "fetch/peer-platform opensbi sid": (["sid"], opensbi,
                                        "platform/opensbi-sid/fw_dynamic.bin",
                                        "platform/opensbi-sid/VERSIONS"),
    "fetch/peer-platform qemu sid": (["sid"], qemu, "platform/qemu-sid/qemu",
                                     "platform/qemu-sid/VERSIONS"),
    "fetch/peer-platform herd sid": (["sid"], herd, "platform/herd-sid/models/riscv.cat",
                                     "platform/herd-sid/VERSIONS"),
    "debian-disk --size 64M": (["trixie"], debian_disk, "debian/disk.ext4",
                               "debian/disk.ext4.made"),
}
