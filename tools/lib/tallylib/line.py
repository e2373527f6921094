# SPDX-License-Identifier: Apache-2.0
"""A program's end of a line with frames (docs/frames.md): the socket of tools/run, a serial device,
or a socket behind which one is."""
import fcntl
import os
import re
import socket
import stat
import termios
import tty

from tallylib import frames, tally_ctl

BAUD = 115200


class Ended(Exception):
    """The other end has gone."""


class Line:
    """fd: of the line, which is closed with it. serial: there is no tools/run in between; paced:
    nothing on it tells how much the other end can take."""

    def __init__(self, fd, serial, paced=False):
        os.set_blocking(fd, False)
        self.fd, self.serial, self.paced = fd, serial, paced
        self.frames = frames.Frames()
        self.unsent = b""

    def fileno(self):
        return self.fd

    def receive(self):
        """Returns the events that have come since. Raises Ended at the end of the line."""
        try:
            data = os.read(self.fd, 65536)
        except BlockingIOError:
            return []
        except OSError as error:
            raise Ended from error
        if not data:
            raise Ended
        return self.frames.feed(data)

    def send(self, data):
        """Sends as many bytes as are taken now. flush() sends the others."""
        self.unsent += data
        self.flush()

    def flush(self):
        """Sends what is left. Returns whether something still is."""
        try:
            while self.unsent:
                self.unsent = self.unsent[os.write(self.fd, self.unsent):]
        except BlockingIOError:
            pass
        except OSError as error:
            raise Ended from error
        return bool(self.unsent)

    def close(self):
        os.close(self.fd)


def through(path, vm):
    """The line of the machine behind a socket of tools/run, with the output of one VM; path None:
    the only machine that runs."""
    connection = tally_ctl.connect(path) if path else tally_ctl.find()[0]
    if not connection:
        raise tally_ctl.Unreachable("nobody listens at " + path)
    line = Line(connection.detach(), False)
    line.send(b"@frames%s\n" % (b" " + vm.encode() if vm else b""))
    return line


def speed(baud):
    """Returns termios's number of a speed, or None if this computer does not have it."""
    return getattr(termios, "B%d" % baud, None)


def device(fd, baud):
    """Sets up a serial device: bytes as they are, 8N1, data lines only."""
    tty.setraw(fd, termios.TCSANOW)
    mode = termios.tcgetattr(fd)
    mode[2] = mode[2] & ~(termios.CSTOPB | termios.PARENB | termios.CRTSCTS) | (
        termios.CLOCAL | termios.CREAD)
    mode[4] = mode[5] = speed(baud)
    termios.tcsetattr(fd, termios.TCSANOW, mode)


def socket_at(path):
    """Connects to a UNIX socket's path, or to HOST:PORT. Returns None if path is neither."""
    host = re.fullmatch(r"(?:tcp:)?\[?([^/]+?)\]?:(\d+)", path)
    if os.path.exists(path) and stat.S_ISSOCK(os.stat(path).st_mode):
        connection = tally_ctl.connect(path)
        if not connection:
            raise OSError(0, "nobody listens there")
        return connection
    if host and not os.path.exists(path):
        return socket.create_connection((host[1], int(host[2])))
    return None


def serial(path, baud=BAUD):
    """The line of a board, which this program has alone: a serial device, a UNIX socket (of QEMU's
    -serial unix:PATH,server), or HOST:PORT."""
    try:
        connection = socket_at(path)
        if connection:
            return Line(connection.detach(), True)
        fd = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            if not os.isatty(fd):
                raise OSError(0, "is no serial device and no socket")
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise OSError(0, "another program has it; tools/tally-serve shares it") from error
            device(fd, baud)
        except BaseException:
            os.close(fd)
            raise
        return Line(fd, True, True)
    except (OSError, termios.error) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error.args[-1]
        raise tally_ctl.Unreachable("--serial %s: %s" % (path, why)) from error
