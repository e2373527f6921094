# SPDX-License-Identifier: Apache-2.0
"""Lines for those who keep and judge them."""


class Record:
    """log: the file of --log (class LogFile); logs: the folder of --log-dir (class LogFolder), or
    None; judge: the verdict (class Verdict)."""

    def __init__(self, log, logs, judge):
        self.log, self.logs, self.judge = log, logs, judge

    def line(self, owner, text, continued, whole):
        """Takes a line that has ended (tools/lib/runlib/console.py)."""
        self.judge.line(owner, text, whole)
        self._keep(owner, text, continued, whole)

    def said(self, text):
        """Takes a line of tools/run's own, which is not judged."""
        self._keep("", text, False, "tally: " + text)

    def raw(self, data):
        """Takes bytes that are in no line."""
        self.log.write(data)

    def _keep(self, owner, text, continued, whole):
        self.log.write(whole.encode() + b"\n")
        if self.logs:
            self.logs.line(owner, text, continued)
