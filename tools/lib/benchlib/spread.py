# SPDX-License-Identifier: Apache-2.0
"""Spreads independent runs with GNU parallel, on this machine or on others, and tells how far it
is."""

import json
import os
import queue
import shlex
import shutil
import subprocess
import sys
import threading
import time

from benchlib import kvm, machine, runs
from tallylib import ended

AGAIN = "again:"  # before the name of a run that is done for the second time
QUIET = 10  # seconds at most, so that nobody wonders whether anything goes on


# Of each part one, with which the others share all that could make a difference.
REPEATED = ("calls/ssccfg", "switch/ssccfg", "linux/ssccfg", "scale/ssccfg-2", "calls/kvm-6.12")


def twice(todo, which):
    """The runs that are done twice: `which` is no, one (of each part) or all."""
    return [run for run in todo if which == "all" or which == "one" and run.name in REPEATED]


class Progress:
    """A line for each run that has ended, with the time that the rest will take; in between, what
    is under way. costs: {label: seconds}, in the order in which they are done."""

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

    def waits(self):
        """None has ended for a while."""
        elapsed = time.monotonic() - self.start
        self.say("%3d %% after %d s: %s under way" % (
            100 * self.done / self.total, elapsed, ", ".join(list(self.costs)[:self.jobs])))

    def say(self, text):
        """To the person at the terminal; the table goes to standard output."""
        print("bench: " + text, file=sys.stderr, flush=True)


def minutes(seconds):
    """A time for people."""
    return "%d s" % seconds if seconds < 90 else "%d min" % round(seconds / 60)


def judged(result, ours):
    """A run's result without its versions; a failure if they are not the same as here. What differs
    between two machines is in the figures, too, and nobody could tell."""
    result = dict(result)
    theirs = result.pop("versions", {})
    # The first draws the report only, the second is in the figures of one host.
    no_matter = {"matplotlib"} | (set() if result["name"].endswith("kvm-new") else {machine.NEWER})
    for what in sorted((ours.keys() | theirs.keys()) - no_matter):
        if ours.get(what) != theirs.get(what) and "failure" not in result:
            result["failure"] = "%s is %s there and %s here" % (
                what, theirs.get(what), ours.get(what))
    return result


def keep(result, which):
    """Writes a result by itself, so that what a longer set has found is not lost if it is
    interrupted."""
    folder = os.path.join(machine.BUILD, "bench", which)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, result["name"].replace("/", "-") + ".json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(result, file)


def lines_of(stream, waits):
    """The lines of a stream; waits() is called when none has come for a while."""
    came = queue.Queue()

    def read():
        for line in stream:
            came.put(line)
        came.put(None)

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = came.get(timeout=QUIET)
        except queue.Empty:
            waits()
            continue
        if line is None:
            return
        yield line


def prepare(todo, sshlogin):
    """Makes what several runs want, by one, here and on each of the other machines."""
    print("bench: building what the runs boot", file=sys.stderr, flush=True)
    targets = sorted({target for run in todo for target in runs.TARGETS[run.part]})
    newest = any(run.name.endswith("kvm-new") for run in todo)
    machine.make(*targets)
    if newest:
        kvm.prepare("kvm-new")
    if not sshlogin:
        return
    fetch = " && tools/fetch/peer-kernel" if newest else ""
    command = shlex.join(["make", "-s", *targets]) + fetch
    done = subprocess.run(["parallel", "--will-cite", "--nonall", "--tag", "--workdir", machine.TOP,
                           "--sshlogin", sshlogin, command], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise machine.Failure("a machine of --sshlogin is not ready: it needs this repository in "
                              "%s, and `make setup`\n%s" % (machine.TOP, done.stdout + done.stderr))


def end_all(parallel):
    """Once: start no more; twice: end those that run."""
    parallel.terminate()
    parallel.terminate()


def all_of(todo, args):
    """({name: result}, {name: result of the second time})"""
    again = twice(todo, args.repeat)
    labels = [(run.name, run) for run in todo] + [(AGAIN + run.name, run) for run in again]
    # The longest first, so that no core is idle at the end.
    labels.sort(key=lambda pair: -runs.cost(pair[1], args.set))
    jobs = args.jobs or os.cpu_count() or 1
    machines = args.sshlogin.count(",") + 1 if args.sshlogin else 1
    if not shutil.which("parallel"):
        raise machine.Failure("no GNU parallel; `make setup-test` installs it")
    prepare(todo, args.sshlogin)
    ours = machine.versions()
    progress = Progress({label: runs.cost(run, args.set) for label, run in labels}, jobs * machines)
    first, second = {}, {}
    command = ["parallel", "--will-cite", "--jobs", str(jobs), "--line-buffer", "--workdir",
               machine.TOP]
    if args.sshlogin:
        command += ["--sshlogin", args.sshlogin]
    command += ["tools/bench", "--set", args.set, "--timeout", str(args.timeout), "--one", "{}",
                ":::"]
    # GNU parallel prints each process's line when it is whole; the same name twice is no matter.
    names = [run.name for _, run in labels]
    with ended.started(command + names, end_all, text=True, cwd=machine.TOP,
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        for line in lines_of(process.stdout, progress.waits):
            result = judged(json.loads(line), ours)
            keep(result, args.set)
            name = result["name"]
            where, label = (second, AGAIN + name) if name in first else (first, name)
            where[name] = result
            progress.ended(label, result)
    lost = {run.name for run in todo} - first.keys()
    if lost:
        raise machine.Failure("no result of " + ", ".join(sorted(lost)))
    return first, second
