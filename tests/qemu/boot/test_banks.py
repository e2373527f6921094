# SPDX-License-Identifier: Apache-2.0
"""RAM in several banks: QEMU's one bank, which the device tree cuts in pieces."""

import json
import subprocess

import pytest

import bare_guests
import harness
import hosts
from measured import EXPECTED, MEASURE
from memory_at import lives, memory_at, reserved, tree
import pci_functions
import plain
import shared_memory
from vm_check import check

MIB = 1 << 20
MEMORY = "/memory@80000000"
# QEMU puts the VM tree there, if it has 1 GiB or more.
TREE_AT = 0xa0200000
# Instructions of the boot for each bank more, at most.
BOOT_OF_A_BANK = 70000


def cells(number):
    """Of two words."""
    return [f"{number >> 32:x}", f"{number & 0xffffffff:x}"]


def banks(*ranges, kept=()):
    """fdtput's words for a machine with these alone, of which some is kept."""
    reg = [word for base, size in ranges for word in (*cells(base), *cells(size))]
    return [["-t", "x", "host.dtb", MEMORY, "reg", *reg], *(reserved(*kept) if kept else ())]


def boot(folder, edits, guests, memory="1G", **arguments):
    """Boots the guests on a machine whose tree is changed so."""
    qemu = hosts.qemu(folder, *hosts.changed(folder, edits, memory=memory))
    options = ["--memory", memory, "--qemu", qemu, *arguments.pop("options", ())]
    return bare_guests.boot(folder, guests, options=options, **arguments)


def lines(result, word):
    """Tally's own that begin so."""
    return [line for line in result.own if line.startswith(word)]


def offline(folder):
    """What vm-check says of the same machine."""
    done = check("--host", folder / "host.dtb", "--tree-at", hex(TREE_AT), "--include",
                 harness.BUILD / "guests", folder / "bare.dts")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


FOUR = banks((0x80000000, 62 * MIB), (0x90001000, 22 * MIB), (0x98000000, 2 * MIB),
             (0xa0000000, 256 * MIB), kept=[(0xa0400000, 4096), (0xa0600000, 4096)])
PIECES = [(0x90200000, 4 * MIB), (0x98000000, 2 * MIB), (0xa0800000, 10 * MIB)]


def test_vms_in_several(tmp_path):
    """Three VMs that have not chosen have the lowest memory that holds them; one has chosen its own
    in three of them. One bank is smaller than a VM, one does not begin at a multiple of 2 MiB."""
    guests = {"alpha": MEASURE, "beta": MEASURE, "delta": MEASURE, "gamma": "kind=pieces type=0"}
    result = boot(tmp_path, FOUR, guests, own={"gamma": memory_at(PIECES) + ";"})
    for name in ("alpha", "beta", "delta"):
        assert result.vm(name) == EXPECTED
    assert result.vm("gamma") == lives(PIECES, 1)
    where = ["RAM 0x80000000 to 0x83dfffff: Tally, 1 VM, 14 MiB free",
             "RAM 0x90001000 to 0x91600fff: 2 VMs, 0 MiB free",
             "RAM 0x98000000 to 0x981fffff: 1 VM, 0 MiB free",
             "RAM 0xa0000000 to 0xafffffff: 2 VMs, 224 MiB free"]
    assert lines(result, "RAM ") == where, str(result)
    assert [line.split(",")[0] for line in lines(result, "vm ") if " vcpu on " in line] == [
        "vm alpha: 16 MiB (lies at 0x82000000)", "vm beta: 16 MiB (lies at 0x90600000)",
        "vm delta: 16 MiB (lies at 0xa1200000)",
        "vm gamma: 16 MiB at 0x90200000 and 0x98000000 and 0xa0800000"]
    said = offline(tmp_path)
    assert [line for line in said if line.startswith("RAM ")] == where
    assert [line for line in said if line.startswith("  lies at")] == [
        "  lies at   0x82000000", "  lies at   0x90600000", "  lies at   0xa1200000"]


def test_a_function_whose_vm_is_in_another(tmp_path):
    """Above 4 GiB, where DMA of the VM's own finds it through the IOMMU."""
    edits = banks((0x80000000, 40 * MIB), (0x140000000, 64 * MIB))
    options = hosts.changed(tmp_path, edits, memory="6G", iommu_sys="on")
    result = pci_functions.boot(
        tmp_path, {"alpha": ("kind=pci fills=300", pci_functions.devices(rng="00:01.0")),
                   "beta": (MEASURE, memory_at([(0x142000000, 16 * MIB)]) + ";")},
        *hosts.functions(hosts.RNG), *options, options=["--memory", "6G"])
    assert "RAM 0x140000000 to 0x143ffffff: 2 VMs, 30 MiB free" in result.own, str(result)
    assert lines(result, "vm alpha: 16 MiB (lies at 0x140000000), "), str(result)
    assert result.vm("alpha") == [*pci_functions.BUS, *pci_functions.STARTED,
                                  pci_functions.filled(300)]
    assert result.vm("beta") == EXPECTED


