# SPDX-License-Identifier: Apache-2.0
"""A shutdown that is asked for: what the guest gets, when, and what the asker is told."""

import re
import shutil

import bare_guests
import harness
import operators
from measured import EXPECTED, MEASURE

S = 10_000_000  # ticks
SYSRQ = 'shutdown = "sysrq";'
TAKEN = "{} has {} s to sync and power off"
# In ticks: a stay in HS, and a look of the guest at its UART; some answers.
LATE = harness.LONGEST_STAY // 100
SPARE = 5000
REFUSED = {"none": 'shutdown: {} has shutdown = "none": stop pulls the plug',
           "closed": "shutdown: {}: its kernel has not opened the console",
           "busy": "shutdown: {} starts, ends or was asked"}


def got(result, name):
    """[(byte, status, time)] of what a guest has received."""
    return [(int(a), int(b, 16), int(c)) for a, b, c in re.findall(
        r"asked: (\d+) status (\w+) at (\d+)\n", "\n".join([*result.vm(name), ""]))]


def test_what_the_guest_gets(tmp_path):
    """A break and a letter three times, two seconds of the machine apart. It is off then, and the
    machine is on."""
    result, told = operators.boot(
        tmp_path, {"alpha": "kind=asked"}, [
            (5 * S, "shutdown alpha"), ("+0", "vms --json"), ("+0", "shutdown alpha"),
            (10 * S, "vms --json"), *operators.at_once("shutdown alpha", "last alpha --json"),
            ("+0", "start alpha"), (11 * S, "vms --json")],
        own={"alpha": SYSRQ + 'restart = "always";'}, until=operators.ENDED)
    keys = got(result, "alpha")
    assert [key[:2] for key in keys] == [
        (0, 0x71), (ord("s"), 0x61), (0, 0x71), (ord("u"), 0x61), (0, 0x71), (ord("o"), 0x61)]
    breaks = [at for _, status, at in keys if status == 0x71]
    # When the first one comes, the guest's hart is still busy with the answers.
    assert 2 * S - SPARE <= breaks[1] - breaks[0] <= 2 * S, keys
    assert 2 * S - LATE <= breaks[2] - breaks[1] <= 2 * S + LATE, keys
    for n in (0, 2, 4):
        assert 0 < keys[n + 1][2] - keys[n][2] < SPARE, keys
    assert told[0] == ([TAKEN.format("alpha", 30)], 0)
    (asked,) = operators.objects(told[1])
    assert (asked["state"], asked["shutdown"]) == ("running", "asked")
    assert told[2] == ([REFUSED["busy"].format("alpha")], 1)
    (ended,) = operators.objects(told[3])
    assert ended["state"] == "off"
    assert told[4] == (["alpha is off already"], 0)
    assert operators.objects((told[5][0][:1], told[5][1]))[0]["end"] == "shutdown"
    # Another life has nothing of it.
    assert told[6] == (["alpha is being started"], 0)
    (again,) = operators.objects(told[7])
    assert (again["state"], again.get("shutdown")) == ("running", None)
    assert "vm alpha: ended" in result.own


def test_its_vcpu_moves(tmp_path):
    """What is left to send follows vcpu 0 to its new hart, and back."""
    result, told = operators.boot(
        tmp_path, {"alpha": "kind=asked"}, [
            (5 * S, "shutdown alpha"), (6 * S, "move alpha 0 1"), (8 * S, "move alpha 0 0"),
            (10 * S, "vms --json")],
        own={"alpha": SYSRQ}, vcpus=("0 1",), until=operators.ENDED,
        options=bare_guests.on_harts(tmp_path, 2))
    assert [status for _, status in told] == [0] * 4, told
    assert [key for key, *_ in got(result, "alpha")] == [0, ord("s"), 0, ord("u"), 0, ord("o")]
    assert operators.objects(told[3])[0]["state"] == "off"


def test_in_vain(tmp_path):
    """The guest does not end: that is logged once, at its time, and the guest runs on. It may be
    asked again."""
    result, told = operators.boot(
        tmp_path, {"alpha": "kind=asked obeys=0"}, [
            (1 * S, "shutdown alpha 4"), ("+0", "shutdown alpha 3601"), ("+0", "shutdown alpha x"),
            ("+0", "shutdown alpha --json"), ("+0", "shutdown beta"), ("+0", "shutdown alpha 5"),
            (6 * S - SPARE, "vms --json"), (6 * S + 10 * SPARE, "vms --json"),
            ("+0", "shutdown alpha 60"), ("+0", "vms --json"), ("+0", "stop alpha")],
        own={"alpha": SYSRQ}, until=operators.ENDED)
    wrong = (["usage: shutdown VM [SECONDS]"], 2)
    assert told[:4] == [wrong] * 4
    assert told[4] == (['shutdown: "beta" is not in operator-vms'], 1)
    assert told[5] == ([TAKEN.format("alpha", 5)], 0)
    assert operators.objects(told[6])[0]["shutdown"] == "asked"
    late = operators.objects(told[7])[0]
    assert (late["state"], late["shutdown"]) == ("running", "late")
    assert told[8] == ([TAKEN.format("alpha", 60)], 0)
    assert operators.objects(told[9])[0]["shutdown"] == "asked"
    assert [line for line in result.own if "did not end" in line] == [
        "vm alpha: did not end in 5 s: stop pulls the plug"]
    assert [key for key, *_ in got(result, "alpha")][:6] == [0, ord("s"), 0, ord("u"), 0, ord("o")]


