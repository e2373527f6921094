# SPDX-License-Identifier: Apache-2.0
"""More groups than counters in a Debian guest: perf multiplexes them. Each count is exact, so the
counts of all turns add up to the whole. Scaled figures are perf's estimates."""

import pytest

import harness
from linux_counts import AFTER, WAIT, with_neighbour
from perf_scaling import check_scaled, show, turns
from platforms import cpu, instret_is_alike

KNOWN = 100000000
GROUPS = {
    # One counter, three who want it.
    "4": ("instructions:u,instructions:u,instructions:u", 1),
    # Two counters, three groups of two.
    "3 4": ("'{instructions:u,cycles:u},{instructions:u,cycles:u},{instructions:u,cycles:u}'", 2),
}


def check(lines, events):
    """Exactly one group is counted at any time, as perf changes over in the kernel."""
    found = turns(lines)
    show(found)
    assert len(found) == 3 * events, lines
    for event in {turn.event for turn in found}:
        mine = [turn for turn in found if turn.event == event]
        assert sum(turn.raw for turn in mine) == KNOWN
        assert [turn.enabled for turn in mine] == [sum(turn.running for turn in mine)] * 3
        for turn in mine:
            # A third of the time, but for the first and the last turn of 4 ms.
            assert abs(turn.running - turn.enabled / 3) < 8e6, turn
            check_scaled(turn, KNOWN)
            # perf's output has time_running beside the scaled figure.
            assert any(line.startswith(f"{turn.scaled},,{event},{turn.running},") for line in lines)
    return found


@pytest.mark.parametrize("counters, backend", [
    ("4", "sbi"), ("3 4", "ssccfg"), pytest.param("4", "ssccfg", marks=pytest.mark.long),
    pytest.param("3 4", "sbi", marks=pytest.mark.long)])
def test_turns(tmp_path, backend, counters):
    """Alone, and beside a busy neighbour, when most of what is not the program's is the
    neighbour's."""
    groups, events = GROUPS[counters]
    stat = f"perf stat -v -x, -e {groups} work {KNOWN} 2>&1\n"
    tree = with_neighbour(tmp_path, f"{stat}echo beside\n{WAIT}{stat}", f"busy {AFTER}",
                          properties=f"\t\t\tpmu-counters = <{counters}>;")
    result = harness.run(tree, backend=backend, until="alpha end ")
    assert result.status == harness.INTERRUPTED, str(result)
    lines = result.guest_output("alpha", "alpha")
    split = lines.index("beside")
    for turn in check(lines[:split], events):
        assert turn.enabled < 1.02 * KNOWN
    for turn in check(lines[split:], events):
        assert turn.enabled > 1.8 * KNOWN


@pytest.mark.parametrize("missing", [[], ["smcntrpmf"]], ids=["side-by-side", "turns"])
def test_two_filters(tmp_path, missing):
    """QEMU counts an event on one programmable counter. The fixed counter takes the second filter
    where Smcntrpmf gives it filters, if it counts alike; elsewhere the two rotate."""
    script = f"perf stat -v -x, -e instructions:u,instructions:k work {KNOWN} 2>&1\n"
    tree = harness.linux_tree(tmp_path, {"alpha": script})
    result = harness.run(tree, options=["--cpu", cpu(missing)])
    assert result.status == harness.OK, str(result)
    user, kernel = turns(result.guest_output("alpha", "alpha"))
    show([user, kernel])
    assert (user.event, kernel.event) == ("instructions:u", "instructions:k")
    assert user.enabled == kernel.enabled
    if missing or not instret_is_alike():
        assert user.running + kernel.running == user.enabled
        assert abs(user.running - user.enabled / 2) < 8e6, user
        check_scaled(user, KNOWN)
    else:
        assert user.running == kernel.running == user.enabled
        assert user.scaled == user.raw == KNOWN
