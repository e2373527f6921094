# SPDX-License-Identifier: Apache-2.0
"""A hostile guest with a DMA engine (QEMU's `edu`) behind the IOMMU: what it copies inside its
memory is exact, and nothing outside is read or written (docs/dma.md)."""

import hashlib

import pytest

import bare_guests
import harness
import hosts
from hosts import Monitor
from isolation import (
    CHIPS, END, FILE, MEMORY, NO_WIRES, SIZE, TALLY, chips, faults, machine, targets,
)
from measured import EXPECTED, MEASURE
import plain
from tallylib import tally_ctl

NEIGHBOUR = 0x98000000

TREE = """/dts-v1/;
/ {{
	compatible = "tally,vm-tree-1";
	images {{ bare: bare {{ data = /incbin/("bare.bin"); }}; }};
	vms {{
		alpha {{
			memory-at = /bits/ 64 <{memory:#x} {size:#x}>;
			kernel = <&bare>;
			bootargs = "kind=edu {bootargs}";
			restart = "never";
			restart-limit = <0>;
			{properties}
			vcpu0 {{ harts = <{hart}>; }};
			devices {{ edu {{ pci = "00:05.0"; dma = "isolated"; }}; }};
		}};
		beta {{
			memory-at = /bits/ 64 <{neighbour:#x} {size:#x}>;
			kernel = <&bare>;
			bootargs = "{beta}";
			{beta_devices}
			vcpu0 {{ harts = <0>; }};
		}};
	}};
}};
"""


def tree_of(folder, bootargs, beta=MEASURE, properties="", beta_devices="", hart=0, aia="none"):
    """The path of a tree with the hostile guest alpha."""
    plain.make("build/guests/bare.bin")
    if aia == "aia":
        properties += ' interrupts = "aia";'
    file = folder / "isolation.dts"
    file.write_text(TREE.format(memory=MEMORY, size=SIZE, neighbour=NEIGHBOUR, bootargs=bootargs,
                                beta=beta, properties=properties,
                                beta_devices=beta_devices, hart=hart), encoding="ascii")
    return file


def boot(folder, bootargs, status=harness.OK, aia="none", **arguments):
    """Boots it."""
    own = {name: arguments.pop(name) for name in ("beta", "properties", "beta_devices", "hart")
           if name in arguments}
    options = ["--include", harness.BUILD / "guests", *chips(aia), "--qemu",
               machine(folder, *arguments.pop("qemu", ())), *arguments.pop("options", ())]
    result = harness.run(tree_of(folder, bootargs, aia=aia, **own), options=options, **arguments)
    assert result.status == status, str(result)
    return result


@pytest.mark.parametrize("aia", CHIPS)
def test_inside(tmp_path, aia):
    """Each byte goes where it belongs, at both ends of its memory too. The neighbour counts exactly
    meanwhile."""
    result = boot(tmp_path, "", aia=aia)
    assert result.vm("alpha") == ["edu: inside: 0 bytes wrong", "edu: 0 targets, 0 bytes read",
                                  "edu: ends, 0 bytes wrong"]
    assert result.vm("beta") == EXPECTED
    assert not faults(result)


# Each address with the first one that is refused, if it is another.
AT_EDGES = {MEMORY - 4096: 0, MEMORY - 8: 0, MEMORY - 4: 0, MEMORY - 1: 0, END - 7: END,
            END - 4: END, END - 1: END, END: 0, END + 1: 0, END + 4096: 0}
ELSEWHERE = {
    "zero": 0, "power": 0x100000, "IOMMU": 0x3010000, "PLIC": 0xc000000, "UART": 0x10000000,
    "IMSIC": FILE, "ECAM": 0x30000000, "beta's BAR": 0x40100000,
    "firmware": 0x80000000, "Tally": TALLY.get("_image_start", 0),
    "rodata": TALLY.get("_rodata_start", 0), "data": TALLY.get("_data_start", 0),
    "beta": NEIGHBOUR, "beta's end": NEIGHBOUR + SIZE - 8,
    "above Sv39x4": 1 << 41, "its image": MEMORY | 1 << 41, "highest": (1 << 56) - 8,
}


