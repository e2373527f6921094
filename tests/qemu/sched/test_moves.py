# SPDX-License-Identifier: Apache-2.0
"""Vcpus that move between harts with their counters live.

With tally.roam of `make DEBUG=1` each goes to the next of its harts after every turn and whenever
it waits. QEMU's counters under -icount see the instructions of all harts, so counts are exact with
one vcpu: the hart that it left is asleep.
"""

import subprocess

import pytest

import bare_guests
from bare_guests import logistic
import boots
import harness
from measured import EXPECTED, MEASURE
from moving import Operator, moves
import operators
import plain
from sampling import table


@harness.both_backends
@pytest.mark.parametrize("harts", ["0 1", "1 0"])
def test_counts_are_exact(tmp_path, two_harts, backend, harts, roaming):
    """Known counts of every filter over some thirty moves, without an exit for a read."""
    result = bare_guests.boot(tmp_path, {"alpha": MEASURE}, backend=backend, vcpus=(harts,),
                              options=[*two_harts, *roaming])
    assert result.vm("alpha") == EXPECTED
    assert moves(result, "alpha") > 30
    assert bare_guests.exits(result, "alpha")["csr"] == 0
    assert f"vm alpha: 16 MiB, 1 vcpu on hart {harts[0]}, 18 counters (0, 2 to 18)" in result.own


DEBIAN = """
perf stat -x, -e instructions:u,cycles:u work 20000000 2>&1
perf stat -x, -e instructions:u,instructions:u work 10000000 2>&1
perf record -q -e instructions:u -c 100000 -o /tmp/data work 20000000 2>&1
perf report -i /tmp/data -D 2>/dev/null | grep -c PERF_RECORD_SAMPLE
for time in 1 2 3 4 5; do sleep 0.01; perf stat -x, -e instructions:u work 1000000 2>&1; done
"""


# Counts and overflows of bare guests that move are on both.
@harness.short_on("ssccfg")
def test_debian_counts_exactly(tmp_path, two_harts, backend, roaming):
    """perf stat and perf record over two thousand moves, awake and asleep: no count is wrong, no
    sample lost or found twice."""
    tree = boots.smp_tree(tmp_path, {"alpha": DEBIAN}, {"alpha": ("0 1",)})
    result = harness.run(tree, backend=backend, timeout=harness.GUARD,
                         options=[*two_harts, *roaming])
    assert result.status == harness.OK, str(result)
    lines = result.guest_output("alpha", "alpha")
    assert [int(line.split(",")[0]) for line in lines if ":u," in line] == (
        [20000000] * 2 + [10000000] * 2 + [1000000] * 5)
    assert lines[4] == "200"
    assert moves(result, "alpha") > 1000


@harness.both_backends
def test_overflows(tmp_path, two_harts, backend, roaming):
    """Each at its instruction, whatever hart it was on when it was armed."""
    result = bare_guests.boot(tmp_path, {"alpha": "sampling=table"}, backend=backend,
                              vcpus=("0 1",), options=[*two_harts, *roaming])
    assert result.vm("alpha") == table(backend)
    assert moves(result, "alpha") > 300


def test_floating_point_and_life_go_along(tmp_path, roaming):
    """Profile smp: several vcpus that roam, start and stop each other, and end."""
    guests = {"alpha": "kind=smp rounds=1", "beta": "kind=hsm", "gamma": "kind=life"}
    result = bare_guests.boot(
        tmp_path, guests, status=harness.VM_FAILED, profile="smp", vcpus=("0 1", "1 0", "0 1"),
        options=["--harts", 2, *roaming], properties="restart-limit = <2>;")
    lines = result.vm("alpha")
    assert lines[-1] == "smp: ends, 3 vcpus, 0 bad"
    for n, line in enumerate(lines[:-1]):
        assert f", fp {logistic(n)}, " in line
    assert result.vm("beta") == ["hsm: ends, 79 checks, 0 failed"]
    assert [line.split(", early")[0] for line in result.vm("gamma")] == [
        "life: fresh 1, dirty words 0, pmu 0"] * 3
    assert moves(result, "alpha") + moves(result, "beta") > 10


# A round of each guest: three counts and a number of samples.
ROUND = """while :; do
for time in 1 2 3; do perf stat -x, -e instructions:u work 30000000 2>&1; done
perf record -q -e cycles:u -c 1000000 -o /tmp/data work 100000000 2>&1
perf report -i /tmp/data -D 2>/dev/null | grep -c PERF_RECORD_SAMPLE | sed 's/^/samples /'
done
"""


