# SPDX-License-Identifier: Apache-2.0
"""What ports of networks may send, by frames-per-ms and bytes-per-ms of the VM tree."""

import json
import re

import pytest

import harness
from networks import counts, network, run, vm
from vm_check import check

# Ticks of a flood. In 10 periods and a half 11 begin, each with the first frame after the last one,
# which comes at most 300 ticks later.
PERIOD = 10000
TICKS = 10 * PERIOD + PERIOD // 2
PERIODS = 11
BEGINS = 20 * PERIOD  # when the others are set up
# Instructions that limits add to a frame, and of how many frames.
ADDED = 40
FRAMES = 30


def flood(name, size, to=2, hart=0):
    """A VM that sends as fast as it can."""
    return vm(name, f"role=flood to={to} size={size} ticks={TICKS} after={BEGINS}", hart)


def offered(result, name):
    """The frames that its driver has given to the port."""
    (line,) = result.vm(name)
    return int(re.fullmatch(r"net: (\d+) frames sent", line)[1])


@pytest.mark.parametrize("limit,size,frames", [
    ("frames-per-ms = <1>;", 1514, 1), ("frames-per-ms = <10>;", 60, 10),
    ("bytes-per-ms = <10000>;", 1514, 6), ("bytes-per-ms = <1518>;", 1518, 1),
    ("frames-per-ms = <5>; bytes-per-ms = <10000>;", 1514, 5),
    ("frames-per-ms = <7>; bytes-per-ms = <10000>;", 1514, 6)])
def test_a_flood(tmp_path, limit, size, frames):
    """In each period so many frames are sent, and all others are refused. The receiver, which has
    no buffer, sleeps, so the flood has the hart."""
    vms = [flood("alpha", size), vm("beta", f"role=listen deaf=1 buffers=0 ticks={8 * TICKS}")]
    result = run(tmp_path, vms, network("alpha", "beta", more={"alpha": limit}))
    assert result.status == harness.OK, str(result)
    sent = PERIODS * frames
    assert offered(result, "alpha") > 5 * sent, str(result)
    assert counts(result, "alpha") == (sent, offered(result, "alpha") - sent, 0, 0), str(result)
    assert counts(result, "beta") == (0, 0, 0, sent), str(result)


def test_a_neighbour_is_not_limited(tmp_path):
    """One that floods the same port of the same network."""
    vms = [flood("alpha", 60), vm("beta", f"role=listen deaf=1 buffers=4 ticks={8 * TICKS}"),
           flood("gamma", 60)]
    result = run(tmp_path, vms,
                 network("alpha", "beta", "gamma", more={"alpha": "frames-per-ms = <10>;"}))
    assert result.status == harness.OK, str(result)
    sent, refused, *_ = counts(result, "alpha")
    # While the other one runs, no period begins.
    assert 0 < sent <= PERIODS * 10 and sent + refused == offered(result, "alpha"), str(result)
    others = offered(result, "gamma")
    assert others > 10 * sent and counts(result, "gamma") == (others, 0, 0, 0), str(result)
    assert counts(result, "beta") == (0, 0, 4, sent + others - 4), str(result)


def test_within_a_limit(tmp_path):
    """Each frame arrives, and nothing is refused."""
    script = ",".join(["2.0.60"] * 3)
    result = run(tmp_path, [vm("alpha", f"role=talk after=200000 script={script}"),
                            vm("beta", "role=listen")],
                 network("alpha", "beta", more={"alpha": "frames-per-ms = <4>;"}))
    assert result.status == harness.OK, str(result)
    # With the frame that ends them.
    assert counts(result, "alpha") == (4, 0, 0, 0), str(result)
    assert result.vm("beta") == ["net: 3 frames of 1", "net: 0 strange"], str(result)


def spent(tmp_path, limit):
    """Instructions of HS for the exits of a VM that sends FRAMES frames and one more."""
    script = ",".join(["2.0.60"] * FRAMES)
    result = run(tmp_path, [vm("alpha", f"role=talk after={BEGINS} script={script}"),
                            vm("beta", f"role=listen deaf=1 buffers=0 ticks={8 * TICKS}")],
                 network("alpha", "beta", more={"alpha": limit}))
    assert result.status == harness.OK, str(result)
    assert counts(result, "alpha") == (FRAMES + 1, 0, 0, 0), str(result)
    (line,) = (line for line in result.own if line.startswith("vm alpha: vcpu 0: exits "))
    return harness.exit_counts(line)["hs-instructions"]


def test_cost(tmp_path):
    """Of a port with limits, for each frame."""
    added = spent(tmp_path, "frames-per-ms = <100>; bytes-per-ms = <100000>;") \
        - spent(tmp_path, "")
    assert 0 < added <= (FRAMES + 1) * harness.at_most(ADDED)


def test_vm_check_says_it(tmp_path):
    """For a person and for a program, as boot reports."""
    more = {"alpha": "frames-per-ms = <20>;", "beta": "bytes-per-ms = <125000>;",
            "gamma": "frames-per-ms = <100000>; bytes-per-ms = <100000000>;"}
    names = [*more, "delta"]
    limits = dict(zip(names, ((20, None), (None, 125000), (100000, 100000000), (None, None))))
    result = run(tmp_path, [vm(name, "role=listen deaf=1 ticks=1000") for name in names],
                 network(*names, more=more))
    assert result.status == harness.OK, str(result)
    file = tmp_path / "vms.dts"
    vms = json.loads(check(file, "--json").stdout)["vms"]
    assert {row["name"]: tuple(row["ports"][0][key] for key in ("frames_per_ms", "bytes_per_ms"))
            for row in vms} == limits
    assert [line.strip() for line in check(file).stdout.splitlines() if "sends at" in line] == [
        "sends at most 20 frames in a period of 1 ms",
        "sends at most 125000 bytes in a period of 1 ms",
        "sends at most 100000 frames and 100000000 bytes in a period of 1 ms"]
    booted = [line for line in result.own if "has a port of" in line]
    assert [re.sub(r".*:0\d", "", line) for line in booted] == [
        ", frames-per-ms 20", ", bytes-per-ms 125000",
        ", frames-per-ms 100000, bytes-per-ms 100000000", ""]
