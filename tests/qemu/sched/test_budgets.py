# SPDX-License-Identifier: Apache-2.0
"""Budgets: how many events a vcpu may cause in a period, and that its own counts stay exact."""

import re

import pytest

import bare_guests
from budgets import CYCLES, DTLB, INSTRUCTIONS, LATE, away, budget
import harness
import measured
import plain
import platforms
import sampling

TICKS_A_US = 10
NS_AN_INSTRUCTION = 1
UINH, SINH = 0x20, 0x40
SPENT = re.compile(r"vm (\w+): vcpu (\d): budget spent in (\d+) periods, "
                   r"exceeded by (\d+) at most, throttled for (\d+) ticks")
# Of the loop in guests/bare/pmu/budget.c, and what it does when it was away.
ROUND = 300


def spent(result):
    """{(VM, vcpu): (periods, exceeded by, throttled ticks)} of all lives."""
    return {(vm, int(vcpu)): tuple(map(int, numbers))
            for vm, vcpu, *numbers in filter(None, (
                match and match.groups() for match in map(SPENT.fullmatch, result.own)))}


def measured_beside(event, length):
    """The lines of kind=measure beside a budget of an event. If guests do not get instret, other
    filters than the budget's are refused for instructions."""
    lines = measured.expected(1, length)
    if event == INSTRUCTIONS and not platforms.instret_is_alike():
        return (lines[:1] + measured.refused("0x2")[1:] + lines[4:8]
                + ["measure: ends, 3 wrong of 8"]), harness.VM_FAILED
    return lines, harness.OK


@harness.both_backends
@pytest.mark.parametrize("count, period_us", [(1000000, 10000), (1000000, 2000), (20000, 100)])
def test_it_is_stopped_at_its_budget(tmp_path, backend, count, period_us):
    """Alone on its hart, its counter with the budget's: a span of exactly the budget in each
    period. QEMU with -icount interrupts at the very instruction, so nothing is exceeded."""
    periods = 100
    ticks = periods * period_us * TICKS_A_US
    result = bare_guests.boot(tmp_path, {"alpha": f"kind=budget ticks={ticks}"}, backend=backend,
                              properties=budget(INSTRUCTIONS, count, period_us))
    times, total, longest, steal, throttled, least, most = away(result, "alpha")
    assert count - ROUND <= least <= most <= count + ROUND
    assert abs(times - periods) <= 1 and steal == 0
    # As long as it was away it was throttled.
    assert times * LATE >= total - throttled >= 0
    rest = period_us * TICKS_A_US - count * NS_AN_INSTRUCTION // 100
    assert abs(longest - rest) <= LATE
    # What it prints in the end takes periods, too: some 23 of the shortest.
    ((all_times, exceeded, all_throttled),) = spent(result).values()
    assert times <= all_times <= times + 30 and exceeded == 0
    assert 0 <= all_throttled - throttled <= (all_times - times + 1) * rest
    assert (f"vm alpha: at most {count} instructions a vcpu in {period_us} us, counted on counter 4"
            in result.own)


@harness.both_backends
@pytest.mark.parametrize("flags", [UINH, SINH])
def test_another_filter(tmp_path, backend, flags):
    """The guest's counter with another filter is on the fixed counter, and as exact."""
    platforms.want_instret()
    result = bare_guests.boot(tmp_path, {"alpha": f"kind=budget ticks=2000000 flags={flags}"},
                              backend=backend, properties=budget(INSTRUCTIONS, 1000000, 10000))
    times, _, _, steal, _, least, most = away(result, "alpha")
    assert abs(times - 20) <= 1 and steal == 0
    count = 0 if flags == SINH else 1000000
    assert abs(least - count) <= (ROUND if count else 0) >= abs(most - count)


@pytest.mark.parametrize("backend, event, count, period_us, length", [
    pytest.param("sbi", INSTRUCTIONS, 10000000, 20000, 25000000, marks=pytest.mark.long),
    ("ssccfg", INSTRUCTIONS, 10000000, 20000, 25000000),
    *((backend, *rest) for backend in harness.BACKENDS
      for rest in ((CYCLES, 1000000, 2000, 1000000), (INSTRUCTIONS, 1001, 100, 500000))),
])
def test_the_fixed_loop(tmp_path, backend, event, count, period_us, length):
    """50,000,001 instructions, and fewer: every count of both events with each filter is exact
    while the vcpu is stopped again and again."""
    lines, status = measured_beside(event, length)
    result = bare_guests.boot(tmp_path, {"alpha": f"kind=measure rounds=1 length={length}"},
                              backend=backend, properties=budget(event, count, period_us),
                              status=status)
    assert result.vm("alpha") == lines
    # What was counted, of S and U, in periods of so many.
    ((periods, exceeded, _),) = spent(result).values()
    counted = sum("WRONG" not in line for line in lines[:8])
    assert periods >= counted * (4 * length) // count and exceeded == 0


