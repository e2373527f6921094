# SPDX-License-Identifier: Apache-2.0
"""A VM that is an operator in windows of a schedule: its requests run in them alone, and the others
are what they are beside one that only computes."""

import re

import pytest

import bare_guests
import harness
from measured import ONE_EXPECTED, ONE_ROUND
import operators
import plain
from schedules import TICKS_A_US, schedule

WINDOWS = 60
# us: of each VM's window, the first tick and the length; the frame's end is nobody's.
FRAME = 3000
PLACES = {"alpha": (300, 100), "gamma": (600, 300), "delta": (1100, 300), "beta": (1600, 1000)}
OPERATOR = """
	operator = "{access}"; operator-vms = "{of}"; operator-interrupt = <5>;
	operator-requests-hz = <10000>; operator-samples-hz = <100000>;
"""
ALONE = "kind=busy ticks=100000000000"
HOSTILE = "kind=hostile-operator of=alpha rounds=1000"
# At any moment of the frame, and all at once. Delta is off at last.
ASKS = ["vms --json", "exits --json", "help", "pmu", "observe delta instructions", "observed",
        "sample delta 0x2 1000", "observed --json", "unobserve", "restart delta", "stop delta",
        "start delta", "stop alpha", "vms", "nonsense", "stop delta"]
SCRIPT = [("+1237", command) for command in ASKS] + [("+0", command) for command in ASKS]


def windows(folder, neighbour, backend, access="control", of="delta"):
    """The run until alpha has counted its windows; beta is the operator. Each VM has windows of its
    own."""
    for name in ("selftest", "bare", "sampling"):
        plain.make(f"build/guests/{name}.bin")
    start, _ = PLACES["alpha"]
    guests = {"alpha": f"kind=delays frame={FRAME * TICKS_A_US} start={start * TICKS_A_US} "
                       f"windows={WINDOWS}",
              "gamma": ONE_ROUND, "delta": bare_guests.FOREVER, "beta": neighbour}
    places = [(name, *place, harness.LEAST_GUARD[backend]) for name, place in PLACES.items()]
    folder.mkdir(exist_ok=True)
    file = folder / "vms.dts"
    text = bare_guests.tree(guests, own={"beta": OPERATOR.format(access=access, of=of)})
    file.write_text(text + "/ { schedules { " + schedule(places, frame=FRAME) + " }; };\n",
                    encoding="utf-8")
    return harness.run(file, until="vm alpha: ended", backend=backend,
                       options=["--include", harness.BUILD / "guests"])


def others(result):
    """What alpha and gamma say of their windows and counts, and what they have called."""
    assert not [line for line in result.own if "began late" in line], str(result)
    calls = {name: {cause: n for cause, n in bare_guests.exits(result, name).items()
                    if cause in ("ecall", "mmio", "csr", "wfi", "lcofi", "other")}
             for name in ("alpha", "gamma")}
    return [result.vm(name) for name in ("alpha", "gamma")], calls


@harness.both_backends
@pytest.mark.parametrize("neighbour", ["script", "hostile"])
def test_the_others_are_the_same(tmp_path, backend, neighbour):
    """Their windows begin at their ticks, and they count the same. No stay is longer than it may
    be (harness.note_stays)."""
    script = f"kind=operator times=1000 script={operators.script(SCRIPT)}"
    alone = windows(tmp_path / "alone", ALONE, backend)
    if neighbour == "script":
        beside = windows(tmp_path / "beside", script, backend)
    else:
        beside = windows(tmp_path / "beside", HOSTILE, backend, "watch", "beta")
    said, _ = others(alone)
    assert said[0][0] == f"delay 0 ticks, {WINDOWS} times" and said[1] == ONE_EXPECTED
    assert others(beside) == others(alone)
    if neighbour == "script":
        ends = re.findall(r"^\[beta\] operator: \d+: status (\d)$", beside.console, re.M)
        assert len(ends) > 3 * len(ASKS) and set(ends[:len(ASKS)]) == {"0", "1", "2"}
    else:
        assert beside.vm("beta") == [
            "hostile: registers 0, memory 0, commands 0, indices 0, floods 0 let through"]


@harness.both_backends
def test_requests_run_in_its_windows(tmp_path, backend):
    """Tally makes each answer there, whenever in the frame it was asked for."""
    asked = [("+1237", "exits --json"), ("+0", "exits --json"), ("+0", "!time")]
    script = f"kind=operator times=1000 script={operators.script(asked)}"
    console = windows(tmp_path, script, backend).console
    begin, length = PLACES["beta"]
    guest, machine = map(int, re.search(r"operator: 3: time (\d+) of (\d+)", console).groups())
    times = [int(n) - (machine - guest) / TICKS_A_US
             for n in re.findall(r'^\[beta\] .*"time_us":(\d+)', console, re.M)]
    places = [time % FRAME for time in times]
    assert len(places) > 80
    assert all(begin <= place <= begin + length for place in places), places
    # Not at one place of the window alone.
    assert max(places) - min(places) > length / 2
