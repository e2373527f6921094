# SPDX-License-Identifier: Apache-2.0
"""What tools/pmu-events makes: OpenSBI's node, perf's files and lines, pages."""

import json
import re
import shutil
import subprocess
import sys

import pytest

from event_tables import CHAPTER, SMALL, tool
import harness
from pmulib import tables
import schemas

KERNEL_EVENTS = harness.GUEST / "kernel-events"
PROPERTIES = ("riscv,event-to-mhpmevent", "riscv,event-to-mhpmcounters",
              "riscv,raw-event-to-mhpmcounters")

# OpenSBI's docs/pmu_support.md, its example for the U74. The last mask there, 0xffffe0ff, leaves
# out bit 13, which is UTLB_MISS.
U74 = [
    [(0x3, 0x1801), (0x4, 0x302), (0x5, 0x4000), (0x6, 0x6001), (0x10001, 0x202),
     (0x10002, 0x402), (0x10009, 0x102), (0x10011, 0x2002), (0x10019, 0x1002), (0x10021, 0x802)],
    [(0x3, 0x6, 0x18), (0x10001, 0x10002, 0x18), (0x10009, 0x10009, 0x18),
     (0x10011, 0x10011, 0x18), (0x10019, 0x10019, 0x18), (0x10021, 0x10021, 0x18)],
    [(0, 0xfffffffffc0000ff, 0x18), (1, 0xfffffffffff800ff, 0x18), (2, 0xffffffffffffc0ff, 0x18)],
]


def dtc(*words, **arguments):
    """Runs dtc; what it says counts as an error."""
    done = subprocess.run(["dtc", *words], capture_output=True, check=False, **arguments)
    assert (done.returncode, done.stderr) == (0, b""), done
    return done.stdout


def cells(blob, name):
    """The cells of a property of /pmu, [] where there is none."""
    done = subprocess.run(["fdtget", "-t", "x", blob, "/pmu", name], capture_output=True,
                          text=True, check=False)
    return [int(cell, 16) for cell in done.stdout.split()]


def maps(blob):
    """The rows of the three properties, 64-bit numbers joined."""
    selectors, counters, raw = (cells(blob, name) for name in PROPERTIES)
    return [
        [(a, b << 32 | c) for a, b, c in zip(*[iter(selectors)] * 3, strict=True)],
        list(zip(*[iter(counters)] * 3, strict=True)),
        [(a << 32 | b, c << 32 | d, e) for a, b, c, d, e in zip(*[iter(raw)] * 5, strict=True)],
    ]


@pytest.fixture
def node(tmp_path):
    """node(CORE) -> the blob of a tree with OpenSBI's node, which dtc takes without a word."""

    def make(core, command="node"):
        done = tool(core, command)
        assert (done.returncode, done.stderr) == (0, "")
        blob = tmp_path / f"{core}.dtb"
        dtc("-I", "dts", "-O", "dtb", "-o", str(blob),
            input=("/dts-v1/;\n/ { };\n" + done.stdout).encode())
        return str(blob)

    return make


def test_node_of_kunminghu(node):
    selectors, counters, raw = maps(node("kunminghu"))
    assert selectors == [(0x2, 0x4010040151), (0x5, 0x20), (0x6, 0x23),
                         (0x10001, 0x10048021583a07), (0x10009, 0x16), (0x10019, 0x10048021383205)]
    assert counters == [(1, 1, 1), (2, 2, 0x7f800), (5, 6, 0x7f8), (0x10001, 0x10001, 0x7f80000),
                        (0x10009, 0x10009, 0x7f8), (0x10019, 0x10019, 0x7f80000)]
    assert raw == [(base, 0xffe318c0300c0300, sum(1 << n for n in counters))
                   for _, _, counters, base in CHAPTER.values()]


def test_node_takes_each_event_once(node):
    """Each selector is that of its group's row, by OpenSBI's own comparison, and no other's."""
    table = tables.load("kunminghu")
    rows = maps(node("kunminghu"))[2]
    for event in table.all_events():
        selector = table.layout.encode(event)
        assert [counters for match, mask, counters in rows if selector & mask == match] == \
            [event.group.counters]


def test_node_of_virt_is_qemus(node, tmp_path):
    """That which QEMU makes."""
    own = tmp_path / "qemu.dtb"
    subprocess.run(["qemu-system-riscv64", "-machine", f"virt,dumpdtb={own}", "-cpu",
                    "rv64,sscofpmf=on"], check=True, stderr=subprocess.DEVNULL)
    assert maps(node("virt")) == maps(str(own))
    assert maps(str(own))[1] != []


