# SPDX-License-Identifier: Apache-2.0
"""Guests with an AIA (docs/aia.md): messages, timers and devices without exits, each told by stopi;
nothing of others in reach; nothing left of a life before; counts as exact as ever."""

import os
import re
import shutil

import pytest

import bare_guests
import harness
from hosts import CLOCK
from linux_counts import BARE_NODE, KNOWN, STAT, check
from measured import EXPECTED, MEASURE
import operators
import plain
from runlib.qemu import CPU

IMSIC = ["--aia", "aplic-imsic", "--aia-guests"]
AIA = 'interrupts = "aia";'
N = 200
ALARMS = (f"aia: 0 before the first, {N} alarms, {N} interrupts, 0 early, 0 too many or few, "
          "0 without a cause")


def boot(folder, guests, files=2, clock=False, properties="", **arguments):
    """Boots guests with an AIA; alpha may have the clock."""
    return bare_guests.boot(
        folder, {name: f"{words} messages={N}" for name, words in guests.items()},
        properties=AIA + properties, own={"alpha": CLOCK} if clock else None,
        options=[*IMSIC, files, *arguments.pop("options", ())], **arguments)


def exits(result, name, vcpu=0):
    """{cause: count} of exits, without those of SBI calls."""
    start = f"vm {name}: vcpu {vcpu}: exits "
    line = next(line for line in result.own if line.startswith(start))
    counts = harness.exit_counts(line)
    return {cause: counts[cause] for cause in
            ("timer", "irq", "lcofi", "mmio", "csr", "wfi", "other")}


NONE = dict.fromkeys(("timer", "irq", "lcofi", "mmio", "csr", "wfi", "other"), 0)


@pytest.mark.parametrize("what,line", [
    ("self", f"aia: {N} messages, {N} taken, 0 lost, 0 without a cause"),
    ("timer", f"aia: {N} timers, {N} taken, 0 lost, 0 without a cause"),
])
def test_messages_and_timers_without_exits(tmp_path, what, line):
    result = boot(tmp_path, {"alpha": f"kind=aia what={what}"}, files=1)
    assert result.vm("alpha") == [line]
    assert exits(result, "alpha") == NONE


# Writes to its APLIC when it begins.
SET_UP = 4


@pytest.mark.parametrize("wait", ["spin", "wfi"])
@pytest.mark.parametrize("mode,each", [("edge", 0), ("high", 1)])
def test_an_alarm_costs_no_exit(tmp_path, mode, each, wait):
    """A level costs one: the guest asks for the next message."""
    result = boot(tmp_path, {"alpha": f"kind=aia what=alarm cost=yes mode={mode} wait={wait}"},
                  clock=True)
    lines = result.vm("alpha")
    assert lines[0] == ALARMS
    assert exits(result, "alpha") == {**NONE, "mmio": SET_UP + each * N}
    # In nanoseconds of the clock, which are the guest's own instructions.
    assert int(lines[1].removeprefix("aia: handler ")) < 200


@harness.both_backends
@pytest.mark.parametrize("files", [2, 7])
def test_away_it_is_woken_once_an_alarm(tmp_path, files, backend):
    """Another guest has the hart while it sleeps, and counts as if alone. It is interrupted at most
    once in each of its time slices: a vcpu that is woken has to wait for its turn."""
    result = boot(tmp_path, {"alpha": "kind=aia what=alarm wait=wfi", "beta": MEASURE}, files,
                  clock=True, backend=backend)
    assert result.vm("alpha") == [ALARMS]
    assert result.vm("beta") == EXPECTED
    assert {**exits(result, "alpha"), "irq": 0} == {**NONE, "mmio": SET_UP, "wfi": N}
    beta = exits(result, "beta")
    assert 10 < beta["irq"] <= beta["timer"] + 1, beta


@pytest.mark.parametrize("wait", ["spin", "wfi"])
def test_two_vcpus_send_each_other_messages(tmp_path, wait):
    """On a hart each, resident: no exit at all. Profile smp, where counts mean nothing."""
    result = boot(tmp_path, {"alpha": f"kind=aia what=two wait={wait}"}, files=1,
                  vcpus=("0", "1"), profile="smp", options=["--harts", 2])
    assert result.vm("alpha") == [
        f"aia: {N} sent, {N} came, {N} were answered, 0 lost, 0 without a cause"]
    for vcpu in (0, 1):
        # A boot that takes more than a second has a look at who is alone on its hart.
        assert {**exits(result, "alpha", vcpu), "timer": 0} == NONE


def test_two_vcpus_share_a_hart(tmp_path):
    """At most one exit for each message, as the other one is away when it comes."""
    result = boot(tmp_path, {"alpha": "kind=aia what=two wait=wfi"}, vcpus=("0", "0"))
    assert result.vm("alpha") == [
        f"aia: {N} sent, {N} came, {N} were answered, 0 lost, 0 without a cause"]
    assert exits(result, "alpha")["irq"] <= N + 1
    assert exits(result, "alpha", 1)["irq"] <= N + 1


