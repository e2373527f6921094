# SPDX-License-Identifier: Apache-2.0
"""What the exit status of tools/run is, and why."""
import re

OK, VM_FAILED, USAGE, REFUSED, DEPENDENCY, TIMEOUT, NO_VERDICT, INTERRUPTED = 0, 1, 2, 3, 4, 5, 6, 130


class Stop(Exception):
    """Ends the run: an exit status and one line that says why."""

    def __init__(self, status, why):
        super().__init__(why)
        self.status = status


class Verdict:
    """The exit status that the console's lines stand for."""

    def __init__(self, expect):
        self.expect = [re.compile(pattern) for pattern in expect]
        self.seen = {}       # VM -> those of expect that a line of its has matched
        self.own = []        # Tally's lines that matter
        self.rest = b""

    def feed(self, data):
        """What was printed."""
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            self.line(line.decode(errors="replace"))

    def line(self, text):
        # An unfinished line that was taken off the screen stands before the one that took its place.
        text = text.split("\033[m\r\033[K")[-1].replace("\r", "")
        if text.startswith("tally: "):
            text = text[len("tally: "):]
            if re.match(r"panic|refused: |all VMs ended$|vm \S+: (failed|ended)", text):
                self.own.append(text)
        found = re.match(r"\[(\S+)\] ", text)
        if found:
            seen = self.seen.setdefault(found.group(1), set())
            seen.update(pattern for pattern in self.expect if pattern.search(text))

    def give(self, late, args):
        """The status; `late`: time was up."""
        self.line(self.rest.decode(errors="replace"))
        if any(line.startswith("panic") for line in self.own):
            raise Stop(NO_VERDICT, "Tally stopped on a broken invariant, see above")
        for line in self.own:
            if line.startswith("refused: "):
                raise Stop(REFUSED, line)
        if late:
            raise Stop(TIMEOUT, "stopped after %g s" % args.timeout)
        failed = [line for line in self.own if re.match(r"vm \S+: failed", line)]
        if failed:
            raise Stop(VM_FAILED, failed[0])
        if "all VMs ended" not in self.own:
            if args.keyboard:
                return OK
            raise Stop(NO_VERDICT, "the machine stopped before all VMs had ended")
        names = [m.group(1) for m in (re.match(r"vm (\S+): ended", line) for line in self.own) if m]
        for name in names:
            for pattern in self.expect:
                if pattern not in self.seen.get(name, ()):
                    raise Stop(VM_FAILED, "vm %s printed no line that matches '%s'"
                               % (name, pattern.pattern))
        if self.expect and not names:
            raise Stop(VM_FAILED, "no VM ended, so none printed what was expected")
        return OK
