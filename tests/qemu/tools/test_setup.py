# SPDX-License-Identifier: Apache-2.0
"""What tools/setup would do on each host: on Debian 12 and 13, elsewhere, as root and not. The
system, its packages and apt are files and scripts of this test; no mirror is asked."""

import os
import shutil
import subprocess

import pytest

import harness

SYSTEMS = {"bookworm": "ID=debian\nVERSION_CODENAME=bookworm\n",
           "trixie": "ID=debian\nVERSION_CODENAME=trixie\n",
           "ubuntu": "ID=ubuntu\nVERSION_CODENAME=noble\n",
           "derived": "ID=other\nVERSION_CODENAME=trixie\n",
           "fedora": 'ID=fedora\nPRETTY_NAME="a system without a codename"\n',
           "unknown": ""}
# A list like tools/fetch/packages.txt, with a command that each system has, and a module.
LIST = """# a comment
run            make            sh
run            qemu-system-riscv  qemu-system-riscv64
run            opensbi         /nowhere/fw_dynamic.bin
run,debian     mmdebstrap      no-such-command
test           python3-pytest  python3:os
test           python3-pyte    python3:no_such_module
trace          nodejs          node
"""
# The versions that Debian 12 and 13 have of their own, and those of their backports.
VERSIONS = {"bookworm": {"qemu-system-riscv": ("1:7.2+dfsg-7+deb12u13",
                                               "1:10.0.2+ds-2+deb13u1~bpo12+1"),
                         "opensbi": ("1.1-2", "1.5.1-1~bpo12+2")},
            "trixie": {"qemu-system-riscv": ("1:10.0.13+ds-0+deb13u1", "1:11.1.3+ds-1~bpo13+1"),
                       "opensbi": ("1.6-1", "1.6-1")}}
PEER = '#!/bin/sh\necho "$@" >>"$(dirname "$0")/../../peer.log"\n'


class Host:
    """A computer: `does` tells what setup installs there."""

    def __init__(self, top, system):
        self.top = top
        shutil.copytree(harness.ROOT / "tools/fetch", top / "tools/fetch")
        shutil.copytree(harness.ROOT / "tools/lib/tallylib", top / "tools/lib/tallylib",
                        ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("tools/setup", "tools/fetch/apt-private"):
            text = (harness.ROOT / name).read_text("utf-8")
            assert "/etc/os-release" in text
            self.script(name, text.replace("/etc/os-release", f"{top}/os-release"))
        (top / "os-release").write_text(SYSTEMS[system], encoding="ascii")
        self.script("bin/sudo", "#!/bin/sh\n")
        self.script("bin/apt-get", f'#!/bin/sh\necho "apt-get $@" >>"{top}/did"\n')
        self.installed({})
        self.user(0)

    def script(self, name, text):
        (self.top / name).parent.mkdir(parents=True, exist_ok=True)
        (self.top / name).write_text(text, encoding="utf-8")
        (self.top / name).chmod(0o755)

    def user(self, number):
        self.script("bin/id", f"#!/bin/sh\necho {number}\n")

    def installed(self, packages):
        """Versions by the names of packages; None is one that was removed."""
        lines = "".join(f"{name} {'installed' if version else 'config-files'} {version or 1}\n"
                        for name, version in packages.items())
        self.script("bin/dpkg-query", f"#!/bin/sh\ncat <<END\n{lines}END\nexit 1\n")

    def setup(self, *words, path=":/usr/bin:/bin", **more):
        """Exit status, and lines on standard error."""
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("TALLY_MIRROR", "TALLY_KEYRING", "CROSS_COMPILE")}
        done = subprocess.run([self.top / "tools/setup", *words], check=False, capture_output=True,
                              text=True, timeout=harness.GUARD, stdin=subprocess.DEVNULL,
                              env={**environment, "PATH": f"{self.top}/bin{path}", **more})
        assert done.stdout == ""
        return done.returncode, done.stderr.splitlines()

    def does(self, *words):
        """What setup installs: a list of packages for each call of apt-get, -t SUITE included."""
        self.script("tools/fetch/apt-private", f'#!/bin/sh\nmkdir "$1"; shift\n'
                    f'echo "apt-private $@" >>"{self.top}/did"\n')
        (self.top / "did").unlink(missing_ok=True)
        status, lines = self.setup(*words)
        assert status == 0, lines
        if not (self.top / "did").exists():
            assert not lines
            return []
        index, *calls = (self.top / "did").read_text("ascii").splitlines()
        suite = self.setup_suite()
        assert index == f"apt-private native {suite}-backports"
        assert not (self.top / "build/setup").exists()
        return [call.partition(" install ")[2].split() for call in calls]

    def setup_suite(self):
        return (self.top / "os-release").read_text("ascii").split("=")[-1].strip()


