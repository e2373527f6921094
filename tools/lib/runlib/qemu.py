# SPDX-License-Identifier: Apache-2.0
"""The machine of tools/run: QEMU, its firmware, the VM tree."""
import os
import re
import shutil
import subprocess

from runlib import machines, monitor
from runlib.devices import has_functions
from runlib.verdict import DEPENDENCY, INEXACT, REFUSED, USAGE, Stop, say
from tallylib import own_platform
from tallylib.places import IMAGES, TOP
from tallylib.vm_tree import BadName, compile_tree, files_needed, unreadable

MIB = 1 << 20
# Guest interrupt files of a hart, at most.
MOST_FILES = 7
# Both back ends of the vPMU run on this hart; see docs for what each extension is for.
CPU = "rv64,sscofpmf=on,smcntrpmf=on,ssaia=on,ssccfg=on"
EXACT = ["-icount", "shift=0,sleep=off", "-seed", "1", "-rtc", "base=2026-01-01,clock=vm"]
# Its clock begins with the time of this computer, and goes on with that of the machine.
INTERACTIVE = ["-icount", "shift=0,sleep=on", "-seed", "1", "-rtc", "base=utc,clock=vm"]

BIOS_PLACES = ("/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin",
               "/usr/share/opensbi/lp64/generic/firmware/fw_dynamic.bin",
               "/usr/share/qemu/opensbi-riscv64-generic-fw_dynamic.bin")
U_BOOT = "/usr/lib/u-boot/qemu-riscv64_smode/u-boot.bin"

GOOD_QEMU = ("QEMU versions known to work: 10.0.2 (Debian 12 backports) and 11.1.3 (Debian 13 "
             "backports, or tools/setup qemu).")