@pytest.mark.parametrize("backend, event, chosen, flags", [
    ("sbi", INSTRUCTIONS, INSTRUCTIONS, 0), ("ssccfg", INSTRUCTIONS, INSTRUCTIONS, 0),
    ("sbi", INSTRUCTIONS, CYCLES, None), ("ssccfg", CYCLES, INSTRUCTIONS, None),
    pytest.param("ssccfg", INSTRUCTIONS, CYCLES, None, marks=pytest.mark.long),
    pytest.param("sbi", CYCLES, INSTRUCTIONS, None, marks=pytest.mark.long)])
def test_the_guest_samples(tmp_path, backend, event, chosen, flags):
    """The budget's event with its filter, and another event with any filter: each sample comes at
    its instruction. With another filter of the budget's event samples are late, as test_filters.py
    has them."""
    text = f"sampling=table event={chosen}" + ("" if flags is None else f" flags={flags}")
    result = bare_guests.boot(tmp_path, {"alpha": text}, backend=backend,
                              properties=budget(event, 100000, 200))
    wanted, its = [], False
    for line in sampling.table(backend)[:-1]:
        if line.startswith("event"):
            # The table has the filters in turn, each with both events; the first is none.
            its = line == f"event 0x{chosen:x}" and not (flags == 0 and wanted)
        if its:
            wanted.append(line)
    assert result.vm("alpha") == wanted + ["table: ends"]
    assert spent(result)["alpha", 0][0] > 1000


@harness.both_backends
def test_the_specification(tmp_path, backend):
    """The self test of the PMU passes beside a budget, but for what counts the budget's event with
    two filters more."""
    both = {}
    for what, text in (("with", budget(CYCLES, 100000, 200)), ("without", "")):
        result = bare_guests.boot(tmp_path, {"alpha": ""}, backend=backend, properties=text)
        both[what] = result.vm("alpha")
        assert bare_guests.kinds(both[what])["FAIL"] == 0, str(result)
    assert [line.split(":")[0] for line in both["with"]] == [
        line.split(":")[0] for line in both["without"]]


@harness.both_backends
def test_several_on_a_hart(tmp_path, backend):
    """Each has its own budget; what both leave is the third's, who has none. Time in which a vcpu
    wants to run is its own, stolen or throttled."""
    ticks, period_us = 2000000, 10000
    guests = {"alpha": f"kind=budget ticks={ticks}", "beta": f"kind=budget ticks={ticks} own=0",
              "gamma": f"kind=budget ticks={ticks}"}
    result = bare_guests.boot(
        tmp_path, guests, backend=backend,
        own={"alpha": budget(INSTRUCTIONS, 1000000, period_us),
             "beta": budget(CYCLES, 500000, period_us)})
    told = spent(result)
    assert set(told) == {("alpha", 0), ("beta", 0)}
    for name, own in (("alpha", 10000), ("beta", 5000)):
        (line,) = result.vm(name)
        _, _, _, steal, throttled, _, _ = away(result, name)
        lasted = int(re.search(r"of (\d+) ticks", line)[1])
        assert 20 <= told[name, 0][0] <= 22 and told[name, 0][1] == 0
        # What was neither is what it had: its budget in each period.
        had, periods = lasted - steal - throttled, lasted / (period_us * TICKS_A_US)
        assert (periods - 1) * own <= had <= (periods + 1) * (own + LATE)
    _, _, _, steal, throttled, _, _ = away(result, "gamma")
    assert throttled == 0 and steal <= 22 * (10000 + 5000 + 4 * LATE)


@pytest.mark.parametrize("backend, how", [
    pytest.param(backend, how,
                 marks=pytest.mark.long if (backend, how) == ("sbi", "samples") else ())
    for backend in harness.BACKENDS for how in ("counters", "samples", "suspend", "wfi")])
