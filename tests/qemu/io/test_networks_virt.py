# SPDX-License-Identifier: Apache-2.0
"""Ports of VMs with machine = "virt": virtio network devices in slots of virtio-MMIO."""

import json
import re
import shutil

import pytest

import harness
from measured import EXPECTED, MEASURE
from networks import counts, network, run, vm
from operator_trees import operator
import operators
import plain
import shared_memory
from vm_check import check

VIRT = 'machine = "virt";'
# A disk of the machine in the first slot.
DISK = ("memory-at = /bits/ 64 <0x90000000 0x400000>; devices { disk { "
        'host = "/soc/virtio_mmio@10001000"; dma = "trusted"; }; };')


def virt(name, bootargs, hart=0, properties=""):
    """A node of /vms whose guest looks into the slots."""
    return vm(name, "virt=yes " + bootargs, hart, VIRT + properties)


@pytest.mark.parametrize("sender, receiver, args", [
    (virt, vm, ""), (vm, virt, "burst=32 events=1"), (virt, virt, "parts=6"),
    (virt, vm, "burst=32 events=1")])
def test_there_and_back(tmp_path, sender, receiver, args):
    """Frames between a port in a slot and one on a PCI bus."""
    result = run(tmp_path, [sender("alpha", f"role=ping to=2 frames=64 size=1518 {args}"),
                            receiver("beta", f"role=echo {args}")], network("alpha", "beta"))
    assert result.status == harness.OK, str(result)
    assert result.vm("alpha") == ["net: 64 frames there and back, 0 wrong"]
    assert result.vm("beta") == ["net: 64 frames sent back"]


@pytest.mark.parametrize("sender, receiver", [(virt, vm), (vm, virt)])
def test_who_gets_a_frame(tmp_path, sender, receiver):
    """The counts are those of two PCI functions: sent, refused, received, lost."""
    script = "255.0.60,2.0.1518,9.0.60,2.3.60,2.0.13,2.0.1519,3.0.60"
    result = run(tmp_path, [sender("alpha", f"role=talk after=200000 script={script}"),
                            receiver("beta", "role=listen"), virt("gamma", "role=listen")],
                 network("alpha", "beta", "gamma"))
    assert result.status == harness.OK, str(result)
    for name in ("beta", "gamma"):
        assert result.vm(name) == ["net: 2 frames of 1", "net: 0 strange"], str(result)
        assert counts(result, name) == (0, 0, 3, 0)
    # With the frame that ends them.
    assert counts(result, "alpha") == (5, 3, 0, 0)


def test_restarts(tmp_path):
    """Frames come without a pause: a life finds its memory clear, and the device as after reset."""
    lives = 10
    vms = [vm("alpha", "role=flood to=2 ticks=1000000 size=1514"),
           virt("beta", "role=lives frames=40", 0, f"restart-limit = <{lives}>;")]
    result = run(tmp_path, vms, network("alpha", "beta"))
    assert set(result.vm("beta")) == {"net: 0 strange"}, str(result)
    assert sum("starts again" in line for line in result.own) == lives, str(result)


def test_hostile_queues(tmp_path):
    """As test_networks.py has it for PCI functions; no stay is long."""
    vms = [virt("alpha", "role=hostile seed=3 rounds=1000"),
           virt("beta", "role=hostile seed=4 rounds=1000"),
           vm("gamma", "role=listen deaf=1 ticks=3000000")]
    result = run(tmp_path, vms, network("alpha", "beta", "gamma"))
    assert result.status == harness.OK, str(result)
    for name in ("alpha", "beta"):
        assert result.vm(name) == ["net: 1000 hostile rounds, 0 changed"], str(result)


@pytest.mark.long
def test_hostile_registers(tmp_path):
    """All kinds of instructions at all kinds of offsets of a port; the other VM counts exactly."""
    vms = [shared_memory.vm("alpha", MEASURE),
           shared_memory.vm("beta", "kind=hostile ticks=0 virt=yes", properties=VIRT)]
    result = run(tmp_path, vms, network("alpha", "beta"))
    assert result.vm("alpha") == EXPECTED, str(result)
    assert "hostile: memory done, 0 let through" in result.vm("beta")
    assert result.vm("beta")[-1] == "hostile: ends"


