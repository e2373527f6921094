# SPDX-License-Identifier: Apache-2.0
"""Trees with a VM that is an operator, whose script is in its command line."""

import harness
import plain
from shared_memory import TREE, VM, MIB

BUSY = "kind=busy ticks=20000000"


def vm(name, bootargs, properties="", hart=0):
    """A node of /vms."""
    return VM.format(name=name, memory=4 * MIB, bootargs=bootargs, hart=hart,
                     properties=properties)


def operator(commands, access="watch", vms='"alpha"', more="", args="", hart=0):
    """The VM "ops" that gives these commands; each one is (WHEN, COMMAND)."""
    script = ";".join(f"{when},{command.replace(' ', '+')}" for when, command in commands)
    return vm("ops", f"kind=operator {args} script={script}",
              f'operator = "{access}"; operator-vms = {vms}; operator-interrupt = <5>; '
              f"operator-requests-hz = <10000>; {more}", hart)


def tree(tmp_path, *vms):
    """The path of a VM tree."""
    plain.make("build/guests/bare.bin")
    file = tmp_path / "vms.dts"
    file.write_text(TREE.format(vms="".join(vms), shared="").replace("shared {\n\t};", ""),
                    encoding="utf-8")
    return file


def run(tmp_path, *vms, options=(), **others):
    """Runs a tree of these nodes."""
    return harness.run(tree(tmp_path, *vms),
                       options=["--include", harness.BUILD / "guests", *options], **others)


def samples_hz(hz=100000):
    """The property."""
    return f"operator-samples-hz = <{hz}>;"


def answered(lines):
    """[(lines, status)] of what tally-operator said."""
    answers, text = [], []
    for line in lines:
        if line.startswith("= "):
            text.append(line[2:])
        elif line.startswith(". "):
            answers.append((text, int(line[2:])))
            text = []
    return answers
