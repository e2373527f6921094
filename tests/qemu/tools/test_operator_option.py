# SPDX-License-Identifier: Apache-2.0
"""Tools in a guest whose VM is an operator: `--operator` asks the program tally-operator, for which
a program of this computer stands here; what `make operator-tools` packs."""

import base64
import json
import os
import struct
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


# Says what is in a file for each command, one use after the other, and notes the commands.
SCRIPTED = """#!/usr/bin/python3
import json, sys
with open("{answers}", encoding="ascii") as file:
    answers = json.load(file)
rings = []
print("ready", flush=True)
for line in sys.stdin:
    with open("{asked}", "a", encoding="ascii") as asked:
        asked.write(line)
    left = answers.get(line.strip(), [[1, ["refused"]]])
    status, lines = left.pop(0) if len(left) > 1 else left[0]
    if line.strip() == "samples":
        lines, rings = rings, []
    rings += answers.get("rings after " + line.strip(), [])
    print("".join("= %s\\n" % one for one in lines) + ". %d" % status, flush=True)
"""


def scripted(folder, answers):
    """A program for ask(). answers: {command: [(status, lines)]}, of which the last one is said
    again and again. "rings after COMMAND": [lines] that the next `samples` has. Commands go to the
    file "asked"."""
    (folder / "answers").write_text(json.dumps(answers), encoding="ascii")
    return SCRIPTED.format(answers=folder / "answers", asked=folder / "asked")


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


def words(*record):
    """The line of a record, as the program reads it in a ring of hart 3."""
    return "3 words " + base64.b64encode(struct.pack(f"<{len(record)}Q", *record)).decode()


BEGIN = words(7 << 32 | 0x84 << 24 | 3, 1000, 500)
STAY = words(8 << 32 | 0x80 << 24 | 4, 1001, 7 << 32 | 300, 0xff02ff)
END = words(10 << 32 | 0x85 << 24 | 3, 2000, 1200)
VCPU = '{"vm":"alpha","vcpu":0,"index":0,"hart":3,"timebase":10000000}'


def trace(folder, **answers):
    """Status, complaint and file of tally-trace in a guest."""
    said = {"vms --json": [(0, [VMS])], "stays off": [(0, [])], "stays on --json": [(0, [VCPU])],
            "samples": [(0, [])], "rings after stays on --json": [BEGIN, STAY],
            "rings after stays off": [END]}
    program = scripted(folder, said | answers)
    status, _, complaint = ask(folder, program, "tally-trace", "--operator", "-o",
                               folder / "trace.json", "--", "true")
    return status, complaint, folder / "trace.json"


def test_trace(tmp_path):
    """What is in the rings is in the file, and what is not there is told."""
    status, complaint, path = trace(tmp_path)
    assert (status, complaint) == (
        0, "[ tally-trace: alpha/0: 1 stays of 300 instructions in HS, 400 instructions are missing"
           " ]\n[ tally-trace: hart 3: 1 records were lost: they came faster than they were taken ]"
           "\n")
    other = json.loads(path.read_text(encoding="utf-8"))["otherData"]
    assert other["lost"] == {"hart 3": 1}
    assert other["vcpus"][0] | {"moves": 0, "lcofis": 0} == {
        "vm": "alpha", "vcpu": 0, "stays": 1, "instructions": 300, "hs_instructions": 700,
        "missing": 400, "moves": 0, "lcofis": 0}


def test_trace_refused(tmp_path):
    """Before it begins; and at its end, if another operator has taken it over, whole."""
    why = "stays: another operator traces"
    assert trace(tmp_path, **{"stays off": [(1, [why])]})[:2] == (2, f"tools/tally-trace: {why}\n")
    status, complaint, path = trace(tmp_path, **{"stays off": [(0, []), (1, [why])]})
    assert status == 0, complaint
    assert complaint.endswith("another program has begun a trace, and this one ended there ]\n")
    assert json.loads(path.read_text(encoding="utf-8"))["otherData"]["vcpus"][0]["missing"] == 400


def test_poweroff(tmp_path):
    """The others are asked to shut down. An operator that may not is refused before that."""
    row = json.loads(VMS)
    rows = [[json.dumps(each) for each in (row | alpha, row | {"vm": "ops", "operator": "all"})]
            for alpha in ({}, {"state": "off"})]
    off = "all VMs are being stopped, then the machine goes off"
    answers = {"vms --json": [(0, rows[0]), (0, rows[0]), (0, rows[1])],
               "shutdown alpha": [(0, ["alpha has 30 s to shut down"])],
               "last alpha --json": [(0, ['{"end":"shutdown"}'])], "poweroff": [(0, [off])]}
    assert ask(tmp_path, scripted(tmp_path, answers), "tally-ctl", "--operator", "poweroff") == (
        0, f"alpha has 30 s to shut down\nalpha has shut down and is off\n{off}\n", "")
    (tmp_path / "asked").unlink()
    for access in ({}, {"operator": "control"}):
        refused = {"vms --json": [(0, [json.dumps(row | access)])], "poweroff": [(1, ["no"])]}
        assert ask(tmp_path, scripted(tmp_path, refused), "tally-ctl", "--operator",
                   "poweroff") == (1, "", "tools/tally-ctl: no\n")
    assert (tmp_path / "asked").read_text(encoding="ascii") == "vms --json\npoweroff\n" * 2


@pytest.mark.parametrize("tool", [
    ["tally-ctl", "vms"], ["tally-top"], ["tally-trace", "-o", "/dev/null"],
    ["perf-vms", "stat", "--duration", "1"]],
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
        for tool in ("tally-ctl", "tally-top", "tally-trace", "perf-vms"):
            subprocess.run([root / "usr/bin" / tool, "--help"], check=True, cwd="/",
                           stdout=subprocess.DEVNULL)
        done = subprocess.run([root / "usr/bin/tally-ctl", "--operator", "vms", "--json"],
                              check=True, capture_output=True, text=True, cwd="/")
        assert done.stdout == VMS + "\n"
