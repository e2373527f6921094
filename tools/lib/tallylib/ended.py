# SPDX-License-Identifier: Apache-2.0
"""A tool that is asked to end takes along what it has started.

  sys.exit(ended.run("tools/bench-calls", main))
"""
import os
import signal
import subprocess
import sys


class Asked(KeyboardInterrupt):
    """A signal asks the tool to end. Like Ctrl-C it is no error that a handler of errors takes."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


def asked(number, _frame):
    """A signal handler."""
    raise Asked(number)


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


def captured(words, timeout=None, **more):
    """Runs a program as subprocess.run() does, but asks it to end where that would kill it, so
    that it takes along its own emulator."""
    with subprocess.Popen(words, text=True, errors="replace", stdout=subprocess.PIPE,
                          **more) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            process.terminate()
            process.wait()
            raise
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def group(words, **more):
    """Runs a program as subprocess.run() does, and returns its status. All that it has started in
    its turn ends with it if this tool is asked to end."""
    with subprocess.Popen(words, start_new_session=True, **more) as process:
        try:
            return process.wait()
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
            raise
