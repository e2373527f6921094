# SPDX-License-Identifier: Apache-2.0
"""A minimal Debian in a folder, with nothing of Tally's: what a stranger's computer has. Packages
come from this computer's mirror. Only root can make one and type there."""

import contextlib
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

import pexpect
import pytest

import harness

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may change its root")
on_x86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="README.md is about x86-64")

# In namespaces of its own: what is mounted and started there ends with it. /dev is this computer's.
INSIDE = """mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" &&
exec chroot "$0" sh -c "cd $1 && $2" """
# What a login would set; nothing of this session's.
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
               "HOME": "/root", "TERM": "xterm", "NO_COLOR": "1", "LANG": "C.UTF-8"}
# Ends what hangs: packages, guests and a disk are fetched and made.
GUARD = 4 * 3600


class System:
    """One of them. root: its folder here. folder: where commands are typed."""

    def __init__(self, root, folder="/root"):
        self.root, self.folder = root, folder

    def words(self, command):
        """The words that run a command of the shell there."""
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", INSIDE,
                str(self.root), self.folder, command]

    def typed(self, command):
        """Exit status, output and error output of a command, without a terminal."""
        done = subprocess.run(self.words(command), check=False, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, env=ENVIRONMENT, timeout=GUARD)
        return done.returncode, done.stdout, done.stderr

    def says(self, command):
        """Lines of a command that ends well."""
        status, out, error = self.typed(command)
        assert status == 0, f"{command}: {status}\n{out}\n{error}"
        return out.splitlines()

    @contextlib.contextmanager
    def terminal(self, command):
        """A pexpect child: a command on a terminal, ended with this."""
        words = self.words(command)
        child = pexpect.spawn(words[0], words[1:], timeout=GUARD, encoding="utf-8",
                              codec_errors="replace", dimensions=(24, 200), echo=False,
                              env=ENVIRONMENT)
        try:
            yield child
        finally:
            child.close(force=True)


@contextlib.contextmanager
def debian(suite, *packages, more=()):
    """The System of a release, with packages; gone at the end. more: suites that its apt knows,
    too."""
    # Not below pytest's folder, which only its user may enter: apt has another one for downloads.
    folder = Path(tempfile.mkdtemp(prefix=f"tally-{suite}-"))
    folder.chmod(0o755)
    try:
        subprocess.run([harness.ROOT / "tools/fetch/apt-private", folder / "apt", "amd64", suite,
                        *more], check=True)
        subprocess.run(["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase",
                        "--include=" + ",".join(packages), suite, folder / "root",
                        folder / "apt/tally.sources"], check=True)
        yield System(folder / "root")
    finally:
        shutil.rmtree(folder)
