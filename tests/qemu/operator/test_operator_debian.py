# SPDX-License-Identifier: Apache-2.0
"""dts/operator.dts by tools/run-debian: a guest with a disk watches two that work, and stops them.
Here its disk is a small one with busybox; test_operator_debian_long.py has Debian's."""

import contextlib
import json
import subprocess
import time

import pytest

from disks import BEGIN, disk_of
import harness
from operator_trees import answered
import plain
from tallylib import tally_ctl

PAUSE_S = 0.5

ASKS = BEGIN + """ask() { echo "$*" | /usr/lib/tally/bin/tally-operator; }
stat -c '%a %u' /usr/lib/tally/tools/tally-ctl
ls -l /usr/bin/tally-ctl | sed 's/.* -> //'
echo "ops begin"
ask vms
ask vms --json
ask observe linux 2
ask pmu --json
ask no such command
ask stays on
ask stays off
ask stop nobody
ask stop linux
ask stop control
ask unobserve --json
echo "ops end $?"
mount -o remount,ro /
poweroff -f
"""


def command(disks, *options):
    """That of tools/run-debian."""
    kernel = ["--kernel", harness.KERNEL] if harness.KERNEL else []
    return [harness.ROOT / "tools/run-debian", "--disks", disks, "--operator", "--port",
            str(harness.first_port()), *options, "--", "--log-dir", disks / "logs", "--control",
            disks / "control", *kernel]


def run(disks):
    """Boots them; once the operator is off, who is at the serial line ends the machine: VMs that
    were stopped could be started again. The exit status and what is said."""
    with open(disks / "said", "w+", encoding="utf-8") as said, subprocess.Popen(
            command(disks), stdin=subprocess.DEVNULL, stdout=said, stderr=said) as process:
        while process.poll() is None:
            with contextlib.suppress(tally_ctl.Unreachable, tally_ctl.NoAnswer), \
                    tally_ctl.Machine(str(disks / "control"), harness.GUARD) as machine:
                if {vm["vm"]: vm["state"] for vm in machine.objects("vms")}["ops"] == "off":
                    machine.ask("poweroff")
            time.sleep(PAUSE_S)
        said.seek(0)
        return process.returncode, said.read()


@pytest.mark.long
def test_watches_and_stops(tmp_path):
    """The tools are on its disk, and it asks until nobody is left but itself."""
    for target in ("build/guest/disk.cpio", "build/guest/partitions.cpio", "build/guests/bare.bin",
                   "operator-tools"):
        plain.make(target)
    disk_of(tmp_path, ASKS)
    (tmp_path / "disk.ext4.made").write_text("of this", encoding="ascii")
    (tmp_path / "key").touch()
    told = subprocess.run(command(tmp_path, "--json"), stdin=subprocess.DEVNULL, check=True,
                          capture_output=True, text=True).stdout
    guests = json.loads(told)["guests"]
    assert {name: guest["watches"] for name, guest in guests.items()} == {
        "ops": ["linux", "control", "ops"]}
    status, said = run(tmp_path)
    assert status == harness.OK, said
    assert ("ops: it is an operator of linux, control, ops; "
            "type there  tally-ctl --operator vms") in said
    text = (tmp_path / "logs/ops.log").read_text().replace("\r", "").split("\n")
    begin = text.index("ops begin")
    assert text[begin - 2:begin] == ["755 0", "../lib/tally/tools/tally-ctl"]
    lines = harness.framed(text, "ops")
    assert lines.count("ready") == 11
    (table, objects, observed, pmu, unknown, traced, untraced, nobody, linux, control,
     end) = answered(lines)
    assert [line.split()[1].rstrip(",") for line in table[0]] == ["linux", "control", "ops"]
    assert [(one["vm"], one["state"], one.get("operator")) for one in map(json.loads, objects[0])
            ] == [("linux", "running", None), ("control", "running", None),
                  ("ops", "running", "all")]
    assert traced[1] == untraced[1] == 0
    assert observed[1] == pmu[1] == 0 and unknown[1] == 2
    assert nobody == (['stop: "nobody" is not in operator-vms'], 1), nobody
    assert linux[1] == control[1] == end[1] == 0
    (line,) = map(json.loads, end[0])
    assert line["ended"] and line["value"] > 0
    subprocess.run(["/usr/sbin/e2fsck", "-fn", tmp_path / "ops.ext4"], check=True,
                   capture_output=True)