def test_shared_in_another(tmp_path):
    """Each VM and both shared memories are in banks of their own."""
    edits = banks((0x80000000, 36 * MIB), (0x140000000, 6 * MIB), (0x150000000, 6 * MIB))
    qemu = hosts.qemu(tmp_path, *hosts.changed(tmp_path, edits, memory="6G"))
    result = shared_memory.run(tmp_path, shared_memory.ring(64, messages=10000),
                               [shared_memory.DOWN, shared_memory.UP],
                               options=["--memory", "6G", "--qemu", qemu])
    assert result.status == harness.OK, str(result)
    assert lines(result, "RAM ") == [
        "RAM 0x80000000 to 0x823fffff: Tally, 1 VM, 0 MiB free",
        "RAM 0x140000000 to 0x1405fffff: 1 VM, 1 shared, 0 MiB free",
        "RAM 0x150000000 to 0x1505fffff: 0 VMs, 1 shared, 0 MiB free"], str(result)
    assert lines(result, "shared ") == ["shared down: 1028 KiB at 0x140400000",
                                        "shared up: 4100 KiB at 0x150000000"], str(result)
    assert shared_memory.lines_of(result)[0] == [
        f"shared: {done} 10000 messages, 0 wrong, 0 instructions too many or too few"
        for done in ("sent", "received")]


def test_the_vm_tree_in_another(tmp_path):
    """Tally's bank has nothing but Tally."""
    edits = banks((0x80000000, 32 * MIB), (0x90000000, 64 * MIB), (0xa0000000, 5 * MIB))
    result = boot(tmp_path, edits, {"alpha": MEASURE})
    assert lines(result, "RAM ") == ["RAM 0x80000000 to 0x81ffffff: Tally, 0 VMs, 0 MiB free",
                                     "RAM 0x90000000 to 0x93ffffff: 1 VM, 48 MiB free",
                                     "RAM 0xa0000000 to 0xa04fffff: 0 VMs, 2 MiB free"]
    assert result.vm("alpha") == EXPECTED
    assert offline(tmp_path)[-1] == "1 VM, 16 MiB of the 66 MiB there are for VMs"


def test_a_bank_that_is_not_there(tmp_path):
    """What the tree says is tried; nobody gets it."""
    edits = banks((0x80000000, 512 * MIB), (0x200000000, 64 * MIB))
    result = boot(tmp_path, edits, {"alpha": MEASURE})
    assert lines(result, "RAM ") == ["RAM 0x200000000 to 0x203ffffff is not used: HS cannot read "
                                     "and write it at 0x200000000"]
    assert result.vm("alpha") == EXPECTED


def test_tallys_bank_is_smaller(tmp_path):
    """It has not what the tree says, so the VM tree has no place."""
    result = boot(tmp_path, banks((0x80000000, 2048 * MIB)), {"alpha": MEASURE},
                  status=harness.DEPENDENCY)
    assert result.own == ["the platform: host tree: HS cannot read and write RAM at 0xffe00000"]


@pytest.mark.parametrize("kept", [False, True], ids=["nothing is kept", "some is kept"])
def test_a_host_tree_that_is_too_large(tmp_path, kept):
    """Without it nobody knows what is kept, so no VM runs; unless nothing is."""
    edits = banks((0x80000000, 512 * MIB), kept=[(0x88000000, 4096)] if kept else ())
    edits += [["-t", "s", "host.dtb", "/", f"filler{i}", "x" * 120000] for i in range(9)]
    result = boot(tmp_path, edits, {"alpha": MEASURE},
                  status=harness.REFUSED if kept else harness.OK)
    if kept:
        assert result.own == ["refused: /vms: the host's device tree is larger than 1 MiB"]
    else:
        assert result.vm("alpha") == EXPECTED


# QEMU with the VM tree elsewhere than its initrd would be: the host's tree says where it is.
ELSEWHERE = """#!/bin/sh
for word; do
    shift
    case $word in
    -initrd) blob=1; continue ;;
    esac
    if [ "$blob" ]; then
        blob=
        [ {load} = no ] && continue
        set -- "$@" -device
        word=loader,file=$word,addr={at:#x},force-raw=on
    fi
    set -- "$@" "$word"
done
exec {program} "$@" -dtb {tree}
"""


