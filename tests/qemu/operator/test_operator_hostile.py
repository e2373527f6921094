# SPDX-License-Identifier: Apache-2.0
"""A VM that may only watch itself tries all else by its function as an operator: nothing is let
through."""

import pytest

import bare_guests
import harness
from lives import told
from measured import ONE_EXPECTED, ONE_ROUND

OPERATOR = """
	operator = "watch"; operator-interrupt = <5>; operator-requests-hz = <10000>; {more}
"""
SAMPLES = "operator-samples-hz = <100000>;"
ROUNDS = 2
HOSTILE = f"kind=hostile-operator of=alpha rounds={ROUNDS}"
NOTHING = ["hostile: registers 0, memory 0, commands 0, indices 0, floods 0 let through",
           f"hostile: {ROUNDS} rounds, 0 let through"]


@harness.both_backends
@pytest.mark.parametrize("more", ["", SAMPLES], ids=["counts", "samples"])
def test_nothing_is_let_through(tmp_path, backend, more):
    """And the VM that it has tried to reach has run on all the time, and ends by itself."""
    result = bare_guests.boot(tmp_path, {"alpha": ONE_ROUND, "beta": HOSTILE}, backend=backend,
                              own={"beta": OPERATOR.format(more=more)})
    assert result.vm("beta") == NOTHING
    assert result.vm("alpha") == ONE_EXPECTED
    assert told(result, "alpha") == told(result, "beta") == ["ended"]
