# SPDX-License-Identifier: Apache-2.0
"""The ext4 file system on a guest's disk, written from outside while nobody uses it."""
import os
import subprocess
import stat
import tempfile


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
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as script:
        script.writelines(command + "\n" for command in commands(root))
        script.flush()
        run(disk, e2fs("debugfs"), "-w", "-f", script.name, disk)
    # It ends with 0 whatever happened.
    for folder, _, files in os.walk(root):
        for source in (os.path.join(folder, name) for name in files):
            path = "/" + os.path.relpath(source, root)
            if not os.path.islink(source):
                with open(source, "rb") as file:
                    if run(disk, e2fs("debugfs"), "-R", "cat " + path, disk) != file.read():
                        raise DiskError("%s: debugfs could not write %s" % (disk, path))


def put_archive(disk, archive):
    """The same for what a file of tar has."""
    with tempfile.TemporaryDirectory() as root:
        run(archive, "tar", "-C", root, "-xf", archive)
        put(disk, root)
