# SPDX-License-Identifier: Apache-2.0
"""README.md on Debian 13: a minimal system of that release, with git and make, in which a fresh
clone is made to run, as root. Packages come from this computer's mirror."""

import os
import platform
import shutil
import subprocess

import pytest

import harness

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may change its root"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="README.md is about x86-64")]
# In namespaces of its own: what is mounted and started ends with it.
INSIDE = """mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" &&
exec chroot "$0" sh -c "$1" """
NEEDED_S = 3600


@pytest.fixture(name="system", scope="module")
def minimal_system(tmp_path_factory):
    """The folder of a system: apt, git, make, and a clone in /root/tally."""
    folder = tmp_path_factory.mktemp("debian-13")
    root = folder / "root"
    subprocess.run([harness.ROOT / "tools/fetch/apt-private", folder / "apt", "amd64", "trixie"],
                   check=True)
    subprocess.run(["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase",
                    "--include=git,make", "trixie", root, folder / "apt/tally.sources"], check=True)
    subprocess.run(["git", "clone", "--quiet", harness.ROOT, root / "root/tally"], check=True)
    yield root
    shutil.rmtree(folder)


def inside(system, command):
    """Exit status, output and error output of a command there, without a terminal."""
    done = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", INSIDE, system,
         "cd /root/tally && " + command], check=False, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=NEEDED_S)
    return done.returncode, done.stdout, done.stderr


def test_make_run(system):
    """Nothing of Tally's needs is there before. Both counts are right."""
    assert not (system / "usr/bin/qemu-system-riscv64").exists()
    status, out, error = inside(system, "make run")
    assert status == 0, error
    lines = out.splitlines()
    for vm in ("alpha", "beta"):
        assert f"[{vm}] work executes 50000000 instructions; perf counted 50000000" in lines
    assert "tally: all VMs ended" in lines
    # What only tests need is not installed.
    assert not (system / "usr/bin/pylint").exists()
    assert inside(system, "tools/setup") == (0, "", "")


def test_make_check(system):
    """With both compilers of Debian 13. Checkers of other versions than Debian 12's are named."""
    status, out, error = inside(system, "make check")
    assert status == 0, out + error
    assert "check: clang: ok\n" in out and "FAILED" not in out
    left_out = [line.split()[1] for line in out.splitlines() if ": left out, " in line]
    assert left_out == ["format:", "python:", "shell:", "cppcheck:", "clang-tidy:"]
