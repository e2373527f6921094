# SPDX-License-Identifier: Apache-2.0
"""The operator's prompt (Ctrl-T :) while two guests run on one hart."""

import re

import bare_guests
import harness
from prompts import EXITS, EXPECTED, GUESTS, Prompt, check_rounds, to_the_end
import recorded


def exits_lines(lines):
    """{VM: {cause: exits}}, of VMs with one vcpu, with "instructions" and "stay"."""
    found = {}
    for line in lines:
        assert len("tally: " + line) <= 100, line
        head = re.fullmatch(r"vm (\S+): vcpu 0: ran \d+\.\d{3} s, stolen \d+\.\d{3} s, "
                            r"HS instructions (\d+), longest stay (\d+)", line)
        if line.startswith("  loading: "):
            assert re.fullmatch(r"  loading: [1-9]\d* of the HS instructions", line)
        elif head:
            rows = found[head[1]] = {"instructions": int(head[2]), "stay": int(head[3])}
        else:
            assert line.startswith("  exits: ")
            causes = dict(cause.split() for cause in line.removeprefix("  exits: ").split(", "))
            assert list(causes) == EXITS
            rows.update((cause, int(n)) for cause, n in causes.items())
    return found


def check_trace(prompt):
    """Off, there is nothing; on, what the guests do and when, the oldest first, and no more than
    fits."""
    assert prompt.ask("trace") == ["no exit was noted"]
    assert prompt.objects("trace") == []
    assert prompt.ask("trace on beta") == ["trace is on"]
    while len(noted := prompt.objects("trace")) < 8:
        pass
    assert {entry["vm"] for entry in noted} == {"beta"}
    times = [entry["time_us"] for entry in noted]
    assert times == sorted(times) and times[0] < times[-1]
    assert "timer" in {entry["cause"] for entry in noted}
    assert prompt.ask("trace on") == ["trace is on"]
    while not (calls := [entry for entry in prompt.objects("trace") if entry["cause"] == "ecall"]):
        pass
    assert set(calls[0]) == {"vm", "vcpu", "time_us", "cause", "pc", "extension", "function",
                             "call"}
    assert {entry["vm"] for entry in calls} == {"alpha"}
    assert prompt.ask("trace off") == ["trace is off"]
    last = prompt.ask("trace")
    assert last == prompt.ask("trace") and len(last) <= 64
    # Calls by the manual's names.
    noted = [re.fullmatch(r"\d+\.\d{6} vm (alpha|beta): vcpu 0: (.+) at [0-9a-f]+", line)[2]
             for line in last]
    assert {what for what in noted if what.startswith("ecall")} <= {
        f"ecall PMU {call}" for call in ("num_counters", "counter_get_info", "counter_start",
                                         "counter_stop", "counter_config_matching")} | {
        "ecall DBCN console_write"}
    assert prompt.ask("trace on gamma") == ['trace: no VM is called "gamma"']
    for wrong in ("trace x", "trace off alpha", "trace on alpha x", "trace --json alpha"):
        assert prompt.ask(wrong) == ["usage: trace [on [VM] | off] [--json]"]


@harness.both_backends
def test_every_command_and_the_counts(at_prompt, backend):
    """Each table, plain and as objects, with alpha counting meanwhile: its counts are those of a
    run without a prompt, which are exact. What is in the tables is in test_tables.py."""
    screen = at_prompt(backend)
    prompt = Prompt(screen)
    while "event 0x2:uk, running" not in (lines := prompt.ask("pmu"))[1]:
        pass
    assert lines[0] == "vm alpha: vcpu 0: hart 0, counters 1, overflows 0, held back 0"
    assert re.fullmatch(r"  counter  4: event 0x2:uk, running, hctr 4, direct, \d+", lines[1])
    assert lines[2:] == ["vm beta: vcpu 0: hart 0, counters 0, overflows 0, held back 0"]
    for command in ("pmu", "vms", "exits"):
        assert [line["vm"] for line in prompt.objects(command) if "counter" not in line] == list(
            GUESTS)
    assert prompt.ask("help")[0].startswith("vms [--json]: state, uptime, ")
    assert [re.sub(r"\d+\.\d{3}", "T", line) for line in prompt.ask("vms")] == [
        f"{name:15} running  up T s, vcpus 1, harts 0, memory 16 MiB" for name in GUESTS]
    assert list(exits_lines(prompt.ask("exits"))) == list(GUESTS)
    check_trace(prompt)
    screen.send("exit\r")
    screen.expect("input goes to alpha")
    screen.expect(r"measure: round [1-9]\d* ")
    screen.send("\x14:poweroff\r")
    text = to_the_end(screen)
    check_rounds(re.findall(r"\[alpha\] (measure: .*)\n", text))
    assert len(re.findall(r"longest-stay=\d+", text)) >= 2


