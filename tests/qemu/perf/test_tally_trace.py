# SPDX-License-Identifier: Apache-2.0
"""tools/tally-trace: each stay in HS is in the file, with its cause and its length, to the
instruction; and the file is one that viewers read."""

import base64
import signal
import struct
import subprocess
import time

import pytest

import fakes
import harness
import operator_trees
from operator_trees import vm
import operators
from operators import MS
from perf_runs import exits_of
import replayed
from tallylib import tally_ctl
import trace_model
from tracing import TOOL, Traced, tracing

FOREVER = "kind=busy ticks=100000000000"
MIX = "kind=mix event=2 flags=0 share=1 period=30000 length=100000 parts=5"
ASKS = "kind=asks repeat=yes"
LIVES = 40 * MS  # longer than MIX does, in ticks


@pytest.fixture(scope="module", name="library")
def fixture_library(tmp_path_factory):
    return trace_model.install(tmp_path_factory.mktemp("npm"))


def check_format(library, traced, path):
    """A library that is not ours finds the same processes and tracks, and the same sums."""
    found = trace_model.read(library, path)
    assert set(found) == {"harts", *(f"VM {vcpu['vm']}" for vcpu in traced.other["vcpus"])}
    assert set(found["harts"]) == {name for (pid, _), name in traced.tracks.items() if pid == 1}
    for vcpu in traced.other["vcpus"]:
        events = found[f"VM {vcpu['vm']}"][f"{vcpu['vm']}/{vcpu['vcpu']}"]
        stays = [event for event in events if "stay" in event["cat"]]
        assert sum(event["args"]["instructions"] for event in stays) == vcpu["instructions"]
        # They follow each other: no stay, and no steal, is within another one.
        assert {event["parent"] for event in events if event["ph"] == "X"} == {None}
    shown = [event for process in found.values() for thread in process.values()
             for event in thread if event["ph"] != "M"]
    assert len(shown) == sum(event["ph"] != "M" for event in traced.events)


# From before the second start of alpha until after its end.
LIFE = [(50 * MS, "exits --json"),
        *operators.at_once("vms --json", "stays off", "stays on --json", "start alpha"),
        (f"+{LIVES}", "stays off"), *operators.at_once("vms --json", "exits --json", "!")]


@harness.both_backends
def test_each_instruction_in_hs_is_in_the_trace(tmp_path, library, backend):
    """Of a life of a VM, from before its start until after its end, beside a busy neighbour: the
    stays of each vcpu have what was accounted to it, and `exits` has grown by each kind of exit."""
    result = operator_trees.run(
        tmp_path, vm("alpha", MIX, 'pmu-overflow = "on";'), vm("beta", FOREVER),
        operator_trees.operator(LIFE, "control", '"alpha", "beta", "ops"',
                                operator_trees.samples_hz()),
        until=operators.ENDED, backend=backend)
    told = operators.answers(result)
    before, after = (operators.objects(told[n])[0] for n in (0, 7))
    assert [operators.objects(told[n])[0]["state"] for n in (1, 6)] == ["off", "off"]
    out = tmp_path / "trace.json"
    said = replayed.asked([TOOL, "-o", out], [(LIFE[n][1], told[n]) for n in (1, 2, 3, 5, 8)])
    traced = Traced(out)
    names = traced.names("stay", "alpha/0")
    exits = {kind: after[kind] - before[kind] for kind in ("lcofi", "csr", "wfi")}
    assert exits == {"lcofi": names["overflow"], "csr": names["csr"], "wfi": names["wfi"]}
    assert traced.names("interrupt", "alpha/0")["overflow interrupt (LCOFI)"] > 30
    # And of all vcpus, from the begin of the trace to its end.
    assert traced.other["lost"] == {"hart 0": 0} and "lost" not in said
    assert {vcpu["vm"] for vcpu in traced.other["vcpus"]} == {"alpha", "beta", "ops"}
    for vcpu in traced.other["vcpus"]:
        of_track = traced.instructions(f"{vcpu['vm']}/{vcpu['vcpu']}")
        assert of_track == vcpu["instructions"] == vcpu["hs_instructions"] > 1000
        assert vcpu["missing"] == 0
    check_format(library, traced, out)


