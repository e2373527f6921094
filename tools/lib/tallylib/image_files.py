# SPDX-License-Identifier: Apache-2.0
"""The files from which the VMs of a machine were booted. tools/run writes them beside its socket,
{VM: {"kernel" or "initrd": {"file": PATH, "sha256": HEX}}}, for tools that name functions. A file
is listed only if its content is the image of the VM tree, so a name is never taken from another
build."""
import contextlib
import hashlib
import json
import os

from tallylib import vm_tree

SUFFIX = ".images"


def place(socket):
    """X.images beside X.sock."""
    return socket.removesuffix(".sock") + SUFFIX


def content(path):
    """The bytes of a file; None: it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def digest(data):
    """By which a content is known again."""
    return hashlib.sha256(data).hexdigest()


def candidates(source, include, blob):
    """Paths of files that may be in a blob: those that dtc has read for it, or, of a tree that was
    compiled before, those that lie where dtc would look."""
    if source != blob:
        return vm_tree.files_of(blob)
    return [entry.path for folder in vm_tree.searched(source, include) if os.path.isdir(folder)
            for entry in os.scandir(folder) if entry.is_file()]


def found(blob, paths):
    """The object for the VMs of a blob."""
    by_size = {}
    for path in paths:
        with contextlib.suppress(OSError):
            by_size.setdefault(os.path.getsize(path), []).append(os.path.abspath(path))
    known = {}  # {id of an image's bytes, which several VMs share: its entry, or None}

    def entry(data):
        if id(data) not in known:
            same = [path for path in by_size.get(len(data), ()) if content(path) == data]
            known[id(data)] = same and {"file": same[0],
                                        "sha256": digest(data)}
        return known[id(data)]
    images = vm_tree.images(blob)
    entries = {vm: {kind: entry(data) for kind, data in kinds.items() if entry(data)}
               for vm, kinds in images.items()}
    return {vm: kinds for vm, kinds in entries.items() if kinds}


def write(socket, images):
    """Beside a run's socket. Without it tools have to be told which files have names."""
    with contextlib.suppress(OSError), open(place(socket), "w", encoding="ascii") as file:
        json.dump(images, file)


def remove(socket):
    """What write() has left."""
    with contextlib.suppress(OSError):
        os.unlink(place(socket))


def is_right(images):
    """Whether an object of a file has this form."""
    return isinstance(images, dict) and all(
        isinstance(kinds, dict) and all(
            isinstance(entry, dict) and isinstance(entry.get("file"), str) and
            isinstance(entry.get("sha256"), str) for entry in kinds.values())
        for kinds in images.values())


def of(machine):
    """Of a machine that is asked (tally_ctl.Machine); {}: nothing is known, as of a board."""
    if machine.path is None:
        return {}
    try:
        with open(place(machine.path), encoding="ascii") as file:
            images = json.load(file)
    except (OSError, ValueError):
        return {}
    return images if is_right(images) else {}
