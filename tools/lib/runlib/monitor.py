# SPDX-License-Identifier: Apache-2.0
"""QEMU's monitor (Ctrl-A c): on a socket of its own, so that nothing of it is between the frames of
the machine. It has a line on the terminal, as the prompt has."""
import os
import selectors
import socket

from runlib.line import Line


def qemu_options(folder):
    """For QEMU's command line."""
    return ["-chardev", "socket,id=monitor,path=%s,server=on,wait=off" % path(folder),
            "-mon", "chardev=monitor,mode=readline"]


def path(folder):
    """Of the socket."""
    return os.path.join(folder, "monitor")


class Monitor:
    """terminal: shows what it prints; wait: a selector; folder: where its socket is."""

    def __init__(self, terminal, wait, folder):
        self.terminal, self.wait, self.path = terminal, wait, path(folder)
        self.line = Line("QEMU's monitor")
        self.socket = None

    def toggle(self, back):
        """Moves the focus to the monitor, or back to that line."""
        if self.terminal.focus is self.line:
            if back:
                self.terminal.set_focus(back)
            return
        self.terminal.set_focus(self.line)
        if not self.socket:
            self.connect()

    def connect(self):
        """Connects to QEMU, which listens from its start."""
        self.socket = socket.socket(socket.AF_UNIX)
        try:
            self.socket.connect(self.path)
        except OSError as error:
            self.socket.close()
            self.socket = None
            self.terminal.say("QEMU's monitor: %s" % error.strerror)
            return
        self.wait.register(self.socket, selectors.EVENT_READ, self.printed)

    def printed(self):
        """Shows what QEMU says, or notes that it has gone."""
        try:
            data = self.socket.recv(65536)
        except OSError:
            data = b""
        if not data:
            self.wait.unregister(self.socket)
            self.socket.close()
            self.socket = None
        self.terminal.print(self.line, data)
        self.terminal.restore()

    def type(self, data):
        """Sends bytes. Those that QEMU does not take at once are lost; only a person types here."""
        if self.socket:
            try:
                self.socket.send(data, socket.MSG_DONTWAIT)
            except OSError:
                pass
