# SPDX-License-Identifier: Apache-2.0
"""A pseudo-terminal for each VM, for any terminal program: a link with the VM's name in a folder.

While nobody has one open, nothing is written to it. A program that opens it gets the VM's last
lines without what a terminal would answer (tools/lib/tallylib/replay.py), then all as it comes.
What it does not read is dropped, and the machine does not wait. inotify tells when one is opened or
closed; the other side of a pseudo-terminal tells only the latter.
"""
import contextlib
import ctypes
import fcntl
import os
import re
import select
import selectors
import struct
import termios
import tty

from runlib.verdict import say
from tallylib.replay import Replay

LIBC = ctypes.CDLL(None, use_errno=True)
IN_OPEN, IN_CLOSE = 0x20, 0x18  # linux/inotify.h
# What a terminal program that reads slowly may be behind; the kernel has some more.
UNREAD_BYTES = 1 << 16
TYPED_BYTES = 4096
LAST_BYTES = 4096
NAME = re.compile(r"[a-z0-9-]{1,15}")


class Pty:
    """Of one VM. path: of the link."""

    def __init__(self, relay, vm, path):
        self.relay, self.vm, self.path = relay, vm, path
        self.master, slave = os.openpty()
        self.name = os.ttyname(slave)
        tty.setraw(slave)
        os.close(slave)
        os.set_blocking(self.master, False)
        self.open = False
        self.unread = b""
        self.replay = Replay()  # for who has it open
        os.symlink(self.name, path)
        vm.listeners.append(self.output)

    def look(self):
        """Notes that somebody has opened or closed it."""
        was, self.open = self.open, not self._hung_up()
        if self.open and not was:
            last = self.vm.backlog[-LAST_BYTES:]
            self.replay = Replay()
            self._write(self.replay.feed(
                last[last.find(b"\n") + 1:] if len(last) == LAST_BYTES else last))
        elif was and not self.open:
            self._reset()
        self.listen()

    def _hung_up(self):
        """Whether nobody has the other side open."""
        poll = select.poll()
        poll.register(self.master, 0)
        return bool(poll.poll(0))

    def _reset(self):
        """Prepares it for the next program: raw, and without what the last one did not read."""
        self.unread = b""
        slave = os.open(self.name, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(slave)
        termios.tcflush(slave, termios.TCIFLUSH)
        os.close(slave)

    def listen(self):
        """Listens to what is typed, as long as the VM takes it."""
        wait = self.relay.wait
        listens = self.master in wait.get_map()
        wanted = self.open and self.relay.untyped(self.vm.number) < TYPED_BYTES
        if wanted and not listens:
            wait.register(self.master, selectors.EVENT_READ, self.typed)
        elif listens and not wanted:
            wait.unregister(self.master)

    def typed(self):
        """Passes on what is typed, or notes that the program has left."""
        try:
            self.relay.type_to(self.vm.number, os.read(self.master, 4096))
        except OSError:
            self.look()
        self.listen()

    def output(self, data):
        """Writes what the VM prints."""
        if self.open:
            self._write(self.replay.live(data))

    def _write(self, data):
        self.unread = (self.unread + data)[-UNREAD_BYTES:]
        self.flush()

    def flush(self):
        """Writes as much as is taken now. Returns whether something is left."""
        try:
            while self.unread:
                self.unread = self.unread[os.write(self.master, self.unread):]
        except OSError:
            pass
        return bool(self.unread)

    def close(self):
        """Removes it, because the machine ends."""
        with contextlib.suppress(OSError):
            os.unlink(self.path)
        os.close(self.master)


class Ptys:
    """Of all VMs, for a relay (tools/lib/runlib/console_relay.py), in a folder that there is."""

    def __init__(self, relay, folder):
        self.relay = relay
        self.notices = LIBC.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.notices < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        self.all = [Pty(relay, vm, os.path.join(folder, vm.name)) for vm in relay.flow.vms
                    if NAME.fullmatch(vm.name)]
        for pty in self.all:
            LIBC.inotify_add_watch(self.notices, pty.name.encode(), IN_OPEN | IN_CLOSE)
        relay.wait.register(self.notices, selectors.EVENT_READ, self.look)

    def look(self):
        """Notes which were opened or closed."""
        with contextlib.suppress(BlockingIOError):
            while os.read(self.notices, 65536):
                pass
        for pty in self.all:
            pty.look()

    def flush(self):
        """Writes what is left. Returns whether a reader has not taken all of it."""
        for pty in self.all:
            pty.listen()
        return any([pty.flush() for pty in self.all])

    def set_size(self, vm, rows, columns):
        """Sets the size of a VM's pseudo-terminal."""
        for pty in self.all:
            if pty.vm is vm:
                fcntl.ioctl(pty.master, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))

    def close(self):
        """Removes them, because the machine ends."""
        os.close(self.notices)
        for pty in self.all:
            pty.close()


def folder_of(control):
    """The folder of the links, beside the socket."""
    return control.removesuffix(".sock") + ".ptys"


def remove(folder):
    """What a run that was killed has left, and nothing else."""
    if not os.path.isdir(folder) or os.path.islink(folder):
        return
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if os.path.islink(path) and os.readlink(path).startswith("/dev/pts/"):
                os.unlink(path)
        os.rmdir(folder)


@contextlib.contextmanager
def offered(relay, control):
    """While the machine runs. One that cannot have them runs all the same."""
    folder = folder_of(control)
    try:
        remove(folder)
        os.mkdir(folder, 0o700)
        ptys = Ptys(relay, folder)
    except OSError as error:
        say("no pseudo-terminals in %s: %s" % (folder, error.strerror))
        remove(folder)
        yield None
        return
    relay.parts.append(ptys)
    relay.set_size = ptys.set_size
    try:
        yield ptys
    finally:
        ptys.close()
        remove(folder)
