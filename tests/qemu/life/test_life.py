# SPDX-License-Identifier: Apache-2.0
"""Life and death of VMs: restarts from the images, crashes, and what neighbours see of them."""

import functools
import re

import pytest

import bare_guests
import harness
from lives import NEW_LIFE, registers, told
from measured import EXPECTED, MEASURE
from platforms import firmware_redirects

BACKENDS = ("sbi", "ssccfg")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("reset", [1, 2], ids=["cold", "warm"])
def test_a_reboot_is_a_new_life(tmp_path, backend, reset):
    """Memory, images, clock and PMU, with counters armed and a snapshot set in the life before."""
    result = bare_guests.boot(
        tmp_path, {"alpha": f"kind=life type={reset}"}, backend=backend, status=harness.VM_FAILED,
        properties='restart-limit = <3>; pmu-snapshot = "on"; pmu-overflow = "on";')
    assert result.vm("alpha") == [NEW_LIFE] * 4
    assert told(result, "alpha") == ["asked for a restart", "starts again"] * 3 + [
        f"failed: asked for a restart once too often; reset type {reset}",
        "stays off: restart-limit is 3"]
    # One a life, of the counter that it leaves armed; the books go on.
    assert re.findall(r"^vm alpha: .* lcofi=(\d+) ", "\n".join(result.own), re.M) == list("1234")


def test_restart_limit_of_none(tmp_path):
    result = bare_guests.boot(tmp_path, {"alpha": "kind=life"}, status=harness.VM_FAILED,
                              properties="restart-limit = <0>;")
    assert result.vm("alpha") == [NEW_LIFE]
    assert told(result, "alpha")[0].startswith("failed: asked for a restart")


def test_a_long_life_is_none_of_a_row(tmp_path):
    """Each life sleeps for 61 seconds of its clock: its restarts never come to two in a row."""
    guests = {"alpha": "kind=life after=610000000", "beta": "kind=busy after=2500000000 ticks=1"}
    result = bare_guests.boot(tmp_path, guests, status=harness.INTERRUPTED, until="vm beta: ended",
                              properties="restart-limit = <1>;")
    assert told(result, "alpha") == ["asked for a restart", "starts again"] * 4


# How it ends: (bootargs, the line, is it a failure).
ENDS = {
    "shutdown": ("kind=life type=0", "ended", False),
    "stopped": ("kind=crash how=stop", "ended: all its vcpus have stopped", False),
    "own failure": ("kind=life type=0 reason=1", "failed: shut down with reset reason 1", True),
    "own panic": ("kind=life type=1 reason=1", "failed: asked for a restart with reset reason 1",
                  True),
    "crash": ("kind=crash how=jump", "failed: its trap handler traps for ever at ffff0000", True),
}


RESTARTS = ("never", "on-failure", "always")


@pytest.fixture(scope="module")
def policies(tmp_path_factory):
    """(is it a failure) -> the boot of a VM for each such end and each policy, named by both."""

    @functools.cache
    def booted(failure):
        guests = {f"{restart}-{n}": (restart, bootargs)
                  for n, (bootargs, _, failed) in enumerate(ENDS.values()) if failed == failure
                  for restart in RESTARTS}
        return bare_guests.boot(
            tmp_path_factory.mktemp("policies"),
            {name: bootargs for name, (_, bootargs) in guests.items()},
            status=harness.VM_FAILED if failure else harness.OK, properties="restart-limit = <2>;",
            own={name: f'restart = "{restart}";' for name, (restart, _) in guests.items()})

    return booted


@pytest.mark.parametrize("restart", RESTARTS)
@pytest.mark.parametrize("end", ENDS)
def test_restart_policy(policies, end, restart):
    _, line, failure = ENDS[end]
    again = restart == "always" or (failure and restart == "on-failure")
    result, name = policies(failure), f"{restart}-{list(ENDS).index(end)}"
    if again:
        assert told(result, name) == [line, "starts again"] * 2 + [
            line, "stays off: restart-limit is 2"]
    else:
        assert told(result, name) == [line]
    assert result.own[-1] == "all VMs ended"


