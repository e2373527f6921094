# SPDX-License-Identifier: Apache-2.0
"""The exact tests again with guests that have an AIA or functions: beside one whose messages never
end, beside one whose function does DMA and interrupts, and in a VM whose own function does."""

import re

import pytest

import bare_guests
from firmwares import WITH_SNAPSHOT
import harness
from hosts import RNG, functions
from pci_functions import BUS, FILLS, MSIX, STARTED, boot, devices, filled
from sampling import sampling

AIA = 'interrupts = "aia";'
RNG_NODE = devices(rng="00:01.0")
MANY = 10 ** 9
PLIC, FILES = "none", "aplic-imsic"
# Lines of the guests' nodes, what the neighbour does, lines of its node, the machine's chip.
FEATURES = {
    "function": ("", f"kind=pci fills={MANY}", RNG_NODE, PLIC),
    "aia-function": (AIA, f"kind=pci fills={MANY} msix=5", AIA + RNG_NODE, FILES),
    "aia-messages": (AIA, f"kind=aia what=self messages={MANY}", AIA, FILES),
}
features = pytest.mark.parametrize("feature", FEATURES)


def run(folder, feature, bootargs, properties="", **arguments):
    """What a guest that has the feature prints. Its neighbour goes on until it has ended."""
    lines, neighbour, its_lines, chip = FEATURES[feature]
    guests = {"alpha": (bootargs, lines + properties), "neighbour": (neighbour, its_lines)}
    options = ["--aia-guests", 2] if chip == FILES else []
    result = boot(folder, guests, *functions(RNG), aia=chip, options=options,
                  until="tally: vm alpha: ended", status=harness.INTERRUPTED, **arguments)
    assert "vm neighbour: ended" not in result.own
    return result.vm("alpha")


@harness.both_backends
@features
def test_selftest(tmp_path, feature, backend):
    lines = run(tmp_path, feature, "", 'pmu-snapshot = "on"; pmu-overflow = "on";',
                backend=backend)
    assert bare_guests.kinds(lines) == WITH_SNAPSHOT
    assert lines[-1] == "376 passed, 0 failed"


@pytest.mark.parametrize("feature, backend", [
    ("function", "sbi"), ("aia-function", "ssccfg"), ("aia-messages", "sbi"),
    *(pytest.param(*case, marks=pytest.mark.long) for case in
      (("function", "ssccfg"), ("aia-function", "sbi"), ("aia-messages", "ssccfg")))])
def test_a_model_agrees(tmp_path, feature, backend):
    """Random sequences of switch, arm, mask, stop, reset: each interrupt that comes on the firmware
    alone. The guest waits in them, and then the neighbour has its whole time slice."""
    words = "chance clean=yes sharers=1 sequences=70"
    (line,) = sampling(tmp_path, "opensbi", words)
    assert re.fullmatch(r"chance: ends after 70 sequences, \d{2,} interrupts, 0 wrong", line)
    assert run(tmp_path, feature, "sampling=" + words, backend=backend) == [line]


@harness.both_backends
@pytest.mark.parametrize("chip", [PLIC, "aplic", FILES])
def test_beside_its_own_function(tmp_path, chip, backend):
    """The interrupt reaches the machine in the middle of the loop that is counted."""
    words, node, lines = f"kind=pci fills={FILLS} count=2000", RNG_NODE, BUS + STARTED
    if chip == FILES:
        words, node, lines = words + " msix=5", AIA + node, MSIX
    result = boot(tmp_path, {"alpha": (words, node)}, *functions(RNG), aia=chip, backend=backend,
                  options=["--aia-guests", 1] if chip == FILES else [])
    assert result.vm("alpha") == lines + [filled(FILLS),
                                          f"pci: rng: {2 * FILLS} counts beside it, 0 wrong"]
