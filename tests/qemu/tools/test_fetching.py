# SPDX-License-Identifier: Apache-2.0
"""tools/fetch/apt-private and tools/fetch/guest-parts, with nothing fetched: what they believe, and
what they keep. test_mirror.py has them fetch."""

import importlib.machinery
import importlib.util
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
    subprocess.run([harness.ROOT / "tools/fetch/apt-private", made, "riscv64", "trixie"],
                   check=True, env={
                       **os.environ, "PATH": f"{tools}:{os.environ['PATH']}",
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


@pytest.fixture
def parts(tmp_path, monkeypatch):
    """tools/fetch/guest-parts as a module that works in another folder and asks nobody."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loader = importlib.machinery.SourceFileLoader(
        "guest_parts", str(harness.ROOT / "tools/fetch/guest-parts"))
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
