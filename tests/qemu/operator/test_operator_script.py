# SPDX-License-Identifier: Apache-2.0
"""In the exact profile a script of requests is played alike, to the byte of all output, however
busy this computer is."""

import contextlib
import subprocess

import harness
from measured import LONG_ROUND
import operators
from operators import MS

BUSY_LOOPS = 4


@contextlib.contextmanager
def busy_host():
    """Loops beside what is done here, more than there are harts for them."""
    with contextlib.ExitStack() as stack:
        for _ in range(BUSY_LOOPS):
            loop = stack.enter_context(subprocess.Popen(["sh", "-c", "while :; do :; done"]))
            stack.callback(loop.kill)
        yield


# Counts, times, ends, starts, and words: at ticks of the machine's time, and after answers.
ASKED = [(10 * MS, "observe alpha instructions:u --json"), ("+0", "observe beta 0xf0100 --json"),
         ("+12345", "observed --json"), (40 * MS + 7, "exits --json"), ("+0", "pmu"),
         ("+0", "stop beta"), ("+30000", "vms --json"), ("+0", "restart alpha"),
         ("+20000", "observed --json"), ("+0", "start beta"), (90 * MS, "unobserve --json"),
         ("+0", "help"), ("+1", "exits --json")]


@harness.both_backends
def test_each_run_is_the_same(tmp_path, backend):
    """With all times, counts and lengths of stays that were asked for."""
    guests = {"alpha": LONG_ROUND, "beta": f"kind=idle ticks={50 * MS}"}
    alone, told = operators.boot(tmp_path, guests, ASKED, backend=backend)
    assert [status for _, status in told] == [0] * len(ASKED), told
    with busy_host():
        beside, _ = operators.boot(tmp_path, guests, ASKED, backend=backend)
    assert beside.console == alone.console
