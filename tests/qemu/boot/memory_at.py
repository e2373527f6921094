# SPDX-License-Identifier: Apache-2.0
"""VM trees of guests whose memory lies at chosen addresses, and host trees that keep memory."""

KEPT = "/reserved-memory/kept@"
MIB = 1 << 20
TREE = """/dts-v1/;
/ {{
	compatible = "tally,vm-tree-1";
	images {{ bare: bare {{ data = /incbin/("bare.bin"); }}; }};
	vms {{{nodes}
	}};
}};
"""
NODE = """
		{name} {{
			{memory};
			kernel = <&bare>;
			bootargs = "{bootargs}";
			restart-limit = <2>;

			vcpu0 {{ harts = <0>; }};
		}};
"""


def keep(base, size):
    """What keeps memory from everybody."""
    return [["-cp", "host.dtb", f"{KEPT}{base:x}"],
            ["-t", "x", "host.dtb", f"{KEPT}{base:x}", "reg", "0", f"{base:x}", "0", f"{size:x}"]]


def reserved(*ranges):
    """A tree that keeps memory has these in it."""
    return [["-cp", "host.dtb", "/reserved-memory"],
            ["host.dtb", "/reserved-memory", "#address-cells", "2"],
            ["host.dtb", "/reserved-memory", "#size-cells", "2"],
            ["host.dtb", "/reserved-memory", "ranges"],
            *[edit for it in ranges for edit in keep(*it)]]


def memory_at(pieces):
    """The property."""
    numbers = " ".join(f"{base:#x} {size:#x}" for base, size in pieces)
    return f"memory-at = /bits/ 64 <{numbers}>"


def tree(guests):
    """{name: (pieces, or MiB anywhere, bootargs)} as the text of a tree."""
    return TREE.format(nodes="".join(
        NODE.format(name=name, bootargs=bootargs, memory=memory_at(memory) if isinstance(
            memory, list) else f"memory = /bits/ 64 <{memory * MIB}>")
        for name, (memory, bootargs) in guests.items()))


def lives(pieces, n):
    """What kind=pieces prints in so many lives."""
    lines = [line for base, size in sorted(pieces) for line in (
        "piece!", "piece!", f"pieces: {base:x} has {size:x} bytes, dirty words 0")]
    return (lines + [f"pieces: {len(pieces)}, wrong 0, counted 2001"]) * n
