# SPDX-License-Identifier: Apache-2.0
"""The machine that this Linux is a guest of, whose VM is an operator (docs/operator.md), for tools
that ask. The program tally-operator reads and writes the function's memory."""
import os
import shutil
import socket
import subprocess

from tallylib import places, tally_ctl

PROGRAM = "tally-operator"


def program():
    """Its path: beside the tools, or installed."""
    beside = os.path.join(places.TOP, "bin", PROGRAM)
    found = beside if os.access(beside, os.X_OK) else shutil.which(PROGRAM)
    if not found:
        raise tally_ctl.Unreachable("no program %s: --operator is for a guest on RISC-V; "
                                    "`make operator-tools` packs what it needs" % PROGRAM)
    return found


class OperatorMachine(tally_ctl.Machine):
    """timeout: for each answer, in seconds."""

    def __init__(self, timeout=10):
        # Not its parent's: there is no socket of tools/run.
        # pylint: disable=super-init-not-called
        self.connection, its = socket.socketpair()
        with its:
            # pylint: disable=consider-using-with
            self.process = subprocess.Popen([program()], stdin=its, stdout=its,
                                            stderr=subprocess.PIPE, text=True, errors="replace")
        self.timeout = timeout
        self.received = b""
        try:
            self.line(None)  # that it has found the function
        except tally_ctl.NoAnswer as error:
            why = self.process.stderr.read().strip()
            self.close()
            raise tally_ctl.Unreachable(why.removeprefix(PROGRAM + ": ") or why) from error

    def close(self):
        super().close()
        self.process.kill()
        self.process.stderr.close()
        self.process.wait()
