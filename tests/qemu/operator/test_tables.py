# SPDX-License-Identifier: Apache-2.0
"""The tables of vms, exits and pmu while a guest counts. An operator in a VM asks, so all numbers
are those of the same instruction in each run. How a person sees them is in test_prompt.py."""

from bare_guests import FOREVER
import harness
import measured
import operators
from operators import MS, at_once, objects
from prompts import EXITS, SHORT, SHORT_ROWS

ONE = 2 * SHORT + 1
START = 1 << 63  # guests/bare's measure starts its counters one above it
NAMES = "alpha", "beta"
# While alpha's first filter counts.
LOOK = 30 * MS


def check_times(earlier, later):
    """Two answers of `exits --json`, of vcpus that are awake all the time: they run or are stolen
    from, and nothing is counted twice. Microseconds are rounded down, three of them."""
    for before, after in zip(earlier, later, strict=True):
        time, cpu, steal = (after[key] - before[key] for key in ("time_us", "cpu_us", "steal_us"))
        assert time > 0 and cpu > 0 and steal > 0
        assert abs(cpu + steal - time) <= 2, (before, after)


def check_pmu(first, told):
    """Two looks at alpha's only counter, and that there is none of beta's."""
    values = []
    for alpha, counter, beta in (first, told):
        assert (alpha["vm"], alpha["counters"], beta["vm"], beta["counters"]) == (
            "alpha", 1, "beta", 0)
        values.append(counter.pop("value"))
        assert counter == {"vm": "alpha", "vcpu": 0, "counter": 4, "event": "0x2", "data": "0x0",
                           "filter": "uk", "state": "running", "read": "direct",
                           "shared": False, "hctr": 4, "of": False}
    assert START < values[0] < values[1] < START + 2 * ONE


def check_vms(found):
    """Both have run since 15 ms of the machine's time were over."""
    for vm in found:
        assert 10 <= vm.pop("uptime_ms") <= 20
    assert found == [{"vm": name, "state": "running", "vcpus": 1, "harts": [0],
                      "memory": 16 << 20} for name in NAMES]


def check_exits(before, after):
    """Two looks."""
    assert [(vcpu["vm"], vcpu["vcpu"]) for vcpu in after] == [(name, 0) for name in NAMES]
    for earlier, vcpu in zip(before, after, strict=True):
        assert 0 < earlier["hs_instructions"] <= vcpu["hs_instructions"]
        assert all(earlier[cause] <= vcpu[cause] for cause in EXITS)
        insns = vcpu["hs_instructions_by"]
        assert list(insns) == [*EXITS, "loading"] and sum(insns.values()) == vcpu["hs_instructions"]
        # No exit without instructions. None without an exit but for requests that are served at
        # the beginning of a turn, as the start is.
        assert all(insns[cause] for cause in EXITS if vcpu[cause])
        assert {cause for cause in EXITS if insns[cause] and not vcpu[cause]} <= {"irq"}
        # Its memory is cleared, by blocks of 64 bytes.
        assert (16 << 20) / 64 < insns["loading"] < (16 << 20) / 8
        assert 0 < earlier["longest_stay"] <= vcpu["longest_stay"] <= harness.LONGEST_STAY


@harness.both_backends
def test_every_table(tmp_path, backend):
    """And alpha's counts are those of a run in which nobody asks, which are exact."""
    asked = [(LOOK, "vms --json"), *at_once("pmu --json"), (f"+{2 * MS}", "pmu --json"),
             *at_once("exits --json"), (f"+{30 * MS}", "exits --json"), (500 * MS, "vms")]
    result, told = operators.boot(tmp_path, {"alpha": SHORT_ROWS, "beta": FOREVER}, asked,
                                  access="watch", backend=backend, until=operators.ENDED)
    vms, *pmu, before, after = map(objects, told[:-1])
    check_vms(vms)
    check_pmu(*pmu)
    check_exits(before, after)
    check_times(before, after)
    rows = [line for line in result.vm("alpha") if line.startswith("measure: round ")]
    assert len(rows) >= 8 and rows == measured.rounds(2, SHORT)[:len(rows)]


def test_shares_of_a_hart(tmp_path):
    """Two that always run have all of the hart's time between them, half each, in turns of 2 ms,
    but for what the operator has; one's share is what is stolen from the other."""
    asked = [(40 * MS, "exits --json"), (140 * MS, "exits --json")]
    _, told = operators.boot(tmp_path, {"alpha": FOREVER, "beta": FOREVER}, asked, access="watch",
                             until=operators.ENDED)
    before, after = map(objects, told)
    check_times(before, after)
    (alpha, beta) = ({key: last[key] - first[key] for key in ("time_us", "cpu_us", "steal_us",
                                                             "timer")}
                     for first, last in zip(before, after, strict=True))
    for one, other in ((alpha, beta), (beta, alpha)):
        assert abs(one["time_us"] - 100000) <= 2000
        assert abs(one["cpu_us"] - other["cpu_us"]) <= 2000
        assert 0 <= one["steal_us"] - other["cpu_us"] <= 2000 + 1000
        assert 24 <= one["timer"] <= 27
