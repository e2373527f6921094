# SPDX-License-Identifier: Apache-2.0
"""A hart without Ssccfg, whose scountovf a guest reads by itself: a VM alone on it samples as on
any other, and sees its own flags; VMs that share it count, and are told why they cannot sample."""

import shutil

import pytest

import bare_guests
import harness
import linux_counts
from measured import ONE_EXPECTED, ONE_ROUND
from platforms import cpu, hides_flags
import sampling

CPU = ["--cpu", cpu(["ssccfg"])]

OFFERED = ("vm alpha: overflow interrupts without ssccfg: one counter for each event, "
           "and no cache events")


@pytest.fixture(autouse=True)
def shows_flags():
    if hides_flags():
        pytest.skip("this QEMU hides OF bits of closed counters: test_shared_flags.py")


def boot(folder, guests, **arguments):
    """Guests on such a hart; there is one back end for it."""
    return bare_guests.boot(folder, guests, options=CPU, timeout=harness.GUARD, **arguments)


def alone(folder, bootargs, **arguments):
    """What guests/sampling says alone on it."""
    result = boot(folder, {"alpha": "sampling=" + bootargs}, **arguments)
    assert OFFERED in result.own
    assert "vm alpha: 16 MiB, 1 vcpu on hart 0, 16 counters (3 to 18)" in result.own
    return result.vm("alpha")


def test_every_arming_brings_one_interrupt_at_its_instruction(tmp_path):
    """After starts far from the wrap, too, which have OF = 0 here."""
    assert alone(tmp_path, "table") == sampling.table("alone")


def test_pending_bit_and_flags_at_each_step(tmp_path):
    expected = 2 * sampling.MASKED + sampling.LATE + "steps: ends"
    assert alone(tmp_path, "steps") == expected.splitlines()


def test_a_sample_costs_no_exit_for_its_flags(tmp_path):
    """As test_exits_of_a_sample(), less those that read scountovf."""
    expected = []
    for look in (False, True):
        for period in (1, 10, 200, 1000):
            run = sampling.RUN
            overflows, samples = run // period, (run - 1) // period
            expected.append(f"period {period}, scountovf {'read' if look else 'not read'}: "
                            f"{samples} samples, exits {overflows + 2 * samples}, by calls "
                            f"{2 * samples}, by overflow {overflows}, by CSR reads 0")
    expected.append("two overflows, flags 0x3: 1 taken, made pending 1")
    assert alone(tmp_path, "exits") == expected + ["exits: ends"]


def test_each_sample_is_looked_at(tmp_path):
    assert alone(tmp_path, "rate period=1000 samples=6000") == [
        "rate: ends, 6000 samples, 0 wrong"]


def test_it_sees_no_stray_flag(tmp_path):
    """Counters that do not run, that run far from the wrap, and samples in between."""
    assert alone(tmp_path, "watch ticks=300000") == ["watch: ends, 0 odd"]
    assert alone(tmp_path, "leaks ticks=10000") == ["leaks: 0x0, 0 changes"]


@pytest.mark.parametrize("sequences", [1000, pytest.param(5000, marks=pytest.mark.long)])
def test_a_model_agrees(tmp_path, sequences):
    """The same sequences as on the firmware alone; and with far starts, starts while one pends and
    all. There a call follows where one is masked that pends: it is found at the guest's next exit
    only (docs/platform-counters.md, Overflow 5), and here looks at scountovf are none."""
    assert alone(tmp_path, "chance clean=yes sharers=1 sequences=500") == [
        "chance: ends after 500 sequences, 162 interrupts, 0 wrong"]
    last = alone(tmp_path, f"chance calls=yes sharers=1 sequences={sequences}")[-1]
    assert last.startswith(f"chance: ends after {sequences} sequences, ")
    assert last.endswith(" interrupts, 0 wrong")
    assert int(last.split()[5]) > sequences // 5


def test_the_snapshot_and_a_limit(tmp_path):
    lines = alone(tmp_path, "snapshot",
                  properties='\t\t\tpmu-snapshot = "on"; pmu-overflow = "on";')
    assert lines[0] == "snapshot: 1000 samples, 0 wrong"
    lines = alone(tmp_path, "limit limit=7 period=10 windows=5 shared=no",
                  properties="\t\t\tpmu-overflow-limit = <7>;")
    assert lines[1:] == ["limit: made pending 36, held back 5", *sampling.by_hand(7),
                         "limit: ends, 0 wrong"]


