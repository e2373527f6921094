# SPDX-License-Identifier: Apache-2.0
"""Bells: VMs that share memory ring each other, with a PLIC and with an AIA, bare and on Linux; the
cost of a ring; and what of a life is seen by the others."""

import json
import re

import pytest

import harness
from lives import told
from measured import EXPECTED, MEASURE
import plain
from shared_memory import PLACE, MIB, TREE, VM, RINGS, bells, check, run

# Instructions of a ring, from before the store to behind it.
MOST = 350
ROUNDS = 200
AIA = ["--aia", "aplic-imsic", "--aia-guests", "2"]
CHIPS = pytest.mark.parametrize("chip", ["plic", "aia"])


def vm(name, bootargs, chip="plic", properties="", hart=0):
    """A node of /vms."""
    properties += ' interrupts = "aia";' if chip == "aia" else ""
    return VM.format(name=name, memory=4 * MIB, bootargs="kind=bell " + bootargs, hart=hart,
                     properties=properties)


def pair(chip, first, second, **others):
    """Two VMs that do this."""
    return [vm("alpha", first, chip), vm("beta", second, chip, **others)]


def options(chip):
    """Of tools/run."""
    return AIA if chip == "aia" else []


@CHIPS
@harness.both_backends
def test_there_and_back(tmp_path, chip, backend):
    """Each sleeps until the other one rings: no ring is lost, none comes twice, and what was
    written before it is there. The fixed loop beside them has its number."""
    args = f"rounds={ROUNDS} role="
    delta = VM.format(name="delta", memory=4 * MIB, bootargs=MEASURE, hart=0, properties="")
    result = run(tmp_path, [*pair(chip, args + "ping", args + "pong"), delta],
                 [bells(chip, ["alpha", "beta"])], options(chip), backend=backend)
    assert result.status == harness.OK, str(result)
    assert result.vm("delta") == EXPECTED
    for name in ("alpha", "beta"):
        assert result.vm(name) == [f"bell: {ROUNDS} rounds, {ROUNDS} rung, 0 wrong, 0 strange"]
    assert "vm alpha: has shared ring at 0x100000000, to read and write, bell 1 at 0x30100000" \
        in result.own


@CHIPS
def test_between_harts(tmp_path, chip):
    """The same, on threads of the host."""
    args = f"rounds={ROUNDS} role="
    result = run(tmp_path, pair(chip, args + "ping", args + "pong", hart=1),
                 [bells(chip, ["alpha", "beta"])], [*options(chip), "--harts", 2], profile="smp")
    assert result.status == harness.OK, str(result)
    for name in ("alpha", "beta"):
        assert result.vm(name) == [f"bell: {ROUNDS} rounds, {ROUNDS} rung, 0 wrong, 0 strange"]


@pytest.mark.parametrize("console, source", [("on", 3), ("off", 10)])
def test_a_source_of_an_aplic(tmp_path, console, source):
    """It is the level of a source, without an identity; that of the UART is free without one. Who
    is not rung fails."""
    args, fails = f"rounds={ROUNDS} role=", "heartbeat-ms = <10000>;"
    vms = [vm("alpha", args + f"pong chip=aplic console={console}", "aia",
              f'console = "{console}"; {fails}'),
           vm("beta", args + "ping", properties=fails)]
    users = " ".join(
        f'{name} {{ at = /bits/ 64 <{PLACE[name]:#x}>; access = "read-write"; bell = <{bell}>; }};'
        for name, bell in (("alpha", source), ("beta", 1)))
    result = run(tmp_path, vms, [RINGS.format(name="ring", users=users)], AIA)
    assert result.status == harness.OK, str(result)
    assert result.vm("beta") == [f"bell: {ROUNDS} rounds, {ROUNDS} rung, 0 wrong, 0 strange"]


def test_what_is_typed_is_no_level(tmp_path, console):
    """For a VM without a console, whose bell has the source that a UART has: the bell's level stays
    until its state is taken."""
    plain.make("build/guests/bare.bin")
    users = " ".join(
        f'{name} {{ at = /bits/ 64 <{PLACE[name]:#x}>; access = "read-write"; bell = <{bell}>; }};'
        for name, bell in (("alpha", 10), ("beta", 1)))
    vms = [vm("alpha", "role=is-rung chip=aplic console=off", "aia", 'console = "off";'),
           vm("beta", "role=rings")]
    file = tmp_path / "vms.dts"
    file.write_text(TREE.format(vms="".join(vms), shared=RINGS.format(name="ring", users=users)),
                    encoding="utf-8")
    screen = console(file, options=["--include", harness.BUILD / "guests", *AIA])
    screen.expect("bell: has rung")
    screen.send("x\x142")
    screen.expect("input goes to beta")
    screen.send("x")
    screen.expect("vm beta: ended")
    screen.expect("vm alpha: (ended|failed)")
    assert screen.match[1] == "ended"


@pytest.mark.parametrize("chip, backend", [
    ("plic", "sbi"), ("aia", "ssccfg"), pytest.param("plic", "ssccfg", marks=pytest.mark.long),
    pytest.param("aia", "sbi", marks=pytest.mark.long)])
