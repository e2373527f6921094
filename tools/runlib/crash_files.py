# SPDX-License-Identifier: Apache-2.0
"""What a VM printed last before it failed, in a file of its own: 64 KiB, while Tally itself keeps
4 KiB (`tools/tally-ctl crash`). The file stays when the run has ended, until the VM fails again."""
import os
import re

from runlib.flow import Listener
from runlib.verdict import say

KEPT = 65536
FAILED = re.compile(r"vm ([a-z0-9-]{1,15}): failed: ")


def folder_of(socket):
    """The folder beside a run's socket: X.crash beside X.sock, as its pseudo-terminals."""
    return socket.removesuffix(".sock") + ".crash"


class CrashFiles(Listener):
    """folder/NAME is made when that VM fails, with the bytes as they came."""

    def __init__(self, folder):
        self.folder = folder
        self.kept = {}      # VM's name -> what it printed last
        self.works = True

    def output(self, vm, data):
        kept = self.kept.setdefault(vm.name, bytearray())
        kept += data
        if len(kept) > 2 * KEPT:
            del kept[:-KEPT]

    def own(self, text):
        failed = FAILED.match(text)
        if failed and self.works:
            self._write(failed[1])

    def _write(self, name):
        path = os.path.join(self.folder, name)
        try:
            os.makedirs(self.folder, exist_ok=True)
            # Whoever reads it has a whole one.
            with open(path + ".new", "wb") as file:
                file.write(self.kept.get(name, b"")[-KEPT:])
            os.replace(path + ".new", path)
        except OSError as error:
            self.works = False
            say("%s: %s; the last output of VMs that fail is not kept, and the machine goes on"
                % (path, error.strerror))
