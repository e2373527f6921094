# SPDX-License-Identifier: Apache-2.0
"""A core's events in a guest's perf: the words of tools/pmu-events in Debian's own, and the names
and metrics in that of `make perf-events`.

Of Kunminghu's events QEMU counts two, as something else: the selectors of frontendFlush and ifu_req
are 1 and 2, its own numbers of cycles and instructions."""

import re
import shutil
import subprocess

import pytest

from event_tables import tool
import harness
import peers
import plain
from pmulib import tables
from raw_events import CPU
import readback
import schemas

WORK = 3000000
KUNMINGHU = CPU + ",marchid=0x19"
# Needs raw v2: its last operator is ADD.
WIDE = "BpBWrong + BpJWrong + BpCWrong"


def words(core, command, *more):
    """What the tool prints as JSON."""
    return schemas.read("pmu-events", tool(core, command, *more, "--json").stdout, command)


def boot(folder, script, qemu=None, cpu=None, perf=None, **arguments):
    """Lines of a guest's script; a perf that is given is /test/perf."""
    (folder / "test").mkdir()
    if perf:
        shutil.copy(perf, folder / "test")
    options = [*(["--qemu", qemu] if qemu else []), *(["--cpu", cpu] if cpu else [])]
    result = harness.run(harness.linux_tree(folder, {"alpha": script}), options=options,
                         **arguments)
    assert result.status == harness.OK, str(result)
    return result.guest_output("alpha", "alpha")


@harness.both_backends
def test_debians_perf_takes_the_words(tmp_path, raw_machine, backend):
    virt = [line for line in words("virt", "perf-lines") if "ITLB" not in line]
    raw = words("kunminghu", "perf-lines")[:2]
    assert raw == ["cpu/config=0x1,name=frontendFlush/", "cpu/config=0x2,name=ifu_req/"]
    wide = words("kunminghu", "encode", WIDE, "--name", "wide")["perf"]
    assert wide.startswith("cpu/event=0x1")
    # The same selector in as few bits as this kernel's field has.
    cut = wide.replace("event=0x1", "event=0x")
    script = f"""
perf stat -x, -e '{"u,".join(virt)}u,dTLB-load-misses:u,dTLB-store-misses:u' work {WORK} 2>&1
echo raw
perf stat -x, -e '{"u,".join(raw)}u' work {WORK} 2>&1
echo wide
perf stat -x, -e '{wide}u' work {WORK} 2>&1
echo cut
perf stat -x, -e '{cut}u' work {WORK} 2>&1
"""
    lines = boot(tmp_path, script, raw_machine(), backend=backend)
    ends = [lines.index(word) for word in ("raw", "wide", "cut")]
    counts = harness.perf_counts(lines[:ends[0]])
    # The same event by two names, on one counter: one number.
    loads, stores = counts["dTLB-load-misses"], counts["dTLB-store-misses"]
    assert loads > 0
    assert counts == {"CYCLES": WORK, "INSTRUCTIONS": WORK, "DTLB_READ_MISS": loads,
                      "DTLB_WRITE_MISS": stores, "dTLB-load-misses": loads,
                      "dTLB-store-misses": stores}
    assert harness.perf_counts(lines[ends[0]:ends[1]]) == {"frontendFlush": WORK, "ifu_req": WORK}
    # Too many bits for this kernel: perf says so, and counts nothing. The hypervisor refuses what
    # would be left of them: an event that this hart does not count.
    assert any("value too big for format (event), maximum is 281474976710655" in line
               for line in lines[ends[1]:ends[2]])
    assert harness.perf_counts(lines[ends[1]:ends[2]]) == {}
    assert harness.perf_counts(lines[ends[2]:]) == {"wide": "<not counted>"}


@pytest.fixture(scope="module")
def perf():
    """The program of `make perf-events`."""
    plain.make("perf-events")
    return harness.BUILD / "perf-events/perf"


def metric(lines, name):
    """(counts, value of the metric) of `perf stat -x, -M`."""
    values = [row[-2] for row in (line.split(",") for line in lines) if row[-1] == name != row[0]]
    assert len(values) == 1, lines
    return harness.perf_counts(lines), values[0]


