# SPDX-License-Identifier: Apache-2.0
"""make release, from two clones in two folders: the same bytes. And its packages in a system that
has nothing of Tally's: what they depend on is what they say."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

import harness
import minimal
import plain

pytestmark = pytest.mark.long
# What a build fetches and no commit has.
FETCHED = ("guest", "platform")
INSTALL = "DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "


def needs_a_system(test):
    """Not where none can be made."""
    return minimal.needs_root(minimal.on_x86_64(test))


@pytest.fixture(scope="module", name="releases")
def made_twice():
    """Folders of two releases. The folders have names of different length."""
    with tempfile.TemporaryDirectory(prefix="tally-release-") as top:
        found = []
        for name in ("a", "another"):
            clone = pathlib.Path(top) / name
            # The second one of the first: of the same commit, whatever is committed meanwhile.
            subprocess.run(["git", "clone", "--quiet", found[0].parents[1] if found else
                            harness.ROOT, clone], check=True)
            for fetched in FETCHED:
                if (harness.BUILD / fetched).exists():
                    shutil.copytree(harness.BUILD / fetched, clone / "build" / fetched,
                                    symlinks=True)
            env = {name: value for name, value in os.environ.items()
                   if not name.startswith("MAKE")}
            subprocess.run(["make", "release"], cwd=clone, check=True, stdout=subprocess.DEVNULL,
                           env=env)
            found.append(clone / "build/release")
        yield found


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
    assert set(names) == {"tally", "libfdt", "glibc", *files}


@pytest.fixture(scope="module", name="user")
def a_computer(releases):
    """A minimal Debian 13 with the package tally, and no more than it depends on."""
    with minimal.debian("trixie", "python3", more=["trixie-backports"]) as system:
        for package in releases[0].glob("*.deb"):
            shutil.copy(package, system.root / "root")
        system.says("apt-get -q update")
        system.says(INSTALL + "./tally_*.deb")
        yield system


@needs_a_system
def test_the_installed_files(user):
    """Each command runs there, and has a page; nothing that it brought is anybody else's."""
    files = user.says("dpkg -L tally")
    commands = [path.removeprefix("/usr/bin/") for path in files if path.startswith("/usr/bin/")]
    assert "tally-run" in commands and len(commands) == 13
    (version,) = user.says("dpkg-query -f '${Version}' -W tally")
    for command in commands:
        assert user.says(command + " --version") == [f"{command} (Tally) {version}"]
        assert f"/usr/share/man/man1/{command}.1.gz" in files
    assert user.says("dpkg -V tally") == []
    assert not (user.root / "usr/bin/qemu-system-riscv64").exists()


@needs_a_system
def test_lintian(user):
    """It finds no error and no warning that tools/make/lintian does not answer."""
    user.says(INSTALL + "lintian")
    for package in ("tally_", "tally-operator_"):
        said = user.says(f"lintian --allow-root --fail-on none {package}*.deb")
        assert [line for line in said if line.startswith(("E:", "W:"))] == []


@needs_a_system
def test_a_tree_that_was_installed(user):
    """Judged and booted, with guests of a checkout: both counts are right."""
    tree = "/usr/share/tally/dts/two-linux.dts"
    user.says(INSTALL + "-t trixie-backports qemu-system-riscv opensbi")
    (user.root / "root/guests").mkdir()
    for name in ("Image", "initramfs.cpio"):
        shutil.copy(plain.make("build/guest/" + name), user.root / "root/guests")
    said = user.says(f"tally-vm-check -i guests {tree}")
    assert any("alpha" in line for line in said) and any("beta" in line for line in said)
    lines = user.says(f"tally-run --vms {tree} -i guests --brief --expect 'report end 0'")
    for vm in ("alpha", "beta"):
        assert f"[{vm}] work executes 50000000 instructions; perf counted 50000000" in lines
    assert "tally: all VMs ended" in lines
    assert user.says("dpkg -V tally") == []


@needs_a_system
def test_a_disk_by_installed_tools(user):
    """What a checkout's make does, they do: kernel, initrd and disk, and its guests are up."""
    status, _, error = user.typed("tally-run-debian")
    assert status == 1
    assert error == "run-debian: no .cache/tally/guest/Image; `tally-debian-disk` makes it\n"
    user.says(INSTALL + "binutils e2fsprogs mmdebstrap openssh-client")
    user.says("tally-debian-disk")
    with user.terminal("exec </dev/null; tally-run-debian") as run:
        for _ in range(2):
            run.expect("(alpha|beta): ssh ready")


@needs_a_system
def test_the_other_package(user):
    """tally-operator goes where tally is not."""
    user.says(INSTALL + "./tally-operator_*.deb")
    assert user.typed("dpkg-query -W -f '${db:Status-Status}' tally")[1] != "installed"
    for command in ("tally-ctl", "tally-top", "perf-vms"):
        assert user.says(command + " --version")[0].startswith(command + " (Tally) ")


@needs_a_system
def test_another_reader_of_the_bill_of_materials(releases, user, tmp_path):
    """Debian's pyspdxtools, which only releases after Debian 13 have, finds it valid. Left out
    where the mirror has none for this system today."""
    (path,) = releases[0].glob("*.spdx.json")
    for words in ([harness.ROOT / "tools/fetch/apt-private", tmp_path / "apt", "amd64", "sid"],
                  ["apt-get", "-q", "download", "python3-spdx-tools"]):
        done = subprocess.run(words, check=False, cwd=tmp_path, capture_output=True, text=True,
                              env={**os.environ, "APT_CONFIG": str(tmp_path / "apt/apt.conf")})
        if done.returncode:
            pytest.skip("no pyspdxtools: " + " ".join(done.stderr.split()))
    shutil.copy(*tmp_path.glob("*.deb"), user.root / "root/spdx-tools.deb")
    if user.typed(INSTALL + "./spdx-tools.deb")[0]:
        pytest.skip("pyspdxtools wants later packages than Debian 13's")
    text = path.read_text(encoding="utf-8")
    for valid, made in ((True, text), (False, text.replace('"SPDXRef-libfdt"', '"SPDXRef-it"', 1))):
        (user.root / "root/it.spdx.json").write_text(made, encoding="utf-8")
        status, _, error = user.typed("pyspdxtools -i it.spdx.json")
        assert (status == 0) == valid, error
