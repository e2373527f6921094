# SPDX-License-Identifier: Apache-2.0
"""The self test guest under Linux's KVM: the binary that runs on OpenSBI and on Tally. Verdicts and
what it says beside them are those that tests/peers.toml has for this kernel."""

import re

import pytest

import firmwares
import peers
import platforms


def check(host, run):
    """All cases, the corrupting ones among them."""
    peers.check("self test", f"{peers.kernel(host)}, {peers.machine()}", firmwares.seen(run))
    # The guest and the packages mean the same kernel.
    number = int(re.search(r"implementation 0x3 version 0x([0-9a-f]+)$", run()[0])[1], 16)
    version = f"{number >> 16}.{number >> 8 & 255}.{number & 255}"
    assert peers.kernel(host) == f"Linux {version}"


@pytest.mark.peer
def test_every_case():
    platforms.want_redirects()
    check("debian", firmwares.on_kvm)


@pytest.mark.peer
@pytest.mark.long
def test_every_case_with_the_newest_kernel():
    peers.newest_kernel()
    check("newest", firmwares.on_newest_kvm)
