# SPDX-License-Identifier: Apache-2.0
"""Interrupts of a device that a VM has, through each of the host's interrupt controllers: as many
as there were, to their owner, and none of a life before."""

import subprocess

import pytest

import bare_guests
import harness
import hosts
import platforms
from hosts import CHIPS, CLOCK
from measured import EXPECTED, MEASURE

ALARMS = 300
DONE = (f"alarm: 0 before the first, {ALARMS} alarms, {ALARMS} interrupts, 0 early, "
        "0 too many or few, 0 claims of nothing, 0 of others")


def boot(folder, guests, aia, **arguments):
    """Boots guests, the first of which, alpha, has the clock."""
    return bare_guests.boot(folder, guests, own={"alpha": CLOCK},
                            options=["--aia", aia, *arguments.pop("options", ())], **arguments)


@pytest.mark.parametrize("wait", ["spin", "wfi"])
@pytest.mark.parametrize("aia", CHIPS)
def test_one_interrupt_an_alarm(tmp_path, aia, wait):
    """Three exits for each: the interrupt, the claim and the completion. Where QEMU's APLIC keeps
    the source pending although the wire is low, it interrupts once more when the source is turned
    on again: that is no interrupt of the guest's, but an exit."""
    result = boot(tmp_path, {"alpha": f"kind=alarm alarms={ALARMS} wait={wait}"}, aia)
    assert result.vm("alpha") == [DONE]
    exits = bare_guests.exits(result, "alpha")
    # Besides, it sets two registers of its interrupt controller.
    assert exits["mmio"] == 2 * ALARMS + 2, exits
    if wait == "spin":
        again = aia == "aplic" and platforms.aplic_keeps_pending()
        assert exits["irq"] == (2 if again else 1) * ALARMS, exits
    # Where WFI does not trap, the guest sleeps in it.
    assert exits["wfi"] == 0, exits


@pytest.mark.parametrize("backend", ["sbi", "ssccfg"])
@pytest.mark.parametrize("aia", CHIPS)
def test_a_neighbour_on_the_hart_counts_as_if_alone(tmp_path, aia, backend):
    """Interrupts of the one arrive while the other counts."""
    result = boot(tmp_path, {"alpha": f"kind=alarm alarms={ALARMS} wait=wfi", "beta": MEASURE},
                  aia, backend=backend)
    assert result.vm("alpha") == [DONE]
    assert result.vm("beta") == EXPECTED
    exits = bare_guests.exits(result, "alpha")
    assert exits["mmio"] == 2 * ALARMS + 2, exits


# What it leaves behind, and the line that it prints then.
LEFT = {"armed": None, "pending": "alarm: is pending", "claimed": "alarm: claims 1"}
LIVES = 3


@pytest.mark.parametrize("left", LEFT)
@pytest.mark.parametrize("aia", CHIPS)
def test_no_interrupt_of_a_life_before(tmp_path, aia, left):
    """Each life looks for one for twice the time that an alarm would have taken. Beside it, the
    counts of another VM stay exact."""
    result = boot(tmp_path, {"alpha": f"kind=alarm alarms=20 left={left}", "beta": MEASURE}, aia,
                  properties=f"restart-limit = <{LIVES - 1}>;", status=harness.VM_FAILED)
    life = [DONE.replace(str(ALARMS), "20")] + [LEFT[left]] * bool(LEFT[left])
    assert result.vm("alpha") == life * LIVES
    assert result.vm("beta") == EXPECTED


# The second cell of an interrupt at an APLIC.
TYPES = {"rising": 1, "falling": 2}
LOW = 8


def typed(folder, aia, kind):
    """The options for a machine whose tree says so of the clock."""
    tree = hosts.changed(folder, [["host.dtb", "/soc/rtc@101000", "interrupts", "11", str(kind)]],
                         aia=aia)
    return ["--qemu", hosts.qemu(folder, *tree)]


@pytest.mark.parametrize("wire", TYPES)
@pytest.mark.parametrize("aia", ("aplic", "aplic-imsic"))
def test_edges(tmp_path, aia, wire):
    """As the host's tree has them. Beside it, the counts of another VM stay exact."""
    result = boot(tmp_path, {"alpha": f"kind=alarm alarms={ALARMS} wire={wire}", "beta": MEASURE},
                  aia, options=typed(tmp_path, aia, TYPES[wire]))
    assert result.vm("alpha") == [DONE]
    assert result.vm("beta") == EXPECTED


