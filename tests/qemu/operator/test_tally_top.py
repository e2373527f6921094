# SPDX-License-Identifier: Apache-2.0
"""tools/tally-top: shares and rates of two looks, exactly; its table, objects and terminal."""

import collections
import contextlib
import json
import os
import re
import signal
import subprocess
import types

import pexpect
import pyte
import pytest

import bare_guests
from bare_guests import FOREVER
import fakes
import harness
import schemas
from toplib import counts, functions, looks, table
from toplib.table import pane

TOOL = harness.ROOT / "tools/tally-top"
KEYS = ["vm", "vcpu", "state", "uptime_ms", "hart", "seconds", "cpu_percent", "steal_percent",
        "exits_per_s", "exits_per_s_by", "hs_instructions_per_s", "hs_percent", "counters",
        "overflows_per_s", "instructions_per_s", "ipc", "not_counted", "samples", "samples_lost",
        "not_sampled", "functions"]


def top(path, *words, status=0, command=(TOOL,)):
    """Lines of its output and of complaint."""
    done = subprocess.run([*command, "--socket", path, "--timeout", str(harness.GUARD),
                           "-d", "0.01", *words], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False, timeout=harness.GUARD)
    assert done.returncode == status, done
    return done.stdout.splitlines(), done.stderr.splitlines()


ALPHA = {"vm": "alpha", "vcpu": 0, "state": "running", "uptime_ms": 2000, "hart": 3,
         "seconds": 2.0, "cpu_percent": 25.0, "steal_percent": 35.0, "exits_per_s": 1400.0,
         "exits_per_s_by": {cause: 50.0 * i for i, cause in enumerate(fakes.CAUSES)},
         "hs_instructions_per_s": 50000.0, "hs_percent": None, "counters": 1,
         "overflows_per_s": 2.5, **dict.fromkeys(KEYS[-7:])}


def test_objects(fake_machine):
    """Each field, exactly; of a vcpu that was not there before there are no rates."""
    lines, complaints = top(fake_machine.path, "--once", "--json")
    assert complaints == []
    alpha, beta, new = (schemas.read("tally-top", line) for line in lines)
    assert list(alpha) == KEYS and alpha == ALPHA
    assert beta == {**ALPHA, "vm": "beta", "state": "off", "cpu_percent": 62.5,
                    "exits_per_s": 42000.0,
                    "exits_per_s_by": {cause: 1500.0 * i for i, cause in enumerate(fakes.CAUSES)}}
    assert new == {**beta, "vcpu": 1, "seconds": 0, **{key: None for key in (
        "cpu_percent", "steal_percent", "exits_per_s", "hs_instructions_per_s",
        "overflows_per_s")}, "exits_per_s_by": dict.fromkeys(fakes.CAUSES)}
    assert fake_machine.commands == ["vms --json", "exits --json", "pmu --json"] * 2
    page = (harness.ROOT / "docs/consoles.md").read_text(encoding="utf-8")
    assert json.loads(page.split("```\n")[3]) == {
        **ALPHA, "hs_percent": 10.0, **COUNTED, **SAMPLED}


# 900,000 instructions in as many cycles and a fifth, in 2 s.
COUNTED = {"instructions_per_s": 450000.0, "ipc": 0.833}
SAMPLED = {"samples": 4, "samples_lost": 2, "functions": [
    {"function": "0x80200010", "mode": "kernel", "percent": 80.0},
    {"function": "0x1000", "mode": "user", "percent": 20.0}]}


def test_the_share_of_a_vcpu_that_hardly_ran():
    """A share of next to nothing is not shown: it would be taken for load."""
    counted = {"instructions": counts.Count(1, 0, 0)}
    before = types.SimpleNamespace(hs_insns=0, counted=counted)
    after = types.SimpleNamespace(hs_insns=50, counted=counted)
    for cpu_percent, shown in ((None, None), (0.0, None), (0.04, None), (0.05, 100.0)):
        assert looks.hs_percent(before, after, cpu_percent) == shown


