# SPDX-License-Identifier: Apache-2.0
"""RAM in several banks: QEMU's one bank, which the device tree cuts in pieces."""

import bare_guests
import harness
import hosts
from measured import EXPECTED, MEASURE
from test_boards import reserved
from test_memory_at import lives, memory_at
from test_vm_tree import check

MIB = 1 << 20
GIB = 1 << 30
MEMORY = "/memory@80000000"


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
    done = check("--host", folder / "host.dtb", "--include", harness.BUILD / "guests",
                 folder / "bare.dts")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


FOUR = banks((0x80000000, 64 * MIB), (0x90001000, 22 * MIB), (0x98000000, 2 * MIB),
             (0xa0000000, 256 * MIB), kept=[(0xa0000000, 4096), (0xa0600000, 4096)])
PIECES = [(0x90200000, 4 * MIB), (0x98000000, 2 * MIB), (0xa0800000, 10 * MIB)]


def test_vms_in_several(tmp_path):
    """Three VMs that have not chosen have the lowest memory that holds them; one has chosen its own
    in three of them. One bank is smaller than a VM, one does not begin at a multiple of 2 MiB."""
    guests = {"alpha": MEASURE, "beta": MEASURE, "delta": MEASURE, "gamma": "kind=pieces type=0"}
    result = boot(tmp_path, FOUR, guests, own={"gamma": memory_at(PIECES) + ";"})
    for name in ("alpha", "beta", "delta"):
        assert result.vm(name) == EXPECTED
    assert result.vm("gamma") == lives(PIECES, 1)
    where = ["RAM 0x80000000 to 0x83ffffff: Tally, 1 VM, 14 MiB free",
             "RAM 0x90001000 to 0x91600fff: 2 VMs, 0 MiB free",
             "RAM 0x98000000 to 0x981fffff: 1 VM, 0 MiB free",
             "RAM 0xa0000000 to 0xafffffff: 2 VMs, 226 MiB free"]
    assert lines(result, "RAM ") == where, str(result)
    assert [line.split(",")[0] for line in lines(result, "vm ") if " vcpu on " in line] == [
        "vm alpha: 16 MiB (lies at 0x82000000)", "vm beta: 16 MiB (lies at 0x90600000)",
        "vm delta: 16 MiB (lies at 0xa1200000)",
        "vm gamma: 16 MiB at 0x90200000 and 0x98000000 and 0xa0800000"]
    said = offline(tmp_path)
    assert [line for line in said if line.startswith("RAM ")] == where
    assert [line for line in said if "lies at" in line] == [
        "  lies at   0x82000000", "  lies at   0x90600000", "  lies at   0xa1200000"]
