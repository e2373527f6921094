# SPDX-License-Identifier: Apache-2.0
"""No path of an SBI PMU call changes unnoticed: figures are exact, so 2 % are no noise."""

import functools
import json
import subprocess

import pytest

import harness
import plain
import schemas
from platforms import as_recorded

TOOL = harness.ROOT / "tools" / "bench-calls"
ACCEPTED = harness.ROOT / "tests" / "bench" / "calls.json"


def bench(*arguments):
    """A run of the tool."""
    plain.make("build/guests/bench.bin")
    plain.make("build/guests/bare.bin")
    return subprocess.run([TOOL, "--timeout", str(harness.GUARD), *arguments], text=True,
                          check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@functools.cache
def measured(where):
    """The finished run there, which tests share."""
    return bench("--on", where, "--json", "--against", ACCEPTED)


# Of an interrupt of a device. A PLIC's: itself, the claim and the completion.
EXITS = {"exits/plic": 3, "exits/aia-level": 1, "exits/aia-edge": 0, "exits/msi-x": 0}


everywhere = pytest.mark.parametrize("where", ["opensbi", "sbi", "ssccfg"])


@as_recorded
@everywhere
def test_each_call_is_as_recorded(where):
    done = measured(where)
    assert done.returncode == 0, done.stderr


@everywhere
def test_exits_of_an_interrupt(where):
    done = measured(where)
    exits = {row: costs[where] for row, costs in schemas.read("bench-calls", done.stdout).items()
             if row in EXITS}
    assert exits == ({} if where == "opensbi" else EXITS)


def test_a_difference_is_noticed(tmp_path):
    """Growth, a path that has become shorter than the texts say, and a row without a record."""
    accepted = json.loads(measured("ssccfg").stdout)
    accepted["base"]["ssccfg"] *= 0.97
    accepted["stop"]["ssccfg"] *= 1.03
    del accepted["start"]["ssccfg"]
    file = tmp_path / "calls.json"
    file.write_text(json.dumps(accepted), encoding="ascii")
    table = tmp_path / "table.json"
    table.write_text(measured("ssccfg").stdout, encoding="ascii")
    done = bench("--on", "ssccfg", "--table", table, "--against", file)
    assert done.returncode == 1
    named = [line.split(" ")[1:3] for line in done.stderr.splitlines()]
    assert named == [["base", "(ssccfg):"], ["start", "(ssccfg):"], ["stop", "(ssccfg):"]]
