# SPDX-License-Identifier: Apache-2.0
"""Defects that were found and mended, each by the smallest guest that shows it."""

import bare_guests
import harness


@harness.both_backends
def test_no_guest_ends_the_emulator(tmp_path, backend):
    """A TLB counter that goes on after a stop was armed, and its wrap ended QEMU."""
    result = bare_guests.boot(tmp_path, {"alpha": "kind=cachewrap"}, backend=backend)
    assert result.vm("alpha") == ["cachewrap: ends"]


@harness.both_backends
def test_cache_counter_shows_no_flag_of_another(tmp_path, backend):
    """A TLB counter started near its wrap has its hardware flag set from the start."""
    result = bare_guests.boot(tmp_path, {"alpha": "kind=falseflag"}, backend=backend)
    assert result.vm("alpha") == ["falseflag: scountovf is right"]


def test_time_never_goes_back(tmp_path):
    """With several harts a guest ran before its clock was set."""
    guests = {name: "kind=clock ticks=3000000" for name in ("alpha", "beta", "gamma")}
    result = bare_guests.boot(tmp_path, guests, vcpus=("0 1",), profile="smp",
                              options=("--harts", "2"))
    assert [result.vm(name) for name in guests] == [["clock: ends"]] * 3


def test_many_vcpus_end_at_once(tmp_path):
    """Each reports in a stay of its own."""
    guests = {"alpha": "kind=busy ticks=1000", "beta": "kind=busy ticks=200000"}
    result = bare_guests.boot(tmp_path, guests, vcpus=("0",) * 8)
    assert "vm alpha: ended" in result.own and "vm beta: ended" in result.own
