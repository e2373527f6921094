# SPDX-License-Identifier: Apache-2.0
"""make release, from two clones in two folders: the same bytes. And its package in a system that
has nothing of Tally's."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

import harness

pytestmark = pytest.mark.long
# What a build fetches and no commit has.
FETCHED = ("guest", "platform")
TREE = """/dts-v1/;
/ {
	compatible = "tally,vm-tree-1";
	images { it: it { data = <0>; }; };
	vms { alpha { memory = /bits/ 64 <0x1000000>; kernel = <&it>; vcpu0 { harts = <0>; }; }; };
};
"""


@pytest.fixture(scope="module", name="releases")
def made_twice():
    """Folders of two releases. The folders have names of different length."""
    top = pathlib.Path(tempfile.mkdtemp(prefix="tally-release-"))
    found = []
    for name in ("a", "another"):
        clone = top / name
        subprocess.run(["git", "clone", "--quiet", harness.ROOT, clone], check=True)
        for fetched in FETCHED:
            if (harness.BUILD / fetched).exists():
                shutil.copytree(harness.BUILD / fetched, clone / "build" / fetched, symlinks=True)
        env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
        subprocess.run(["make", "release"], cwd=clone, check=True, stdout=subprocess.DEVNULL,
                       env=env)
        found.append(clone / "build/release")
    yield found
    shutil.rmtree(top)


def test_the_same_bytes(releases):
    one, two = ({path.name: path.read_bytes() for path in release.iterdir()}
                for release in releases)
    assert sorted(one) == sorted(two) and len(one) == 5
    for name, data in one.items():
        assert data == two[name], name


def test_checksums(releases):
    """Of all files but their own."""
    lines = (releases[0] / "SHA256SUMS").read_text(encoding="ascii").splitlines()
    assert len(lines) == 4
    for line in lines:
        digest, name = line.split("  ")
        assert hashlib.sha256((releases[0] / name).read_bytes()).hexdigest() == digest


def test_the_bill_of_materials_names_the_files(releases):
    (path,) = releases[0].glob("*.spdx.json")
    names = [one["name"] for one in json.loads(path.read_text(encoding="utf-8"))["packages"]]
    files = {file.name for file in releases[0].iterdir()} - {path.name, "SHA256SUMS"}
    assert set(names) == {"tally", "libfdt", *files}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may change its root")
def test_the_package_in_a_clean_system(releases, tmp_path):
    """Debian 13 with the package and no more than it depends on: trees are checked there."""
    (package,) = releases[0].glob("tally_*.deb")
    root = tmp_path / "root"
    subprocess.run([harness.ROOT / "tools/fetch/apt-private", tmp_path / "apt", "amd64", "trixie"],
                   check=True)
    subprocess.run(["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase",
                    "--include=python3,libfdt1,device-tree-compiler", "trixie", root,
                    tmp_path / "apt/tally.sources"], check=True)
    shutil.copy(package, root / "root")

    def inside(*words):
        done = subprocess.run(["chroot", root, *words], check=False, capture_output=True, text=True)
        assert done.returncode == 0, done
        return done.stdout

    inside("dpkg", "-i", "/root/" + package.name)
    for name in sorted(path.name for path in (root / "usr/lib/tally/tools").iterdir()
                       if path.is_file()):
        command = name if name.startswith("tally-") or name == "perf-vms" else "tally-" + name
        assert inside(command, "--version") == f"{command} (Tally) {package.name.split('_')[1]}\n"
    tree = root / "root/tree.dts"
    tree.write_text(TREE, encoding="ascii")
    assert "alpha" in inside("tally-vm-check", "/root/tree.dts")
