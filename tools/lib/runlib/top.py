# SPDX-License-Identifier: Apache-2.0
"""A program of the host's that has the terminal for a while, as `top` at the prompt has it. It runs
on a pseudo-terminal of its own, so that Ctrl-T is heard, and what others print waits."""
import fcntl
import os
import selectors
import struct
import subprocess
import termios

from tallylib.places import TOP

PROGRAM = os.path.join(TOP, "tools", "tally-top")


class Watched:
    """command: its words; terminal: whose screen it gets; wait: a selector; size: of the terminal;
    done: is called when it has ended."""

    def __init__(self, command, terminal, wait, size, done):
        self.terminal, self.wait, self.done = terminal, wait, done
        self.ours, its = os.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", size.lines, size.columns, 0, 0))
        # One line if it is used wrongly, which is no picture.
        self.complaints = os.memfd_create("complaints")
        terminal.lend()
        self.process = subprocess.Popen(command, stdin=its, stdout=its, stderr=self.complaints,
                                        start_new_session=True)
        os.close(its)
        wait.register(self.ours, selectors.EVENT_READ, self.prints)

    def prints(self):
        """Shows what the program draws, or ends with it."""
        try:
            data = os.read(self.ours, 65536)
        except OSError:
            data = b""
        if data:
            self.terminal.write(data)
        else:
            self.end()

    def type(self, data):
        """Passes a key to the program."""
        os.write(self.ours, data)

    def stop(self):
        """Ends the program, because the person has turned to something else."""
        self.process.kill()
        self.end()

    def end(self):
        """Gives the terminal back."""
        self.wait.unregister(self.ours)
        os.close(self.ours)
        self.process.wait()
        self.terminal.take_back()
        text = os.pread(self.complaints, 4096, 0).decode(errors="replace").strip()
        os.close(self.complaints)
        if text and self.process.returncode > 0:
            self.terminal.say(text.split("\n")[-1])
        self.done()


def watcher(terminal, relay, path, size):
    """For the prompt: what carries out `top [SECONDS]` on the machine with that socket."""

    def watch(words, done):
        command = [PROGRAM, "--socket", path, *(["-d", words[0]] if words else []), *words[1:]]
        try:
            return Watched(command, terminal, relay.wait, size(), done)
        except OSError as error:
            terminal.take_back()
            terminal.say("top: %s" % error.strerror)
            done()
            return None

    return watch
