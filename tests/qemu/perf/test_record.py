# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms record and the prompt's sample: every period gives one sample, at the instruction
behind it, and no guest counts anything else than without."""

import json
import re
import subprocess

import pytest

from bare_guests import FOREVER
import harness
import operator_trees
import operators
from operators import MS
from perf_runs import TOOL
from perflib import samples
from recordings import (CHEAP, OWN, cost, count_the_same, every_period, noted, record, taken,
                        until)
import replayed
from shared_memory import MIB, VM, vm
from tallylib import tally_ctl


@harness.both_backends
@OWN
def test_every_period_gives_one_sample(tmp_path, backend, own):
    every_period(tmp_path, own, backend=backend)


@harness.both_backends
def test_guests_count_the_same(running, backend):
    """beta samples itself and judges each value, flag and interrupt of random sequences."""
    beta = count_the_same(running, "sampling=chance seed=2 sequences=200 sharers=3",
                          backend=backend)
    assert beta[-1].endswith(" 0 wrong")


FIRST_RA = 0x80300000
# How long the operator waits, in ticks.
BEGINS, FRAME = 40 * MS, 20 * MS


def asked(tmp_path, alpha, commands, *others, **arguments):
    """What an operator in a VM is told of alpha: in the exact profile each request, and so each
    sample and each stay in HS, is the same in each run."""
    nodes = [VM.format(name=name, memory=16 * MIB, bootargs=args, hart=0, properties="")
             for name, args in (("alpha", alpha), *others)]
    result = operator_trees.run(
        tmp_path, *nodes, operator_trees.operator(
            commands, "control", ", ".join(f'"{name}"' for name in ("alpha", *dict(others))),
            operator_trees.samples_hz()),
        until=operators.ENDED, **arguments)
    assert result.status == harness.INTERRUPTED, str(result)
    return operators.answers(result)


@harness.both_backends
@pytest.mark.parametrize("paging", ["", "paging=yes"])
def test_callers(tmp_path, backend, paging):
    """They are those of the guest, as many as were asked for, and cost what is allowed."""
    depths = 0, 1, 16, 64
    allowed = {(0, "ssccfg"): 340, (0, "sbi"): 1900, (16, "ssccfg"): 2100, (16, "sbi"): 3400}
    told = asked(tmp_path, f"kind=chain frames=40 {paging}", [
        (BEGINS, "help"), *(one for depth in depths for one in [
            ("+0", f"sample alpha 0x2:uk {CHEAP} {depth}"), (f"+{FRAME}", "unobserve --json"),
            ("+0", "!")])], backend=backend)
    for n, depth in enumerate(depths):
        found = noted(told[3 * n + 3])
        assert len(found) > 50
        chain = [FIRST_RA + 16 * n for n in range(min(depth, 40))]
        assert all(sample.chain == chain for sample in found)
        assert {bool(sample.satp) for sample in found} == {bool(paging)}
        # The checks of a build with DEBUG=1 cost more than a short sample does.
        if (depth, backend) in allowed and not harness.KERNEL:
            assert cost(found) <= allowed[depth, backend], depth


@harness.short_on("ssccfg")
def test_moves(tmp_path, two_harts, backend, roaming):
    """A vcpu that goes to the other hart after each turn: no sample is missing or there twice, in
    the rings of both, and those of the file are in the order of time."""
    period = 300007
    alpha = vm("alpha", "kind=chain frames=3").replace("<0>", "<0 1>")
    commands = [("+0", "vms --json"), ("+0", f"sample alpha 0x2:uk {period} 2 --json"),
                (f"+{5 * FRAME}", "unobserve --json"), ("+0", "!")]
    result = operator_trees.run(
        tmp_path, alpha, operator_trees.operator([(BEGINS, "help"), *commands], "control",
                                                 more=operator_trees.samples_hz()),
        until=operators.ENDED, backend=backend, options=[*two_harts, *roaming])
    told = operators.answers(result)[1:]
    found = sorted(noted(told[3]), key=lambda sample: sample.ticks)
    (line,) = operators.objects(told[2])
    assert line["lost"] == line["late"] == 0
    assert len(found) == line["samples"] == line["value"] // period > 100
    assert [sample.number for sample in found] == list(range(1, len(found) + 1))
    assert {sample.hart for sample in found} == {0, 1}
    assert {tuple(sample.chain) for sample in found} == {(FIRST_RA, FIRST_RA + 16)}
    (_, *objects, end), _ = replayed.record(
        tmp_path / "samples", [(command, answer) for (_, command), answer in zip(commands, told)],
        "--vm", "alpha", "-g", "--max-stack", "2", "-c", str(period), "-e", "instructions")
    assert [(o["type"], o["hart"], o["ip"]) for o in objects] == [
        ("sample", sample.hart, f"{sample.pc:#x}") for sample in found]
    assert (end["samples"], end["count"], end["lost"]) == (len(found), line["value"], 0)


# Its kernel has asked for its filters when the operator begins. perf record takes the counter of
# cycles as well. The time is that of the machine.
TIME = "echo 'exits --json' | /test/tally-operator | sed -n 's/.*\"time_us\":\\([0-9]*\\).*/\\1/p'"
DEBIAN = f"""
perf stat -e instructions:u true 2>/dev/null
{replayed.STARTS}
for time in 1 2 3; do perf stat -x, -e instructions:u work 20000000 2>&1; done
{TIME}
perf record -q -e instructions:u -c 100000 -o /tmp/data work 20000000 2>&1
{TIME}
perf report -i /tmp/data -D 2>/dev/null | grep -c PERF_RECORD_SAMPLE
sleep 10
"""
# Periods, of which a ring has room for all samples.
USER, KERNEL = 1600033, 4000037
OF_DEBIAN = [("+0", f"sample alpha 0x2:u {USER} 3 --json"),
             ("+0", f"sample alpha 0x1:k {KERNEL} 3 --json"),
             (f"+{800 * MS}", f"unobserve {2 << 24 | 2} --json"), ("+0", "!"),
             (f"+{1500 * MS}", "unobserve --json"), ("+0", "!")]


@harness.short_on("ssccfg")
def test_beside_perf_in_the_guest(tmp_path, backend):
    """A Debian guest's perf stat and perf record count and sample what they do without; meanwhile
    its kernel's chains end where the kernel is entered."""
    result, told = replayed.beside_linux(tmp_path, DEBIAN, OF_DEBIAN, backend=backend)
    *said, counted, recorded, number = result.guest_output("alpha", "alpha")
    assert [line.split(",")[0] for line in said] == ["20000000"] * 3
    assert number == "200"
    begun, _, of_kernel, of_user = (operators.objects(told[n])[0] for n in (0, 1, 2, 4))
    found = noted(told[3]) + noted(told[5])
    for line, period in (of_user, USER), (of_kernel, KERNEL):
        assert (line["ended"], line["lost"], line["late"]) == (None, 0, 0)
        assert line["samples"] == line["value"] // period == sum(
            sample.events == period for sample in found)
    # Of work alone there are 80,000,000 instructions.
    assert of_user["value"] > 80000000
    assert begun["at_ns"] < 1000 * int(counted) < 1000 * int(recorded) < of_user["at_ns"]
    user = [sample for sample in found if sample.events == USER]
    # Behind a process's last instruction before a trap is the kernel's first.
    assert len({sample.pc for sample in user if sample.mode() == "kernel"}) <= 1
    kernel = [sample for sample in found if sample.events == KERNEL]
    # And behind the kernel's last one a process's next.
    assert sum(sample.mode() == "user" for sample in kernel) < 0.05 * len(kernel)
    kernel = [sample for sample in kernel if sample.mode() == "kernel"]
    mapped = [sample for sample in kernel if sample.satp]
    chained = [sample for sample in mapped if len(sample.chain) > 2]
    assert len(chained) > 0.9 * len(mapped) > 100


