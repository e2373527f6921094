# SPDX-License-Identifier: Apache-2.0
"""Several VMs on a hart without Ssccfg that shows VS the OF bits of open counters only: each samples
as if it had the hart to itself, sees its own flags, and counts all that it counted before."""

import pytest

import bare_guests
import harness
import peers
import test_sampling
from test_machines import EXPECTED, MEASURE

# The first emulator that hides them.
SUITE = "sid"
CPUS = ("tt-ascalon", "xiangshan-kunminghu")


def options(text="tt-ascalon", *more):
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
