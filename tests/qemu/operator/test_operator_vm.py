# SPDX-License-Identifier: Apache-2.0
"""A VM that is an operator asks by its PCI function: what it is told, and what is refused."""

import json
import re

import harness
import plain
from shared_memory import TREE, VM, MIB

LENGTH = 100000
ROUNDS = 2
# The jump to the work, two instructions a round and the return, and the ecall.
USER_WORK = 2 * LENGTH + 3


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


def answers(result, name="ops"):
    """Of each request its lines and its status."""
    told = {}
    for line in result.vm(name):
        found = re.fullmatch(r"operator: (\d+): (.*)", line)
        if found:
            told.setdefault(int(found[1]), []).append(found[2])
    return [(lines[:-1], int(lines[-1].removeprefix("status "))) for _, lines in sorted(told.items())]


BUSY = "kind=busy ticks=20000000"


@harness.both_backends
def test_watch(tmp_path, backend):
    """It is told of the VMs in its list, as if there were no others, and can change none."""
    refused = 'operator = "control"'
    asked = [("vms --json", 0), ("exits --json", 0), ("pmu", 0), ("stop alpha", refused),
             ("start alpha", refused), ("restart alpha", refused), ("move alpha 0 0", refused),
             ("crash alpha", refused), ("poweroff", "serial line"), ("frames on", "serial line"),
             ("trace on", "serial line"), ("observe beta instructions", "operator-vms"),
             ("observe gamma instructions", "operator-vms"), ("nonsense", "no such command"),
             ("observe alpha instructions:u --json", 0), ("observed --json", 0),
             ("unobserve --json", 0), ("observed --json", 0), ("x" * 65, "no such command")]
    result = run(tmp_path, vm("alpha", BUSY), vm("beta", BUSY),
                 operator([(0, command) for command, _ in asked]), backend=backend)
    assert result.status == harness.OK, str(result)
    assert ('vm ops: operator "watch" of alpha, at most 10000 requests a second') in result.own
    told = answers(result)
    assert len(told) == len(asked)
    for (command, wanted), (lines, status) in zip(asked, told):
        if wanted:
            assert status and len(lines) == 1 and wanted in lines[0], (command, lines, status)
        else:
            assert status == 0, (command, lines)
            assert "beta" not in " ".join(lines) and "ops" not in " ".join(lines), lines
    [line] = told[0][0]
    assert json.loads(line)["vm"] == "alpha" and json.loads(line)["state"] == "running"
    [line] = told[1][0]
    assert json.loads(line)["longest_stay"] > 0
    for n in (14, 15, 16):
        assert json.loads(told[n][0][0])["ended"] is None, told[n]
    assert told[17] == ([], 0)