@harness.both_backends
@pytest.mark.parametrize("neighbour", [False, True])
def test_stopi_tells_each_while_lcofi_is_masked(tmp_path, neighbour, backend):
    """Timer interrupts by stimecmp and by SBI, IPIs and messages, apart and together, awake and in
    WFI. Then LCOFI is unmasked, and comes at once."""
    guests = {"alpha": "kind=aia what=masked"}
    if neighbour:
        guests["beta"] = "kind=aia what=masked"
    result = boot(tmp_path, guests, backend=backend)
    for name in guests:
        assert result.vm(name) == [
            f"aia: {N} rounds, LCOFI {N}, timer {5 * N}, soft {2 * N}, external {3 * N}, "
            "0 wrong, 0 lost, 0 without a cause"]


@harness.both_backends
def test_an_lcofi_that_is_masked_late_comes_at_once(tmp_path, backend):
    """It pends, is masked, a counter is read, and it is unmasked: nothing else leads to Tally."""
    result = boot(tmp_path, {"alpha": "kind=aia what=late"}, properties='pmu-reads = "trap";',
                  backend=backend)
    assert result.vm("alpha") == [f"aia: {N} rounds, LCOFI {N}, 0 wrong, 0 without a cause"]


def test_what_a_stopped_vcpu_keeps(tmp_path):
    """The first start of a life finds the file as after reset; a later one as it was, with what was
    sent meanwhile."""
    result = boot(tmp_path, {"alpha": "kind=aia what=stopped"}, vcpus=("0", "0"),
                  properties="restart-limit = <1>;", status=harness.VM_FAILED)
    assert result.vm("alpha") == [
        "aia: start 0: pending 0, enabled 0", "aia: start 1: pending 10, enabled 401",
        "aia: start 2: pending 30, enabled 801"] * 2


@pytest.mark.parametrize("cpu", [(), ("--cpu", "smstateen")], ids=["plain", "smstateen"])
def test_a_guest_without_an_aia_reaches_none(tmp_path, cpu):
    """On a hart with interrupt files, beside a guest that has one: registers of files trap, and the
    neighbour loses nothing."""
    plain.make("build/guests/bare.bin")
    text = bare_guests.tree({"alpha": "kind=aia what=nothing messages=5",
                             "beta": f"kind=aia what=self messages={N}"})
    at = text.index("beta {") + len("beta {")
    file = tmp_path / "nothing.dts"
    file.write_text(text[:at] + AIA + text[at:], encoding="utf-8")
    options = ["--include", harness.BUILD / "guests", *IMSIC, 1]
    if cpu:
        options += ["--cpu", CPU + ",smstateen=true"]
    result = harness.run(file, options=options)
    assert result.status == harness.OK, str(result)
    assert result.vm("alpha") == ["aia: nothing: registers 0, of a process 0, told 0"]
    assert result.vm("beta") == [f"aia: {N} messages, {N} taken, 0 lost, 0 without a cause"]


# Beside alarms it counts on both, above.
@harness.short_on("ssccfg")
def test_counts_of_the_fixed_loop(tmp_path, backend):
    """Beside a guest whose messages never end."""
    result = boot(tmp_path, {"alpha": MEASURE, "beta": "kind=aia what=hostile", "gamma": MEASURE},
                  files=3, backend=backend)
    for name in ("alpha", "gamma"):
        assert result.vm(name) == EXPECTED


LIVES = 3
LEFT = {"armed": "is not pending, source does not", "pending": "is pending, source does not",
        "off": "is not pending, source pends"}


@pytest.mark.parametrize("left", LEFT)
def test_nothing_of_a_life_before(tmp_path, left):
    """An alarm that is still to come, one in the file, one at the machine's APLIC. Beside it the
    counts of another guest stay exact."""
    result = boot(tmp_path, {"alpha": f"kind=aia what=alarm left={left}", "beta": MEASURE},
                  clock=True, properties=f"restart-limit = <{LIVES - 1}>;",
                  status=harness.VM_FAILED)
    assert result.vm("alpha") == [ALARMS, f"aia: {LEFT[left]}"] * LIVES
    assert result.vm("beta") == EXPECTED


QEMU_WITH_IDS = """#!/bin/sh
# Starts QEMU with a device tree that has another number of identities.
for word; do case $word in virt,*) machine=$word;; esac; done
[ "$machine" ] || exec {qemu} "$@"
{qemu} "$@" -machine "$machine,dumpdtb={tree}" >/dev/null &&
fdtput -t u {tree} /soc/interrupt-controller@28000000 riscv,num-ids {ids} &&
exec {qemu} "$@" -dtb {tree}
"""


def with_ids(monkeypatch, folder, ids):
    """The host's tree says that an interrupt file has so many identities. QEMU's has 255."""
    tool = folder / "bin/qemu-system-riscv64"
    tool.parent.mkdir()
    tool.write_text(QEMU_WITH_IDS.format(qemu=shutil.which(tool.name), tree=folder / "host.dtb",
                                         ids=ids), encoding="ascii")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")


