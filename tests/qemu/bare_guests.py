# SPDX-License-Identifier: Apache-2.0
"""VM trees of bare guests (guests/selftest, guests/bare) that share hart 0, and what they print."""

import re

import harness
import plain

VM = """
		{name} {{
			memory = /bits/ 64 <(16 << 20)>;
			kernel = <&{image}>;
			bootargs = "{bootargs}";

			vcpu0 {{
				harts = <0>;
			}};
		}};
"""

TREE = """/dts-v1/;
/ {{
	compatible = "tally,vm-tree-1";
	images {{
		selftest: selftest {{ data = /incbin/("selftest.bin"); }};
		bare: bare {{ data = /incbin/("bare.bin"); }};
	}};
	vms {{{nodes}
	}};
}};
"""


def tree(guests):
    """The text of a tree. guests: {NAME: bootargs}; those with kind= are guests/bare."""
    nodes = "".join(VM.format(name=name, bootargs=bootargs,
                              image="bare" if "kind=" in bootargs else "selftest")
                    for name, bootargs in guests.items())
    return TREE.format(nodes=nodes)


def boot(folder, guests, status=harness.OK, **arguments):
    """Boots the guests on Tally; the result, whose status must be as told."""
    for image in ("selftest", "bare"):
        plain.make(f"build/guests/{image}.bin")
    file = folder / "bare.dts"
    file.write_text(tree(guests), encoding="utf-8")
    arguments.setdefault("timeout", 120)
    result = harness.run(file, options=["--include", harness.BUILD / "guests"], **arguments)
    assert result.status == status, str(result)
    return result


def exits(result, name):
    """{cause: count} of a VM's only vcpu, with "hs-instructions" and "longest-stay"."""
    for line in result.own:
        if line.startswith(f"vm {name}: vcpu 0: exits "):
            return {key: int(value) for key, value in re.findall(r"([a-z-]+)=(\d+)", line)}
    raise AssertionError(f"no exits of {name} in\n{result}")


def kinds(lines):
    """How many lines of the self test begin with each verdict."""
    return {kind: sum(line.startswith(kind + " ") for line in lines)
            for kind in ("PASS", "FAIL", "KNOWN", "SKIP")}
