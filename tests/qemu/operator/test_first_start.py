# SPDX-License-Identifier: Apache-2.0
"""The first start of VMs: each one when its own hart has cleared it, or when somebody asks for it.
"""

import pytest

import bare_guests
import harness
from lives import ends_of
import measured
import operators
from operators import MS
import plain
import prompts
import schedules

DEFER = 'boot = "defer";'
WAITS = 'vm beta: waits for its first start: boot is "defer"'
FOR_EVER = "kind=busy ticks=100000000000"


def at(result, text):
    """Where the only line with this text is."""
    (line,) = [n for n, line in enumerate(result.lines) if text in line]
    return line


def sized(text, name, mib):
    """The tree with so much memory for one VM."""
    first, second = text.split(f"\t\t{name} {{", 1)
    return f"{first}\t\t{name} {{" + second.replace("<(16 << 20)>", f"<({mib} << 20)>", 1)


def run(folder, text, **arguments):
    """Boots a tree of bare guests."""
    plain.make("build/guests/bare.bin")
    file = folder / "first.dts"
    file.write_text(text, encoding="utf-8")
    return harness.run(file, options=["--memory", "2G", "--include", harness.BUILD / "guests",
                                      *arguments.pop("options", ())], **arguments)


def test_a_small_vm_starts_first(tmp_path):
    """A hart clears two VMs in turns: the small one has ended before the other one is clear. The
    big one stands before it in the tree."""
    text = sized(bare_guests.tree({"big": "kind=busy ticks=1", "small": "kind=busy ticks=1"}),
                 "big", 512)
    result = run(tmp_path, text)
    assert result.status == harness.OK, str(result)
    assert (at(result, "to the first guest") < at(result, "[small] busy: begins") <
            at(result, "vm small: ended") < at(result, "[big] busy: begins"))


def test_a_small_vm_on_another_hart(tmp_path, two_harts):
    """It has ended before the boot hart has cleared 896 MiB, which is 50 times as much work."""
    text = sized(bare_guests.tree({"big": "kind=busy ticks=1", "small": "kind=busy ticks=1"}),
                 "big", 896)
    last = text.rindex("harts = <0>")
    text = text[:last] + text[last:].replace("<0>", "<1>", 1)
    result = run(tmp_path, text, options=two_harts, stays=False)
    assert result.status == harness.OK, str(result)
    assert at(result, "vm small: ended") < at(result, "[big] busy: begins")


@harness.both_backends
def test_started_by_another_vm(tmp_path, backend):
    """It stays off until then, and each count of its first life is exact, as if boot had started
    it."""
    result = bare_guests.boot(
        tmp_path, {"alpha": "kind=warden of=beta first=1 only=1", "beta": measured.MEASURE},
        own={"alpha": 'controls = "beta";', "beta": DEFER}, backend=backend)
    assert result.vm("alpha")[-1].endswith(" 0 failed"), str(result)
    assert result.vm("beta") == measured.EXPECTED
    assert at(result, WAITS) < at(result, "to the first guest") < at(result, "vm beta: starts")
    assert "vm beta: starts" in result.own


def test_all_of_a_life_after_the_first_start(tmp_path):
    """Stops, starts and restarts go on as those of a VM that boot starts; the states and numbers of
    starts are those that its controller sees."""
    result = bare_guests.boot(
        tmp_path, {"alpha": "kind=warden of=beta first=1", "beta": FOR_EVER, "gamma": FOR_EVER},
        status=harness.INTERRUPTED, until="vm alpha: ended",
        own={"alpha": 'controls = "beta";', "beta": DEFER})
    assert result.vm("alpha") == ["warden: ends, 73 checks, 0 failed"], str(result)
    assert ends_of(result, "beta") == ["stopped", "starts again"] * 3 + ["stopped"]
    assert result.own.count("vm beta: starts") == 1
    assert result.vm("beta") == ["busy: begins"] * 4


