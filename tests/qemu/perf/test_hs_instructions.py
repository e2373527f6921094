# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms record -e hs-instructions and the prompt's account: how many exits of each kind
there were, and where Tally's instructions went, to the instruction."""

import json
import re
import subprocess
import threading

import pytest

import bare_guests
import harness
import measured
import perf_runs
from perflib import samples
from platforms import SAME_COMPILER, want_instret
import prompts
import schemas
from tallylib import tally_ctl
import tracing

TOOL = perf_runs.TOOL
FOREVER = bare_guests.FOREVER
ROUNDS = 50
ASKS = f"kind=asks rounds={ROUNDS}"
# What guests/bare/pmu/asks.c does in a round.
ROUND = {("ecall", "BASE get_spec_version"): 1, ("ecall", "HSM hart_get_status"): 2,
         ("ecall", "PMU num_counters"): 3, ("ecall", "PMU unknown function"): 4,
         ("ecall", "unknown extension"): 5, ("load", "PLIC"): 6, ("store", "PLIC"): 7,
         ("csr", "scountovf"): 8}
# What each guest does at its beginning and its end.
LIFE = {("ecall", "BASE probe_extension"): 1, ("ecall", "SRST system_reset"): 1}
# What it calls besides in each round with hostile=yes.
HOSTILE = {("ecall", "unknown extension"): 1, ("ecall", "HSM unknown function"): 1,
           ("ecall", "BASE unknown function"): 1}
# Of another kind that there may be: the operator, the end of time slices, a life's preparation.
# An account may begin within a stay, whose rest then has no exit.
KINDS = ("ecall", "timer", "irq", "lcofi", "mmio", "csr", "wfi", "other", "loading")
BESIDE = {("irq", "external"), ("irq", "ipi"), ("timer", "")} | {("none", kind) for kind in KINDS}
# The same of a guest that has just begun.
BEGUN = BESIDE | {("ecall", "BASE probe_extension")}


def totals(machine, name):
    """What `exits` tells of a VM's first vcpu."""
    (line,) = (line for line in machine.objects("exits") if line["vm"] == name)
    return line


def accounts(machine):
    """{(vm, vcpu): (the observer's line, {(cause, what): row})}"""
    found = {}
    for line in machine.objects("accounts"):
        who = line["vm"], line["vcpu"]
        if "observation" in line:
            assert who not in found
            found[who] = line, {}
        else:
            rows = found[who][1]
            assert (line["cause"], line["what"]) not in rows
            rows[line["cause"], line["what"]] = line
    for head, rows in found.values():
        check_sum(head, rows)
    return found


def check_sum(head, rows):
    """The rows are all that was counted, and each is possible."""
    assert sum(row["instructions"] for row in rows.values()) == head["value"]
    for key, row in rows.items():
        assert key[0] != "none" or not row["exits"]
        assert ("least" in row) == (row["exits"] > 0)
        if "least" in row:
            assert row["least"] * row["exits"] <= row["instructions"]
            assert row["instructions"] <= row["most"] * row["exits"]


def exits_of(rows):
    return {key: row["exits"] for key, row in rows.items() if key not in BESIDE}


def rows_of_rounds(machine):
    """Of alpha, which goes on: its rows when it has come to ten rounds. All rows are of one moment,
    so they are in the proportion of a round."""
    while True:
        _, rows = accounts(machine)["alpha", 0]
        rounds = [rows[key]["exits"] / n if key in rows else 0 for key, n in ROUND.items()]
        assert max(rounds) - min(rounds) <= 1
        if min(rounds) > 10:
            return rows


def wait_off(machine, vm):
    """Until the VM is off."""
    while any(line["vm"] == vm and line["state"] != "off" for line in machine.objects("vms")):
        pass


def one_life(run, machine, bootargs_hostile=False):
    """Of alpha, which is off: what `exits` tells before and after it, and its account."""
    before = totals(machine, "alpha")
    (line,) = machine.objects("account alpha")
    assert line["ended"] is None
    assert machine.ask("start alpha")[0] == 0
    wait_off(machine, "alpha")
    after = totals(machine, "alpha")
    head, rows = accounts(machine)["alpha", 0]
    assert head["ended"] == "the vcpu stopped"
    expected = dict(LIFE)
    for each in (ROUND, HOSTILE) if bootargs_hostile else (ROUND,):
        for key, times in each.items():
            expected[key] = expected.get(key, 0) + times * ROUNDS
    assert exits_of(rows) == expected
    machine.objects(f"unobserve {head['observation']}")
    assert accounts(machine) == {}
    return before, after, rows