def test_counts(fake_machine):
    """Instructions and cycles of alpha at one moment; what was begun is ended."""
    lines, _ = top(fake_machine.path, "--once", "--json", "--counts")
    alpha, beta, _ = (schemas.read("tally-top", line) for line in lines)
    assert alpha == {**ALPHA, **COUNTED, "hs_percent": 10.0}
    assert beta["ipc"] is None is beta["not_counted"]
    assert [command for command in fake_machine.commands if "observe " in command] == [
        "observe alpha 0x2:uk --json", "observe alpha 0x1:uk --json", "unobserve 7", "unobserve 9"]


def test_counts_in_the_table(fake_machine):
    table = top(fake_machine.path, "--once", "--counts")[0]
    assert table[1].split()[6:10] == ["HS%", "INSN/S", "IPC", "HS-I/S"]
    assert table[2].split()[6:10] == ["10.0", "450k", "0.83", "50000"]


def test_functions(fake_machine):
    """Of alpha, weighed by the events for which samples stand; beta's guest has the counter."""
    lines, _ = top(fake_machine.path, "--once", "--json", "--functions")
    alpha, beta, new = (schemas.read("tally-top", line) for line in lines)
    assert alpha == {**ALPHA, **SAMPLED}
    assert (beta["samples"], beta["functions"]) == (0, [])
    assert beta["not_sampled"] == "the guest counts something else on that counter"
    assert new["functions"] is None
    assert fake_machine.commands[:5] == [
        "vms --json", "samples", "sample alpha 0x1:uk 200hz --json",
        "sample beta 0x1:uk 200hz --json", "samples"]
    assert fake_machine.commands[-2:] == ["unobserve 21", "unobserve 22"]


@pytest.mark.parametrize("command", [(TOOL, "--functions"),
                                     (harness.ROOT / "tools/perf-vms", "top")],
                         ids=["tally-top", "perf-vms"])
def test_functions_below_the_table(fake_machine, command):
    """`perf-vms top`, as perf's users type it, is the same."""
    lines, _ = top(fake_machine.path, "--once", "--top", "1", command=command)
    assert lines[5:] == ["", "alpha: 4 samples, 2 lost", " 80.00%  kernel  0x80200010",
                         "", "beta: 0 samples",
                         "  vcpu 0 is not sampled: the guest counts something else on that counter"]


class Kernel:
    """Of an Image that relocates itself."""

    def __init__(self, at=None):
        self.at, self.movable = at, at is None

    def moved(self, distance):
        return Kernel(distance)


def test_where_a_kernel_is(monkeypatch):
    """It is looked for again when there are twice as many samples of this life, until it is found;
    in the next life anew. Of a VM without a file, and of one that is nowhere else, never."""
    asked = []

    def find(_, samples):
        asked.append(len(samples))
        if len(samples) < 4:
            raise functions.slides.Unknown("too few")
        return 7

    monkeypatch.setattr(functions.slides, "find", find)
    named = types.SimpleNamespace(kernels={"alpha": Kernel(), "beta": Kernel(1)})
    places = functions.Places(named)
    for number, n, tried, at, why in (
            (1, 0, [], None, None), (1, 2, [2], None, "too few"), (1, 1, [], None, "too few"),
            (1, 1, [4], 7, None), (1, 9, [], 7, None), (2, 1, [1], None, "too few"),
            (2, 3, [4], 7, None)):
        places.look("alpha", number, [{}] * n)
        assert (asked, named.kernels["alpha"].at, places.why.get("alpha")) == (tried, at, why)
        asked.clear()
    for vm in ("beta", "gamma"):
        places.look(vm, 1, [{}] * 9)
    assert asked == [] and named.kernels["beta"].at == 1 and "gamma" not in named.kernels
    sampled = functions.Sampled(collections.Counter(), 0, 0, None, "too few")
    assert pane([types.SimpleNamespace(vm="alpha", vcpu=0, sampled=sampled)], 1)[2:] == [
        "  no names of its kernel yet: too few"]


