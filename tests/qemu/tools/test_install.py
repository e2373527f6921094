# SPDX-License-Identifier: Apache-2.0
"""make install, and the parts of make release: tools that are installed run from files that nobody
may change, and the same files always make the same package."""

import gzip
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

import harness
import plain

sys.path.insert(0, str(harness.ROOT / "tools/lib"))
from releaselib import deb, sbom
from tallylib import version

NOBODY = 65534
TREE = """/dts-v1/;
/ {
	compatible = "tally,vm-tree-1";
	images { bare: bare { data = /incbin/("bare.bin"); }; };
	vms { alpha {
		memory = /bits/ 64 <0x1000000>;
		kernel = <&bare>;
		bootargs = "kind=measure rounds=1 length=100000";
		vcpu0 { harts = <0>; };
	}; };
};
"""


def tool(name):
    """A program of tools/make as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(harness.ROOT / "tools/make" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


@pytest.fixture(scope="module", name="root")
def installed():
    """What `make install` installs, but for images of other boards, where everybody can read it and
    nobody may write."""
    done = subprocess.run([harness.ROOT / "tools/setup", "release"], check=False,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("nothing that makes packages: " + " ".join(done.stderr.split()))
    for target in ("tally.bin", "host/vm-check", "start.elf", "guests/bare.bin"):
        plain.make("build/" + target)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tally-installed-"))
    folder.chmod(0o755)
    archive = folder / "operator.tar.gz"
    archive.write_bytes(b"")
    module = tool("install")
    module.IMAGES = ("tally.bin", "start.elf")
    words, sys.argv = sys.argv, ["install", str(folder / "root"), "/usr", str(archive)]
    try:
        assert module.main() == 0
    finally:
        sys.argv = words
    shutil.copy(harness.BUILD / "guests/bare.bin", folder)
    (folder / "tree.dts").write_text(TREE, encoding="ascii")
    (folder / "cache").mkdir()
    os.chown(folder / "cache", NOBODY, NOBODY)
    subprocess.run(["chmod", "-R", "a-w", folder / "root"], check=True)
    yield folder
    subprocess.run(["chmod", "-R", "u+w", folder / "root"], check=True)
    shutil.rmtree(folder)


def files(folder):
    return sorted(str(path) for path in folder.rglob("*"))


def as_nobody(root, name, *words):
    """An installed program, run by a user who owns nothing but a cache."""
    return subprocess.run(
        ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
         root / "root/usr/bin" / name, *words], check=False, capture_output=True, text=True,
        cwd=root, stdin=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TALLY_CACHE": root / "cache"})


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_a_vm_runs(root):
    """Checked, then booted; nothing is left beside the programs."""
    before = files(root / "root")
    done = as_nobody(root, "tally-vm-check", "tree.dts")
    assert (done.returncode, done.stderr) == (0, ""), done
    done = as_nobody(root, "tally-run", "--vms", "tree.dts")
    assert done.returncode == 0, done
    assert "tally: all VMs ended" in done.stdout.splitlines()
    assert files(root / "root") == before
    assert not [path for path in before if "__pycache__" in path]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_guests_that_are_not_installed(root):
    """One line tells how to get each."""
    for options, file, way in (
            ([], "Image; ", "`tally-debian-disk` makes it"),
            (["--own-firmware"], "Image; ", "`tally-debian-disk --bootable` makes it"),
            (["--operator"], "partitions.cpio: ",
             "what --operator watches is not installed; in a checkout of Tally "
             "`make run-debian DEBIAN=--operator` makes and boots it")):
        done = as_nobody(root, "tally-run-debian", *options)
        assert (done.returncode, done.stdout, done.stderr) == (
            1, "", f"run-debian: no cache/guest/{file}{way}\n"), done


def test_each_command_is_whole(root):
    """It tells its version, has a manual page, and both shells complete its options."""
    usr = root / "root/usr"
    names = sorted(path.name for path in (usr / "bin").iterdir())
    assert "tally-run" in names and "perf-vms" in names and len(names) == 13
    for name in names:
        done = subprocess.run([usr / "bin" / name, "--version"], check=True, capture_output=True,
                              text=True)
        assert done.stdout == f"{name} (Tally) {version.number()}\n"
        packed = (usr / f"share/man/man1/{name}.1.gz").read_bytes()
        page = gzip.decompress(packed).decode()
        assert page.count(".TH ") == 1 and ".SH DESCRIPTION" in page
        assert str(root) not in page
        for path in (f"bash-completion/completions/{name}", f"zsh/vendor-completions/_{name}"):
            text = (usr / "share" / path).read_text(encoding="utf-8")
            assert "--help" in text and name in text


def test_without_what_is_recommended(root, tmp_path):
    """Each command starts where python3-pyelftools is not."""
    (tmp_path / "elftools.py").write_text("raise ImportError", encoding="ascii")
    for path in (root / "root/usr/bin").iterdir():
        done = subprocess.run([path, "--version"], check=False, capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(tmp_path)})
        assert (done.returncode, done.stderr) == (0, ""), done


def test_help_names_installed_files(root):
    done = subprocess.run([root / "root/usr/bin/tally-run", "--help"], check=True,
                          capture_output=True, text=True)
    assert done.stdout.startswith("usage: tally-run ")
    assert "tools/" not in done.stdout and " build/" not in done.stdout


def test_a_package_is_the_same_again(tmp_path):
    """Whatever the time of its files and the umask."""
    made = []
    for n, mask in enumerate((0o022, 0o077)):
        old = os.umask(mask)
        try:
            root = tmp_path / f"root{n}"
            (root / "usr/share/it").mkdir(parents=True)
        finally:
            os.umask(old)
        for name in ("b", "a")[::1 - 2 * n]:
            (root / "usr/share/it" / name).write_text(name, encoding="ascii")
            (root / "usr/share/it" / name).chmod(0o644)
        made.append(tmp_path / f"{n}.deb")
        deb.build(str(root), str(made[-1]), 1000000000, name="it", version="1", architecture="all",
                  relations="Depends: python3", description="a test")
    assert made[0].read_bytes() == made[1].read_bytes()
    fields = subprocess.run(["dpkg-deb", "-f", made[0], "Package", "Version", "Depends"],
                            check=True, capture_output=True, text=True).stdout
    assert fields == "Package: it\nVersion: 1\nDepends: python3\n"


def test_what_a_release_is_made_of(tmp_path):
    """Each file by its digest, and the library that is in the image."""
    file = tmp_path / "tally-1.tar.xz"
    file.write_bytes(b"tally")
    made = sbom.document("1", "c0ffee", 0, {file.name: str(file)}, ("1.7", "abc"), "2.36-8")
    assert json.loads(json.dumps(made)) == made
    assert made["creationInfo"]["created"] == "1970-01-01T00:00:00Z"
    source, library, c_library, archive = made["packages"]
    assert (source["name"], library["name"], archive["name"]) == ("tally", "libfdt", file.name)
    assert (c_library["name"], c_library["versionInfo"]) == ("glibc", "2.36-8")
    assert library["licenseConcluded"] == "BSD-2-Clause OR GPL-2.0-or-later"
    assert archive["checksums"] == [{"algorithm": "SHA256", "checksumValue": sbom.digest(file)}]
    known = {"SPDXRef-DOCUMENT", *(one["SPDXID"] for one in made["packages"])}
    assert {end for relation in made["relationships"] for end in (
        relation["spdxElementId"], relation["relatedSpdxElement"])} == known
    again = sbom.document("1", "c0ffee", 0, {file.name: str(file)}, ("1.7", "abc"), "2.36-8")
    assert again == made
    file.write_bytes(b"other")
    other = sbom.document("1", "c0ffee", 0, {file.name: str(file)}, ("1.7", "abc"), "2.36-8")
    assert other["documentNamespace"] != made["documentNamespace"]
