# SPDX-License-Identifier: Apache-2.0
"""VM trees of bare guests with ports of networks (guests/bare/io/net.c)."""

import re

import harness
import plain
from shared_memory import MIB, TREE, VM


def vm(name, bootargs, hart=0, properties=""):
    """A node of /vms."""
    return VM.format(name=name, memory=4 * MIB, bootargs="kind=net " + bootargs, hart=hart,
                     properties=properties)


def network(*ports, name="lan", uplink=None, more=None, properties=""):
    """A node of /networks: VMs with the MACs 02:00:00:00:00:01 and so on, in this order; more:
    further properties of their ports, by name; properties: those of the network."""
    return f"\n\t\t{name} {{ {properties} " + " ".join(
        f"{port} {{ mac-address = [02 00 00 00 00 {n:02x}]; "
        f"{'uplink = {}on{};'.format(chr(34), chr(34)) if port == uplink else ''} "
        f"{(more or {}).get(port, '')} }};"
        for n, port in enumerate(ports, 1)) + " };"


def run(tmp_path, vms, networks, options=(), **others):
    """Runs a tree of these nodes."""
    plain.make("build/guests/bare.bin")
    file = tmp_path / "vms.dts"
    text = TREE.format(vms="".join(vms), shared="").replace("shared {", "networks {" + networks)
    file.write_text(text, encoding="utf-8")
    return harness.run(file, options=["--include", harness.BUILD / "guests", *options], **others)


def counts(result, name, port=0):
    """(sent, refused, received, lost) of a VM's port, at the end of its last life."""
    line = [line for line in result.own if line.startswith(f"vm {name}: port {port}: ")][-1]
    found = re.search(r"sent frames=(\d+) bytes=\d+ refused=(\d+), received frames=(\d+) "
                      r"bytes=\d+ lost=(\d+)", line)
    return tuple(map(int, found.groups()))
