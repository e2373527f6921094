# SPDX-License-Identifier: Apache-2.0
"""tools/apt-private and tools/guest-parts, with nothing fetched: what they believe, and what they
keep."""

import hashlib
import importlib.machinery
import importlib.util
import lzma
import os
import shutil
import subprocess
import sys

import pytest

import harness

SAFE = ("APT::Get::AllowUnauthenticated", "Acquire::AllowInsecureRepositories",
        "Acquire::AllowWeakRepositories", "Acquire::AllowDowngradeToInsecureRepositories")


def test_the_machine_cannot_switch_signatures_off(tmp_path):
    """Whatever /etc/apt/apt.conf.d says: it is read after the file of APT_CONFIG. Here another
    folder stands for it."""
    tools, parts, made = tmp_path / "bin", tmp_path / "parts", tmp_path / "made"
    for folder in (tools, parts):
        folder.mkdir()
    (tools / "apt-get").write_text("#!/bin/sh\n", encoding="ascii")
    (tools / "apt-get").chmod(0o755)
    subprocess.run([harness.ROOT / "tools/apt-private", made, "riscv64", "trixie"], check=True,
                   env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}",
                        "TALLY_MIRROR": "file:/nowhere"})
    (parts / "99own").write_text(
        "".join(f'{option} "true";\n' for option in SAFE) +
        'Dir::Etc::sourcelist "/own/list"; Dir::State::lists "/own/lists"; '
        'APT::Architecture "amd64"; APT::Architectures { "amd64"; }; '
        'Acquire::http::Proxy "a proxy";\n', encoding="ascii")
    with open(made / "apt.conf", "a", encoding="ascii") as file:
        file.write(f'Dir::Etc::parts "{parts}";\n')
    dump = subprocess.run(["apt-config", "dump"], check=True, capture_output=True, text=True,
                          env={**os.environ, "APT_CONFIG": str(made / "apt.conf")}).stdout
    for option in SAFE:
        assert f'{option} "false";' in dump
    assert f'Dir::Etc::sourcelist "{made}/tally.sources";' in dump
    assert f'Dir::State::lists "{made}/lists";' in dump
    assert 'APT::Architecture "riscv64";' in dump and "amd64" not in dump
    # What it needs to reach the mirror stays.
    assert 'Acquire::http::Proxy "a proxy";' in dump


def torn(tmp_path, of_table):
    """apt-private with a mirror whose index does not fit its signature; the table of indexes that
    were signed has the hash that of_table makes of that index."""
    top, bin_dir = tmp_path / "top", tmp_path / "bin"
    index = tmp_path / "mirror/dists/trixie/main/binary-riscv64/Packages.xz"
    for folder in (top / "tools", bin_dir, index.parent):
        folder.mkdir(parents=True)
    index.write_bytes(lzma.compress(b"Package: x\nVersion: 1\nArchitecture: riscv64\nSize: 1\n"
                                    b"Filename: pool/x.deb\nSHA256: " + b"0" * 64 + b"\n"))
    shutil.copy(harness.ROOT / "tools/apt-private", top / "tools")
    digest = hashlib.sha256(index.read_bytes()).hexdigest()
    (top / "tools/signed-indexes.txt").write_text(
        f"# the hash\ntrixie riscv64 {of_table(digest)} 13.7\n", encoding="ascii")
    (bin_dir / "apt-get").write_text(
        '#!/bin/sh\ncase " $* " in *--print-uris*) ;; *" update "*)\n'
        'echo "E: Failed to fetch x  File has unexpected size (1 != 2)." >&2; exit 100 ;; esac\n'
        'exec /usr/bin/apt-get "$@"\n', encoding="ascii")
    (bin_dir / "apt-get").chmod(0o755)
    return subprocess.run([top / "tools/apt-private", tmp_path / "made", "riscv64", "trixie"],
                          check=False, capture_output=True, text=True,
                          env={**os.environ, "PATH": f"{bin_dir}:{os.environ['PATH']}",
                               "TALLY_MIRROR": f"file:{tmp_path}/mirror"})


def test_an_index_that_was_signed_before(tmp_path):
    """A mirror that is being synchronised: its index is the one of the release before."""
    done = torn(tmp_path, str)
    assert done.returncode == 0, done.stderr
    assert "it is that of release 13.7" in done.stderr
    shown = subprocess.run(["apt-cache", "show", "x"], check=True, capture_output=True, text=True,
                           env={**os.environ, "APT_CONFIG": str(tmp_path / "made/apt.conf")})
    assert "Version: 1\n" in shown.stdout


def test_an_index_that_nobody_signed(tmp_path):
    """It fits no signature and no hash: refused."""
    done = torn(tmp_path, lambda digest: digest[::-1])
    assert done.returncode == 1
    assert "cannot fetch and verify the package index of trixie" in done.stderr
    assert not list((tmp_path / "made/lists").glob("*Packages*"))


@pytest.fixture
def parts(tmp_path, monkeypatch):
    """tools/guest-parts as a module that works in another folder and asks nobody."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loader = importlib.machinery.SourceFileLoader(
        "guest_parts", str(harness.ROOT / "tools/guest-parts"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("guest_parts", loader))
    loader.exec_module(module)
    for name, folder in (("OUT", ""), ("APT", "apt"), ("DEBS", "deb"), ("TREES", "unpacked")):
        monkeypatch.setattr(module, name, str(tmp_path / "guest" / folder))
    monkeypatch.setattr(module.subprocess, "run",
                        lambda *_, **__: subprocess.CompletedProcess((), 0))
    return module


@pytest.mark.parametrize("fails", [False, True])
def test_packages_are_kept_until_they_are_unpacked(parts, tmp_path, monkeypatch, fails):
    """And those of a run that was stopped until the next one."""
    guest = tmp_path / "guest"

    def part(archive):
        archive.used = set()
        for name in ("deb/x.deb", "unpacked/x", "apt/lists"):
            (guest / name).mkdir(parents=True)
        (guest / "Image").touch()
        if fails:
            raise parts.PartsError("stopped")

    monkeypatch.setitem(parts.PARTS, "linux", part)
    monkeypatch.setattr(sys, "argv", ["guest-parts", "linux"])
    assert parts.main() == fails
    left = {path.name for path in guest.iterdir()}
    assert left == ({"Image", "deb", "unpacked", "apt"} if fails else
                    {"Image", "VERSIONS", "linux.stamp"})
    shutil.rmtree(guest)