def test_no_call_extends_it(tmp_path, backend, how):
    """Stops, starts and resets of its counters, samples near their wraps, suspend and WFI."""
    count, period_us, periods = 500000, 10000, 20
    result = bare_guests.boot(
        tmp_path, {"alpha": f"kind=dodge how={how} ticks={periods * period_us * TICKS_A_US}"},
        backend=backend, properties=budget(INSTRUCTIONS, count, period_us))
    (line,) = result.vm("alpha")
    executed, ticks = map(int, re.fullmatch(
        r"dodge: at least (\d+) instructions in (\d+) ticks", line).groups())
    ((times, exceeded, _),) = spent(result).values()
    assert abs(times - periods) <= 1 and exceeded == 0
    assert executed <= (ticks // (period_us * TICKS_A_US) + 1) * count
    # What it did besides the loop of known length is of the budget, too.
    assert executed >= periods * count // 4


def test_an_end_begins_no_period(tmp_path):
    """The next life of a VM, and of a vcpu, has what the last one has left."""
    count, used = 10000000, 6000000
    result = bare_guests.boot(
        tmp_path, {"alpha": f"kind=lives used={used}"}, status=harness.VM_FAILED,
        properties=budget(INSTRUCTIONS, count, 1000000) +
        ' restart = "on-failure"; restart-limit = <1>;')
    first, second = (int(re.fullmatch(r"lives: (\d+) instructions left", line)[1])
                     for line in result.vm("alpha"))
    boot = count - first  # it clears its memory before it counts
    assert 0 < boot < count // 10
    assert 0 <= count - used - boot - second < 5000

    result = bare_guests.boot(
        tmp_path, {"alpha": f"kind=stops used={used} sleep=12000000"}, vcpus=("0", "0"),
        properties=budget(INSTRUCTIONS, count, 1000000))
    first, second = (int(re.fullmatch(r"stops: (\d+) instructions left", line)[1])
                     for line in result.vm("alpha"))
    assert 0 <= count - first < 2000 and 0 <= count - used - second < 2000
    assert spent(result)["alpha", 0][0] == 0 and spent(result)["alpha", 1][0] == 2


def test_without_a_pmu(tmp_path):
    """A guest that has no PMU, and one without overflow interrupts, have budgets all the same."""
    for text in ('pmu = "off";', 'pmu-overflow = "off";'):
        result = bare_guests.boot(tmp_path, {"alpha": "kind=gaps ticks=1000000"},
                                  properties=budget(INSTRUCTIONS, 1000000, 10000) + text)
        line, = result.vm("alpha")
        times, ticks = map(int, re.search(r"away (\d+) times, (\d+) ticks", line).groups())
        assert abs(times - 10) <= 1 and abs(ticks - times * 90000) < 10 * LATE
        assert abs(spent(result)["alpha", 0][0] - 10) <= 1


@pytest.mark.parametrize("event, cpu, words", [
    (DTLB, None, "hart 0 has no overflow interrupt of cache events"),
    (3, None, "hart 0 has no counter for the event"),
    (INSTRUCTIONS, platforms.cpu(["ssccfg"]), "hart 0 has no ssccfg"),
    (INSTRUCTIONS, platforms.cpu(["ssaia"]),
     "hart 0 has no access to hvien (mstateen0.AIA is 0)"),
    (INSTRUCTIONS, platforms.cpu(["sscofpmf"]), "hart 0 has no counters"),
], ids=["cache", "references", "no-ssccfg", "no-ssaia", "no-sscofpmf"])
def test_harts_that_cannot(tmp_path, event, cpu, words):
    if words == "hart 0 has no ssccfg" and platforms.hides_flags():
        # Guests do not see the budget's: it is possible, and counts are exact.
        lines, status = measured_beside(event, 500000)
        result = bare_guests.boot(tmp_path, {"alpha": "kind=measure rounds=1 length=500000"},
                                  properties=budget(event, 1001, 100), options=["--cpu", cpu],
                                  status=status)
        assert result.vm("alpha") == lines
        assert spent(result)["alpha", 0][0] > 1000
        return
    plain.make("build/guests/bare.bin")
    file = tmp_path / "budget.dts"
    file.write_text(bare_guests.tree({"alpha": "kind=gaps"},
                                     properties=budget(event, 5000, 1000)), encoding="ascii")
    options = ["--include", harness.BUILD / "guests"] + (["--cpu", cpu] if cpu else [])
    result = harness.run(file, options=options)
    assert result.status == harness.REFUSED, str(result)
    assert result.own[-1] == f"refused: /vms/alpha: budget: {words}"


def test_who_ends_with_its_budget_stays_off(tmp_path):
    """Vcpu 1 ends its VM by one of the 14 instructions of which one spends its budget. In the next
    life it does not run before somebody starts it."""
    count = 2000000
    names = [f"vm{k:02}" for k in range(14)]
    result = bare_guests.boot(
        tmp_path, {name: f"kind=last-breath n={count // 2 - 20} k={k + 24}"
                   for k, name in enumerate(names)},
        vcpus=("0", "0"), memory=4, status=harness.VM_FAILED,
        properties=budget(INSTRUCTIONS, count, 1000000)
        + ' restart = "on-failure"; restart-limit = <1>;')
    for name in names:
        assert result.vm(name) == ["last-breath: pulse 0, vcpu 1 is in state 1"] * 2
    # One of them met it.
    assert any(spent(result)[name, 1][0] for name in names)
