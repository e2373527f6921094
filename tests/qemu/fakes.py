# SPDX-License-Identifier: Apache-2.0
"""Machines that are functions here, behind a UNIX socket as tools/run's: for tools that ask."""

import contextlib
import json
import socket
import threading


class Asked:
    """answer(command) -> (status, lines), in the order of the requests. commands: what was asked."""

    def __init__(self, path, answer):
        self.path, self.answer, self.commands = str(path), answer, []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(4)
        self.connections = []
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        """One program after the other."""
        while True:
            try:
                connection = self.listener.accept()[0]
            except OSError:
                return
            self.connections.append(connection)
            with connection, connection.makefile("rb") as lines:
                for line in lines:
                    self.serve(connection, line.decode().rstrip("\n"))

    def serve(self, connection, command):
        """One request."""
        self.commands.append(command)
        status, lines = self.answer(command)
        text = "".join(f"= {line}\n" for line in lines) + f". {status}\n"
        connection.sendall(text.encode())

    def end(self):
        """The machine goes off."""
        self.listener.close()
        for connection in self.connections:
            with contextlib.suppress(OSError):  # who asked has gone
                connection.shutdown(socket.SHUT_RDWR)


def told(objects):
    """The answer of a command with --json."""
    return 0, [json.dumps(line) for line in objects]
