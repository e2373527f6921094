# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms: what it prints and what it takes. That counts of VMs from beside them are exact
is in test_observe.py."""

import re
import subprocess

from bare_guests import FOREVER
import harness
from perf_runs import TOOL, perf_vms, tool_of
from perflib import events as perf_events
import schemas


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

    # Until three have come, and one with an exit: how much of an interval this computer gives the
    # machine is its own affair.
    with subprocess.Popen([*tool_of(run), "-e", "exits", "-j", "--per-vcpu", "-I", "100"],
                          text=True, stdout=subprocess.PIPE) as tool:
        objects, counts = [], []
        while len(counts) < 3 or not any(counts):
            objects.append(schemas.read("perf-vms", tool.stdout.readline(), "stat"))
            counts = [float(o["counter-value"]) for o in objects if o["vm"] == "beta"]
        tool.terminate()
    assert {(o["vm"], o["vcpu"], o["event"]) for o in objects} == {
        ("alpha", 0, "exits"), ("beta", 0, "exits")}
    times = [o["interval"] for o in objects if o["vm"] == "beta"]
    assert times == sorted(times) and len(times) >= 3

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
