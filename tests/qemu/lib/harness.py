# SPDX-License-Identifier: Apache-2.0
"""Boots for tests: Tally with some VMs, or a Debian kernel on OpenSBI alone as the reference."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / "build"
GUEST = BUILD / "guest"
sys.path.append(str(ROOT / "tools/lib"))  # tally_ctl

# Exit statuses of tools/run.
OK, VM_FAILED, USAGE, REFUSED, DEPENDENCY, TIMEOUT, NO_VERDICT, STANDSTILL = range(8)
INTERRUPTED = 130

# Ends what hangs, in seconds. No outcome depends on it: a machine under load may need many times
# what an idle one does, and tests count events or the machine's own time.
GUARD = 900

# Of `make DEBUG=1 test-qemu`: the hypervisor that checks its invariants, which takes longer.
KERNEL = os.environ.get("TALLY_KERNEL")
# In ticks, how much later than it may a window begins there: the hart is looked at behind the last
# look at the clock.
CHECKS = 3 if KERNEL else 0


def at_most(insns):
    """What Tally may take for something, in instructions; with its checks it takes up to three
    times as much."""
    return 3 * insns if KERNEL else insns


# Every test of a count runs on both; so do those of all that a guest sees.
BACKENDS = ("sbi", "ssccfg")
both_backends = pytest.mark.parametrize("backend", BACKENDS)


def backends_short_on(backend):
    """Both as parameters of what needs much time: only this one is in the short suite."""
    return [name if name == backend else pytest.param(name, marks=pytest.mark.long)
            for name in BACKENDS]


def short_on(backend):
    """The same as a mark of a test."""
    return pytest.mark.parametrize("backend", backends_short_on(backend))



# No request of a guest may keep a hart longer, in instructions. Boot says what it computes of a
# schedule's tree: this for ordinary trees, and more for those with very many vcpus.
LONGEST_STAY = at_most(5000)
PROMISE = re.compile(r"hart \d+: no stay in HS is longer than (\d+) instructions; "
                     r"least guard (\d+) us")

VM_NODE = """
		{name} {{
			memory = /bits/ 64 <({memory} << 20)>;
			kernel = <&debian>;
			initrd = <&initramfs>;
			bootargs = "console=ttyS0 panic=-1 quiet {bootargs}";
			restart-limit = <{restarts}>;
{properties}
			vcpu0 {{
				harts = <0>;
			}};
		}};
"""

LINUX_TREE = """/dts-v1/;
/ {{
	compatible = "tally,vm-tree-1";
	images {{
		debian: kernel {{ data = /incbin/("Image"); }};
		initramfs: initramfs {{ data = /incbin/("{initrd}"); }};
	}};
	vms {{{nodes}
	}};
}};
"""


class Result:
    """What one run printed, and how it ended."""

    def __init__(self, status, console, messages=""):
        self.status = status
        self.console = console.replace("\r", "")
        self.messages = messages
        self.lines = self.console.split("\n")

    @property
    def own(self):
        """Tally's lines, without their prefix."""
        return [line[len("tally: ") :] for line in self.lines if line.startswith("tally: ")]

    def vm(self, name):
        """Lines that one VM printed, without their prefix, long ones put together again."""
        lines = []
        for line in self.lines:
            if line.startswith(f"[{name}] "):
                lines.append(line[len(name) + 3 :])
            elif line == f"[{name}]":
                lines.append("")
            elif line.startswith(f"[{name}]+") and lines:
                lines[-1] += line[len(name) + 3 :].removeprefix(" ")
        return lines

    def guest_output(self, name, test):
        """The lines between "TEST begin" and "TEST end N" of a Linux guest; N must be 0."""
        return framed(self.vm(name), test)

    def __str__(self):
        return f"status {self.status}\n{self.messages}\n{self.console}"


def framed(lines, test):
    """The lines that guests/linux/init framed; fails if the test did not end with status 0."""
    assert f"{test} begin" in lines, f"{test} did not begin:\n" + "\n".join(lines[-40:])
    start = lines.index(f"{test} begin") + 1
    ends = [n for n in range(start, len(lines)) if re.fullmatch(rf"{test} end \d+", lines[n])]
    assert ends, f"{test} did not end:\n" + "\n".join(lines[-40:])
    assert lines[ends[0]] == f"{test} end 0", "\n".join(lines[start : ends[0] + 1])
    return lines[start : ends[0]]


def perf_counts(lines):
    """{event: count} of the lines of `perf stat -x,`; a count that perf has not is a word."""
    counts = {}
    for line in lines:
        found = re.fullmatch(r"(\d+|<not [a-z]+>),[^,]*,([^,]+),\d+,[\d.]+,.*", line)
        if found:
            value = found.group(1)
            counts[found.group(2)] = int(value) if value.isdigit() else value
    return counts


# Of runs of a build with DEBUG=1, which conftest.py has checked after each test (ledger.py).
ledgers = []


def is_debug(options):
    """Whether that build is booted."""
    words = [KERNEL and "--kernel", KERNEL, *map(str, options)]
    kernels = [after for word, after in zip(words, words[1:]) if word == "--kernel"]
    return bool(kernels) and "debug" in Path(kernels[-1]).parts


def ledger_of(options):
    """The option that keeps a ledger, if that build is booted."""
    if not is_debug(options) or "--ledger" in options:
        return []
    file, name = tempfile.mkstemp(suffix=".ledger")
    os.close(file)
    ledgers.append(name)
    return ["--ledger", name]


