# SPDX-License-Identifier: Apache-2.0
"""Events by name in VM trees: they become numbers, and the guest gets these and no others."""

import json
import subprocess

import pytest

from bad_properties import TREE, spoilt
import bare_guests
from event_tables import tool
import harness
from pmulib import nodes, tables
from raw_events import COUNTS, boot
from vm_check import check

pytestmark = pytest.mark.usefixtures("vm_check_built")
EXACT = 0xffffffffffffffff


def with_events(value):
    """The good tree with pmu-events."""
    return spoilt("kernel =", f"pmu-events = {value};\n\t\t\tkernel =")


def pmu(path):
    """What vm-check says of the first VM's events, and of the core."""
    done = check(path, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    return said["vms"][0]["pmu"]["events"], said["vms"][0]["pmu"]["raw_events"], said.get("core")


def test_names_become_numbers(tree_file):
    for value, events, raw in (
            ('"kunminghu:frontend"', [], [[0, EXACT ^ 0xff]]),
            ('"kunminghu:cache"', [], [[0xc0300c0300, EXACT ^ 0xff]]),
            ('<1 0x10019>, "kunminghu:BpBWrong"', [1, 0x10019], [[0x25, EXACT]]),
            ('"kunminghu:rob_commitInstr", <2>, "kunminghu:enq.LsqWrapper.40"', [2],
             [[0x4010040151, EXACT], [0x8020080228, EXACT]]),
            ('"kunminghu:memory", // all of it\n\t<5>, /* "kunminghu:no" */ <6>', [5, 6],
             [[0x8020080200, EXACT ^ 0xff]])):
        assert pmu(tree_file(with_events(value))) == (events, raw, "kunminghu"), value
    assert pmu(tree_file(with_events('"u74:memory", "u74:JAL_INSTRUCTION_RETIRED"'))) == (
        [], [[2, EXACT ^ 0xffffffffffff00], [0x8000, EXACT]], "u74")
    assert pmu(tree_file(with_events("<1>"))) == ([1], [], None)


def test_every_name(tree_file):
    """All that vm-names has, in trees of as many as a VM may have."""
    names = json.loads(tool("kunminghu", "vm-names", "--json").stdout)
    table = tables.load("kunminghu")
    for n in range(0, len(names), 64):
        some = names[n:n + 64]
        value = ", ".join(f'"{name}"' for name in some)
        assert pmu(tree_file(with_events(value)))[1] == [
            list(nodes.allowed(table, name.partition(":")[2])) for name in some]
    done = check(tree_file(with_events(", ".join(f'"{name}"' for name in names[4:69]))))
    assert (done.returncode, done.stderr.splitlines()) == (1, [
        "/vms/one: pmu-raw-events: has 65 rows, more than 64", "vm-check: that is in vms.dts:8"])


def test_what_is_shown(tree_file):
    lines = check(tree_file(with_events('<1>, "kunminghu:frontend"'))).stdout.splitlines()
    assert lines[:5] == [
        "core        kunminghu: selectors of 4 events; 7 general and cache events",
        "  events    0x1 to 0x36 of 0x0: counters 3 to 10",
        "  events    0x101 to 0x18e of 0x4010040100: counters 11 to 18",
        "  events    0x201 to 0x27d of 0x8020080200: counters 19 to 26",
        "  events    0x301 to 0x319 of 0xc0300c0300: counters 27 to 31"]
    assert lines[-4:-2] == ["  events    0x1", "  raw       0x0, where 0xffffffffffffff00 are 1"]
    lines = check(tree_file(with_events('"u74:memory"'))).stdout.splitlines()
    assert lines[0] == ("core        u74: selectors of a bit for each event; "
                        "12 general and cache events")
    assert lines[-4:-2] == ["  events    raw ones alone",
                            "  raw       0x2, where 0xff000000000000ff are 1"]


@pytest.mark.parametrize("value, reason", [
    ('"kunminghu:BpBad"', "kunminghu has no event BpBad"),
    ('"kunminghu:enq"', "enq is the name of 3 events: enq.LsqWrapper.38, enq.LsqWrapper.40, "
     "enq.LsqWrapper.42"),
    ('"kunminghu:frontend.noEvent"', "frontend.noEvent is no event: it stands for an empty place"),
    ('"pentium:cycles"', "pentium: there is no table of this name; there are kunminghu, p550, u74, "
     "virt, and files that end in .yaml"),
    ('"frontend"', '"frontend" is no event: names are CORE:GROUP or CORE:EVENT'),
    ('"kunminghu:cache", "u74:memory"', '"u74:memory": the tree names events of kunminghu already, '
     "and a machine has one kind of core"),
])
def test_refused_names(tree_file, value, reason):
    path = tree_file(with_events(value))
    done = check(path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"{path}:8: pmu-events: {reason}\n"


def test_refused_at_boot_too(tree_file):
    path = tree_file(with_events('"virt:CYCLE"'))
    done = subprocess.run([harness.ROOT / "tools/run", "--vms", path], capture_output=True,
                          text=True, check=False)
    assert done.returncode == harness.REFUSED
    assert done.stderr == f"tools/run: {path}:8: pmu-events: virt has no event CYCLE\n"


def test_includes(tree_file, tmp_path):
    """The lines told are the user's own, whichever file has the name and whichever the mistake."""
    inner = tree_file(with_events('"kunminghu:frontend"'))
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/inner.dts").write_text(inner.read_text(encoding="ascii"), encoding="ascii")
    (tmp_path / "sub/hundred-zeros.bin").write_bytes(bytes(100))
    outer = tmp_path / "outer.dts"
    outer.write_text('/include/ "sub/inner.dts"\n/ { vms { one { console = "off"; }; }; };\n',
                     encoding="ascii")
    assert pmu(outer)[1:] == ([[0, EXACT ^ 0xff]], "kunminghu")
    outer.write_text('/include/ "sub/inner.dts"\n\n/ { vms { one { console = "of"; }; }; };\n',
                     encoding="ascii")
    assert check(outer).stderr.splitlines() == [
        '/vms/one: console: is not "on" or "off"', "vm-check: that is in outer.dts:3"]
    outer.write_text('/include/ "sub/inner.dts"\n\n/ { nonsense };\n', encoding="ascii")
    assert "Error: outer.dts:3" in check(outer).stderr


def test_a_node_of_its_own(tree_file):
    """One that stands in the tree is not made again; without names it is there, too."""
    node = tool("virt", "vm-node").stdout
    assert pmu(tree_file(TREE + node))[2] == "virt"
    assert pmu(tree_file(with_events('"virt:CYCLES"') + node)) == ([], [[1, EXACT]], "virt")
    again = node.replace("0x7fff9", "0x0")
    done = check(tree_file(with_events('"virt:CYCLES"') + again))
    assert done.stderr.splitlines()[0] == (
        "/pmu: sbi-events: row 0: counter mask 0 has others than count it")


@harness.both_backends
def test_a_guest_counts_what_is_named(tmp_path, raw_machine, backend):
    """Raw 1 is cycles and raw 2 instructions; the others are no events of the table."""
    result = boot(tmp_path, raw_machine(), {"alpha": "kind=raw"}, backend=backend,
                  properties='\t\t\tpmu-events = <1 2>, "virt:all";')
    lines = result.vm("alpha")
    assert lines[:16] == COUNTS
    assert lines[24] == ("raw: event info with nothing configured: error 0, 2000 of 4000 can be "
                         "counted, 0 wrong")
    result = boot(tmp_path, raw_machine(), {"alpha": "kind=raw"}, backend=backend,
                  properties='\t\t\tpmu-events = <1 2>, "virt:CYCLES";')
    lines = result.vm("alpha")
    assert lines[:16] == [line if "data 0x1 " in line else line.split(": S ")[0] + ": error -2"
                          for line in COUNTS]
    # Half of what this guest asks for by event info are cycles, the other half instructions.
    for line, when in zip(lines[24:26], ("with nothing configured", "while both are counted")):
        assert line == f"raw: event info {when}: error 0, 1000 of 4000 can be counted, 1000 wrong"


@harness.both_backends
def test_the_table_takes_away(tmp_path, backend):
    """A hart that counts what the table has not: the guest is told that it does not."""
    node = tool("virt", "vm-node").stdout
    less = node.replace("\t\t\t<0x2 0x0 0x2 0x7fffc>,\n", "")
    assert less != node
    wrong = []
    for more in (node, less):
        text = bare_guests.tree({"alpha": "kind=measure rounds=1 length=100000"}) + more
        file = tmp_path / "table.dts"
        file.write_text(text, encoding="ascii")
        result = harness.run(file, options=["--include", harness.BUILD / "guests"], backend=backend)
        wrong.append([line.split(" flags ")[0] for line in result.vm("alpha") if "WRONG" in line])
    # The guest takes what is refused for 0.
    assert wrong == [[], ["measure: round 0 event 0x2"] * 4]
