#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a random model test notice defects? Each of a table (of the virtual PMU, or of core/) is
put into a copy of one file, the model test is built with it, and has to find a difference within
STEPS steps; without any it must find none. The build is without sanitizers and compiles what
includes the file only.

usage: mutants.py [--table FILE] [--steps N] [--seed N] OUT --harts KIND CFLAGS SOURCES... ...

OUT is the folder for objects and copies, SOURCES make the model test on this kind of harts. A
defect is put into the first one, or that of its `harts`. Exit status: 0 all were killed, 1 one
lives, or the unchanged library differs, 2 wrong use or a text that is not found exactly once."""
import argparse
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor

CFLAGS = ["-std=c11", "-O1", "-w"]
LIMIT_S = 60  # of CPU time: a mutant that loops for ever is noticed, too


class Wrong(Exception):
    """The table does not fit the sources."""


def body(text, function):
    """Where the definition of a function begins and ends."""
    found = list(re.finditer(rf"^[^\s/#*].*\b{re.escape(function)}\([^;]*?\)\n{{", text, re.M))
    if len(found) != 1:
        raise Wrong(f"{len(found)} functions {function}()")
    return found[0].start(), text.index("\n}\n", found[0].end())


def changed(text, mutant):
    """The file with the defect in it."""
    start, end = body(text, mutant["within"]) if "within" in mutant else (0, len(text))
    times = text.count(mutant["find"], start, end)
    if times != 1:
        raise Wrong(f"its text is found {times} times: {mutant['find']}")
    at = text.index(mutant["find"], start)
    return text[:at] + mutant["replace"] + text[at + len(mutant["find"]):]


def run(command, **options):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, **options)


def must(command):
    result = run(command)
    if result.returncode:
        raise Wrong("does not build:\n" + result.stdout)


class Build:
    """The model test, and what of it includes what."""

    def __init__(self, out, kind, cflags, *sources):
        self.out, self.sources = os.path.join(out, kind), sources
        self.cflags = [*CFLAGS, *shlex.split(cflags)]
        self.cc = os.environ.get("HOSTCC", "cc")

    def object(self, folder, source):
        return os.path.join(folder, source.replace("/", "_") + ".o")

    def compile(self, folder, source, path):
        """The copies in the folder are found before the files."""
        must([self.cc, "-I", folder, *self.cflags, "-I", ".", "-MMD", "-c", path, "-o",
              self.object(folder, source)])

    def link(self, folder, others):
        program = os.path.join(folder, "model")
        must([self.cc, *self.cflags, *others, "-lcmocka", "-lfdt", "-o", program])
        return program

    def base(self, pool):
        os.makedirs(self.out, exist_ok=True)
        list(pool.map(lambda source: self.compile(self.out, source, source), self.sources))
        return self.link(self.out, [self.object(self.out, s) for s in self.sources])

    def includes(self, source, path):
        with open(self.object(self.out, source)[:-1] + "d", encoding="utf-8") as deps:
            return path in deps.read().split()

    def mutant(self, number, mutant):
        folder = os.path.join(self.out, str(number))
        path = os.path.join(folder, mutant["file"])
        # Copies of another defect would be found before the files, too.
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(mutant["file"], encoding="utf-8") as file:
            text = changed(file.read(), mutant)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        objects = []
        for source in self.sources:
            fresh = source == mutant["file"] or self.includes(source, mutant["file"])
            if fresh:
                self.compile(folder, source, path if source == mutant["file"] else source)
            objects.append(self.object(folder if fresh else self.out, source))
        return self.link(folder, objects)


def limited():
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def hunt(program, args, seed):
    """None, or how the model test noticed."""
    result = run([program, "--hunt", str(args.steps), str(seed)], preexec_fn=limited)
    if result.returncode == 0:
        return None
    if result.returncode == 1:
        step, _, what = result.stdout.strip().partition(" ")
        return f"step {step}: {what}"
    return f"ended by {result.returncode}"


def examine(builds, number, mutant, args):
    """A line of the table, and whether all is well."""
    try:
        program = builds[mutant.get("harts", next(iter(builds)))].mutant(number, mutant)
        killed = hunt(program, args, args.seed + mutant.get("seeds_on", 0))
    except Wrong as wrong:
        return f"{mutant['name']}: {mutant['file']}: {wrong}", 2
    if killed:
        return f"{mutant['name']}: killed by {killed}", 0
    return f"{mutant['name']}: ALIVE after {args.steps} steps", 1


def main():
    about, usage = __doc__.split("usage: ")
    parser = argparse.ArgumentParser(
        usage=usage.split("\n")[0], description=about, epilog=usage.split("\n\n")[1],
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--harts", nargs="+", action="append", required=True)
    parser.add_argument("--table", default="tests/host/mutants.toml", metavar="FILE")
    parser.add_argument("--steps", type=int, default=1000000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--count", metavar="FILE", help="gets: passed failed")
    args = parser.parse_args()
    if any(len(harts) < 3 for harts in args.harts):
        parser.error("--harts wants a kind, flags and sources")
    builds = {harts[0]: Build(args.out, *harts) for harts in args.harts}
    with open(args.table, "rb") as table:
        mutants = [m for m in tomllib.load(table)["mutant"] if args.only in m["name"]]
    worst, bad = 0, 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for kind, build in builds.items():
            try:
                differs = hunt(build.base(pool), args, args.seed)
            except Wrong as wrong:
                print(f"mutants: {wrong}")
                return 2
            print(f"[0/{len(mutants)}] the library as it is, on {kind} harts: "
                  f"{differs or f'no difference in {args.steps} steps'}", flush=True)
            if differs:
                return 1
        lines = pool.map(lambda item: examine(builds, *item, args), enumerate(mutants))
        for number, (line, status) in enumerate(lines, 1):
            print(f"[{number}/{len(mutants)}] {line}", flush=True)
            worst = max(worst, status)
            bad += status != 0
    if args.count:
        with open(args.count, "w", encoding="utf-8") as file:
            print(len(mutants) + len(builds) - bad, bad, file=file)
    return worst


if __name__ == "__main__":
    sys.exit(main())
