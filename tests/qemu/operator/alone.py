# SPDX-License-Identifier: Apache-2.0
"""QEMU as a board: its serial line, and no tools/run."""

import contextlib
import socket
import subprocess

import harness
from runlib.qemu import BIOS_PLACES, CPU, INTERACTIVE
from tallylib.vm_tree import compile_tree


@contextlib.contextmanager
def machine(folder, append=""):
    """QEMU with two Debian guests, alpha and beta, which both offer a shell. append: Tally's
    command line. It waits until somebody connects to its line, the socket folder/line."""
    tree = harness.linux_tree(folder, {"alpha": "true", "beta": "true"}, bootargs="tally.shell")
    assert compile_tree(str(tree), [], str(folder / "vms.dtb")) is None
    # The socket is made here, so that nobody has to wait for it.
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "line"))
        listener.listen(1)
        words = ["qemu-system-riscv64", "-machine", "virt", "-cpu", CPU, "-smp", "1", "-m", "1G",
                 "-display", "none", "-monitor", "none", "-no-reboot", *INTERACTIVE,
                 "-bios", BIOS_PLACES[0], "-kernel", harness.KERNEL or harness.BUILD / "tally.bin",
                 "-initrd", folder / "vms.dtb", "-append", append, "-serial", "chardev:line",
                 "-chardev", f"socket,id=line,fd={listener.fileno()},server=on,wait=on"]
        qemu = subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                pass_fds=[listener.fileno()])
    with qemu:
        try:
            yield qemu
        finally:
            qemu.terminate()


@contextlib.contextmanager
def connected(folder):
    """The line of the machine."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(folder / "line"))
        yield line