def test_a_level_that_does_not_end(tmp_path):
    """The tree says that the wire is low when it interrupts, which it is at rest: the VM stays off,
    in words, and another one counts exactly."""
    result = boot(tmp_path, {"alpha": "kind=alarm", "beta": MEASURE}, "aplic",
                  options=typed(tmp_path, "aplic", LOW))
    assert not result.vm("alpha")
    at = result.own.index("vm alpha: an interrupt of its devices does not end")
    assert result.own[at + 1] == "vm alpha: stays off"
    assert result.vm("beta") == EXPECTED


def test_a_level_that_comes_again(tmp_path):
    """Where sources send messages it pends again only when the guest has completed it. So the VM
    starts, takes nothing but interrupts, and another one counts exactly."""
    result = boot(tmp_path, {"alpha": "kind=alarm", "beta": MEASURE}, "aplic-imsic",
                  options=typed(tmp_path, "aplic-imsic", LOW), until="tally: vm beta: ended",
                  status=harness.INTERRUPTED)
    assert not result.vm("alpha")
    assert result.vm("beta") == EXPECTED


@pytest.mark.parametrize("aia", CHIPS)
def test_one_that_is_off_gets_none(tmp_path, aia):
    """It ends with an alarm armed, and another VM has the hart while it would come."""
    result = boot(tmp_path, {"alpha": "kind=alarm alarms=20 left=armed", "beta": MEASURE}, aia,
                  properties="restart-limit = <0>;", status=harness.VM_FAILED)
    assert result.vm("alpha") == [DONE.replace(str(ALARMS), "20")]
    assert result.vm("beta") == EXPECTED
    assert bare_guests.exits(result, "beta")["irq"] <= 20 * 2


@pytest.mark.parametrize("profile", ["exact", "smp"])
@pytest.mark.parametrize("aia", CHIPS)
def test_interrupts_follow_the_vcpu(tmp_path, aia, profile, two_harts, roaming):
    """It moves to the other hart after every turn of 2 ms: as often in each run by the machine's
    time, and on threads of the host as often as these get to it."""
    harts = two_harts if profile == "exact" else ["--harts", 2]
    result = boot(tmp_path, {"alpha": f"kind=alarm alarms={ALARMS} delay=500000"}, aia,
                  vcpus=("0 1",), profile=profile, options=[*harts, *roaming])
    assert result.vm("alpha") == [DONE]
    exits = bare_guests.exits(result, "alpha")
    assert profile == "smp" or exits["moves"] == 87, exits


@pytest.mark.parametrize("aia", CHIPS)
def test_none_is_lost_while_the_hart_changes(tmp_path, aia):
    """The source aims at the one hart and at the other in turns, thousands of times an alarm."""
    result = boot(tmp_path, {"alpha": f"kind=alarm alarms={ALARMS} delay=300000 wait=turns"}, aia,
                  vcpus=("0", "1"), profile="smp", options=["--harts", 2])
    assert result.vm("alpha") == [DONE]


@pytest.fixture(scope="module", name="loader")
def loader_fixture(tmp_path_factory):
    """QEMU with loader.S, which starts Tally with the clock's interrupt pending."""
    folder = tmp_path_factory.mktemp("loader")
    stub, qemu = folder / "loader.elf", folder / "qemu"
    subprocess.run(["riscv64-linux-gnu-gcc", "-nostdlib", "-static", "-Wl,-N,-Ttext=0x90000000",
                    "-Wl,--build-id=none,--no-warn-rwx-segments", "-o", stub,
                    harness.ROOT / "tests/qemu/programs/loader.S"], check=True)
    qemu.write_text(f"""#!/bin/sh
case "$*" in
*-machine*) exec qemu-system-riscv64 "$@" -device loader,file={harness.BUILD / "tally.elf"} ;;
esac
exec qemu-system-riscv64 "$@"
""")
    qemu.chmod(0o755)
    return ["--qemu", qemu, "--kernel", stub]


@pytest.mark.parametrize("aia", CHIPS)
def test_no_interrupt_of_before_tally(tmp_path, aia, loader):
    """What has booted Tally may have used the device."""
    result = boot(tmp_path, {"alpha": f"kind=alarm alarms={ALARMS} before=yes"}, aia,
                  options=loader)
    assert result.vm("alpha") == [DONE]
