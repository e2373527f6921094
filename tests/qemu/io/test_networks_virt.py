# SPDX-License-Identifier: Apache-2.0
"""Ports of VMs with machine = "virt": virtio network devices in slots of virtio-MMIO."""

import pytest

import harness
from networks import counts, network, run, vm

VIRT = 'machine = "virt";'


def virt(name, bootargs, hart=0, properties=""):
    """A node of /vms whose guest looks into the slots."""
    return vm(name, "virt=yes " + bootargs, hart, VIRT + properties)


@pytest.mark.parametrize("args", ["", "events=1", "parts=6", "burst=32 events=1"])
@pytest.mark.parametrize("sender, receiver", [(virt, vm), (vm, virt), (virt, virt)])
def test_there_and_back(tmp_path, sender, receiver, args):
    """Frames of a port in a slot reach one on a PCI bus, and the other way round."""
    result = run(tmp_path, [sender("alpha", f"role=ping to=2 frames=64 size=1518 {args}"),
                            receiver("beta", f"role=echo {args}")], network("alpha", "beta"))
    assert result.status == harness.OK, str(result)
    assert result.vm("alpha") == ["net: 64 frames there and back, 0 wrong"]
    assert result.vm("beta") == ["net: 64 frames sent back"]
    assert counts(result, "beta")[0] == counts(result, "alpha")[2]