def test_cost(tmp_path, chip, backend):
    """Of a ring: the exit, what tells the other VM, and the way back."""
    result = run(tmp_path, pair(chip, f"role=ring rounds={ROUNDS}", "role=count"),
                 [bells(chip, ["alpha", "beta"])], options(chip), backend=backend)
    assert result.status == harness.OK, str(result)
    [line] = result.vm("alpha")
    tenths = int(re.fullmatch(r"bell: a ring takes (\d+) tenths of an instruction", line)[1])
    assert 1000 < tenths <= 10 * harness.at_most(MOST), line
    assert result.vm("beta") == [f"bell: rung {ROUNDS} times, 0 strange"]
    if chip == "aia":
        # Of what it was sent the receiver knows without an exit: only a few reads of registers.
        [exits] = [line for line in result.own if line.startswith("vm beta: vcpu 0: exits")]
        assert int(re.search(r" irq=(\d+)", exits)[1]) <= 2, exits


def test_lives(tmp_path):
    """What the others see of the lives of a VM, and what is left of its own bell: it begins each
    life as after reset, and what has rung between two lives is dropped."""
    lives = [vm("alpha", "role=watch of=1"), vm("beta", "role=lives lives=3")]
    result = run(tmp_path, lives, [bells("plic", ["alpha", "beta"])])
    assert result.status == harness.OK, str(result)
    assert told(result, "beta")[:2] == ["asked for a restart", "starts again"]
    lines = result.vm("alpha")
    assert lines[0] == "bell: is 0 of 3, life 1"
    seen = [re.fullmatch(r"bell: alive ([02]), 1 in life (\d)", line).groups()
            for line in lines[1:]]
    # Each change is seen at least as one, and the last one is the end of the last life.
    assert seen[-1] == ("0", "3") and len(seen) >= 3
    assert [int(life) for _, life in seen] == sorted(int(life) for _, life in seen)
    assert result.vm("beta") == [f"bell: life {n}: state 0, mask 1" for n in (1, 2, 3)]


def test_registers(tmp_path):
    """What the function shows, its BARs sized as a driver does it, and what it ignores."""
    result = run(tmp_path, [vm("alpha", "role=registers"), vm("beta", "role=registers")],
                 [bells("plic", ["alpha", "beta"])])
    assert result.status == harness.OK, str(result)
    for name in ("alpha", "beta"):
        assert result.vm(name)[-1] == "bell: registers: 0 wrong", str(result)


def messages(file, chip, number):
    """dts/partitions.dts with so many messages."""
    text = (harness.ROOT / "dts/partitions.dts").read_text(encoding="utf-8")
    text = text.replace("messages=1000000", f"messages={number}")
    if chip == "aia":
        for name in ("linux", "control"):
            text = text.replace(name + " {\n\t\t\tmemory",
                                name + ' {\n\t\t\tinterrupts = "aia";\n\t\t\tmemory')
        text = text.replace("control {\n\t\t\t\tat",
                            "control {\n\t\t\t\tbell-identity = <9>;\n\t\t\t\tat")
    file.write_text(text, encoding="utf-8")
    return file


@CHIPS
def test_linux(tmp_path, chip):
    """Debian's uio_pci_generic serves the function: each message of a control loop is answered, all
    are right, and the loop goes on meanwhile."""
    plain.make("build/guest/partitions.cpio")
    plain.make("build/guests/bare.bin")
    number = 20000
    result = harness.run(messages(tmp_path / "vms.dts", chip, number), options=options(chip))
    assert result.status == harness.OK, str(result)
    assert f"pace: {number} messages, 0 wrong, with interrupts, 0 not read" in result.vm("linux")
    sent, rung, timing, later = result.vm("control")
    assert sent == f"pace: {number} messages sent, {number} taken, 0 wrong, 0 strange interrupts"
    found = re.fullmatch(r"pace: rung (\d+) times in (\d+) periods of 2000 ticks", rung)
    # Linux rings once for what it finds, which is a batch of 100 or more.
    assert 2 <= int(found[1]) <= number // 100 and int(found[2]) >= number // 100
    found = re.fullmatch(r"pace: ticks from the time to the loop: least (\d+), median (\d+), "
                         r"most (\d+)", timing)
    least, median, most = (int(ticks) for ticks in found.groups())
    # Turns of 200 us are 2000 ticks, and a stay in HS is 200 more at most.
    assert least <= median <= most <= 2200
    assert later == "pace: 0 later than 65536 ticks"


def test_vm_check_says_what_there_is(tmp_path):
    """For a person, and for a program; and what is refused, as at boot."""
    result = run(tmp_path, pair("plic", "role=ping rounds=1", "role=pong rounds=1"),
                 [bells("plic", ["alpha", "beta"], source=11)])
    assert result.status == harness.OK, str(result)
    file = tmp_path / "vms.dts"
    line = "  bell      of ring: source 11; registers at 0x30100000"
    assert check(file).stdout.splitlines().count(line) == 2
    vms = json.loads(check(file, "--json").stdout)["vms"]
    assert vms[0]["shared"][0]["bell"] == {"source": 11, "identity": 0, "at": 0x30100000}
    result = run(tmp_path, pair("plic", "role=ping rounds=1", "role=pong rounds=1"),
                 [bells("plic", ["alpha", "beta"], source=10)])
    words = "/shared/ring/alpha: bell: source 10 is that of the VM's UART"
    assert f"refused: {words}" in result.own, str(result)
    assert check(file).stderr.splitlines()[0] == words
