# SPDX-License-Identifier: Apache-2.0
"""Memory at chosen places: a VM has it where the tree says, all of it and nothing beside it, in
each of its lives; and it counts there as elsewhere."""

import pytest

import harness
from linux_counts import STAT, check
from lives import told
from measured import EXPECTED, MEASURE
from memory_at import MIB, lives, memory_at, tree
import plain
from prompts import Prompt

# They lie between each other, so what is beside a piece of one is the other's, or Tally's.
ALPHA = [(0x90000000, 4 * MIB), (0xa0a00000, 4 * MIB)]
BETA = [(0x90400000, 4 * MIB), (0xa0000000, 2 * MIB), (0xa0e00000, 2 * MIB)]
GAMMA = [(0x82000000, 4 * MIB), (0xbfe00000, 2 * MIB)]


@harness.both_backends
def test_pieces(tmp_path, backend):
    """Three VMs with memory in each other's gaps, at the first and the last bytes that there are,
    and one that has not chosen. The pieces of a tree may be in any order."""
    plain.make("build/guests/bare.bin")
    file = tmp_path / "vms.dts"
    file.write_text(tree({"alpha": (ALPHA[::-1], "kind=pieces"), "beta": (BETA, "kind=pieces"),
                          "gamma": (GAMMA, "kind=pieces type=0"), "delta": (16, MEASURE)}),
                    encoding="utf-8")
    result = harness.run(file, options=["--include", harness.BUILD / "guests"], backend=backend)
    assert result.status == harness.VM_FAILED, str(result)
    assert result.vm("alpha") == lives(ALPHA, 3)
    assert result.vm("beta") == lives(BETA, 3)
    assert result.vm("gamma") == lives(GAMMA, 1)
    assert result.vm("delta") == EXPECTED
    for name in ("alpha", "beta"):
        assert told(result, name) == ["asked for a restart", "starts again"] * 2 + [
            "failed: asked for a restart once too often; reset type 1",
            "stays off: restart-limit is 2"]
    counters = "1 vcpu on hart 0, 18 counters (0, 2 to 18)"
    assert [line for line in result.own if line.endswith(counters)] == [
        f"vm alpha: 8 MiB at 0x90000000 and 0xa0a00000, {counters}",
        f"vm beta: 8 MiB at 0x90400000 and 0xa0000000 and 0xa0e00000, {counters}",
        f"vm gamma: 6 MiB at 0x82000000 and 0xbfe00000, {counters}",
        f"vm delta: 16 MiB, {counters}"]


def test_pieces_that_touch(tmp_path):
    """They are one: an access may go from one to the next."""
    plain.make("build/guests/bare.bin")
    file = tmp_path / "vms.dts"
    file.write_text(tree({"alpha": ([(0x90400000, 2 * MIB), (0x90000000, 4 * MIB)],
                                    "kind=pieces type=0")}), encoding="utf-8")
    result = harness.run(file, options=["--include", harness.BUILD / "guests"])
    assert result.status == harness.OK, str(result)
    assert result.vm("alpha") == lives([(0x90000000, 6 * MIB)], 1)


def test_at_the_prompt(at_prompt):
    """`vms` says where it is, of those who have chosen it."""
    screen = at_prompt("sbi", text=tree({
        "alpha": (ALPHA, "kind=idle ticks=100000000000"),
        "beta": (4, "kind=busy ticks=100000000000")}))
    alpha, beta = Prompt(screen).objects("vms")
    assert (alpha["memory"], alpha["memory_at"]) == (8 * MIB, [list(piece) for piece in ALPHA])
    assert beta["memory"] == 4 * MIB and "memory_at" not in beta
    screen.send("poweroff\r")


@pytest.mark.parametrize("pieces", [
    [(0x90000000, 256 * MIB)], [(0x90000000, 256 * MIB), (0xb0200000, 64 * MIB)]],
    ids=["one", "two"])
def test_linux(tmp_path, pieces):
    """Debian's kernel finds its memory there, and the program of known length has its number."""
    script = STAT + "cat /proc/iomem\nls -d /sys/firmware/devicetree/base/memory@*\n"
    file = harness.linux_tree(tmp_path, {"alpha": script},
                              memory=sum(size for _, size in pieces) // MIB,
                              properties=memory_at(pieces) + ";")
    result = harness.run(file)
    assert result.status == harness.OK, str(result)
    lines = result.guest_output("alpha", "alpha")
    check(lines)
    # The kernel and what it reserves are other lines, within the first piece.
    spans = [[int(end, 16) for end in line.split()[0].split("-")]
             for line in lines if line.endswith(" : System RAM")]
    assert spans and all(any(base <= low and high < base + size for base, size in pieces)
                         for low, high in spans)
    for base, size in pieces[1:]:
        assert [base, base + size - 1] in spans
    assert [line.rsplit("@")[1] for line in lines if "/memory@" in line] == [
        f"{base:x}" for base, _ in pieces]
