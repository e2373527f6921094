# SPDX-License-Identifier: Apache-2.0
"""Other versions of what Tally runs on and of its guests' kernel, fetched by
tools/fetch/peer-platform and tools/fetch/peer-kernel when a test wants them.
Where one cannot be had the test is left out, and the session's last lines say so.

What a peer does is compared with tests/peers.toml (tools/lib/tallylib/peer_record.py): check()
fails where a known version does something else, and notes what a version does that is not known.
A test that runs Tally on a version that is not known fails nothing either: conftest.py notes it."""

import fcntl
import functools
import re
import subprocess
from pathlib import Path

import pytest

import plain
from harness import BUILD, GUEST, ROOT
from tallylib import peer_record

# One line each, for the session's last lines; and for each test, what it ran on beside this
# machine's own ("QEMU 11.1.3").
notes, used = [], set()
RECORD = peer_record.load()


@functools.lru_cache(None)
def refusal(*command):
    """Why a tool cannot fetch it; None where it can."""
    with open(BUILD / "platform.lock", "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        done = subprocess.run([ROOT / "tools/fetch" / command[0], *command[1:]], check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.stderr.strip().split("\n")[-1] if done.returncode else None


def fetched(folder, *command):
    """The folder. Where the mirror does not have it, or has it no longer, the test is skipped, with
    the reason: that says nothing of Tally."""
    why = refusal(*command)
    if why:
        pytest.skip(why)
    return folder


def upstream(version):
    """Of a package's version: "1:11.1.3+ds-1" is 11.1.3."""
    return re.match(r"(?:\d+:)?([\d.]*\d)", version).group(1)


def version_in(folder, package):
    """The version of a package, by its beginning, in a folder's VERSIONS."""
    lines = (folder / "VERSIONS").read_text(encoding="ascii").splitlines()
    return upstream(next(words[2] for words in map(str.split, lines)
                         if words[1].startswith(package) and words[0] != "#"))


def part(kind, suite, name):
    """A file of tools/fetch/peer-platform."""
    return fetched(BUILD / "platform" / f"{kind}-{suite}", "peer-platform", kind, suite) / name


def opensbi(suite):
    """OpenSBI of a Debian release."""
    path = part("opensbi", suite, "fw_dynamic.bin")
    used.add(opensbi_version(suite))
    return path


def qemu(suite):
    """QEMU of a Debian release."""
    path = part("qemu", suite, "qemu-system-riscv64")
    used.add(qemu_version(suite))
    return path


class Missing(Exception):
    """No release that is looked into has that version, or it cannot be had: why."""


def find(kind, version, places):
    """The file of this machine, or of the first of some releases, that has a version; or Missing.
    places: {suite: path}, of which None is this machine."""
    version_of = {"qemu": qemu_version, "opensbi": opensbi_version}[kind]
    whys = []
    for suite, path in places.items():
        why = suite and refusal("peer-platform", kind, suite)
        if why:
            whys.append(why)
        elif version_of(suite) == version:
            used.add(version)
            return path
        else:
            whys.append(f"{suite or 'this machine'} has {version_of(suite)}")
    raise Missing(f"{version} cannot be had: " + "; ".join(whys))


def find_qemu(version):
    """QEMU of a version, "11.1.3"."""
    return find("qemu", "QEMU " + version, {None: plain.QEMU} | {
        suite: BUILD / "platform" / f"qemu-{suite}" / "qemu-system-riscv64"
        for suite in ("sid", "trixie-backports")})


def find_opensbi(version):
    """OpenSBI of a version, "1.9"."""
    return find("opensbi", "OpenSBI " + version, {None: plain.BIOS} | {
        suite: BUILD / "platform" / f"opensbi-{suite}" / "fw_dynamic.bin"
        for suite in ("trixie", "forky", "sid")})


def newest_kernel():
    """The folder of the newest kernel that Debian has for its guests' release, and of its KVM."""
    return fetched(GUEST / "peer", "peer-kernel")


@functools.lru_cache(None)
def opensbi_version(suite=None):
    """ "OpenSBI 1.9"; None: this machine's."""
    if suite:
        return "OpenSBI " + version_in(BUILD / "platform" / f"opensbi-{suite}", "opensbi")
    owner = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "opensbi"], check=False,
                           capture_output=True, text=True).stdout
    if owner and str(Path(plain.BIOS).resolve()).startswith("/usr/lib/riscv64-linux-gnu/opensbi/"):
        return "OpenSBI " + upstream(owner)
    return "OpenSBI 0"  # one of somebody's own


@functools.lru_cache(None)
def qemu_version(suite=None):
    """ "QEMU 11.1.3"; None: this machine's."""
    if suite:
        return "QEMU " + version_in(BUILD / "platform" / f"qemu-{suite}", "qemu-system-riscv")
    text = subprocess.run([plain.QEMU, "--version"], check=True, capture_output=True,
                          text=True).stdout
    return "QEMU " + re.search(r"version ([\d.]*\d)", text).group(1)


def machine(qemu_suite=None, opensbi_suite=None):
    """ "OpenSBI 1.5.1, QEMU 10.0.2": for check()."""
    return f"{opensbi_version(opensbi_suite)}, {qemu_version(qemu_suite)}"


def kernel(host="debian"):
    """ "Linux 6.12.117": this build's guests' kernel, or the newest."""
    return "Linux " + (version_in(GUEST, "linux-image") if host == "debian" else
                       version_in(GUEST / "peer", "linux-"))


def unknown():
    """What this test ran on that the record does not know."""
    return sorted(used - peer_record.components(RECORD))


def check(test, version, seen):
    """Compares {case: verdict} with the record; what was seen is kept for `make peers`."""
    peer_record.keep(test, version, seen)
    failure, note = peer_record.judge(RECORD, test, version, seen)
    if note and note not in notes:
        notes.append(note)
    assert not failure, failure
