# SPDX-License-Identifier: Apache-2.0
"""Names for the addresses of samples: which file has them is told on the command line, or is the
one from which the VM was booted.

An address gets a name only if it is known whose it is. So where the kernel of a guest runs has to
be known: if it can relocate itself, this is given, or found by its samples (slides.py).
"""
import re

from perflib import booted, slides, symbols
from tallylib import printable

KERNEL = re.compile(r"(?:(?P<vm>[^=/@:]+)=)?(?P<file>.+?)(?:@(?P<at>0x[0-9a-fA-F]+))?")
USER = re.compile(r"(?P<vm>[^=/@:]+)(?::(?P<satp>0x[0-9a-fA-F]+|0|[1-9][0-9]*))?=(?P<file>.+?)"
                  r"(?:@(?P<at>0x[0-9a-fA-F]+))?")


def add_options(parser):
    parser.add_argument("--symbols", action="append", default=[], metavar="[VM=]FILE[@ADDRESS]",
                        help="of the kernel of this VM, or of all: its Image, vmlinux, System.map "
                             "or a copy of its /proc/kallsyms; ADDRESS: where its _text is, if "
                             "it relocates itself")
    parser.add_argument("--user", action="append", default=[],
                        metavar="VM[:SATP]=FILE[@ADDRESS]",
                        help="of a program of this VM, or of the one in this address space (satp "
                             "of the samples): an ELF file; ADDRESS: where it is loaded, if it "
                             "may be anywhere")


def parsed(pattern, option, text):
    match = pattern.fullmatch(text)
    if match is None:
        raise symbols.BadSymbols(f"{option} {text}: is not of that form; see --help")
    # Its name goes where those of functions go, but perf has to find the file by it.
    if printable.line(match["file"]) != match["file"]:
        raise symbols.BadSymbols(f"{option} {text}: the file's name has characters that cannot be "
                                 "shown: rename it")
    at = match["at"] and int(match["at"], 16)
    return match, at


def value(address):
    return int(address, 16) if isinstance(address, str) else address


def sampled(objects, modes=("kernel", "user")):
    """The VMs that have samples of these modes, in the order of the file's first line: that of the
    samples differs between two recordings of the same."""
    found = {o["vm"] for o in objects if o.get("type") == "sample" and o["mode"] in modes}
    return [vm for vm in objects[0]["vms"] if vm in found]


class Naming:
    """By the options --symbols and --user. objects: of the whole file of samples, by which it is
    found where kernels run; None: then it has to be given. complaints: sentences, for what has no
    names although a file was given."""

    def __init__(self, args, objects=None):
        self.files = {}
        self.kernels = {}  # {VM, or None for all others: Symbols}
        self.users = {}  # {(VM, satp, or None for all others): [Symbols]}
        self.complaints = []
        for text in args.symbols:
            self.add_kernel(text)
        for text in args.user:
            self.add_user(text)
        if objects is not None:
            self.tell_strangers(objects[0].get("vms"))
            self.add_images(objects[0].get("images", {}))
            self.place(objects)
            self.tell_nameless(objects)

    def load(self, file):
        """Each file once; where it is to be is another matter."""
        if file not in self.files:
            self.files[file] = symbols.load(file)
        return self.files[file]

    def add_kernel(self, text):
        match, at = parsed(KERNEL, "--symbols", text)
        if match["vm"] in self.kernels:
            raise symbols.BadSymbols(f"--symbols {text}: there is another file for it")
        found = self.load(match["file"])
        if at is not None:
            found = found.moved(at - found.text)
        self.kernels[match["vm"]] = found

    def add_images(self, images):
        """Kernels of the VMs for which no file is given: those of image_files.of(), if they are
        what they were at boot."""
        for vm, kinds in images.items():
            if "kernel" not in kinds or vm in self.kernels or None in self.kernels:
                continue
            try:
                entry = kinds["kernel"]["file"], kinds["kernel"]["sha256"]
                if entry not in self.files:
                    self.files[entry] = booted.symbols_of(*entry)
                self.kernels[vm] = self.files[entry]
            except symbols.BadSymbols as error:
                self.kernels[vm] = None
                self.complaints.append(f"VM {vm}: no names of its kernel: {error}; give --symbols "
                                       f"{vm}=FILE")

    def tell_nameless(self, objects):
        """How to get names, if there is no file for a kernel that was sampled."""
        vms = [vm for vm in sampled(objects, ("kernel",)) if vm not in self.kernels]
        if vms and None not in self.kernels:
            self.complaints.append(
                f"no names of the kernel of {', '.join(vms)}: give --symbols [VM=]FILE, its Image, "
                "vmlinux or System.map")

    def add_user(self, text):
        match, at = parsed(USER, "--user", text)
        found = self.load(match["file"])
        if found.movable and at is None:
            raise symbols.BadSymbols(f"--user {text}: the program may be loaded anywhere: say "
                                     f"where, as {text}@ADDRESS (of its first mapping)")
        if at is not None:
            found = found.moved(at - found.text)
        satp = match["satp"] and int(match["satp"], 0)
        self.users.setdefault((match["vm"], satp), []).append(found)

    def tell_strangers(self, vms):
        told = [vm for vm in (*self.kernels, *(vm for vm, _ in self.users)) if vm is not None]
        for vm in dict.fromkeys(told):
            if vms is not None and vm not in vms:
                self.complaints.append(f"VM {vm}: a file is given for it, but it was not sampled")

    def place(self, objects):
        """Finds where the kernels are that may be anywhere."""
        for vm in sampled(objects):
            found = self.kernels.get(vm, self.kernels.get(None))
            if found is None or not found.movable:
                continue
            try:
                mine = [o for o in objects if o.get("vm") == vm]
                self.kernels[vm] = found.moved(slides.find(found, mine))
            except slides.Unknown as error:
                self.complaints.append(
                    f"VM {vm}: no names of its kernel: {error}; give --symbols "
                    f"{vm}={found.path}@ADDRESS, where /proc/kallsyms of the guest has _text")
                self.kernels[vm] = None

    def kernel(self, vm):
        """Symbols; None: there are none, or it is not known where they are."""
        found = self.kernels.get(vm, self.kernels.get(None))
        return None if found is None or found.movable else found

    def programs(self, vm, satp):
        return self.users.get((vm, satp), self.users.get((vm, None), []))

    def find(self, sample, address):
        """(name, start) or None. What is not where the sample was has been returned to, so it is
        behind a call: what counts is where that is."""
        at = value(address)
        at -= at != value(sample["ip"])
        if sample["mode"] == "user":
            known = self.programs(sample["vm"], value(sample["satp"]))
        else:
            known = [self.kernel(sample["vm"])]
        for each in known:
            found = each and each.find(at)
            if found:
                return found
        return None

    def name(self, sample, address):
        """Of a function, or the address as it stands."""
        found = self.find(sample, address)
        if found:
            return found[0]
        return address if isinstance(address, str) else f"{address:#x}"
