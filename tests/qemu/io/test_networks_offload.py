# SPDX-License-Identifier: Apache-2.0
"""Networks with offloads: frames of 64 KiB of bare guests, in many buffers and several stays."""

import json
import re

import pytest

import harness
from networks import counts, network, run, vm
from vm_check import check

LARGEST = 65550
BUFFER = 1536  # bytes of a receiver's buffers, with the header
BUFFERS = -(-(12 + LARGEST) // BUFFER)
FRAMES = 4
OFFLOAD = 'offload = "on";'
# Instructions of a notification for a frame of 64 KiB, from before the store to behind it, with all
# times that it is executed: where the addresses of sender and receiver agree modulo 8, and where
# they do not.
AGREE, DIFFER = 52000, 115000


def large(tmp_path, sender="", receiver="", frames=FRAMES):
    """alpha sends to beta."""
    vms = [vm("alpha", f"role=large offload=1 after=200000 to=2 frames={frames} {sender}"),
           vm("beta", f"role=gather offload=1 frames={frames} {receiver} bytes={BUFFER - 12}")]
    result = run(tmp_path, vms, network("alpha", "beta", properties=OFFLOAD))
    assert result.status == harness.OK, str(result)
    return result


def took(result):
    """Instructions of a notification: (mean, most)."""
    [line] = result.vm("alpha")
    return tuple(map(int, re.fullmatch(
        r"net: a large frame takes (\d+) instructions, at most (\d+)", line).groups()))


@pytest.mark.parametrize("args,least,most", [
    ("", AGREE // 2, AGREE), ("offset=2", DIFFER // 2, DIFFER),
    ("parts=6 offset=7", DIFFER // 2, DIFFER)])
def test_a_large_frame(tmp_path, args, least, most):
    """Arrives once and whole, with its header; what it costs its sender."""
    result = large(tmp_path, args)
    assert result.vm("beta") == [
        f"net: {FRAMES} frames in {FRAMES * BUFFERS} buffers, 0 wrong"], str(result)
    assert counts(result, "alpha") == (FRAMES, 0, 0, 0)
    assert counts(result, "beta") == (0, 0, FRAMES, 0)
    mean, longest = took(result)
    print(f"{LARGEST} bytes, {args or 'addresses that agree'}: {mean} instructions")
    assert least <= mean and longest <= harness.at_most(most)


def test_in_many_or_too_few_buffers(tmp_path):
    """48 buffers at most; what does not fit is lost, and its buffers are there for what does."""
    most = 48 * 1024 - 12
    for size, bytes_, buffers, got in ((most, 1012, 64, 48), (most + 1, 1012, 64, 0),
                                       (LARGEST, BUFFER - 12, 42, 0), (1518, 1518, 1, 1)):
        result = large(tmp_path, f"size={size} offset=4",
                       f"size={size} bytes={bytes_} buffers={buffers}", frames=1)
        lines = [f"net: {int(got > 0)} frames in {got} buffers, 0 wrong"]
        assert result.vm("beta") == lines, str(result)
        assert counts(result, "alpha") == (1, 0, 0, 0)
        assert counts(result, "beta") == (0, 0, int(got > 0), int(got == 0))


def test_refused_frames(tmp_path):
    """Without segments a frame has 1,518 bytes at most, and with them 65,550."""
    for args in ("gso=0 size=1519", f"size={LARGEST + 1}"):
        result = large(tmp_path, args, frames=1)
        assert result.vm("beta") == ["net: 0 frames in 0 buffers, 0 wrong"], str(result)
        assert counts(result, "alpha") == (0, 1, 0, 0)
        assert counts(result, "beta") == (0, 0, 0, 0)


def test_a_driver_without(tmp_path):
    """It gets no FEATURES_OK, which is said once; others go on."""
    vms = [vm("alpha", "role=large offload=1 to=2 after=200000"), vm("beta", "role=listen"),
           vm("gamma", "role=listen", properties='restart-limit = <2>; restart = "always";')]
    result = run(tmp_path, vms, network("alpha", "beta", "gamma", properties=OFFLOAD))
    assert result.status != harness.OK
    for name in ("beta", "gamma"):
        assert set(result.vm(name)) == {"net: there is no port"}, str(result)
        assert [line for line in result.own if "does not take" in line
                and line.startswith(f"vm {name}: ")] == [
                    f"vm {name}: its driver does not take the offloads of network lan: "
                    "no FEATURES_OK"], str(result)
    assert counts(result, "alpha") == (1, 0, 0, 0)


def test_between_harts(tmp_path):
    """On threads of the host, while requests go the other way: each frame is sent when the receiver
    asks for it, so all buffers are free and none is lost, however late a thread is."""
    vms = [vm("alpha", f"role=gather offload=1 to=2 asks=1 frames={FRAMES} bytes={BUFFER - 12}"),
           vm("beta", f"role=large offload=1 to=1 asked=1 frames={FRAMES} offset=5", hart=1)]
    result = run(tmp_path, vms, network("alpha", "beta", properties=OFFLOAD), ["--harts", 2],
                 profile="smp")
    assert result.status == harness.OK, str(result)
    assert result.vm("alpha") == [
        f"net: {FRAMES} frames in {FRAMES * BUFFERS} buffers, 0 wrong"], str(result)
    assert counts(result, "beta")[:2] == (FRAMES, 0)
    assert counts(result, "alpha")[1:] == (0, FRAMES, 0)


def test_vm_check_says_it(tmp_path):
    """For a person and for a program, as boot reports."""
    names = ("alpha", "beta")
    networks = network(*names, properties=OFFLOAD) + network(*names, name="other")
    result = run(tmp_path, [vm(name, "role=listen deaf=1 ticks=1000") for name in names], networks)
    file = tmp_path / "vms.dts"
    vms = json.loads(check(file, "--json").stdout)["vms"]
    assert [[port["offload"] for port in one["ports"]] for one in vms] == [[True, False]] * 2
    said = [line for line in check(file).stdout.splitlines() if "  port  " in line]
    booted = [line for line in result.own if "has a port of" in line]
    for lines in (said, booted):
        assert [", offload" in line for line in lines] == [True, False] * 2, lines