@harness.both_backends
def test_every_exit_has_its_row(running, backend):
    """So many of each kind as the guest makes, and each takes what it takes without an account:
    Tally's instructions by kind of exit are those of the life before, in which nobody recorded."""
    run = running({"alpha": ASKS, "beta": FOREVER}, backend=backend)
    run.read_until("vm alpha: ended")
    with tally_ctl.Machine(str(run.path), timeout=harness.GUARD) as machine:
        before, after, rows = one_life(run, machine)
    for kind, causes in (("ecall", {"ecall"}), ("mmio", {"load", "store"}), ("csr", {"csr"})):
        mine = [row for (cause, _), row in rows.items() if cause in causes]
        assert after[kind] == 2 * before[kind] == 2 * sum(row["exits"] for row in mine)
        spent = after["hs_instructions_by"][kind]
        assert spent == 2 * before["hs_instructions_by"][kind]
        assert spent == 2 * sum(row["instructions"] for row in mine)
    # The same call takes the same each time.
    for key in ROUND:
        assert rows[key]["least"] == rows[key]["most"], key


def test_a_hostile_guest(running):
    """Numbers of extensions and functions without an end: none is lost, or somebody else's."""
    run = running({"alpha": ASKS + " hostile=yes", "beta": FOREVER})
    run.read_until("vm alpha: ended")
    with tally_ctl.Machine(str(run.path), timeout=harness.GUARD) as machine:
        one_life(run, machine, True)


def test_equals_what_is_counted(running):
    """While the guest runs: another observer of hs-instructions, looked at in the same stay, has
    counted as much; and the exits are in the proportion that the guest makes."""
    run = running({"alpha": ASKS + " repeat=yes", "beta": FOREVER})
    with tally_ctl.Machine(str(run.path), timeout=harness.GUARD) as machine:
        (account,) = machine.objects("account alpha")
        (count,) = machine.objects("observe alpha 0xf0109")
        between = set()
        for _ in range(5):
            lines = {line["observation"]: line["value"] for line in machine.objects("observed")}
            between.add(lines[account["observation"]] - lines[count["observation"]])
        assert len(between) == 1
        rows = rows_of_rounds(machine)
        assert set(rows) - BEGUN == set(ROUND)
        machine.objects("unobserve")
        assert accounts(machine) == {}
    assert run.ctl("poweroff")[0] == 0
    run.read_until(None)
    for vcpu in re.findall(r"longest-stay=(\d+)", run.console):
        assert int(vcpu) <= harness.LONGEST_STAY


@harness.both_backends
def test_moves(running, two_harts, backend, roaming):
    """A vcpu that goes to the other hart after each turn: its account goes with it."""
    run = running({"alpha": ASKS + " repeat=yes"}, vcpus=("0 1",), backend=backend,
                  options=[*two_harts, *roaming])
    with tally_ctl.Machine(str(run.path), timeout=harness.GUARD) as machine:
        machine.objects("account alpha")
        (count,) = machine.objects("observe alpha 0xf0109")
        moved = 0
        while moved < 3:
            before = totals(machine, "alpha").get("moves", 0)
            accounts(machine)
            moved += totals(machine, "alpha").get("moves", 1) > before
        assert count["ended"] is None
        assert set(rows_of_rounds(machine)) - BEGUN == set(ROUND)
        machine.objects("unobserve")
    assert run.ctl("poweroff")[0] == 0
    run.read_until(None)
    assert run.process.wait() == harness.OK


def toggle(path, end, ended):
    """Accounts come and go, until the event is set."""
    with tally_ctl.Machine(str(path), timeout=harness.GUARD) as machine:
        try:
            while not end.is_set():
                for vm in ("alpha", "beta"):
                    machine.objects(f"account {vm}")
                for _ in range(3):
                    ended += [head["ended"] for head, _ in accounts(machine).values()]
                machine.objects("unobserve")
        except tally_ctl.NoAnswer as error:
            assert str(error) == "the machine has ended"


@harness.both_backends
def test_guests_count_the_same(running, backend):
    """alpha counts under all filters, and its values are those of kind=measure; beta samples
    itself and judges each value, flag and interrupt of random sequences."""
    run = running({"alpha": prompts.SHORT_ROWS,
                   "beta": "sampling=chance seed=2 sequences=200 sharers=3"}, backend=backend)
    end, ended = threading.Event(), []
    program = threading.Thread(target=toggle, args=(run.path, end, ended))
    program.start()
    while not ("[alpha] measure: round 1 " in run.console and "vm beta: ended" in run.console and
               len(ended) > 100):
        assert program.is_alive()
        run.read_line()
    end.set()
    program.join()
    assert run.ctl("poweroff")[0] == 0
    run.read_until(None)
    assert run.process.wait() == harness.OK, run.console
    result = harness.Result(harness.OK, run.console)
    prompts.check_rounds(result.vm("alpha"), measured.rounds(1, prompts.SHORT))
    assert result.vm("beta")[-1].endswith(" 0 wrong")
    assert None in ended