@pytest.mark.parametrize("aia", ("none", "aia"))
def test_each_attempt_is_told(tmp_path, aia):
    """At each edge of its memory, and at what others have: nothing is read, and each attempt is a
    fault with its address. A guest with an AIA has a file where IMSICs are."""
    elsewhere = {name: at for name, at in ELSEWHERE.items() if (aia, name) != ("aia", "IMSIC")}
    wanted = {**AT_EDGES, **{at: 0 for at in elsewhere.values()}}
    assert len(wanted) == len(AT_EDGES) + len(elsewhere)
    result = boot(tmp_path, targets(wanted), aia=aia,
                  beta_devices='devices { rng { pci = "00:06.0"; dma = "isolated"; }; };')
    assert "vm beta: rng is 00:06.0: registers 40100000 to 40100fff" in str(result)
    said = result.vm("alpha")
    assert said[-2:] == [f"edu: {len(wanted)} targets, 0 bytes read", "edu: ends, 0 bytes wrong"]
    found = [fault[:3] for fault in faults(result)]
    for at, first in wanted.items():
        assert ("write to", first or at, 23) in found, (hex(at), str(result))
        assert ("read from", first or at, 21) in found, (hex(at), str(result))
    # A second line tells of the rest of the same eight bytes.
    for what, at, _ in found:
        assert any(0 <= at - (first or begin) < 8 for begin, first in wanted.items()), (what, at)
    assert result.vm("beta") == EXPECTED


def test_data_written_as_messages(tmp_path):
    """Where interrupt files are in the guest, its own and seven that it has not; in the machine its
    neighbour's is beside its own. QEMU (10.0) takes no message that a device writes as data, and
    makes no fault of it: it goes nowhere. What is read there is the guest's own file, or refused.
    """
    files = [FILE, FILE + 0xffc, FILE + 0x1000, FILE + 0x2000, FILE + 0x7000]
    result = boot(tmp_path, targets([*files, FILE + 0x8000]), aia="aia",
                  beta="kind=aia what=self messages=100000", beta_devices='interrupts = "aia";')
    assert result.vm("alpha")[-2:] == ["edu: 6 targets, 0 bytes read", "edu: ends, 0 bytes wrong"]
    assert result.vm("beta") == [
        "aia: 100000 messages, 100000 taken, 0 lost, 0 without a cause"]
    found = {fault[:3] for fault in faults(result)}
    assert found >= {("read from", at, 21) for at in files[2:]}
    assert {fault for fault in found if fault[0] == "write to"} == {
        ("write to", FILE + 0x8000, 23), ("write to", FILE + 0x8004, 23)}


@pytest.mark.parametrize("aia", CHIPS)
def test_bad_access_stops(tmp_path, aia):
    """The VM ends at the first one, and its neighbour goes on."""
    result = boot(tmp_path, targets([NEIGHBOUR, MEMORY - 8]), properties='bad-access = "stop";',
                  status=harness.VM_FAILED, aia=aia)
    assert result.vm("alpha") == ["edu: inside: 0 bytes wrong", f"edu: at {NEIGHBOUR:#x}"]
    assert f"vm alpha: failed: DMA outside its memory, to {NEIGHBOUR:x}" in result.own
    assert result.vm("beta") == EXPECTED


@pytest.mark.parametrize("aia", CHIPS)
def test_a_storm_is_turned_off(tmp_path, aia):
    """The engine writes 4 KiB in accesses of a few bytes, each a fault: it is turned off once, its
    next copies reach nothing at all, and the neighbour's counts are exact."""
    result = boot(tmp_path, targets([NEIGHBOUR]) + " burst=5", aia=aia)
    off = "vm alpha: DMA of edu is off until the VM's next life: 64 faults in 10 ms"
    assert result.own.count(off) == 1
    assert result.own.count("IOMMU: more faults than its queue holds: the rest is not known") == 1
    assert result.vm("alpha")[-2:] == ["edu: 5 bursts", "edu: ends, 0 bytes wrong"]
    after = result.own[result.own.index(off):]
    assert len([line for line in after if "DMA of edu (" in line]) <= 2
    assert result.vm("beta") == EXPECTED