def check_sums(traced):
    """What is in each track, and what is said to be missing, is what was accounted meanwhile."""
    for vcpu in traced.other["vcpus"]:
        of_track = traced.instructions(f"{vcpu['vm']}/{vcpu['vcpu']}")
        assert of_track == vcpu["instructions"]
        assert of_track + vcpu["missing"] == vcpu["hs_instructions"] > 0


def begun(run, out, *words):
    """A trace of two guests, when both are in it."""
    process = subprocess.Popen(tracing(run, out, *words), stderr=subprocess.PIPE, text=True)
    while not out.exists() or "HSM hart_get_status" not in out.read_text(encoding="utf-8"):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    return process


def told(process):
    report = process.communicate(timeout=harness.GUARD)[1]
    assert process.returncode == 0, report
    return report


def test_what_is_lost_is_a_gap_with_a_number(running, tmp_path):
    """The tool stands still until the ring is full: the gap has the number of what is missing, and
    the instructions of the stays in it are told."""
    run = running({"alpha": ASKS, "beta": FOREVER})
    process = begun(run, tmp_path / "trace.json")
    process.send_signal(signal.SIGSTOP)
    with tally_ctl.Machine(run.path, timeout=harness.GUARD) as machine:
        def exits():
            return sum(sum(line[kind] for kind in ("ecall", "mmio", "csr"))
                       for line in machine.objects("exits"))
        # A ring has 32,768 words, and such an exit 7.
        enough = exits() + 20000
        while exits() < enough:
            time.sleep(0.01)
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGINT)
        report = told(process)
    traced = Traced(tmp_path / "trace.json")
    gaps = traced.of("lost", "hart 0")
    lost = sum(gap["args"]["records"] for gap in gaps)
    assert {f"lost: {gap['args']['records']}" for gap in gaps} == traced.names("lost").keys()
    assert traced.other["lost"] == {"hart 0": lost} and lost > 10000
    assert f"hart 0: {lost} records were lost" in report
    missing = {vcpu["vm"]: vcpu["missing"] for vcpu in traced.other["vcpus"]}
    assert missing["alpha"] > 10 * lost / 2
    assert f"{missing['alpha']} instructions are missing" in report
    check_sums(traced)


def test_samples_leave_room_for_the_end(running, tmp_path):
    """The ring is full of them when the trace ends. The file is whole, but for the stays that are
    told to be missing."""
    run = running({"alpha": ASKS, "beta": FOREVER})
    process = begun(run, tmp_path / "trace.json")
    process.send_signal(signal.SIGSTOP)
    with tally_ctl.Machine(run.path, timeout=harness.GUARD) as machine:
        assert machine.objects("sample beta 0x2:uk 3000")[0]["ended"] is None
        while not machine.objects("observed")[0]["lost"]:
            time.sleep(0.01)
        machine.objects("unobserve")
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGCONT)
        report = told(process)
    assert "records were lost" in report
    check_sums(Traced(tmp_path / "trace.json"))


@pytest.mark.long
def test_a_second_trace_ends_the_first(running, tmp_path):
    """Both files are whole."""
    run = running({"alpha": ASKS, "beta": FOREVER})
    first = begun(run, tmp_path / "first.json")
    second = subprocess.Popen(
        tracing(run, tmp_path / "second.json", "--vm", "alpha", "--",
                *exits_of(run, "alpha", "csr", 100)), stderr=subprocess.PIPE, text=True)
    assert "another program has begun a trace" in told(first)
    assert "another program" not in told(second)
    for name, vms in ("first", {"alpha", "beta"}), ("second", {"alpha"}):
        traced = Traced(tmp_path / f"{name}.json")
        assert {vcpu["vm"] for vcpu in traced.other["vcpus"]} == vms
        check_sums(traced)