def test_share_of_hs(fake_machine):
    """100,000 of 1,000,000 instructions; beta does not run. What was begun is ended."""
    lines, _ = top(fake_machine.path, "--once", "--json", "--hs-share")
    assert [json.loads(line)["hs_percent"] for line in lines] == [10.0, None, None]
    assert [command for command in fake_machine.commands if command.startswith("observe ")] == [
        "observe alpha 0x2:uk --json"]
    assert fake_machine.commands[-1] == "unobserve 7"


TABLE = """\
tally-top: 1 of 2 VMs run, 3 vcpus; rates of 2.000 s of the machine's time
VM              VCPU HART STATE     CPU% STEAL%   HS%  HS-I/S EXIT/S CTR OVF/S  ECALL  TIMER\
    IRQ  LCOFI   MMIO    CSR    WFI  OTHER
beta               0    3 off       62.5   35.0     -   50000  42000   1     2      0   1500\
   3000   4500   6000   7500   9000  10500
alpha              0    3 running   25.0   35.0     -   50000   1400   1     2      0     50\
    100    150    200    250    300    350
beta               1    3 off          -      -     -       -      -   1     -      -      -\
      -      -      -      -      -      -
"""


def test_table(fake_machine):
    """Sorted, what is not known last; the next table follows after an empty line."""
    lines, _ = top(fake_machine.path, "--batch", "-n", "2", "--sort", "cpu")
    assert "\n".join(lines[:6]) == TABLE
    assert lines[6] == TABLE.splitlines()[0] and len(lines) == 11


