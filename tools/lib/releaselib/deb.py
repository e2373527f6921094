# SPDX-License-Identifier: Apache-2.0
"""Packages of Debian, and archives, whose bytes depend on nothing but their files."""
import os
import subprocess

from releaselib import files
from tallylib.places import TOP

CONTROL = """Package: {name}
Version: {version}
Architecture: {architecture}
Maintainer: Tally
{relations}
Section: admin
Priority: optional
Installed-Size: {size}
Description: {description}
"""


def size_of(root):
    """In KiB."""
    return sum(os.lstat(os.path.join(path, name)).st_size
               for path, _, names in os.walk(root) for name in names) // 1024 + 1


def with_modes(root):
    """Folders are as readable as files, whatever the umask."""
    for path, _, _ in os.walk(root):
        os.chmod(path, 0o755)


def archive(root, names, path, seconds):
    """A .tar.gz or .tar.xz of folders below root."""
    tar = ["tar", "-C", root, "--sort=name", "--owner=0", "--group=0", "--numeric-owner",
           "--format=gnu", "--mtime=@%d" % seconds]
    packer = "xz -T1 -6" if path.endswith(".xz") else "gzip -n"
    subprocess.run([*tar, "-I", packer, "-cf", path, *names], check=True)


def overrides(root, name):
    """What lintian is told of a package: which of its complaints are meant, and why."""
    files.copy(os.path.join(TOP, "tools/make/lintian", name),
               os.path.join(root, "usr/share/lintian/overrides", name))


def build(root, path, seconds, **fields):
    """The package of all files below root. fields: those of CONTROL."""
    folder = os.path.join(root, "DEBIAN")
    size = size_of(root)
    os.makedirs(folder)
    with open(os.path.join(folder, "control"), "w", encoding="utf-8") as file:
        file.write(CONTROL.format(size=size, **fields))
    os.chmod(os.path.join(folder, "control"), 0o644)
    with_modes(root)
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--threads-max=1", "--build", root,
                    path], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "SOURCE_DATE_EPOCH": str(seconds)})
