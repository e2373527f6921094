# SPDX-License-Identifier: Apache-2.0
"""A VM that is an operator asks by its PCI function: what it is told, and what is refused."""

import json

import harness
from operator_trees import BUSY, operator, run, tree, vm
from operators import answers
from tallylib import tally_ctl

LENGTH = 100000
ROUNDS = 2
# The jump to the work, two instructions a round and the return, and the ecall.
USER_WORK = 2 * LENGTH + 3


@harness.both_backends
def test_watch(tmp_path, backend):
    """It is told of the VMs in its list, as if there were no others, and can change none."""
    refused = 'operator = "control"'
    asked = [("vms --json", 0), ("exits --json", 0), ("pmu", 0), ("stop alpha", refused),
             ("start alpha", refused), ("restart alpha", refused), ("move alpha 0 0", refused),
             ("crash alpha", refused), ("last alpha", refused), ("poweroff", refused),
             ("frames on", "serial line"), ("trace on", refused),
             ("observe beta instructions", "operator-vms"),
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
    for n in (15, 16, 17):
        assert json.loads(told[n][0][0])["ended"] is None, told[n]
    assert told[18] == ([], 0)


def test_control(tmp_path):
    """It stops and starts a VM of its list, and no other one."""
    asked = ["stop alpha", "stop beta", "vms", "start alpha", "crash alpha", "move alpha 0 1"]
    commands = [(20000 * n, command) for n, command in enumerate(asked)]
    result = run(tmp_path, vm("alpha", BUSY), vm("beta", BUSY), operator(commands, "control"))
    assert result.status == harness.OK, str(result)
    told = answers(result)
    assert [status for _, status in told] == [0, 1, 0, 0, 0, 1], told
    assert told[0][0] == ["alpha is being stopped"]
    assert told[1][0] == ['stop: "beta" is not in operator-vms']
    assert "alpha" in told[2][0][0] and len(told[2][0]) == 1
    assert told[3][0] == ["alpha is being started"]
    assert told[4][0] == ["alpha has not failed"]
    assert "vm alpha: starts again" in result.own
    assert sum("vm beta: ended" in line for line in result.own) == 1


def test_more_answers_than_room(tmp_path):
    """The ring has 16 records, and `help` more lines: none is lost, and each interrupt is taken."""
    result = run(tmp_path, vm("alpha", BUSY), operator([(0, "help"), (0, "vms")], args="irq=yes"))
    assert result.status == harness.OK, str(result)
    told = answers(result)
    assert len(told[0][0]) > 16 and told[0][0][-1].startswith("exit: "), told[0]
    assert told[1][1] == 0
    assert "operator: ends, 3 interrupts" in result.vm("ops")


def test_counts_equal_those_from_outside(console, tmp_path):
    """Of the same work of a VM, asked by a VM and by a program on the serial line."""
    waits = vm("alpha", f"kind=waits filter=u rounds={ROUNDS} length={LENGTH}")
    ops = operator([(0, "observe alpha instructions:u --json"), ("key", "observed --json"),
                    ("key", "unobserve --json"), ("key", "observed --json")])
    path = tmp_path / "control"
    screen = console(tree(tmp_path, waits, ops), timeout=harness.GUARD,
                     options=["--include", harness.BUILD / "guests", "--control", path])
    screen.expect(r"operator: 1: status 0\r")
    with tally_ctl.Machine(str(path), timeout=harness.GUARD) as machine:
        [line] = machine.objects("observe alpha instructions:u")
        number = line["observation"]
        screen.send("x")
        screen.expect(r"waits: 0: \d+\r+\n")
        screen.send("\x142")
        screen.send("x")
        screen.expect(r"operator: 2: (\{.*\})\r")
        inside = json.loads(screen.match[1])
        outside = {line["observation"]: line["value"] for line in machine.objects("observed")}
        # It is told of its own one only, the serial line of both.
        assert set(outside) == {number, inside["observation"]}
        assert inside["observation"] >> 24 == 2
        assert outside[number] == outside[inside["observation"]] == inside["value"] == USER_WORK
        screen.send("x")
        screen.expect(r"operator: 3: status 0\r")
        screen.send("x")
        screen.expect(r"operator: 4: status 0\r")
        assert "operator: 4: {" not in screen.before
        [line] = machine.objects("observed")
        assert (line["observation"], line["value"]) == (number, USER_WORK)


def test_nothing_is_left_of_a_life(console, tmp_path):
    """Its observations end with its life, and its rings are empty in the next one."""
    ops = operator([(0, "observe alpha instructions:u"), (0, "observe alpha cycles"),
                    ("key", "vms")], args="again=yes")
    path = tmp_path / "control"
    screen = console(tree(tmp_path, vm("alpha", "kind=busy ticks=1000000000000"), ops),
                     timeout=harness.GUARD,
                     options=["--include", harness.BUILD / "guests", "--control", path])
    begins = "operator: access 1, 10000 requests a second, state 0, mask 1"
    screen.expect(begins)
    screen.send("\x142")
    with tally_ctl.Machine(str(path), timeout=harness.GUARD) as machine:
        [mine] = machine.objects("observe alpha instructions:u")
        for life in range(2):
            screen.expect(r"operator: 2: status 0\r")
            seen = {line["observation"] for line in machine.objects("observed")}
            first = 2 << 24 | (2 * life + 1)
            assert seen == {mine["observation"], first, first + 1}
            screen.send("x")
            screen.expect(r"operator: 3: status 0\r")
            screen.expect(begins)
