# SPDX-License-Identifier: Apache-2.0
"""Harts that count wrong are found at boot, and no guest has a counter of theirs unless the user
insists. On QEMU these are all harts of a machine of several, and any without -icount."""

import re

import pytest

import bare_guests
import harness
from measured import ALL_EXACT, ALL_REFUSED, SHORT
import plain

TURNS = r"while harts take turns it counts -?\d+ for \d+ instructions"
ALONE = r"alone it counts -?\d+ for \d+ instructions"
WARNING = "WARNING: tally.inexact-counts: "


def told(result):
    """{hart: how it counts}, and how that is called."""
    found = [re.fullmatch(rf"((?:{WARNING})?)hart (\d): ([a-z ]+): (.* it counts .*)", line)
             for line in result.own]
    found = [match.groups() for match in found if match]
    (kind,) = {(warning, what) for warning, _, what, _ in found}
    return {int(hart): how for _, hart, _, how in found}, kind


def without_switch(folder, harts):
    """A machine of several harts whose user asks for nothing."""
    return harness.several_harts(folder, harts)[:2]


@harness.both_backends
@pytest.mark.parametrize("harts", [2, 8])
def test_harts_that_share_one_count_are_refused(tmp_path, backend, harts):
    """A guest that is alone would have exact counts, but what others will do is not known. Alone
    each of them counts right as well, unless a turn of the emulator's ends just then."""
    result = bare_guests.boot(tmp_path, {"alpha": SHORT}, backend=backend,
                              status=harness.VM_FAILED, stays=False,
                              options=without_switch(tmp_path, harts))
    how, kind = told(result)
    assert kind == ("", "hardware counters are refused")
    assert sorted(how) == list(range(harts))
    assert all(re.fullmatch(f"{TURNS}|{ALONE}", text) for text in how.values()), how
    assert any(re.fullmatch(TURNS, text) for text in how.values()), how
    assert f"vm alpha: {bare_guests.NO_OVERFLOW}: hart 0 has no counters" in result.own
    assert result.vm("alpha") == ALL_REFUSED
    assert "counts" not in result.messages


@harness.both_backends
@pytest.mark.parametrize("by", ["word", "tree"])
def test_they_are_offered_to_a_user_who_insists(tmp_path, backend, by):
    """And it is said: in the boot report, at the start and at the end."""
    options = harness.several_harts(tmp_path, 2)
    if by == "tree":
        tree = bare_guests.tree({"alpha": SHORT}).replace(
            "vms {", 'vms {\n\t\tinexact-counts = "on";', 1)
        plain.make("build/guests/bare.bin")
        file = tmp_path / "insists.dts"
        file.write_text(tree, encoding="ascii")
        result = harness.run(file, backend=backend, stays=False, options=[
            *options[:2], "--include", harness.BUILD / "guests"])
        assert result.status == harness.OK, str(result)
    else:
        result = bare_guests.boot(tmp_path, {"alpha": SHORT}, backend=backend, stays=False,
                                  options=options)
    how, kind = told(result)
    assert kind == (WARNING, "counts are wrong")
    assert sorted(how) == [0, 1]
    assert all(re.fullmatch(TURNS, text) for text in how.values()), how
    # The other hart sleeps.
    assert result.vm("alpha") == ALL_EXACT
    insists = ("on hart 0, 1 of this machine, and guests get its counters all the same "
               "(tally.inexact-counts)")
    assert result.messages.splitlines() == [f"tools/run: counts are wrong {insists}",
                                            f"tools/run: counts were wrong {insists}"]


def test_counts_that_follow_the_hosts_time_are_refused(tmp_path):
    """A hart that is wrong without others."""
    script = tmp_path / "qemu"
    script.write_text("#!/bin/sh\n"
                      "for word in \"$@\"; do shift; case $word in -icount|shift=*) ;;"
                      f' *) set -- "$@" "$word";; esac; done\nexec {plain.QEMU} "$@"\n',
                      encoding="ascii")
    script.chmod(0o755)
    result = bare_guests.boot(tmp_path, {"alpha": SHORT}, status=harness.VM_FAILED, stays=False,
                              options=["--qemu", script])
    how, kind = told(result)
    assert kind == ("", "hardware counters are refused")
    assert re.fullmatch(ALONE, how.pop(0)) and not how
    assert result.vm("alpha") == ALL_REFUSED


def test_smp_insists(tmp_path):
    """The profile passes the word."""
    result = bare_guests.boot(tmp_path, {"alpha": "kind=idle ticks=1000"}, profile="smp",
                              options=["--harts", 3])
    how, kind = told(result)
    assert kind == (WARNING, "counts are wrong")
    assert sorted(how) == [0, 1, 2]
    assert "counts are wrong on hart 0, 1, 2 of this machine" in result.messages
    assert "counts were wrong on hart 0, 1, 2 of this machine" in result.messages


@harness.both_backends
def test_nothing_is_said_of_a_hart_that_counts_right(tmp_path, backend):
    result = bare_guests.boot(tmp_path, {"alpha": SHORT}, backend=backend)
    assert result.vm("alpha") == ALL_EXACT
    assert not any(re.search(r" it counts -?\d", line) for line in result.own)
    assert result.messages == ""
