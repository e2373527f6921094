#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Do the tests on QEMU notice defects of what a world switch does? Each of a table is put into a
copy of the sources, Tally is built there, and the tests that it names have to fail, each with the
words that it names. Without any defect they must pass.

usage: hostile_mutants.py [--table FILE] [--only TEXT] [--tests TESTS] OUT

OUT is the folder for the copy. Its build begins with the objects of the last one. Exit status: 0
all were killed, 1 one lives, or a test fails without it, 2 wrong use or a text that is not found
exactly once."""
import argparse
import filecmp
import os
import re
import shutil
import subprocess
import sys
import tomllib

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.realpath(__file__)), *3 * [".."]))
sys.path.insert(0, os.path.join(TOP, "tests/host"))
# pylint: disable-next=wrong-import-position,import-error
from mutants import Wrong, changed  # noqa: E402

# What a build of the hypervisor alone reads.
SOURCES = ("arch", "core", "vpmu", "Makefile", "tools", "tests/host", "tests/fuzz", "tests/spike",
           "tests/firmware", "guests")
KERNEL = "build/tally.bin"


def run(words, cwd=TOP, **variables):
    """Its status and what it printed."""
    # A make above this has its own idea of jobs and goals.
    env = {key: value for key, value in os.environ.items()
           if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "DEBUG")}
    done = subprocess.run(words, cwd=cwd, env={**env, **variables}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    return done.returncode, done.stdout


class Copy:
    """The sources, in which one file at a time is another."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        for name in SOURCES:
            self.take(name)
        os.makedirs(self.path("build"), exist_ok=True)
        guest = self.path("build/guest")
        if not os.path.islink(guest):
            os.symlink(os.path.join(TOP, "build/guest"), guest)

    def path(self, name):
        return os.path.join(self.folder, name)

    def take(self, name):
        """A file, or all in a folder, as it is. What is the same already keeps its time, so it is
        not built again; what is another is newer than what was built of it."""
        source = os.path.join(TOP, name)
        if os.path.isdir(source):
            wanted = set(os.listdir(source)) - {"__pycache__"}
            for entry in os.listdir(self.path(name)) if os.path.isdir(self.path(name)) else []:
                if entry not in wanted:
                    self.remove(os.path.join(name, entry))
            for entry in sorted(wanted):
                self.take(os.path.join(name, entry))
            return
        target = self.path(name)
        if not os.path.exists(target) or not filecmp.cmp(source, target, shallow=False):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(source, target)

    def remove(self, name):
        path = self.path(name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.remove(path)

    def build(self):
        status, text = run(["make", KERNEL], self.folder)
        if status:
            raise Wrong("does not build:\n" + text[-3000:])

    def put(self, mutant):
        """Builds it with the defect, and leaves the sources without it."""
        path = self.path(mutant["file"])
        with open(path, encoding="utf-8") as file:
            text = changed(file.read(), mutant)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        try:
            self.build()
        finally:
            self.take(mutant["file"])

    def test(self, name):
        """Whether a test passes on it, and what it printed."""
        status, text = run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-x",
                            "--tb=short", os.path.join("tests/qemu", name)],
                           TALLY_KERNEL=self.path(KERNEL))
        if status not in (0, 1) or not re.search(r"^\d+ (passed|failed)", text, re.M):
            raise Wrong(f"{name} does not run:\n{text[-3000:]}")
        return status == 0, text


def examine(copy, mutant, tests):
    """A line of the table, and the exit status for it."""
    copy.put(mutant)
    alive = []
    for name in tests or mutant["tests"]:
        passed, text = copy.test(name)
        if passed:
            alive.append(name)
        elif not re.search(mutant["says"], text):
            return f"{name} fails, and does not say `{mutant['says']}`:\n{text[-3000:]}", 1
    if alive:
        return "ALIVE in " + " ".join(alive), 1
    return "killed by " + " ".join(tests or mutant["tests"]), 0


def main():
    about, usage = __doc__.split("usage: ")
    parser = argparse.ArgumentParser(
        usage=usage.split("\n")[0], description=about, epilog=usage.split("\n\n")[1],
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--table", default=os.path.join(TOP,
                                                        "tests/qemu/life/hostile_mutants.toml"),
                        metavar="FILE")
    parser.add_argument("--only", default="", metavar="TEXT", help="those with it in their names")
    parser.add_argument("--tests", nargs="+", default=[], metavar="TEST", help="instead of theirs")
    args = parser.parse_args()
    with open(args.table, "rb") as table:
        mutants = [m for m in tomllib.load(table)["mutant"] if args.only in m["name"]]
    worst, copy = 0, Copy(args.out)
    try:
        copy.build()
        for name in sorted({name for m in mutants for name in args.tests or m["tests"]}):
            passed, text = copy.test(name)
            if not passed:
                print(f"{name} fails on Tally as it is:\n{text[-3000:]}")
                return 1
        print(f"[0/{len(mutants)}] Tally as it is passes all of them", flush=True)
        for number, mutant in enumerate(mutants, 1):
            line, status = examine(copy, mutant, args.tests)
            print(f"[{number}/{len(mutants)}] {mutant['name']}: {line}", flush=True)
            worst = max(worst, status)
    except Wrong as wrong:
        print(f"mutants: {wrong}")
        return 2
    return worst


if __name__ == "__main__":
    sys.exit(main())
