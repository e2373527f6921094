# SPDX-License-Identifier: Apache-2.0
"""VM trees of guests that share memory, and ring each other's bells there."""

import re
import subprocess

import harness
import plain

RINGS = """
		{name} {{
			size = /bits/ 64 <0x10000>;
			{users}
		}};"""
PLACE = {"alpha": 0x100000000, "beta": 0x40000000, "gamma": 0x1ffff800000}
MIB = 1 << 20
MESSAGES = 1000000
TREE = """/dts-v1/;
/ {{
	compatible = "tally,vm-tree-1";
	images {{ bare: bare {{ data = /incbin/("bare.bin"); }}; }};
	vms {{{vms}
	}};
	shared {{{shared}
	}};
}};
"""
VM = """
		{name} {{
			memory = /bits/ 64 <{memory}>;
			kernel = <&bare>;
			bootargs = "{bootargs}";
			pmu-snapshot = "on";
			{properties}
			vcpu0 {{ harts = <{hart}>; }};
		}};"""
SHARED = """
		{name} {{
			size = /bits/ 64 <{size:#x}>;
			{users}
		}};"""
USER = '{vm} {{ at = /bits/ 64 <{at:#x}>; access = "{access}"; }};'


def bells(chip, names, name="ring", source=1):
    """A node of /shared."""
    identity = f"bell-identity = <{source + 4}>;" if chip == "aia" else ""
    return RINGS.format(name=name, users=" ".join(
        f'{user} {{ at = /bits/ 64 <{PLACE[user]:#x}>; access = "read-write"; bell = <{source}>; '
        f"{identity} }};" for user in names))


def vm(name, bootargs, hart=0, properties=""):
    """A node of /vms."""
    return VM.format(name=name, memory=4 * MIB, bootargs=bootargs, hart=hart,
                     properties=properties)


def shared(name, size, users):
    """A node of /shared: users are {VM: (address, access)}."""
    return SHARED.format(name=name, size=size, users=" ".join(
        USER.format(vm=user, at=at, access=access) for user, (at, access) in users.items()))


def run(tmp_path, vms, memories, options=(), **others):
    """Runs a tree of these nodes."""
    plain.make("build/guests/bare.bin")
    file = tmp_path / "vms.dts"
    file.write_text(TREE.format(vms="".join(vms), shared="".join(memories)), encoding="utf-8")
    return harness.run(file, options=["--include", harness.BUILD / "guests", *options],
                       **others)


# The smallest pages and the largest blocks, below and above the VMs' own memory.
DOWN = shared("down", 0x101000, {"sender": (0x100000000, "read-write"),
                                "receiver": (0x40000000, "read")})
UP = shared("up", 4 * MIB + 4096, {"sender": (0x10200000, "read"),
                                   "receiver": (0x1ffff800000, "read-write")})


def ring(slots, messages=MESSAGES, hart=0):
    """The two who pass messages."""
    args = f"kind=shared messages={messages} slots={slots} role="
    return [vm("sender", args + "send"), vm("receiver", args + "receive", hart)]


def lines_of(result):
    """What each of them says of its messages, and how often both looked in vain."""
    lines = [result.vm(name) for name in ("sender", "receiver")]
    looks = [int(re.fullmatch(r"shared: looked in vain (\d+) times", second)[1])
             for _, second in lines]
    return [first for first, _ in lines], sum(looks)


def check(file, *options):
    """Runs tools/vm-check."""
    plain.make("vm-check")
    command = [harness.ROOT / "tools/vm-check", "-i", harness.BUILD / "guests", *options, file]
    return subprocess.run(command, capture_output=True, text=True, check=False)
