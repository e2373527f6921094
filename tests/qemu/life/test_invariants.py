# SPDX-License-Identifier: Apache-2.0
"""What the hypervisor of `make DEBUG=1` checks at each exit and entry, where owners change most.

`make DEBUG=1 test-qemu` runs the other tests on it, too; `make test-long` does so.
"""

import pytest

import bare_guests
import harness
from moving import Operator, moves


def test_a_broken_one_is_told(tmp_path, debug_build):
    """One line that quotes it, and a status of its own."""
    result = bare_guests.boot(tmp_path, {"alpha": "kind=busy"}, status=harness.NO_VERDICT,
                              options=[*debug_build, "--append", "tally.broken"])
    (line,) = [line for line in result.own if line.startswith("panic")]
    assert line.startswith("panic: hart 0: broken invariant: !debug_words.broken "
                           "(core/debug/check.c:")
    assert "Tally stopped on a broken invariant" in result.messages


@pytest.mark.parametrize("what, vcpus", [("fence_i", ("0 1", "1 0", "0 1", "1 0")),
                                         ("vma", ("0 1", "1 0"))])
def test_vcpus_that_end_and_move_in_a_fence(tmp_path, roaming, what, vcpus):
    """Profile smp: vcpus that send each other fences, roam, and are ended by a reset, forty times.
    """
    result = bare_guests.boot(
        tmp_path, {"alpha": f"kind=flood what={what} peer=sends sends=30 type=1"}, vcpus=vcpus,
        profile="smp", status=harness.VM_FAILED, options=["--harts", 2, *roaming],
        properties="restart-limit = <40>;")
    assert result.own.count("vm alpha: starts again") == 40
    assert moves(result, "alpha") > 40


def test_an_operator_moves_who_is_in_a_fence(running, debug_build):
    """Profile smp: the same without roaming, one vcpu carried to and fro meanwhile."""
    run = running({"alpha": "kind=flood what=all peer=sends sends=30 type=1"}, vcpus=("0 1", "1 0"),
                  profile="smp", options=["--harts", 2, *debug_build],
                  properties='restart = "always"; restart-limit = <1000>;')
    again = "vm alpha: starts again"
    operator = Operator(run.path)
    result = operator.carries(run, 20, lambda console: console.count(again) >= 20)
    # Told at the end of each life: of those between two lives by the next one only.
    assert 0 < moves(result, "alpha") <= operator.carried


def test_on_one_hart(tmp_path, debug_build):
    """Counters that are shared and taken, and vcpus that start and stop."""
    guests = {"alpha": "kind=hsm", "beta": "kind=smp rounds=1", "gamma": "kind=pmuloop"}
    result = bare_guests.boot(tmp_path, guests, vcpus=["0", "0"], options=debug_build, stays=False)
    assert result.vm("beta")[-1] == "smp: ends, 2 vcpus, 0 bad"
