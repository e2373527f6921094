# SPDX-License-Identifier: Apache-2.0
"""Trees of VMs that never run: the nodes of which bad_trees.py makes its mistakes."""

from typing import NamedTuple

MIB = 1 << 20
TREE = """/dts-v1/;
/ {{
	compatible = "tally,vm-tree-1";
	images {{ bare: bare {{ data = /incbin/("hundred-zeros.bin"); }};{images} }};
	vms {{
{vms}	}};
{shared}{networks}}};
"""
VM = "\t\t{name} {{ memory{memory}; kernel = <&bare>; {lines} {vcpus} }};\n"


class Bad(NamedTuple):
    """A tree, the machine that it is for, and the words of Tally's refusal."""
    what: str
    words: str
    vms: tuple = (("one", ""),)
    shared: str = ""
    images: str = ""
    machine: str = "one hart"
    networks: str = ""

    def text(self):
        """The tree."""
        shared = f"\tshared {{ {self.shared} }};\n" if self.shared else ""
        networks = f"\tnetworks {{ {self.networks} }};\n" if self.networks else ""
        return TREE.format(vms="".join(node(*vm) for vm in self.vms), shared=shared,
                           images=self.images, networks=networks)


def node(name, lines, harts="0", memory=" = /bits/ 64 <0x200000>"):
    """The node of a VM: its lines, and the harts of each vcpu, between commas."""
    vcpus = " ".join(f"vcpu{n} {{ harts = <{which}>; }};"
                     for n, which in enumerate(harts.split(",")))
    return VM.format(name=name, memory=memory, lines=lines, vcpus=vcpus)


def at(*pairs):
    """memory-at in the place of memory."""
    return "-at = /bits/ 64 <%s>" % " ".join(f"{where:#x} {size:#x}" for where, size in pairs)


def devices(*nodes):
    """The devices of a VM."""
    return "devices { %s };" % " ".join(nodes)


def device(host, dma="none", more="", name="it"):
    """One of them, by its node."""
    return f'{name} {{ host = "{host}"; dma = "{dma}"; {more} }};'


def function(pci, dma="isolated", more="", name="it"):
    """One of them, by its PCI function."""
    return f'{name} {{ pci = "{pci}"; dma = "{dma}"; {more} }};'


def memory(name, where, access="read-write", size=4096, vm="one"):
    """A shared memory of one VM."""
    return (f"{name} {{ size = /bits/ 64 <{size:#x}>; "
            f'{vm} {{ at = /bits/ 64 <{where:#x}>; access = "{access}"; }}; }};')


def many(which):
    """16 PCI functions, by numbers that no other such call gives."""
    return [function(f"00:{2 + n // 8 + which:02x}.{n % 8}", name=f"d{n}") for n in range(16)]
