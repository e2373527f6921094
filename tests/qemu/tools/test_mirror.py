# SPDX-License-Identifier: Apache-2.0
"""What tools fetch with, and a mirror of our own in each state that Debian's has been found in: its
index fits, has newer packages, names one that is gone, does not fit its signature. Each tool ends
in success or in one sentence, and nothing is asked beyond this computer."""

import hashlib
import os
import platform
import re
import shutil
import subprocess

import pytest

import harness
import mirrors
import packages
from packages import TOOLS

DISK = "debian-disk --size 64M"
RELEASE = platform.freedesktop_os_release().get("VERSION_CODENAME")
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes a root's files")


@pytest.fixture(name="key", scope="module")
def signing_key():
    key = mirrors.Key()
    yield key
    key.close()


@pytest.fixture(name="mirror")
def own_mirror(tmp_path, key):
    folder = tmp_path / "mirror"
    folder.mkdir()
    with mirrors.served(folder, key) as mirror:
        yield mirror


@pytest.fixture(name="top")
def own_top(tmp_path):
    """A clone of the tools, which works in a build folder of its own."""
    top = tmp_path / "top"
    shutil.copytree(harness.ROOT / "tools", top / "tools",
                    ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(harness.ROOT / "guests/debian", top / "guests/debian")
    return top


def run(top, mirror, command, **more):
    """A tool with that mirror; QEMU is a script that says what a second stage does."""
    for path in ("build/guest/Image", "build/guest/disk.cpio"):
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).touch()
    fake = top / "bin/qemu-system-riscv64"
    fake.parent.mkdir(exist_ok=True)
    fake.write_text("#!/bin/sh\necho second stage end 0\n", encoding="ascii")
    fake.chmod(0o755)
    name, *words = command.split()
    return subprocess.run(
        [top / "tools" / name, *words], check=False, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=harness.GUARD, env={
            **mirror.environment(), "PATH": f"{top}/bin:/usr/sbin:{os.environ['PATH']}", **more})


def ends_well(done, top, command):
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    for made in TOOLS[command][2:]:
        assert (top / "build" / made).stat().st_size


def ends_in_words(done, top, command, words):
    """The last line tells it, no Python is to be seen, and what is half made is not taken for
    more."""
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr and "unauthenticated" not in done.stderr
    assert re.search(words, done.stderr.strip().split("\n")[-1]), done.stderr
    assert not (top / "build" / TOOLS[command][3]).exists()


every_tool = pytest.mark.parametrize("command", [
    pytest.param(command, marks=[ROOT_ONLY] * (command == DISK), id=command.split(" --")[0])
    for command in TOOLS])


@every_tool
def test_an_index_that_fits(top, mirror, command):
    suites, fill, *_ = TOOLS[command]
    fill(mirror, False)
    mirror.publish(*suites)
    ends_well(run(top, mirror, command), top, command)


@pytest.mark.parametrize("command, package", [
    ("fetch/guest-parts linux", "linux-image-" + packages.NEWER),
    ("fetch/peer-kernel", "linux-binary-" + packages.NEWER),
    ("fetch/kernel-events", "linux-source-99.3")])
def test_a_kernel_newer_than_any(top, mirror, command, package):
    suites, fill, *_ = TOOLS[command]
    fill(mirror, True)
    mirror.publish(*suites)
    ends_well(run(top, mirror, command), top, command)
    versions = (top / "build" / TOOLS[command][3]).with_name("VERSIONS")
    assert f" {package} 1 " in versions.read_text()


def test_a_package_is_the_same_whenever_it_is_made(mirror):
    """Two suites may name it: ar's header has no time of its own."""
    mirror.add("libc6")
    assert mirror.deb("libc6").read_bytes()[24:36].split() == [b"1"]


def test_a_release_s_backports(top, mirror):
    """The program comes from there, what it depends on from the release."""
    packages.qemu(mirror, False)
    mirror.publish("trixie")
    packages.qemu(mirror, True)
    mirror.publish("trixie-backports", without=["libc6"])
    command = "fetch/peer-platform qemu trixie-backports"
    done = run(top, mirror, command)
    assert done.returncode == 0, done.stderr
    folder = top / "build/platform/qemu-trixie-backports"
    assert [line.split()[1:3] for line in (folder / "VERSIONS").read_text().splitlines()] == [
        ["libc6", "1"], ["qemu-system-riscv", "2~bpo13+1"]]
    assert (folder / "qemu").stat().st_size
    # Without the release it cannot be had.
    shutil.rmtree(folder)
    shutil.rmtree(mirror.folder / "dists/trixie")
    done = run(top, mirror, command)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.endswith(
        "qemu of trixie-backports cannot be had: no index of trixie-backports and trixie\n")
    assert not folder.joinpath("VERSIONS").exists()


@every_tool
def test_a_package_that_is_gone(top, mirror, command):
    """The index names it, the mirror has no such file."""
    suites, fill, *_ = TOOLS[command]
    gone = fill(mirror, False)
    mirror.publish(*suites)
    mirror.deb(gone).unlink()
    done = run(top, mirror, command)
    ends_in_words(done, top, command,
                  rf"Failed to fetch \S*/{re.escape(gone.replace('+', '%2b'))}\.deb .*404")


@every_tool
def test_a_package_that_no_index_names(top, mirror, command):
    """Others depend on it."""
    suites, fill, *_ = TOOLS[command]
    gone = fill(mirror, False)
    mirror.publish(*suites, without=[gone])
    ends_in_words(run(top, mirror, command), top, command, {
        "fetch/guest-parts linux": r"has no package linux-perf for riscv64$",
        "fetch/peer-platform qemu sid":
            "no package that qemu-system-riscv depends on has libc.so.6$",
        "fetch/peer-platform herd sid":
            "no package that herdtools7 depends on has libc.so.6$",
        DISK: "mmdebstrap failed: Unable to correct problems",
    }.get(command, rf"has no package {re.escape(gone)} for \w+$"))


