# SPDX-License-Identifier: Apache-2.0
"""`make run-debian` in a clone that has no disk yet: Debian's disk is made whole, of a signed index
and of one that tools/fetch/signed-indexes.txt knows, and its guests are logged in to. The packages
are Debian's; a mirror of our own serves them, so both kinds of index are there on each day."""

import hashlib
import json
import os
import shutil
import subprocess

import pytest

from debian_machine import Machine, TREES
import harness
import mirrors
import packages

pytestmark = pytest.mark.long


@pytest.fixture(name="mirror", scope="module")
def mirror_of_debian(tmp_path_factory):
    """All packages of the disk. Where Debian's mirror does not have them now the tests are left
    out: that says nothing of Tally."""
    folder = tmp_path_factory.mktemp("mirror")
    words = packages.of_disk()
    for command in ([harness.ROOT / "tools/fetch/apt-private", folder / "apt", "riscv64", "trixie"],
                    ["apt-get", "-q", "-y", "--download-only", "--no-install-recommends",
                     "-o", "APT::Keep-Downloaded-Packages=true", "install", *words]):
        done = subprocess.run(command, check=False, capture_output=True, text=True,
                              env={**os.environ, "APT_CONFIG": str(folder / "apt/apt.conf")})
        if done.returncode:
            pytest.skip(done.stderr.strip().split("\n")[-1])
    key = mirrors.Key()
    with mirrors.served(folder, key) as mirror:
        for path in (folder / "apt/cache/archives").glob("*.deb"):
            mirror.adopt(path)
        yield mirror
    key.close()


@pytest.fixture(name="clone")
def clone_without_disk(tmp_path):
    """The sources, and what was built and fetched of them but for build/debian."""
    names = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], check=True,
                           cwd=harness.ROOT, stdout=subprocess.PIPE, text=True).stdout
    for name in filter(None, names.split("\0")):
        (tmp_path / "clone" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(harness.ROOT / name, tmp_path / "clone" / name, follow_symlinks=False)
    shutil.copytree(harness.GUEST, tmp_path / "clone/build/guest", symlinks=True)
    yield tmp_path / "clone"
    shutil.rmtree(tmp_path / "clone")


@pytest.mark.parametrize("known", [False, True])
def test_from_nothing(tmp_path, mirror, clone, known):
    mirror.publish("trixie")
    if known:
        mirror.tear("trixie")
        digest = hashlib.sha256(mirror.index("trixie").read_bytes()).hexdigest()
        (clone / "tools/fetch/signed-indexes.txt").write_text(f"trixie riscv64 {digest} 13.0\n",
                                                              encoding="ascii")
    done = subprocess.run(["make", "run-debian", "DEBIAN=--json"], check=False, cwd=clone,
                          env=mirror.environment(), stdin=subprocess.DEVNULL, text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stderr
    guests = json.loads(done.stdout[done.stdout.index("{"):])["guests"]
    assert all(os.path.exists(guests[name]["disk"]) for name in ("alpha", "beta"))
    log = (clone / "build/debian/log").read_text()
    assert ("does not fit its signature" in log) == known
    (tmp_path / "machine").mkdir()
    machine = Machine(tmp_path / "machine", TREES["plic"], clone / "build/debian")
    try:
        for name in guests:
            machine.boot_id(name)
            # Nothing is half configured, and each package is the mirror's.
            text = machine.ssh(name, "dpkg --audit; dpkg-query -f '${db:Status-Status}\\n' -W")
            assert text == "installed\n" * len(mirror.stanzas)
            machine.try_ssh(name, "poweroff")
        machine.ends_well()
    finally:
        machine.close()
