# SPDX-License-Identifier: Apache-2.0
"""A core whose firmware counts cycles and instructions on the fixed counters alone, as SiFive's
P550 by Linux's tree: without Smcntrpmf they have no filter and are refused, in one line; with it
each is the home of its event."""

import re
import subprocess

import pytest

import bare_guests
from event_tables import tool
import harness
from measured import ONE_EXPECTED, ONE_ROUND
import plain
from platforms import BASE, cpu

# By perf's numbers: cycles on counter 0, instructions on counter 2.
NODE = """
/ { pmu {
	compatible = "riscv,pmu";
	riscv,event-to-mhpmcounters = <1 1 0x1>, <2 2 0x4>;
}; };
"""
REFUSED = "the firmware offers only fixed counters, which have no filter here"
LINE = f"cycles and instructions: {REFUSED}"
BARE = cpu(["smcntrpmf"])


def machine(folder, text, harts=1, node=NODE):
    """Options for a machine whose firmware has this node."""
    made, tree = folder / "virt.dtb", folder / "fixed.dtb"
    subprocess.run([plain.QEMU, "-machine", f"virt,dumpdtb={made}", "-cpu", text, "-smp",
                    str(harts), "-m", "1G", "-nographic", "-bios", "none"], check=True,
                   capture_output=True)
    source = subprocess.run(["dtc", "-q", "-O", "dts", made], check=True, capture_output=True,
                            text=True).stdout
    source, n = re.subn(r"\n\tpmu \{.*?\n\t\};\n", "\n", source, flags=re.S)
    assert n == 1
    subprocess.run(["dtc", "-q", "-O", "dtb", "-o", tree], check=True, text=True,
                   input=source + node)
    script = folder / "qemu"
    script.write_text(f'#!/bin/sh\nexec {plain.QEMU} "$@" -dtb {tree}\n', encoding="utf-8")
    script.chmod(0o755)
    return ["--qemu", script, "--cpu", text, *(["--harts", harts] if harts > 1 else [])]


def lines(result):
    return [line for line in result.own if REFUSED in line]


@harness.both_backends
def test_without_filters_they_are_refused(tmp_path, backend):
    """Never wrong: the guest gets errors."""
    result = bare_guests.boot(tmp_path, {"alpha": ONE_ROUND}, backend=backend,
                              status=harness.VM_FAILED, options=machine(tmp_path, BARE))
    assert lines(result) == [f"hart 0: {LINE}"]
    assert result.vm("alpha")[-1] == "measure: ends, 8 wrong of 8"
    assert all(": S 0, U 0, odd reads 0" in line for line in result.vm("alpha")[:-1])


def test_one_line_for_harts_that_are_alike(tmp_path):
    """It names the hart that boots; OpenSBI takes any."""
    result = bare_guests.boot(tmp_path, {"alpha": "kind=idle ticks=1000"}, profile="smp",
                              options=machine(tmp_path, BARE, harts=3))
    (line,) = lines(result)
    assert line in [f"hart {n}: {LINE}" for n in range(3)]


def test_one_event_alone(tmp_path):
    """Instructions have a counter: the line is of cycles."""
    options = machine(tmp_path, BARE)
    tree = tmp_path / "fixed.dtb"
    subprocess.run(["fdtput", "-t", "x", tree, "/pmu", "riscv,event-to-mhpmcounters", "1", "1", "1",
                    "2", "2", "7fff8"], check=True)
    result = bare_guests.boot(tmp_path, {"alpha": ONE_ROUND}, status=harness.VM_FAILED,
                              options=options)
    assert lines(result) == [f"hart 0: cycles: {REFUSED}"]
    assert result.vm("alpha")[:4] == ONE_EXPECTED[:4]


@harness.both_backends
@pytest.mark.parametrize("missing", [(), ("ssaia", "ssccfg")], ids=["all", "no-more"])
def test_with_filters_each_is_its_events_home(tmp_path, backend, missing):
    """Two guests count under each filter, exactly. There is no overflow to try."""
    text = cpu(missing)
    result = bare_guests.boot(tmp_path, {"alpha": ONE_ROUND, "beta": ONE_ROUND}, backend=backend,
                              options=machine(tmp_path, text))
    assert lines(result) == []
    assert any(line.endswith("cycles on 0; instructions on 2") for line in result.own)
    assert any("overflow not available to guests" in line for line in result.own)
    assert result.vm("alpha") == result.vm("beta") == ONE_EXPECTED


# What Linux's eic7700.dtsi says, for all events that have names: (event, selector), (events,
# counters), (selectors, the bits that tell them).
EIC7700 = """
riscv,event-to-mhpmevent = <4 0 0x202>, <5 0 0x4000>, <6 0 0x2001>, <0x10009 0 0x102>,
	<0x10019 0 0x1002>, <0x10021 0 0x802>;
riscv,event-to-mhpmcounters = <1 1 1>, <2 2 4>, <4 6 0x78>, <0x10009 0x10009 0x78>,
	<0x10019 0x10019 0x78>, <0x10021 0x10021 0x78>;
riscv,raw-event-to-mhpmcounters = <0 0 0xffffffff 0xfc0000ff 0x78>,
	<0 1 0xffffffff 0xfffe07ff 0x78>, <0 2 0xffffffff 0xfffe00ff 0x78>;
"""


def numbers(text):
    """{property: numbers} of the lists in a node."""
    return {name: [int(word, 0) for word in re.findall(r"\b(?:0x[0-9a-f]+|\d+)\b", cells)]
            for name, cells in re.findall(r"(riscv,[\w-]+) =([^;]+);", text)}


def test_node_of_p550_is_the_boards():
    assert numbers(tool("p550", "node").stdout) == numbers(EIC7700)


def test_a_p550_by_both_its_nodes(tmp_path):
    """The way out: its own events, by name. QEMU counts none of them, so boot, which makes branches
    happen, refuses these; a P550's firmware takes all that the table has."""
    options = machine(tmp_path, cpu(BASE[1:], ",pmu-mask=0x78,sstc=off"),
                      node=tool("p550", "node").stdout)
    tree = (bare_guests.tree({"alpha": "kind=idle ticks=1000"},
                             properties='pmu-events = "p550:instructions";')
            + tool("p550", "vm-node").stdout)
    file = tmp_path / "p550.dts"
    file.write_text(tree, encoding="ascii")
    result = harness.run(file, timeout=harness.GUARD,
                         options=["--include", harness.BUILD / "guests", *options])
    assert result.status == harness.OK, str(result)
    assert lines(result) == [f"hart 0: {LINE}"]
    assert any(line.startswith("hart 0: /pmu of p550: 3 rows of events on 4 counters (3 to 6), 8 "
                               "of the SBI's; raw events: ") for line in result.own)
    assert "hart 0: branches is refused: it has a counter that stands still" in result.own
