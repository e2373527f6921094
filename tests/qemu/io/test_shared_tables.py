# SPDX-License-Identifier: Apache-2.0
"""Shared memory as a page table. A VM that may only read it has the hart use it as one, whatever
its device tree says, and no hart may set A and D there. Other VMs keep Svadu."""

import pytest

import harness
from moving import moves
import peers
import plain
from platforms import cpu, sets_past_gstage
from shared_memory import run, shared, vm

TRIES = ("load", "store", "AMO", "jump", "load from a large page", "store to a large page")
AT = 0x100000000
READS = shared("ring", 0x1000, {"writer": (AT, "read-write"), "reader": (AT, "read")})
# A table of its own, which the VM may write.
OWNS = shared("own", 0x1000, {"other": (AT, "read-write")})
QUIRK = "ad-past-gstage"


def boot(tmp_path, rounds=1, harts=("0", "0", "0"), **arguments):
    """Boots a writer, a reader and another VM; the result and the lines of the three."""
    reads = f"kind=tables role=reader rounds={rounds}"
    guests = (("writer", "kind=tables role=writer"), ("reader", reads), ("other", reads))
    result = run(tmp_path, [vm(name, words, hart) for (name, words), hart in zip(guests, harts)],
                 [READS, OWNS], **arguments)
    assert result.status == harness.OK, str(result)
    return result, result.vm("writer"), result.vm("reader"), result.vm("other")


def quirks(result):
    """What the boot report names."""
    line, = (line for line in result.own if line.startswith("quirks: "))
    return line.split()[1:]


def faulted(causes, rounds=1):
    """What a reader says where each access faults."""
    return [f"tables: {what}: cause {cause}" for what, cause in zip(TRIES, causes)] + [
        f"tables: 0 of {6 * rounds} accesses passed"]


NO_SVADU = "tables: its device tree has no Svadu"
SVADU = "tables: its device tree has Svadu"
UNCHANGED = ["tables: 0 of 512 entries changed"]
# Page faults of loads, stores and fetches: A or D is 0, and the hart does not set them.
PAGE_FAULTS = [13, 15, 15, 12, 13, 15]
# Access faults: the G-stage does not permit the hart to set them.
ACCESS_FAULTS = [5, 7, 7, 1, 5, 7]


def kept_from(result, rounds=1):
    """What a reader says on the harts of this QEMU. Some would let it change the table, as those of
    10.0.2: it has no Svadu then. Others keep to the manual, and it keeps Svadu."""
    assert (QUIRK in quirks(result)) == sets_past_gstage()
    if sets_past_gstage():
        return [NO_SVADU, *faulted(PAGE_FAULTS, rounds)]
    return [SVADU, *faulted(ACCESS_FAULTS, rounds)]


@pytest.mark.parametrize("aia", ["none", "aplic-imsic"])
def test_a_reader_changes_nothing(tmp_path, aia):
    result, writer, reader, other = boot(tmp_path, options=["--aia", aia])
    assert writer == UNCHANGED
    assert reader == kept_from(result)
    assert other == [SVADU, "tables: 6 of 6 accesses passed"]


def test_with_vectors(tmp_path):
    """More registers are exchanged at each switch, for another reason."""
    result, writer, reader, other = boot(tmp_path, 3, options=["--cpu", cpu(more=",v=on")])
    assert writer == UNCHANGED
    assert reader == kept_from(result, 3)
    assert other == [SVADU, "tables: 18 of 18 accesses passed"]


def test_readers_that_move(tmp_path, two_harts, roaming):  # pylint: disable=redefined-outer-name
    """From hart to hart, each of which has the other VM's Svadu on before and afterwards."""
    result, writer, reader, other = boot(tmp_path, 20, ("0", "0 1", "1 0"),
                                         options=[*two_harts, *roaming], stays=False)
    assert min(moves(result, "reader"), moves(result, "other")) > 20
    assert writer == UNCHANGED
    assert reader == kept_from(result, 20)
    assert other == [SVADU, "tables: 120 of 120 accesses passed"]


def test_code_that_tally_reads(tmp_path, two_harts):  # pylint: disable=redefined-outer-name
    """An instruction without stval, which Tally has to read, on a page that the hart still knows
    though its entry lost A. HLVX would set A where a hart may: QEMU has it ignore henvcfg.ADUE."""
    # A vcpu that shares its hart may not wait there.
    vms = [vm("bait", "kind=tables role=bait"), vm("runner", "kind=tables role=runner", 1),
           vm("sleeper", "kind=idle after=2000000 ticks=1", 1)]
    memory = shared("ring", 0x1000, {"bait": (AT, "read-write"), "runner": (AT, "read")})
    result = run(tmp_path, vms, [memory], options=two_harts, stays=False)
    assert result.status == harness.OK, str(result)
    assert (QUIRK in quirks(result)) == sets_past_gstage()
    assert result.vm("bait") == ["tables: the entry stays"]
    cause = (PAGE_FAULTS if sets_past_gstage() else ACCESS_FAULTS)[TRIES.index("jump")]
    assert result.vm("runner") == [f"tables: ran, and then 1 traps, cause {cause}"]


def test_without_svadu(tmp_path):
    """Software sets A and D then, for all."""
    result, writer, reader, other = boot(tmp_path, options=["--cpu", cpu(more=",svadu=off")])
    assert QUIRK not in quirks(result)
    assert writer == UNCHANGED
    assert reader == other == [NO_SVADU, *faulted(PAGE_FAULTS)]


def test_on_a_newer_qemu(tmp_path):
    """From 11.1.3 on its harts keep to the manual, and then the reader keeps Svadu, too."""
    result, writer, reader, other = boot(
        tmp_path, options=["--qemu", peers.qemu("sid"), "--any-qemu"])
    assert writer == UNCHANGED
    assert reader == ([NO_SVADU, *faulted(PAGE_FAULTS)] if QUIRK in quirks(result) else
                      [SVADU, *faulted(ACCESS_FAULTS)])
    assert other == [SVADU, "tables: 6 of 6 accesses passed"]


@pytest.mark.parametrize("svadu", [True, False], ids=["svadu", "no-svadu"])
def test_a_hart_that_nothing_stops(tmp_path, svadu):
    """As good as such a hart is a firmware that sets A and D. Where Svadu keeps to the manual, such
    a firmware is not asked. VMs may share what all of them write."""
    options = ["--bios", plain.make("build/tests/firmware.bin"), "--append", "fw.ad=sets",
               "--cpu", cpu(more="" if svadu else ",svadu=off")]
    vms = [vm(name, "kind=idle ticks=1000") for name in ("writer", "reader")]
    result = run(tmp_path, vms, [READS], options)
    refused = ("refused: /shared/ring/reader: access: the VM could change what it may only read: "
               "hart 0 sets A and D in page tables there, even without Svadu") in result.own
    assert refused == (not svadu or sets_past_gstage())
    assert result.status == (harness.REFUSED if refused else harness.OK)
    assert run(tmp_path, vms, [READS.replace('"read"', '"read-write"')],
               options).status == harness.OK
