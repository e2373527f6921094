# SPDX-License-Identifier: Apache-2.0
"""A direct read of a running counter takes no exit, a trapped one exactly one. (What U may read
at all is in guests/selftest/user.c as well.)"""

import pytest

import bare_guests
import harness

TRAP = 'pmu-reads = "trap";'
# Of one length, because copying the guest's device tree is accounted to it, too.
FEW, MANY = 1_000, 9_000


def read(folder, bootargs, words, **arguments):
    """The exits of a guest that reads; its last line must be as told."""
    result = bare_guests.boot(folder, {"alpha": "kind=reads " + bootargs}, **arguments)
    assert result.vm("alpha") == ["reads: ends, " + words]
    return bare_guests.exits(result, "alpha")


@harness.both_backends
@pytest.mark.parametrize("mode", ["s", "u"])
def test_direct_reads_take_no_exit(tmp_path, backend, mode):
    few, many = (read(tmp_path, f"mode={mode} reads={n}", "0 odd", backend=backend)
                 for n in (FEW, MANY))
    assert many == few
    assert many["csr"] == many["other"] == 0


@harness.both_backends
@pytest.mark.parametrize("mode", ["s", "u"])
def test_a_stopped_counter_is_read_without_an_exit(tmp_path, backend, mode):
    few, many = (read(tmp_path, f"mode={mode} which=stopped step=0 reads={n}", "0 odd",
                      backend=backend)
                 for n in (FEW, MANY))
    assert many == few
    assert many["csr"] == 0


# A read counts itself, trapped or not: what Tally executes for a guest is in the guest's count.
@harness.both_backends
@pytest.mark.parametrize("mode, which, properties",
                         [("s", "own", TRAP), ("u", "own", TRAP), ("s", "shared", ""),
                          ("u", "shared", "")])
def test_a_trapped_read_takes_one_exit(tmp_path, backend, mode, which, properties):
    few, many = (read(tmp_path, f"mode={mode} which={which} reads={n}", "0 odd",
                      backend=backend, properties=properties) for n in (FEW, MANY))
    assert (few.pop("csr"), many.pop("csr")) == (FEW, MANY)
    # Each read costs the same, to the instruction. The line at the end may meet the UART otherwise.
    cost = many.pop("hs-instructions") - few.pop("hs-instructions")
    assert cost > 0 and cost % (MANY - FEW) < 100
    assert many == few


@harness.both_backends
@pytest.mark.parametrize("which", ["own", "shared", "stopped"])
@pytest.mark.parametrize("properties", ["", TRAP])
def test_scounteren_closes_a_counter(tmp_path, backend, which, properties):
    """However it is backed, with the other bits of scounteren open or not."""
    read(tmp_path, f"mode=closed which={which} reads=100", "100 illegal",
         properties=properties, backend=backend)


@harness.both_backends
def test_direct_reads_beside_a_neighbour(tmp_path, backend):
    """Two that read and one that overflows: only time slices are left as exits."""
    guests = {"alpha": "kind=reads mode=u reads=4500000",
              "beta": "kind=reads mode=s reads=4500000", "gamma": "kind=pmuloop ticks=300000"}
    result = bare_guests.boot(tmp_path, guests, backend=backend)
    for name in ("alpha", "beta"):
        assert result.vm(name) == ["reads: ends, 0 odd"]
        exits = bare_guests.exits(result, name)
        assert exits["timer"] > 3 and exits["csr"] == 0