@pytest.mark.parametrize("ids", [255, 63])
def test_all_words_of_a_file_are_cleared(tmp_path, monkeypatch, ids):
    """Also those behind the identities that the host's tree names."""
    with_ids(monkeypatch, tmp_path, ids)
    result = boot(tmp_path, {"alpha": "kind=aia what=words"}, status=harness.VM_FAILED,
                  properties="restart-limit = <1>;")
    assert result.vm("alpha") == ["aia: 8 words, 0 left"] * 2


def test_a_tree_that_promises_too_much(tmp_path, monkeypatch):
    """Messages of identities that a file does not have are lost, so a guest is not told of any."""
    with_ids(monkeypatch, tmp_path, 511)
    result = boot(tmp_path, {"alpha": "kind=aia what=self"}, status=harness.REFUSED)
    assert ("hart 0: no guest interrupt files: guest interrupt files of the hart have fewer "
            "identities than the host's tree says") in result.own


def test_a_hostile_guest(tmp_path):
    """Interrupt files of others and of the machine, any siselect, registers of the hypervisor."""
    result = boot(tmp_path, {"alpha": "kind=aia what=hostile", "beta": "kind=aia what=self"})
    assert result.vm("alpha") == [
        "aia: of others 0, of the machine 0, registers 0, siselect 0, priorities 0"]
    assert result.vm("beta") == [f"aia: {N} messages, {N} taken, 0 lost, 0 without a cause"]


@pytest.mark.parametrize("options,vcpus,words", [
    (["--aia", "none"], ("0",), '"aia": hart 0 has no guest interrupt files'),
    (["--aia", "aplic"], ("0",), '"aia": hart 0 has no guest interrupt files'),
    (["--aia", "aplic-imsic"], ("0",), '"aia": hart 0 has no guest interrupt files'),
    ([*IMSIC, 1], ("0", "0"), '"aia": hart 0 has 1 guest interrupt file, and vcpu1 would be '
     "number 2 there"),
    ([*IMSIC, 2], ("0", "0", "0"), '"aia": hart 0 has 2 guest interrupt files, and vcpu2 would be '
     "number 3 there"),
], ids=["plic", "aplic", "no-files", "one-file", "two-files"])
def test_refused(tmp_path, options, vcpus, words):
    """Two files have the bits of three: boot knows better than the tree."""
    result = bare_guests.boot(tmp_path, {"alpha": "kind=idle"}, status=harness.REFUSED,
                              vcpus=vcpus, properties=AIA, options=options)
    assert f"refused: /vms/alpha: interrupts: {words}" in result.own


def test_it_stays_on_its_hart(tmp_path, two_harts, roaming):
    """The tree cannot name several, nor can an operator move it, nor does it roam."""
    plain.make("build/guests/bare.bin")
    text = bare_guests.tree({"alpha": f"kind=aia what=self messages={N}"}, properties=AIA)
    result, told = operators.run(
        tmp_path, text, ["alpha"], operators.at_once("move alpha 0 0", "move alpha 0 1"),
        options=[*two_harts, *IMSIC, 2, *roaming])
    assert told == [(["move: alpha has an AIA: its vcpus keep their harts"], 1)] * 2
    assert result.vm("alpha") == [f"aia: {N} messages, {N} taken, 0 lost, 0 without a cause"]
    (line,) = [line for line in result.own if line.startswith("vm alpha: vcpu 0: exits ")]
    assert "moves" not in harness.exit_counts(line)


LINUX = STAT + """
grep -c . /proc/interrupts >/dev/null
sed -n 's/.*\\(RISC-V IMSIC\\|APLIC[^ ]*\\|IMSIC[^ ]*\\).*/by \\1/p' /proc/interrupts | sort -u
ls /proc/device-tree/cpus/cpu@0/riscv,isa >/dev/null
tr '\\0' '\\n' </proc/device-tree/cpus/cpu@0/riscv,isa-extensions | grep -x 's[sm]aia'
dmesg | sed -n 's/.*riscv-imsic: .*per-CPU IDs \\([0-9]*\\).*/ids \\1/p'
"""


@harness.both_backends
def test_a_debian_guest(tmp_path, backend):
    """Its own kernel finds IMSIC and APLIC, and perf stat is exact beside a bare neighbour."""
    bare = plain.make("build/guests/bare.bin")
    tree = harness.linux_tree(tmp_path, {"alpha": LINUX}, properties=AIA)
    text = tree.read_text(encoding="utf-8")
    text = text.replace("images {", f'images {{\n\t\tbare: bare {{ data = /incbin/("{bare}"); }};')
    end = text.rindex("\t};\n};")
    tree.write_text(text[:end] + BARE_NODE.format(kind="measure rounds=3 length=1000000"),
                    encoding="utf-8")
    result = harness.run(tree, backend=backend, options=[*IMSIC, 1])
    assert result.status == harness.OK, str(result)
    lines = result.guest_output("alpha", "alpha")
    assert KNOWN == harness.perf_counts(lines)["instructions:u"]
    check(lines)
    assert "ssaia" in lines and "smaia" not in lines and "ids 255" in lines
    assert any(re.match("by .*IMSIC|by .*APLIC", line) for line in lines), lines