def test_counts_without_the_prompt(tmp_path):
    """What the test above compares with."""
    result = bare_guests.boot(tmp_path, GUESTS)
    assert result.vm("alpha") == [*EXPECTED, "measure: ends, 0 wrong of 8"]


def test_stop_start_restart(at_prompt):
    """And what is no command, or of no VM."""
    screen = at_prompt("ssccfg")
    prompt = Prompt(screen)
    assert prompt.ask("") == []
    for wrong in ("nonsense", "vms all", "vms --json x", "help me", "VMS"):
        assert len(prompt.ask(wrong)) == 1, wrong
    assert prompt.ask("stop gamma") == ['stop: no VM is called "gamma"']
    for command in ("start", "stop", "restart"):
        assert prompt.ask(command) == [f"usage: {command} VM"]
    for command in ("move", "move alpha", "move alpha 0"):
        assert prompt.ask(command) == ["usage: move VM VCPU HART"]
    assert prompt.ask("move gamma 0 0") == ['move: no VM is called "gamma"']
    assert prompt.ask("  stop  gamma") == ['stop: no VM is called "gamma"']
    assert prompt.ask("start beta") == ["beta runs already"]

    screen.send("stop beta\r")
    screen.expect("tally: beta is being stopped\r+\n")
    screen.expect("tally: vm beta: stopped\r+\n")
    states = {}
    while states.get("beta") != "off":
        states = {vm["vm"]: vm["state"] for vm in prompt.objects("vms")}
    assert states == {"alpha": "running", "beta": "off"}
    assert "beta is off already" in prompt.ask("stop beta")
    # The same by Tab, which asks Tally for its commands, and by an arrow in two pieces.
    for keys in ("sto\tbe\t", "\x1b[A\x1b[D\x1b[D\x1b", "[F"):
        screen.send(keys)
        if "\t" in keys:
            screen.expect("beta ")
            screen.send("\r")
            screen.expect("tally: beta is off already\r+\n")
            prompt.wait()
    screen.send("\r")
    screen.expect("tally: beta is off already\r+\n")
    prompt.wait()
    for command, words in (("start", "is being started"), ("restart", "is being restarted")):
        screen.send(f"{command} beta\r")
        screen.expect(f"tally: beta {words}\r+\n")
        screen.expect("tally: vm beta: starts again\r+\n")
        screen.expect(r"\[beta\] busy: begins")
    screen.send("\x14\x14")
    screen.expect("input goes to alpha")
    # The keys say the same.
    screen.send("\x142\x14g\x14s")
    screen.expect("tally: beta runs already\r+\n")
    screen.expect("tally: beta is being stopped\r+\n")
    screen.expect("tally: vm beta: stopped\r+\n")
    # A key that there is not says so.
    screen.send("\x14x\x149\x14\x02")
    screen.expect(r"tally: Ctrl-T x means nothing; Ctrl-T \? for help\r+\n")
    screen.expect(r"tally: there is no VM 9; there are 2\r+\n")
    screen.expect(r"tally: that key means nothing after Ctrl-T; Ctrl-T \? for help\r+\n")
    screen.send("\x14:")
    while Prompt.ask(prompt, "vms")[1].split()[1] != "off":
        pass
    screen.send("\x14s")
    screen.expect("tally: beta is off already\r+\n")