def test_a_link(tmp_path):
    """Bit 1 of InterruptStatus and another generation for each change, and nothing otherwise."""
    soon = "+20000"
    asked = [(300000, "link alpha down"), (soon, "link alpha up"), (soon, "stop beta")]
    vms = [virt("alpha", "role=link changes=2 to=2"),
           vm("beta", "role=listen deaf=1 ticks=30000000"),
           operator(asked, access="control", vms='"alpha", "beta"')]
    result = run(tmp_path, vms, network("alpha", "beta"), until=operators.ENDED)
    assert [status for _, status in operators.answers(result)] == [0] * 3
    assert result.vm("alpha") == ["net: link up, generation 0", "net: link down, generation 1",
                                  "net: link up, generation 2"], str(result)
    assert counts(result, "alpha") == (2, 0, 0, 1), str(result)


def test_an_access_that_is_recorded(tmp_path):
    """With crash-exits each access takes another path through HS."""
    crash = 'crash-exits = "on";'
    vms = [virt("alpha", "role=ping to=2 frames=64 size=1514 burst=64", 0, crash),
           virt("beta", "role=echo burst=64", 0, crash)]
    result = run(tmp_path, vms, network("alpha", "beta"))
    assert result.vm("alpha") == ["net: 64 frames there and back, 0 wrong"], str(result)


def test_several_ports_beside_a_device(tmp_path):
    """They have the lowest slots that are free, as boot and tools/vm-check say."""
    vms = [virt("alpha", "role=ping to=2 frames=8 size=60", properties=DISK),
           virt("beta", "role=echo")]
    networks = network("alpha", "beta") + "other { alpha { }; beta { }; };"
    result = run(tmp_path, vms, networks)
    assert result.status == harness.OK, str(result)
    assert result.vm("alpha") == ["net: 8 frames there and back, 0 wrong"]
    file = tmp_path / "vms.dts"
    booted = [line for line in result.own if "has a port of network lan" in line]
    assert booted == [
        f"vm {name}: has a port of network lan, 02:00:00:00:00:0{n}, virtio-mmio at {at}"
        for n, (name, at) in enumerate((("alpha", "0x10002000"), ("beta", "0x10001000")), 1)]
    beta = json.loads(check(file, "--json").stdout)["vms"][1]
    assert [(port["source"], port["transport"], port["at"]) for port in beta["ports"]] == [
        (1, "mmio", 0x10001000), (2, "mmio", 0x10002000)]
    assert ("  port      of lan: 02:00:00:00:00:02; source 1; virtio-mmio at 0x10001000"
            in check(file).stdout.splitlines())


LINUX = """insmod /test/virtio_mmio.ko
for name in failover net_failover virtio_net; do insmod /test/$name.ko; done
readlink -f /sys/class/net/eth0/device; cat /sys/class/net/eth0/address
ip link set eth0 up; ip addr add 10.0.0.1/24 dev eth0
ping -q -c 1 10.0.0.2 | grep packets; ping -q -c 9 -i 0.01 10.0.0.2 | grep packets
awk '/virtio/ { print $5, $NF, ($2 > 0) }' /proc/interrupts
"""
BARE = """
		beta {
			memory = /bits/ 64 <(4 << 20)>;
			kernel = <&bare>;
			bootargs = "kind=net role=host ip=2 pings=10";
			vcpu0 { harts = <0>; };
		};
	};
	networks { lan { alpha { mac-address = [02 00 00 00 00 01]; }; beta { }; }; };
};
"""


@pytest.mark.long
def test_linux(tmp_path):
    """Debian's drivers, of the transport and of the network, and a bare guest on a PCI bus."""
    (tmp_path / "test").mkdir()
    for name in ("virtio_mmio", "failover", "net_failover", "virtio_net"):
        shutil.copy(harness.ROOT / f"build/guest/disk-modules/{name}.ko", tmp_path / "test")
    tree = harness.linux_tree(tmp_path, {"alpha": LINUX}, properties=VIRT)
    bare = plain.make("build/guests/bare.bin")
    text = re.sub(r"\}\s*;\s*\}\s*;\s*$", lambda _: BARE, tree.read_text(encoding="utf-8"))
    text = text.replace("images {", f'images {{ bare: bare {{ data = /incbin/("{bare}"); }};', 1)
    tree.write_text(text, encoding="utf-8")
    result = harness.run(tree)
    assert result.status == harness.OK, str(result)
    assert harness.framed(result.vm("alpha"), "alpha") == [
        "/sys/devices/platform/soc/10001000.virtio_mmio/virtio0", "02:00:00:00:00:01",
        *(f"{n} packets transmitted, {n} packets received, 0% packet loss" for n in (1, 9)),
        "1 virtio0 1"]