def boot_elsewhere(folder, at, edits, size=MIB, load=True, **arguments):
    """A boot with the VM tree at an address, of which the host's tree says a size."""
    chosen = [["-t", "x", "host.dtb", "/chosen", f"linux,initrd-{end}", *cells(where)]
              for end, where in (("start", at), ("end", at + size))]
    _, file = hosts.changed(folder, edits + chosen)
    script = folder / "qemu"
    script.write_text(ELSEWHERE.format(program=plain.QEMU, tree=file, at=at,
                                       load="yes" if load else "no"), encoding="utf-8")
    script.chmod(0o755)
    return bare_guests.boot(folder, {"alpha": MEASURE}, options=["--qemu", script], **arguments)


ALL = banks((0x80000000, 1024 * MIB))


# vm-check knows of these, too, for a tree of any size.
OFFLINE = (0x70000000, 0x81fff000, 0x90000004)


@pytest.mark.parametrize("at, edits, reason", [
    (0x70000000, ALL, "is in RAM that Tally does not use"),
    (0x300000000, ALL, "is in RAM that Tally does not use"),
    (0x80100000, banks((0x80200000, 512 * MIB)), "is in RAM that Tally does not use"),
    (0x81fff000, ALL, "puts the VM tree into Tally's 32 MiB"),
    (0x9ff80000, banks((0x80000000, 512 * MIB)),
     "puts the VM tree behind the end of RAM"),
    (0x90000000, banks((0x80000000, 1024 * MIB), kept=[(0x900ff000, 4096)]),
     "puts the VM tree into reserved memory"),
    (0x90000004, ALL, "is not a multiple of 8"),
], ids=["below", "above", "before Tally", "in the tables", "over the end", "reserved", "odd"])
def test_a_vm_tree_where_it_cannot_be(tmp_path, at, edits, reason):
    """vm-check refuses it in the same words, unless only a trial shows it."""
    result = boot_elsewhere(tmp_path, at, edits, load=False, status=harness.REFUSED)
    words = f"/chosen: linux,initrd-start: {at:#x} {reason}"
    assert result.own[-1] == "refused: " + words, str(result)
    if at in OFFLINE:
        done = check("--host", tmp_path / "host.dtb", "--include", harness.BUILD / "guests",
                     tmp_path / "bare.dts")
        assert (done.returncode, done.stderr) == (1, words + "\n")


@pytest.mark.parametrize("at, size, edits, ram", [
    (0x90000ff8, MIB + 12345, ALL, None),
    (0x82000000, MIB, ALL, None),
    (0xbff00000, MIB, ALL, None),
    (0xa0000008, MIB, banks((0x80000000, 64 * MIB), (0xa0000000, 4 * MIB)),
     ["RAM 0x80000000 to 0x83ffffff: Tally, 1 VM, 16 MiB free",
      "RAM 0xa0000000 to 0xa03fffff: 0 VMs, 2 MiB free"]),
], ids=["no page", "behind Tally", "the end of RAM", "another bank"])
def test_a_vm_tree_stays_where_it_is(tmp_path, at, size, edits, ram):
    """At any multiple of 8, with bytes behind it that are no part of it. The host's own tree, which
    QEMU puts at the end of RAM, is no obstacle."""
    result = boot_elsewhere(tmp_path, at, edits, size)
    assert result.vm("alpha") == EXPECTED
    assert ram is None or lines(result, "RAM ") == ram, str(result)


def test_vm_check_knows_where_tally_is(tmp_path):
    """High in a bank, beside what is kept there, if it is told so. It would not lie where it cannot
    by itself."""
    for target in ("build/guests/bare.bin", "vm-check"):
        plain.make(target)
    file = tmp_path / "vms.dts"
    file.write_text(tree({"alpha": (16, MEASURE)}), encoding="utf-8")
    for at, good in ((0x88200000, False), (0x8a200000, True)):
        hosts.changed(tmp_path, banks((0x80000000, 128 * MIB), (0x88000000, 384 * MIB),
                                      kept=[(0x88000000, 4096), (at, 4096)]))
        words = ("--host", tmp_path / "host.dtb", "--include", harness.BUILD / "guests", file)
        assert check(*words).returncode == 0
        done = check("--board-ram", "0x88000000", *words)
        assert done.returncode == (0 if good else 2), str(done)
        assert good or done.stderr == (
            f"vm-check: {tmp_path}/host.dtb: /reserved-memory: kept@88200000: 0x88200000 lies in "
            "Tally or its tables\n")


