# SPDX-License-Identifier: Apache-2.0
"""The ext4 file system on a guest's disk, written from outside while nobody uses it."""
import os
import struct
import subprocess
import stat
import tempfile

# Where the partition of a disk begins that tools/debian-disk makes with one.
PARTITION = 1 << 20


class DiskError(Exception):
    """What stops it, in one line."""
    status = 1


class WrongUse(DiskError):
    """The same for what was asked for."""
    status = 2


def run(what, *words):
    """Runs a program, whose output is returned, in bytes; DiskError with what it complains of."""
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
    except FileNotFoundError as error:
        raise DiskError("no %s; `tools/setup debian` installs it" % words[0]) from error
    if done.returncode:
        said = (done.stderr or done.stdout).decode(errors="replace").strip()
        raise DiskError("%s: %s" % (what, said.split("\n")[-1]))
    return done.stdout


def add_table(disk, size):
    """Makes a partition of all from PARTITION on: primary, active, of Linux, without cylinders."""
    os.truncate(disk, size)
    with open(disk, "r+b") as file:
        file.seek(446)
        file.write(struct.pack("<B3sB3sII", 0x80, b"\xff" * 3, 0x83, b"\xff" * 3, PARTITION >> 9,
                               size - PARTITION >> 9))
        file.seek(510)
        file.write(b"\x55\xaa")


def file_system(disk):
    """The name by which e2fsprogs find it: all of the disk, or in its first partition."""
    with open(disk, "rb") as file:
        has_table = file.read(512)[510:] == b"\x55\xaa"
    return "%s?offset=%d" % (disk, PARTITION) if has_table else disk


def e2fs(name):
    """A program of e2fsprogs, which is not in everybody's PATH."""
    path = os.path.join("/usr/sbin", name)
    return path if os.path.exists(path) else name


def commands(root):
    """debugfs's for all below a folder, whose modes they keep; owners are root."""
    for folder, folders, files in os.walk(root):
        for name in sorted(folders + files):
            source = os.path.join(folder, name)
            path = "/" + os.path.relpath(source, root)
            mode = os.lstat(source).st_mode
            if stat.S_ISDIR(mode):
                yield "mkdir " + path  # and if it is there, it stays as it is
                continue
            yield "rm " + path
            if stat.S_ISLNK(mode):
                yield "symlink %s %s" % (path, os.readlink(source))
                continue
            yield "write %s %s" % (source, path)
            yield "sif %s mode 0%o" % (path, mode)
            yield "sif %s uid 0" % path
            yield "sif %s gid 0" % path


def put(disk, root):
    """Puts all that a folder has into the file system, in place of those that are there."""
    name = file_system(disk)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as script:
        script.writelines(command + "\n" for command in commands(root))
        script.flush()
        run(disk, e2fs("debugfs"), "-w", "-f", script.name, name)
    # It ends with 0 whatever happened.
    for folder, _, files in os.walk(root):
        for source in (os.path.join(folder, name) for name in files):
            path = "/" + os.path.relpath(source, root)
            if not os.path.islink(source):
                with open(source, "rb") as file:
                    if run(disk, e2fs("debugfs"), "-R", "cat " + path, name) != file.read():
                        raise DiskError("%s: debugfs could not write %s" % (disk, path))


def put_archive(disk, archive):
    """The same for what a file of tar has."""
    with tempfile.TemporaryDirectory() as root:
        run(archive, "tar", "-C", root, "-xf", archive)
        put(disk, root)
