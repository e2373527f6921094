# SPDX-License-Identifier: Apache-2.0
"""The machine that is measured on, and the tools of this repository that boot it."""

import functools
import importlib.machinery
import importlib.util
import os
import re
import shlex
import subprocess
import sys

from runlib import qemu as run_qemu
from tallylib import ended
from tallylib.places import BUILD, TOP

GUEST = os.path.join(BUILD, "guest")
PEER = os.path.join(GUEST, "peer")


NEWER = "newer kernel of the KVM host"


class Failure(Exception):
    """A run that cannot be used, in words."""


@functools.lru_cache(None)
def tool(name):
    """A program of tools/ as a module."""
    path = os.path.join(TOP, "tools", name)
    loader = importlib.machinery.SourceFileLoader("tools_" + name.replace("-", "_"), path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


@functools.lru_cache(None)
def bios():
    """The path of OpenSBI."""
    for path in run_qemu.BIOS_PLACES:
        if os.path.isfile(path):
            return path
    raise Failure("no OpenSBI; `make setup` installs it")


def make(*targets):
    """Brings files of build/ up to date."""
    done = subprocess.run(["make", "-s", "-C", TOP, *targets], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise Failure("make %s:\n%s" % (" ".join(targets), done.stdout + done.stderr))


def console(command, timeout):
    """What a command printed, without carriage returns; it must end well."""
    with ended.started(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT) as process:
        try:
            late = False
            said, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            late = True
            process.terminate()
            said, _ = process.communicate()
    text = said.decode(errors="replace").replace("\r", "")
    if late or process.returncode:
        raise Failure("%s: %s\n%s" % ("no end after %d s" % timeout if late else
                                      "status %d" % process.returncode, shlex.join(command),
                                      text[-4000:]))
    return text


def bare_command(kernel, initrd=None, append="", memory="256M"):
    """QEMU with a kernel on OpenSBI alone, in the exact profile."""
    command = ["qemu-system-riscv64", "-machine", "virt", "-cpu", run_qemu.CPU, "-smp", "1",
               "-m", memory,
               "-display", "none", "-no-reboot", "-serial", "stdio", "-monitor", "none",
               *run_qemu.EXACT,
               "-bios", bios(), "-kernel", kernel]
    if initrd:
        command += ["-initrd", initrd]
    return command + (["-append", append] if append else [])


def tally_command(tree, backend, memory="1G"):
    """tools/run with a VM tree, in the exact profile."""
    return [os.path.join(TOP, "tools", "run"), "--vms", tree, "-i", os.path.join(BUILD, "guests"),
            "--backend", backend, "--memory", memory]


def first_line(*command):
    """The first line that a command prints, or what is the matter with it."""
    try:
        text = subprocess.run(command, text=True, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, cwd=TOP).stdout
    except OSError as error:
        return str(error)
    return text.strip().split("\n")[0]


def lines_of(path):
    """The lines of a text file; none if it is not there."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="ascii") as file:
        return file.read().splitlines()


def versions():
    """{what: its version} of all that has a part in the figures."""
    found = {
        "qemu": first_line("qemu-system-riscv64", "--version"),
        "qemu package": first_line("dpkg-query", "-W", "-f", "${Version}", "qemu-system-riscv"),
        "opensbi": first_line("dpkg-query", "-W", "-f", "${Version}", "opensbi"),
        "compiler": first_line("riscv64-linux-gnu-gcc", "--version"),
        "tally": first_line("git", "describe", "--always", "--dirty", "--abbrev=12"),
        "matplotlib": first_line("/usr/bin/python3", "-c",
                                 "import matplotlib; print(matplotlib.__version__)"),
    }
    for line in lines_of(os.path.join(GUEST, "VERSIONS")):
        match = re.match(r"linux (linux-image-\S+|linux-perf|busybox-static) (\S+) ", line)
        if match:
            name = match.group(1)
            found["kernel" if name.startswith("linux-image") else name] = match.group(2)
    for line in lines_of(os.path.join(PEER, "VERSIONS")):
        suite, name, version, _ = line.split()
        if name.startswith(("linux-binary", "linux-image")):
            found[NEWER] = "%s (%s)" % (version, suite)
    return found
