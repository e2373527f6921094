# SPDX-License-Identifier: Apache-2.0
"""QEMU's machines that are like boards (tools/run --machine): Kunminghu's prototype, with a clock
of 1 MHz, a device tree of ours and no reset device; Atlantis, with RAM at 0 and a clock of 1 GHz.
"""

import subprocess
import threading

import pytest

import bare_guests
import harness
import hosts
import linux_counts
from measured import EXPECTED, MEASURE
from memory_at import memory_at
import peers
import plain
import sampling
import schedules

# The first QEMU that has both.
SUITE = "sid"
KUNMINGHU, ATLANTIS = MACHINES = ("xiangshan-kunminghu", "tt-atlantis")
STOPS = "the machine stops here: its firmware has no reset device; switch it off by hand"
TICKS_A_US = {KUNMINGHU: 1, ATLANTIS: 1000}
both = pytest.mark.parametrize("machine", MACHINES)


def options(machine, *more):
    """Of tools/run."""
    if machine == ATLANTIS:
        plain.make("build/board-0x0/tally.bin", variables=("BOARD_RAM=0x0",))
    return ["--machine", machine, "--qemu", peers.qemu(SUITE), *more]


def boot(folder, machine, guests, more=(), **arguments):
    return bare_guests.boot(folder, guests, options=options(machine, *more), **arguments)


@pytest.mark.parametrize("machine", [KUNMINGHU, pytest.param(ATLANTIS, marks=pytest.mark.long)])
def test_counts_and_samples(tmp_path, machine):
    """Three guests on a hart: each count is exact, each overflow comes at its instruction."""
    result = boot(tmp_path, machine, {"alpha": "sampling=table", "beta": "sampling=table",
                                      "gamma": MEASURE})
    for name in ("alpha", "beta"):
        assert result.vm(name) == sampling.table("alone")
    assert result.vm("gamma") == EXPECTED
    assert result.own[-2:] == ["all VMs ended", STOPS]
    assert result.own[0].endswith(" MiB of RAM; console input by APLIC and IMSIC")


def test_a_bank_above_the_first(tmp_path):
    """Of 4 GiB, Atlantis has half behind 2 GiB, from 0x180000000 on: a VM counts there as in the
    first bank."""
    own = {"beta": memory_at([(0x182000000, 16 << 20)]) + ";"}
    result = boot(tmp_path, ATLANTIS, {"alpha": MEASURE, "beta": MEASURE}, ("--memory", "4G"),
                  own=own)
    assert [line.rsplit(",", 1)[0] for line in result.own if line.startswith("RAM ")] == [
        "RAM 0x0 to 0x7fffffff: Tally, 1 VM", "RAM 0x180000000 to 0x1ffffffff: 1 VM"]
    for name in ("alpha", "beta"):
        assert result.vm(name) == EXPECTED


@both
def test_guest_files(tmp_path, machine):
    """Messages and timers of guests with an AIA take no exits."""
    guests = {what: f"kind=aia what={what} messages=200" for what in ("self", "timer")}
    result = boot(tmp_path, machine, guests, properties='interrupts = "aia";')
    assert f"hart 0: {3 if machine == KUNMINGHU else 7} guest interrupt files" in result.own
    assert result.vm("self") == ["aia: 200 messages, 200 taken, 0 lost, 0 without a cause"]
    assert result.vm("timer") == ["aia: 200 timers, 200 taken, 0 lost, 0 without a cause"]


@both
def test_several_harts(tmp_path, machine):
    """What they count has no meaning; the vcpus of two VMs work on all of them."""
    result = boot(tmp_path, machine, {"alpha": "kind=smp rounds=1", "beta": "kind=smp rounds=1"},
                  ("--harts", 4), profile="smp", vcpus="0123")
    for name in ("alpha", "beta"):
        *lines, last = result.vm(name)
        assert last == "smp: ends, 4 vcpus, 0 bad"
        for n, line in enumerate(lines):
            assert line.endswith(f", fp {bare_guests.logistic(n)}, errors 0, ipi 2"), line
    assert result.own[-2:] == ["all VMs ended", STOPS]


def test_several_harts_that_count_each_other(tmp_path):
    """Under -icount each hart counts the instructions of all: counters are refused in words."""
    qemu = hosts.qemu(tmp_path, "-smp", 2, program=peers.qemu(SUITE))
    result = boot(tmp_path, ATLANTIS, {"alpha": "kind=smp rounds=1"}, ("--qemu", qemu),
                  vcpus="01", stays=False)
    refused = "hardware counters are refused: while harts take turns it counts"
    for hart in (0, 1):
        assert any(line.startswith(f"hart {hart}: {refused}") for line in result.own), str(result)
    assert result.vm("alpha")[-1] == "smp: ends, 2 vcpus, 0 bad"


