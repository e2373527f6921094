# SPDX-License-Identifier: Apache-2.0
"""No request of a guest keeps a hart in HS for more than 5,000 instructions: here the dearest
there are. harness.run() checks every other run in the exact profile too, and the session prints the
longest."""

import contextlib
import threading

import pytest

import bare_guests
import harness
import operators
from tallylib import tally_ctl

MEASURE = "kind=measure rounds=1 length=100000"
BUSY = "kind=measure rounds=1000000 length=100000"
# Without smcntrpmf, so that Tally leaves the firmware's instructions out (docs/events.md).
ALL_MODES = ["--cpu", "rv64,sscofpmf=on,ssaia=on,ssccfg=on"]
PARTS = ["PLIC", "RFENCE", "interrupts", "PMU", "DBCN", "UART"]


# The longest piece of work here, with what may come before it: a line of `help` that is printed.
PIECE = 5000


def parts_done(result, name):
    """Which parts of storm ended, in order."""
    return [line.split()[1] for line in result.vm(name)
            if line.startswith("storm: ") and line.endswith(" done")]


def stays(result, name):
    """{vcpu: longest stay} of a VM."""
    return {line.split(": ")[1]: harness.exit_counts(line)["longest-stay"]
            for line in result.own if line.startswith(f"vm {name}: vcpu ")}


# A terminal's console draws unfinished lines again, so it has its own cost.
@pytest.mark.parametrize("backend, append", [("sbi", ""), ("ssccfg", ""),
                                             ("sbi", "tally.console=interactive"),
                                             ("ssccfg", "tally.console=interactive")])
def test_storm(tmp_path, backend, append):
    """The dearest requests there are, in a row, and what they do to who runs beside them."""
    guests = {"alpha": MEASURE, "storm": "kind=storm"}
    result = bare_guests.boot(tmp_path, guests, backend=backend,
                              options=[*ALL_MODES, "--append", append])
    assert result.vm("alpha")[-1] == "measure: ends, 0 wrong of 8"
    assert parts_done(result, "storm") == PARTS
    assert "storm: 1000 overflows" in result.vm("storm")
    for name in guests:
        assert 0 < stays(result, name)["vcpu 0"] <= harness.LONGEST_STAY


@harness.both_backends
def test_storm_on_eight_vcpus(tmp_path, backend):
    """IPIs and fences to eight vcpus of one hart, and their timers; two such VMs."""
    guests = {"alpha": "kind=storm quiet=yes", "beta": "kind=storm quiet=yes"}
    result = bare_guests.boot(tmp_path, guests, vcpus=["0"] * 8, backend=backend,
                              options=ALL_MODES)
    for name in guests:
        assert "storm: 7 other vcpus" in result.vm(name)
        assert parts_done(result, name) == PARTS[:4]
        found = stays(result, name)
        assert list(found) == [f"vcpu {n}" for n in range(8)]
        assert max(found.values()) <= harness.LONGEST_STAY


SIEGE = ["snapshots", "sharers", "infos", "moves", "sleepers", "faults"]


@harness.both_backends
def test_siege(tmp_path, backend):
    """Calls that concern all there is at once: counters that share events and are about to wrap,
    snapshots of all, the longest lists, and vcpus that sleep; two such VMs. The work of a call
    grows with the counters, and not with their square."""
    guests = dict.fromkeys(("alpha", "beta"), "kind=siege")
    result = bare_guests.boot(tmp_path, guests, vcpus=["0"] * 2, backend=backend, options=ALL_MODES)
    for name in guests:
        assert result.vm(name) == [f"siege: {part} done" for part in SIEGE]
        assert max(stays(result, name).values()) <= harness.LONGEST_STAY


# Data in a device tree is aligned to 4 bytes: that of one of the two images is to no more.
LOADED = """/dts-v1/;
/ {{
	compatible = "tally,vm-tree-1";
	images {{
		a: a {{ data = /incbin/("{image}"); }};
		b: longer {{ data = /incbin/("{image}"); }};
	}};
	vms {{{nodes}
	}};
}};
"""


def states(tally):
    """(VM, its state) of all."""
    return {(vm["vm"], vm["state"]) for vm in tally.objects("vms")}


def large_images(folder):
    """The text of a tree whose two VMs have 8 MiB to load, and 16 to be cleared."""
    bare_guests.plain.make("build/guests/bare.bin")
    image = folder / "large"
    image.write_bytes((harness.BUILD / "guests/bare.bin").read_bytes().ljust(8 << 20, b"\0"))
    vcpus = bare_guests.VCPU.format(n=0, harts=0)
    nodes = "".join(
        bare_guests.VM.format(name=name, image=name, memory=16, properties="", vcpus=vcpus,
                              bootargs=BUSY)
        for name in "ab")
    return LOADED.format(image=image, nodes=nodes)


