# SPDX-License-Identifier: Apache-2.0
"""Trees at the limits beside a window with a guard: 63 vcpus of nine VMs on one hart, whose timers
come together, nine device interrupts, and a VM that restarts without a pause."""

import json
import re
import subprocess

import pytest

import harness
import plain

FRAME, START, LENGTH = 2000, 1000, 100  # us
WINDOWS = 100
DEVICES = "".join(f'd{n} {{ host = "/soc/virtio_mmio@{0x10001000 + 0x1000 * n:x}"; '
                  'dma = "trusted"; };' for n in range(8))
DEVICES += 'clock { host = "/soc/rtc@101000"; dma = "none"; };'
WIRES = 0x7fffffff & ~(1 << 10)  # all but the UART's

VM = """
	{name} {{
		{memory}
		kernel = <&bare>;
		restart-limit = <1000>;
		bootargs = "{bootargs}";
		{devices}
		{vcpus}
	}};
"""
TREE = """/dts-v1/;
/ {{
	compatible = "tally,vm-tree-1";
	images {{ bare: bare {{ data = /incbin/("bare.bin"); }}; }};
	vms {{ turn-us = <100>; {vms} }};
	shared {{ gusts {{
		size = /bits/ 64 <4096>;
		restarts {{ at = /bits/ 64 <0x100000000>; access = "read-write"; }};
		victim {{ at = /bits/ 64 <0x100000000>; }};
	}}; }};
	schedules {{ hart0 {{
		major-frame-us = <{frame}>;
		slack = {slack};
		victim {{ vm = "victim"; start-us = <{start}>; length-us = <{length}>; {guard} }};
	}}; }};
}};
"""


def vm(name, bootargs, vcpus, wires=False):
    """The text of a VM's node; wires: with all devices of the machine."""
    return VM.format(
        name=name, bootargs=bootargs, devices=f"devices {{ {DEVICES} }};" if wires else "",
        memory="memory-at = /bits/ 64 <0x90000000 0x400000>;" if wires else
        "memory = /bits/ 64 <(4 << 20)>;",
        vcpus=" ".join(f"vcpu{n} {{ harts = <0>; }};" for n in range(vcpus)))


def boot(folder, guard, nap, beside=7, **arguments):
    """{ticks that a window was late: how many windows}, and the run. beside: VMs with 8 vcpus."""
    vms = [vm("victim", f"kind=delays frame={FRAME * 10} start={START * 10} windows={WINDOWS}", 1),
           vm("restarts", "kind=tempest what=restart", 2)]
    for n in range(beside):
        wires = f"wires={WIRES}" if n == 0 else ""
        vms.append(vm(f"naps{n}", f"kind=naps nap={nap} {wires}", min(8, 60 - 8 * n), n == 0))
    slack = ", ".join(f'"naps{n}"' for n in range(beside))
    file = folder / "late.dts"
    file.write_text(TREE.format(vms="".join(vms), frame=FRAME, start=START, length=LENGTH,
                                slack='"restarts"' + (slack and ", " + slack),
                                guard=f"guard-us = <{guard}>;" if guard else ""),
                    encoding="ascii")
    plain.make("build/guests/bare.bin")
    result = harness.run(file, until="vm victim: ended", **arguments,
                         options=["--aia", "none", "--include", harness.BUILD / "guests"])
    lines = result.vm("victim")
    assert lines and lines[-1].startswith(f"delays: {WINDOWS} windows in"), str(result)
    return {int(late): int(times) for late, times in
            re.findall(r"^delay (\d+) ticks, (\d+) times$", "\n".join(lines), re.M)}, result


# What boot computes of this tree, in instructions and us.
LIMITS = {"ssccfg": (20100, 29), "sbi": (31220, 40)}
SMALL = {"ssccfg": (20000, 19), "sbi": (20000, 31)}


@harness.both_backends
@pytest.mark.parametrize("nap", [0, 300, 40000])
def test_no_window_is_late(tmp_path, backend, nap):
    """With the least guard that boot computes each begins at its tick, and no stay is longer than
    computed (harness.note_stays)."""
    found, result = boot(tmp_path, LIMITS[backend][1], nap, backend=backend)
    assert harness.promises(result) == [LIMITS[backend]]
    assert found == {0: WINDOWS}, found


@harness.both_backends
def test_a_small_tree_needs_less(tmp_path, backend):
    found, result = boot(tmp_path, SMALL[backend][1], 0, beside=0, backend=backend)
    assert harness.promises(result) == [SMALL[backend]]
    assert found == {0: WINDOWS}, found


@harness.both_backends
def test_a_guard_that_is_too_short(tmp_path, backend):
    """Windows are late then, by what it is too short at most."""
    found, result = boot(tmp_path, 10, 40000, backend=backend)
    least = harness.promises(result)[0][1]
    assert 0 < max(found) <= (least - 10) * 10, found


def test_vm_check_computes_the_same(tmp_path):
    """It does not know the harts' counters, so it takes them for the firmware's."""
    boot(tmp_path, 32, 40000, backend="sbi")
    done = subprocess.run([harness.ROOT / "tools/vm-check", "--json", "-i",
                           harness.BUILD / "guests", tmp_path / "late.dts"],
                          capture_output=True, text=True, check=True)
    (schedule,) = json.loads(done.stdout)["schedules"]
    assert (schedule["longest_stay"], schedule["least_guard_us"]) == LIMITS["sbi"]
