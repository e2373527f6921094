# SPDX-License-Identifier: Apache-2.0
"""Tools ask a machine that was asked before, by an operator in a VM (operators.py): in the exact
profile what they are told, and so what they write, is the same in each run."""

import base64
import re
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

import fakes
import harness
import operator_trees
import operators
from perf_runs import TOOL
from perflib import samples
import plain

# What begins here is played when the guest "alpha" has said so.
STARTS = f"echo start {operators.NAME} | /test/tally-operator >/dev/null"
CONTROL = f"""
			operator = "control"; operator-vms = "{operators.NAME}";
			operator-interrupt = <5>; operator-requests-hz = <10000>;
"""


def words(answer):
    """[(hart, words)] of an operator's answer to `!`."""
    lines, status = answer
    assert status == 0
    found = [re.fullmatch(r"hart (\d+):((?: [0-9a-f]+)+)", line) for line in lines]
    return [(int(one[1]), [int(word, 16) for word in one[2].split()]) for one in found]


def packed(numbers):
    """As tally-operator prints them."""
    return base64.b64encode(struct.pack(f"<{len(numbers)}Q", *numbers)).decode()


class Replayed(fakes.Asked):
    """A machine that answers as it did: [(command, answer)], in the order in which tools ask. What
    `!` took from the rings comes when `samples` is asked, what `unobserve` told of all observations
    when each is ended."""

    def __init__(self, path, answers):
        self.answers = list(answers)
        self.ends = []
        super().__init__(path, self.next)

    def next(self, command):
        """(status, lines)"""
        name, *more = command.removesuffix(" --json").split()
        if name == "samples":
            return 0, [line for taken in self.taken() for line in taken]
        if name == "unobserve":
            if self.answers and self.answers[0][0] == "unobserve --json":
                self.ends = operators.objects(self.answers.pop(0)[1])
            return fakes.told(end for end in self.ends if more == [f"{end['observation']}"])
        asked, (lines, status) = self.answers.pop(0)
        assert asked == command, (asked, command)
        return status, lines

    def taken(self):
        """Of each `!` that is next, lines as tally-operator's."""
        while self.answers and self.answers[0][0] == "!":
            yield [f"{hart} words {packed(each)}" for hart, each in words(self.answers.pop(0)[1])]


def asked(tool, answers, *more):
    """What a tool says that asks such a machine, and ends at once."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Replayed(Path(folder) / "control", answers)
        done = subprocess.run([*tool, "--socket", machine.path, "--duration", "0.001", *more],
                              capture_output=True, text=True, check=False, timeout=harness.GUARD)
        machine.end()
    assert done.returncode == 0 and not machine.answers, (done, machine.answers)
    return done.stderr


def record(file, answers, *more):
    """What the file of `perf-vms record` has, and what was said."""
    said = asked([TOOL, "record", "-o", file], answers, *more)
    return samples.read(file.read_text(encoding="utf-8").splitlines()), said


def beside_linux(folder, script, commands, until=None, bootargs="", **arguments):
    """What operators.run() returns of a Debian guest "alpha" with one vcpu; the operator begins
    with its commands at STARTS."""
    (folder / "test").mkdir()
    shutil.copy(plain.make("build/guests/linux/tally-operator"), folder / "test")
    plain.make("build/guests/bare.bin")
    tree = harness.linux_tree(folder, {"alpha": script}, properties=CONTROL, bootargs=bootargs)
    return operators.run(folder, tree.read_text(encoding="utf-8"), ["alpha"], commands, until,
                         more=operator_trees.samples_hz() + ' boot = "defer";', **arguments)


def record_linux(folder, script, event, how, span, times, **arguments):
    """The console, and a file with all samples of such a guest: so many times for a span of ticks.
    Between two the operator prints what it has, and the guest goes on. event: (as `sample` names
    it, as perf-vms does); how: the period, and callers if they are wanted."""
    commands = [("+0", "vms --json"),
                ("+0", " ".join(map(str, ("sample alpha", event[0], *how, "--json")))),
                (f"+{span}", "unobserve --json"), ("+0", "!")]
    result, told = beside_linux(folder, script, commands, operators.ENDED, times=times, **arguments)
    words_of = ["--vm", "alpha", "-e", event[1]]
    for option, number in zip(("-c", "-g --max-stack"), how):
        words_of += [*option.split(), str(number)]
    file, lines = folder / "samples", []
    for n in range(0, len(told), len(commands)):
        _, said = record(file, [(command, answer) for (_, command), answer in
                                zip(commands, told[n:])], *words_of)
        assert re.search(", 0 lost[ ,]", said), said
        lines += file.read_text(encoding="utf-8").splitlines()[1 if lines else 0:]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return result.console, file
