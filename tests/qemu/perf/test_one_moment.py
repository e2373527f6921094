# SPDX-License-Identifier: Apache-2.0
"""All observations of all VMs are looked at at one moment: what is equal in a guest is equal in
each span. An operator in a VM asks, so each look comes at the same instruction in each run."""

import pytest

from bare_guests import FOREVER
import harness
import operators
from operators import MS, at_once, objects

LOOKS = 20
BEGIN = 100 * MS
OBSERVED = [("+5431", "observed --json")] * LOOKS


@harness.both_backends
def test_one_moment(tmp_path, backend):
    """Of all vcpus of a hart, to the tick, whoever runs then."""
    vms = ("alpha", "beta", "gamma")
    begin = [f"observe {vm} {event} --json" for vm in vms for event in ("0x1:uk", "0x2:uk",
                                                                       "0xf0100")]
    asked = [(BEGIN, begin[0]), *at_once(*begin[1:], "observed --json"), *OBSERVED,
             *at_once("unobserve --json", "observed --json")]
    _, told = operators.boot(tmp_path, dict.fromkeys(vms, FOREVER), asked, access="watch",
                             until=operators.ENDED, backend=backend)
    looks = list(map(objects, told[len(begin):-1]))
    assert len(looks) == LOOKS + 2
    for last, lines in zip(looks, looks[1:]):
        assert [line["ended"] for line in lines] == [None] * 9
        assert len({line["at_ns"] for line in lines}) == 1
        grown = {(line["vm"], line["event"]): line["value"] - before["value"]
                 for line, before in zip(lines, last)}
        assert all(grown[vm, "0x1"] == grown[vm, "0x2"] for vm in vms)
    assert all(line["value"] > before["value"] for line, before in zip(looks[-1], looks[0]))
    assert objects(told[-1]) == []


def all_observations(folder):
    """As many as there may be, looked at again and again: the answers, and the run."""
    names = [f"vm{n}" for n in range(7)]
    begin = [f"observe {vm} {event} --json" for vm in names[:6] for event in (
        "0x2:uk", "0x1:uk", "0x2:uk", "0x10019:u", "0x1001b:u", "0xf0100", "0xf0109", "0xf010a")]
    first = 8 << 24 | 1
    asked = [(2 * BEGIN, begin[0]), *at_once(*begin[1:], "observe vm6 0x2:uk --json"), *OBSERVED,
             *at_once(f"unobserve {first} --json", "observe vm6 0x2:uk --json")]
    result, told = operators.boot(folder, dict.fromkeys(names, FOREVER), asked,
                                  vcpus=("0", "0"), access="watch", stays=False,
                                  until=operators.ENDED)
    return list(map(objects, told)), result


def test_as_many_as_there_may_be(tmp_path):
    """One more is refused, and one that has ended makes room."""
    told, _ = all_observations(tmp_path)
    begun, refused, looks, (_, again) = (told[:48], told[48], told[49:-2], told[-2:])
    assert {(len(lines), *(line["ended"] for line in lines)) for lines in begun} == {
        (2, None, None)}
    assert {(line["observation"], line["ended"]) for line in refused} == {
        (None, "too many observers")}
    for lines in looks:
        assert len(lines) == 96 and len({line["at_ns"] for line in lines}) == 1
    assert [line["ended"] for line in again] == [None] * 2


def test_a_look_at_all_is_no_longer_than_it_may(tmp_path):
    """No stay is longer than those that guests cause."""
    _, result = all_observations(tmp_path)
    stays = [harness.exit_counts(line)["longest-stay"] for line in result.own
             if ": exits " in line]
    assert stays and max(stays) <= harness.LONGEST_STAY


@pytest.mark.parametrize("roams", [False, True])
def test_two_harts(tmp_path, two_harts, roams, roaming):
    """A vcpu on another hart, or between two of them, is found; and no span has a part of what it
    counts. (Under -icount a hart's counters see the other's instructions, alike.)"""
    asked = [(BEGIN, "observe alpha 0x1:uk --json"), *at_once("observe alpha 0x2:uk --json"),
             *(one for n in range(LOOKS)
               for one in [(f"+{1000 * n}", "observed --json"), (f"+{100 * n}", "vms --json")])]
    _, told = operators.boot(
        tmp_path, {"alpha": FOREVER}, asked, vcpus=("1 0",), access="watch", stays=False,
        options=[*two_harts, *(roaming if roams else ())], until=operators.ENDED)
    told = list(map(objects, told[2:]))
    looks, harts = told[::2], {vm["harts"][0] for (vm,) in told[1::2]}
    for last, lines in zip(looks, looks[1:]):
        assert len({line["looked_ns"] for line in lines}) == 1
        cycles, instructions = (line["value"] - before["value"]
                                for line, before in zip(lines, last))
        assert cycles == instructions > 0
    assert harts == ({0, 1} if roams else {1})