def test_the_file_of_chains_that_are_cut(running, tmp_path):
    """Each sample of one says so, and the end and the report how many there are."""
    run = running({"alpha": "kind=chain frames=5 end=errno", "beta": "kind=chain frames=5"})
    while run.console.count("chain: begins") < 2:
        run.read_line()
    file = tmp_path / "samples"
    found, said = record(run, file, "-g", "-c", "77777", "-e", "instructions", "--",
                         *until(file, 20, "alpha", "beta"))
    chain = [f"{FIRST_RA + 16 * n:#x}" for n in range(5)]
    *found, alpha, beta = found[1:]
    assert all(o["callchain"] == chain for o in found)
    assert {(o["vm"], o.get("cut")) for o in found} == {("alpha", True), ("beta", None)}
    assert alpha["cut"] == alpha["samples"] > 10 and beta["cut"] == 0 < beta["samples"]
    assert f"0 lost, chains of {alpha['cut']} end at a word that is no code ]" in said
    assert said.count("no code") == 1


@pytest.mark.parametrize("end", ["cycle", "mmio", "wild", "odd", "beyond", "errno"])
def test_hostile_callers(tmp_path, end):
    """The chain ends there, or has as many as are allowed; a word that is no code is told."""
    told = asked(tmp_path, f"kind=chain frames=5 end={end} paging=yes", [
        (BEGINS, "sample alpha 0x2:uk 20000 64"), (f"+{FRAME}", "unobserve"), ("+0", "!")],
        ("beta", FOREVER))
    found = noted(told[2])
    chain = [FIRST_RA + 16 * n for n in range(5)]
    assert len(found) > 50
    assert all(sample.chain == (chain * 13)[:64 if end == "cycle" else 5] for sample in found)
    assert {sample.flags & samples.CUT for sample in found} == {
        samples.CUT if end == "errno" else 0}