@pytest.fixture(name="host")
def a_host(tmp_path):
    return lambda system="bookworm": Host(tmp_path / "top", system)


def listed(*parts):
    """The packages of parts, in the order of the real list."""
    rows = [line.split() for line in
            (harness.ROOT / "tools/fetch/packages.txt").read_text("ascii").splitlines()
            if not line.startswith("#")]
    assert all(len(row) == 3 for row in rows)
    return [name for named, name, _ in rows if set(named.split(",")) & set(parts)]


def test_the_lists():
    """Running needs no checkers and no libraries of tests; no package is there twice."""
    run, test = listed("run"), listed("test")
    assert len(run) == 21 and len(test) == 18 and not set(run) & set(test)
    assert {"gcc-riscv64-linux-gnu", "qemu-system-riscv", "opensbi", "mmdebstrap"} < set(run)
    assert {"pylint", "cppcheck", "clang", "clang-format", "clang-tidy", "libcmocka-dev",
            "python3-pytest", "python3-hypothesis"} < set(test)
    assert listed("debian") == ["mmdebstrap", "e2fsprogs", "openssh-client"]
    assert [listed(part) for part in ("pictures", "perf", "browser", "trace")] == [
        ["fossil"], ["flex", "bison"], ["chromium-headless-shell"], ["nodejs", "npm"]]


@pytest.mark.parametrize("system, late", [
    ("bookworm", ["qemu-system-riscv", "opensbi"]), ("trixie", ["qemu-system-riscv"])])
def test_where_nothing_is_installed(host, system, late):
    """QEMU comes from the backports, Debian 12's OpenSBI too, all else from the release."""
    host = host(system)
    for words, parts in (([], ["run"]), (["test"], ["run", "test"])):
        names = [name for name in listed(*parts) if name not in late]
        assert host.does(*words) == [names, ["-t", f"{system}-backports", *late]]
    assert host.does("debian") == [["mmdebstrap", "e2fsprogs", "openssh-client"]]
    assert host.does("perf") == [["flex", "bison"]]


@pytest.mark.parametrize("system", VERSIONS)
def test_what_is_installed_is_left(host, system):
    """A package that was removed is not; each list asks for its own only."""
    host = host(system)
    good = {name: backport for name, (_, backport) in VERSIONS[system].items()}
    run = dict.fromkeys(listed("run"), "1") | good
    host.installed(run)
    assert host.does() == []
    assert host.does("debian") == []
    assert host.does("test") == [listed("test")]
    host.installed(run | dict.fromkeys(listed("test"), "1"))
    assert host.does("test") == []
    host.installed(run | {"gcc": None})
    assert host.does() == [["gcc"]]


def test_a_version_that_will_not_do(host):
    """The releases' own QEMU, and Debian 12's own OpenSBI, are replaced."""
    for system, late in (("bookworm", ["qemu-system-riscv", "opensbi"]),
                         ("trixie", ["qemu-system-riscv"])):
        tried = host(system)
        tried.installed(dict.fromkeys(listed("run"), "1") |
                        {name: own for name, (own, _) in VERSIONS[system].items()})
        assert tried.does() == [["-t", f"{system}-backports", *late]]
        shutil.rmtree(tried.top)


def test_a_qemu_of_the_user(host):
    """Outside the package system, or fetched by setup: Debian's is not installed beside it."""
    host = host("trixie")
    host.installed(dict.fromkeys(listed("run"), "1") |
                   {"qemu-system-riscv": None, "opensbi": None})
    assert host.does() == [["opensbi"], ["-t", "trixie-backports", "qemu-system-riscv"]]
    host.script("bin/qemu-system-riscv64", "#!/bin/sh\n")
    assert host.does() == [["opensbi"]]
    (host.top / "bin/qemu-system-riscv64").unlink()
    host.script("build/platform/qemu-system-riscv64", "#!/bin/sh\n")
    host.script("build/platform/fw_dynamic.bin", "")
    assert host.does() == []


