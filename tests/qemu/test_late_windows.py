# SPDX-License-Identifier: Apache-2.0
"""Trees at the limits beside a window with a guard: 63 vcpus of nine VMs on one hart, whose timers
come together, nine device interrupts, and a VM that restarts without a pause."""

import re

import pytest

import bare_guests
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


@harness.both_backends
@pytest.mark.parametrize("nap", [0, 300, 40000])
def test_no_window_is_late(tmp_path, backend, nap):
    """With a guard that suffices each begins at its tick, and no stay is too long."""
    found, result = boot(tmp_path, 36, nap, backend=backend)
    assert found == {0: WINDOWS}, found
    assert bare_guests.exits(result, "victim")["longest-stay"] <= harness.LONGEST_STAY
