# SPDX-License-Identifier: Apache-2.0
"""Vcpus that move between harts with their counters live.

With tally.roam each goes to the next of its harts after every turn and whenever it waits. QEMU's
counters under -icount see the instructions of all harts, so counts are exact with one vcpu: the hart
that it left is asleep.
"""

import pytest

import bare_guests
import boots
import harness
import plain
from test_neighbours import EXPECTED, MEASURE
from test_sampling import table
from test_smp import logistic

ROAM = ("--append", "tally.roam")


@pytest.fixture(scope="module")
def two_harts(tmp_path_factory):
    """The options for a machine of two harts where counts are exact."""
    script = tmp_path_factory.mktemp("machine") / "qemu"
    script.write_text(f'#!/bin/sh\nexec {plain.QEMU} "$@" -smp 2\n', encoding="ascii")
    script.chmod(0o755)
    return ("--qemu", script)


def moves(result, name, vcpu=0):
    """How often a vcpu moved."""
    for line in result.own:
        if line.startswith(f"vm {name}: vcpu {vcpu}: exits "):
            return harness.exit_counts(line).get("moves", 0)
    raise AssertionError(f"no exits of {name} in\n{result}")


@harness.both_backends
@pytest.mark.parametrize("harts", ["0 1", "1 0"])
def test_counts_are_exact(tmp_path, two_harts, backend, harts):
    """Known counts of every filter over some thirty moves, without an exit for a read."""
    result = bare_guests.boot(tmp_path, {"alpha": MEASURE}, backend=backend, vcpus=(harts,),
                              options=[*two_harts, *ROAM])
    assert result.vm("alpha") == EXPECTED
    assert moves(result, "alpha") > 30
    assert bare_guests.exits(result, "alpha")["csr"] == 0
    assert f"vm alpha: 16 MiB, 1 vcpu on hart {harts[0]}, counters 7fffd" in result.own


DEBIAN = """
perf stat -x, -e instructions:u,cycles:u work 20000000 2>&1
perf stat -x, -e instructions:u,instructions:u work 10000000 2>&1
perf record -q -e instructions:u -c 100000 -o /tmp/data work 20000000 2>&1
perf report -i /tmp/data -D 2>/dev/null | grep -c PERF_RECORD_SAMPLE
for time in 1 2 3 4 5; do sleep 0.01; perf stat -x, -e instructions:u work 1000000 2>&1; done
"""


@harness.both_backends
def test_debian_counts_exactly(tmp_path, two_harts, backend):
    """perf stat and perf record over two thousand moves, awake and asleep: no count is wrong, no
    sample lost or found twice."""
    tree = boots.smp_tree(tmp_path, {"alpha": DEBIAN}, {"alpha": ("0 1",)})
    result = harness.run(tree, backend=backend, timeout=120, options=[*two_harts, *ROAM])
    assert result.status == harness.OK, str(result)
    lines = result.guest_output("alpha", "alpha")
    assert [int(line.split(",")[0]) for line in lines if ":u," in line] == (
        [20000000] * 2 + [10000000] * 2 + [1000000] * 5)
    assert lines[4] == "200"
    assert moves(result, "alpha") > 1000


@harness.both_backends
def test_overflows(tmp_path, two_harts, backend):
    """Each at its instruction, whatever hart it was on when it was armed."""
    result = bare_guests.boot(tmp_path, {"alpha": "sampling=table"}, backend=backend,
                              vcpus=("0 1",), options=[*two_harts, *ROAM])
    assert result.vm("alpha") == table(backend)
    assert moves(result, "alpha") > 300


def test_floating_point_and_life_go_along(tmp_path):
    """Profile smp: several vcpus that roam, start and stop each other, and end."""
    guests = {"alpha": "kind=smp rounds=1", "beta": "kind=hsm", "gamma": "kind=life"}
    result = bare_guests.boot(
        tmp_path, guests, status=harness.VM_FAILED, profile="smp", vcpus=("0 1", "1 0", "0 1"),
        options=["--harts", 2, *ROAM], properties="restart-limit = <2>;")
    lines = result.vm("alpha")
    assert lines[-1] == "smp: ends, 3 vcpus, 0 bad"
    for n, line in enumerate(lines[:-1]):
        assert f", fp {logistic(n)}, " in line
    assert result.vm("beta") == ["hsm: ends, 72 checks, 0 failed"]
    assert [line.split(", early")[0] for line in result.vm("gamma")] == [
        "life: fresh 1, dirty words 0, pmu 0"] * 3
    assert moves(result, "alpha") + moves(result, "beta") > 10