def test_who_cannot_be_asked(tmp_path):
    """Nothing of it reaches them."""
    result, told = operators.boot(
        tmp_path, {"alpha": "kind=asked opens=0", "beta": "kind=asked"}, [
            (1 * S, "shutdown alpha"), ("+0", "shutdown beta"), (8 * S, "vms --json")],
        own={"alpha": SYSRQ}, until=operators.ENDED)
    assert told[0] == ([REFUSED["closed"].format("alpha")], 1)
    assert told[1] == ([REFUSED["none"].format("beta")], 1)
    assert ["shutdown" in row for row in operators.objects(told[2])] == [False, False]
    assert got(result, "alpha") == got(result, "beta") == []


def test_a_warden_asks(tmp_path):
    """By the SBI, with an error for each reason."""
    for how, own, more, checks in (("yes", SYSRQ, "", 13), ("none", "", "", 8),
                                   ("closed", SYSRQ, "opens=0", 8)):
        result = bare_guests.boot(
            tmp_path, {"alpha": f"kind=warden of=beta shutdown={how}",
                       "beta": f"kind=asked {more}"},
            status=harness.INTERRUPTED, until="vm alpha: ended",
            own={"alpha": 'controls = "beta";', "beta": own})
        assert result.vm("alpha") == [f"warden: ends, {checks} checks, 0 failed"], str(result)
        assert ("vm beta: ended" in result.own) == (how == "yes")


def test_linux(tmp_path):
    """Its kernel syncs, mounts read-only and powers off, though its only program sleeps."""
    script = "dmesg -n 8; echo ready; sleep 1000"
    text = harness.linux_tree(tmp_path, {"alpha": script}, properties=SYSRQ).read_text()
    result, told = operators.run(tmp_path, text, ["alpha"], [
        (10 * S, "shutdown alpha"), (15 * S, "vms --json")], until=operators.ENDED)
    assert told[0] == ([TAKEN.format("alpha", 30)], 0)
    assert operators.objects(told[1])[0]["state"] == "off", str(result)
    said = [re.sub(r"^\[ *[\d.]+\] ", "", line) for line in result.vm("alpha")]
    said = said[said.index("ready") + 1:]
    assert said == ["sysrq: Emergency Sync", "Emergency Sync complete",
                    "sysrq: Emergency Remount R/O", "Emergency Remount complete",
                    "sysrq: Power Off", "reboot: Power down"]
    assert "vm alpha: ended" in result.own


KEY = 'shutdown = "key";'
PRESSED = "{} has {} s to shut down"
NO_DRIVER = "shutdown: {}: its kernel has no driver for the power key"
EVENT = re.compile(r"key: type (\d+) code (\d+) value (\d+), 8 bytes, at (\d+)")


def presses(result, name):
    """[time] of each press that a guest got, which has a release behind it."""
    found = [tuple(map(int, groups)) for groups in EVENT.findall("\n".join(result.vm(name)))]
    assert len(found) % 4 == 0
    for i, event in enumerate(found):
        assert event[:3] == [(1, 116, 1), (0, 0, 0), (1, 116, 0), (0, 0, 0)][i % 4], found
    return [event[3] for event in found[::4]]