@pytest.mark.parametrize("aia", CHIPS)
def test_on_another_hart(tmp_path, aia):
    """The interrupt follows to the hart of the VM that makes faults, which pays for them there. The
    guest mostly waits, which takes no time of this computer under -icount."""
    result = boot(tmp_path, targets([NEIGHBOUR, END]) + " burst=3", aia=aia, hart=1,
                  qemu=("-smp", "2"), options=["--append", "tally.inexact-counts"], stays=False,
                  beta="kind=idle ticks=1000")
    found = {fault[:3] for fault in faults(result)}
    assert {("write to", NEIGHBOUR, 23), ("read from", END, 21)} <= found, str(result)
    assert "vm alpha: DMA of edu is off until the VM's next life: 64 faults in 10 ms" in result.own
    assert result.vm("alpha")[-2:] == ["edu: 3 bursts", "edu: ends, 0 bytes wrong"]
    assert bare_guests.exits(result, "alpha")["irq"] >= 2


def test_faults_that_do_not_interrupt(tmp_path):
    """The IOMMU has no wires: Tally looks once a second, sees all, and turns off what storms."""
    result = boot(tmp_path, targets([NEIGHBOUR, END]) + " burst=20",
                  qemu=hosts.changed(tmp_path, NO_WIRES, iommu_sys="on"))
    found = {fault[:3] for fault in faults(result)}
    assert {("write to", NEIGHBOUR + 4, 23), ("read from", END + 4, 21)} <= found, str(result)
    assert "vm alpha: DMA of edu is off until the VM's next life: 64 faults in 10 ms" in result.own
    assert "IOMMU: more faults than its queue holds: the rest is not known" in result.own
    assert result.vm("beta") == EXPECTED


def snapshot(monitor, folder, name):
    """What must stay as it is: {what: SHA-256}."""
    parts = {"firmware": (0x80000000, 0x40000),
             "text": (TALLY["_image_start"], TALLY["_rodata_start"] - TALLY["_image_start"]),
             "rodata": (TALLY["_rodata_start"], TALLY["_data_start"] - TALLY["_rodata_start"]),
             "neighbour": (NEIGHBOUR, SIZE)}
    monitor.ask("stop")
    for part, (start, size) in parts.items():
        monitor.ask("pmemsave", val=start, size=size, filename=str(folder / f"{name}-{part}"))
    monitor.ask("cont")
    return {part: hashlib.sha256((folder / f"{name}-{part}").read_bytes()).hexdigest()
            for part in parts}


def wait_for_sleep(control, vm):
    """Until the VM has waited for an interrupt: what it printed last, it may print still."""
    with tally_ctl.Machine(str(control), timeout=harness.GUARD) as tally:
        while not any(row["vm"] == vm and row["wfi"] for row in tally.objects("exits")):
            pass


@pytest.mark.parametrize("aia", [
    "none", "aia", *(pytest.param(aia, marks=pytest.mark.long) for aia in CHIPS[1:-1])])
def test_nothing_has_changed(console, tmp_path, aia):
    """Firmware, Tally's text and read-only data, and all memory of a neighbour that sleeps are the
    same before and after. It is the IOMMU that keeps them, and a guest's AIA is another table of
    it; the wires of the machine's own controllers are not."""
    wanted = [MEMORY - 4, END - 4, 0x80020000, TALLY["_image_start"], TALLY["_data_start"] - 8,
              NEIGHBOUR, NEIGHBOUR + SIZE - 8]
    tree = tree_of(tmp_path, "wait=key gap=0 " + targets(wanted),
                   beta="kind=idle ticks=1000000000000000 period=1000000000000000", aia=aia)
    qemu = machine(tmp_path, "-qmp", f"unix:{tmp_path}/qmp,server=on,wait=off")
    screen = console(tree, options=[
        "--include", harness.BUILD / "guests", *chips(aia), "--qemu", qemu,
        "--control", tmp_path / "control"])
    for _ in range(2):
        screen.expect("edu: waits|idle: begins")
    wait_for_sleep(tmp_path / "control", "beta")
    monitor = Monitor(tmp_path / "qmp")
    before = snapshot(monitor, tmp_path, "before")
    screen.send("g")
    screen.expect(f"edu: {len(wanted)} targets, 0 bytes read")
    screen.expect("vm alpha: ended")
    after = snapshot(monitor, tmp_path, "after")
    assert after == before
    # The hashes are of what they say: Tally's text is in the image.
    image = (harness.BUILD / "tally.bin").read_bytes()
    assert (tmp_path / "after-text").read_bytes() in image
    assert any((tmp_path / "after-neighbour").read_bytes())
    monitor.ask("quit")
