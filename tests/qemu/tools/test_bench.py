# SPDX-License-Identifier: Apache-2.0
"""tools/bench: what it compares and prints, a small part of it from boot to report, and whether one
more call to the firmware in the world switch is found, by name."""

import argparse
import copy
import json
import os
import shutil
import subprocess
import sys

import pytest

import harness
import plain
import schemas
from platforms import as_recorded

sys.path.insert(0, str(harness.ROOT / "tools/lib"))
from benchlib import (answers, compare, conclusions, derive, guests, html,
                      machine, runs, spread, table)

ACCEPTED = harness.ROOT / "tests" / "bench" / "switch.json"
SWITCH = machine.tool("bench-switch")


def bench(*arguments):
    """A run of the tool."""
    return subprocess.run([harness.ROOT / "tools/bench", *map(str, arguments)], text=True,
                          check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def data(**figures):
    """What tools/bench writes, with figures {run: {row: number}}."""
    names = {name.replace("__", "/"): rows for name, rows in figures.items()}
    return {"format": "tally-bench-1", "set": "quick", "versions": {}, "determinism": {},
            "runs": {name: {"name": name, "figures": rows, "commands": [], "seconds": 1}
                     for name, rows in names.items()}}


@pytest.fixture
def files(tmp_path):
    """write(DATA, ...) -> paths."""

    def write(*all_data):
        paths = []
        for n, one in enumerate(all_data):
            paths.append(tmp_path / f"{n}.json")
            paths[-1].write_text(json.dumps(one), encoding="utf-8")
        return paths

    return write


def test_what_has_grown_is_named(files):
    before = data(calls__sbi={"start": 100.0, "stop": 100.0, "gone": 1.0},
                  linux__bare={"a/alone": 50.0})
    after = data(calls__sbi={"start": 102.0, "stop": 102.1, "new": 5.0},
                 linux__bare={"a/alone": 10.0})
    done = bench("--compare", *files(before, after))
    assert done.returncode == 1
    assert done.stdout.splitlines() == ["calls/sbi: stop: 102.1 instructions, 100 before (+2.1 %)",
                                        "calls/sbi: gone: is not measured any more"]
    assert bench("--compare", *files(before, after), "--percent", "3").returncode == 1
    del before["runs"]["calls/sbi"]["figures"]["gone"]
    done = bench("--compare", *files(before, after), "--percent", "3")
    assert done.returncode == 0 and done.stdout == "nothing has grown by more than 3 %\n"


def test_a_run_that_fails_has_grown():
    before = data(calls__sbi={"start": 100.0})
    after = copy.deepcopy(before)
    after["runs"]["calls/sbi"] = {"failure": "no end"}
    assert compare.regressions(before, after, 2) == ["calls/sbi: does not come to its end any more"]
    assert compare.regressions(after, before, 2) == []


def test_what_cannot_be_compared(files, tmp_path):
    other = data(calls__sbi={"start": 1.0})
    for bad in ({**other, "set": "full"}, data(calls__x={"start": 1.0}), {**other, "format": "2"},
                []):
        done = bench("--compare", *files(other, bad))
        assert done.returncode == 4 and done.stderr.startswith("tools/bench: "), done
    assert bench("--compare", tmp_path / "0.json", tmp_path / "none.json").returncode == 4


def test_determinism():
    one = data(a={"x": 1.0, "y": 2.0})["runs"]
    assert compare.determinism(one, one) == {"a": {"identical": True, "rows": 2, "differ": {}}}
    two = data(a={"x": 1.0, "y": 3.0})["runs"]
    found = compare.determinism(one, two)
    assert found == {"a": {"identical": False, "rows": 2, "differ": {"y": [2.0, 3.0]}}}
    assert "a: y: 2.0 and 3.0" in table.determinism({"determinism": found})
    # A run that gave nothing twice is no success.
    failed = {"a": {"failure": "x"}}
    assert not compare.determinism(failed, failed)["a"]["identical"]


def test_the_table():
    text = table.text(data(calls__sbi={"start": 1234.0, "stop": 0.5},
                           calls__opensbi={"start": 7.0}))
    lines = [line.split() for line in text.splitlines()]
    assert ["sbi", "opensbi"] in lines
    assert ["start", "1,234", "7"] in lines and ["stop", "0.5", "-"] in lines


def test_rows_of_a_guest():
    lines = ["alone work pipe 100: 10 12 11", "stat-2 work pipe 200: 20 20 20", "stat-2 counted 5",
             "stat-2 counted <not counted>", "record-100 samples 7", "rows end"]
    timed, seen = guests.rows(lines + ["record-100 work pipe 300: 1 1 1"], ("pipe",),
                              ("alone", "stat-2", "record-100"))
    assert runs.from_rows(timed) == ({"pipe/alone": 1100, "pipe/stat-2": 2000,
                                      "pipe/record-100": 100},
                                     {"pipe/alone": 200, "pipe/stat-2": 0, "pipe/record-100": 0})
    assert seen["stat-2"]["counted"] == [5, "<not counted>"] and seen["record-100"]["samples"] == 7
    for broken in (lines, lines[:-1]):
        with pytest.raises(machine.Failure):
            guests.rows(broken, ("pipe",), ("alone", "stat-2", "record-100"))


def test_overheads():
    one = data(linux__bare={"pipe/alone": 100.0, "pipe/record-1000": 110.0},
               linux__ssccfg={"pipe/alone": 200.0, "pipe/record-1000": 210.0})
    assert derive.overhead(one, "linux/ssccfg", "pipe", "record-1000") == 5
    assert derive.recording(one) == [("ssccfg", "pipe", 1000, 5, 10, True)]
    apart, part = derive.beside_bare(5, 10)
    assert round(apart, 3) == -4.545 and part == 0.5
    said, (_, rows), _ = answers.sampling_in_a_guest(one)
    assert said == "It executes at most 4.55 % less with ssccfg."
    assert rows == [["Tally, ssccfg", "-4.55 %", "pipe, 1000 Hz", "0.50 to 0.50"]]
    assert answers.trapped_read(one) is None


def machines(**samples):
    """Figures of one workload, and how many samples each machine took at 1 kHz."""
    found = data(**{f"linux__{name}": {"pipe/alone": 1000.0, "pipe/stat-2": 1050.0,
                                       "pipe/record-1000": 1100.0} for name in samples})
    for name, taken in samples.items():
        found["runs"][f"linux/{name}"]["perf"] = {"record-1000": {"samples": taken}}
    return found


def test_what_it_costs_in_sentences():
    """Each question in one, without parentheses; a note names those that took fewer samples."""
    one = machines(bare=1000, ssccfg=976, sbi=995)
    assert [answer[:2] for answer in conclusions.of(one)] == [
        ("What does it cost to have a PMU?",
         "Nothing that can be told from noise: in a guest of Tally a program that does not use it "
         "executes more than on bare metal by at most 0.00 % with ssccfg and 0.00 % with sbi."),
        ("What does it cost to count?",
         "In a guest of Tally perf stat with two events adds to the instructions of a program at "
         "most 5.00 % with ssccfg and 5.00 % with sbi; on bare metal 5.00 %."),
        ("What does it cost to sample?",
         "In a guest of Tally perf record at 1 kHz adds to the instructions of a program at most "
         "10.00 % with ssccfg and 10.00 % with sbi; on bare metal 10.00 %.")]
    _, _, (head, rows), note = conclusions.of(one)[2]
    assert note == ("Fewer samples cost less, so the overhead looks smaller than it is where fewer "
                    "were taken than on bare metal: Tally, ssccfg, 2.4 % fewer.")
    assert head == ["", "bare metal", "Tally, ssccfg", "Tally, sbi"]
    assert rows == [["pipe"] + ["+10.00 %"] * 3, ["samples, in all", "1,000", "976", "995"]]
    one["runs"]["linux/ssccfg"]["figures"]["pipe/alone"] = 1002.0
    assert conclusions.having(one).startswith("In a guest of Tally")
    other = data(calls__sbi={"start": 1.0})
    assert conclusions.of(other) == [] and table.summary(other) == table.text(other)
    lines = [line.strip() for line in table.summary(one).splitlines()]
    assert "What does it cost to sample?" in lines
    assert not any(line.startswith("%") or line == "linux" for line in lines)


def test_exits_of_interrupts_are_told():
    """A table of their own, below the answers."""
    one = machines(bare=1000, ssccfg=1000, sbi=1000)
    assert conclusions.interrupts(one) == []
    one["runs"].update(data(calls__ssccfg={
        "exits/plic": 3.0, "exits/aia-level": 1.0, "exits/aia-edge": 0.0, "exits/msi-x": 0.0,
    })["runs"])
    assert conclusions.interrupts(one) == [(
        "How many exits does an interrupt of a device cost?",
        "None for an edge at an AIA and MSI-X at an AIA.",
        (["exits of each", "Tally, ssccfg"],
         [["a level at a PLIC", "3"], ["a level at an AIA", "1"],
          ["an edge at an AIA", "0"], ["MSI-X at an AIA", "0"]]), "")]
    assert "How many exits" in table.summary(one)


def test_guests_tell_their_extensions():
    """In one line; and who has others than bare metal is named beside the figures."""
    one = machines(bare=1000, ssccfg=1000, sbi=1000)
    assert conclusions.alike(one) is None
    for column, more in (("bare", ["h", "ssaia"]), ("ssccfg", []), ("sbi", [])):
        one["runs"][f"linux/{column}"]["isa"] = ["i", "m", "zicboz", "svvptc", *more]
    assert conclusions.alike(one) == (
        "All saw the extensions i m zicboz svvptc; besides, bare metal h ssaia.")
    assert not any("Not the same" in note for *_, note in conclusions.of(one))
    one["runs"]["linux/sbi"]["isa"] = "i m svvptc svadu".split()
    for *_, note in conclusions.of(one):
        assert note.endswith(
            "Not the same extensions as on bare metal: Tally, sbi has svadu and lacks zicboz.")
    assert "Tally, sbi has svadu" in html.report(one)


def test_extensions_of_a_guest():
    lines = ["processor: 0", "isa             : rv64imac_zicboz_svvptc"]
    assert guests.extensions(lines) == ["i", "m", "a", "c", "zicboz", "svvptc"]
    with pytest.raises(machine.Failure):
        guests.extensions(lines[:1])


def test_kvm_is_named_where_it_was_measured():
    one = machines(bare=10, ssccfg=10, sbi=10)
    assert "KVM" not in html.report(one)
    one["runs"]["linux/kvm-6.12"] = {"name": "linux/kvm-6.12", "commands": [], "seconds": 1,
                                     "figures": {"pipe/alone": 1010.0}}
    text = html.report(one)
    assert "under KVM of Linux 6.12 1.00&nbsp;%" in text and "samples from it" not in text
    assert "prefers-color-scheme: dark" in text and "<script" not in text


def test_nobody_waits_in_silence(monkeypatch, capsys):
    """While no run ends it says what is under way."""
    monkeypatch.setattr(spread, "QUIET", 0.01)
    progress = spread.Progress({"calls/sbi": 20, "linux/bare": 10, "linux/sbi": 10}, 2)

    def stream():
        while capsys.readouterr().err.count("under way") == 0:
            pass
        yield "line"

    said = []
    assert list(spread.lines_of(iter(["a", "b"]), said.append)) == ["a", "b"] and said == []
    progress.waits()
    assert "bench:   0 % after 0 s: calls/sbi, linux/bare under way" in capsys.readouterr().err
    assert list(spread.lines_of(stream(), progress.waits)) == ["line"]


def test_figures_of_another_machine():
    """They are taken where all that had a part in them is the same there as here, and else refused.
    """
    ours = {"qemu": "10", "matplotlib": "1"}
    result = {"name": "linux/bare", "figures": {"a": 1.0}}
    same = {**ours, "matplotlib": "2", machine.NEWER: "7.2"}
    assert spread.judged({**result, "versions": same}, ours) == result
    for other in ({**ours, "qemu": "11"}, {"matplotlib": "1"}, {**ours, "opensbi": "1"}):
        assert " there and " in spread.judged({**result, "versions": other}, ours)["failure"]
    newest = {"name": "linux/kvm-new", "versions": same}
    assert machine.NEWER in spread.judged(newest, ours)["failure"]


def test_every_run_is_in_the_full_set():
    found = runs.all_runs()
    assert all(run.full is not None for run in found.values())
    assert {run.part for run in found.values()} == {"calls", "switch", "linux", "scale", "kvm"}
    listed = bench("--list", "--set", "full").stdout.splitlines()
    assert set(line.split()[0] for line in listed) == set(found)


@pytest.mark.long
def test_a_small_part_from_boot_to_report(tmp_path):
    """One boot of a Debian guest, twice, and one of a bare guest: identical figures, JSON, and a
    report that needs nothing else."""
    plain.make("build/guests/workloads/workload")
    done = bench("--run", "linux/ssccfg", "--run", "calls/opensbi", "--repeat", "all",
                 "--jobs", "2", "--output", tmp_path / "out")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "about" in done.stderr and "100 % " in done.stderr
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    rows = [f"{w}/{c}" for w in runs.SHORT for c in runs.SOME]
    assert found["determinism"]["linux/ssccfg"] == {"identical": True, "rows": len(rows),
                                                    "differ": {}}
    assert found["determinism"]["calls/opensbi"]["identical"]
    run = found["runs"]["linux/ssccfg"]
    assert sorted(run["figures"]) == sorted(rows)
    # Six instructions a round, and what the kernel does beside.
    assert 1 < run["figures"]["compute/alone"] / (6 * 30000000) < 1.01
    assert run["figures"]["compute/alone"] < run["figures"]["compute/record-1000"]
    assert run["perf"]["record-1000"]["samples"] > 500
    assert "zicboz" in run["isa"]
    assert run["commands"] and "--backend ssccfg" in run["commands"][0]
    names = {"qemu", "opensbi", "kernel", "linux-perf", "compiler", "tally"}
    assert names <= found["versions"].keys()
    html = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert html.count("data:image/svg+xml") == 2 and "http" not in html


def test_a_fork_is_the_same_in_a_guest(tmp_path):
    """What differs between bare metal and a guest but is no PMU's doing is in no figure: a seed for
    random numbers, which not all have from their firmware."""
    plain.make("build/guests/workloads/workload")
    scale = (("forks",), ("alone",))
    bare = runs.linux_bare(runs.Log(900), str(tmp_path), scale)
    guest = runs.linux_tally(runs.Log(900), str(tmp_path), scale, "ssccfg")
    one, two = (run["figures"]["forks/alone"] for run in (bare, guest))
    assert abs(two / one - 1) < 0.01, (one, two)
    assert not derive.differing({"runs": {"linux/bare": bare, "linux/ssccfg": guest}})


@pytest.fixture(scope="module")
def dearer(tmp_path_factory):
    """A hypervisor with one call to the firmware more in each world switch."""
    root = tmp_path_factory.mktemp("dearer")
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           cwd=harness.ROOT, check=True, text=True, stdout=subprocess.PIPE).stdout
    for name in names.strip("\0").split("\0"):
        if name.split("/")[0] in ("Makefile", "arch", "core", "vpmu", "guests", "tools", "tests"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(harness.ROOT / name, root / name)
    (root / "build").mkdir()
    (root / "build/guest").symlink_to(os.path.realpath(harness.GUEST))
    file = root / "core/sched/world_switch.c"
    text = file.read_text(encoding="utf-8")
    begin = "void vcpu_put(struct pcpu *pcpu, struct vcpu *vcpu)\n{\n"
    assert text.count(begin) == 1
    more = "\t(void)sbi_probe(SBI_EXT_PMU);\n"
    file.write_text('#include "arch/riscv/hart/sbi.h"\n' + text.replace(begin, begin + more),
                    encoding="utf-8")
    subprocess.run(["make", "-s", "-C", root, "build/tally.bin"], check=True,
                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return root / "build/tally.bin"


@pytest.mark.long
@as_recorded
def test_one_call_more_in_the_switch_is_found(dearer, tmp_path, files):
    """By --compare, and by what guards the accepted figures in CI, under the row's name. Of all
    boots that are measured two are made: other rows are as accepted."""
    accepted = {row: costs["ssccfg"] for row, costs in
                json.loads(ACCEPTED.read_text(encoding="ascii")).items()}
    figures = {**accepted}
    plain.make("build/guests/bench.bin")
    for row in ("stay", "switch"):
        costs = SWITCH.boot(argparse.Namespace(timeout=harness.GUARD), "ssccfg", row,
                            *SWITCH.BOOTS[row], ["--kernel", dearer])
        assert {f"{row}/{name}" for name in costs} == {
            name for name in accepted if name.startswith(row + "/")}
        figures.update({f"{row}/{name}": cost for name, cost in costs.items()})
    figures.update(SWITCH.fits(figures))
    before, after = data(switch__ssccfg=accepted), data(switch__ssccfg=figures)
    again = bench("--compare", *files(before, after))
    assert again.returncode == 1
    named = {line.split(": ")[1] for line in again.stdout.splitlines()}
    assert {"net-none", "net-intercept", "switch/live-0"} <= named
    # The call is in the switch alone (a vcpu that goes to sleep leaves the hart, too): not in an
    # exit.
    assert not [row for row in named if row.startswith("stay") and not row.endswith("/wake")], named
    measured = tmp_path / "table.json"
    measured.write_text(json.dumps({row: {"ssccfg": cost} for row, cost in figures.items()}),
                        encoding="ascii")
    guard = subprocess.run([harness.ROOT / "tools/bench-switch", "--table", measured,
                            "--against", ACCEPTED],
                           text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert guard.returncode == 1
    assert {"net-none", "net-intercept"} <= {line.split()[1] for line in guard.stderr.splitlines()}


@pytest.mark.long
def test_reads_of_a_disk_are_counted():
    """On bare metal and on Tally, each read once. One takes the kernel some 14,000 instructions,
    and Tally none where its interrupt is a message."""
    done = subprocess.run([harness.ROOT / "tools/bench-disk", "--rounds", "2", "--count", "100",
                           "--json"], text=True, check=False, capture_output=True)
    assert done.returncode == 0, done.stderr
    disks = schemas.read("bench-disk", done.stdout)
    for found in disks.values():
        for place in ("opensbi", "tally"):
            assert len(found[place]) == 2
            assert all(count > 100 * 5000 for count in found[place]), found
        assert found["ratio"] == found["medians"]["tally"] / found["medians"]["opensbi"]
    wired, messages = disks["wired"], disks["messages"]
    assert wired["exits"]["irq"] >= 1 > messages["exits"]["irq"]
    # An exit is some 200 instructions at least.
    assert wired["below"]["tally"] > 100 * 5 * 200 > 100 * 200 > messages["below"]["tally"]