@pytest.mark.parametrize("mib", [16, 512], ids=["cleared", "being cleared"])
def test_nobody_starts_it(tmp_path, mib):
    """It does not keep the machine on, also while it is cleared."""
    text = bare_guests.tree({"alpha": "kind=busy ticks=1", "beta": FOR_EVER}, own={"beta": DEFER})
    result = run(tmp_path, sized(text, "beta", mib))
    assert result.status == harness.OK, str(result)
    assert at(result, WAITS) < at(result, "vm alpha: ended") < at(result, "all VMs ended")
    assert result.vm("beta") == [] and "vm beta: starts" not in result.own


@pytest.mark.parametrize("command", ["start", "restart"])
def test_started_by_an_operator(tmp_path, command):
    """It is off until then, nothing was stolen from it, and it counts right."""
    text = bare_guests.tree({"alpha": FOR_EVER, "beta": measured.MEASURE}, own={"beta": DEFER})
    asked = [(20 * MS, "vms --json"), (300 * MS, "vms --json"),
             *operators.at_once("exits --json", "stop beta", f"{command} beta"),
             (600 * MS, "vms --json"), *operators.at_once("start beta"), (f"+{100 * MS}", "vms")]
    result, told = operators.run(tmp_path, sized(text, "beta", 256), ["alpha", "beta"], asked,
                                 until=operators.ENDED)
    assert operators.objects(told[0])[1]["state"] == "clearing"
    alpha, beta = operators.objects(told[1])
    assert alpha["state"] == "running" and "waits_for_first_start" not in alpha
    assert (beta["state"], beta["uptime_ms"], beta["waits_for_first_start"]) == ("off", 0, True)
    (exits,) = [vcpu for vcpu in operators.objects(told[2]) if vcpu["vm"] == "beta"]
    assert exits["steal_us"] == exits["cpu_us"] == 0
    assert told[3][0] == ["beta is off already"]
    assert told[4][0][0].startswith("beta is being " + command)
    _, beta = operators.objects(told[5])
    assert beta["state"] == "off" and "waits_for_first_start" not in beta
    assert result.vm("beta")[:len(measured.EXPECTED)] == measured.EXPECTED
    assert ends_of(result, "beta") == ["ended", "starts again"]
    assert result.own.count("vm beta: starts") == 1


def test_power_off_with_one_that_waits(at_prompt):  # pylint: disable=redefined-outer-name
    """Nothing of it has to be stopped."""
    text = bare_guests.tree({"alpha": FOR_EVER, "beta": FOR_EVER}, own={"beta": DEFER})
    screen = at_prompt("ssccfg", text=text)
    prompts.Prompt(screen)
    screen.send("poweroff\r")
    said = prompts.to_the_end(screen)
    assert said.count("tally: vm alpha: stopped") == 1 and "vm beta: stopped" not in said


def test_in_windows(tmp_path):
    """It is cleared, and later started, in its own windows, and begins each at its tick. Another
    one of that hart has every window from boot on."""
    frame = schedules.FRAME * schedules.TICKS_A_US
    result = schedules.boot(
        tmp_path, {"alpha": "kind=warden of=beta first=1 only=1",
                   "beta": f"kind=windows frame={frame} ticks=1000000",
                   "gamma": f"kind=windows frame={frame} ticks=1000000"},
        [schedules.schedule([("alpha", 500, 500, 50), ("beta", 1500, 1000, 50),
                             ("gamma", 3000, 1000, 50)])],
        own={"alpha": 'controls = "beta";', "beta": DEFER})
    assert result.vm("alpha")[-1].endswith(" 0 failed"), str(result)
    ((first, last, times),), (begin, end, _, _) = schedules.told(result, "gamma")
    begins = 3000 * schedules.TICKS_A_US
    assert begins <= first <= last <= begins + harness.CHECKS, str(result)
    assert times == (end - begin) // frame + 1
    ((first, last, times),), (begin, end, away, stolen) = schedules.told(result, "beta")
    assert first <= last <= first + harness.CHECKS, str(result)
    assert times == (end - begin) // frame + 1
    assert 0 <= away - stolen <= times * 15
