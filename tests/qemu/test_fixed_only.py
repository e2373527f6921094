# SPDX-License-Identifier: Apache-2.0
"""A core whose firmware counts cycles and instructions on the fixed counters alone, as SiFive's P550
by Linux's tree of the EIC7700: without Smcntrpmf they have no filter and are refused, in one line;
with it each is the home of its event."""

import re
import subprocess

import pytest

import bare_guests
import harness
import plain
from test_machines import EXPECTED, MEASURE, cpu

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


def machine(folder, text, harts=1):
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
                   input=source + NODE)
    script = folder / "qemu"
    script.write_text(f'#!/bin/sh\nexec {plain.QEMU} "$@" -dtb {tree}\n', encoding="utf-8")
    script.chmod(0o755)
    return ["--qemu", script, "--cpu", text, *(["--harts", harts] if harts > 1 else [])]


def lines(result):
    return [line for line in result.own if REFUSED in line]


@harness.both_backends
def test_without_filters_they_are_refused(tmp_path, backend):
    """Never wrong: the guest gets errors."""
    result = bare_guests.boot(tmp_path, {"alpha": MEASURE}, backend=backend,
                              status=harness.VM_FAILED, options=machine(tmp_path, BARE))
    assert lines(result) == [f"hart 0: {LINE}"]
    assert result.vm("alpha")[-1] == "measure: ends, 8 wrong of 8"
    assert all(": S 0, U 0, odd reads 0" in line for line in result.vm("alpha")[:-1])


def test_one_line_for_harts_that_are_alike(tmp_path):
    result = bare_guests.boot(tmp_path, {"alpha": "kind=idle ticks=1000"}, profile="smp",
                              options=machine(tmp_path, BARE, harts=3))
    assert lines(result) == [f"hart 0: {LINE}"]


def test_one_event_alone(tmp_path):
    """Instructions have a counter: the line is of cycles."""
    options = machine(tmp_path, BARE)
    tree = tmp_path / "fixed.dtb"
    subprocess.run(["fdtput", "-t", "x", tree, "/pmu", "riscv,event-to-mhpmcounters", "1", "1", "1",
                    "2", "2", "7fff8"], check=True)
    result = bare_guests.boot(tmp_path, {"alpha": MEASURE}, status=harness.VM_FAILED,
                              options=options)
    assert lines(result) == [f"hart 0: cycles: {REFUSED}"]
    assert result.vm("alpha")[:4] == EXPECTED[:4]


@harness.both_backends
@pytest.mark.parametrize("missing", [(), ("ssaia", "ssccfg")], ids=["all", "no-more"])
def test_with_filters_each_is_its_events_home(tmp_path, backend, missing):
    """Two guests count under each filter, exactly. There is no overflow to try."""
    text = cpu(missing)
    result = bare_guests.boot(tmp_path, {"alpha": MEASURE, "beta": MEASURE}, backend=backend,
                              options=machine(tmp_path, text))
    assert lines(result) == []
    assert any(line.endswith("cycles on 0; instructions on 2") for line in result.own)
    assert any("overflow not available to guests" in line for line in result.own)
    assert result.vm("alpha") == result.vm("beta") == EXPECTED
