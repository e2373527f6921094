# SPDX-License-Identifier: Apache-2.0
"""A tool that is asked to end takes along what it has started.

  sys.exit(ended.run("tools/bench-calls", main))
"""
import contextlib
import os
import signal
import subprocess
import sys
import threading

AGAIN_S = 0.01


class Asked(KeyboardInterrupt):
    """A signal asks the tool to end. Like Ctrl-C it is no error that a handler of errors takes."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


class Kept:
    """The signals that ask the tool to end. It is asked once: who is in a hurry types Ctrl-C again,
    and a second one would tear it out of what the first one ends."""

    def __init__(self):
        self.starting = False  # torn out of that, it would leave behind a program nobody can end
        self.number = 0        # the last signal since then
        self.raised = False

    def begin(self):
        self.number, self.starting = 0, True

    def end(self):
        """Raises Asked if a signal came meanwhile."""
        self.starting = False
        if self.number:
            self.ask(self.number)

    def ask(self, number):
        if not self.raised:
            self.raised = True
            raise Asked(number)

    def came(self, number, _frame):
        """A signal handler."""
        if self.starting:
            self.number = number
        else:
            self.ask(number)


KEPT = Kept()


def not_taken(lost):
    """Python hands over exceptions that nobody can take, as one raised in a destructor. Such an
    Asked is raised again, outside of it."""
    if not isinstance(lost.exc_value, Asked):
        sys.__unraisablehook__(lost)
        return
    KEPT.raised = False
    again = threading.Timer(AGAIN_S, os.kill, (os.getpid(), lost.exc_value.number))
    again.daemon = True
    again.start()


def once(main, by_signal, numbers=(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)):
    """Calls main() and returns its exit status; after one of the signals by_signal(its number)
    instead. Every `finally` and every end of a `with` on the way is carried out, so emulators end
    as well. Later signals do nothing."""
    sys.unraisablehook = not_taken
    for number in numbers:
        signal.signal(number, KEPT.came)
    try:
        return main()
    except Asked as end:
        return by_signal(end.number)
    finally:
        KEPT.raised = True
        # To the very end: Python gives the system's way back before it is gone. A signal that comes
        # between would be told as an error of this program.
        signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)


def run(program, main, hint=""):
    """The same for most tools; after a signal the status is 128 and its number."""
    def by_signal(number):
        print("%s: interrupted%s" % (program, hint), file=sys.stderr)
        return 128 + number
    return once(main, by_signal)


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