@pytest.mark.parametrize("how, neighbour", [
    # QEMU is slow in a loop of illegal instructions.
    pytest.param(how, neighbour, marks=pytest.mark.long if (how, neighbour) == ("vector", False)
                 else (), id=f"{how}-{'beside' if neighbour else 'alone'}")
    for how in ("jump", "vector", "breakpoint", "prologue", "satp", "paging")
    for neighbour in (False, True)])
def test_trap_loops(tmp_path, how, neighbour):
    """With exits or without: one line, and the registers of the loop."""
    if how == "vector" and not firmware_redirects():
        pytest.skip("the firmware gets illegal instructions first, and on this QEMU it cannot "
                    "hand them to HS")
    guests = {"alpha": f"kind=crash how={how}"}
    if neighbour:
        guests["beta"] = "kind=busy ticks=3000000"
    result = bare_guests.boot(tmp_path, guests, status=harness.VM_FAILED)
    assert result.vm("alpha") == ["crash: begins"]
    (line,) = told(result, "alpha")
    pc = int(re.fullmatch("failed: its trap handler traps for ever at ([0-9a-f]+)", line)[1], 16)
    state = registers(result, "alpha")
    assert state["pc"] == state["sepc"] == pc
    assert 0 <= pc - state["stvec"] <= {"breakpoint": 12, "prologue": 20}.get(how, 0)
    assert state["scause"] == {"jump": 1, "vector": 2, "breakpoint": 3, "prologue": 7, "satp": 1,
                               "paging": 12}[how]
    roots = {"satp": 0xffff0, "paging": 0x80e00}
    assert state["satp"] == (8 << 60 | roots[how] if how in roots else 0)
    if neighbour:
        assert result.vm("beta")[-1].startswith("busy: ends")


def test_no_trap_loop(tmp_path):
    """Where such a loop would be at each look, for 100 turns: but it traps no more."""
    guests = {"alpha": "kind=crash how=patient", "beta": "kind=busy ticks=3000000"}
    result = bare_guests.boot(tmp_path, guests)
    assert told(result, "alpha") == ["ended"]
    assert bare_guests.exits(result, "alpha")["timer"] > 50


@pytest.mark.parametrize("how, what", [("load", "load outside its memory, from"),
                                       ("store", "store outside its memory, to"),
                                       ("fetch", "jump outside its memory, to")])
def test_bad_access(tmp_path, how, what):
    guests = {"alpha": f"kind=crash how={how}"}
    stopped = bare_guests.boot(tmp_path, guests, status=harness.VM_FAILED,
                               properties='bad-access = "stop";')
    assert stopped.vm("alpha") == ["crash: begins"]
    assert told(stopped, "alpha") == [f"failed: {what} 40000000"]
    state = registers(stopped, "alpha")
    assert (state["pc"] == 0x40000000) == (how == "fetch")
    # As on a machine of its own: its handler hears of it.
    fault = bare_guests.boot(tmp_path, guests, status=harness.VM_FAILED)
    cause = {"load": 5, "store": 7, "fetch": 1}[how]
    assert fault.vm("alpha")[1].startswith(f"guest: unexpected trap: cause 0x{cause}, ")
    assert told(fault, "alpha") == ["failed: shut down with reset reason 1"]