def test_node_of_u74_is_opensbis(node):
    """Without cycles and instructions, which OpenSBI's example leaves out."""
    selectors, counters, raw = maps(node("u74"))
    assert counters[:2] == [(1, 1, 1), (2, 2, 4)]
    assert [selectors, counters[2:], raw] == U74


def jevents(folder):
    """The kernel's own generator makes C of a tree's events; its text."""
    output = folder / "pmu-events.c"
    done = subprocess.run([sys.executable, KERNEL_EVENTS / "jevents.py", "riscv", "all",
                           folder / "arch", output], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return output.read_text(encoding="utf-8")


def metrics(text, folders):
    """{metric: formula} of a core's folders in what jevents() made."""
    body = re.search(rf"pmu_metrics__{folders}_default_core\[\] = \{{\n(.*?)\n\}};", text, re.S)
    return {name: formula.replace("\\\\", "") for name, formula in re.findall(
        r"/\* ([^\\]+)\\000\\000(.*?)\\000", body[1])}


@pytest.fixture(scope="module")
def kernel():
    """Perf's own events and their generator."""
    subprocess.run([harness.ROOT / "tools/fetch/kernel-events"], check=True)


def test_perfs_generator_takes_kunminghu(kernel, tmp_path):
    shutil.copytree(KERNEL_EVENTS / "arch", tmp_path / "arch")
    before = jevents(tmp_path)
    assert "kunminghu" not in before
    done = tool("kunminghu", "perf-json", tmp_path / "arch/riscv")
    assert (done.returncode, done.stderr) == (0, "")
    text = jevents(tmp_path)
    body = re.search(r"pmu_events__xiangshan_kunminghu_default_core\[\] = \{\n(.*?)\n\};", text,
                     re.S)
    rows = re.findall(r"/\* ([^\\]+)\\000(\w+)\\000.*?\\000event=(\w+)\\000", body[1])
    table = tables.load("kunminghu")
    assert {(name, group, int(code, 0)) for name, group, code in rows} == {
        (event.id.lower(), event.group.name, table.layout.encode(event))
        for event in table.all_events()}
    assert len(rows) == 346
    assert '.cpuid = "0x0-0x19-0x[[:xdigit:]]+"' in text
    assert metrics(text, "xiangshan_kunminghu")["branch_misprediction_rate"] == "BpWrong / BpInstr"
    # Once more changes nothing.
    again = (tmp_path / "arch/riscv/mapfile.csv").read_text(encoding="ascii")
    assert tool("kunminghu", "perf-json", tmp_path / "arch/riscv").returncode == 0
    assert (tmp_path / "arch/riscv/mapfile.csv").read_text(encoding="ascii") == again


@pytest.mark.parametrize("core", tables.names())
def test_perfs_generator_takes_metrics(kernel, tmp_path, core):
    """It reads each formula, and keeps what it says."""
    shutil.copytree(KERNEL_EVENTS / "arch", tmp_path / "arch")
    table = tables.load(core)
    shutil.rmtree(tmp_path / "arch/riscv" / table.perf[0], ignore_errors=True)
    mapfile = tmp_path / "arch/riscv/mapfile.csv"
    kept = [line for line in mapfile.read_text(encoding="ascii").splitlines(True)
            if f",{table.perf[0]}/" not in line]
    mapfile.write_text("".join(kept), encoding="ascii")
    assert tool(core, "perf-json", tmp_path / "arch/riscv").returncode == 0
    made = metrics(jevents(tmp_path), f"{table.perf[0]}_{core}")
    # It may move a number, as in 1e3 * (a / b).
    words = r"[A-Za-z][\w.-]*|\d+"
    assert {name: sorted(re.findall(words, formula.replace("1e3", "1000")))
            for name, formula in made.items()} == {
        metric.name: sorted(re.findall(words, metric.formula)) for metric in table.metrics}
    assert table.metrics != []


def test_u74_is_the_kernels(kernel):
    """Names and codes of the kernel's own tables, all and no others; its line of mapfile.csv."""
    theirs = {}
    for path in (KERNEL_EVENTS / "arch/riscv/sifive/u74").glob("*.json"):
        for event in json.loads(path.read_text(encoding="utf-8")):
            if "EventName" in event:
                theirs[event["EventName"]] = int(event["EventCode"], 16)
    table = tables.load("u74")
    assert theirs == {event.id: table.layout.encode(event) for event in table.all_events()}
    assert len(theirs) == 35
    lines = (KERNEL_EVENTS / "arch/riscv/mapfile.csv").read_text(encoding="ascii").splitlines()
    assert ",".join((table.perf[1], "v1,sifive/u74,core")) in lines


def test_perf_json_refuses(kernel, tmp_path):
    folder = tmp_path / "riscv"
    shutil.copytree(KERNEL_EVENTS / "arch/riscv", folder)
    done = tool("u74", "perf-json", folder)
    assert (done.returncode, done.stdout, done.stderr) == (
        1, "", f"pmu-events: {folder}/sifive/u74: has firmware.json, microarch.json, whose events "
        "would be there twice; remove what is not from here\n")
    with open(folder / "mapfile.csv", "a", encoding="ascii") as file:
        file.write("0x0-0x19-0x[[:xdigit:]]+,v1,other/core,core\n")
    done = tool("kunminghu", "perf-json", folder)
    assert (done.returncode, done.stderr) == (
        1, f"pmu-events: {folder}/mapfile.csv: gives these harts other events: "
        "0x0-0x19-0x[[:xdigit:]]+,v1,other/core,core\n")
    assert not (folder / "xiangshan").exists()
    (tmp_path / "small.yaml").write_text(SMALL, encoding="utf-8")
    why = ("small: has no `perf` that names a vendor and the hart's ids, so perf cannot find its "
           "events")
    done = tool(tmp_path / "small.yaml", "perf-json", folder)
    assert (done.returncode, done.stderr) == (1, f"pmu-events: {why}\n")
    # Before anything is fetched.
    done = subprocess.run([harness.ROOT / "tools/perf-events", tmp_path / "small.yaml"],
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"perf-events: {why}\n")


def test_perf_lines():
    lines = tool("kunminghu", "perf-lines").stdout.splitlines()
    assert len(lines) == len(set(lines)) == 346
    assert lines[0] == "cpu/config=0x1,name=frontendFlush/"
    assert lines[-1] == "cpu/config=0xc0300c0319,name=selfdir_INVALID/"
    # The letters of a term's value in perf's parse-events.l.
    assert all(re.fullmatch(r"cpu/config=0x[0-9a-f]+,name=[a-zA-Z_][\w.:*?-]*/", line, re.A)
               for line in lines)


def test_vm_names():
    names = schemas.read("pmu-events", tool("kunminghu", "vm-names", "--json").stdout, "vm-names")
    assert names[:5] == ["kunminghu:frontend", "kunminghu:backend", "kunminghu:memory",
                         "kunminghu:cache", "kunminghu:frontendFlush"]
    assert len(names) == len(set(names)) == 350


def test_vm_node_of_kunminghu(node):
    """The same numbers as in tests/host/test_pmu_node.c."""
    blob = node("kunminghu", "vm-node")
    assert cells(blob, "event-fields") == [0, 10, 10, 10, 20, 10, 30, 10]
    assert cells(blob, "operator-fields") == [40, 5, 45, 5, 50, 5]
    assert cells(blob, "operators") == [0, 1, 2, 4]
    assert cells(blob, "events") == [
        0x0, 0x0, 0x1, 0x36, 0x7f8, 0x40, 0x10040100, 0x101, 0x18e, 0x7f800,
        0x80, 0x20080200, 0x201, 0x27d, 0x7f80000, 0xc0, 0x300c0300, 0x301, 0x319, 0xf8000000]
    assert len(cells(blob, "sbi-events")) == 4 * 7
    assert cells(blob, "sbi-stimuli") == [5, 2]


def test_list():
    rows = schemas.read("pmu-events", tool("kunminghu", "list", "--json").stdout, "list")
    assert len(rows) == 346
    assert rows[0] == {"event": "frontendFlush", "group": "frontend", "code": 1, "selector": "0x1",
                       "counters": "3-10", "text": "flushes of the front end"}
    assert len(tool("kunminghu", "list").stdout.splitlines()) == 346


@pytest.mark.parametrize("core", tables.names())
def test_pages_are_up_to_date(core):
    done = tool(core, "page", "--check")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_page_that_is_old(tmp_path):
    """One of another core is none of this table's."""
    text = (harness.ROOT / "dts/pmu/virt.yaml").read_text(encoding="utf-8")
    (tmp_path / "other.yaml").write_text(text.replace("core: virt", "core: other"),
                                         encoding="utf-8")
    done = tool(tmp_path / "other.yaml", "page", "--check")
    assert (done.returncode, done.stderr) == (
        1, "pmu-events: docs/events-other.md: is not what the table says; type: tools/pmu-events "
        "other page\n")


def test_a_copy_writes_over_no_page(tmp_path):
    """Who makes a table of their own begins with a copy, and may forget to change its name."""
    path = tmp_path / "mine.yaml"
    shutil.copy(tables.FOLDER + "/kunminghu.yaml", path)
    path.write_text(path.read_text(encoding="utf-8").replace("noEvent", "none"), encoding="utf-8")
    done = tool(path, "page")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (f"pmu-events: {path}: docs/events-kunminghu.md is made of "
                           "dts/pmu/kunminghu.yaml only\n")
    assert tool("kunminghu", "page", "--check").returncode == 0