@pytest.mark.long
@harness.both_backends
def test_names_of_kunminghu(tmp_path, raw_machine, perf, backend):
    """On a hart with its ids: perf finds the table by itself."""
    script = f"""
/test/perf list --no-desc 2>&1 | sed 's/^ */name /'
echo counts
/test/perf stat -x, -e ifu_req:u,frontendFlush:u,instructions:u work {WORK} 2>&1
echo refused
/test/perf stat -x, -e BpBWrong work 1000 2>&1
echo metric
/test/perf stat -x, -M instructions_per_cycle work {WORK} 2>&1
echo record
/test/perf record -q -e ifu_req:u -c 100000 -o /tmp/data work {WORK} 2>&1
/test/perf report -i /tmp/data -D 2>/dev/null | grep -c PERF_RECORD_SAMPLE
/test/perf report -i /tmp/data --stdio 2>/dev/null | grep -E "event|loop"
"""
    lines = boot(tmp_path, script, raw_machine(KUNMINGHU), KUNMINGHU, perf, backend=backend)
    ends = [lines.index(word) for word in ("counts", "refused", "metric", "record")]
    listed = {line.split()[1] for line in lines[:ends[0]] if re.fullmatch(r"name \S+", line)}
    table = tables.load("kunminghu")
    assert {event.id.lower() for event in table.all_events()} <= listed
    assert {metric.name for metric in table.metrics} <= listed
    assert harness.perf_counts(lines[ends[0]:ends[1]]) == {
        "ifu_req:u": WORK, "frontendFlush:u": WORK, "instructions:u": WORK}
    assert harness.perf_counts(lines[ends[1]:ends[2]]) == {"BpBWrong": "<not counted>"}
    counts, value = metric(lines[ends[2]:ends[3]], "instructions_per_cycle")
    assert sorted(counts) == ["cycles", "instructions"]
    assert value == f"{counts['instructions'] / counts['cycles']:.2f}" == "1.00"
    samples, title, row = lines[ends[3] + 1:]
    assert samples == str(WORK // 100000)
    assert "of event 'ifu_req:u'" in title
    assert row.split()[0] == "96.67%"


@pytest.mark.long
@harness.both_backends
def test_metrics_of_virt(tmp_path, perf, backend):
    """On QEMU's own machine, which counts what they are made of."""
    names = {metric.name: metric.formula for metric in tables.load("virt").metrics}
    script = "".join(f"echo {name}\n/test/perf stat -x, -M {name} work {WORK} 2>&1\n"
                     for name in names) + "echo end\n"
    lines = boot(tmp_path, script, perf=perf, backend=backend)
    for name, formula in names.items():
        begin = lines.index(name)
        end = next(n for n in range(begin + 1, len(lines)) if lines[n] in (*names, "end"))
        counts, value = metric(lines[begin:end], name)
        assert all(count > 0 for count in counts.values())
        for event, count in counts.items():
            formula = formula.replace(event, str(count))
        assert value == f"{eval(formula):.2f}", lines[begin:end]  # pylint: disable=eval-used


def on_the_newest_kernel(folder, script, qemu, nodes="", memory=480, **arguments):
    """Lines of a script under it, which wants more memory than Debian 13's."""
    kernel = peers.newest_kernel() / "Image"
    folder.mkdir()
    tree = harness.linux_tree(folder, {"alpha": script}, memory=memory)
    text = tree.read_text(encoding="utf-8")
    assert text.count('"Image"') == 1
    tree.write_text(text.replace('"Image"', f'"{kernel}"') + nodes,
                    encoding="utf-8")
    options = ["--qemu", qemu, *arguments.pop("options", ())]
    result = harness.run(tree, options=options, **arguments)
    assert result.status == harness.OK, str(result)
    return result.guest_output("alpha", "alpha")


@pytest.mark.long
@harness.both_backends
def test_a_kernel_that_knows_raw_v2(tmp_path, debug_build, raw_machine, backend):
    """It asks for all as raw v2. OpenSBI 1.5.1 knows raw v1 alone: what fits is given by both back
    ends, the rest by the one that needs no firmware for it."""
    raw = words("kunminghu", "perf-lines")[:2]
    script = f"perf stat -x, -e '{'u,'.join(raw)}u,instructions:u' work {WORK} 2>&1\n"
    lines = on_the_newest_kernel(tmp_path / "counted", script, raw_machine(), backend=backend)
    assert harness.perf_counts(lines) == {"frontendFlush": WORK, "ifu_req": WORK,
                                          "instructions:u": WORK}
    # Nothing counts these here, so those that are given read 0. Too many bits are perf's to refuse.
    narrow = words("kunminghu", "encode", "BpBWrong + BpJWrong", "--name", "narrow")["perf"]
    wide = words("kunminghu", "encode", WIDE, "--name", "wide")["perf"]
    script = "".join(f"perf stat -x, -e '{term}' work 1000 2>&1\n"
                     for term in (narrow, wide, wide.replace("event=0x", "event=0x10")))
    script += "echo end\n"
    node, vm_node = readback.of_core("kunminghu")
    (tmp_path / "asked").mkdir()
    lines = on_the_newest_kernel(
        tmp_path / "vm", script, readback.machine(tmp_path / "asked", node), vm_node,
        backend=backend,
        options=[*debug_build, "--cpu", readback.CPU, "--append", "tally.silent-events"])
    assert harness.perf_counts(lines) == {
        "narrow": 0, "wide": 0 if backend == "ssccfg" else "<not counted>"}
    assert any("value too big for format (event), maximum is 72057594037927935" in line
               for line in lines)


def test_no_perf_without_its_tools(tmp_path):
    """Said before anything is fetched."""
    done = subprocess.run(["/usr/bin/python3", harness.ROOT / "tools/perf-events"], text=True,
                          env={"PATH": str(tmp_path)}, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (
        1, "", "perf-events: make, flex, bison, riscv64-linux-gnu-gcc: not installed; "
        "tools/setup perf installs it\n")
