# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms and the prompt's observe: counts of VMs from beside them. They are exact, and the
guests' own are what they are without."""

import io
import json
import os
import re
import subprocess
import threading

import pytest

import bare_guests
from bare_guests import FOREVER
import harness
import measured
from perf_runs import TOOL, begin, perf_vms, quiet, tool_of
from perflib import events as perf_events
import plain
import prompts
from tallylib import tally_ctl

LENGTH = 1000000
ROUNDS = 4
CALLS = 7
# The jump to the work, two instructions a round and the return, and the ecall.
USER_WORK = 2 * LENGTH + 3


@harness.both_backends
@pytest.mark.parametrize("mode, own", [("u", ""), ("u", "own=yes"), ("u", "own=restarts"),
                                       ("k", "own=yes")])
def test_equals_what_the_guest_counts(console, tmp_path, backend, mode, own):
    """Span by span, beside a busy neighbour; and it is the same where the guest counts nothing."""
    plain.make("build/guests/bare.bin")
    tree = tmp_path / "bare.dts"
    tree.write_text(bare_guests.tree({
        "alpha": f"kind=waits filter={mode} rounds={ROUNDS + 1} length={LENGTH} "
                 f"calls={CALLS} {own}",
        "beta": FOREVER}), encoding="utf-8")
    path = tmp_path / "control"
    screen = console(tree, timeout=harness.GUARD, backend=backend,
                     options=["--include", harness.BUILD / "guests", "--control", path])
    screen.logfile_read = io.StringIO()
    for _ in range(2):
        screen.expect("(waits|busy): begins")
    with tally_ctl.Machine(str(path), timeout=harness.GUARD) as machine:
        number = begin(machine, "alpha", f"0x2:{mode}")["observation"]
        other = begin(machine, "beta", "0x2:u")["observation"]
        # What M-mode sees first, and what only Tally does.
        firmware = [begin(machine, "alpha", event)["observation"]
                    for event in ("0xf0004", "0xf0005")]
        line = quiet(machine, number)
        assert line["shared"] == (own != "")
        values = [line["value"]]
        for i in range(ROUNDS):
            screen.send("x")
            screen.expect(rf"waits: {i}: \d+\r+\n")
            values.append(quiet(machine, number)["value"])
        (line,) = machine.objects(f"unobserve {number}")
        assert line["value"] == values[-1]
        assert machine.objects(f"unobserve {other}")[0]["value"] == 0
        assert [machine.objects(f"unobserve {n}")[0]["value"] for n in firmware] == [
            CALLS * ROUNDS] * 2
        assert machine.objects("observed") == []
    screen.send("x")
    screen.expect(rf"waits: {ROUNDS}: \d+\r+\n")
    spans = [after - before for before, after in zip(values, values[1:])]
    if mode == "u":
        assert spans == [USER_WORK] * ROUNDS
    if own:
        seen = re.findall(r"waits: [1-9]: (\d+)\r", screen.logfile_read.getvalue())
        assert [int(n) for n in seen] == spans


def toggle(path, end, ended, gone):
    """Observers of all kinds come and go, until the event is set. gone: a mark for each time."""
    events = ["0x2:uk", "0x2:u", "0x1:k", "0x1:uk", "0x10019:u", "0xf0100"]
    with tally_ctl.Machine(str(path), timeout=harness.GUARD) as machine:
        try:
            while not end.is_set():
                for vm in ("alpha", "beta"):
                    for event in events:
                        machine.objects(f"observe {vm} {event}")
                for _ in range(4):
                    ended += [line["ended"] for line in machine.objects("observed")]
                machine.objects("unobserve")
                gone.append(True)
        except tally_ctl.NoAnswer as error:
            assert str(error) == "the machine has ended"


@harness.both_backends
def test_guests_count_the_same(running, backend):
    """alpha counts under all filters, and its values are those of a guest beside which nobody
    looks; beta judges each value, flag and interrupt of random sequences itself. It goes on until
    the guests were in the observers' way; the other way round they never are."""
    run = running({"alpha": prompts.SHORT_ROWS,
                   "beta": "sampling=chance seed=1 sequences=200 sharers=3"}, backend=backend)
    end, ended, gone = threading.Event(), [], []
    program = threading.Thread(target=toggle, args=(run.path, end, ended, gone))
    program.start()
    seen = {None, "the guest needed that counter",
            "the guest counts something else on that counter"}
    while not ("[alpha] measure: round 1 " in run.console and "vm beta: ended" in run.console and
               seen <= set(ended) and len(gone) >= prompts.OFTEN):
        run.read_line()
    end.set()
    program.join()
    assert run.ctl("poweroff")[0] == 0
    run.read_until(None)
    assert run.process.wait() == harness.OK, run.console
    result = harness.Result(harness.OK, run.console)
    prompts.check_rounds(result.vm("alpha"), measured.rounds(1, prompts.SHORT))
    assert result.vm("beta")[-1].endswith(" 0 wrong")
    for vcpu in re.findall(r"longest-stay=(\d+)", run.console):
        assert int(vcpu) <= harness.LONGEST_STAY


