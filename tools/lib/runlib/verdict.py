# SPDX-License-Identifier: Apache-2.0
"""What the exit status of tools/run is, and why."""
import contextlib
import re
import sys

from tallylib import printable

OK, VM_FAILED, USAGE, REFUSED, DEPENDENCY, TIMEOUT, NO_VERDICT, STANDSTILL = range(8)
INTERRUPTED = 130
# Of Tally's command line: counters that count wrong are not refused.
INEXACT = "tally.inexact-counts"
program = "tools/run"  # pylint: disable=invalid-name  # tools/tally-serve is another


def say(text):
    """A line to standard error, if that takes it."""
    with contextlib.suppress(OSError):
        print(program + ": " + printable.lines(text), file=sys.stderr, flush=True)


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
        self.inexact = []    # harts that count wrong, and whose counters guests have nevertheless
        self.warned = False
        self.lost = False    # some of Tally's own lines are, and maybe one that matters

    def line(self, owner, text, whole):
        """A line of the console: a VM's, "" for Tally's."""
        if owner == "" and re.match(r"panic|the platform: |refused: |all VMs ended$|"
                                    r"vm \S+: (failed|ended)", text):
            self.own.append(text)
        if owner == "":
            self.counts(text)
            self.lost |= bool(re.match(r"\d+ lines were lost$", text))
        if owner:
            seen = self.seen.setdefault(owner, set())
            seen.update(pattern for pattern in self.expect if pattern.search(whole))

    def counts(self, text):
        """Warns when the boot report is over."""
        found = re.match(r"WARNING: %s: hart (\d+): " % INEXACT, text)
        if found:
            self.inexact.append(found[1])
        elif "to the first guest" in text and not self.warned:
            self.warned = True
            self.warn("counts are wrong on")

    def warn(self, text):
        """Says on which harts, if there are any."""
        if self.inexact:
            say("%s hart %s of this machine, and guests get its counters all the same (%s)"
                % (text, ", ".join(sorted(self.inexact, key=int)), INEXACT))

    def running(self, names):
        """Those of the VMs that have not ended, as far as is known; all, if all have been told of.
        """
        gone = {found[1] for found in (re.match(r"vm (\S+): ", line) for line in self.own) if found}
        return [name for name in names if name not in gone] or names

    def give(self, late, args):
        """The status; `late`: time was up."""
        if any(line.startswith("panic") for line in self.own):
            raise Stop(NO_VERDICT, "Tally stopped on a broken invariant, see above")
        for line in self.own:
            if line.startswith("refused: "):
                raise Stop(REFUSED, line)
            if line.startswith("the platform: "):
                raise Stop(DEPENDENCY, line)
        if late:
            raise Stop(TIMEOUT, "stopped after %g s" % args.timeout)
        failed = [line for line in self.own if re.match(r"vm \S+: failed", line)]
        if failed:
            raise Stop(VM_FAILED, failed[0])
        if self.lost:
            raise Stop(NO_VERDICT, "lines of Tally's own were lost, see above")
        if "all VMs ended" not in self.own:
            if args.keyboard:
                raise Stop(INTERRUPTED, "the machine was left before all VMs had ended")
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
