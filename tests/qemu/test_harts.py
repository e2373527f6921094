# SPDX-License-Identifier: Apache-2.0
"""Machines with many harts."""

import re

import bare_guests
from test_smp import logistic


def eights(harts):
    """VMs of 8 vcpus, so many that each hart has one, by the harts' ids."""
    own = {}
    for first in range(0, len(harts), 8):
        own[f"vm{first // 8}"] = "\n".join(
            bare_guests.VCPU.format(n=n, harts=hart)
            for n, hart in enumerate(harts[first:first + 8]))
    return own


def boot(folder, harts, **arguments):
    """Each vcpu computes, and sends IPIs and fences to all of its VM."""
    own = eights(harts)
    result = bare_guests.boot(folder, dict.fromkeys(own, "kind=smp rounds=1"), vcpus=(), own=own,
                              **arguments)
    for name in own:
        lines = result.vm(name)
        assert lines[-1] == "smp: ends, 8 vcpus, 0 bad", name
        for n, line in enumerate(lines[:-1]):
            assert line.startswith(f"smp: vcpu {n}: ")
            assert line.endswith(f", fp {logistic(n)}, errors 0, ipi 2")
    assert result.own[-1] == "all VMs ended"
    return result


def alike(result):
    """The harts that are as the first one, and that one."""
    found = [re.fullmatch(r"harts ([\d ,to]+): as hart (\d+)", line) for line in result.own]
    (found,) = (match for match in found if match)
    return found.groups()


def test_sixteen(tmp_path):
    """A vcpu on each; harts that are alike have the lines of one."""
    result = boot(tmp_path, range(16), profile="smp", options=["--harts", 16])
    others, first = alike(result)
    ids = {n for word in others.split(", ") for n in
           range(int(word.split(" to ")[0]), int(word.split(" to ")[-1]) + 1)}
    assert ids == set(range(16)) - {int(first)}
    assert sum(": guests see " in line for line in result.own) == 3
    assert "vm vm1: 16 MiB, 8 vcpus on harts 8 9 10 11 12 13 14 15, " in str(result)