def test_power_off(at_prompt):
    """Who runs is stopped first, whatever its policy, and who is off already does not keep the
    machine on."""
    guests = {"alpha": "kind=busy ticks=100000000000", "beta": "kind=busy ticks=100000000000"}
    screen = at_prompt("ssccfg", text=bare_guests.tree(guests, properties='restart = "always";'))
    prompt = Prompt(screen)
    assert prompt.ask("poweroff now") == ["usage: poweroff"]
    screen.send("stop beta\r")
    screen.expect("tally: vm beta: stopped")
    while prompt.objects("vms")[1]["state"] != "off":
        pass
    screen.send("poweroff\r")
    screen.expect("tally: all VMs are being stopped, then the machine goes off")
    text = to_the_end(screen)
    assert text.count("tally: vm alpha: stopped") == text.count("tally: vm beta: stopped") == 1


def test_top(at_prompt, tmp_path):
    """tools/tally-top has the screen until it is left, by its key or for a guest."""
    names = ("alpha-345678901", "alpha-345678902")  # as long as they may be
    screen = at_prompt("ssccfg", {name: "kind=busy ticks=100000000000" for name in names},
                       options=["--control", tmp_path / "control"])
    screen.expect("busy: begins")
    prompt = Prompt(screen)
    for wrong in ("top 0", "top 1x", "top 1 1"):
        assert len(prompt.ask(wrong)) == 1, wrong
    screen.send("top 1\r")
    shown = recorded.until_shown(screen, "CPU%")
    recorded.until_shown(screen, names[1], shown)
    screen.send("q")
    prompt.wait()
    assert [vm["vm"] for vm in prompt.objects("vms")] == list(names)
    screen.send("top 1\r")
    recorded.until_shown(screen, "CPU%")
    screen.send("\x14n")
    screen.expect("input goes to alpha-345678902")
    assert len(Prompt(screen).ask("vms")) == 2


def test_several_harts(at_prompt):
    """Keys and prompt where the console's hart is one of two: a guest of the other one is looked
    at, stopped and started from here, too."""
    guests = {"alpha": "kind=busy ticks=100000000000",
              "beta": "kind=measure rounds=1000000 length=50000000"}
    text = bare_guests.tree(guests)
    last = text.rindex("harts = <0>")
    text = text[:last] + text[last:].replace("harts = <0>", "harts = <1>")
    screen = at_prompt("auto", text=text, profile="smp", options=["--harts", "2"])
    prompt = Prompt(screen)
    assert [(vm["vm"], vm["state"], vm["harts"]) for vm in prompt.objects("vms")] == [
        ("alpha", "running", [0]), ("beta", "running", [1])]
    assert prompt.ask("trace on") == ["trace is on"]
    while {entry["vm"] for entry in prompt.objects("trace")} != {"alpha", "beta"}:
        pass
    for name in guests:
        screen.send(f"stop {name}\r")
        screen.expect(f"tally: vm {name}: stopped")
        screen.send(f"start {name}\r")
        screen.expect(f"tally: vm {name}: starts again")
    # One that calls all the time is looked at then, and needs no timer for it.
    while not all(vcpu["timer"] or vcpu["ecall"] for vcpu in prompt.objects("exits")):
        pass
    screen.send("\x142")
    screen.expect("input goes to beta")
    screen.send("\x14:poweroff\r")
    text = to_the_end(screen)
    assert all(text.count(f"tally: vm {name}: stopped") == 2 for name in guests)


def test_editing_and_a_burst(at_prompt):
    """Backspace; and commands that come faster than their answers are all carried out."""
    screen = at_prompt("ssccfg")
    prompt = Prompt(screen)
    screen.send("vmx\x7fs --jsom\bn\r")
    assert "uptime_ms" in prompt.wait()
    screen.send("".join(f"stop no{n}\r" for n in range(40)))
    for n in range(40):
        screen.expect(f'stop: no VM is called "no{n}"')
    prompt.wait()
    # Keys that print much, all at once: each in a stay in HS of its own.
    screen.send("\x14?" * 16 + "\x14n\x14p" * 8 + "\x14:")
    for _ in range(16):
        screen.expect("Ctrl-T, then 1..9")
    screen.expect("input goes to the prompt")
    prompt.wait()
    stays = [vcpu["longest_stay"] for vcpu in prompt.objects("exits")]
    assert max(stays) <= harness.LONGEST_STAY, stays
