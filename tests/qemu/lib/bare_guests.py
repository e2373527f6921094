# SPDX-License-Identifier: Apache-2.0
"""VM trees of bare guests (guests/selftest, guests/bare) that share hart 0, and what they print."""

import string
import struct

import harness
import plain

# For as long as a test looks.
FOREVER = "kind=busy ticks=100000000000"
LOGISTIC_STEPS = 300000  # of guests/bare/vcpu/smp.c
VM = """
		{name} {{
			memory = /bits/ 64 <({memory} << 20)>;
			kernel = <&{image}>;
			bootargs = "{bootargs}";
{properties}
{vcpus}
		}};
"""
VCPU = "\t\t\tvcpu{n} {{ harts = <{harts}>; }};"

# What the boot report says of a VM, behind its name.
NO_OVERFLOW = "no overflow interrupts, so no sampling and in Linux no filters"

TREE = """/dts-v1/;
/ {{
	compatible = "tally,vm-tree-1";
	images {{
		selftest: selftest {{ data = /incbin/("selftest.bin"); }};
		bare: bare {{ data = /incbin/("bare.bin"); }};
		sampling: sampling {{ data = /incbin/("sampling.bin"); }};
	}};
	vms {{{nodes}
	}};
}};
"""


def image(bootargs):
    """Which program the bootargs are for."""
    for word, name in (("kind=", "bare"), ("sampling=", "sampling")):
        if word in bootargs:
            return name
    return "selftest"


def tree(guests, vcpus=("0",), properties="", memory=16, own=None):
    """The text of a tree. guests: {NAME: bootargs}; those with kind= are guests/bare,
    those with sampling= guests/sampling.
    vcpus: the harts of each vcpu of every VM; properties: further lines for each VM's node;
    own: {NAME: lines} for one VM's alone, behind those; memory: of each, in MiB."""
    lines = "\n".join(VCPU.format(n=n, harts=harts) for n, harts in enumerate(vcpus))
    own = own or {}
    nodes = "".join(VM.format(name=name, bootargs=bootargs, vcpus=lines,
                              properties=properties + own.get(name, ""), memory=memory,
                              image=image(bootargs))
                    for name, bootargs in guests.items())
    return TREE.format(nodes=nodes)


def boot(folder, guests, status=harness.OK, vcpus=("0",), properties="", memory=16, own=None,
         **arguments):
    """Boots the guests on Tally; the result, whose status must be as told."""
    for name in ("selftest", "bare", "sampling"):
        plain.make(f"build/guests/{name}.bin")
    file = folder / "bare.dts"
    file.write_text(tree(guests, vcpus, properties, memory, own), encoding="utf-8")
    options = ["--include", harness.BUILD / "guests", *arguments.pop("options", ())]
    result = harness.run(file, options=options, **arguments)
    assert result.status == status, str(result)
    return result


def exits(result, name):
    """{cause: count} of a VM's first vcpu, with "hs-instructions" and "longest-stay"."""
    for line in result.own:
        if line.startswith(f"vm {name}: vcpu 0: exits "):
            return harness.exit_counts(line)
    raise AssertionError(f"no exits of {name} in\n{result}")


def kinds(lines):
    """How many lines of the self test begin with each verdict."""
    return {kind: sum(line.startswith(kind + " ") for line in lines)
            for kind in ("PASS", "FAIL", "KNOWN", "SKIP")}


def letters(n):
    """Line n of the bare guest `chatter`."""
    return f"line {n} " + (string.ascii_lowercase * 4)[: n % 97]


def on_harts(folder, harts):
    """The options for a machine of several harts in the exact profile."""
    return [*harness.several_harts(folder, harts), "--include", harness.BUILD / "guests"]


def logistic(vcpu):
    """What guests/bare/vcpu/smp.c computes: the same double, to the last bit."""
    x = 0.1 + 0.01 * vcpu
    for _ in range(LOGISTIC_STEPS):
        x = 3.9 * x * (1.0 - x)
    return struct.pack(">d", x).hex().lstrip("0")