def test_the_next_life_sees_no_flag_of_the_last(tmp_path):
    """Each ends with a flag set and another counter one event from its wrap."""
    lines = alone(tmp_path, "armed how=restart pending=yes flags=yes left=1 ticks=1000",
                  status=harness.VM_FAILED, properties="\t\t\trestart-limit = <3>;")
    assert lines == 4 * ["armed: flags 0x0", "armed: LCOFIP 1"]


def test_what_cannot_be_shown_is_refused(tmp_path):
    """A TLB event must not be armed, and its flag is 1 then; a counter that shares has the flag of
    another."""
    lines = alone(tmp_path, "tlb")
    assert lines == [line for event in ("0x10019", "0x1001b", "0x10021")
                     for line in (f"event {event}", f"event {event} flags 0x0: refused")] + [
                         "event 0x10019 flags 0x0: refused", "tlb: ends"]
    lines = alone(tmp_path, "steps shared=yes")
    assert [line for line in lines if "refused" in line] == [
        f"event 0x{event} flags 0x40: refused" for event in (1, 1, 2, 2)]
    assert lines[-1] == "steps: ends"


def test_counts_are_exact(tmp_path):
    result = boot(tmp_path, {"alpha": ONE_ROUND})
    assert OFFERED in result.own
    assert result.vm("alpha") == ONE_EXPECTED
    assert bare_guests.exits(result, "alpha")["csr"] == 0


@pytest.mark.parametrize("guests, properties, why", [
    (("alpha", "beta"), "", "other vcpus share it"),
    (("alpha",), 'pmu-reads = "trap";', 'pmu-reads is "trap"'),
], ids=["two", "trap"])
def test_where_it_is_not_offered_counting_is_exact(tmp_path, guests, properties, why):
    result = boot(tmp_path, {name: ONE_ROUND for name in guests}, properties="\t\t\t" + properties)
    for name in guests:
        line = f"vm {name}: {bare_guests.NO_OVERFLOW}: hart 0 has no ssccfg, and {why}"
        assert line in result.own
        assert result.vm(name) == ONE_EXPECTED


def test_frozen_with_the_vcpu_it_is_not_offered(tmp_path):
    result = boot(tmp_path, {"alpha": "kind=busy ticks=1000"},
                  properties='\t\t\tpmu-freeze = "vcpu";')
    assert (f'vm alpha: {bare_guests.NO_OVERFLOW}: hart 0 has no ssccfg, and pmu-freeze is "vcpu"'
            in result.own)


# TLB events are refused; a count beside samples, and one that is far from its wrap after them.
DEBIAN = linux_counts.PROFILE + """
perf stat -x, -e instructions:u,cycles:u,dTLB-load-misses work 10000000 2>&1 | sed 's/^/stat: /'
perf record -q -e instructions:u -c 9973 -o /tmp/data /test/two_functions 2>&1
perf script -i /tmp/data -F ip 2>/dev/null | wc -l | sed 's/^/again: /'
"""


def test_profile_of_two_functions(tmp_path, two_functions):  # pylint: disable=redefined-outer-name
    """In a Debian guest, samples between counts."""
    (tmp_path / "test").mkdir()
    shutil.copy(two_functions, tmp_path / "test")
    result = harness.run(harness.linux_tree(tmp_path, {"alpha": DEBIAN}), options=CPU)
    assert result.status == harness.OK, str(result)
    assert OFFERED in result.own
    lines = result.guest_output("alpha", "alpha")
    heavy = (linux_counts.HEAVY - 1) // linux_counts.PERIOD
    samples = linux_counts.ALL // linux_counts.PERIOD
    assert linux_counts.symbols([line for line in lines if ":" not in line]) == {
        "heavy": heavy, "light": samples - heavy}, lines
    counts = harness.perf_counts([line.removeprefix("stat: ") for line in lines])
    assert counts["instructions:u"] == counts["cycles:u"] == 10000000
    assert counts["dTLB-load-misses"] == "<not supported>"
    assert lines[-1] == f"again: {samples}"
    assert bare_guests.exits(result, "alpha")["lcofi"] == 2 * samples
