# SPDX-License-Identifier: Apache-2.0
"""A VM tree's node /pmu beside what the hart answers: Kunminghu's, on a machine whose firmware has
the same table, and on others. A contradiction is refused in words before a guest runs."""

import re
import subprocess

import pytest

import bare_guests
from event_tables import tool
import harness
import plain

CPU = "rv64,sscofpmf=on,smcntrpmf=on,ssaia=on,ssccfg=on,pmu-mask=0xfffffff8"
MEASURE = "kind=measure rounds=1 length=100000"
REPORT = ("hart 0: /pmu of kunminghu: 4 rows of events on 29 counters (3 to 31), 7 of the SBI's; "
          "raw events: ")


@pytest.fixture
def machine(tmp_path):
    """machine(NODE, CPU) -> the path of a QEMU whose firmware gets this node."""

    def make(node, cpu=CPU):
        subprocess.run([plain.QEMU, "-machine", f"virt,dumpdtb={tmp_path}/virt.dtb", "-cpu", cpu,
                        "-smp", "1", "-m", "1G", "-nographic", "-bios", "none"],
                       check=True, capture_output=True)
        text = subprocess.run(["dtc", "-q", "-O", "dts", tmp_path / "virt.dtb"], check=True,
                              capture_output=True, text=True).stdout
        text, n = re.subn(r"\n\tpmu \{.*?\n\t\};\n", "\n", text, flags=re.S)
        assert n == 1
        subprocess.run(["dtc", "-q", "-O", "dtb", "-o", tmp_path / "other.dtb"], check=True,
                       text=True, input=text + node)
        script = tmp_path / "qemu"
        script.write_text(f'#!/bin/sh\nexec {plain.QEMU} "$@" -dtb {tmp_path}/other.dtb\n',
                          encoding="utf-8")
        script.chmod(0o755)
        return ["--qemu", script, "--cpu", cpu]

    return make


def run(folder, options, table, status, properties="", backend="auto"):
    """A guest that counts, and the node of a table."""
    text = bare_guests.tree({"alpha": MEASURE}, properties=properties) + table
    file = folder / "table.dts"
    file.write_text(text, encoding="ascii")
    result = harness.run(file, backend=backend, timeout=harness.GUARD,
                         options=["--include", harness.BUILD / "guests", *options])
    assert result.status == status, str(result)
    return result.own


def kunminghu():
    """(OpenSBI's node, the VM tree's) of one table."""
    return tool("kunminghu", "node").stdout, tool("kunminghu", "vm-node").stdout


@harness.both_backends
def test_a_hart_as_the_table_says(tmp_path, machine, backend):
    node, table = kunminghu()
    own = run(tmp_path, machine(node), table, harness.VM_FAILED, backend=backend)
    assert REPORT + "only those of the SBI's (home-counters)" in own
    assert not [line for line in own if "contradicts" in line]


@harness.both_backends
def test_an_event_that_boot_makes_happen(tmp_path, machine, backend):
    """QEMU's counters take Kunminghu's branches, and stand still. Boot notices it where the table
    names a stimulus."""
    node, table = kunminghu()
    options = machine(node)
    refusal = "hart 0: branches is refused: it has a counter that stands still"
    own = run(tmp_path, options, table, harness.VM_FAILED, backend=backend)
    assert refusal in own
    blind = re.sub(r"(?s)\t\tsbi-stimuli =.*?;\n", "", table)
    assert blind != table
    own = run(tmp_path, options, blind, harness.VM_FAILED, backend=backend)
    assert refusal not in own and any("branches on 3" in line for line in own)


@pytest.mark.parametrize("change, cpu, why", [
    (("0x7f8>", "0x7f0>"), CPU, "the firmware refuses branches on counter 3"),
    (("<0x5 0x0 0x20>", "<0x5 0x0 0x21>"), CPU,
     "for branches counter 3 has the selector 0x21, not 0x20"),
    (("0300 0x7f800>", "0300 0x3f800>"), CPU,
     "the firmware refuses raw event 0x4010040108 on counter 18"),
    (("", ""), CPU.replace("0xfffffff8", "0x7ffffff8"), "it has no counter 31"),
])
def test_a_hart_that_contradicts(tmp_path, machine, change, cpu, why):
    node, table = kunminghu()
    other = node.replace(*change)
    assert (other == node) == (change == ("", ""))
    options = machine(other, cpu)
    own = run(tmp_path, options, table, harness.REFUSED)
    line = f"/pmu: hart 0 contradicts it: {why}"
    assert line in own and f"refused: {line}" in own
    # Where no guest counts it does not matter.
    own = run(tmp_path, options, table, harness.VM_FAILED, '\t\t\tpmu = "off";')
    assert line in own and f"refused: {line}" not in own


def test_a_machine_of_another_core(tmp_path):
    own = run(tmp_path, [], kunminghu()[1], harness.REFUSED)
    assert "refused: /pmu: hart 0 contradicts it: it has no counter 19" in own


@harness.both_backends
def test_a_machine_without_raw_events(tmp_path, backend):
    own = run(tmp_path, [], tool("virt", "vm-node").stdout, harness.OK, backend=backend)
    assert ("hart 0: /pmu of virt: 4 rows of events on 16 counters (3 to 18), 5 of the SBI's; "
            "raw events: none, because the firmware takes none of it") in own
    # The table says how each of its events is made to happen, and all of them count.
    assert not [line for line in own if "is refused" in line]
    for name in ("cycles", "instructions", "dTLB-load-misses", "dTLB-store-misses",
                 "iTLB-load-misses"):
        assert any(re.search(rf"\b{name} on ", line) for line in own), name