def test_an_operator_while_images_are_loaded(tmp_path):
    """The same of requests of a VM, at chosen moments: it is asked while a VM is loaded."""
    at_once, later = operators.at_once, f"+{100 * operators.MS}"
    asked = [(later, "vms --json"), *(one for name in "ab" for one in [
        *at_once(f"stop {name}", "help", "help"), (later, f"start {name}"),
        *at_once(*["help", "vms --json"] * 6)]),
             (later, "stop a"), *at_once("stop b"), (later, "vms --json")]
    result, told = operators.run(tmp_path, large_images(tmp_path), "ab", asked,
                                 until=operators.ENDED)
    seen = [{(vm["vm"], vm["state"]) for vm in operators.objects(answer)}
            for answer, (_, command) in zip(told, asked) if command.startswith("vms")]
    assert seen[-1] == {("a", "off"), ("b", "off")}
    assert all(any((name, "loading") in look for look in seen) for name in "ab"), seen
    for name in "ab":
        assert 0 < stays(result, name)["vcpu 0"] <= harness.at_most(PIECE)


def test_an_operator_while_vcpus_end(tmp_path):
    """The same of the ends of eight vcpus, of two VMs in turns."""
    at_once, later = operators.at_once, f"+{50 * operators.MS}"
    asked = [(later, "help"), *(one for name in "abab" for one in [
        *at_once(f"stop {name}", *["help"] * 4), (later, f"start {name}"), *at_once("help")]),
             (later, "stop a"), *at_once("stop b"), (later, "vms --json")]
    result, told = operators.boot(tmp_path, dict.fromkeys("ab", BUSY), asked, vcpus=["0"] * 8,
                                  until=operators.ENDED)
    assert [status for _, status in told] == [0] * len(asked)
    longest = [harness.exit_counts(line)["longest-stay"] for line in result.own
               if ": exits " in line]
    assert len(longest) >= 2 * 8 and max(longest) <= harness.at_most(PIECE)


def test_questions_while_images_are_loaded(tmp_path):
    """A piece of a VM's image, or of its memory that is cleared, is a stay, and a piece of an
    answer is another one."""
    file = tmp_path / "large.dts"
    file.write_text(large_images(tmp_path), encoding="utf-8")

    def ask():
        with tally_ctl.Machine(f"{tmp_path}/control", timeout=harness.GUARD) as tally:
            for name in "ab":
                for command, wanted in (("stop", "off"), ("start", "running")):
                    tally.ask(f"{command} {name}")
                    while (name, wanted) not in states(tally):
                        tally.ask("help")
            with contextlib.suppress(tally_ctl.NoAnswer):
                tally.ask("poweroff")

    result = harness.run(file, options=["--control", tmp_path / "control"],
                         meanwhile=threading.Thread(target=ask))
    assert result.status == harness.OK, str(result)
    for name in "ab":
        assert 0 < stays(result, name)["vcpu 0"] <= harness.at_most(PIECE)


# What is asked of Tally at the same time, for as long as the other lasts.
ASKERS = 6


# A command that was understood and whose first line was made in one stay took up to 5,114
# instructions here, by how the questions met on this computer; now 4,100.
def test_questions_while_vcpus_end(tmp_path):
    """The end of a vcpu, a line about it that is made, and one that is printed are three stays: no
    piece of an answer comes in one of them, nor typed bytes."""
    over = threading.Event()

    def questions():
        with tally_ctl.Machine(f"{tmp_path}/control", timeout=harness.GUARD) as tally, \
                contextlib.suppress(tally_ctl.NoAnswer):
            while not over.is_set():
                tally.ask("help")

    def ask():
        askers = [threading.Thread(target=questions) for _ in range(ASKERS)]
        with tally_ctl.Machine(f"{tmp_path}/control", timeout=harness.GUARD) as tally:
            for asker in askers:
                asker.start()
            for name in "ab" * 8:
                for command, wanted in (("stop", "off"), ("start", "running")):
                    tally.ask(f"{command} {name}")
                    while (name, wanted) not in states(tally):
                        pass
            over.set()
            for asker in askers:
                asker.join()
            with contextlib.suppress(tally_ctl.NoAnswer):
                tally.ask("poweroff")

    result = bare_guests.boot(tmp_path, dict.fromkeys("ab", BUSY), vcpus=["0"] * 8,
                              options=["--control", tmp_path / "control"],
                              meanwhile=threading.Thread(target=ask))
    longest = [harness.exit_counts(line)["longest-stay"] for line in result.own
               if ": exits " in line]
    assert 0 < max(longest) <= harness.at_most(PIECE)
