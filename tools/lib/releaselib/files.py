# SPDX-License-Identifier: Apache-2.0
"""Files as they are installed: fixed modes, and tools that write nothing beside themselves."""
import os
import shutil
import subprocess

from tallylib.places import TOP

PYTHON = b"#!/usr/bin/python3\n"


def epoch():
    """The time that files get, in seconds: of the last commit, or what SOURCE_DATE_EPOCH says. In
    the folder of an unpacked source archive files have it."""
    if os.environ.get("SOURCE_DATE_EPOCH"):
        return int(os.environ["SOURCE_DATE_EPOCH"])
    done = subprocess.run(["git", "-C", TOP, "log", "-1", "--format=%ct"], capture_output=True,
                          text=True, check=False)
    if done.returncode == 0:
        return int(done.stdout)
    return int(os.stat(os.path.join(TOP, "core/version.h")).st_mtime)


def write(path, data, mode=0o644):
    """A file with these bytes, its folders made."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, mode)


def copy(source, target):
    """A file with all folders above it. A program in Python leaves no bytecode."""
    with open(source, "rb") as file:
        data = file.read()
    if data.startswith(PYTHON):
        data = PYTHON[:-1] + b" -B\n" + data[len(PYTHON):]
    write(target, data, 0o755 if os.access(source, os.X_OK) else 0o644)


def copy_all(source, target):
    """A folder."""
    for path, folders, names in os.walk(source):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            one = os.path.join(path, name)
            copy(one, os.path.join(target, os.path.relpath(one, source)))


def tools(root, prefix, programs, libs):
    """Tools with their libraries below PREFIX/lib/tally, where places.py finds the note that they
    are installed. programs: {tool below tools/: its name in PREFIX/bin, None: it has none}."""
    usr = root + prefix
    top = os.path.join(usr, "lib/tally")
    write(os.path.join(top, "installed"), (prefix + "\n").encode())
    for tool, name in programs.items():
        copy(os.path.join(TOP, "tools", tool), os.path.join(top, "tools", tool))
        if name:
            os.makedirs(os.path.join(usr, "bin"), exist_ok=True)
            link = os.path.join(usr, "bin", name)
            if os.path.lexists(link):
                os.remove(link)
            os.symlink("../lib/tally/tools/" + tool, link)
    for lib in libs:
        shutil.rmtree(os.path.join(top, "tools/lib", lib), ignore_errors=True)
        copy_all(os.path.join(TOP, "tools/lib", lib), os.path.join(top, "tools/lib", lib))
    copy(os.path.join(TOP, "core/version.h"), os.path.join(usr, "share/tally/core/version.h"))
