# SPDX-License-Identifier: Apache-2.0
"""Tally's own SBI extension (docs/sbi-tally.md): a VM that controls another one."""

import pytest

import bare_guests
import harness
from lives import WARDEN_LINES, ends_of

BUSY = "kind=busy ticks=4000000000"


def test_control(tmp_path):
    """Each answer, and what becomes of the other VM; those that nobody named run on."""
    result = bare_guests.boot(
        tmp_path, {"alpha": "kind=warden of=beta", "beta": BUSY, "gamma": BUSY},
        status=harness.INTERRUPTED, until="vm alpha: ended",
        own={"alpha": 'controls = "beta";'})
    assert result.vm("alpha") == ["warden: ends, 68 checks, 0 failed"], str(result)
    assert ends_of(result, "alpha") == ["ended"]
    assert ends_of(result, "beta") == WARDEN_LINES
    assert ends_of(result, "gamma") == []
    assert result.vm("beta") == ["busy: begins"] * 4
    assert result.vm("gamma") == ["busy: begins"]


@pytest.mark.parametrize("chip", ["none", "aplic-imsic"])
def test_on_another_hart(tmp_path, chip):
    """The caller has hart 1; the VM that it controls shares hart 0 with one that runs on."""
    hart = "vcpu0 {{ harts = <{}>; }};".format
    result = bare_guests.boot(
        tmp_path, {"alpha": "kind=warden of=beta apart=1", "beta": BUSY, "gamma": BUSY},
        status=harness.INTERRUPTED, until="vm alpha: ended", vcpus=(), profile="smp",
        options=["--harts", 2, "--aia", chip],
        own={"alpha": 'controls = "beta"; ' + hart(1), "beta": hart(0), "gamma": hart(0)})
    assert result.vm("alpha") == ["warden: ends, 64 checks, 0 failed"], str(result)
    assert ends_of(result, "alpha") == ["ended"]
    assert ends_of(result, "beta") == WARDEN_LINES
    assert ends_of(result, "gamma") == []
    assert result.vm("beta") == ["busy: begins"] * 4
    assert result.vm("gamma") == ["busy: begins"]


def test_not_for_others(tmp_path):
    """Without the property there is no extension, also for the VM that is controlled."""
    result = bare_guests.boot(
        tmp_path, {"alpha": "kind=warden", "beta": "kind=warden", "gamma": "kind=busy ticks=1"},
        own={"gamma": 'controls = "alpha", "beta";'})
    for name in ("alpha", "beta"):
        assert result.vm(name) == ["warden: ends, 2 checks, 0 failed"]
