# SPDX-License-Identifier: Apache-2.0
"""Attacks on what boot promises of a hart with windows: no stay is longer than it says
(harness.note_stays), and with its least guard each window begins at its tick."""

import re

import pytest

import harness
import operators
import plain
from benchlib.storms import CLOCK, FUNCTION, RNG

FRAME, START, LENGTH, TICKS = 3000, 1000, 100, 10  # us; ticks in each
WINDOWS = 40
# Longer than any exit: a guest that is away for more has lost its window.
AWAY = 1000
IN_FRAME = f"frame={FRAME * TICKS} start={START * TICKS} windows={WINDOWS}"
LOOKS = f"kind=delays away={AWAY} {IN_FRAME}"

TREE = """/dts-v1/;
/ {{
	compatible = "tally,vm-tree-1";
	images {{ bare: bare {{ data = /incbin/("bare.bin"); }}; {images} }};
	vms {{ turn-us = <100>; {vms} }};
	shared {{ {shared} }};
	schedules {{ hart0 {{
		major-frame-us = <{frame}>;
		slack = {slack};
		victim {{ vm = "victim"; start-us = <{start}>; length-us = <{length}>;
			guard-us = <{guard}>; }};
	}}; }};
}};
"""
VM = """
		{name} {{
			memory = /bits/ 64 <({memory} << 20)>;
			kernel = <&bare>;
			bootargs = "{bootargs}";
			restart-limit = <1000>;
			{more}
			{vcpus}
		}};
"""
LATE = re.compile(r"vm victim: vcpu \d: (\d+) windows began late, by (\d+) ticks at most")


def vm(name, bootargs, vcpus=1, more="", memory=4):
    """The text of a VM's node."""
    return VM.format(name=name, bootargs=bootargs, more=more, memory=memory,
                     vcpus=" ".join(f"vcpu{n} {{ harts = <0>; }};" for n in range(vcpus)))


def boot(folder, guard, vms, shared="", images="", options=("--aia", "none"), **arguments):
    """({ticks of delay: how many windows}, the result). vms: {NAME: arguments of vm()}, and one of
    them is "victim", which has the window."""
    plain.make("build/guests/bare.bin")
    file = folder / "attacks.dts"
    file.write_text(TREE.format(
        vms="".join(vm(name, **words) for name, words in vms.items()), shared=shared, images=images,
        slack=", ".join(f'"{name}"' for name in vms if name != "victim"),
        frame=FRAME, start=START, length=LENGTH, guard=guard), encoding="ascii")
    result = harness.run(file, until="vm victim: ended",
                         options=["--include", harness.BUILD / "guests", *options], **arguments)
    told = "\n".join(result.vm("victim"))
    assert f"delays: {WINDOWS} windows in {WINDOWS} frames" in told, str(result)
    return {int(late): int(times)
            for late, times in re.findall(r"^delay (\d+) ticks, (\d+) times$", told, re.M)}, result


def late(result):
    """What Tally tells of late windows: [(how many, ticks)]."""
    return [tuple(map(int, found.groups())) for found in map(LATE.match, result.own) if found]


def least(backend, more=0):
    """The least guard of a small tree, which has so many vcpus more in the window."""
    return harness.LEAST_GUARD[backend] + more


def begins_at_its_tick(seen):
    """Each window, and boot has promised it of no longer guard."""
    found, result = seen
    assert found == {0: WINDOWS} and not late(result), str(result)


# Ticks in a frame at which a neighbour acts. What follows from it 1 or 2 ms later comes in the
# least guard, while the window's vcpu is loaded already and waits.
def ambush(what, ticks, more=""):
    """The words of a neighbour that acts then."""
    return f"kind=ambush what={what} frame={FRAME * TICKS} at={','.join(map(str, ticks))} {more}"


