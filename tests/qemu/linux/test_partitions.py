# SPDX-License-Identifier: Apache-2.0
"""The trees of docs/partitioning.md, each booted as it is shipped: that it does what it is for.
That of a device passed through is in test_devices.py, as test_the_shipped_tree."""

import re
import subprocess

import pytest

import bare_guests
from disks import WRITES, content, disk_of
import harness
from lives import WARDEN_LINES, ends_of
import plain

STEPS = r"steps: (\d+) steps, the latest \d+ ticks late, (\d+) exits"


def boot(name, status=harness.OK, **arguments):
    """Boots dts/NAME."""
    for image in ("build/guests/bare.bin", "build/guest/disk.cpio"):
        plain.make(image)
    result = harness.run(harness.ROOT / "dts" / name, **arguments)
    assert result.status == status, str(result)
    return result


def paced(lines):
    """(steps, exits) of a control loop."""
    (line,) = lines
    return tuple(map(int, re.fullmatch(STEPS, line).groups()))


def interruptions(result, name):
    """Exits of a VM that it did not ask for."""
    exits = bare_guests.exits(result, name)
    return {cause: exits[cause] for cause in ("timer", "irq", "lcofi", "other") if exits[cause]}


def test_a_loop_beside_linux():
    """Linux measures and powers off; the loop on its own hart has no exit in 5000 steps."""
    result = boot("partition-loop.dts", profile="smp")
    assert paced(result.vm("control")) == (5000, 0)
    assert not interruptions(result, "control")
    assert "vm control: not looked at while it computes: a trap loop goes unnoticed" in result.own
    assert "report begin" in result.vm("linux") and "vm linux: ended" in result.own


def test_a_ring():
    """A million messages, each right, each instruction of both counted."""
    result = boot("partition-ring.dts")
    exact = "0 wrong, 0 instructions too many or too few"
    for name, done in (("sensor", "sent"), ("logger", "received")):
        assert result.vm(name)[0] == f"shared: {done} 1000000 messages, {exact}"


def test_a_warden():
    """Each answer, three new lives of the worker, and none of the bystander."""
    result = boot("partition-warden.dts", harness.INTERRUPTED, until="vm warden: ended")
    assert result.vm("warden") == ["warden: ends, 68 checks, 0 failed"], str(result)
    assert ends_of(result, "worker") == WARDEN_LINES
    assert ends_of(result, "bystander") == []
    assert result.vm("worker") == ["busy: begins"] * 4
    assert result.vm("bystander") == ["busy: begins"]


@pytest.mark.long
def test_disks_beside_a_safety_loop(tmp_path):
    """What each Debian guest writes is on its own disk, and the loop has no exit meanwhile."""
    disks = {}
    for name in ("alpha", "beta"):
        (tmp_path / name).mkdir()
        disks[name] = disk_of(tmp_path / name, WRITES.replace("alpha", name))
    logs = tmp_path / "logs"
    result = boot("partition-disks.dts", profile="smp", options=[
        "--log-dir", logs, *(word for name, disk in disks.items()
                             for word in ("--disk", f"{name}={disk}"))])
    for name, disk in disks.items():
        lines = harness.framed((logs / f"{name}.log").read_text().split("\n"), name)
        assert "written on the host" in lines
        assert re.fullmatch(r"[0-9a-f]{32}  -\n", content(disk, "/after"))
        subprocess.run(["/usr/sbin/e2fsck", "-fn", disk], check=True, capture_output=True)
    # What an exit was for is in the other one.
    assert not interruptions(result, "safety")
    assert paced((logs / "safety.log").read_text().splitlines()) == (15000, 0), str(result)
