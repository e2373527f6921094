# SPDX-License-Identifier: Apache-2.0
"""The map of HS itself: each thing that it forbids is tried at boot (tally.trip=, make DEBUG=1), on
one hart, and on a second one that uses the map of the first. It ends the machine with one line."""

import re
import subprocess

import pytest

import bare_guests
import harness
import peers

FETCH, LOAD, STORE = "c", "d", "f"
TRIPS = {"text-write": STORE, "rodata-write": STORE, "tree-write": STORE, "data-exec": FETCH,
         "stack-exec": FETCH, "guest-exec": FETCH, "registers-exec": FETCH, "firmware-read": LOAD,
         "null-read": LOAD}
# The profile and the hart that trips, and Debian's release of OpenSBI.
# Of several harts the one that started last, which is for the firmware to say.
PROFILES = [("exact", 0, None), ("smp", "[01]", None), ("exact", 0, "trixie")]


def trips(folder, debug_build, trip, profile, release=None):
    """What Tally says at its end, and the run."""
    bios = ["--bios", peers.opensbi(release)] if release else []
    options = [*bios, *debug_build, "--append", f"tally.trip={trip}"]
    result = bare_guests.boot(folder, {"alpha": "kind=busy"}, status=harness.NO_VERDICT,
                              profile=profile, stays=False, options=options)
    assert not result.vm("alpha")
    return [line for line in result.own if line.startswith("panic")], result


def symbols(pattern):
    """{name: address} of the debug build."""
    lines = subprocess.run(["riscv64-linux-gnu-nm", harness.BUILD / "debug/tally.elf"], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    return {line.split()[2]: int(line.split()[0], 16) for line in lines
            if re.fullmatch(pattern, line.split()[2])}


@pytest.mark.parametrize("profile, hart, release", PROFILES)
@pytest.mark.parametrize("trip", TRIPS)
def test_what_is_forbidden(tmp_path, debug_build, trip, profile, hart, release):
    (line,), result = trips(tmp_path, debug_build, trip, profile, release)
    found = re.fullmatch(rf"panic: hart {hart}: trap in HS: scause {TRIPS[trip]} sepc (\w+) "
                         r"stval (\w+) sp \w+", line)
    assert found, str(result)
    sepc, stval = (int(word, 16) for word in found.groups())
    image = symbols("_.*(start|end)")
    text = range(image["_image_start"], image["_rodata_start"])
    data = range(image["_data_start"], image["_image_end"])
    # The address is the one that was meant, and the instruction that of the trip.
    meant = {"text-write": text, "rodata-write": range(text.stop, data.start),
             "tree-write": [0xa0200000], "data-exec": data,
             "stack-exec": range(image["_stacks_start"], image["_stacks_end"]),
             "guest-exec": [0xa0200000 - 4096], "registers-exec": [0x10000000],
             "firmware-read": [0x80000000], "null-read": [0]}
    assert stval in meant[trip], line
    assert sepc == stval if TRIPS[trip] == FETCH else sepc in text, line
    assert "Tally stopped on a broken invariant" in result.messages


@pytest.mark.parametrize("profile, hart, release", PROFILES)
def test_a_stack_that_is_full(tmp_path, debug_build, profile, hart, release):
    """The first page below it is the guard; the line comes from another stack."""
    (line,), result = trips(tmp_path, debug_build, "stack-overflow", profile, release)
    found = re.fullmatch(rf"panic: hart ({hart}): its stack is full: sepc \w+ sp (\w+)", line)
    assert found, str(result)
    stacks = symbols("_stacks_start")["_stacks_start"]
    # The hart that started last has the last one. Any may boot.
    assert int(found[2], 16) == stacks + 32768 * (profile == "smp") + 16384 - 16


@pytest.mark.parametrize("profile", ["exact", "smp"])
def test_no_stack(tmp_path, debug_build, profile):
    (line,), _ = trips(tmp_path, debug_build, "stack-lost", profile)
    assert re.fullmatch(r"panic: a hart without a stack: trap in HS: scause f sepc \w+ "
                        r"stval fffffffffffffff8 sp 0", line)


@pytest.mark.parametrize("profile", ["exact", "smp"])
def test_no_last_words_twice(tmp_path, debug_build, profile):
    """A trap after a hart's last words ends the machine without others, and without a loop."""
    lines, result = trips(tmp_path, debug_build, "last-words-twice", profile)
    assert not lines
    assert "the machine stopped before all VMs had ended" in result.messages
