# SPDX-License-Identifier: Apache-2.0
"""Tools in a guest whose VM is an operator: `--operator` asks the program tally-operator, for which
a program of this computer stands here; what `make operator-tools` packs."""

import os
import subprocess
import tarfile

import pytest

import harness

VMS = ('{"vm":"alpha","state":"running","end":null,"restarts":0,"uptime_ms":2000,"vcpus":1,'
       '"harts":[0],"memory_kib":4096}')
# It answers `vms --json`, and refuses the rest.
ANSWERS = f"""#!/bin/sh
echo ready
while read -r line; do
	case $line in
	"vms --json") echo '= {VMS}'; echo ". 0" ;;
	*) echo "= an operator that may only watch"; echo ". 1" ;;
	esac
done
"""
REFUSES = """#!/bin/sh
echo "tally-operator: this guest's VM is no operator: no PCI function 1af4:10f1" >&2
exit 4
"""


def ask(folder, program, *words):
    """Status, output and complaint of a tool, where PATH has that program."""
    if program:
        (folder / "tally-operator").write_text(program, encoding="ascii")
        (folder / "tally-operator").chmod(0o755)
    done = subprocess.run([harness.ROOT / "tools" / words[0], *words[1:]], capture_output=True,
                          text=True, check=False, timeout=harness.GUARD,
                          env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
    return done.returncode, done.stdout, done.stderr


def test_asked(tmp_path):
    """What is answered is told as always."""
    assert ask(tmp_path, ANSWERS, "tally-ctl", "--operator", "vms", "--json") == (0, VMS + "\n", "")
    assert ask(tmp_path, ANSWERS, "tally-ctl", "--operator", "stop", "alpha") == (
        1, "", "tools/tally-ctl: an operator that may only watch\n")


@pytest.mark.parametrize("tool", [
    ["tally-ctl", "vms"], ["tally-top"], ["perf-vms", "stat", "--duration", "1"]],
                         ids=lambda words: words[0])
def test_no_operator(tmp_path, tool):
    """One sentence says why it cannot be asked."""
    status, said, complaint = ask(tmp_path, REFUSES, *tool, "--operator")
    assert (status, said) == (4, ""), complaint
    assert complaint == (f"tools/{tool[0]}: this guest's VM is no operator: "
                         "no PCI function 1af4:10f1\n")
    status, said, complaint = ask(tmp_path, None, *tool, "--operator", "--serial", "/dev/null")
    assert (status, said) == (2, "")
    assert complaint.endswith("--serial and --operator exclude each other\n")


def test_no_program(tmp_path):
    """On a computer that is no guest."""
    status, _, complaint = ask(tmp_path, None, "tally-ctl", "--operator", "vms")
    assert status == 4
    assert complaint == ("tools/tally-ctl: no program tally-operator: --operator is for a guest on "
                         "RISC-V; `make operator-tools` packs what it needs\n")


def test_packed(tmp_path):
    """The packed tools run by themselves, as they are installed."""
    program = tmp_path / "tally-operator"
    program.write_text(ANSWERS, encoding="ascii")
    program.chmod(0o755)
    subprocess.run([harness.ROOT / "tools/make/operator-tools", tmp_path, program], check=True,
                   stdout=subprocess.DEVNULL)
    package = tmp_path / "tally-operator-tools.deb"
    fields = subprocess.run(["dpkg-deb", "-f", package, "Package", "Architecture", "Depends"],
                            check=True, capture_output=True, text=True).stdout
    assert fields == "Package: tally-operator\nArchitecture: all\nDepends: python3\n"
    subprocess.run(["dpkg-deb", "-x", package, tmp_path / "deb"], check=True)
    with tarfile.open(tmp_path / "tally-operator-tools.tar.gz") as archive:
        archive.extractall(tmp_path / "tar")
    for root in (tmp_path / "deb", tmp_path / "tar"):
        for tool in ("tally-ctl", "tally-top", "perf-vms"):
            subprocess.run([root / "usr/bin" / tool, "--help"], check=True, cwd="/",
                           stdout=subprocess.DEVNULL)
        done = subprocess.run([root / "usr/bin/tally-ctl", "--operator", "vms", "--json"],
                              check=True, capture_output=True, text=True, cwd="/")
        assert done.stdout == VMS + "\n"
