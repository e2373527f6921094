# SPDX-License-Identifier: Apache-2.0
"""Bare guests that share a hart: whatever one does, the others' counts are exact."""

import re

import pytest

import bare_guests
import harness
from measured import LONG_EXPECTED, LONG_ROUND
import plain


LAST_WORDS = {
    "idle": "idle: ends after ",
    "busy": "busy: ends",
    "pmuloop": "pmuloop: ends after ",
    "hostile": "hostile: ends",
}


def test_measure_on_the_firmware_alone():
    text = plain.run(plain.make("build/guests/bare.bin"), LONG_ROUND)
    assert [line for line in text.splitlines() if line.startswith("measure: ")] == LONG_EXPECTED


@harness.both_backends
def test_alone(tmp_path, backend):
    result = bare_guests.boot(tmp_path, {"alpha": LONG_ROUND}, backend=backend)
    assert result.vm("alpha") == LONG_EXPECTED
    # 16 million counted instructions, 16,000 reads in S and U, and not one exit for a read.
    assert bare_guests.exits(result, "alpha")["csr"] == 0


@harness.both_backends
@pytest.mark.parametrize("kind", LAST_WORDS)
def test_beside(tmp_path, backend, kind):
    result = bare_guests.boot(
        tmp_path, {"alpha": LONG_ROUND, "beta": f"kind={kind} ticks=500000"}, backend=backend)
    assert result.vm("alpha") == LONG_EXPECTED
    assert result.vm("beta")[-1].startswith(LAST_WORDS[kind])
    alpha, beta = (bare_guests.exits(result, name) for name in ("alpha", "beta"))
    assert alpha["csr"] == 0
    assert max(alpha["longest-stay"], beta["longest-stay"]) <= 20000


@harness.both_backends
def test_all_at_once(tmp_path, backend):
    guests = {"alpha": LONG_ROUND, "beta": LONG_ROUND}
    guests.update({kind: f"kind={kind} ticks=500000" for kind in LAST_WORDS})
    result = bare_guests.boot(tmp_path, guests, backend=backend)
    assert result.vm("alpha") == LONG_EXPECTED
    assert result.vm("beta") == LONG_EXPECTED
    for kind, words in LAST_WORDS.items():
        assert result.vm(kind)[-1].startswith(words)


FLOODS = {way: f"kind=chatter lines=100000000 by={way}" for way in ("dbcn", "call", "uart")}


@harness.both_backends
@pytest.mark.parametrize("way", FLOODS)
def test_beside_a_flood(tmp_path, backend, way):
    """One that prints without end, through calls, short or of megabytes, or its UART: the other's
    counts are as alone."""
    result = bare_guests.boot(tmp_path, {"alpha": LONG_ROUND, "beta": FLOODS[way]}, backend=backend,
                              until="vm alpha: ended", status=harness.INTERRUPTED)
    assert result.vm("alpha") == LONG_EXPECTED
    assert bare_guests.exits(result, "alpha")["csr"] == 0
    assert len(result.vm("beta")) > 100


def rounds_beside(folder, neighbour):
    """How often a guest goes round that computes."""
    result = bare_guests.boot(folder, {"alpha": "kind=busy ticks=2000000", "beta": neighbour},
                              until="busy: ends", status=harness.INTERRUPTED)
    (line,) = [line for line in result.vm("alpha") if line.startswith("busy: ends after ")]
    return int(line.split()[3])


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    """The same beside one that only computes."""
    return rounds_beside(tmp_path_factory.mktemp("half"), "kind=busy ticks=4000000")


@pytest.mark.parametrize("way", FLOODS)
def test_throughput_beside_a_flood(tmp_path, half, way):
    """No less than beside one that only computes, which is half of the hart."""
    assert rounds_beside(tmp_path, FLOODS[way]) >= 0.99 * half


# sstatus to sip, stimecmp, siselect, satp; time, scountovf, stopi. fcsr is off with FS.
S_READS = "100 104 105 106 10a 140 141 142 143 144 14d 150 180 c01 da0 db0"


def test_the_snapshot_comes_without_overflow_interrupts(tmp_path):
    """Linux loses counts with both: a guest is offered both only if its tree insists."""
    result = bare_guests.boot(tmp_path, {"beta": "kind=hostile ticks=0"},
                              properties='\t\t\tpmu-snapshot = "on";')
    assert (f"vm beta: {bare_guests.NO_OVERFLOW}: pmu-snapshot "
            'is "on", pmu-overflow is not') in result.own
    # No scountovf.
    assert f"hostile: CSRs that S reads: {S_READS.replace(' da0', '')}" in result.vm("beta")


