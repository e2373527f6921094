# SPDX-License-Identifier: Apache-2.0
"""Signals of a tool that must not be torn out of an answer."""
import os
import select
import signal


class Stop:
    """SIGINT, SIGTERM and SIGHUP end a sleep and nothing else: who left in the middle of an answer
    would not know what had begun."""

    def __init__(self):
        self.wanted = 0  # the number of the last signal
        self.came, wakeup = os.pipe()
        os.set_blocking(self.came, False)
        os.set_blocking(wakeup, False)
        signal.set_wakeup_fd(wakeup)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self.want)

    def want(self, number, _frame):
        self.wanted = number

    def sleep(self, seconds, *files):
        """Until a signal that somebody handles comes, one that came before included, or one of the
        files can be read."""
        if self.came in select.select([self.came, *files], [], [], seconds)[0]:
            os.read(self.came, 4096)