@every_tool
@pytest.mark.parametrize("known", [False, True])
def test_an_index_between_two_signatures(top, mirror, command, known):
    """The signature is the next one's already. known: tools/fetch/signed-indexes.txt has the hash
    of the index, for the first suite that a tool looks into."""
    suites, fill, *_ = TOOLS[command]
    fill(mirror, False)
    mirror.publish(*suites)
    mirror.tear(*suites)
    arch = packages.host()[0] if "platform" in command else "riscv64"
    digest = hashlib.sha256(mirror.index(suites[0], arch).read_bytes()).hexdigest()
    (top / "tools/fetch/signed-indexes.txt").write_text(
        f"{suites[0]} {arch} {digest if known else digest[::-1]} 13.0\n", encoding="ascii")
    done = run(top, mirror, command)
    if known:
        ends_well(done, top, command)
    else:
        ends_in_words(done, top, command, "cannot fetch and verify the package index of|no index "
                      "of " + suites[-1])
        assert "cannot fetch and verify the package index of" in done.stderr


def shown(disk, path):
    """A file of a disk."""
    return subprocess.run(["/usr/sbin/debugfs", "-R", f"cat {path}", disk], check=True,
                          capture_output=True, text=True).stdout


@ROOT_ONLY
@pytest.mark.parametrize("known", [False, True])
def test_a_disk_of_either_index(top, mirror, key, known):
    """Signed, or known by its hash; of a mirror that is a folder as well. The guest's own apt is
    left with the keys of the mirror, and trusts nothing that they have not signed."""
    mirror.address = f"file:{mirror.folder}"
    packages.debian_disk(mirror, False)
    mirror.publish("trixie")
    if known:
        mirror.tear("trixie")
        digest = hashlib.sha256(mirror.index("trixie").read_bytes()).hexdigest()
        (top / "tools/fetch/signed-indexes.txt").write_text(f"trixie riscv64 {digest} 13.0\n",
                                                            encoding="ascii")
    ends_well(run(top, mirror, DISK), top, DISK)
    assert bool(list((top / "build/debian/apt/lists").glob("*_InRelease"))) != known
    disk = top / "build/debian/disk.ext4"
    status = shown(disk, "/var/lib/dpkg/status")
    assert status.count("\nStatus: install ok unpacked\n") == len(mirror.stanzas)
    assert shown(disk, "/etc/debian_version") == "13\n"
    sources = shown(disk, "/etc/apt/sources.list.d/0000tally.sources")
    assert f"Signed-By: {key.keyring}\n" in sources and "Trusted" not in sources
    assert subprocess.run(["/usr/sbin/debugfs", "-R", f"stat {key.keyring}", disk], check=True,
                          capture_output=True, text=True).stdout.startswith("Inode:")


def test_a_keyring_of_somebody_else(top, mirror):
    """A signature by another key is none; a keyring alone, or one that is not there, is no use."""
    packages.guest_fdt(mirror, False)
    mirror.publish("trixie")
    command = "fetch/guest-parts fdt"
    for more, words in (
            ({"TALLY_KEYRING": ""}, "cannot fetch and verify the package index of "
             ".*(GPG error|is not signed)"),
            ({"TALLY_KEYRING": "/nowhere"}, "^apt-private: TALLY_KEYRING: /nowhere is no file"),
            ({"TALLY_MIRROR": ""}, "^apt-private: TALLY_KEYRING is of no use without")):
        ends_in_words(run(top, mirror, command, **more), top, command, words)


def set_up(top, mirror):
    """tools/setup where no package is installed: what it would install is fetched, and stays away
    from this computer."""
    for name, text in (("dpkg-query", "exit 1"),
                       ("apt-get", 'exec /usr/bin/apt-get -o APT::Get::Download-Only=true "$@"')):
        (top / "bin").mkdir(exist_ok=True)
        (top / "bin" / name).write_text(f"#!/bin/sh\n{text}\n", encoding="ascii")
        (top / "bin" / name).chmod(0o755)
    return run(top, mirror, "setup pictures")


@ROOT_ONLY
@pytest.mark.skipif(RELEASE not in ("bookworm", "trixie"),
                    reason="setup installs nothing but on Debian 12 and 13")
def test_setup(top, mirror):
    """An index that fits, of either kind; a package that is gone; an index that does not fit."""
    suites = (RELEASE, f"{RELEASE}-backports")
    mirror.add("fossil", arch="all", version="99:1")
    mirror.publish(*suites)
    done = set_up(top, mirror)
    assert (done.returncode, done.stderr) == (
        0, "setup: reading the package index\nsetup: installing fossil\n")
    mirror.deb("fossil").unlink()
    done = set_up(top, mirror)
    assert done.returncode == 1 and re.search("^E: Failed to fetch .*404", done.stderr, re.M)
    assert done.stderr.endswith("setup: apt-get could not install fossil\n")
    mirror.publish(*suites, without=["fossil"])
    done = set_up(top, mirror)
    assert done.returncode == 1 and "E: Unable to locate package fossil" in done.stderr
    assert done.stderr.endswith("setup: apt-get could not install fossil\n")
    mirror.tear(*suites)
    done = set_up(top, mirror)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert re.search(r"\napt-private: cannot fetch and verify the package index of "
                     rf"{RELEASE}-backports from .* unexpected size .*\n$", done.stderr)
