# SPDX-License-Identifier: Apache-2.0
"""The control state of floating point and vectors: each vcpu's own, whatever the dirty bits say.

QEMU changes fcsr, and vstart, vxsat, vxrm and vcsr, without marking the FS or VS of HS dirty."""

import pytest

import bare_guests
import harness
from platforms import vector_cpu

GOOD = ["control: begins, 0 left by others", "control: ends, 0 wrong"]


def both(more=""):
    """Two guests that hold opposite patterns, and one that begins when these have changed all."""
    words = f"vector=1 {more}"
    return {"alpha": f"kind=control mark=0 {words}", "beta": f"kind=control mark=1 {words}",
            "gamma": f"kind=control mark=0 rounds=1 after=10000 {words}"}


@pytest.mark.parametrize("mode", [3, 7])
def test_a_neighbours_rounding_mode(tmp_path, mode):
    """It sets frm, to 7 for none that is valid; the victim divides."""
    guests = {"victim": "kind=divide", "beta": f"kind=rounding mode={mode} ticks=20000"}
    result = bare_guests.boot(tmp_path, guests)
    assert result.vm("victim") == ["divide: 20 of 20 right"]


@harness.both_backends
@pytest.mark.parametrize("wait", ["", "wait=suspend"], ids=["turns", "suspend"])
def test_each_piece_alone(tmp_path, backend, wait):
    """Changed, left to others for some turns, found as it was."""
    result = bare_guests.boot(tmp_path, both(wait), backend=backend,
                              options=["--cpu", vector_cpu(128)])
    for name in ("alpha", "beta", "gamma"):
        assert result.vm(name) == GOOD


def test_lives_of_a_vcpu(tmp_path):
    """What HSM starts, and what a VM begins anew with, is zeroes."""
    result = bare_guests.boot(
        tmp_path, both("rounds=1 lives=4 type=1"), vcpus=("0", "0"), status=harness.VM_FAILED,
        properties="restart-limit = <2>;", options=["--cpu", vector_cpu(128)])
    for name in ("alpha", "beta", "gamma"):
        assert result.vm(name) == 3 * GOOD


def test_roaming(tmp_path, roaming):
    """Two harts: what the last one holds goes along."""
    result = bare_guests.boot(tmp_path, both("lives=4"), vcpus=("0 1", "1 0"), profile="smp",
                              options=["--harts", 2, *roaming, "--cpu", vector_cpu(128)])
    for name in ("alpha", "beta", "gamma"):
        assert result.vm(name) == GOOD
