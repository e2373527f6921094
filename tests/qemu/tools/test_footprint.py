# SPDX-License-Identifier: Apache-2.0
"""What Tally takes of the machine's memory: its image, and for each VM."""

import re
import subprocess

import pytest

import bare_guests
import harness
import schemas

TOOL = harness.ROOT / "tools/make/footprint"
KIB = 1024
LAST_WORDS = 12  # KiB of a VM, for what it printed in three lives; not among what is for a VM
TABLES = re.compile(r"tables: (\d+) KiB, at most (\d+) of them for a VM")


def printed(*arguments):
    """What the tool prints of build/tally.elf."""
    return subprocess.run([TOOL, *arguments], text=True, check=True,
                          stdout=subprocess.PIPE).stdout


@pytest.fixture(scope="module", name="folders")
def folders_of():
    """{section: {folder: bytes}}"""
    return schemas.read("footprint", printed("--json"))


def test_the_image_is_small(folders):
    """Instructions, constants, and what the machine's size does not change."""
    # 3 KiB of it are for samples of VMs and their callers, 5 for traces of stays in HS and accounts
    # of exits; constants grew by the names of commands and of these accounts' rows. 5 KiB of text
    # and 2 of constants are for all refusals of a tree, kernels and PCI functions that are none for
    # a VM, the trials of counters and of page tables, and guards that follow from the tree. 6 KiB
    # of text and 1 of constants are for guests that see OF in the hart's own scountovf, and for
    # trials of OF, of filters and of all that the host's tree promises. 6 KiB of text and 1 of
    # constants are for RAM in banks, harts of any ids and kinds, and machines that stay on. 3 KiB
    # of text are for output that waits in a ring, and for long work of HS in parts. 4 KiB of text
    # and 1 of constants are for VMs that are operators: properties, function, rings. 1 KiB of text
    # is for packed samples on the serial line, and 1 KiB for how the last life of a VM has ended.
    # 3 KiB of text and 1 of constants are for a clock in each VM, VMs with machine = "virt", and
    # VMs that are asked to shut down; 5 KiB of text are for power keys, which are virtio devices.
    # 2 KiB of text are for the prompt's line: cursor, last commands, Tab. 6 KiB of text and 1 of
    # constants are for networks between VMs: the tree's node, ports, the switch. 1 KiB of text is
    # for VMs that trace all VMs, account their exits and switch the machine off, and 1 for what the
    # operator is told of ports, and for their links. 1 KiB of both is for limits of ports.
    # 3 KiB of text are for networks with offloads, and 1 for ports in slots of virtio-MMIO. 1 KiB
    # of text is for MSI-X of ports. 2 KiB of text less are for ports, power keys and bells since
    # they share their queues, copies and functions of the bus.
    assert 100 * KIB < folders["text"]["all"] < 255 * KIB
    assert 20 * KIB < folders["rodata"]["all"] < 52 * KIB
    assert folders["text"]["all"] + folders["rodata"]["all"] <= 276_898 + 36 * KIB
    assert folders["data"]["all"] < 1 * KIB
    # What alignment leaves out depends on where text ends. Aligned the most are the stacks. 3 KiB
    # are the table of 64 harts that the host's tree may have, 36 the table of the trees' nodes, 8
    # lead from sources to wires, 4 are the calls of VMs that are traced, and 16 are bells, each
    # with the configuration space of its PCI function. 9 KiB are of harts and operators that may
    # be, and were allocated before.
    assert 32 * KIB < folders["bss"]["all"] - folders["bss"]["padding"] <= 177 * KIB
    assert folders["bss"]["padding"] < 32 * KIB


def sections_of_elf():
    """{section: (bytes, address)}"""
    size = subprocess.run(["riscv64-linux-gnu-size", "-A", harness.BUILD / "tally.elf"], text=True,
                          check=True, stdout=subprocess.PIPE).stdout
    return {row[0]: (int(row[1]), int(row[2])) for row in map(str.split, size.splitlines())
            if len(row) == 3 and row[0] != "section"}


def test_a_page_of_text_costs_a_page():
    """No alignment of a section's is more than that: .bss begins on the page behind .data, wherever
    that is, although a part of it is aligned to 16 KiB."""
    found = sections_of_elf()
    _, page = found[".bss"]
    used = max(at + size for size, at in found.values() if at < page)
    assert page % 4096 == 0 and 0 <= page - used < 4096


def test_every_byte_is_somebodys(folders):
    """Sections are as large as binutils say, and next to nothing belongs to nobody."""
    sections = {name: size for name, (size, _) in sections_of_elf().items()}
    assert folders["text"]["all"] == sections[".text"] + sections[".page_end"]
    assert folders["rodata"]["all"] == sections[".rodata"]
    assert folders["bss"]["all"] == sections[".bss"] + 32 * KIB
    assert folders["text"]["padding"] < 1 * KIB
    for kind, rows in folders.items():
        assert sum(rows.values()) == 2 * rows["all"], kind
        assert not any(name.startswith("/") or "??" in name for name in rows), kind
    assert {"core/sched", "vpmu", "arch/riscv/hart", "libfdt"} <= set(folders["text"])


def tables(folder, number, vcpus=("0",), **arguments):
    """(all, the largest VM's) in KiB."""
    result = bare_guests.boot(folder, {f"vm{n}": "kind=gaps ticks=1000" for n in range(number)},
                              vcpus=vcpus, **arguments)
    (line,) = (line for line in result.own if line.startswith("tables: "))
    return tuple(map(int, TABLES.fullmatch(line).groups()))


@pytest.mark.parametrize("number", (1, 2, 16))
def test_a_vm_takes_little_beside_its_memory(tmp_path, number):
    every, largest = tables(tmp_path, number)
    # The root of its second stage alone takes 16. What a vcpu has for traces and accounts, 32
    # bytes, made 49 of 48; for call chains of samples it has 1 KiB, which each hart had before.
    assert 16 < largest <= 50
    assert every <= (50 + LAST_WORDS) * number + 48


def test_a_vcpu_more_takes_little(tmp_path):
    (tmp_path / "one").mkdir()
    _, one = tables(tmp_path / "one", 1)
    _, eight = tables(tmp_path, 1, vcpus=("0",) * 8)
    # With the gap that the alignment of the second stage's root may leave behind seven of them.
    assert 7 * 4 < eight - one <= 7 * 9 + 4
