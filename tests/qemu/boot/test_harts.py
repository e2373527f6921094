# SPDX-License-Identifier: Apache-2.0
"""Machines with many harts."""

import re

import pytest

import bare_guests
from bare_guests import logistic
import harness
import hosts
import measured
import plain

# What tests/firmware makes of the harts' numbers.
FIRST_ID = {"clusters": 0, "high": 0xfffff000}


def ids_of(word, harts):
    """The ids of so many harts, two of them in each cluster."""
    return [FIRST_ID[word] + (n // 2 << 8 | n % 2) for n in range(harts)]


def machine(folder, word, harts=1):
    """Options of a machine with such ids."""
    edits = [["-t", "x", "host.dtb", f"/cpus/cpu@{n}", "reg", f"{hart:x}"]
             for n, hart in enumerate(ids_of(word, harts))]
    return ["--qemu", hosts.qemu(folder, *hosts.changed(folder, edits, harts=harts)), "--memory",
            "1G", "--bios", plain.make("build/tests/firmware.bin"), "--append", f"fw.ids={word}",
            *(["--harts", harts] if harts > 1 else [])]


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
    found = [match.groups() for match in found if match]
    (first,) = {first for others, first in found}
    return ", ".join(others for others, first in found), first


def test_sixteen(tmp_path):
    """A vcpu on each; harts that are alike have the lines of one."""
    result = boot(tmp_path, range(16), profile="smp", options=["--harts", 16])
    others, first = alike(result)
    ids = {n for word in others.split(", ") for n in
           range(int(word.split(" to ")[0]), int(word.split(" to ")[-1]) + 1)}
    assert ids == set(range(16)) - {int(first)}
    assert sum(": guests see " in line for line in result.own) == 3
    assert "vm vm1: 16 MiB, 8 vcpus on harts 8 9 10 11 12 13 14 15, " in str(result)


@pytest.mark.parametrize("backend", ["sbi", "ssccfg"])
def test_the_only_hart_has_a_high_id(tmp_path, backend):
    """Two guests share it, and count exactly."""
    guests = {name: measured.MEASURE for name in ("alpha", "beta")}
    (hart,) = ids_of("high", 1)
    result = bare_guests.boot(tmp_path, guests, vcpus=(str(hart),), backend=backend,
                              options=machine(tmp_path, "high"))
    for name in guests:
        assert result.vm(name) == measured.EXPECTED
        assert any(line.startswith(f"vm {name}: 16 MiB, 1 vcpu on hart 4294963200, ")
                   for line in result.own)


@pytest.mark.parametrize("word", ["clusters", "high"])
def test_ids_of_clusters(tmp_path, word):
    """IPIs and fences between all, by their ids."""
    ids = ids_of(word, 8)
    result = boot(tmp_path, ids, profile="smp", options=machine(tmp_path, word, 8))
    assert alike(result) == (f"{ids[1]}, " + ", ".join(
        f"{a} to {b}" for a, b in zip(ids[2::2], ids[3::2])), str(ids[0]))


def one_at_a_time(folder, word, harts):
    """Options of the same machine in the profile exact, where its harts take turns."""
    edits = [["-t", "x", "host.dtb", f"/cpus/cpu@{n}", "reg", f"{hart:x}"]
             for n, hart in enumerate(ids_of(word, harts))]
    return ["--qemu", hosts.qemu(folder, *hosts.changed(folder, edits, harts=harts), "-smp", harts),
            "--memory", "1G", "--bios", plain.make("build/tests/firmware.bin"), "--append",
            f"fw.ids={word} tally.inexact-counts"]


def test_sixty_four(tmp_path):
    """OpenSBI 1.5.1 has too little memory for as many: see docs/platform.md."""
    ids = ids_of("clusters", 64)
    result = boot(tmp_path, ids, options=one_at_a_time(tmp_path, "clusters", 64), stays=False)
    assert alike(result)[1] == "0"


TABLE = re.compile(r"^\| (\d+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$", re.M)
TABLES = re.compile(r"tables: (\d+) KiB, ")
BOOT = re.compile(r"(\d+) instructions from entry to the first guest")


def found(pattern, result):
    """The number in one line."""
    (number,) = (int(match[1]) for match in map(pattern.match, result.own) if match)
    return number


def test_what_grows(tmp_path):
    """Boot and memory follow the harts, as docs/footprint.md has it. Calls, and switches by timers
    and waits, cost the same with 8 and with 64; alone the hart also keeps a timer for emulators."""
    page = (harness.ROOT / "docs/footprint.md").read_text(encoding="utf-8")
    told = {int(row[0]): [int(cell.replace(",", "")) for cell in row[1:]]
            for row in TABLE.findall(page)}
    assert sorted(told) == [1, 8, 64]
    guests = {"alpha": "kind=asks rounds=20", "beta": "kind=asks rounds=20",
              "gamma": "kind=idle ticks=1000000", "delta": "kind=busy ticks=1000000"}
    cost = {}
    for harts, (stacks, tables, instructions) in told.items():
        folder = tmp_path / str(harts)
        folder.mkdir()
        result = bare_guests.boot(folder, guests, stays=False,
                                  options=one_at_a_time(folder, "clusters", harts))
        assert stacks == 32 * harts
        assert abs(found(TABLES, result) / tables - 1) < 0.02
        assert abs(found(BOOT, result) / instructions - 1) < 0.02, found(BOOT, result)
        cost[harts] = {name: bare_guests.exits(result, name) for name in guests}
    for name in guests:
        one, eight = (cost[n][name]["hs-instructions"] for n in (1, 8))
        assert cost[64][name] == cost[8][name]
        assert abs(one / eight - 1) < 0.005
    assert cost[64]["gamma"]["wfi"] == 50 and cost[64]["delta"]["timer"] > 90


SOCKETS = ["-smp", "4,sockets=2", *[word for n in range(2) for word in (
    "-object", f"memory-backend-ram,id=node{n},size=512M",
    "-numa", f"node,nodeid={n},memdev=node{n},cpus={2 * n}-{2 * n + 1}")]]


def test_imsics_in_groups(tmp_path):
    """One group a socket. Messages go between vcpus of both, and each VM's hart is another."""
    result = bare_guests.boot(
        tmp_path, {"alpha": "kind=aia what=two messages=200",
                   "beta": "kind=aia what=self messages=200"},
        vcpus=(), properties='interrupts = "aia";', profile="smp",
        own={"alpha": "vcpu0 { harts = <3>; }; vcpu1 { harts = <0>; };",
             "beta": "vcpu0 { harts = <2>; };"},
        options=["--aia", "aplic-imsic", "--aia-guests", 2, "--memory", "1G", "--harts", 4,
                 "--qemu", hosts.qemu(tmp_path, *SOCKETS)])
    assert result.vm("alpha")[-1] == (
        "aia: 200 sent, 200 came, 200 were answered, 0 lost, 0 without a cause")
    assert result.vm("beta")[-1] == "aia: 200 messages, 200 taken, 0 lost, 0 without a cause"
    assert any("console input by APLIC and IMSIC" in line for line in result.own)