def test_more_than_tally_uses(tmp_path):
    """Twenty, of which it uses sixteen; by two nodes, as of two NUMA nodes."""
    them = [(0x80000000 + 0x5000000 * i, 4 * MIB) for i in range(20)]
    edits = banks((0x80000000, 64 * MIB), *them[1:10])
    more = "/memory@b2000000"
    edits += [["-cp", "host.dtb", more], ["-t", "s", "host.dtb", more, "device_type", "memory"],
              ["host.dtb", more, "numa-node-id", "1"],
              ["-t", "x", "host.dtb", more, "reg",
               *[word for base, size in them[10:] for word in (*cells(base), *cells(size))]]]
    result = boot(tmp_path, edits, {"alpha": MEASURE}, memory="2G")
    words = "16 MiB of RAM are not used: Tally uses 16 banks at most"
    assert words in result.own, str(result)
    assert words in offline(tmp_path)
    assert len(lines(result, "RAM ")) == 16
    assert result.vm("alpha") == EXPECTED


def boot_cost(result):
    """Instructions of the boot hart."""
    return next(int(line.split()[0]) for line in result.own if "from entry to the first" in line)


def test_costs_with_one_bank_and_four(tmp_path):
    """Two VMs that share the hart, one in Tally's bank and one in another, have the exits that they
    have in one bank, with as many instructions of HS. Those that load them are subtracted: a copy
    upwards takes others than one downwards. Boot tries each bank and says what is in it."""
    own = {"beta": memory_at([(0xa1000000, 16 * MIB)]) + ";"}
    costs, boots = [], []
    for edits in (banks((0x80000000, 1024 * MIB)),
                  banks((0x80000000, 256 * MIB), (0xa0000000, 64 * MIB), (0xb0000000, 64 * MIB),
                        (0xb8000000, 64 * MIB))):
        all_of = [boot(tmp_path, edits, {"alpha": kind, "beta": kind}, own=own)
                  for kind in ("kind=idle ticks=1000", MEASURE)]
        counted = [[bare_guests.exits(result, name) for name in ("alpha", "beta")]
                   for result in all_of]
        costs.append([{cause: after[cause] - before[cause] for cause in after}
                      for before, after in zip(*counted)])
        boots.append(boot_cost(all_of[0]))
        assert all(result["hs-instructions"] > 100000 for result in costs[-1])
    assert costs[0] == costs[1]
    assert 0 < boots[1] - boots[0] < 3 * BOOT_OF_A_BANK


def test_an_unused_image_costs_nothing(tmp_path):
    """It stays where the boot loader put it. The figure of boot is all but clearing and loading."""
    plain.make("build/guests/bare.bin")
    file, image = tmp_path / "vms.dts", tmp_path / "unused"
    file.write_text(bare_guests.tree({"alpha": MEASURE}) +
                    '/ { images { unused { data = /incbin/("unused"); }; }; };', encoding="utf-8")
    costs = []
    for size in (4096, 32 * MIB):
        image.write_bytes(bytes(size))
        result = harness.run(file, options=["--include", harness.BUILD / "guests"])
        assert result.vm("alpha") == EXPECTED
        costs.append(boot_cost(result))
    assert abs(costs[1] - costs[0]) < 0.02 * costs[0], costs


# Trees like those of boards: the memory of a VM of 16 MiB, and each bank with what is free then.
BOARDS = {
    "k3": (0x20000000, [(0x20000000, 256 * MIB, 240 * MIB, False),
                        (0x100000000, 4096 * MIB, 4062 * MIB, True),
                        (0x900000000, 2048 * MIB, 2048 * MIB, False)]),
    "p550": (0x82000000, [(0x80000000, 16384 * MIB, 16202 * MIB, True)]),
}


@pytest.mark.parametrize("board", BOARDS)
def test_boards_offline(tmp_path, board):
    """Where a VM lies there, and what is left over."""
    plain.make("build/guests/bare.bin")
    host = tmp_path / "host.dtb"
    subprocess.run(["dtc", "-q", "-o", host, harness.ROOT / f"tests/host/boards/{board}.dts"],
                   check=True)
    file = tmp_path / "vms.dts"
    file.write_text(tree({"alpha": (16, MEASURE)}), encoding="utf-8")
    done = check("--json", "--host", host, "--include", harness.BUILD / "guests", file)
    said = json.loads(done.stdout)
    at, there = BOARDS[board]
    assert said["vms"][0]["host_memory"] == [[at, 16 * MIB]]
    assert said["banks"] == [
        {"base": base, "size": size, "tally": tally, "vms": int(base <= at < base + size),
         "shared": 0, "free": free} for base, size, free, tally in there]
    assert said["guest_memory"] >= sum(free for _, _, free, _ in there) + 16 * MIB