def find_qemu(args):
    """QEMU's path, its version checked."""
    path = shutil.which(args.qemu) if args.qemu else own_platform.find_qemu()
    if not path and args.qemu:
        raise Stop(DEPENDENCY, "--qemu %s: there is no such program" % args.qemu)
    if not path:
        raise Stop(DEPENDENCY, "no qemu-system-riscv64; `make setup` installs it")
    try:
        text = subprocess.run([path, "--version"], text=True, check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise Stop(DEPENDENCY, "cannot run %s: %s" % (path, error)) from error
    found = re.search(r"version (\d+)\.(\d+)\.(\d+)", text)
    if args.any_qemu:
        return path
    if not found:
        raise Stop(DEPENDENCY, "%s does not tell its version. %s" % (path, GOOD_QEMU))
    version = tuple(int(n) for n in found.groups())
    name = "QEMU %d.%d.%d" % version
    if version < (10, 0, 0):
        raise Stop(DEPENDENCY, name + " has no counter delegation (Ssccfg). " + GOOD_QEMU)
    if (10, 0, 13) <= version < (10, 1, 0) or version == (11, 1, 2):
        raise Stop(DEPENDENCY, name + " delivers no counter overflow interrupt (bit 13 of sie is "
                   "not writable), so no guest could sample. " + GOOD_QEMU)
    if version not in ((10, 0, 2), (11, 1, 3)):
        say(name + " is untried. " + GOOD_QEMU)
    return path


def find_bios(args):
    """The path of OpenSBI."""
    for path in [args.bios] if args.bios else (own_platform.BIOS, *BIOS_PLACES):
        if os.path.isfile(path):
            return path
    if args.bios:
        raise Stop(DEPENDENCY, "--bios %s: there is no such file" % args.bios)
    raise Stop(DEPENDENCY, "no OpenSBI at %s; `make setup` installs it" % BIOS_PLACES[0])


def blob_of(args, folder):
    """The path of the VM tree as a blob, which --memory has room for."""
    why = unreadable(args.vms)
    if why:
        raise Stop(USAGE, "--vms: " + why)
    blob = args.vms
    if not args.vms.endswith(".dtb"):
        blob = os.path.join(folder, "vms.dtb")
        try:
            complaint = compile_tree(args.vms, args.include, blob)
        except FileNotFoundError as error:
            raise Stop(DEPENDENCY, "no dtc; `make setup` installs it") from error
        except BadName as error:
            raise Stop(REFUSED, str(error)) from error
        if complaint is not None:
            raise Stop(REFUSED, "dtc refuses the VM tree:\n" + complaint)
    if not args.u_boot and not has_room(size(args.memory), os.path.getsize(blob)):
        raise Stop(USAGE, "--memory %s: is too little to load this VM tree, which takes %d MiB"
                   % (args.memory, os.path.getsize(blob) + MIB - 1 >> 20))
    return blob


def size(text):
    """Of --memory in bytes, as QEMU reads it: MiB without a suffix. None: that is no size."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kKmMgGtT]?)", text)
    if not found or not float(found[1]):
        return None
    shift = {"k": 10, "m": 20, "g": 30, "t": 40}[found[2].lower() or "m"]
    return int(float(found[1]) * (1 << shift))


def has_room(memory, blob):
    """Can QEMU place a blob of that size? It does so behind half of the RAM, 128 MiB at most, and
    needs 2 MiB before that for the firmware, and behind it for its own device tree."""
    return 2 * MIB + min(memory // 2, 128 * MIB) + blob <= memory - (MIB >> 4) >> 21 << 21


def u_boot(kernel, blob, append, folder):
    """QEMU's arguments: U-Boot, and a disk that holds what it boots."""
    disk = os.path.join(folder, "disk")
    if not os.path.isfile(U_BOOT):
        raise Stop(DEPENDENCY, "no %s; `make setup` installs it" % U_BOOT)
    done = subprocess.run([os.path.join(TOP, "tools/u-boot-disk"), disk, blob, append], text=True,
                          check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env={**os.environ, "KERNEL": kernel})
    if done.returncode:
        raise Stop(DEPENDENCY, done.stdout.rstrip())
    return ["-kernel", U_BOOT, "-device", "virtio-blk-device,drive=disk", "-drive",
            "file=fat:%s,format=raw,if=none,id=disk,readonly=on" % disk.replace(",", ",,")]


def has_iommu(args, blob):
    """Has the machine an IOMMU?"""
    return args.iommu == "on" or (args.iommu == "auto" and has_functions(blob))


def interrupt_chip(args, blob):
    """What -machine says of the interrupt controller."""
    needed = min(files_needed(blob), MOST_FILES) if args.aia == "auto" else 0
    if args.aia_guests and args.aia != "aplic-imsic" and not needed:
        raise Stop(USAGE, "--aia-guests needs --aia aplic-imsic, or a VM tree in which a VM has "
                   "interrupts = \"aia\": guest interrupt files are in IMSICs")
    chip = "aplic-imsic" if needed else "none" if args.aia == "auto" else args.aia
    files = needed if args.aia_guests is None else args.aia_guests
    return "aia=" + chip + (",aia-guests=%d" % files if files else "")


def virt(args, harts, kernel, blob, append, folder):
    """QEMU's arguments for its machine `virt`."""
    machine = "virt," + interrupt_chip(args, blob)
    if has_iommu(args, blob):
        machine += ",iommu-sys=on"
    command = ["-machine", machine, "-cpu", args.cpu or CPU, "-smp", str(harts),
               "-m", args.memory, "-bios", find_bios(args)]
    if args.u_boot:
        return command + u_boot(kernel, blob, append, folder)
    return command + ["-kernel", kernel, "-initrd", blob, "-append", append]


def command_line(args, blob, folder):
    """QEMU and its arguments."""
    own, made_by = machines.kernel_of(args.machine)
    kernel = args.kernel or own
    if not os.path.isfile(kernel):
        raise Stop(DEPENDENCY, "--kernel %s: there is no such file" % kernel if args.kernel else
                   "no %s; `%s` builds it" % (kernel, made_by))
    append = " ".join(args.append).split()
    if args.backend != "auto":
        append.append("tally.backend=" + args.backend)
    append.append("tally.console=frames")
    if args.profile == "smp":
        append.append(INEXACT)
    if args.ledger:
        append.append("tally.ledger")
    qemu = find_qemu(args)
    harts = (args.harts or 2) if args.profile == "smp" else 1
    command = [qemu, "-display", "none", "-no-reboot"]
    if args.machine == "virt":
        command += virt(args, harts, kernel, blob, " ".join(append), folder)
    else:
        machines.require(qemu, args.machine)
        command += machines.options(args, harts, size(args.memory),
                                    (find_bios(args), kernel, blob), " ".join(append), folder)
    command += {"exact": EXACT, "interactive": INTERACTIVE, "smp": []}[args.profile]
    command += ["-serial", "stdio"]
    command += monitor.qemu_options(folder) if args.keyboard else ["-monitor", "none"]
    if args.ledger:
        command += ["-semihosting-config", "enable=on,target=native,arg="
                    + os.path.abspath(args.ledger).replace(",", ",,")]
    if args.gdb:
        # Not -s, which listens to the whole network.
        command += ["-gdb", "tcp:127.0.0.1:1234", "-S"]
        say("waiting for a debugger: gdb-multiarch %s -ex 'target remote :1234'"
            % os.path.join(IMAGES, "tally.elf"))
    return command