LOOPS = {
    "reboots": "kind=life",
    "shuts down": "kind=life type=0",
    "crashes": "kind=crash how=breakpoint",
    "runs wild": "kind=crash how=jump",
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("loop", LOOPS)
def test_neighbours_of_restarts(tmp_path, backend, loop):
    """One that ends and starts without end: the other's counts are as alone."""
    result = bare_guests.boot(
        tmp_path, {"alpha": MEASURE, "beta": LOOPS[loop]}, backend=backend, properties=
        'restart = "always"; restart-limit = <1000>;', until="vm alpha: ended",
        status=harness.INTERRUPTED)
    assert result.vm("alpha")[:len(EXPECTED)] == EXPECTED
    assert told(result, "beta").count("starts again") >= 3
    assert bare_guests.exits(result, "alpha")["csr"] == 0


def rounds(result, name):
    """How often a busy guest went round in its first time."""
    return int(re.search(r"^busy: ends after (\d+) rounds$", "\n".join(result.vm(name)), re.M)[1])


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    """How often a guest goes round beside one that only computes."""
    result = bare_guests.boot(tmp_path_factory.mktemp("half"), {
        "alpha": "kind=busy ticks=2000000", "beta": "kind=busy ticks=4000000"})
    return rounds(result, "alpha")


@pytest.mark.parametrize("loop", LOOPS)
def test_throughput_beside_restarts(tmp_path, half, loop):
    """No less than beside one that only computes: half of the hart, or more."""
    busy = "kind=busy ticks=2000000"
    loops = bare_guests.boot(
        tmp_path, {"alpha": busy, "beta": LOOPS[loop]}, properties=
        'restart = "always"; restart-limit = <1000>;', until="busy: ends",
        status=harness.INTERRUPTED)
    assert rounds(loops, "alpha") >= 0.99 * half


def test_restarts_are_deterministic(tmp_path):
    guests = {"alpha": "kind=life", "beta": "kind=measure rounds=1 length=100000",
              "gamma": "kind=crash how=prologue"}
    first, second = (
        bare_guests.boot(tmp_path, guests, status=harness.VM_FAILED, properties=
                         'restart = "on-failure"; restart-limit = <2>;').console
        for _ in range(2))
    assert first == second


def test_debian_reboots(linux):
    """From its images: what it wrote in the life before is not there. It lives twice."""
    script = ("ls /tmp/left 2>/dev/null\ntouch /tmp/left\n"
              "perf stat -x, -e instructions:u work 1000000 2>&1\nreboot -f\n")
    result = linux({"alpha": script}, tree={"restarts": 1})
    assert result.status == harness.VM_FAILED, str(result)
    assert result.vm("alpha").count("alpha begin") == 2
    assert "/tmp/left" not in result.vm("alpha")
    counts = [line.split(",")[0] for line in result.vm("alpha") if "instructions:u" in line]
    assert counts == ["1000000"] * 2
    assert told(result, "alpha")[:2] == ["asked for a restart", "starts again"]


def test_debian_panics(linux):
    """panic=-1 asks for a restart: a VM that may not have one has failed."""
    result = linux({"alpha": "echo 1 >/proc/sys/kernel/sysrq; echo c >/proc/sysrq-trigger\n"})
    assert result.status == harness.VM_FAILED, str(result)
    assert told(result, "alpha")[0] == (
        "failed: asked for a restart once too often; reset type 1")
    assert registers(result, "alpha")["a7"] == 0x53525354


def test_commands_of_the_user(console, tmp_path):
    """Stopped, started, restarted; the machine stays on while one that was stopped is off."""
    tree = tmp_path / "bare.dts"
    tree.write_text(bare_guests.tree({"alpha": "kind=life spin=1000000000000",
                                      "beta": "kind=waits rounds=1 length=1000"}),
                    encoding="utf-8")
    screen = console(tree, options=["--include", harness.BUILD / "guests"], timeout=harness.GUARD)
    screen.expect(NEW_LIFE)
    screen.send("\x14r")
    screen.expect("vm alpha: stopped")
    screen.expect("vm alpha: starts again")
    screen.expect(NEW_LIFE)
    screen.send("\x14s")
    screen.expect("vm alpha: stopped")
    screen.send("\x142")
    screen.expect("input goes to beta")
    screen.send("x")
    screen.expect("vm beta: ended")
    screen.send("\x141")
    screen.expect("input goes to alpha")
    screen.send("x")
    screen.expect("alpha has ended and reads nothing")
    screen.send("\x14g")
    screen.expect("vm alpha: starts again")
    screen.expect(NEW_LIFE)
    screen.send("\x142\x14g")
    screen.expect("vm beta: starts again")
    screen.expect("waits: begins")