@pytest.mark.long
def test_debian_is_moved_by_an_operator(running, tmp_path):
    """Profile smp: two guests that count and sample, one of them carried to and fro."""
    tree = boots.smp_tree(tmp_path, {"alpha": ROUND, "beta": ROUND},
                          {"alpha": ("0 1",), "beta": ("1",)})
    run = running(tree, profile="smp", options=["--harts", 2])
    run.read_until("[alpha] alpha begin")
    operator = Operator(run.path)
    result = operator.carries(run, 20, lambda console: all(
        f"[{name}] samples" in console for name in ("alpha", "beta")))
    assert (moves(result, "alpha"), moves(result, "beta")) == (operator.carried, 0)
    for name in ("alpha", "beta"):
        lines = result.vm(name)
        first = lines.index(f"{name} begin") + 1
        assert all(int(line.split(",")[0]) for line in lines[first : first + 3])
        assert int(lines[first + 3].removeprefix("samples ")) > 0


def test_a_vm_is_moved_while_it_starts_again(running):
    """Profile smp: twenty lives, and moves at any moment of them: memory being cleared, images
    being loaded, the VM's end being told."""
    run = running({"alpha": "kind=life"}, vcpus=("0 1", "1 0"), profile="smp", memory=64,
                  options=["--harts", 2], properties='restart = "always"; restart-limit = <1000>;')
    operator = Operator(run.path)
    result = operator.carries(run, 20, lambda console: console.count("life: fresh") > 20)
    # Told at the end of each life: of those between two lives by the next one only.
    assert 0 < moves(result, "alpha") <= operator.carried
    lives = [line.split(", early")[0] for line in result.vm("alpha")]
    assert set(lives) == {"life: fresh 1, dirty words 0, pmu 0"}


def test_what_an_operator_is_refused(tmp_path, two_harts):
    """Harts that the VM tree does not name for the vcpu, and what is none."""
    takes = "usage: move VM VCPU HART"
    asked = {
        "move alpha 0 1": (1, 'move: hart "1" is not among the harts of alpha vcpu 0'),
        "move alpha 0 7": (1, 'move: hart "7" is not among the harts of alpha vcpu 0'),
        "move alpha 0 64": (1, 'move: hart "64" is not among the harts of alpha vcpu 0'),
        "move alpha 0 -1": (1, 'move: hart "-1" is not among the harts of alpha vcpu 0'),
        "move alpha 0": (2, takes),
        "move alpha 1 0": (1, 'move: alpha has no vcpu "1"'),
        "move alpha": (2, takes),
        "move gamma 0 0": (1, 'move: "gamma" is not in operator-vms'),
        "move alpha 0 0 0": (2, takes),
        "move alpha 0 0": (0, "alpha vcpu 0 moves to hart 0"),
    }
    result, told = operators.boot(tmp_path, {"alpha": MEASURE}, operators.at_once(*asked),
                                  options=two_harts)
    assert [(status, line) for (line,), status in told] == list(asked.values())
    assert result.vm("alpha") == EXPECTED


def test_harts_that_differ_are_refused(tmp_path):
    """A machine whose hart 1 has no Sscofpmf, and so no counters for guests."""
    tree = tmp_path / "differ.dtb"
    subprocess.run([plain.QEMU, "-machine", f"virt,dumpdtb={tree}", "-cpu",
                    "rv64,sscofpmf=on,smcntrpmf=on,ssaia=on,ssccfg=on", "-smp", "2", "-m", "1G",
                    "-nographic", "-bios", "none"], check=True, capture_output=True)
    for name, apart in (("riscv,isa", "_"), ("riscv,isa-extensions", " ")):
        all_of_them = subprocess.run(["fdtget", tree, "/cpus/cpu@1", name], check=True, text=True,
                                     capture_output=True).stdout.strip()
        kept = [word for word in all_of_them.split(apart) if word != "sscofpmf"]
        values = kept if apart == " " else [apart.join(kept)]
        subprocess.run(["fdtput", "-t", "s", tree, "/cpus/cpu@1", name, *values], check=True)
    options = harness.several_harts(tmp_path, 2, f"-dtb {tree}")
    refused = bare_guests.boot(tmp_path, {"alpha": MEASURE}, vcpus=("0 1",), options=options,
                               status=harness.REFUSED)
    assert refused.own[-1] == ("refused: /vms/alpha/vcpu0: harts: harts 0 and 1 have different "
                               "counters")
    accepted = bare_guests.boot(tmp_path, {"alpha": MEASURE}, vcpus=("0",), options=options)
    assert accepted.vm("alpha") == EXPECTED
