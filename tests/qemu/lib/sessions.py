# SPDX-License-Identifier: Apache-2.0
"""A session of Linux for each worker of pytest-xdist."""

import os
import subprocess
import sys

# Reads until the worker is gone, however it ended, and then ends what that has started.
LAST_ACT = "import os, signal, sys; sys.stdin.read(); os.killpg(0, signal.SIGTERM)"


def own():
    """Gives this process one. Linux shares the processors between sessions first, so beside other
    work each worker has its share, however many programs that work consists of. A terminal's Ctrl-C
    reaches only the session that waits for the workers."""
    os.setsid()
    # Not waited for: it ends after this process. Its stdin is open here alone.
    own.last_act = subprocess.Popen([sys.executable, "-c", LAST_ACT], stdin=subprocess.PIPE)