@harness.both_backends
def test_a_heartbeat_is_looked_for_in_the_guard(tmp_path, backend):
    """The time at which a neighbour must have rung is there."""
    due = (START - 3) * TICKS
    begins_at_its_tick(boot(tmp_path, least(backend), {
        "victim": {"bootargs": LOOKS},
        "beats": {"bootargs": ambush("beat", [due // 2, due + 1000 * TICKS]),
                  "more": "heartbeat-ms = <2>;"}}, backend=backend))


@harness.both_backends
@pytest.mark.parametrize("due", [(START - 5) * TICKS, (START + LENGTH // 2) * TICKS])
def test_alarms_of_others_wait_for_their_windows(tmp_path, backend, due):
    """Those of the clocks of fifteen neighbours are due at once, in the guard or in the midst of
    the window. The victim is never away for long enough for one of them."""
    neighbour = {"bootargs": ambush("alarm", [(START + LENGTH) * TICKS], f"due={due}")}
    begins_at_its_tick(boot(tmp_path, least(backend), {
        "victim": {"bootargs": f"kind=delays away=10 {IN_FRAME}"},
        **{f"alarms{n}": neighbour for n in range(15)}}, backend=backend))


@harness.both_backends
def test_dma_faults_that_are_left_are_served_in_the_guard(tmp_path, backend):
    """More than a stay may serve are left for a millisecond later, at each tick around the guard in
    turn."""
    before = least(backend) * TICKS + 200
    begins_at_its_tick(boot(tmp_path, least(backend), {
        "victim": {"bootargs": LOOKS},
        "raids": {"bootargs": ambush("fault", [(FRAME + START - 1000) * TICKS - before],
                                     f"each=3 step=13 span={before}"),
                  "more": f"devices {{ {FUNCTION} }};"}},
        backend=backend, options=["--aia", "none", "--device", RNG]))


@harness.both_backends
def test_its_own_device_interrupts_outside_the_window(tmp_path, backend):
    """The source is turned on in the guard, and its interrupt pends then."""
    begins_at_its_tick(boot(tmp_path, least(backend), {
        "victim": {"bootargs": f"kind=sentry what=alarm {IN_FRAME}",
                   "more": f"devices {{ {CLOCK} }};"},
        "computes": {"bootargs": "kind=busy ticks=100000000000"}}, backend=backend))


@harness.both_backends
@pytest.mark.parametrize("chip, vcpus", [("plic", 8), ("aia", 2)])
def test_a_bell_rings_outside_the_window(tmp_path, backend, chip, vcpus):
    """A neighbour rings for vcpus that sleep, beside one that computes: an AIA's message pends when
    the hart listens to the file again, and a PLIC interrupts all vcpus."""
    aia = 'interrupts = "aia";' if chip == "aia" else ""
    users = "".join(f'{name} {{ at = /bits/ 64 <0x100000000>; access = "read-write"; bell = <3>; '
                    + ("bell-identity = <7>; }; " if aia else "}; ")
                    for name in ("victim", "rings"))
    begins_at_its_tick(boot(tmp_path, least(backend, 2), {
        "victim": {"bootargs": f"kind=sentry what=bell {IN_FRAME}", "vcpus": vcpus, "more": aia},
        "rings": {"bootargs": ambush("bell", [500 * TICKS]), "more": aia}}, backend=backend,
        shared=f"ring {{ size = /bits/ 64 <0x10000>; {users} }};",
        options=["--aia", "auto" if aia else "none"]))


# us, of firmware events that M-mode counts: each takes a call of the firmware at the begin and at
# the end of a vcpu's time on the hart (docs/schedules.md).
FIRMWARE_EVENTS = 9
NAPS = (27, 31, 24, 35, 22)


def beside_firmware_events(folder, backend, guard, nap):
    """Two vcpus that count all five such events, and sleep again and again."""
    return boot(folder, guard, {
        "victim": {"bootargs": LOOKS},
        "naps": {"bootargs": f"kind=naps nap={nap} fw=5 ticks=100000000000", "vcpus": 2}},
        backend=backend)


@harness.both_backends
def test_firmware_events_need_a_longer_guard(tmp_path, backend):
    """The least guard is without the firmware's part of them."""
    begins_at_its_tick(beside_firmware_events(
        tmp_path, backend, least(backend) + FIRMWARE_EVENTS, NAPS[0]))


def test_that_is_seen(tmp_path):
    """With the least guard windows are late, if a switch begins just before it, by less than that;
    and each is counted, but for some that the guest sees a tick late: HS reads the time some
    instructions before the guest's first one, and a tick may begin between the two."""
    for nap in NAPS:
        found, result = beside_firmware_events(tmp_path, "ssccfg", least("ssccfg"), nap)
        if late(result):
            break
    assert late(result)[0][0] >= WINDOWS - found.get(0, 0) - found.get(1, 0)
    assert 0 < max(found) <= FIRMWARE_EVENTS * TICKS, str(result)


SIEGED = ["siege", "storm", "fuzz"]
OPERATOR = ('operator = "control"; operator-interrupt = <5>; operator-requests-hz = <10000>; '
            'operator-samples-hz = <100000>; initrd = <&script>; operator-vms = '
            + ", ".join(f'"{name}"' for name in SIEGED) + ";")
# All but the firmware events of M-mode; each VM can be made again at once.
ATTACKER = ('pmu-snapshot = "on"; pmu-overflow = "on"; '
            "pmu-events = <1 2 0x10005 0x10019 0x1001b 0x10021 0xf0005 0xf0006 0xf0100>;")
WATCH = [*(f"observe {name} {event}" for name in SIEGED for event in ("instructions", "0x1:u")),
         *(f"sample {name} cycles 1000 64" for name in SIEGED), "observed --json", "unobserve"]
CONTROL = ["pmu --json", "exits --json", "vms --json", *(f"restart {name}" for name in SIEGED),
           "stop siege", "start siege"]


@pytest.mark.parametrize("backend, asked", [("ssccfg", CONTROL), ("sbi", CONTROL),
                                            ("sbi", WATCH + CONTROL)])
def test_all_at_once(tmp_path, backend, asked):
    """24 vcpus of three VMs that make the dearest calls there are, and an operator that restarts
    them meanwhile. If it also observes them, and samples with 64 callers, windows may be late
    (docs/schedules.md), but no stay is longer."""
    text = operators.script([("+0", one) for one in asked] + [("+777", one) for one in asked])
    seen = boot(tmp_path, least(backend), {
        "victim": {"bootargs": LOOKS},
        "ops": {"bootargs": "kind=operator times=1000", "more": OPERATOR, "memory": 16},
        "siege": {"bootargs": "kind=siege", "vcpus": 8, "more": ATTACKER},
        "storm": {"bootargs": "kind=storm quiet=yes again=yes", "vcpus": 8, "more": ATTACKER},
        "fuzz": {"bootargs": "kind=fuzz quiet=1 seed=7 ticks=100000000000", "vcpus": 8,
                 "more": ATTACKER}},
        images=f'script: script {{ data = "{text}"; }};', backend=backend)
    if asked is CONTROL:
        begins_at_its_tick(seen)


# What boot computes of 16 VMs of four vcpus: the longest stay and the least guard.
SIXTY_FOUR = {"ssccfg": (5540, 9), "sbi": (17250, 32)}
FLOODS = ["kind=siege", "kind=storm quiet=yes again=yes", "kind=chatter lines=1000000 by=uart",
          "kind=fuzz quiet=1 seed=7 ticks=100000000000",
          ambush("alarm", [(START + LENGTH) * TICKS], f"due={(START + LENGTH // 2) * TICKS}")]


@harness.both_backends
def test_sixty_four_vcpus(tmp_path, backend):
    """All these floods at once, of three VMs each. In its windows the victim is never away for
    longer than a stay and the short one behind it (docs/limits.md)."""
    guests = [FLOODS[n % len(FLOODS)] for n in range(15)]
    seen = boot(tmp_path, SIXTY_FOUR[backend][1], {
        "victim": {"bootargs": f"kind=delays away=60 {IN_FRAME}", "vcpus": 4},
        **{f"flood{n}": {"bootargs": guest, "vcpus": 4,
                         "more": 'pmu-snapshot = "on"; pmu-overflow = "on";'}
           for n, guest in enumerate(guests)}}, backend=backend)
    begins_at_its_tick(seen)
    assert harness.promises(seen[1]) == [SIXTY_FOUR[backend]]