@harness.both_backends
def test_callers_for_many(tmp_path, backend):
    """As many observers as there may be, whose periods are over at the same instruction, of a guest
    whose chains take longest: each sample has its callers, and no stay is longer than those of
    guests."""
    depths = (3, 64, 17, 64, 1, 64, 40, 64)
    # They begin where nothing is executed, so all have the same first instruction.
    told = asked(tmp_path, "kind=chain frames=64 paging=deep", [
        (BEGINS, "stop alpha"), (f"+{FRAME}", "vms --json"),
        *operators.at_once(*(f"sample alpha 0x2:uk 1000000 {depth} --json" for depth in depths),
                           "start alpha"),
        (f"+{FRAME}", "unobserve --json"), ("+0", "!")], ("beta", FOREVER), backend=backend)
    assert operators.objects(told[1])[0]["state"] == "off"
    begun = [operators.objects(answer)[0] for answer in told[2:2 + len(depths)]]
    numbers = {line["observation"]: depth for line, depth in zip(begun, depths)}
    lines, found = operators.objects(told[-2]), noted(told[-1])
    assert {line["lost"] for line in lines} == {0}
    (periods,) = {line["samples"] for line in lines}
    assert periods > 5 and len(found) == periods * len(depths)
    chain = [FIRST_RA + 16 * n for n in range(64)]
    assert all(sample.chain == chain[:numbers[sample.observation]] for sample in found)
    assert all(len({sample.pc for sample in found if sample.number == n}) == 1
               for n in range(1, periods + 1))


@harness.short_on("sbi")
def test_requests_have_stays_of_their_own(running, backend):
    """All observers that two vcpus may have are asked for, and ended by one command. No stay is
    longer than those of guests, though understanding the command takes half of that."""
    run = running({"alpha": "kind=waits filter=u own=yes", "beta": FOREVER}, backend=backend)
    run.read_until("waits: begins")
    with tally_ctl.Machine(str(run.path), timeout=harness.GUARD) as machine:
        for vm in ("alpha", "beta"):
            for n in range(8):
                machine.objects(f"sample {vm} {('0x2:uk', '0x1:uk', '0x2:k')[n % 3]} 100000 9")
        # Longer and longer, by words without letters.
        for command in ["observed" + " " * n for n in range(40)] + ["unobserve"]:
            assert len(machine.objects(command)) == 16
        assert machine.objects("observed") == []
        longest = max(told["longest_stay"] for told in machine.objects("exits"))
    assert longest <= harness.LONGEST_STAY


@pytest.mark.parametrize("harts", [1, pytest.param(2, marks=pytest.mark.long)])
def test_frames_and_tables_that_change(running, two_harts, harts):
    """Another vcpu writes them, on another hart also while they are read: what is found is no more
    than was asked for, nobody is harmed, and no stay is too long. How long it is can be told of
    one hart only."""
    run = running({"alpha": "kind=chain frames=64 paging=yes others=yes", "beta": FOREVER},
                  vcpus=("0", str(harts - 1)), options=two_harts if harts == 2 else ())
    run.read_until("chain: begins")
    with tally_ctl.Machine(str(run.path), timeout=harness.GUARD) as machine:
        lengths = []
        machine.objects("sample alpha 0x2:uk 20000 64")
        # On one hart nothing changes while the other vcpu waits for its turn.
        while len(lengths) < 500 or len(set(lengths)) <= 2:
            lengths += [len(it.chain) for it in taken(machine) if it.vcpu == 0]
        machine.objects("unobserve")
    assert max(lengths) <= 64
    assert run.ctl("poweroff")[0] == 0
    run.read_until(None)
    assert run.process.wait() == harness.OK, run.console
    stays = [int(vcpu) for vcpu in re.findall(r"longest-stay=(\d+)", run.console)]
    assert len(stays) == 4
    if harts == 1:
        assert max(stays) <= harness.LONGEST_STAY


# Alpha counts the other mode, so what is asked for is refused.
FILE_PERIOD = 500000
ALPHA = f"kind=waits filter=u own=yes rounds=9 every={8 * FRAME}"
OF_FILE = [(BEGINS, "vms --json"),
           *operators.at_once(f"sample alpha 0x2:k {FILE_PERIOD} --json",
                              f"sample beta 0x2:k {FILE_PERIOD} --json"),
           (f"+{5 * FRAME}", "unobserve --json"), ("+0", "!")]
