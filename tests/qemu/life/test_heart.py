# SPDX-License-Identifier: Apache-2.0
"""heartbeat-ms: a guest that does not ring in time has failed, and no other one."""

import pytest

import bare_guests
import harness
from lives import ends_of
from shared_memory import MIB, VM, bells, run


def test_silent(tmp_path):
    """One never rings, one stops to, one goes on; and one need not."""
    result = bare_guests.boot(
        tmp_path, {"alpha": "kind=heart then=sleep",
                   "beta": "kind=heart rings=10 every=300000 then=spin",
                   "gamma": "kind=heart rings=20 every=300000 then=end",
                   "delta": "kind=busy ticks=10000000"},
        status=harness.VM_FAILED,
        own={name: "heartbeat-ms = <50>;" for name in ("alpha", "beta", "gamma")})
    assert ends_of(result, "alpha") == ["failed: did not ring for 50 ms"]
    assert ends_of(result, "beta") == ["failed: did not ring for 50 ms"]
    assert ends_of(result, "gamma") == ["ended"]
    assert ends_of(result, "delta") == ["ended"]
    assert result.vm("alpha") == ["heart: begins", "heart: has rung 0 times, last behind 0"]
    assert result.vm("beta")[1].startswith("heart: has rung 10 times, last behind ")
    assert result.vm("gamma")[-1] == "heart: ends, 45 checks, 0 failed"


@pytest.mark.parametrize("ms", [429, 430, 1000])
def test_a_second(tmp_path, ms):
    """Who rings three times in each heartbeat-ms lives on, and who rings once in two does not."""
    result = bare_guests.boot(
        tmp_path, {"alpha": f"kind=heart rings=4 every={ms * 3000} then=end",
                   "beta": f"kind=heart rings=4 every={ms * 20000} then=end"},
        status=harness.VM_FAILED, properties=f"heartbeat-ms = <{ms}>;")
    assert ends_of(result, "alpha") == ["ended"]
    assert ends_of(result, "beta") == [f"failed: did not ring for {ms} ms"]


@pytest.mark.parametrize("rings, look", [
    (0, "on"), (5, "off"), pytest.param(0, "off", marks=pytest.mark.long),
    pytest.param(5, "on", marks=pytest.mark.long)])
def test_a_trap_loop(tmp_path, look, rings):
    """The first time that Tally looks whether it has rung ends it, with or without a look for trap
    loops: if it had rung before, that is a look for trap loops, too."""
    result = bare_guests.boot(
        tmp_path, {"alpha": f"kind=heart rings={rings} every=300000 busy=1 then=loop"},
        status=harness.VM_FAILED, properties=f'heartbeat-ms = <300>; look = "{look}";')
    line, = ends_of(result, "alpha")
    assert line.startswith("failed: its trap handler traps for ever at" if rings else
                           "failed: did not ring for 300 ms")


def test_restarts(tmp_path):
    """Each life has its own time, from its begin on: none of it is spent while memory is cleared
    and images are loaded, which takes longer here."""
    result = bare_guests.boot(
        tmp_path, {"alpha": "kind=heart rings=5 every=50000 then=spin"}, memory=128,
        status=harness.VM_FAILED,
        properties='heartbeat-ms = <10>; restart = "on-failure"; restart-limit = <2>;')
    failed, again = "failed: did not ring for 10 ms", "starts again"
    assert ends_of(result, "alpha") == [failed, again, failed, again, failed,
                                        "stays off: restart-limit is 2"]
    assert [line.split(",")[0] for line in result.vm("alpha")] == [
        "heart: begins", "heart: has rung 5 times"] * 3


@pytest.mark.long  # by this computer's clock; the machine of several harts has the same by its own
@pytest.mark.parametrize("roams", [False, True])
def test_on_several_harts(tmp_path, roaming, roams):
    """Its vcpu 1 rings on another hart; and the vcpus move, if told to, after each turn."""
    result = bare_guests.boot(
        tmp_path, {"alpha": "kind=heart by=other rings=40 every=10000 then=end",
                   "beta": "kind=heart by=other rings=40 every=10000 then=spin"},
        status=harness.VM_FAILED, vcpus=("0 1", "1 0"), profile="smp",
        options=["--harts", 2, *(roaming if roams else [])],
        own={"alpha": "heartbeat-ms = <60000>;", "beta": "heartbeat-ms = <3000>;"})
    assert ends_of(result, "alpha") == ["ended"]
    assert ends_of(result, "beta") == ["failed: did not ring for 3000 ms"]
    assert result.vm("alpha")[-1] == "heart: ends, 86 checks, 0 failed"


def test_by_a_bell(tmp_path):
    """A store to a register of a bell's page is a ring, too, and nothing for a VM without the
    property."""
    heartbeat = "heartbeat-ms = <50>;"
    does = {"alpha": ("rings=10 every=300000 then=spin", heartbeat),
            "beta": ("rings=20 every=300000 then=end", heartbeat),
            "gamma": ("rings=2 every=900000 then=end", "")}
    result = run(tmp_path, [VM.format(name=name, memory=4 * MIB, hart=0, properties=properties,
                                      bootargs="kind=heart by=bell " + bootargs)
                            for name, (bootargs, properties) in does.items()],
                 [bells("plic", does)])
    assert result.status == harness.VM_FAILED, str(result)
    assert ends_of(result, "alpha") == ["failed: did not ring for 50 ms"]
    assert result.vm("alpha")[1].startswith("heart: has rung 10 times, last behind ")
    assert ends_of(result, "beta") == ["ended"] and ends_of(result, "gamma") == ["ended"]
    assert result.vm("beta")[-1] == "heart: ends, 1 checks, 0 failed"
