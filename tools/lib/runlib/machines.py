# SPDX-License-Identifier: Apache-2.0
"""Machines of QEMU other than `virt`: of boards (docs/boards.md)."""
import os
import subprocess
from typing import NamedTuple

from runlib.verdict import DEPENDENCY, Stop
from tallylib.places import IMAGES, SOURCES

MIB = 1 << 20
# Of a machine whose QEMU gives no device tree: the program that hands ours to OpenSBI, and the tree
# behind it. Tally copies that before it uses this memory. The Makefile has the first, too.
START, START_AT = os.path.join(IMAGES, "start.elf"), 30 * MIB
TREE_AT = START_AT + 4096


class Machine(NamedTuple):
    """ram: where it begins; harts: as many as QEMU has of them, at most; tree: its source, None:
    QEMU has one."""
    ram: int
    harts: int
    tree: str = None


MACHINES = {
    "xiangshan-kunminghu": Machine(0x80000000, 16, "dts/boards/xiangshan-kunminghu.dts"),
    "tt-atlantis": Machine(0, 8),
}
ONLY_VIRT = (("--u-boot", "u_boot", False), ("--iommu", "iommu", "auto"), ("--aia", "aia", "auto"),
             ("--aia-guests", "aia_guests", None), ("--cpu", "cpu", None), ("--disk", "disk", []),
             ("--net", "net", []), ("--device", "device", []))


def kernel_of(name):
    """Tally for that machine, and what makes it."""
    ram = MACHINES[name].ram if name in MACHINES else 0x80000000
    if ram == 0x80000000:
        return os.path.join(IMAGES, "tally.bin"), "make"
    path = "board-0x%x/tally.bin" % ram
    return os.path.join(IMAGES, path), "make BOARD_RAM=0x%x build/%s" % (ram, path)


def complaint(args):
    """What such a machine does not have, of what was asked for; None: nothing."""
    if args.machine not in MACHINES:
        return None
    for option, name, default in ONLY_VIRT:
        if getattr(args, name) != default:
            return "%s needs --machine virt" % option
    most = MACHINES[args.machine].harts
    if args.harts is not None and args.harts > most:
        return "--harts %d: %s has %d at most" % (args.harts, args.machine, most)
    return None


def require(qemu, name):
    """That QEMU has the machine."""
    known = subprocess.run([qemu, "-machine", "help"], check=False, text=True,
                           stdout=subprocess.PIPE).stdout
    if name not in (line.split(" ", 1)[0] for line in known.splitlines()):
        raise Stop(DEPENDENCY, "%s has no machine %s, QEMU 11.1.3 has: "
                   "`tools/fetch/peer-platform qemu sid` fetches it, for --qemu "
                   "build/platform/qemu-sid/qemu-system-riscv64" % (qemu, name))


def loaded(path, address):
    """QEMU's options for a file that is in memory from the beginning."""
    return ["-device", "loader,file=%s,addr=0x%x,force-raw=on" % (path.replace(",", ",,"), address)]


def host_tree(machine, harts, memory, chosen, folder):
    """The tree of a machine with so many harts, and RAM of that size."""
    path = os.path.join(folder, "host.dtb")
    subprocess.run(["dtc", "-q", "-I", "dts", "-O", "dtb", "-o", path,
                    os.path.join(SOURCES, machine.tree)], check=True)
    edits = [("-t", "x", "/memory@%x" % machine.ram, "reg", "%x" % (machine.ram >> 32),
              "%x" % (machine.ram & 0xffffffff), "%x" % (memory >> 32),
              "%x" % (memory & 0xffffffff)), *chosen,
             *(("-t", "s", "/cpus/cpu@%x" % hart, "status", "disabled")
               for hart in range(harts, machine.harts))]
    for kind, form, node, *value in edits:
        subprocess.run(["fdtput", kind, form, path, node, *value], check=True)
    return path


def without_tree(machine, harts, memory, files, append, seed, folder):
    """QEMU's options for a machine that has no device tree. files: firmware, Tally, VM tree."""
    bios, kernel, blob = files
    if not os.path.isfile(START):
        raise Stop(DEPENDENCY, "no %s; `make` builds it" % START)
    vms = machine.ram + min(memory // 2, 128 * MIB)
    end = vms + os.path.getsize(blob)
    tree = host_tree(machine, harts, memory, [
        ("-t", "x", "/chosen", "linux,initrd-start", "%x" % (vms >> 32), "%x" % (vms & 0xffffffff)),
        ("-t", "x", "/chosen", "linux,initrd-end", "%x" % (end >> 32), "%x" % (end & 0xffffffff)),
        ("-t", "bx", "/chosen", "rng-seed", *("%02x" % byte for byte in seed)),
        ("-t", "s", "/chosen", "bootargs", append)], folder)
    start = machine.ram + START_AT
    return ["-bios", bios, "-device", "loader,file=" + START.replace(",", ",,"),
            *loaded(kernel, machine.ram + 2 * MIB), *loaded(blob, vms),
            *loaded(tree, machine.ram + TREE_AT),
            *(word for hart in range(harts)
              for word in ("-device", "loader,addr=0x%x,cpu-num=%d" % (start, hart)))]


def seed_of(profile):
    """Of /chosen/rng-seed: the same in every run of a profile that repeats."""
    return os.urandom(32) if profile == "smp" else bytes(range(1, 33))


def options(args, harts, memory, files, append, folder):
    """QEMU's options for one of these machines. files: firmware, Tally, VM tree."""
    machine = MACHINES[args.machine]
    common = ["-machine", args.machine, "-smp", str(harts), "-m", args.memory]
    if machine.tree:
        return common + without_tree(machine, harts, memory, files, append, seed_of(args.profile),
                                     folder)
    bios, kernel, blob = files
    return common + ["-bios", bios, "-kernel", kernel, "-initrd", blob, "-append", append]