# The first one is somebody else's.
OF_RATE = [*operators.at_once("sample beta 0x2:k 777777", "vms --json",
                              "sample beta 0x2:k 1000hz --json"),
           (f"+{FRAME}", "unobserve --json"), ("+0", "!")]


def test_the_file(tmp_path):
    """It has every sample, and what was not sampled."""
    told = asked(tmp_path, ALPHA, OF_FILE + OF_RATE, ("beta", FOREVER))
    pairs = [(command, answer) for (_, command), answer in zip(OF_FILE + OF_RATE, told)]
    file = tmp_path / "samples"
    found, said = replayed.record(file, pairs[:len(OF_FILE)], "-c", str(FILE_PERIOD), "-e",
                                  "instructions:k", "--vm", "alpha", "--vm", "beta")
    head, found, ends = found[0], found[1:-2], found[-2:]
    assert head == {"tally-samples": 1, "vms": ["alpha", "beta"], "events": ["instructions:k"],
                    "period": str(FILE_PERIOD)}
    assert {(o["type"], o["vm"], o["vcpu"], o["event"], o["hart"], o["period"], o["mode"],
             o["masked"], o["satp"]) for o in found} == {
        ("sample", "beta", 0, "instructions:k", 0, FILE_PERIOD, "kernel", True, "0x0")}
    alpha, beta = ends
    assert len(found) == beta["samples"] == beta["count"] // FILE_PERIOD > 50
    assert (beta["type"], beta["lost"], beta["late"], beta["reasons"]) == ("end", 0, 0, [])
    # 300 of them are the sample itself.
    assert 250 < beta["lcofi_hs_instructions"] / beta["samples"] < harness.at_most(400)
    assert alpha["samples"] == alpha["count"] == 0
    assert alpha["reasons"] == ["the guest counts something else on that counter"]
    assert alpha["unsampled_ns"] == beta["ns"] + beta["unsampled_ns"]
    assert f"beta/0: {len(found)} samples of {beta['count']} instructions:k, 0 lost ]" in said
    assert "alpha/0: no instructions:k were sampled for " in said
    folded = [line.rsplit(" ", 1) for line in subprocess.run(
        [TOOL, "folded", file], capture_output=True, text=True, check=True).stdout.splitlines()]
    assert {text for text, _ in folded} == {f"beta;vcpu 0;[kernel];{o['ip']}" for o in found}
    assert sum(int(n) for _, n in folded) == FILE_PERIOD * len(found)
    # At a rate of the vcpu's own time: 1 ms of it between two, when the first ones are over.
    assert len({sample.observation for sample in noted(told[-1])}) == 2
    found, _ = replayed.record(file, pairs[len(OF_FILE) + 1:], "-F", "1000", "-e", "instructions:k",
                               "--vm", "beta")
    periods = [o["period"] for o in found[1:] if o["type"] == "sample"]
    assert periods[:3] == [1000, 16000, 256000]
    assert len(periods) > 9 and all(900_000 < period <= 1_000_000 for period in periods[4:])


def test_wrong_use(running, tmp_path):
    run = running({"alpha": FOREVER})
    for words, complaint in (
            (["-e", "nonsense"], "there is none of that name"),
            (["--vm", "gamma"], 'no VM is called "gamma"; there are: alpha'),
            (["-c", "0"], "is no number of events"), (["-F", "1000000"], "is not from 1 to"),
            (["-c", "1000", "-F", "1000"], "exclude each other")):
        _, said = record(run, tmp_path / "file", *words, status=2)
        assert complaint in said, words
    assert run.ctl("observed") == (0, [], [])
    for command in ("sample", "sample alpha 0x2", "sample alpha 0x2 0", "sample alpha 0x2 1000Hz",
                    "sample alpha 0x2 0hz", "sample alpha 0x2 1 x", "samples 1"):
        status, lines, complaints = run.ctl(*command.split())
        assert (status, lines, len(complaints)) == (2, [], 1), command
    with tally_ctl.Machine(str(run.path), timeout=harness.GUARD) as machine:
        for event, period, why in (
                ("0x2:u", 99, "the period is too short or too long"),
                ("0x2:u", hex(1 << 62), "the period is too short or too long"),
                ("0x10019:u", 1000, "the hart does not interrupt for that event"),
                ("0xf0100", 1000, "only events of the hart can be sampled"),
                ("0x5", 1000, "not supported")):
            (line,) = machine.objects(f"sample alpha {event} {period}")
            assert line["ended"] == why, (event, period)
    assert json.loads(run.ctl("vms", "--json")[1][0])["state"] == "running"
