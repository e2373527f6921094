# SPDX-License-Identifier: Apache-2.0
"""The files that tools/run writes. If one cannot be written, because the disk is full for instance,
that is said once, and the machine goes on."""
import os

from runlib.verdict import say


class LogFile:
    """The console as it came. path None: nowhere."""

    def __init__(self, path):
        self.path = path
        self.file = open(path, "wb", buffering=0) if path else None
        self.begun = False

    def write(self, data):
        """Appends; after an error no more, so that what is there has no gap."""
        self.begun = True
        try:
            while self.file and data:
                data = data[self.file.write(data):]
        except OSError as error:
            say("%s: %s; it ends here, and the machine goes on" % (self.path, error.strerror))
            self.close()

    def close(self):
        """No more."""
        if self.file:
            self.file.close()
        self.file = None


class LogFolder:
    """A clean log for each VM, NAME.log, and tally.log: no prefix, no colour, long lines whole. A
    VM called tally has tally.vm.log, a name that no VM can have."""

    def __init__(self, folder, names):
        os.makedirs(folder, exist_ok=True)
        self.files = {"": LogFile(os.path.join(folder, "tally.log"))}
        for name in names:
            file = "tally.vm" if name == "tally" else name
            self.files[name] = LogFile(os.path.join(folder, file + ".log"))

    def line(self, owner, text, continued):
        """A line of a VM, or of Tally; None: of something else."""
        file = self.files.get(owner)
        if not file:
            return
        # The end of a line is known when the next one begins.
        end = "\n" if file.begun and not continued else ""
        file.write((end + text).encode())

    def close(self):
        """No more lines."""
        for file in self.files.values():
            if file.begun:
                file.write(b"\n")
            file.close()