def test_output(running):
    """Each shape: plain, fields, objects; whole and by intervals."""
    run = running({"alpha": "kind=waits filter=u own=yes", "beta": FOREVER})
    run.read_until("waits: begins")
    events = "instructions:k,exits-ecall,branches"
    lines, complaints = perf_vms(run, "-e", events, "--vm", "beta", "--", "sleep", "0.3")
    assert complaints == []
    assert lines[1] == " Performance counter stats for 'vm beta':"
    first, second = (re.fullmatch(rf" +{count}      {event:<24} beta             in (.*) s", line)
                     for count, event, line in zip((r"\d+", "0"), events.split(","), lines[3:5]))
    assert lines[5].split() == ["<not", "supported>", "branches", "beta"]
    elapsed, host = (re.fullmatch(rf" +(\d+\.\d{{9}}) seconds time elapsed by {clock}'s clock",
                                  line)
                     for clock, line in zip(("the machine", "this computer"), lines[7:9]))
    assert first[1] == second[1] == elapsed[1]
    assert float(host[1]) >= 0.3 and lines[9:] == [""]

    lines, _ = perf_vms(run, "-e", events, "-x,", "--", "sh", "-c", "exit 3", status=3)
    table = [line.split(",") for line in lines]
    assert [(fields[2], fields[3]) for fields in table] == [
        (event, vm) for vm in ("alpha", "beta") for event in events.split(",")]
    assert [fields[0] for fields in table if fields[2] == "branches"] == ["<not supported>"] * 2
    assert table[0][0] == "<not counted>" and table[0][5:] == [
        "0.00", "the guest counts something else on that counter"]
    assert table[3][0].isdigit() and table[3][5:] == ["100.00"]

    # Until three have come: how much of an interval this machine gives the tool is its own affair.
    with subprocess.Popen([*tool_of(run), "-e", "exits", "-j", "--per-vcpu", "-I", "100"],
                          text=True, stdout=subprocess.PIPE) as tool:
        objects = []
        while len([o for o in objects if o["vm"] == "beta"]) < 3:
            objects.append(json.loads(tool.stdout.readline()))
        tool.terminate()
    assert {(o["vm"], o["vcpu"], o["event"]) for o in objects} == {
        ("alpha", 0, "exits"), ("beta", 0, "exits")}
    times = [o["interval"] for o in objects if o["vm"] == "beta"]
    assert times == sorted(times) and len(times) >= 3
    counts = [float(o["counter-value"]) for o in objects if o["vm"] == "beta"]
    # A machine that gets little of this one does little in a tenth of a second.
    assert sum(counts) > 0

    lines, _ = perf_vms(run, "-e", "exits", "-x;", "-I", "100", "--vm", "beta",
                        "--duration", "0.25")
    assert all(re.fullmatch(r"\d+\.\d{9};\d+;;exits;beta;\d+;100\.00", line) for line in lines)
    assert "longest-stay" in "".join(perf_vms(run, "--list")[0])
    tool = subprocess.Popen([*tool_of(run), "-e", "exits", "-x,"], text=True,
                            stdout=subprocess.PIPE)
    while not run.ctl("observed")[1]:
        pass
    tool.terminate()
    lines = tool.communicate(timeout=harness.GUARD)[0].splitlines()
    assert tool.returncode == 0 and [line.split(",")[2:4] for line in lines] == [
        ["exits", "alpha"], ["exits", "beta"]]
    # Nothing of all that goes on.
    assert run.ctl("observed") == (0, [], [])


