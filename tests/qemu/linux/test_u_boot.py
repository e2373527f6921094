# SPDX-License-Identifier: Apache-2.0
"""Booted by U-Boot from a disk, with booti, as on a board: the VM tree is its ramdisk."""

import subprocess

import bare_guests
import harness
from measured import EXPECTED, MEASURE


@harness.short_on("sbi")
def test_counts_are_exact(tmp_path, backend):
    result = bare_guests.boot(tmp_path, {"alpha": MEASURE, "beta": MEASURE}, backend=backend,
                              options=["--u-boot"])
    for line in ("Found /extlinux/extlinux.conf", "   Image Name:   VM tree",
                 "Starting kernel ..."):
        assert line in result.lines, str(result)
    assert any(line.endswith(f"back end {backend}, overflow to guests") for line in result.own)
    for name in ("alpha", "beta"):
        assert result.vm(name) == EXPECTED


def test_the_disk(tmp_path):
    """What the tool says, and that it leaves a boot configuration alone that it did not make."""
    disk, tree = tmp_path / "disk", tmp_path / "vms.dtb"
    tool = harness.ROOT / "tools/u-boot-disk"

    def run(*words):
        done = subprocess.run([tool, *words], capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    assert "extlinux.conf" in subprocess.run([tool, "--help"], capture_output=True, text=True,
                                             check=True).stdout
    assert run(disk)[0] == 2
    assert run(disk, tree) == (1, f"u-boot-disk: no {tree}\n")
    tree.write_bytes(b"x" * 100)
    assert run(disk, tree, "tally.backend=sbi") == (0, "")
    conf = (disk / "extlinux/extlinux.conf").read_text()
    assert "APPEND tally.backend=sbi" in conf and "INITRD /vms.img" in conf
    assert (disk / "vms.img").read_bytes()[64:] == tree.read_bytes()
    assert run(disk, tree) == (1, f"u-boot-disk: {disk}/extlinux/extlinux.conf is there already\n")
