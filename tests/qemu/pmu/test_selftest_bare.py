# SPDX-License-Identifier: Apache-2.0
"""The self test guest on OpenSBI alone: the reference for what it finds on Tally. Verdicts and what
it says beside them are those that tests/peers.toml has for this firmware on this QEMU."""

import functools

import pytest

import firmwares
import peers

# Release of QEMU, release of OpenSBI; None: this machine's.
PLATFORMS = [(None, None), ("forky", None), ("sid", None), (None, "trixie"), (None, "forky")]


@pytest.mark.peer
@pytest.mark.parametrize("machine, firmware", PLATFORMS, ids=str)
def test_every_case(machine, firmware):
    """It finds out what the hart does and asserts what follows. Cases that damage the firmware's
    state have a boot of their own."""
    run = functools.partial(firmwares.on_opensbi, suite=firmware, machine=machine)
    seen = firmwares.seen(run)
    peers.check("self test", peers.machine(machine, firmware), seen)
    for case in firmwares.CORRUPTING:
        assert f"case {case}" in run(f"case={case}")


def test_corrupting_cases_are_announced():
    assert firmwares.on_opensbi()[-3] == (
        "20 cases that corrupt some firmware left out; a boot each with "
        "case=fw-base case=fw-base-start case=wrap case=info case=shmem")


def test_an_unknown_case_fails():
    assert firmwares.on_opensbi("case=nonsense")[-1] == "2 passed, 1 failed"
