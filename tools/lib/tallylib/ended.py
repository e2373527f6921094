# SPDX-License-Identifier: Apache-2.0
"""A tool that is asked to end takes along what it has started.

  sys.exit(ended.run("tools/bench-calls", main))
"""
import contextlib
import os
import signal
import subprocess
import sys


class Asked(KeyboardInterrupt):
    """A signal asks the tool to end. Like Ctrl-C it is no error that a handler of errors takes."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


class Kept:
    """The signals that ask the tool to end, while it starts a program: torn out of that, it would
    leave behind a program that nobody can end."""

    def __init__(self):
        self.starting = False
        self.number = 0  # the last signal since then

    def begin(self):
        self.number, self.starting = 0, True

    def end(self):
        """Raises Asked if a signal came meanwhile."""
        self.starting = False
        if self.number:
            raise Asked(self.number)


KEPT = Kept()


def asked(number, _frame):
    """A signal handler."""
    if not KEPT.starting:
        raise Asked(number)
    KEPT.number = number


def run(program, main, hint=""):
    """Calls main() and returns its exit status; after a signal 128 and the signal's number. Every
    `finally` and every end of a `with` on the way is carried out, so emulators end as well."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, asked)
    try:
        return main()
    except Asked as end:
        print("%s: interrupted%s" % (program, hint), file=sys.stderr)
        return 128 + end.number


@contextlib.contextmanager
def started(words, end=subprocess.Popen.terminate, **more):
    """A program, for a `with`. A block that is left by an exception ends it first, by end(), and
    waits for it, so that it takes along its own emulator."""
    KEPT.begin()
    try:
        process = subprocess.Popen(words, **more)
    except BaseException:
        KEPT.end()
        raise
    with process:
        try:
            KEPT.end()
            yield process
        except BaseException:
            end(process)
            process.wait()
            raise


def captured(words, timeout=None, **more):
    """Runs a program as subprocess.run() does, but asks it to end where that would kill it."""
    with started(words, text=True, errors="replace", stdout=subprocess.PIPE, **more) as process:
        out, err = process.communicate(timeout=timeout)
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def group(words, **more):
    """Runs a program as subprocess.run() does, and returns its status. All that it has started in
    its turn ends with it if this tool is asked to end."""
    with started(words, lambda process: os.killpg(process.pid, signal.SIGTERM),
                 start_new_session=True, **more) as process:
        return process.wait()
