# SPDX-License-Identifier: Apache-2.0
"""tools/run as a process without a terminal: beside a control socket, to its end, or with a machine
that is a shell script."""

import os
import subprocess

import harness

TREE = """/dts-v1/;
/ { compatible = "tally,vm-tree-1"; images { x { data = [00]; }; }; vms { %s }; };
"""
WAITS = "while read -r line; do :; done\n"
QEMU = """#!/bin/sh
if [ "$1" = --version ]; then echo 'QEMU emulator version 10.0.2'; exit; fi
printf '%s\\n' "$@" >"$0.arguments"
cat "$0.console"
""" + WAITS
ENDED = "\x1e!vm alpha: ended\n\x1e!all VMs ended\n"


class Run:
    """tools/run without a terminal."""

    def __init__(self, process, path):
        self.process = process
        self.path = path
        self.console = ""

    def read_until(self, text):
        """Until a line contains text; everything, if there is none."""
        for line in self.process.stdout:
            self.console += line.decode(errors="replace")
            if text and text in self.console:
                return
        assert not text, self.console

    def read_line(self):
        """The next line, which must come."""
        line = self.process.stdout.readline().decode(errors="replace")
        assert line, self.console
        self.console += line

    def ctl(self, *words):
        """Status, lines of the answer and lines of complaint of tools/tally-ctl."""
        done = subprocess.run([harness.ROOT / "tools/tally-ctl", "--socket", self.path, "--timeout",
                               str(harness.GUARD), *words],
                              capture_output=True, text=True, check=False, timeout=harness.GUARD)
        return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()

    def wait_for_guests(self):
        """Tally answers while it still copies images; from here on every VM has begun."""
        while any(" loading " in line for line in self.ctl("vms")[1]):
            pass


def start(*arguments, cwd=harness.ROOT):
    """tools/run with these arguments, in the exact profile; status and messages."""
    done = subprocess.run([harness.ROOT / "tools/run", *map(str, arguments)], cwd=cwd,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False, timeout=harness.GUARD)
    return done.returncode, done.stderr


def start_fake(command, folder, **arguments):
    """Status and messages of a command of fake()."""
    arguments.setdefault("stdout", subprocess.DEVNULL)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          check=False, env={**os.environ, "TMPDIR": str(folder / "temporary")},
                          **arguments)
    return done.returncode, done.stderr


def fake(folder, console, names=("alpha",), ends=True):
    """The words of a command: tools/run with a machine that prints that, and ends or reads what is
    typed for ever."""
    tree = folder / "vms.dts"
    tree.write_text(TREE % "".join(name + " { }; " for name in names), encoding="ascii")
    qemu = folder / ("qemu" if ends else "qemu-on")
    qemu.write_text(QEMU if not ends else QEMU.replace(WAITS, ""), encoding="ascii")
    qemu.chmod(0o755)
    (folder / f"{qemu.name}.console").write_text(console, encoding="utf-8")
    bios = folder / "bios"
    bios.touch()
    return [str(harness.ROOT / "tools/run"), "--vms", str(tree), "--qemu", str(qemu), "--bios",
            str(bios), "--kernel", str(bios)]