# Moves beta and gamma to the other hart and back, and stays until each has run and waited there.
CARRIES = """
import sys
sys.path.insert(0, sys.argv[1])
from tallylib import tally_ctl

BOTH = "beta", "gamma"
with tally_ctl.Machine(sys.argv[2], timeout=float(sys.argv[3])) as machine:
    def told(command, fields):
        return {row["vm"]: [row[field] for field in fields] for row in machine.objects(command)}
    for hart in (1, 0) * int(sys.argv[4]):
        for vm in BOTH:
            assert machine.ask(f"move {vm} 0 {hart}")[0] == 0
        while any(told("vms", ["harts"])[vm] != [[hart]] for vm in BOTH):
            pass
        times = "cpu_us", "steal_us"
        before = now = told("exits", times)
        while not all(one < other for vm in BOTH for one, other in zip(before[vm], now[vm])):
            now = told("exits", times)
"""
TRIPS = 3


@pytest.mark.long  # a ring is full where this computer has no time for the tool
def test_moves_and_steals_are_in_the_trace(running, tmp_path, two_harts):
    """Vcpus that are moved from hart to hart: each move is in the track of its vcpu, and no stay is
    lost or told twice. They do not roam: then each line of the trace would be a turn's end, whose
    stays are more than the next line has room for. They have few exits: of others a ring is full
    when this computer has no time for the tool."""
    run = running(dict.fromkeys(("alpha", "beta", "gamma"), FOREVER), vcpus=("0 1",),
                  options=two_harts)
    done = subprocess.run(
        tracing(run, tmp_path / "trace.json", "--", "python3", "-c", CARRIES,
                harness.ROOT / "tools/lib", run.path, str(harness.GUARD), str(TRIPS)),
        check=False, capture_output=True, text=True, timeout=harness.GUARD)
    assert done.returncode == 0, done.stderr
    traced = Traced(tmp_path / "trace.json")
    moves = {"alpha": 0, "beta": 2 * TRIPS, "gamma": 2 * TRIPS}
    assert {vcpu["vm"]: vcpu["moves"] for vcpu in traced.other["vcpus"]} == moves
    for name, number in moves.items():
        assert sum(traced.names("move", f"{name}/0").values()) == number
    for hart in "hart 0", "hart 1":
        assert {"beta/0", "gamma/0"} <= traced.names("resident", hart).keys()
    assert traced.names("steal", "beta/0")["steal"] > 0
    assert set(traced.other["lost"].values()) == {0}
    check_sums(traced)
    assert {vcpu["missing"] for vcpu in traced.other["vcpus"]} == {0}


def test_the_machine_ends(tmp_path):
    """The file has what came before, and viewers read it."""
    words = (1 << 32 | 0x80 << 24 | 4, 1000, 7 << 32 | 300, 0xffff), (
        2 << 32 | 0x80 << 24 | 4, 2000, 9 << 32 | 400, 0xffff)
    noted = [["3 begin " + base64.b64encode(b"\xf0" + struct.pack("<4Q", *each)).decode()]
             for each in words]

    def answer(command):
        if command.startswith("stays on"):
            return fakes.told([{"vm": "alpha", "vcpu": 0, "index": 0, "timebase": 10000000}])
        if command != "samples" or not machine.commands.count("stays on --json"):
            return fakes.told([])
        if not noted:
            machine.end()
        return 0, noted.pop(0) if noted else []

    machine = fakes.Asked(tmp_path / "control", answer)
    done = subprocess.run([TOOL, "--socket", machine.path, "-o", tmp_path / "trace.json"],
                          check=False, capture_output=True, text=True, timeout=harness.GUARD)
    assert (done.returncode, done.stderr) == (6, "tools/tally-trace: the machine has ended\n")
    traced = Traced(tmp_path / "trace.json")
    assert [event["args"]["instructions"] for event in traced.of("stay", "alpha/0")] == [300, 400]
    (vcpu,) = traced.other["vcpus"]
    assert (vcpu["instructions"], vcpu["hs_instructions"], vcpu["missing"]) == (700, None, None)


@pytest.mark.parametrize("words, why", [
    (("--vm", "nobody"), 'no VM is called "nobody"'),
    (("--duration", "0"), "--duration 0: is not a positive number"),
    (("--duration", "1", "--", "true"), "exclude each other"),
])
def test_wrong_use(running, tmp_path, words, why):
    run = running({"alpha": FOREVER})
    done = subprocess.run(tracing(run, tmp_path / "trace.json", *words), check=False,
                          capture_output=True, text=True, timeout=harness.GUARD)
    assert done.returncode == 2 and why in done.stderr