@harness.both_backends
def test_the_guest_takes_the_clock(running, backend):
    """Of two filters the second is counted with instret, by which HS measures stays: the account
    ends, with all that was counted until then. One that comes later is refused."""
    want_instret()
    run = running({"alpha": "kind=waits filter=u own=both", "beta": FOREVER}, backend=backend)
    refused = "the guest counts something else on that counter"
    run.read_until("waits: begins")
    with tally_ctl.Machine(str(run.path), timeout=harness.GUARD) as machine:
        (line,) = machine.objects("account alpha")
        assert line["ended"] == refused
        machine.objects("unobserve")
        machine.ask("stop alpha")
        run.read_until("vm alpha: stopped")
        machine.objects("account alpha")
        machine.ask("start alpha")
        run.console = ""
        run.read_until("waits: begins")
        head, rows = accounts(machine)["alpha", 0]
        assert head["ended"] == "the guest needed that counter"
        assert head["value"] > 1000 and ("ecall", "PMU counter_config_matching") in rows
        assert accounts(machine)["alpha", 0] == (head, rows)


def record(run, file, *words, status=0):
    """What the tool prints, and says besides."""
    done = subprocess.run([TOOL, "record", "-e", "hs-instructions", "--socket", run.path,
                           "--timeout", str(harness.GUARD), "-o", file, *words],
                          capture_output=True, text=True, check=False, timeout=harness.GUARD)
    assert done.returncode == status, done
    return done.stdout, done.stderr


def check_file(objects):
    """Each vcpu's rows add up to its count."""
    for end in (line for line in objects if line["type"] == "end"):
        rows = [line for line in objects if line["type"] == "exits" and
                (line["vm"], line["vcpu"]) == (end["vm"], end["vcpu"])]
        assert sum(row["instructions"] for row in rows) == end["count"]


