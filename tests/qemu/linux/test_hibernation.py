# SPDX-License-Identifier: Apache-2.0
"""A Debian guest with two vcpus hibernates to its disk. It resumes in its VM's next life, or when
the machine is run again, and then counts and samples exactly."""

import re
import shutil

import pytest

import boots
import harness

PROPERTIES = """
			memory-at = /bits/ 64 <0x90000000 0x10000000>;
			devices { disk { host = "/soc/virtio_mmio@10001000"; dma = "trusted"; }; };
"""
# If the disk has an image, the write to `resume` does not return: the script that wrote the image
# goes on, behind its write to `state`.
SCRIPT = """
insmod /test/virtio_mmio.ko && insmod /test/virtio_blk.ko || exit
until [ -b /dev/vda ]; do sleep 0.1; done
echo "looks for an image"
cat /sys/block/vda/dev >/sys/power/resume
mkswap /dev/vda >/dev/null && swapon /dev/vda || exit
echo kept >/tmp/before
echo {mode} >/sys/power/disk
echo "hibernates"
echo disk >/sys/power/state || exit
echo "$(cat /tmp/before), $(nproc) vcpus"
for cpu in 0 1; do
	taskset $((1 << cpu)) perf stat -x, -e instructions:u work 20000000 2>&1
	taskset $((1 << cpu)) perf record -q -e instructions:u -c 1000000 -o /tmp/data work 20000000
	perf report -i /tmp/data -D 2>/dev/null | grep -c PERF_RECORD_SAMPLE
done
"""


COUNTED = ["kept, 2 vcpus"] + ["20000000,,instructions:u", "20"] * 2


@pytest.fixture(name="machine")
def made_machine(tmp_path):
    """run(MODE, ...): one run of the machine. Its disk is kept for the next run."""
    test = tmp_path / "test"
    test.mkdir()
    for name in ("virtio_mmio", "virtio_blk"):
        shutil.copy(harness.GUEST / f"disk-modules/{name}.ko", test)
    disk = tmp_path / "disk"
    with open(disk, "wb") as file:
        file.truncate(256 << 20)

    def run(mode, **arguments):
        tree = boots.smp_tree(tmp_path, {"alpha": SCRIPT.format(mode=mode)},
                              {"alpha": ("0", "0")}, properties=PROPERTIES, restarts=1)
        result = harness.run(tree, profile="interactive", options=["--disk", f"alpha={disk}"],
                             **arguments)
        assert result.status == harness.OK, str(result)
        return result

    return run


def said(result):
    """The guest's lines but for the kernel's, without the times of counts."""
    return [re.sub(",[0-9]+,100.00,,", "", line) for line in result.vm("alpha")
            if line and not line.startswith("[")]


def lives(result):
    """Tally's lines about ends and beginnings of the VM's lives."""
    return re.findall("^vm alpha: (asked for a restart|starts again|ended|failed.*)",
                      "\n".join(result.own), re.M)


# The back end of the run below is the other one.
@harness.short_on("sbi")
def test_resumed_after_a_restart(machine, backend):
    result = machine("reboot", backend=backend)
    assert lives(result) == ["asked for a restart", "starts again", "ended"]
    assert said(result) == ["alpha begin", "looks for an image", "hibernates", "alpha begin",
                            "looks for an image", *COUNTED, "alpha end 0"]


@pytest.mark.long
def test_resumed_in_another_run(machine):
    first = machine("shutdown", backend="ssccfg")
    assert lives(first) == ["ended"]
    assert said(first) == ["alpha begin", "looks for an image", "hibernates"]
    second = machine("shutdown", backend="ssccfg")
    assert lives(second) == ["ended"]
    assert said(second) == ["alpha begin", "looks for an image", *COUNTED, "alpha end 0"]
