# SPDX-License-Identifier: Apache-2.0
"""The interrupt of a VM that is an operator: as INTx a level, by a PLIC and by an APLIC; as a
message one for each ring that is served."""

import pytest

import harness
from operator_trees import BUSY, operator, run, vm
from operators import answers

FILES = ["--aia", "aplic-imsic", "--aia-guests", "2"]
# Bootargs, properties and options of tools/run.
CHIPS = {
    "plic": ("irq=yes", "", []),
    "aplic": ("irq=aplic", 'interrupts = "aia";', FILES),
    "message": ("irq=yes", 'interrupts = "aia"; operator-identity = <9>;', FILES),
}


def states(tmp_path, chip, script, **arguments):
    """What the guest says of its state after each step of (commands, expected), in which `ask`
    stands for a request. Each is `state, intx, interrupts`, and none is strange."""
    words, properties, options = CHIPS[chip]
    commands = [command for commands, _ in script for command in (*commands.split(), "!state")]
    asked = [("+0", "vms" if command == "ask" else command) for command in commands]
    result = run(tmp_path, vm("alpha", BUSY),
                 operator(asked, more=properties, args=words), options=options, **arguments)
    assert result.status == harness.OK, str(result)
    told = answers(result)
    assert {status for _, status in told} == {0} and len(told) == len(asked)
    found = [lines for lines, _ in told if lines and lines[0].startswith("state ")]
    assert found == [[f"state {state}, intx {intx}, {came} interrupts, 0 strange"]
                     for _, (state, intx, came) in script], str(result)
    assert f"operator: ends, {script[-1][1][2]} interrupts" in result.vm("ops")


# `help` has more lines than the ring of answers, so that is served twice.
LEVEL = [
    ("", (0, 0, 0)),
    ("ask", (0, 0, 1)),
    ("help", (0, 0, 3)),
    ("!ring !ring", (0, 0, 3)),
    ("!mask=0 ask", (1, 0, 3)),
    ("ask help", (1, 0, 3)),
    ("!mask=1", (0, 0, 4)),
    # It is a level: it comes until the state is cleared.
    ("!leave=3 ask", (0, 0, 8)),
    # The reason is told though INTx is disabled, and it comes when INTx is enabled.
    ("!intx=1 ask", (1, 1, 8)),
    ("ask", (1, 1, 8)),
    ("!mask=0", (1, 0, 8)),
    ("!intx=0", (1, 0, 8)),
    ("!mask=1", (0, 0, 9)),
    ("!intx=1 ask !intx=0", (0, 0, 10)),
]
MESSAGE = [
    ("", (0, 0, 0)),
    ("ask", (0, 0, 1)),
    ("help", (0, 0, 3)),
    ("!ring !ring", (0, 0, 3)),
    # What is written meanwhile sends none later.
    ("!mask=0 ask", (1, 0, 3)),
    ("ask help", (1, 0, 3)),
    ("!mask=1", (1, 1, 3)),
    ("ask", (0, 0, 4)),
    # It comes once, and each time, whatever the state is.
    ("!leave=3 ask", (1, 1, 5)),
    ("ask", (1, 1, 6)),
    ("ask", (1, 1, 7)),
    ("ask", (0, 0, 8)),
    # INTx has nothing to do with it.
    ("!intx=1 ask", (0, 0, 9)),
]


@harness.both_backends
@pytest.mark.parametrize("chip", ["plic", "aplic"])
def test_a_level(tmp_path, chip, backend):
    """While STATE is set, MASK lets it through and INTx is not disabled."""
    states(tmp_path, chip, LEVEL, backend=backend)


@harness.both_backends
def test_a_message(tmp_path, backend):
    """One for each ring that has left answers, unless MASK holds it back: that one is lost."""
    states(tmp_path, "message", MESSAGE, backend=backend)