def test_the_key(tmp_path):
    """One press, when it is asked for. The VM is off then, and has the key in its next life."""
    result, told = operators.boot(
        tmp_path, {"alpha": "kind=key"}, [
            (5 * S, "shutdown alpha"), ("+0", "vms --json"), ("+0", "shutdown alpha"),
            (6 * S, "vms --json"), *operators.at_once("shutdown alpha", "last alpha --json"),
            ("+0", "start alpha"), (7 * S, "shutdown alpha 5"), (8 * S, "vms --json")],
        own={"alpha": KEY + 'restart = "always";'}, until=operators.ENDED)
    assert told[0] == ([PRESSED.format("alpha", 30)], 0), str(result)
    (asked,) = operators.objects(told[1])
    assert (asked["state"], asked["shutdown"]) == ("running", "asked")
    assert told[2] == ([REFUSED["busy"].format("alpha")], 1)
    assert operators.objects(told[3])[0]["state"] == "off"
    assert told[4] == (["alpha is off already"], 0)
    assert operators.objects((told[5][0][:1], told[5][1]))[0]["end"] == "shutdown"
    assert told[6] == (["alpha is being started"], 0)
    assert told[7] == ([PRESSED.format("alpha", 5)], 0)
    assert operators.objects(told[8])[0]["state"] == "off"
    assert [line for line in result.vm("alpha") if "type" not in line] == [
        "key: 0 forged", "key: begins", "key: ISR 1"] * 2
    first, second = presses(result, "alpha")
    # The clock of the first life began with the first guest, and that of the second at 6 s.
    assert abs(first - 5 * S) < S // 10 and abs(second - 1 * S) < S // 10, (first, second)


def test_the_key_of_a_vcpu_that_moves(tmp_path):
    """The hart that has vcpu 0 presses it."""
    result, told = operators.boot(
        tmp_path, {"alpha": "kind=key obeys=0"}, [
            (1 * S, "move alpha 0 1"), (2 * S, "shutdown alpha 5"), (8 * S, "shutdown alpha"),
            (9 * S, "move alpha 0 0"), (10 * S, "vms --json"), ("+0", "stop alpha")],
        own={"alpha": KEY}, vcpus=("0 1",), until=operators.ENDED,
        options=bare_guests.on_harts(tmp_path, 2))
    assert [status for _, status in told] == [0] * 6, told
    assert len(presses(result, "alpha")) == 2
    assert [line for line in result.own if "did not end" in line] == [
        "vm alpha: did not end in 5 s: stop pulls the plug"]


def test_without_a_driver(tmp_path):
    """The user is told."""
    result, told = operators.boot(
        tmp_path, {"alpha": "kind=key opens=0"}, [(1 * S, "shutdown alpha"), ("+0", "stop alpha")],
        own={"alpha": KEY}, until=operators.ENDED)
    assert told[0] == ([NO_DRIVER.format("alpha")], 1)
    assert result.vm("alpha") == ["key: 0 forged", "key: begins"]


def test_hostile_drivers(tmp_path):
    """Neither random registers nor rings outside of its memory give a driver anything but a device
    that wants a reset. The other VM counts exactly."""
    for more in ("table=0x30109000", "buffer=0x7ffffffc", "table=0x80000008"):
        result, told = operators.boot(
            tmp_path, {"alpha": f"kind=key forges=3000 {more}", "beta": MEASURE}, [
                (5 * S, "shutdown alpha 5"), (6 * S, "shutdown alpha"), ("+0", "stop alpha")],
            own={"alpha": KEY}, until=operators.ENDED)
        assert told[0] == ([PRESSED.format("alpha", 5)], 0)
        # Its driver has reset the device, and it is pressed in vain again.
        assert result.vm("alpha")[:4] == ["key: 3000 forged", "key: begins", "key: ISR 2",
                                          "key: needs a reset"]
        assert presses(result, "alpha") == []
        assert result.vm("beta") == EXPECTED


def test_linux_by_key(tmp_path):
    """Its driver finds the power key, and a program gets one press by one interrupt."""
    (tmp_path / "test").mkdir()
    for name in ("virtio_input", "evdev"):
        shutil.copy(harness.ROOT / f"build/guest/key-modules/{name}.ko", tmp_path / "test")
    script = """
insmod /test/virtio_input.ko; insmod /test/evdev.ko
sed -n 's/^[INB]: //p' /proc/bus/input/devices
echo ready
dd if=/dev/input/event0 bs=24 count=4 2>/dev/null |
    od -An -v -tu2 -w24 | awk '{ print $9, $10, $11 }'
awk '/virtio/ { print $2, $(NF - 1), $NF }' /proc/interrupts
"""
    text = harness.linux_tree(tmp_path, {"alpha": script}, properties=KEY).read_text()
    result, told = operators.run(tmp_path, text, ["alpha"], [
        (10 * S, "shutdown alpha"), (15 * S, "vms --json")], until=operators.ENDED)
    assert told[0] == ([PRESSED.format("alpha", 30)], 0)
    assert operators.objects(told[1])[0]["state"] == "off", str(result)
    said = result.vm("alpha")
    assert said[said.index("alpha begin") + 1:said.index("alpha end 0")] == [
        "Bus=0006 Vendor=1af4 Product=0000 Version=0001", 'Name="Tally power key"', "PROP=0",
        "EV=3", "KEY=10000000000000 0", "ready",
        "1 116 1", "0 0 0", "1 116 0", "0 0 0", "1 Edge virtio0"]
