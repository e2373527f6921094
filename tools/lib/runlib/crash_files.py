# SPDX-License-Identifier: Apache-2.0
"""What a VM printed last before it failed, and before its last life ended, in files of their own:
64 KiB, while Tally itself keeps 4 KiB (`tools/tally-ctl crash`, `last`). They stay when the run has
ended, until the VM fails or ends again."""
import os
import re

from runlib.flow import Listener
from runlib.verdict import say

KEPT = 65536
# The lines with which a life ends.
ENDED = re.compile(r"vm ([a-z0-9-]{1,15}): "
                   r"(failed: |ended$|ended: all its vcpus |asked for a restart$|stopped$)")
LAST = ".last"


def folder_of(socket):
    """The folder beside a run's socket: X.crash beside X.sock, as its pseudo-terminals."""
    return socket.removesuffix(".sock") + ".crash"


class CrashFiles(Listener):
    """folder/NAME is made when that VM fails, folder/NAME.last when it ends, whyever. They have the
    bytes as they came."""

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
        ended = ENDED.match(text)
        if not ended:
            return
        kept = self.kept.get(ended[1], b"")[-KEPT:]
        if ended[2].startswith("failed"):
            self._write(ended[1], kept)
        self._write(ended[1] + LAST, kept)

    def _write(self, name, kept):
        path = os.path.join(self.folder, name)
        if not self.works:
            return
        try:
            os.makedirs(self.folder, 0o700, exist_ok=True)
            folder = os.open(self.folder, os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                self._replace(folder, name, kept)
            finally:
                os.close(folder)
        except OSError as error:
            self.works = False
            say("%s: %s; the last output of VMs that end is not kept, and the machine goes on"
                % (path, error.strerror))

    def _replace(self, folder, name, kept):
        """Whoever reads it has a whole one. It is for whom the socket is for, also where the run
        before has left a folder for all."""
        os.fchmod(folder, 0o700)
        file = os.open(name + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600,
                       dir_fd=folder)
        with open(file, "wb") as out:
            os.fchmod(file, 0o600)
            out.write(kept)
        os.replace(name + ".new", name, src_dir_fd=folder, dst_dir_fd=folder)
