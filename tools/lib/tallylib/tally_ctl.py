# SPDX-License-Identifier: Apache-2.0
"""Asks the hypervisor of a machine that tools/run has started, while its guests run.

  with Machine(timeout=10) as machine:
      for vm in vms(machine):
          print(vm["vm"], vm["state"])
      status, lines = machine.ask("stop beta")

tools/tally-ctl is this for the shell. The commands are those of the prompt; README.md has them.
"""
import contextlib
import os
import socket
import time

from tallylib import places, printable

# Where tools/run puts its sockets: PID.sock.
FOLDER = os.path.join(places.MADE, "control")

COMMAND_BYTES = 64

# What became of a command (core/operator/prompt.h).
DONE, FAILED, WRONG = range(3)


class Unreachable(Exception):
    """There is no machine to ask, or there are several."""


class NoAnswer(Exception):
    """The machine ended before it answered, or cannot answer now."""


class BadCommand(Exception):
    """The text cannot be a command, and was not sent."""


def check(command):
    """Raises BadCommand if the text cannot be a command."""
    if not (command.strip() and len(command) <= COMMAND_BYTES and command.isascii() and
            command.isprintable()):
        raise BadCommand("a command is 1 to 64 characters of printable ASCII")


def vms(machine):
    """The lines of `vms` about VMs, without those about their ports."""
    return [row for row in machine.objects("vms") if "port" not in row]


@contextlib.contextmanager
def address(path):
    """A socket's name for the kernel, which takes no more than 107 bytes: its folder, which may be
    a deep one, goes by a descriptor."""
    folder = os.open(os.path.dirname(path) or ".", os.O_PATH | os.O_DIRECTORY)
    try:
        yield "/proc/self/fd/%d/%s" % (folder, os.path.basename(path))
    finally:
        os.close(folder)


def connect(path):
    """Connects to the socket at path. Returns None if nobody listens there."""
    connection = socket.socket(socket.AF_UNIX)
    try:
        with address(path) as name:
            connection.connect(name)
    except OSError:
        connection.close()
        return None
    return connection


def find():
    """Connects to the only machine that runs. Returns the connection, and its socket's path."""
    found = {}
    for name in sorted(os.listdir(FOLDER)) if os.path.isdir(FOLDER) else ():
        if name.endswith(".sock"):
            path = os.path.join(FOLDER, name)
            found[path] = connect(path)
    alive = [path for path, connection in found.items() if connection]
    if len(alive) == 1:
        return found[alive[0]], alive[0]
    for path in alive:
        found[path].close()
    if alive:
        raise Unreachable("several machines run; --socket says which: " + ", ".join(alive))
    raise Unreachable("no machine runs (no socket in %s that answers)" % FOLDER)


class Machine:
    """A running machine. path: of its socket; None: the only one that runs. timeout: for each
    answer, in seconds; None: for ever."""

    path = None  # of its socket; None: it has none

    def __init__(self, path=None, timeout=10):
        self.connection, self.path = (connect(path), path) if path else find()
        if not self.connection:
            raise Unreachable("nobody listens at " + path)
        self.timeout = timeout
        self.received = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.connection.close()

    def line(self, deadline):
        """Returns the next line that comes."""
        while b"\n" not in self.received:
            if deadline is not None:
                self.connection.settimeout(max(0.001, deadline - time.monotonic()))
            try:
                data = self.connection.recv(65536)
            except ConnectionError:
                data = b""
            if not data:
                raise NoAnswer("the machine has ended")
            self.received += data
        line, self.received = self.received.split(b"\n", 1)
        return printable.plain(line.decode(errors="replace"))

    def ask(self, command):
        """Returns the status of a command, and the lines of its answer. After a TimeoutError the
        machine must not be asked again."""
        check(command)
        deadline = None if self.timeout is None else time.monotonic() + self.timeout
        with contextlib.suppress(ConnectionError):  # what it had to say before that can be read
            self.connection.sendall(command.encode() + b"\n")
        lines = []
        while True:
            kind, _, text = self.line(deadline).partition(" ")
            if kind == "!":
                raise NoAnswer(text)
            if kind == ".":
                return int(text), lines
            lines.append(text)

    def objects(self, command):
        """Returns the answer to a command with --json, as a list of dictionaries."""
        status, lines = self.ask(command + " --json")
        if status != DONE:
            raise BadCommand("; ".join(lines))
        return [printable.loads(line) for line in lines]