def test_nobody_reads(fake_machine):
    """As behind `| head -1`: no words about it."""
    with subprocess.Popen([TOOL, "--socket", fake_machine.path, "-d", "0.01", "--batch"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=harness.GUARD) == 0
        assert process.stderr.read() == b""


def test_wrong_use(fake_machine, tmp_path):
    for words, why in ((["-d", "0"], "not a positive"), (["-n", "0"], "not a positive"),
                       (["--once", "-n", "3"], "exclude"), (["--sort", "age"], "invalid choice"),
                       (["--top", "0"], "not a positive"), (["-F", "0"], "not from 1"),
                       (["-e", "nonsense"], "none of that name"),
                       (["--symbols", str(tmp_path / "none")], "none")):
        lines, complaints = top(fake_machine.path, *words, status=2)
        assert lines == [] and why in complaints[-1]
    nobody = tmp_path / "nobody"
    assert top(nobody, "--once", status=4) == (
        [], [f"tools/tally-top: nobody listens at {nobody}"])


def test_an_older_tally(tmp_path):
    """Which does not tell processor time."""
    old = fakes.Asked(tmp_path / "old", lambda command: fakes.told(
        [{key: value for key, value in line.items() if key != "time_us"}
         for line in fakes.looked(command, 0)]))
    assert top(old.path, "--once", status=6) == (
        [], ["tools/tally-top: this Tally does not tell 'time_us'"])
    old.end()


class Terminal:
    """The tool on a terminal, which looks when it is told to. What it draws is read by pyte."""

    def __init__(self, path, lines=24, columns=80, words=("-d", "1000000")):
        self.child = pexpect.spawn(str(TOOL), ["--socket", str(path), *words],
                                   encoding="utf-8", timeout=harness.GUARD, echo=False,
                                   dimensions=(lines, columns), env={**os.environ, "TERM": "linux"})
        self.screen = pyte.Screen(columns, lines)
        self.stream = pyte.Stream(self.screen)

    def shown(self, wanted):
        """Reads until wanted(lines) is true; the lines."""
        while not wanted(lines := [line.rstrip() for line in self.screen.display]):
            self.stream.feed(self.child.read_nonblocking(65536, timeout=harness.GUARD))
        return lines

    def vms(self, *names):
        """Reads until these are the VMs, in this order; their lines."""
        return self.shown(lambda lines: [line.split()[0] for line in lines[3:] if line]
                          == list(names))[3:]

    def at_the_end(self, lines):
        """Whether the last line is shown. If not, goes there: each look may add lines behind it."""
        if re.match(r"arrows: \d+-(\d+) of \1;", lines[1]):
            return True
        self.press(NEXT)
        return False

    def resize(self, lines, columns):
        self.screen.resize(lines, columns)
        self.child.setwinsize(lines, columns)

    def press(self, key):
        self.child.send(key)

    def status(self):
        """At its end, behind what it says then."""
        self.child.expect(pexpect.EOF)
        self.child.close()
        return self.child.exitstatus, self.child.before


@pytest.fixture
def terminal(fake_machine):
    """(lines, columns) -> Terminal."""
    with contextlib.ExitStack() as stack:
        def start(**size):
            made = Terminal(fake_machine.path, **size)
            stack.callback(made.child.close, force=True)
            return made
        yield start


def colours(top_):
    """{(VM, vcpu): the colour of the row's begin and end}, as far as the table is shown."""
    found = {}
    for n, line in enumerate(top_.screen.display[3:], 3):
        cells = top_.screen.buffer[n]
        if line.strip():
            found[tuple(line.split()[:2])] = cells[0].fg, cells[len(line.rstrip()) - 1].fg
    return found


def test_colours(terminal, monkeypatch):
    """Of rows, which keep them in any order; none with NO_COLOR."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    top_ = terminal()
    top_.vms("alpha", "beta")
    top_.press(" ")
    top_.vms("alpha", "beta", "beta")
    assert colours(top_) == {("alpha", "0"): ("red", "red"), ("beta", "0"): ("blue", "blue"),
                             ("beta", "1"): ("blue", "blue")}
    assert {cell.fg for n in range(3) for cell in top_.screen.buffer[n].values()} == {"default"}
    top_.press("c")
    top_.vms("beta", "alpha", "beta")
    assert colours(top_)["alpha", "0"] == ("red", "red")
    top_.press("q")
    top_.status()
    monkeypatch.setenv("NO_COLOR", "1")
    plain = terminal()
    plain.vms("alpha", "beta", "beta")
    plain.press(" ")
    plain.vms("alpha", "beta", "beta")
    assert set(colours(plain).values()) == {("default", "default")}


def test_colour_of_a_row():
    for state, cpu, steal, wanted in (("off", 90, 90, "blue"), ("running", 20, 20.1, "red"),
                                      ("running", 20, 20, "yellow"), ("asleep", 0, 10, "red"),
                                      ("running", 90, 10, "yellow"), ("running", 0, 9.9, None),
                                      ("running", None, None, None)):
        assert table.colour({"state": state, "cpu_percent": cpu, "steal_percent": steal}) == wanted


HEAD = "VM              VCPU HART STATE     CPU% STEAL%   HS%  HS-I/S EXIT/S CTR OVF/S"


def test_switches(fake_machine, terminal):
    """Guests are counted and sampled from the key on, until the key again."""
    top_ = terminal(lines=24, columns=100)
    top_.shown(lambda lines: lines[2].startswith(HEAD))
    top_.press("f")
    top_.shown(lambda lines: lines[6:12] == [
        "", "alpha: 4 samples, 2 lost", " 80.00%  kernel  0x80200010", " 20.00%  user    0x1000",
        "", "beta: 0 samples"])
    top_.press("i")
    top_.shown(lambda lines: "INSN/S   IPC" in lines[2])
    top_.press(" ")
    top_.shown(lambda lines: lines[3].split()[6:9] == ["10.0", "450k", "0.83"])
    top_.press("i")
    top_.shown(lambda lines: "INSN/S" not in lines[2])
    top_.press("f")
    top_.shown(lambda lines: not any(lines[6:]))
    top_.press(" ")
    top_.press("q")
    assert top_.status()[0] == 0
    # The screen may change before all is ended: the key's own look and that of the space follow.
    last = max(n for n, command in enumerate(fake_machine.commands)
               if command.startswith("unobserve"))
    assert fake_machine.commands[last + 1:] == ["vms --json", "exits --json", "pmu --json"] * 2
    assert {"unobserve %d" % n for n in (7, 9, 21, 22)} <= set(fake_machine.commands)


def test_terminal(terminal):
    """Keys sort, turn, look at once and leave."""
    top_ = terminal()
    top_.shown(lambda lines: lines[3].split()[3:6] == ["running", "-", "-"] and lines[4])
    top_.press(" ")
    top_.vms("alpha", "beta", "beta")
    rows = [HEAD, *(line[:len(HEAD)].rstrip() for line in (
        TABLE.splitlines()[3], TABLE.splitlines()[2], TABLE.splitlines()[4]))]
    top_.shown(lambda lines: "2.000 s" in lines[0] and lines[2:6] == rows)
    # What is not known comes last.
    for keys, cpu in (("c", ["62.5", "25.0"]), ("cr", ["25.0", "62.5"]), ("e", ["62.5", "25.0"]),
                      ("n", ["25.0", "62.5"])):
        top_.press(keys)
        top_.shown(lambda lines, cpu=cpu: [line[35:40].strip() for line in lines[3:5]] == cpu)
    top_.press("q")
    assert top_.status()[0] == 0


TIMES = 300


def test_a_small_terminal(terminal):
    """Columns are left out whole, and lines that have no room; a window that changes is noticed."""
    top_ = terminal(lines=4, columns=41)
    top_.shown(lambda lines: lines[3:] == ["alpha              0    3 running      -"])
    # As soon as all is drawn it waits for a key; many times, because a change just then is lost
    # only by a tool that looks first and waits afterwards.
    for _ in range(TIMES):
        top_.resize(24, 80)
        top_.shown(lambda lines: lines[2] == HEAD and lines[3][-1:] == "-" and "beta" in lines[4])
        top_.resize(4, 41)
        top_.shown(lambda lines: lines[3:] == ["alpha              0    3 running      -"])
    top_.child.kill(signal.SIGTERM)
    assert top_.status()[0] == 0


DOWN, NEXT, PREVIOUS = "\x1b[B", "\x1b[6~", "\x1b[5~"
SIXTEEN = ["v%d" % n for n in range(16)]


def test_sixteen(running, tmp_path):
    """Sixteen VMs at 80x24 and less, counted and sampled; one has no PMU of its own, one is stopped
    and started while looked at."""
    tree = tmp_path / "sixteen.dts"
    tree.write_text(bare_guests.tree(dict.fromkeys(SIXTEEN, FOREVER), memory=8,
                                     own={"v15": 'pmu = "off";'}), encoding="utf-8")
    run = running(tree)
    run.wait_for_guests()
    screen = Terminal(run.path, 24, 80, ["-d", "0.2", "--counts", "--functions", "--top", "1",
                                         "--timeout", str(harness.GUARD)])

    def row(name, state):
        shown = re.compile(rf"{name} +0 +0 {state} +([\d.]+ +){{3}}\d\S* +1.00 ")
        return lambda lines: any(shown.match(line) for line in lines)

    with contextlib.closing(screen.child):
        lines = screen.shown(lambda lines: "16 of 16 VMs run" in lines[0] and lines[23])
        assert lines[0].endswith("of the machine's time")
        assert [line.split()[0] for line in lines[3:19]] == SIXTEEN
        assert re.match(r"arrows: 1-21 of \d+; keys: q quits", lines[1])
        # The last VM is looked at as the others are, though its guest has no counter.
        screen.shown(row("v15", "running"))
        screen.shown(lambda lines: screen.at_the_end(lines) and
                     re.fullmatch(r"v15: \d+ samples", lines[22]) and
                     re.fullmatch(r"[\d.]+%  kernel  busy", lines[23].strip()))
        screen.press(PREVIOUS * 9 + DOWN)
        screen.shown(lambda lines: lines[1].startswith("arrows: 2-22 of") and "v1 " in lines[3])
        screen.press(PREVIOUS)
        assert run.ctl("stop", "v3")[0] == 0
        screen.shown(lambda lines: lines[0].startswith("tally-top: 15 of 16") and
                     re.match(r"v3 +0 +0 off +0.0 +0.0 +- +- +-", lines[6]))
        assert run.ctl("start", "v3")[0] == 0
        screen.shown(row("v3", "running"))
        for height, width in ((8, 40), (3, 12), (1, 2), (24, 80)):
            screen.resize(height, width)
            screen.shown(lambda lines, n=min(5, width - 1): lines[0][:n] == "tally"[:n])
        screen.shown(row("v3", "running"))
        screen.press("q")
        assert screen.status()[0] == 0
    assert run.ctl("observed") == (0, [], [])
    assert run.ctl("poweroff")[0] == 0


GUEST_WINS = "the guest counts something else on that counter"


@harness.both_backends
def test_functions_of_guests(running, backend):
    """alpha is in its loop, by name, and takes a cycle for each instruction; beta counts
    instructions in U itself, so those of both modes are neither counted nor sampled. Nothing of it
    goes on."""
    run = running({"alpha": FOREVER, "beta": "kind=waits filter=u own=yes"}, backend=backend)
    run.read_until("waits: begins")
    words = ["--counts", "--functions", "-e", "instructions", "-F", "1000", "--symbols",
             f"alpha={harness.BUILD}/guests/bare.elf", "--timeout", str(harness.GUARD)]
    alpha = {}
    with subprocess.Popen([TOOL, "--socket", run.path, "--json", "-d", "0.2", *words],
                          stdout=subprocess.PIPE, text=True) as tool:
        # Until alpha has come to do anything in so much of this computer's time.
        while not (alpha.get("functions") and alpha["ipc"]):
            alpha, beta = (schemas.read("tally-top", tool.stdout.readline()) for _ in "ab")
        tool.terminate()
    assert (alpha["functions"][0]["function"], alpha["functions"][0]["mode"]) == ("busy", "kernel")
    assert sum(each["percent"] for each in alpha["functions"]) == pytest.approx(100, abs=0.1)
    assert (alpha["ipc"], alpha["samples_lost"], alpha["not_sampled"]) == (1, 0, None)
    assert alpha["instructions_per_s"] > 0
    assert beta["not_counted"] == beta["not_sampled"] == GUEST_WINS
    assert (beta["samples"], beta["functions"], beta["ipc"]) == (0, [], None)
    assert run.ctl("observed") == (0, [], [])

    screen = Terminal(run.path, 24, 100, ["-d", "0.2", *words])
    with contextlib.closing(screen.child):
        screen.shown(lambda lines: lines[5] == f"beta vcpu 0: not counted: {GUEST_WINS}" and
                     re.fullmatch(r"alpha: [1-9]\d* samples", lines[7]) and
                     re.fullmatch(r" *[\d.]+%  kernel  busy", lines[8]) and
                     f"  vcpu 0 is not sampled: {GUEST_WINS}" in lines)
        assert run.ctl("observed")[1]
        screen.press("f")
        screen.shown(lambda lines: not any(lines[6:]))
        screen.press("i")
        screen.shown(lambda lines: not any(lines[5:]))
        # The screen may change before all is ended.
        while run.ctl("observed") != (0, [], []):
            pass
        screen.press("q")
        assert screen.status()[0] == 0
    assert run.ctl("observed") == (0, [], [])
    assert run.ctl("poweroff")[0] == 0


def test_the_machine_ends(fake_machine, terminal):
    """The terminal is given back first."""
    top_ = terminal()
    top_.vms("alpha", "beta")
    fake_machine.end()
    top_.press(" ")
    status, said = top_.status()
    assert status == 6
    # The linux terminal has no screen of its own for programs: the cursor and keys are given back.
    assert said.endswith("tools/tally-top: the machine has ended\r\n") and "\x1b[?25h" in said
