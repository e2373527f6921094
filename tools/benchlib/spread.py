# SPDX-License-Identifier: Apache-2.0
"""Spreads independent runs with GNU parallel, on this machine or on others, and tells how far it is."""

import json
import os
import subprocess
import sys
import time

from benchlib import kvm, machine, runs

AGAIN = "again:"  # before the name of a run that is done for the second time


# Of each part one, with which the others share all that could make a difference.
REPEATED = ("calls/ssccfg", "switch/ssccfg", "linux/ssccfg", "scale/ssccfg-2", "calls/kvm-6.12")


def twice(todo, which):
    """The runs that are done twice: `which` is no, one (of each part) or all."""
    return [run for run in todo if which == "all" or which == "one" and run.name in REPEATED]


class Progress:
    """A line for each run that has ended, with the time that the rest will take."""

    def __init__(self, costs, jobs):
        self.costs = dict(costs)
        self.jobs = jobs
        self.total = sum(costs.values())
        self.done = 0
        self.start = time.monotonic()
        self.say("%d runs, about %s on idle cores" %
                 (len(costs), minutes(max(self.total / jobs, *costs.values()))))

    def ended(self, label, result):
        """One more. How long the rest takes is judged by how long what was done took."""
        self.done += self.costs.pop(label)
        elapsed = time.monotonic() - self.start
        rest = elapsed * (self.total - self.done) / self.done
        self.say("%3d %% %s: %s in %d s; %s" % (
            100 * self.done / self.total, label, "FAILED" if "failure" in result else "done",
            result["seconds"], "about %s left" % minutes(rest) if self.costs else "all done"))

    def say(self, text):
        """To the person at the terminal; the table goes to standard output."""
        print("bench: " + text, file=sys.stderr, flush=True)


def minutes(seconds):
    """A time for people."""
    return "%d s" % seconds if seconds < 90 else "%d min" % round(seconds / 60)


def all_of(todo, args):
    """({name: result}, {name: result of the second time})"""
    again = twice(todo, args.repeat)
    labels = [(run.name, run) for run in todo] + [(AGAIN + run.name, run) for run in again]
    # The longest first, so that no core is idle at the end.
    labels.sort(key=lambda pair: -runs.cost(pair[1], args.set))
    jobs = args.jobs or os.cpu_count() or 1
    # What several runs want is made before, by one.
    machine.make(*sorted({target for run in todo for target in runs.TARGETS[run.part]}))
    if any(run.name.endswith("kvm-new") for run in todo):
        kvm.prepare("kvm-new")
    progress = Progress({label: runs.cost(run, args.set) for label, run in labels}, jobs)
    first, second = {}, {}
    command = ["parallel", "--will-cite", "--jobs", str(jobs), "--line-buffer", "--workdir", machine.TOP]
    if args.sshlogin:
        command += ["--sshlogin", args.sshlogin]
    command += ["tools/bench", "--set", args.set, "--timeout", str(args.timeout), "--one", "{}", ":::"]
    # GNU parallel prints each process's line when it is whole; the same name twice is no matter.
    names = [run.name for _, run in labels]
    try:
        with subprocess.Popen(command + names, text=True, cwd=machine.TOP, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE) as process:
            try:
                for line in process.stdout:
                    result = json.loads(line)
                    name = result["name"]
                    where, label = (second, AGAIN + name) if name in first else (first, name)
                    where[name] = result
                    progress.ended(label, result)
            except BaseException:
                # Once: start no more; twice: end those that run.
                process.terminate()
                process.terminate()
                raise
    except FileNotFoundError as error:
        raise machine.Failure("no GNU parallel; `make setup` installs it") from error
    lost = {run.name for run in todo} - first.keys()
    if lost:
        raise machine.Failure("no result of " + ", ".join(sorted(lost)))
    return first, second
