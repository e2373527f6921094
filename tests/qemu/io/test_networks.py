# SPDX-License-Identifier: Apache-2.0
"""Networks between VMs: frames of bare guests, by the switch that HS is."""

import re

import pytest

import harness
import measured
from networks import counts, network, run, vm
import operator_trees

# Instructions of a notification for one frame, from before the store to behind it: of 1,514 bytes
# in one part, and in as many as there may be.
MOST, MOST_IN_PARTS = 1800, 3200
# Restarts of a VM that gets frames all the time.
LIVES = 20


@pytest.mark.parametrize("args", ["", "events=1", "parts=6", "burst=32", "burst=32 events=1"])
def test_there_and_back(tmp_path, args):
    """Each frame arrives once and whole, of each size."""
    for size in (60, 61, 1514, 1518):
        result = run(tmp_path, [vm("alpha", f"role=ping to=2 frames=64 size={size} {args}"),
                                vm("beta", f"role=echo {args}")], network("alpha", "beta"))
        assert result.status == harness.OK, str(result)
        assert result.vm("alpha") == ["net: 64 frames there and back, 0 wrong"]
        assert result.vm("beta") == ["net: 64 frames sent back"]


def test_between_harts(tmp_path):
    """The same, on threads of the host."""
    result = run(tmp_path, [vm("alpha", "role=ping to=2 frames=512 size=1000 burst=16"),
                            vm("beta", "role=echo", hart=1)], network("alpha", "beta"),
                 ["--harts", 2], profile="smp")
    assert result.status == harness.OK, str(result)
    assert result.vm("alpha") == ["net: 512 frames there and back, 0 wrong"]
    assert result.vm("beta") == ["net: 512 frames sent back"]


def test_who_gets_a_frame(tmp_path):
    """Broadcast reaches all others, a MAC its port, and those of no port nobody. A forged source, a
    frame that is too short and one that is too long are refused."""
    script = "255.0.60,2.0.60,9.0.60,254.0.60,2.3.60,2.0.13,3.0.1519,3.0.1518"
    result = run(tmp_path, [vm("alpha", f"role=talk after=200000 script={script}"),
                            vm("beta", "role=listen"), vm("gamma", "role=listen")],
                 network("alpha", "beta", "gamma"))
    assert result.status == harness.OK, str(result)
    for name in ("beta", "gamma"):
        assert result.vm(name) == ["net: 2 frames of 1", "net: 0 strange"], str(result)
        assert counts(result, name) == (0, 0, 3, 0)
    # With the frame that ends them.
    assert counts(result, "alpha") == (6, 3, 0, 0)


def test_uplink(tmp_path):
    """It sends with MACs that no port has, not with those of others, and gets what is for MACs that
    no port has; another network gets nothing."""
    vms = [vm("alpha", "role=talk after=200000 script=7.0.60,2.0.60"),
           vm("beta", "role=talk pause=400000 script=1.9.60,1.1.60"),
           vm("gamma", "role=listen"), vm("delta", "role=talk after=600000 script=3.0.60")]
    result = run(tmp_path, vms, network("alpha", "beta", uplink="beta") +
                 network("gamma", "delta", name="other"))
    assert result.status == harness.OK, str(result)
    # Two frames of data and the end of the first one; the other's end is lost, its life being over.
    assert counts(result, "beta")[:3] == (2, 1, 3), str(result)
    assert counts(result, "gamma") == (0, 0, 1, 0)


def test_without_buffers(tmp_path):
    """Frames are lost, and counted at the receiver: without a buffer, and with too small ones."""
    for args, got in (("buffers=0", 0), ("buffers=64 bytes=100", 1)):
        result = run(tmp_path, [vm("alpha", "role=talk after=200000 script=2.0.1000,2.0.1000"),
                                vm("beta", "role=listen deaf=1 ticks=1000000 " + args)],
                     network("alpha", "beta"))
        assert result.status == harness.OK, str(result)
        assert counts(result, "alpha") == (3, 0, 0, 0)
        # The frame that ends a talk is short.
        assert counts(result, "beta")[2:] == (got, 3 - got), str(result)


# On two harts it is the host that lets a life end in time.
@pytest.mark.parametrize("harts", [1, pytest.param(2, marks=pytest.mark.long)])
def test_restarts(tmp_path, harts):
    """A VM restarts again and again while frames for it come without a pause: it finds its memory
    as a life begins, and each frame is received or lost."""
    vms = [vm("alpha", "role=flood to=2 ticks=2000000 size=1514"),
           vm("beta", "role=lives frames=40", harts - 1, f"restart-limit = <{LIVES}>;")]
    result = run(tmp_path, vms, network("alpha", "beta"),
                 *([["--harts", harts]] if harts > 1 else []),
                 profile="smp" if harts > 1 else "exact")
    assert set(result.vm("beta")) == {"net: 0 strange"}, str(result)
    lives = sum("starts again" in line for line in result.own)
    assert lives == LIVES if harts == 1 else lives > 0, str(result)
    [line] = result.vm("alpha")
    sent = int(re.fullmatch(r"net: (\d+) frames sent", line)[1])
    assert counts(result, "alpha")[:2] == (sent, 0)


def test_hostile_queues(tmp_path):
    """Descriptors, rings and indexes with anything in them, of the sender and of the receiver:
    the pages that none of them names stay as they are, and no stay is long. A VM beside them that
    has no port counts what it executes."""
    for seed in (1, 2):
        vms = [vm("alpha", f"role=hostile seed={seed} rounds=2000"),
               vm("beta", f"role=hostile seed={seed + 7} rounds=2000"),
               vm("gamma", "role=listen deaf=1 ticks=3000000"),
               operator_trees.vm("victim", measured.MEASURE)]
        result = run(tmp_path, vms, network("alpha", "beta", "gamma"))
        assert result.status == harness.OK, str(result)
        assert result.vm("victim") == measured.EXPECTED
        for name in ("alpha", "beta"):
            assert result.vm(name) == ["net: 2000 hostile rounds, 0 changed"], str(result)


def cost(tmp_path, args):
    """Instructions of a notification: (mean, most)."""
    result = run(tmp_path, [vm("alpha", "role=cost to=2 frames=64 after=200000 " + args),
                            vm("beta", "role=listen")], network("alpha", "beta"))
    assert result.status == harness.OK, str(result)
    [line] = result.vm("alpha")
    found = re.fullmatch(r"net: a notification takes (\d+) instructions, at most (\d+)", line)
    return tuple(map(int, found.groups()))


def test_cost(tmp_path):
    """Of a frame: the exit, the copy, what tells the other VM, and the way back."""
    mean, _ = cost(tmp_path, "size=1514 events=1")
    assert 1000 < mean <= harness.at_most(MOST)
    _, most = cost(tmp_path, "size=1514 events=1 parts=6")
    assert most <= harness.at_most(MOST_IN_PARTS)
