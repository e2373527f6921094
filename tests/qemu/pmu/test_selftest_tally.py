# SPDX-License-Identifier: Apache-2.0
"""The self test guest on Tally: every answer as SBI 3.0 says, every count as without Tally."""

import pytest

import bare_guests
from firmwares import WITH_SNAPSHOT
import harness
import plain

NEIGHBOURS = ("idle", "busy", "pmuloop", "hostile")
VERDICTS = {"PASS": 338, "FAIL": 0, "KNOWN": 0, "SKIP": 2}


def numbers(lines):
    """The counts of code of known length, one line each."""
    return [line for line in lines if line.startswith("count event ")]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """{back end: (guest's lines, exits)} of the self test alone on the hart."""
    runs = {}
    for backend in harness.BACKENDS:
        folder = tmp_path_factory.mktemp(backend)
        result = bare_guests.boot(folder, {"alpha": ""}, backend=backend)
        runs[backend] = (result.vm("alpha"), bare_guests.exits(result, "alpha"))
    return runs


@harness.both_backends
def test_every_case_passes(alone, backend):
    lines, _ = alone[backend]
    assert bare_guests.kinds(lines) == VERDICTS
    assert lines[-2:] == ["0 known, 2 skipped", "338 passed, 0 failed"]
    assert lines[0] == "selftest: SBI 3.0, implementation 0x54414c version 0x100"


@harness.both_backends
def test_every_case_with_the_snapshot(tmp_path, backend):
    result = bare_guests.boot(tmp_path, {"alpha": ""}, backend=backend,
                              properties='pmu-snapshot = "on"; pmu-overflow = "on";')
    assert bare_guests.kinds(result.vm("alpha")) == WITH_SNAPSHOT
    assert result.vm("alpha")[-2:] == ["0 known, 1 skipped", "376 passed, 0 failed"]
    assert bare_guests.exits(result, "alpha")["longest-stay"] <= harness.LONGEST_STAY


@harness.both_backends
def test_counts_as_on_the_firmware_alone(alone, backend):
    reference = plain.run(plain.make("build/guests/selftest.bin")).splitlines()
    assert len(numbers(reference)) == 11
    assert numbers(alone[backend][0]) == numbers(reference)


@harness.both_backends
def test_idle_time_is_no_cycle(alone, backend):
    assert "count over WFI: instructions 10, cycles 10" in alone[backend][0]


def test_both_backends_look_the_same(alone):
    assert alone["sbi"][0] == alone["ssccfg"][0]


@harness.both_backends
def test_trapped_reads_give_the_same(alone, tmp_path, backend):
    """An instruction that is emulated counts like one that is not."""
    result = bare_guests.boot(tmp_path, {"alpha": ""}, backend=backend,
                              properties='pmu-reads = "trap";')
    assert result.vm("alpha") == alone[backend][0]
    assert bare_guests.exits(result, "alpha")["csr"] > alone[backend][1]["csr"] + 1000


@harness.both_backends
def test_no_exit_keeps_the_hart_long(alone, backend):
    assert 0 < alone[backend][1]["longest-stay"] <= harness.LONGEST_STAY


@harness.both_backends
@pytest.mark.parametrize("neighbour", NEIGHBOURS)
def test_a_neighbour_does_not_show(alone, tmp_path, backend, neighbour):
    result = bare_guests.boot(tmp_path, {"alpha": "", "beta": f"kind={neighbour} ticks=300000"},
                              backend=backend)
    assert result.vm("alpha") == alone[backend][0]


# They damage OpenSBI; here they are cases like others.
@harness.both_backends
@pytest.mark.parametrize("case, passed", [("fw-base", 5), ("fw-base-start", 5), ("wrap", 9),
                                          ("info", 9), ("shmem", 3)])
def test_corrupting_cases(tmp_path, backend, case, passed):
    lines = bare_guests.boot(tmp_path, {"alpha": f"case={case}"}, backend=backend).vm("alpha")
    assert f"case {case}" in lines
    assert lines[-1] == f"{passed} passed, 0 failed"
