# SPDX-License-Identifier: Apache-2.0
"""Every tree of bad_trees.py is refused before boot, and some at boot, in the same words, for these
have one parser; docs/refusals.md has them all."""

import functools
import subprocess

import pytest

from bad_properties import REFUSALS
import bad_trees
import harness
import hosts
import plain
from vm_check import refusals

ALL = [bad for group in bad_trees.GROUPS.values() for bad in group]
# What boot finds out of its machine by itself, on each of them.
AT_BOOT = {
    "Two VMs need more memory than there is.",
    "The second vcpu is for a hart that there is not.",
    "A VM is given Tally's console.",
    "A VM with an AIA is for a machine without one.",
    "Shared memory covers the window of a PCI bus.",
    "A PCI function is given without an IOMMU.",
    "A hart has no guest interrupt file for the second VM.",
}
BOOTED = [bad for bad in ALL if bad.what in AT_BOOT]
# tools/run's options for each machine, and QEMU's for what its tree says.
PCI = "virtio-rng-pci,addr=01.0," + hosts.ISOLATED
MACHINES = {
    "one hart": {},
    "two harts": {"profile": "smp", "options": ("--harts", 2)},
    "devices": {"options": ("--aia", "none")},
    "functions": {"options": ("--device", PCI, "--iommu", "on")},
    "no IOMMU": {"options": ("--device", PCI, "--iommu", "off")},
    "one file": {"options": ("--aia", "aplic-imsic", "--aia-guests", 1)},
}
TREES = {"devices": {}, "no IOMMU": {}, "functions": {"iommu_sys": "on"},
         "one file": {"aia": "aplic-imsic", "aia_guests": 1}}


@pytest.fixture(scope="module", autouse=True)
def built():
    """The program that vm-check runs."""
    plain.make("vm-check")


@pytest.fixture(scope="module", name="host_of")
def host_of_fixture(tmp_path_factory):
    """of(MACHINE) -> vm-check's options for it."""
    folder = tmp_path_factory.mktemp("hosts")

    @functools.cache
    def of(machine):
        if machine in TREES:
            file = folder / (machine.replace(" ", "-") + ".dtb")
            return "--host", hosts.tree(file, **TREES[machine])
        return ("--harts", 2) if machine == "two harts" else ()

    return of


@pytest.mark.parametrize("bad", ALL, ids=lambda bad: bad.what[:60])
def test_refused(tree_file, host_of, bad):
    """By vm-check, which knows the machine's tree. A tree with one mistake has one refusal."""
    options = host_of(bad.machine)
    status, summary, told = refusals(tree_file(bad.text()), *options)
    assert (status, bool(summary), told) == (1, "--host" in options, [bad.words])


@pytest.mark.parametrize("bad", BOOTED, ids=lambda bad: bad.what[:60])
def test_refused_at_boot(tree_file, bad):
    """On each machine, in the same words."""
    assert {booted.machine for booted in BOOTED} == set(MACHINES) and len(BOOTED) == len(AT_BOOT)
    result = harness.run(tree_file(bad.text()), **MACHINES[bad.machine])
    assert result.status == harness.REFUSED, str(result)
    assert [line for line in result.own if line.startswith("refused: ")] == [
        "refused: " + bad.words]


def test_each_is_another_one():
    """A hundred mistakes, none of them listed twice: these, and those in single properties."""
    trees = {bad.text() for bad in ALL}
    assert len(trees) == len(ALL) == len({bad.what for bad in ALL})
    singles = {new for _, new, _ in REFUSALS if new} | {old for old, new, _ in REFUSALS if not new}
    assert len(singles) == len(REFUSALS)
    assert len(trees) + len(singles) >= 100


def test_the_page():
    """Is made of them, today's."""
    done = subprocess.run([harness.ROOT / "tools/pages/refusals-page", "--check"], check=False)
    assert done.returncode == 0, "docs/refusals.md is old: tools/pages/refusals-page makes it"