def command(vms, profile="exact", backend="auto", timeout=GUARD, options=()):
    """The command that boots a VM tree."""
    kernel = ["--kernel", KERNEL] if KERNEL else []
    return [str(ROOT / "tools/run"), "--vms", str(vms), "--profile", profile, "--backend", backend,
            "--timeout", str(timeout), *kernel, *ledger_of(options), *map(str, options)]


def first_port():
    """The first of 200 ports of this computer at which no other worker of this session has guests:
    a port that tools/run-debian finds free, another one finds free as well until QEMU has it."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    return 10000 + 200 * (os.getppid() % 12 * 8 + worker % 8)


def several_harts(folder, harts, more="", qemu="qemu-system-riscv64"):
    """The options for a machine of several harts in the exact profile; more: of QEMU's. QEMU counts
    the instructions of all of them on each, so a count is right only while one hart is awake."""
    script = folder / "qemu"
    script.write_text(f'#!/bin/sh\nexec {qemu} "$@" -smp {harts} {more}\n',
                      encoding="utf-8")
    script.chmod(0o755)
    return ["--qemu", script, "--append", "tally.inexact-counts"]


def exit_counts(line):
    """{cause: count} of Tally's line about a vcpu's exits, with "hs-instructions" and
    "longest-stay"."""
    return {key: int(value) for key, value in re.findall(r"([a-z-]+)=(\d+)", line)}


# (instructions, test, vcpu) of each vcpu's longest stay in HS, of every run in the exact profile of
# this process; conftest.py gathers them.
stays = []


# us, of windows for one vcpu whose neighbours have one device interrupt at most; boot computes it.
LEAST_GUARD = {"ssccfg": 8, "sbi": 31}


def promises(result):
    """(longest stay in instructions, least guard in us) of each schedule, as boot computes them."""
    return [tuple(map(int, found.groups())) for found in map(PROMISE.match, result.own) if found]


def note_stays(result):
    """Adds a run's vcpus to `stays`, and fails if one of them stayed too long."""
    most = max((stay for stay, _ in promises(result)), default=LONGEST_STAY)
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rsplit(" ", 1)[0]
    for line in result.own:
        # The last line of a run that was ended may be cut.
        found = re.match(r"vm (\S+: vcpu \d+): exits .* longest-stay=(\d+)", line)
        if found:
            stay = int(found.group(2))
            stays.append((stay, test, found.group(1)))
            assert stay <= most, line


def run(vms, until=None, meanwhile=None, stays=True, **arguments):
    """Boots a VM tree and waits for its end, or for a line that contains `until`: then the status
    is INTERRUPTED. meanwhile: a thread that is started when guests are about to. stays: False where
    several harts are awake, whose instructions are in each stay, or where the serial line is full,
    whose reader HS waits for. They are not looked at in a build with DEBUG=1. Other
    arguments as for command().
    """
    exact = arguments.get("profile", "exact") == "exact"
    # The messages go to a file, so that they cannot fill a pipe that nobody reads.
    with tempfile.TemporaryFile() as messages:
        with subprocess.Popen(command(vms, **arguments), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=messages) as process:
            console = bytearray()
            for line in process.stdout:
                console += line
                if meanwhile and b"to the first guest" in line:
                    meanwhile.start()
                    meanwhile = None
                if until and until in line.decode(errors="replace"):
                    process.terminate()
                    until = None
        messages.seek(0)
        result = Result(process.returncode, console.decode(errors="replace"),
                        messages.read().decode())
    if exact and stays and not is_debug(arguments.get("options", ())):
        note_stays(result)
    return result


def initramfs(folder, scripts):
    """The guests' initramfs and /test/NAME for each shell script of {NAME: text}."""
    tests = folder / "test"
    tests.mkdir(exist_ok=True)
    for name, text in scripts.items():
        (tests / name).write_text(text, encoding="utf-8")
    packed = folder / "initramfs-tests.cpio"
    subprocess.run([ROOT / "tools/initramfs", "-b", GUEST / "initramfs.cpio", "-o", packed,
                    f"{tests}=test"], check=True)
    return packed


def linux_tree(folder, scripts, memory=256, properties="", bootargs="", restarts=0):
    """A VM tree with a Debian guest for each {NAME: shell script}; on hart 0, memory in MiB.
    properties: further lines for each VM's node. restarts: without them a panic is a failure."""
    initrd = initramfs(folder, scripts)
    nodes = "".join(VM_NODE.format(name=name, memory=memory, properties=properties,
                                   restarts=restarts,
                                   bootargs=f"tally.name={name} tally.test={name} {bootargs}")
                    for name in scripts)
    tree = folder / "vms.dts"
    tree.write_text(LINUX_TREE.format(initrd=initrd, nodes=nodes), encoding="utf-8")
    return tree


def bare_linux(folder, script, name="bare", timeout=GUARD):
    """Lines of a shell script in the same Debian guest on OpenSBI alone: what a count ought to
    be."""
    done = subprocess.run(
        ["qemu-system-riscv64", "-machine", "virt",
         "-cpu", "rv64,sscofpmf=on,smcntrpmf=on,ssaia=on,ssccfg=on", "-smp", "1", "-m", "512M",
         "-display", "none", "-serial", "stdio", "-monitor", "none", "-no-reboot",
         "-icount", "shift=0,sleep=off", "-seed", "1", "-rtc", "base=2026-01-01,clock=vm",
         "-bios", "/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin",
         "-kernel", GUEST / "Image", "-initrd", initramfs(folder, {name: script}),
         "-append", f"console=ttyS0 panic=-1 quiet tally.name={name} tally.test={name}"],
        stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=True)
    lines = done.stdout.decode(errors="replace").replace("\r", "").split("\n")
    return framed(lines, name)
