# SPDX-License-Identifier: Apache-2.0
"""What stands behind a device of a VM on this computer: a file, or ports. What QEMU could not use
is told here, in one sentence."""
import contextlib
import fcntl
import os
import re
import socket

from runlib.verdict import USAGE, Stop

NET = re.compile(r"user(,hostfwd=(tcp|udp):[^,:]*:\d+-[^,:]*:\d+)*")
FORWARDED = re.compile(r"hostfwd=(tcp|udp):([^,:]*):(\d+)-")
# The bytes that QEMU locks of an image, to tell other QEMUs what it does with it.
QEMU_LOCKS = (100, 200)


class Backing:
    """Files and ports of one machine."""

    def __init__(self):
        self.taken = {}  # real path, or protocol with port: the option that has it

    def once(self, option, thing, words):
        """Notes that an option has a thing, which none before it may have."""
        if thing in self.taken:
            raise Stop(USAGE, "%s: %s is that of %s" % (option, words, self.taken[thing]))
        self.taken[thing] = option

    def drive(self, option, file, number):
        """QEMU's -drive for a disk."""
        if not os.path.isfile(file):
            raise Stop(USAGE, "%s: there is no file %s" % (option, file))
        self.once(option, os.path.realpath(file), "the file")
        try:
            with open(file, "r+b") as opened:
                size = os.fstat(opened.fileno()).st_size
                length, start = QEMU_LOCKS[1], QEMU_LOCKS[0]
                fcntl.lockf(opened, fcntl.LOCK_EX | fcntl.LOCK_NB, length, start)
        except BlockingIOError as error:
            raise Stop(USAGE, "%s: another machine that runs has the file %s for its disk"
                       % (option, file)) from error
        except OSError as error:
            raise Stop(USAGE, "%s: cannot write %s: %s" % (option, file, error.strerror)) from error
        if not size:
            raise Stop(USAGE, "%s: the file %s is empty" % (option, file))
        kind = "qcow2" if file.endswith(".qcow2") else "raw"
        return ["-drive", "file=%s,format=%s,if=none,id=disk%d"
                % (file.replace(",", ",,"), kind, number)]

    def netdev(self, option, text, number):
        """QEMU's -netdev for a network."""
        if not NET.fullmatch(text):
            raise Stop(USAGE, "%s: is not user, or user,hostfwd=tcp:127.0.0.1:2222-:22" % option)
        for protocol, address, port in FORWARDED.findall(text):
            self.once(option, (protocol, int(port)), "%s port %s of this computer"
                      % (protocol, port))
            why = refused(protocol, address, int(port))
            if why:
                raise Stop(USAGE, "%s: cannot have port %s of this computer: %s"
                           % (option, port, why))
        return ["-netdev", text.replace("user", "user,id=net%d" % number, 1)]


def refused(protocol, address, port):
    """Why nobody can listen there, None: one can."""
    kind = socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM
    with contextlib.closing(socket.socket(socket.AF_INET, kind)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
            return None
        except OverflowError:
            return "ports end at 65535"
        except OSError as error:
            return error.strerror