def test_the_tool(running, tmp_path):
    """Its file, table and objects say the same, and folded stacks can be made of them."""
    run = running({"alpha": ASKS + " repeat=yes", "beta": FOREVER})
    file = tmp_path / "exits"
    rounds = perf_runs.exits_of(run, "alpha", "csr", 100)
    printed, _ = record(run, file, "--json", "--", *rounds)
    head, *objects = samples.read(file.read_text(encoding="utf-8").splitlines())
    assert (head["events"], head["vms"]) == (["hs-instructions"], ["alpha", "beta"])
    assert schemas.lines("perf-vms", printed, "record") == objects
    check_file(objects)
    assert {line["vm"] for line in objects if line["type"] == "end"} == {"alpha", "beta"}
    rows = {(line["cause"], line["what"]): line for line in objects
            if line["type"] == "exits" and line["vm"] == "alpha"}
    assert set(ROUND) <= set(rows) <= set(ROUND) | BEGUN
    folded = dict(line.rsplit(" ", 1) for line in subprocess.run(
        [TOOL, "folded", file], capture_output=True, text=True, check=True).stdout.splitlines())
    for stack, key in (("csr;scountovf", ("csr", "scountovf")),
                       ("ecall;HSM;hart_get_status", ("ecall", "HSM hart_get_status")),
                       ("ecall;PMU;unknown function", ("ecall", "PMU unknown function")),
                       ("ecall;unknown extension", ("ecall", "unknown extension"))):
        assert folded["alpha;hs;" + stack] == str(rows[key]["instructions"])
    done = subprocess.run([TOOL, "html", file, "-o", tmp_path / "page"], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 2 and "has exits instead of samples" in done.stderr
    assert sum(map(int, folded.values())) == sum(
        line["count"] for line in objects if line["type"] == "end")
    printed, _ = record(run, file, "--vm", "alpha", "--", *rounds)
    assert re.search(r"^alpha/0: [\d,]+ instructions in HS$", printed, re.M)
    (cost,) = set(re.findall(r"^ecall HSM hart_get_status +[\d,]+ +[\d,]+ +\d+\.\d\d %( +\d+)\1$",
                             printed, re.M))
    assert harness.KERNEL or not SAME_COMPILER or int(cost) == 41
    assert "beta" not in printed
    assert run.ctl("observed") == (0, [], [])


# Restarts alpha when ten rounds of it have been accounted, and waits until they are again.
AGAIN = """
import sys
sys.path.insert(0, sys.argv[1])
from tallylib import tally_ctl

with tally_ctl.Machine(sys.argv[2], timeout=float(sys.argv[3])) as machine:
    def wait(other):
        number = other
        while number == other:
            lines = machine.objects("accounts")
            number = next((line["observation"] for line in lines if "observation" in line), other)
            rounds = [line["exits"] for line in lines if line.get("what") == "scountovf"]
            if rounds < [80]:
                number = other
        return number
    first = wait(None)
    assert machine.ask("restart alpha")[0] == 0
    wait(first)
"""


def test_a_vm_that_restarts(running, tmp_path):
    """Its lives are added up, and that something is missing between them is said."""
    run = running({"alpha": ASKS + " repeat=yes", "beta": FOREVER})
    file = tmp_path / "exits"
    with tally_ctl.Machine(str(run.path), timeout=harness.GUARD) as machine:
        while not totals(machine, "alpha")["csr"]:
            pass
    _, said = record(run, file, "--vm", "alpha", "--", "python3", "-c", AGAIN,
                     harness.ROOT / "tools/lib", run.path, str(harness.GUARD))
    _, *objects = samples.read(file.read_text(encoding="utf-8").splitlines())
    check_file(objects)
    assert objects[-1]["reasons"] == ["the vcpu stopped"]
    assert objects[-1]["unsampled_ns"] > 0
    rows = {(line["cause"], line["what"]): line for line in objects if line["type"] == "exits"}
    # Nobody accounted its first beginning, and maybe not the second.
    assert rows.get(("ecall", "BASE probe_extension"), {"exits": 0})["exits"] <= 1
    assert set(ROUND) <= set(rows)
    assert "alpha/0: nothing was recorded for " in said


@pytest.mark.parametrize("chosen", ([], ["--vm", "beta"], ["--vm", "alpha"]))
def test_beside_a_trace(running, tmp_path, chosen):
    """A life of alpha that is accounted and traced, or beta is traced: each has what it has alone,
    and both the same."""
    run = running({"alpha": ASKS, "beta": FOREVER})
    run.read_until("vm alpha: ended")
    out = tmp_path / "trace.json"
    with tally_ctl.Machine(str(run.path), timeout=harness.GUARD) as machine:
        machine.objects("account alpha")
        done = subprocess.run(
            tracing.tracing(run, out, *chosen, "--", "python3", "-c",
                            tracing.WATCH, harness.ROOT / "tools/lib", run.path,
                            "alpha"),
            check=False, capture_output=True, text=True, timeout=harness.GUARD)
        assert done.returncode == 0, done.stderr
        before, after = map(json.loads, done.stdout.splitlines())
        head, rows = accounts(machine)["alpha", 0]
    assert exits_of(rows) == {**LIFE, **{key: n * ROUNDS for key, n in ROUND.items()}}
    # Its observer ends with the life; what clears it for the next one comes behind that.
    assert head["value"] <= after["hs_instructions"] - before["hs_instructions"]
    traced = tracing.Traced(out)
    stays = [event for event in traced.of("stay", "alpha/0")
             if before["time_us"] < event["ts"] < after["time_us"]]
    if "beta" in chosen:
        assert not stays and traced.instructions("beta/0") > 0
        return
    for name, key in ((key[1] if key[0] == "ecall" else key[0], key) for key in ROUND):
        if "unknown" in key[1]:
            continue
        found = [event["args"]["instructions"] for event in stays if event["name"] == name]
        assert (len(found), sum(found)) == (rows[key]["exits"], rows[key]["instructions"]), key


def test_two_recorders(running, tmp_path):
    """The second one is refused, and the first one has all."""
    run = running({"alpha": ASKS + " repeat=yes", "beta": FOREVER})
    with tally_ctl.Machine(str(run.path), timeout=harness.GUARD) as machine:
        (first,) = machine.objects("account alpha")
        _, said = record(run, tmp_path / "file", "--vm", "alpha", "--duration", "1", status=2)
        assert said == "tools/perf-vms: alpha/0: its exits are accounted already\n"
        (second,) = machine.objects("account alpha")
        assert second["ended"] == "its exits are accounted already"
        machine.objects(f"unobserve {second['observation']}")
        head, _ = accounts(machine)["alpha", 0]
        assert (head["observation"], head["ended"]) == (first["observation"], None)
        rows_of_rounds(machine)


def test_wrong_use(running, tmp_path):
    run = running({"alpha": FOREVER})
    for words, complaint in ((["-c", "1000"], "is not sampled: without -c, -F and -g"),
                             (["-g"], "is not sampled: without -c, -F and -g"),
                             (["-e", "cycles"], "hs-instructions is recorded alone"),
                             (["--vm", "gamma"], 'no VM is called "gamma"; there are: alpha')):
        _, said = record(run, tmp_path / "file", *words, status=2)
        assert complaint in said, words
    for command in ("account", "account alpha 1", "accounts 1"):
        status, lines, complaints = run.ctl(*command.split())
        assert (status, lines, len(complaints)) == (2, [], 1), command
    assert run.ctl("observed") == (0, [], [])
