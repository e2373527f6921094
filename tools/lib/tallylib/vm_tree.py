# SPDX-License-Identifier: Apache-2.0
"""VM trees: where their images are looked for, the blob that dtc makes of one, its VMs' names."""
import collections
import contextlib
import os
import re
import struct
import subprocess
import tempfile
import typing

from tallylib import places

DTC = os.environ.get("DTC", "dtc")

MAGIC = 0xd00dfeed
LIST = ".d"  # behind the name of a blob: which files are in it
BEGIN_NODE, END_NODE, PROP, NOP = 1, 2, 3, 4


def searched(source, include):
    """Where dtc looks for images and includes, in this order."""
    guests = os.path.join(places.MADE, "guests")
    found = [os.path.dirname(os.path.abspath(source)), *include, os.path.join(places.MADE, "guest"),
             guests]
    if os.path.isdir(guests):
        found += sorted(entry.path for entry in os.scandir(guests) if entry.is_dir())
    return found


def unreadable(path, what="a VM tree is a file, .dts or .dtb"):
    """Why a tree cannot be read, None: it can."""
    if os.path.isdir(path):
        return path + " is a folder; " + what
    if not os.path.exists(path):
        return "no such file: " + path
    if not os.access(path, os.R_OK):
        return path + " cannot be read: permission denied"
    return None


class Source:
    """A .dts as dtc may read it: with numbers for the names of events (pmulib.trees)."""

    def __init__(self, source, include, folder):
        self.folders = searched(source, include)
        # Most trees name none, and then YAML is not asked for.
        self.files = self.resolved(source, folder) if self.may_name_events(source) else {}
        self.path = next(iter(self.files), source)
        self.folders += [os.path.dirname(path) for path in self.files.values()]

    def find(self, name, file):
        """The path of what a file includes, as dtc looks for it."""
        for folder in (os.path.dirname(os.path.abspath(file)), *self.folders):
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                return path
        return None

    def may_name_events(self, source):
        """Is there something in it, or in what it includes, that looks like a name of an event?"""
        waiting, seen = [source], set()
        while waiting:
            path = waiting.pop()
            if path in seen:
                continue
            seen.add(path)
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
            if re.search(r'pmu-events\s*=[^;]*"', text):
                return True
            found = re.findall(r'/include/\s*"([^"\n]+)"', text)
            waiting += filter(None, (self.find(name, path) for name in found))
        return False

    def resolved(self, source, folder):
        """{copy: file} of what is rewritten; BadName."""
        from pmulib import trees  # pylint: disable=import-outside-toplevel
        try:
            return trees.resolve(source, self.find, folder)
        except trees.BadName as error:
            raise BadName(str(error)) from error

    def dtc(self, *options):
        """The command that compiles it."""
        command = [DTC, "-I", "dts", *options]
        for place in self.folders:
            command += ["-i", place]
        return [*command, self.path]

    def back(self, text):
        """What dtc says, of the files that the user knows, as it says it of them."""
        for copy, path in self.files.items():
            known = os.path.relpath(path, self.folders[0])
            text = re.sub(r"\S*" + re.escape(os.path.basename(copy)) + r"\b",
                          lambda _, known=known: known, text)
        return text


class BadName(Exception):
    """A name in a .dts is no event: FILE:LINE: REASON."""


@contextlib.contextmanager
def readable(source, include):
    """Source, with a folder for the time that it is used."""
    with tempfile.TemporaryDirectory() as folder:
        yield Source(source, include, folder)


