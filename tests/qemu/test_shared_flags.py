# SPDX-License-Identifier: Apache-2.0
"""Several VMs on a hart without Ssccfg that shows VS the OF bits of open counters only: each
samples as if it had the hart to itself, sees its own flags, and counts all that it counted before.
"""

import pytest

import bare_guests
import harness
import peers
import test_sampling
from test_machines import EXPECTED, MEASURE

# The first emulator that hides them.
SUITE = "sid"
CPUS = ("tt-ascalon", "xiangshan-kunminghu")


def options(text, *more):
    """A hart of this model."""
    return ["--qemu", peers.qemu(SUITE), "--any-qemu", "--cpu", text, *more]


def boot(folder, guests, text="tt-ascalon", more=(), **arguments):
    """Guests that share such a hart: {name: bootargs}."""
    return bare_guests.boot(folder, guests, options=options(text, *more),
                            timeout=harness.GUARD, **arguments)


def chance(sequences, **words):
    """A guest that does random sequences of calls and waits for its LCOFIs."""
    return "sampling=chance sharers=1 " + " ".join(
        [f"{key}={value}" for key, value in words.items()] + [f"sequences={sequences}"])


@pytest.mark.parametrize("text", CPUS)
def test_two_guests_sample_and_a_third_counts(tmp_path, text):
    result = boot(tmp_path, {"alpha": chance(400, clean="yes"), "beta": chance(400, clean="yes"),
                             "gamma": MEASURE}, text)
    for name in ("alpha", "beta"):
        (line,) = result.vm(name)
        assert line.endswith(" interrupts, 0 wrong"), line
    assert result.vm("gamma") == EXPECTED


def test_every_arming_brings_one_interrupt_at_its_instruction(tmp_path):
    result = boot(tmp_path, {"alpha": "sampling=table", "beta": "sampling=table"})
    for name in ("alpha", "beta"):
        assert result.vm(name) == test_sampling.table("alone")


LINUX = """
perf stat -x, -e instructions:u work 50000000 2>&1 | sed 's/^/stat: /'
perf stat -x, -e instructions:u,cycles:u,dTLB-load-misses work 10000000 2>&1 | sed 's/^/three: /'
perf record -q -e instructions:u -c 300000 -o /tmp/data work 20000000 2>&1
perf script -i /tmp/data -F comm 2>/dev/null | sort | uniq -c
perf record -q -e instructions:u -c 10000 -o /tmp/data work 20000000 2>&1
perf script -i /tmp/data -F comm 2>/dev/null | sort | uniq -c
perf stat -x, -e instructions:u work 50000000 2>&1 | sed 's/^/after: /'
"""


def exact(lines):
    """Whether a guest printed what LINUX is to print."""
    counts = {prefix: harness.perf_counts([line.removeprefix(prefix + ": ") for line in lines
                                           if line.startswith(prefix + ": ")])
              for prefix in ("stat", "three", "after")}
    assert counts["stat"] == {"instructions:u": 50000000}, lines
    assert counts["after"] == {"instructions:u": 50000000}, lines
    assert counts["three"]["instructions:u"] == counts["three"]["cycles:u"] == 10000000
    assert counts["three"]["dTLB-load-misses"] > 0
    assert [line.split() for line in lines if ":" not in line] == [
        ["66", "work"], ["2000", "work"]], lines
    return True


@pytest.mark.parametrize("text", CPUS)
def test_two_debian_guests(tmp_path, text):
    tree = harness.linux_tree(tmp_path, {"alpha": LINUX, "beta": LINUX})
    result = harness.run(tree, options=options(text))
    assert result.status == harness.OK, str(result)
    for name in ("alpha", "beta"):
        assert exact(result.guest_output(name, name))
