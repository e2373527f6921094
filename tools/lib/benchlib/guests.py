# SPDX-License-Identifier: Apache-2.0
"""Debian guests: what runs in them under which conditions, and the figures that come out."""

import os
import re
import subprocess

from benchlib import machine

WORKLOADS = ("compute", "syscalls", "memory", "pipe", "forks", "gzip")
# More events than any machine here has counters: 16 programmable ones, cycle and instret.
MANY = ",".join(f"{event}{modes}" for event in ("cycles", "instructions")
                for modes in ("", ":u", ":k", ":u", ":k", "", "", ":u", ":k", ""))
STAT = "perf stat -x, -o /tmp/stat -e "
RECORD = "perf record -o /tmp/data -e cycles -F "
# {name: what stands before the workload's command}
CONDITIONS = {
    "alone": "",
    "stat-1": STAT + "instructions",
    "stat-2": STAT + "cycles,instructions",
    "stat-20": STAT + MANY,
    "record-100": RECORD + "100",
    "record-1000": RECORD + "1000",
    "record-10000": RECORD + "10000",
}
RATES = (100, 1000, 10000)
PARTS = 3

# perf must not lower the rate that was asked for, and processes lie at the same addresses always.
SCRIPT = """\
sleep 3
grep -m 1 '^isa' /proc/cpuinfo >>/tmp/rows
echo 0 >/proc/sys/kernel/randomize_va_space
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
measure() {
	condition=$1
	shift
	rm -f /tmp/stat /tmp/data
	"$@" /test/workload WORKLOADS PARTS SLOT >/tmp/out 2>/tmp/err || cat /tmp/err >>/tmp/rows
	sed "s/^/$condition /" /tmp/out >>/tmp/rows
	sed -n "s/.*(\\([0-9]*\\) samples).*/$condition samples \\1/p" /tmp/err >>/tmp/rows
	[ ! -f /tmp/stat ] || sed -n "s/^\\([0-9]*\\|<not [a-z]*>\\),.*/$condition counted \\1/p" \\
		/tmp/stat >>/tmp/rows
}
CONDITIONS
cat /tmp/rows
echo "rows end"
# A console that is polled may be slow.
sleep 10
"""


def script(workloads, conditions, slot, parts=PARTS, plain=False):
    """The shell script that measures the workloads under each condition. slot in milliseconds.
    plain: they have the conditions' names, but run without perf."""
    lines = "\n".join(f"measure {name} {'' if plain else CONDITIONS[name]}" for name in conditions)
    return (SCRIPT.replace("WORKLOADS", ",".join(workloads)).replace("PARTS", str(parts))
            .replace("SLOT", str(slot)).replace("CONDITIONS", lines))


def initramfs(folder, scripts):
    """The guests' initramfs with workloads, and the test NAME for each {NAME: script}."""
    machine.make("build/guest/initramfs.cpio", "build/guests/workloads/workload")
    items = [os.path.join(machine.BUILD, "guests/workloads/workload") + "=test/workload"]
    for name, text in scripts.items():
        file = os.path.join(folder, name)
        with open(file, "w", encoding="ascii") as out:
            out.write(text)
        items.append(f"{file}=test/{name}")
    packed = os.path.join(folder, "bench.cpio")
    subprocess.run([os.path.join(machine.TOP, "tools", "initramfs"), "-b",
                    os.path.join(machine.GUEST, "initramfs.cpio"), "-o", packed, *items],
                   check=True)
    return packed


# Before the workload program gives a seed, a random stack offset would cost each system call of
# KVM's guests some 15,000 instructions.
BOOTARGS = ("console=ttyS0 panic=-1 quiet randomize_kstack_offset=off tally.name={0} "
            "tally.test={0}")

TREE = """/dts-v1/;
/ {{
	compatible = "tally,vm-tree-1";
	images {{
		debian: kernel {{ data = /incbin/("Image"); }};
		initramfs: initramfs {{ data = /incbin/("bench.cpio"); }};
	}};
	vms {{{nodes}
	}};
}};
"""
NODE = """
		vm{n} {{
			memory = /bits/ 64 <({memory} << 20)>;
			kernel = <&debian>;
			initrd = <&initramfs>;
			bootargs = "{bootargs}";
			{properties}
			vcpu0 {{ harts = <0>; }};
		}};"""


def tree(folder, vms, memory):
    """A VM tree of guests: [(script, properties)]. memory in MiB."""
    path = os.path.join(folder, "bench.dts")
    nodes = "".join(NODE.format(n=n, memory=memory, properties=properties,
                                bootargs=BOOTARGS.format(name))
                    for n, (name, properties) in enumerate(vms))
    with open(path, "w", encoding="ascii") as file:
        file.write(TREE.format(nodes=nodes))
    return path


def said_by(text, name):
    """What one VM printed, its long lines put together again; all of it if name is None."""
    if name is None:
        return text.split("\n")
    lines = []
    for line in text.split("\n"):
        if line.startswith(f"[{name}] "):
            lines.append(line[len(name) + 3:])
        elif line.startswith(f"[{name}]+") and lines:
            lines[-1] += line[len(name) + 3:].removeprefix(" ")
    return lines


def extensions(lines):
    """What a guest's kernel says of its hart: each extension, those of one letter first."""
    for line in lines:
        match = re.fullmatch(r"isa\s*: rv64(\w+)", line)
        if match:
            letters, *names = match.group(1).split("_")
            return [*letters, *names]
    raise machine.Failure("the guest did not tell its extensions:\n" + "\n".join(lines[-40:]))


def rows(lines, workloads, conditions):
    """{"WORKLOAD/CONDITION": {"begin": tick, "ticks": [...]}} and {CONDITION: {"samples": N,
    "counted": [...]}} of a guest's lines."""
    if "rows end" not in lines:
        raise machine.Failure("the guest did not come to its end:\n" + "\n".join(lines[-40:]))
    timed, seen = {}, {name: {"counted": []} for name in conditions}
    for line in lines:
        match = re.fullmatch(r"(\S+) work (\S+) (\d+):((?: \d+)+)", line)
        if match:
            condition, workload, begin, ticks = match.groups()
            timed[f"{workload}/{condition}"] = {"begin": int(begin),
                                               "ticks": [int(word) for word in ticks.split()]}
        match = re.fullmatch(r"(\S+) samples (\d+)", line)
        if match:
            seen[match.group(1)]["samples"] = int(match.group(2))
        match = re.fullmatch(r"(\S+) counted (.*)", line)
        if match:
            value = match.group(2)
            seen[match.group(1)]["counted"].append(int(value) if value.isdigit() else value)
    missing = {f"{w}/{c}" for w in workloads for c in conditions} - timed.keys()
    if missing:
        raise machine.Failure("no figure of %s:\n%s" % (", ".join(sorted(missing)),
                                                       "\n".join(lines[-40:])))
    return timed, seen