def compile_tree(source, include, output):
    """Makes the blob `output` of a .dts, and the list for files_of(). Returns dtc's complaint,
    None: it had none. May raise FileNotFoundError: there is no dtc; BadName: a name in it is no
    event."""
    with readable(source, include) as tree:
        done = subprocess.run(tree.dtc("-q", "-O", "dtb", "-o", output, "-d", output + LIST),
                              text=True, check=False, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return tree.back(done.stdout.rstrip()) if done.returncode else None


def files_of(output):
    """The files that dtc has read for a blob of compile_tree(); without those that have a space in
    their path, which dtc does not mark."""
    with open(output + LIST, encoding="utf-8", errors="surrogateescape") as file:
        return file.read().partition(": ")[2].split()


def place_of(refusal, source, include):
    """Where a .dts has what a refusal is about, as "FILE:LINE"; None: it cannot be told."""
    node, _, rest = refusal.partition(": ")
    wanted = rest.partition(": ")[0]
    path, found = [], None
    with readable(source, include) as tree, \
            subprocess.Popen(tree.dtc("-q", "-T", "-O", "dts"), stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        for line in process.stdout:
            # What is between them may be the megabytes of an image.
            text = (line[:300] + line[-300:] if len(line) > 600 else line).decode(errors="replace")
            begin = re.match(r"\s*(?:\w+: )*(\S+) \{ /\* ([^,*]+)", text)
            prop = re.match(r"\s*([^\s=;{}]+)(?: =|;).*/\* ([^,*]+?)(?:,.*)? \*/$", text.rstrip())
            if begin:
                path.append("" if begin[1] == "/" else begin[1])
            elif text.lstrip().startswith("};"):
                path.pop()
            here = ("/".join(path) or "/") == node
            if here and begin:
                found = begin[2].strip()
            elif here and prop and prop[1] == wanted:
                found = prop[2].strip()
        return found and tree.back(found)


def vm_names(path):
    """The names of the VMs of a blob, in their order. [] for what is none: Tally will refuse it."""
    return [found[2] for found, name, _ in walk(path)
            if name is None and found[:2] == ["", "vms"] and len(found) == 3
            and re.fullmatch(r"[a-z0-9-]{1,15}", found[2])]


class Device(typing.NamedTuple):
    """A device that a VM is given: its node's name, and by which property it is named."""
    name: str
    kind: str   # "host": a node of the machine's device tree; "pci": a function
    place: str


def vm_devices(path):
    """The devices that VMs of a blob are given, in their order: {VM: [Device]}."""
    found = {}
    for node, name, value in walk(path):
        if name in ("host", "pci") and len(node) == 5 and (node[1], node[3]) == ("vms", "devices"):
            place = value.rstrip(b"\0").decode("ascii", "replace")
            found.setdefault(node[2], []).append(Device(node[4], name, place))
    return found


def operators(path):
    """The VMs of a blob that are operators: {VM: the names of those that it may ask about}."""
    found, lists = [], {}
    for node, name, value in walk(path):
        if len(node) == 3 and node[1] == "vms" and name == "operator":
            found.append(node[2])
        elif len(node) == 3 and node[1] == "vms" and name == "operator-vms":
            lists[node[2]] = tuple(value.decode("ascii", "replace").split("\0")[:-1])
    return {vm: lists.get(vm, (vm,)) for vm in found}


def images(path):
    """The images of the VMs of a blob: {VM: {"kernel" or "initrd": its bytes}}."""
    data, names, found = {}, {}, {}
    for node, name, value in walk(path):
        if len(node) == 3 and node[1] == "images" and name == "data":
            data[node[2]] = value
        elif len(node) == 3 and node[1] == "images" and name == "phandle":
            names[value] = node[2]
        elif len(node) == 3 and node[1] == "vms" and name in ("kernel", "initrd"):
            found.setdefault(node[2], {})[name] = value
    return {vm: {kind: data[names[phandle]] for kind, phandle in kinds.items()
                 if names.get(phandle) in data} for vm, kinds in found.items()}


def files_needed(path):
    """How many guest interrupt files a hart needs for the VMs of a blob that have an AIA: a vcpu of
    theirs has one on its hart."""
    files, harts = set(), []
    for node, name, value in walk(path):
        if len(node) == 3 and node[1] == "vms" and (name, value) == ("interrupts", b"aia\0"):
            files.add(node[2])
        elif len(node) == 4 and node[1] == "vms" and name == "harts":
            harts.append((node[2], value))
    wanted = collections.Counter(hart for vm, hart in harts if vm in files)
    return max(wanted.values(), default=0)


def walk(path):
    """(node as its list of names, None, None) for each node of a blob, and (node, name, value) for
    each of its properties. It ends early where the blob is damaged: Tally will refuse it."""
    with open(path, "rb") as file:
        blob = file.read()
    try:
        yield from steps(blob)
    except (struct.error, ValueError):
        pass


def steps(blob):
    """The same for a blob in memory; struct.error or ValueError where it is damaged."""
    magic, _, at, strings = struct.unpack_from(">4I", blob)
    if magic != MAGIC:
        return
    node = []
    while True:
        token, = struct.unpack_from(">I", blob, at)
        at += 4
        if token == BEGIN_NODE:
            end = blob.index(b"\0", at)
            node.append(blob[at:end].decode("ascii", "replace"))
            at = end + 4 & ~3
            yield list(node), None, None
        elif token == END_NODE and node:
            node.pop()
        elif token == PROP:
            size, name = struct.unpack_from(">2I", blob, at)
            end = blob.index(b"\0", strings + name)
            name = blob[strings + name:end].decode("ascii", "replace")
            yield list(node), name, blob[at + 8:at + 8 + size]
            at += 8 + (size + 3 & ~3)
        elif token != NOP:
            return