def test_names_of_events():
    """Tally's own are those of vpmu/tally_events.h, perf's have the numbers of the SBI."""
    header = (harness.ROOT / "vpmu/tally_events.h").read_text(encoding="utf-8")
    defined = re.findall(r"define TALLY_EVENT_(\w+) +(\d+)U", header)
    assert dict(perf_events.groups())["Tally's own events"] == {
        name.lower().replace("_", "-"): 0xF0000 + int(code) for name, code in defined
        if name != "FIRST"}
    for name, event in (("instructions:u", "0x2:u"), ("dTLB-load-misses", "0x10019:uk"),
                        ("iTLB-load-misses:k", "0x10021:k"), ("dTLB-store-misses:ku", "0x1001b:uk"),
                        ("exits", "0xf0100:uk"), ("fw-set-timer", "0xf0005:uk"),
                        ("r8000000000000100", "0xf0100:uk"), ("r1234:u", "0x20000/0x1234:u"),
                        ("r1000000000000", "0x30000/0x1000000000000:uk")):
        assert perf_events.parse(name) == event


def test_wrong_use(running, tmp_path):
    run = running({"alpha": FOREVER})
    for words, complaint in (
            (["-e", "nonsense"], "there is none of that name"),
            (["-e", "cycles:h"], "a modifier is :u, :k or :uk"),
            (["-e", "rffffffffffffffff"], "is no raw event"),
            (["--vm", "gamma"], 'no VM is called "gamma"; there are: alpha'),
            (["--", "no-such-command"], "no-such-command: No such file"),
            (["-I", "0"], "is not a positive number"),
            (["-x,", "-j"], "exclude each other"),
            (["--duration", "1", "--", "true"], "exclude each other")):
        lines, complaints = perf_vms(run, *words, status=2)
        assert lines == [] and complaint in complaints[-1], words
    assert run.ctl("observed") == (0, [], [])
    for command in ("observe", "observe alpha", "observe alpha 0x2:h", "observe alpha 0x 0x2",
                    "observe alpha 0x2 0x1", "observed 999", "unobserve x", "unobserve 1 2"):
        status, lines, complaints = run.ctl(*command.split())
        assert (status, lines, len(complaints)) == (2, [], 1), command
    assert run.ctl("observe", "gamma", "0x2")[0] == 1
    nobody = subprocess.run([TOOL, "--socket", tmp_path / "nobody"], capture_output=True,
                            check=False)
    assert nobody.returncode == 4


def test_as_many_as_there_are_and_a_restart(running):
    """Eight of a vcpu; and what a VM's end leaves of them."""
    run = running({"alpha": FOREVER, "beta": FOREVER})
    with tally_ctl.Machine(str(run.path), timeout=harness.GUARD) as machine:
        for _ in range(8):
            first = begin(machine, "alpha", "0x2:k")
        assert machine.objects("observe alpha 0x2:k") == [
            {"vm": "alpha", "vcpu": 0, "observation": None, "ended": "too many observers"}]
        # The last one has seen a turn of alpha's.
        while machine.objects(f"observed {first['observation']}")[0]["value"] == 0:
            pass
        machine.ask("restart alpha")
        run.read_until("vm alpha: starts again")
        lines = machine.objects("observed")
        assert [line["ended"] for line in lines] == ["the vcpu stopped"] * 8
        assert all(line["value"] > 0 for line in lines)
        again = machine.objects("observed")
        assert [{**line, "looked_ns": 0} for line in again] == [
            {**line, "looked_ns": 0} for line in lines]
        machine.objects(f"unobserve {first['observation']}")
        again = begin(machine, "alpha", "0x2:k")
        assert len(machine.objects("unobserve")) == 8
        assert again["observation"] > first["observation"]
        # Of one that is off: it counts from the start. (A restart, too, says that it stopped.)
        run.console = ""
        machine.ask("stop alpha")
        run.read_until("vm alpha: stopped")
        number = begin(machine, "alpha", "0x2:k")["observation"]
        assert machine.objects(f"observed {number}")[0]["value"] == 0
        machine.ask("start alpha")
        line = {"value": 0}
        while line["value"] == 0:
            (line,) = machine.objects(f"observed {number}")
            assert line["ended"] is None, line


@harness.both_backends
def test_the_clock_of_hs(running, backend):
    """A guest that counts two filters of instructions has the second on instret, by which Tally
    counts its own work: what is observed of that ends then."""
    run = running({"alpha": "kind=waits filter=u own=both", "beta": FOREVER}, backend=backend)
    run.read_until("waits: begins")
    with tally_ctl.Machine(str(run.path), timeout=harness.GUARD) as machine:
        assert machine.objects("observe alpha 0xf0109")[0]["ended"] == (
            "the guest counts something else on that counter")
        machine.ask("stop alpha")
        run.read_until("vm alpha: stopped")
        numbers = [begin(machine, vm, event)["observation"]
                   for vm, event in (("alpha", "0xf0109"), ("alpha", "0xf0100"),
                                     ("beta", "0xf0109"))]
        machine.ask("start alpha")
        run.console = ""
        run.read_until("waits: begins")
        clock, exits, other = [machine.objects(f"observed {number}")[0] for number in numbers]
    assert clock["ended"] == "the guest needed that counter"
    assert exits["ended"] is other["ended"] is None
    assert min(clock["value"], exits["value"], other["value"]) > 0