@harness.both_backends
def test_hostile_gets_nothing(tmp_path, backend):
    lines = bare_guests.boot(tmp_path, {"beta": "kind=hostile ticks=0"},
                             backend=backend).vm("beta")
    assert lines[:3] == [
        "hostile: begins",
        f"hostile: CSRs that S reads: {S_READS}",
        "hostile: CSRs that U reads: c01",
    ]
    assert lines[3].startswith("hostile: CSRs done, ")
    assert lines[4] == "hostile: memory done, 0 let through"
    assert lines[5].startswith("hostile: instructions done, ")
    assert lines[6].startswith("hostile: calls done, ")
    assert lines[7:] == ["hostile: ends"]


def test_hostile_on_a_hart_with_smstateen(tmp_path):
    """What nobody switches is closed, and senvcfg, which is switched, is open."""
    lines = bare_guests.boot(
        tmp_path, {"beta": "kind=hostile ticks=0"}, options=["--cpu", "max,ssaia=on,ssccfg=on"],
        until="CSRs that U reads", status=harness.INTERRUPTED).vm("beta")
    assert lines[1:3] == [
        "hostile: CSRs that S reads: 100 104 105 106 10a 140 141 142 143 144 14d 180 c01 da0",
        "hostile: CSRs that U reads: c01",
    ]


@harness.both_backends
def test_a_world_switch_keeps_all_state(tmp_path, backend):
    """Floating point, the CSRs of S: two guests write different marks into all of it."""
    guests = {"alpha": "kind=marks mark=1 ticks=1000000",
              "beta": "kind=marks mark=2 ticks=1000000", "gamma": "kind=busy ticks=500000"}
    result = bare_guests.boot(tmp_path, guests, backend=backend)
    assert result.vm("alpha") == ["marks: ends, 0 wrong"]
    assert result.vm("beta") == ["marks: ends, 0 wrong"]


def test_without_vmids(tmp_path, debug_build):
    """As on harts that have none: all VMs share number 0, and each switch fences."""
    guests = {"alpha": "kind=marks mark=1 ticks=200000", "beta": "kind=marks mark=2 ticks=200000",
              "gamma": LONG_ROUND, "delta": "kind=life type=0"}
    result = bare_guests.boot(tmp_path, guests,
                              options=[*debug_build, "--append", "tally.no-vmids"])
    assert result.vm("alpha") == result.vm("beta") == ["marks: ends, 0 wrong"]
    assert result.vm("gamma") == LONG_EXPECTED
    assert result.vm("delta")[0].startswith("life: fresh 1, dirty words 0, pmu 0, ")


STEAL = "kind=steal ticks=1000000"


@harness.both_backends
@pytest.mark.parametrize("beside, share", [([], 0), (["idle"], 0.02), (["busy"], 0.5),
                                           (["busy"] * 3, 0.75), (["busy"] * 15, 0.9375)])
def test_steal_time(tmp_path, backend, beside, share):
    """What others take of the hart, to a time slice of 20,000 ticks each; nothing where nobody
    does."""
    guests = {"alpha": STEAL}
    guests.update({f"n{n}": f"kind={kind} ticks=2000000" for n, kind in enumerate(beside)})
    result = bare_guests.boot(tmp_path, guests, backend=backend)
    stolen, of = map(int, re.findall(r"\d+", result.vm("alpha")[0])[:2])
    slack = 20000 * len(beside) if "busy" in beside else 0.02 * of * len(beside)
    assert of * share - slack <= stolen <= of * share + slack, result.vm("alpha")


@harness.both_backends
def test_lost_guests(tmp_path, backend):
    """They trap for ever, as they would on a machine of their own, until that is noticed; and
    nobody else suffers."""
    guests = {"alpha": LONG_ROUND, "jump": "kind=wildjump", "satp": "kind=wildsatp"}
    result = bare_guests.boot(tmp_path, guests, status=harness.VM_FAILED, backend=backend)
    assert result.vm("alpha") == LONG_EXPECTED
    assert result.vm("jump") == ["wildjump: begins"]
    assert result.vm("satp") == ["wildsatp: begins"]


@harness.both_backends
def test_two_runs_are_identical(tmp_path, backend):
    guests = {"alpha": LONG_ROUND, "beta": "kind=pmuloop ticks=200000"}
    first, second = (bare_guests.boot(tmp_path, guests, backend=backend).console for _ in range(2))
    assert first == second
