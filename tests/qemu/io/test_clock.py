# SPDX-License-Identifier: Apache-2.0
"""The clock of each guest: the machine's time of day, and alarms."""

import pytest

import bare_guests
import harness
import hosts
import operators
import schedules
from measured import EXPECTED, MEASURE
from operators import MS

ALARMS = 300
DONE = (f"alarm: 0 before the first, {ALARMS} alarms, {ALARMS} interrupts, 0 early, "
        "0 too many or few, 0 claims of nothing, 0 of others")
ALARM = f"kind=alarm alarms={ALARMS} irq=11"
NEW_YEAR = 1767225600  # of 2026: the machine's RTC in the exact profile


@pytest.mark.parametrize("wait", ["spin", "wfi"])
def test_one_interrupt_an_alarm(tmp_path, wait):
    result = bare_guests.boot(tmp_path, {"alpha": f"{ALARM} wait={wait}"})
    assert result.vm("alpha") == [DONE]


@harness.both_backends
def test_a_neighbour_on_the_hart_counts_as_if_alone(tmp_path, backend):
    result = bare_guests.boot(tmp_path, {"alpha": f"{ALARM} wait=wfi", "beta": MEASURE},
                              backend=backend)
    assert result.vm("alpha") == [DONE]
    assert result.vm("beta") == EXPECTED


def test_two_vcpus_take_turns(tmp_path):
    """The one that has the source enabled changes all the time, so an alarm is an interrupt of the
    other one than has set it as often as not."""
    result = bare_guests.boot(tmp_path, {"alpha": f"{ALARM} delay=300000 wait=turns"},
                              vcpus=("0", "0"))
    assert result.vm("alpha") == [DONE]


def test_none_is_lost_between_two_harts(tmp_path):
    """The hart that has set an alarm lets it come."""
    result = bare_guests.boot(tmp_path, {"alpha": f"{ALARM} delay=300000 wait=turns"},
                              vcpus=("0", "1"), profile="smp", options=["--harts", 2])
    assert result.vm("alpha") == [DONE]


def test_sixteen_alarms_at_once(tmp_path):
    """Each comes in a stay of its own in HS. That none is too long is checked in each run."""
    guests = {f"a{n}": f"{ALARM.replace(str(ALARMS), '30')} step=10000000 wait=wfi"
              for n in range(16)}
    result = bare_guests.boot(tmp_path, guests)
    for name in guests:
        assert result.vm(name) == [DONE.replace(str(ALARMS), "30")]


@pytest.mark.parametrize("slack", ['"alpha"', '"beta"'])
@pytest.mark.parametrize("wait", ["spin", "wfi"])
def test_alarms_in_windows(tmp_path, wait, slack):
    """Most are due outside the VM's windows or pieces of slack. Each comes in the next one."""
    windows = [("alpha", 100, 150, 8), ("beta", 600, 300, 8)]
    result = schedules.boot(
        tmp_path, {"alpha": f"{ALARM.replace(str(ALARMS), '60')} wait={wait} delay=700000",
                   "beta": MEASURE},
        [schedules.schedule(windows if slack == '"beta"' else windows[1:], slack, frame=1000)])
    assert result.vm("alpha") == [DONE.replace(str(ALARMS), "60")]
    assert result.vm("beta") == EXPECTED


@pytest.mark.parametrize("left", ["armed", "pending", "claimed"])
def test_no_alarm_of_a_life_before(tmp_path, left):
    result = bare_guests.boot(tmp_path, {"alpha": f"kind=alarm alarms=20 irq=11 left={left}",
                                         "beta": MEASURE},
                              properties="restart-limit = <2>;", status=harness.VM_FAILED)
    lines = [line for line in result.vm("alpha") if "alarms" in line]
    assert lines == [DONE.replace(str(ALARMS), "20")] * 3
    assert result.vm("beta") == EXPECTED


def boot_date(folder, vms="", **arguments):
    """The boot's line about the clock, and the dates of a guest that runs twice."""
    text = bare_guests.tree({"alpha": "kind=date"},
                            properties='restart = "always"; restart-limit = <1>;')
    file = folder / "date.dts"
    file.write_text(text.replace("vms {", f"vms {{ {vms}", 1), encoding="utf-8")
    result = harness.run(file, options=["--include", harness.BUILD / "guests",
                                        *arguments.pop("options", ())], **arguments)
    (line,) = [line for line in result.own if line.startswith("clock: ")]
    return line, [int(line.split()[1]) for line in result.vm("alpha")]


def test_what_a_guest_sets_lasts_for_its_life(tmp_path):
    line, seconds = boot_date(tmp_path)
    assert line == "clock: 2026-01-01T00:00:00Z, by rtc@101000"
    assert seconds == [NEW_YEAR, 0, NEW_YEAR, 0]


def test_the_tree_has_the_least_time(tmp_path):
    line, seconds = boot_date(tmp_path, f"time-epoch = <{NEW_YEAR + 1}>;")
    assert line == "clock: 2026-01-01T00:00:01Z, by time-epoch"
    assert seconds == [NEW_YEAR + 1, 0] * 2
    line, seconds = boot_date(tmp_path, f"time-epoch = <{NEW_YEAR}>;")
    assert line == "clock: 2026-01-01T00:00:00Z, by rtc@101000"
    assert seconds == [NEW_YEAR, 0] * 2


# Of the machine's clock: it is off, it is another one, and there is nothing at its address.
NO_CLOCK = {"off": ["-ts", "host.dtb", "/soc/rtc@101000", "status", "disabled"],
            "another": ["-ts", "host.dtb", "/soc/rtc@101000", "compatible", "acme,clock"],
            "nothing": ["host.dtb", "/soc/rtc@101000", "reg", "0", "0x30f00000", "0", "0x1000"]}


@pytest.mark.parametrize("why", NO_CLOCK)
def test_a_machine_without_a_clock(tmp_path, why):
    options = ["--qemu", hosts.qemu(tmp_path, *hosts.changed(tmp_path, [NO_CLOCK[why]]))]
    line, seconds = boot_date(tmp_path, options=options)
    assert line == "clock: unknown: no RTC that Tally reads, no time-epoch in the VM tree"
    assert seconds == [0] * 4


def test_the_operator_sees_it_and_the_serial_line_sets_it(tmp_path):
    _, told = operators.boot(tmp_path, {"alpha": f"kind=idle ticks={90 * MS}"},
                             [(10 * MS, "time --json"), (1010 * MS, "time"), ("+0", "time 5"),
                              ("+0", "time now")])
    assert told[0] == (['{"time":"2026-01-01T00:00:00Z","seconds":1767225600}'], 0)
    assert told[1] == (["time 2026-01-01T00:00:01Z, seconds 1767225601"], 0)
    assert told[2] == (["time: only the serial line may set it"], 1)
    assert told[3] == (["time: only the serial line may set it"], 1)