def test_the_machine_ends(running):
    """What was known last is told."""
    run = running({"alpha": FOREVER})
    tool = subprocess.Popen([*tool_of(run), "-e", "instructions", "-I", "50", "-x,"],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert tool.stdout.readline() and tool.stdout.readline()
    assert run.ctl("poweroff")[0] == 0
    run.read_until(None)
    # Not communicate(): it does not see what readline() has read already.
    assert tool.stdout.read()
    assert tool.stderr.read() == "tools/perf-vms: the machine has ended\n"
    assert tool.wait(timeout=harness.GUARD) == 6


def test_another_hart(tmp_path):
    """The console's hart asks the vcpus' hart (profile smp: function only)."""
    plain.make("build/guests/bare.bin")
    tree = tmp_path / "bare.dts"
    tree.write_text(bare_guests.tree({"alpha": FOREVER}, vcpus=("1", "0")), encoding="utf-8")
    path = tmp_path / "control"
    words = harness.command(tree, profile="smp", timeout=harness.GUARD, options=[
        "--harts", "2", "--include", harness.BUILD / "guests", "--control", path])
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        for line in process.stdout:
            if b"busy: begins" in line:
                break
        with tally_ctl.Machine(str(path), timeout=harness.GUARD) as machine:
            first, second = machine.objects("observe alpha 0x2:k")
            assert (first["vcpu"], second["vcpu"], first["ended"]) == (0, 1, None)
            counts = []
            while len(counts) < 10:
                one, off = machine.objects("observed")
                counts.append(one["value"])
                # It has not been started, and would be counted if it were.
                assert (off["value"], off["ended"]) == (0, None)
            assert counts == sorted(counts) and counts[0] < counts[-1]
            assert len(machine.objects("unobserve")) == 2
        process.terminate()


WORK = 50_000_000
SPANS = 2
LINUX_NS = 30_000_000  # longer than the kernel is at work between a program and the next


def build_spans(folder):
    (folder / "test").mkdir(exist_ok=True)
    subprocess.run([os.environ.get("CROSS_COMPILE", "riscv64-linux-gnu-") + "gcc", "-static", "-O2",
                    "-Wall", "-Wextra", "-Werror", harness.ROOT / "tests/qemu/programs/spans.c",
                    "-o", folder / "test/spans"], check=True)


@pytest.mark.parametrize("backend", [pytest.param("sbi", marks=pytest.mark.long), "ssccfg"])
def test_linux(console, tmp_path, backend):
    """All user instructions of a Debian guest, span by span: as many as its kernel counts by itself
    for the whole system. In each, perf counts those of one process, which are a known number."""
    build_spans(tmp_path)
    tree = harness.linux_tree(tmp_path, {
        "alpha": f"/test/spans perf stat -x, -e instructions:u work {WORK} 2>&1"})
    path = tmp_path / "control"
    screen = console(tree, timeout=harness.GUARD, backend=backend, options=["--control", path])
    screen.expect("spans begin")
    text = ""
    with tally_ctl.Machine(str(path), timeout=harness.GUARD) as machine:
        number = begin(machine, "alpha", "0x2:u")["observation"]
        values = [quiet(machine, number, LINUX_NS)["value"]]
        for i in range(SPANS + 1):
            screen.send("\r")
            screen.expect(rf"span {i}: \d+\r+\n")
            text += screen.before + screen.after
            if i < SPANS:
                screen.expect(r"instructions:u,[^\n]*\n")
                text += screen.before + screen.after
                values.append(quiet(machine, number, LINUX_NS)["value"])
    spans = [after - before for before, after in zip(values, values[1:])]
    assert [int(n) for n in re.findall(r"span [1-9]: (\d+)", text)] == spans
    assert re.findall(r"(\d+),[^,]*,instructions:u,", text) == [str(WORK)] * SPANS
    # The rest is of perf, and of those who start it and wait for it.
    assert all(WORK < span < 2 * WORK for span in spans)
