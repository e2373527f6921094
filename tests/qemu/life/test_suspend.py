# SPDX-License-Identifier: Apache-2.0
"""A Linux guest that suspends: `vms` tells it from one that is idle, and a key on its console wakes
it."""

import re

import harness
from tallylib import tally_ctl, told

# state0 is WFI, state1 the sleep of `suspend`. Of each, how often Linux has used it when it was
# idle; of the second one, also how often when it was suspended. The console is quiet before that,
# or what it still does for the key would end the first sleep.
USED = ("cd /sys/devices/system/cpu/cpu1/cpuidle; cat state0/usage | sed 's/^[1-9].*/some/'; "
        "cat state1/usage state1/s2idle/usage; ")
SCRIPTS = {"alpha": "echo enabled >/sys/class/tty/ttyS0/power/wakeup; echo see''n; "
                    "read key </dev/console; echo bed''time; sleep 2; "
                    "echo freeze >/sys/power/state; echo woken $?; sleep 2; " + USED +
                    "echo us''ed; sleep 1000",
           "beta": "sleep 1000000"}


def looked(machine):
    """What `vms` tells of sleep, and the text of that."""
    rows = machine.objects("vms")
    assert {row["state"] for row in rows} <= {"loading", "running"}
    return [row.get("asleep") for row in rows], [
        re.sub("up .* s,", "up,", line) for row in rows for line in told.vms(row)]


def test_linux(console, tmp_path):
    """Asleep at each look, until a key comes; not before its suspend, and not after. It has two
    vcpus."""
    tree = harness.linux_tree(tmp_path, SCRIPTS, properties='suspend = "on";')
    text = re.sub(r"vcpu0 (\{.*?\};)", r"vcpu0 \1 vcpu1 \1", tree.read_text(encoding="utf-8"),
                  count=1, flags=re.S)
    tree.write_text(text, encoding="utf-8")
    screen = console(tree, options=["--control", tmp_path / "control"])
    screen.expect("seen")
    with tally_ctl.Machine(str(tmp_path / "control"), timeout=harness.GUARD) as machine:
        awake = looked(machine)
        screen.send("\r")
        screen.expect("bedtime")
        while (now := looked(machine))[0] != [True, None]:
            assert now[0] == [None, None]
        # The look is one moment of the idle guest's.
        assert {tuple(looked(machine)[0]) for _ in range(50)} == {(True, None)}
        assert looked(machine)[1] == [
            "alpha           running  up, vcpus 2, harts 0,0, memory 256 MiB, asleep",
            "beta            running  up, vcpus 1, harts 0, memory 256 MiB"]
        screen.send("x")
        screen.expect("woken 0")
        assert {tuple(looked(machine)[0]) for _ in range(50)} == {(None, None)}
    assert awake[0] == [None, None]
    screen.expect("used")
    words = re.sub(r"\x1b\[[\d;]*[mK]|\[alpha\]", "", screen.before).split()
    assert words[-3:] == ["some", "0", "1"]
