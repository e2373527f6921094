# SPDX-License-Identifier: Apache-2.0
"""A VM with machine = "virt" is like QEMU's machine to a kernel that has its addresses built in."""

import re

import pytest

import bare_guests
import harness
from hosts import CLOCK
from measured import EXPECTED, MEASURE
from runlib.qemu import U_BOOT

VIRT = 'machine = "virt";'
EMPTY = "virt: slot {n}: magic 0x74726976, version 2, device 0, status 0, rest 0x0"
TAKEN = "virt: vcpu {n}: 1 interrupts, source 10, IIR 2; by M 0"
M_CONTEXT = "virt: M context 0: enabled 0x0, threshold 0, pending 0x400, claims 0"


def lines(vcpus=1, slots=range(8)):
    return [*(TAKEN.format(n=n) for n in range(vcpus)), M_CONTEXT,
            *(EMPTY.format(n=n) for n in slots)]


def test_interrupts_and_slots_at_fixed_addresses(tmp_path):
    result = bare_guests.boot(tmp_path, {"alpha": "kind=virt"}, properties=VIRT)
    assert result.vm("alpha") == lines()


def test_each_vcpu_has_its_odd_context(tmp_path):
    result = bare_guests.boot(tmp_path, {"alpha": "kind=virt"}, vcpus=["0"] * 8, properties=VIRT)
    assert result.vm("alpha") == lines(8)


def test_each_hart_has_its_odd_context(tmp_path):
    result = bare_guests.boot(tmp_path, {"alpha": "kind=virt"}, vcpus=["0", "1"], properties=VIRT,
                              profile="smp", options=["--harts", 2])
    assert result.vm("alpha") == lines(2)


def test_a_life_leaves_nothing(tmp_path):
    """Three lives of one VM."""
    result = bare_guests.boot(tmp_path, {"alpha": "kind=virt"},
                              properties=VIRT + 'restart = "always"; restart-limit = <2>;')
    assert result.vm("alpha") == lines() * 3


def test_without_the_property(tmp_path):
    """Context 1 is no vcpu's, context 0 is one of S-mode, and there are no slots."""
    result = bare_guests.boot(tmp_path, {"alpha": "kind=virt slots=no"}, status=harness.VM_FAILED)
    assert result.vm("alpha") == [
        "virt: vcpu 0: 0 interrupts, source 0, IIR 0; by M 0",
        "virt: M context 0: enabled 0xfffffffe, threshold 7, pending 0x400, claims 10"]
    result = bare_guests.boot(tmp_path, {"alpha": "kind=virt"}, status=harness.VM_FAILED)
    assert result.vm("alpha")[2] == (
        "guest: unexpected trap: cause 0x5, sepc 0x%s, stval 0x1000100c"
        % re.search(r"sepc 0x([0-9a-f]+)", result.vm("alpha")[2])[1])


@pytest.mark.parametrize("aia", ["none", "aplic"])
def test_a_clock_where_virt_has_it(tmp_path, aia):
    """Its source is 11 here, without interrupt-numbers; the interrupts are those of the host."""
    result = bare_guests.boot(tmp_path, {"alpha": "kind=virt clock=yes"}, own={"alpha": CLOCK},
                              properties=VIRT, options=["--aia", aia])
    assert ("vm alpha: clock is /soc/rtc@101000: registers 101000 to 101fff; interrupt 11 as 11"
            in result.own)
    assert result.vm("alpha") == [*lines()[:1], "virt: 3 alarms, source 11", *lines()[1:]]


DISK = ("memory-at = /bits/ 64 <0x90000000 0x1000000>; devices { disk { "
        'host = "/soc/virtio_mmio@10003000"; dma = "trusted"; }; };')


def test_a_device_in_the_place_of_a_slot(tmp_path):
    """The machine's third slot is empty too, but of an older version, and tells its vendor."""
    result = bare_guests.boot(tmp_path, {"alpha": "kind=virt"}, own={"alpha": DISK},
                              properties=VIRT)
    assert ("vm alpha: disk is /soc/virtio_mmio@10003000: registers 10003000 to 10003fff; "
            "interrupt 3 as 3" in result.own), str(result)
    own = "virt: slot 2: magic 0x74726976, version 1, device 0, status 0, rest 0x554d4551"
    assert result.vm("alpha") == [*lines(slots=range(2)), own, *lines(slots=range(3, 8))[2:]]


@harness.both_backends
def test_hostile_gets_nothing(tmp_path, backend):
    """All instructions at all kinds of offsets of PLIC and slots; the other VM counts exactly."""
    result = bare_guests.boot(tmp_path, {"alpha": MEASURE, "beta": "kind=hostile ticks=0 virt=yes"},
                              own={"beta": VIRT}, backend=backend)
    assert result.vm("alpha") == EXPECTED
    assert "hostile: memory done, 0 let through" in result.vm("beta")
    assert result.vm("beta")[-1] == "hostile: ends"


LINUX = """ls -1 /sys/bus/platform/devices | grep '^1' | sort
awk '/PLIC/ { print $5, $7, ($2 > 0) }' /proc/interrupts
dmesg | sed -n 's/.*riscv-plic: //p; s/.*serial: \\(ttyS0 at MMIO [0-9a-fx]*\\).*/\\1/p'
cat /sys/class/rtc/rtc0/name
"""


def test_linux(tmp_path):
    """Debian's kernel finds all by its device tree: the sources are those of virt, there is one
    handler for two contexts, and the console's interrupts come."""
    tree = harness.linux_tree(tmp_path, {"alpha": LINUX}, properties=VIRT)
    result = harness.run(tree)
    assert result.status == harness.OK, str(result)
    assert harness.framed(result.vm("alpha"), "alpha") == [
        "10000000.serial", *(f"1000{n}000.virtio_mmio" for n in range(1, 9)), "101000.rtc",
        "10 ttyS0 1", "11 101000.rtc 0",
        "plic@c000000: mapped 31 interrupts with 1 handlers for 2 contexts.",
        "ttyS0 at MMIO 0x10000000", "goldfish_rtc 101000.rtc"]


TREE = """/dts-v1/;
/ {
	compatible = "tally,vm-tree-1";
	images { u_boot: u-boot { data = /incbin/("%s"); }; };
	vms {
		alpha {
			memory = /bits/ 64 <(64 << 20)>;
			kernel = <&u_boot>;
			load-offset = /bits/ 64 <0x200000>;
			%s
			vcpu0 { harts = <0>; };
		};
	};
};
"""


# By the U-Boot of Debian 12 and of 13: devices and uclasses with virt and without, and its console.
U_BOOTS = {"2023.01": ((19, 8), (11, 8), "serial@10000000"),
           "2025.01": ((21, 9), (13, 8), "serial,usbkbd")}


@pytest.mark.parametrize("properties", [VIRT, ""])
def test_u_boot(tmp_path, properties):
    """It is linked for 0x80200000, as for virt, and finds eight devices more there."""
    file = tmp_path / "u-boot.dts"
    file.write_text(TREE % (U_BOOT, properties), encoding="ascii")
    result = harness.run(file, until="Net:   No ethernet found.")
    assert result.status == harness.INTERRUPTED
    assert "DRAM:  64 MiB" in result.vm("alpha")
    (version,) = re.findall(r"^U-Boot (20\d\d\.\d\d)", "\n".join(result.vm("alpha")), re.M)
    *found, console = U_BOOTS[version]
    devices, uclasses = found[0 if properties else 1]
    assert (f"Core:  {devices} devices, {uclasses} uclasses, devicetree: board"
            in result.vm("alpha"))
    assert f"In:    {console}" in result.vm("alpha")