@both
def test_windows_begin_at_their_ticks(tmp_path, machine):
    """A tick of a microsecond is none too few, one of a nanosecond none too many."""
    us = TICKS_A_US[machine]
    kind = f"kind=windows frame={schedules.FRAME * us} ticks={100000 * us}"
    windows = [("alpha", 500, 1000, 50), ("beta", 2000, 2500, 50)]
    result = schedules.boot(
        tmp_path, {"alpha": kind, "beta": kind} if us == 1 else
        dict.fromkeys(("alpha", "beta"), f"kind=busy ticks={100000 * us}"),
        [schedules.schedule(windows)], backend="auto", options=options(machine))
    assert not any("began late" in line for line in result.own), str(result)
    for name, start, length, _ in windows if us == 1 else ():
        begins, (begin, end, away, stolen) = schedules.told(result, name)
        assert (begins, end - begin) == ([(start, start, 21)], 20 * schedules.FRAME)
        # The guest may be gone before it has looked at the tick at which its window ends.
        least = 20 * (schedules.FRAME - length)
        assert least <= away <= least + 20
        # Of each time it is away parts of a tick are not told.
        assert away - 20 <= stolen <= away


@both
def test_console_input(tmp_path, machine):
    """A request comes through the machine's own UART, by its interrupt; and the machine that cannot
    switch itself off says so. On Atlantis OpenSBI up to 1.6 tells the APLIC no address of IMSICs.
    """
    firmware = ("--bios", peers.opensbi(SUITE)) if machine == ATLANTIS else ()
    path = tmp_path / "control"
    answers = []
    asks = threading.Thread(target=lambda: answers.append(subprocess.run(
        [harness.ROOT / "tools/tally-ctl", "--socket", path, "poweroff", "now"],
        check=False, capture_output=True, text=True)))
    result = boot(tmp_path, machine, {"alpha": "kind=busy ticks=100000000000000"},
                  (*firmware, "--control", path), meanwhile=asks)
    asks.join()
    assert answers[0].stdout == "all VMs are being stopped, then the machine goes off\n", answers
    assert result.own[-2:] == ["all VMs ended", STOPS]


def test_a_refusal_where_nothing_resets(tmp_path):
    result = boot(tmp_path, KUNMINGHU, {"alpha": MEASURE}, vcpus=("1",), status=harness.REFUSED)
    assert result.own[-2:] == ["refused: /vms/alpha/vcpu0: harts: hart 1 cannot be used: the tree "
                               "disables it", STOPS]


@pytest.mark.long
@both
def test_two_debian_guests(tmp_path, machine):
    tree = harness.linux_tree(tmp_path, {"alpha": linux_counts.LINUX,
                                         "beta": linux_counts.LINUX})
    result = harness.run(tree, options=options(machine))
    assert result.status == harness.OK, str(result)
    for name in ("alpha", "beta"):
        assert linux_counts.exact(result.guest_output(name, name))


def complaint(folder, *words):
    """Status and words of tools/run."""
    plain.make("build/guests/bare.bin")
    tree = folder / "bare.dts"
    tree.write_text(bare_guests.tree({"alpha": MEASURE}), encoding="utf-8")
    done = subprocess.run([harness.ROOT / "tools/run", "--vms", tree, "--include",
                           harness.BUILD / "guests", *words], check=False, capture_output=True,
                          text=True)
    return done.returncode, done.stderr.splitlines()[-1]


@pytest.mark.parametrize("words, why", [
    (("--cpu", "max"), "--cpu needs --machine virt"),
    (("--aia", "none"), "--aia needs --machine virt"),
    (("--device", "edu"), "--device needs --machine virt"),
    (("--harts", "9", "--profile", "smp"), "--harts 9: tt-atlantis has 8 at most"),
])
def test_of_virt_alone(tmp_path, words, why):
    assert complaint(tmp_path, "--machine", ATLANTIS, *words) == (
        harness.USAGE, "tools/run: error: " + why)


def test_an_older_qemu(tmp_path):
    """One that does not know the machine."""
    qemu = tmp_path / "qemu"
    qemu.write_text('#!/bin/sh\necho "QEMU emulator version 11.1.3"\n', encoding="ascii")
    qemu.chmod(0o755)
    status, line = complaint(tmp_path, "--machine", KUNMINGHU, "--qemu", qemu)
    assert status == harness.DEPENDENCY and line == (
        f"tools/run: {qemu} has no machine xiangshan-kunminghu, QEMU 11.1.3 has: "
        "`tools/fetch/peer-platform qemu sid` fetches it, for --qemu "
        "build/platform/qemu-sid/qemu-system-riscv64")
