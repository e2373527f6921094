# SPDX-License-Identifier: Apache-2.0
"""Debian starts another kernel without a reset, by kexec or after a panic (kdump), while its two
vcpus are counted and sampled. The next kernel counts and samples exactly."""

import os
import re
import shutil
import subprocess

import pytest

import boots
import harness

# The next kernel has the same initramfs, which `retain_initrd` shows as a file, and runs
# /test/after.
LOAD = """
/test/kexec {how} /test/Image /sys/firmware/initrd "console=ttyS0 panic=-1 quiet \\
	rootfstype=ramfs tally.name=alpha tally.test=after" || exit
"""
# Until both vcpus have had overflow interrupts. All of these programs go on.
BUSY = """
perf record -q -a -e cycles -c 1000000 -o /tmp/data sleep 1000 2>/dev/null &
perf stat -a -e cycles,instructions,instructions:u -o /tmp/stat sleep 1000 &
until awk '/riscv-pmu/ { exit !($2 >= 20 && $3 >= 20) }' /proc/interrupts; do
	taskset 1 work 1000000 & taskset 2 work 1000000
done
for cpu in 0 1; do
	taskset $((1 << cpu)) work 1000000000000 &
done
work 10000000
echo "$(nproc) vcpus are counted and sampled"
"""
# A panic is that of vcpu 1, so the next kernel begins there.
GO = {"load": "/test/kexec run", "crash": "taskset 2 sh -c 'echo c >/proc/sysrq-trigger'"}
AFTER = """
echo "$(nproc) vcpus, $(grep -c 'Crash kernel' /proc/iomem) for a crash"
for cpu in 0 1; do
	taskset $((1 << cpu)) perf stat -x, -e instructions:u work 20000000 2>&1
	taskset $((1 << cpu)) perf record -q -e instructions:u -c 1000000 -o /tmp/data work 20000000
	perf report -i /tmp/data -D 2>/dev/null | grep -c PERF_RECORD_SAMPLE
done
"""


def boot(folder, how, busy=BUSY, properties="", **arguments):
    """Boots a guest that starts another kernel."""
    test = folder / "test"
    test.mkdir()
    shutil.copy(harness.GUEST / "Image", test)
    subprocess.run([os.environ.get("CROSS_COMPILE", "riscv64-linux-gnu-") + "gcc", "-static", "-O2",
                    "-Wall", "-Wextra", "-Werror", "-I", harness.GUEST / "include",
                    harness.ROOT / "tests/qemu/programs/kexec.c", harness.GUEST / "libfdt.a",
                    "-o", test / "kexec"], check=True)
    (test / "after").write_text(AFTER, encoding="ascii")
    # The initramfs needs more than the half of memory that a tmpfs may have.
    bootargs = "rootfstype=ramfs retain_initrd" + " crashkernel=256M" * (how == "crash")
    tree = boots.smp_tree(folder, {"alpha": LOAD.format(how=how) + busy + GO[how]},
                          {"alpha": ("0", "0")}, memory=704, bootargs=bootargs,
                          properties=properties)
    # The VM has one piece of memory beside the VM tree.
    options = ["--memory", "2G", *arguments.pop("options", ())]
    return harness.run(tree, options=options, **arguments)


def told(result):
    """Tally's lines about the ends of the VM's lives."""
    return [line.removeprefix("vm alpha: ") for line in result.own
            if re.match("vm alpha: (ended|failed|asked|starts)", line)]


# Counters that still count are what the back ends differ in: a panic leaves them so, a shutdown of
# Linux's own stops them.
@pytest.mark.parametrize("how, backend", [
    ("crash", "sbi"), pytest.param("crash", "ssccfg", marks=pytest.mark.long),
    *(pytest.param("load", backend, marks=pytest.mark.long) for backend in harness.BACKENDS)])
def test_the_next_kernel_counts_exactly(tmp_path, how, backend):
    result = boot(tmp_path, how, backend=backend)
    assert result.status == harness.OK, str(result)
    assert told(result) == ["ended"]
    lines = result.vm("alpha")
    assert "2 vcpus are counted and sampled" in lines
    if how == "crash":
        assert any("Kernel panic - not syncing: sysrq triggered crash" in line for line in lines)
        assert any(re.search("Will call new kernel at .* from hart id 1", line) for line in lines)
    lines = result.guest_output("alpha", "after")
    assert lines.pop(0) == "2 vcpus, 0 for a crash"
    assert [re.sub(",[0-9]+,100.00,,", "", line) for line in lines] == [
        "20000000,,instructions:u", "20"] * 2


@pytest.mark.parametrize("how", ["load", pytest.param("crash", marks=pytest.mark.long)])
def test_none_where_a_bad_access_stops_the_vm(tmp_path, how):
    """Linux clears satp while its pc is a virtual address, and lets the access fault that follows
    take it to the physical one, in stvec."""
    result = boot(tmp_path, how, busy="", properties='\t\t\tbad-access = "stop";')
    assert result.status == harness.VM_FAILED, str(result)
    (line,) = told(result)
    pc = re.fullmatch("failed: jump outside its memory, to (f[0-9a-f]{15})", line)[1]
    vcpu = {"load": 0, "crash": 1}[how]
    state = " ".join(re.findall(f"vm alpha: vcpu {vcpu}: (?!exits)(.*)", "\n".join(result.own)))
    assert f"pc {pc} " in state and "satp 0000000000000000 " in state
    assert re.search("stvec 00000000[0-9a-f]{8} ", state)