@pytest.mark.parametrize("system", VERSIONS)
def test_not_root(host, system):
    """Nothing is tried; the command to type is there."""
    host = host(system)
    host.user(1000)
    host.installed(dict.fromkeys([*listed("run"), *listed("test")], "2:1") | {"gcc": None})
    lines = ["setup: missing packages: gcc",
             "setup: only root can install them. Type this, then repeat what you did:",
             f"    sudo {host.top}/tools/setup"]
    assert host.setup() == (1, lines)
    assert host.setup("test") == (1, [*lines[:2], lines[2] + " test"])
    host.installed(dict.fromkeys(listed("run"), "2:1") | {"qemu-system-riscv": "1:7.2"})
    assert host.setup()[1][0] == "setup: missing packages: qemu-system-riscv"
    assert not (host.top / "did").exists() and not (host.top / "build").exists()


@pytest.mark.parametrize("system", ["ubuntu", "derived", "fedora", "unknown"])
@pytest.mark.parametrize("user", [0, 1000])
def test_elsewhere(host, system, user):
    """Nothing is installed, not for root either. Packages are named by their proofs, and QEMU's
    versions with them."""
    host = host(system)
    host.user(user)
    (host.top / "tools/fetch/packages.txt").write_text(LIST, encoding="ascii")
    for name in ("sh", "awk", "dirname", "readlink"):
        (host.top / "bin" / name).symlink_to(shutil.which(name))
    first = "setup: this is neither Debian 12 nor Debian 13, so nothing is installed."
    named = "setup: Missing, by Debian's names (untested): apt install"
    platform = ("setup: Missing: QEMU 10.0.2 or 11.1.3, with OpenSBI 1.5.1 or later. This fetches "
                "both from Debian: TALLY_MIRROR=ADDRESS tools/setup qemu")
    mirror = ("setup: Guests are made of Debian's packages: set TALLY_MIRROR to the address of a "
              "mirror (docs/running.md).")
    assert host.setup(path="") == (1, [first, f"{named} mmdebstrap", platform, mirror])
    assert host.setup("test", path="") == (
        1, [first, f"{named} mmdebstrap python3-pyte", platform, mirror])
    assert host.setup("trace", path="") == (1, [first, f"{named} nodejs"])
    host.script("bin/no-such-command", "")
    host.script("build/platform/qemu-system-riscv64", "")
    assert host.setup(path="") == (0, [])
    assert not (host.top / "did").exists()


def test_elsewhere_a_mirror_is_asked_for(host):
    """Another system's sources name no mirror of Debian's."""
    host = host("ubuntu")
    done = subprocess.run(
        [host.top / "tools/fetch/apt-private", host.top / "apt", "riscv64", "trixie"], check=False,
        capture_output=True, text=True, env={"PATH": os.environ["PATH"]})
    assert (done.returncode, done.stderr) == (
        1, "apt-private: this is not Debian, so its apt sources name no mirror of Debian's; set "
        "TALLY_MIRROR=ADDRESS (docs/running.md)\n")


@pytest.mark.parametrize("system", ["bookworm", "ubuntu"])
def test_qemu_for_this_tree(host, system):
    """It needs no root. tools/run looks there first."""
    host = host(system)
    host.user(1000)
    host.script("tools/fetch/peer-platform", PEER)
    host.script("build/platform/qemu-trixie-backports/qemu-system-riscv64", "#!/bin/sh\n")
    host.script("build/platform/opensbi-trixie/fw_dynamic.bin", "")
    for _ in range(2):
        assert host.setup("qemu") == (0, [])
    assert (host.top / "peer.log").read_text("ascii") == (
        "qemu trixie-backports\nopensbi trixie\n" * 2)
    look = ("import sys; sys.path.insert(0, 'tools/lib'); sys.dont_write_bytecode = True\n"
            "from tallylib import own_platform\n"
            "print(own_platform.find_qemu(), *own_platform.bios_options())")
    where = []
    for fetched in (True, False):
        if not fetched:
            shutil.rmtree(host.top / "build")
        where.append(subprocess.run(["/usr/bin/python3", "-c", look], cwd=host.top, check=True,
                                    capture_output=True, text=True,
                                    env={"PATH": f"{host.top}/bin"}).stdout)
    place = f"{host.top}/build/platform"
    assert where == [f"{place}/qemu-system-riscv64 -bios {place}/fw_dynamic.bin\n", "None\n"]


def test_wrong_use(host):
    host = host()
    for words in (["tests"], [""], ["test", "perf"]):
        assert host.setup(*words) == (2, ["setup: see --help"])
