# SPDX-License-Identifier: Apache-2.0
"""A host tree that promises what the hart lacks, or what the firmware keeps from HS: each extension
that Tally uses is tried on each hart at boot. Without it Tally goes on and guests are not told of
it, or says in words that nothing can run."""

import itertools
import subprocess

import pytest

import bare_guests
import harness
import hosts
import measured
from measured import ONE_LENGTH
import plain
import platforms
from platforms import AS_EVER, CHANCE, cpu
from runlib.verdict import INTERRUPTED

EVERYTHING = cpu(more=",v=on,svpbmt=on")
MEASURE = f"kind=measure rounds=1 length={ONE_LENGTH}"
EXPECTED = measured.expected(1, ONE_LENGTH)
IDLE = "kind=idle ticks=1000"
NOTHING = "the platform: no guest can run on boot hart 0: "
BLOCK = ": it traps, or its block has another size"


def told(name, hart=0):
    return f"hart {hart} has no {name}, which the host's tree promises"


def promised(folder, text=EVERYTHING, harts=1, machine="virt"):
    """A QEMU whose tree is of harts that QEMU knows as `text`, whatever they are."""
    tree = folder / "promised.dtb"
    subprocess.run([plain.QEMU, "-machine", f"{machine},dumpdtb={tree}", "-cpu", text, "-m", "1G",
                    "-smp", str(harts), "-nographic", "-bios", "none"], check=True,
                   capture_output=True)
    return ["--qemu", hosts.qemu(folder, "-dtb", tree)]


def firmware(word):
    return ["--bios", plain.make("build/tests/firmware.bin"), "--append", word]


def boot(folder, options, guests=None, **arguments):
    """Guests on a machine with the tree of one that has everything."""
    return bare_guests.boot(folder, guests or {"alpha": MEASURE}, timeout=harness.GUARD,
                            options=options, **arguments)


def lost(result):
    """Lines of promises that are not kept."""
    return [line for line in result.own if "promises" in line]


def report(result):
    """What boot says but for those, and for how long it took."""
    own = itertools.takewhile(lambda line: not line.startswith("tables: "), result.own)
    return [line for line in own if line not in lost(result)]


def seen(result):
    """Extensions that guests of hart 0 see."""
    begin = "hart 0: guests see "
    return " ".join(line.removeprefix(begin) for line in result.own
                    if line.startswith(begin)).split()


def test_promises_that_are_kept(tmp_path):
    result = boot(tmp_path, promised(tmp_path) + ["--cpu", EVERYTHING])
    assert lost(result) == []
    assert {"v", "sscofpmf", "sstc", "svadu", "svpbmt", "zicbom", "zicboz"} < set(seen(result))
    assert result.vm("alpha") == EXPECTED


@pytest.mark.parametrize("name, line", [
    ("v", told("V")), ("ssaia", told("Ssaia")), ("svadu", told("Svadu")),
    ("svpbmt", told("Svpbmt")), ("zicbom", "hart 0: no zicbom, which the host's tree promises"
                                 + BLOCK),
    ("zicboz", "hart 0: no zicboz, which the host's tree promises" + BLOCK
     + "; memory is cleared by stores")])
def test_a_hart_that_lacks(tmp_path, name, line):
    """It counts as one whose tree promises no more than it has."""
    text = f"{EVERYTHING},{name}=off"
    result = boot(tmp_path, promised(tmp_path) + ["--cpu", text])
    assert lost(result) == [line]
    assert name not in seen(result)
    assert result.vm("alpha") == EXPECTED
    honest = boot(tmp_path, ["--cpu", text])
    assert lost(honest) == [] and honest.vm("alpha") == EXPECTED
    assert report(result) == report(honest)


def test_harts_without_an_imsic(tmp_path):
    """The tree names one for each. Nothing types at the console; guests run as ever."""
    tree = promised(tmp_path, harts=2, machine="virt,aia=aplic-imsic,aia-guests=1")
    result = boot(tmp_path, [*tree, "--harts", 2, "--cpu", f"{EVERYTHING},ssaia=off",
                             "--aia", "none", *firmware("fw.start=keeps")],
                  {"alpha": IDLE}, vcpus=("1",), profile="smp")
    assert lost(result) == [
        told("Ssaia"), "hart 0 has no IMSIC, which the host's tree promises: no interrupts of "
        "devices come to it", told("Ssaia", 1)]
    assert any(line.endswith("console input by nothing: no interrupt controller that Tally knows")
               for line in result.own)
    assert result.own[-1] == "all VMs ended"


@pytest.mark.parametrize("name, said, counters", [
    ("cycle", "cycle", "no counters"), ("hpmcounters", "16 counters (3 to 18)", "no counters"),
    ("hpmcounter3", "1 counter (3)", "15 counters (4 to 18)")])
@pytest.mark.parametrize("without", [[], ["ssccfg"]])
def test_a_firmware_that_keeps_counters(tmp_path, without, name, said, counters):
    """HS cannot read them: Tally does without, and guests count with what is left."""
    some = name == "hpmcounter3"
    result = boot(tmp_path, ["--cpu", cpu(without), *firmware(f"fw.keeps={name}")],
                  {"alpha": MEASURE if some else IDLE})
    assert f"hart 0: the firmware keeps {said} from HS (mcounteren)" in result.own
    assert any(line.startswith(f"hart 0: {counters} of 64 bits, ") for line in result.own)
    expected = EXPECTED if some else ["idle: begins", "idle: ends after 1 wakeups"]
    assert result.vm("alpha") == expected


@pytest.mark.parametrize("name", ["time", "instret"])
def test_a_firmware_that_keeps_the_clock(tmp_path, name):
    """By these HS tells the time, and how long a stay is. Another hart is not used."""
    why = f"the firmware keeps {name} from HS (mcounteren)"
    result = boot(tmp_path, ["--cpu", cpu(), *firmware(f"fw.keeps={name}")], {"alpha": IDLE},
                  status=harness.DEPENDENCY)
    assert result.own == [NOTHING + why]
    result = boot(tmp_path, ["--cpu", cpu(), "--harts", 2,
                             *firmware(f"fw.keeps={name} fw.spares=1")], {"alpha": IDLE},
                  profile="smp")
    assert f"hart 1: not used: {why}" in result.own
    assert result.own[-1] == "all VMs ended"


def test_a_hart_without_sscofpmf(tmp_path):
    """Nothing counts."""
    text = f"{EVERYTHING},sscofpmf=off"
    result = boot(tmp_path, promised(tmp_path) + ["--cpu", text], {"alpha": IDLE})
    assert lost(result) == [told("Sscofpmf")]
    assert report(result) == report(boot(tmp_path, ["--cpu", text], {"alpha": IDLE}))
    assert "sscofpmf" not in seen(result)


@pytest.mark.parametrize("word, sstc", [("fw.sstc=closed", "on"), ("fw.sstc=none", "off")])
def test_a_hart_without_sstc(tmp_path, word, sstc):
    """The hart has not got it, or the firmware has left menvcfg.STCE at 0. Guests have timers and
    samples all the same."""
    options = [*promised(tmp_path), "--cpu", f"{EVERYTHING},sstc={sstc}", *firmware(word)]
    result = boot(tmp_path, options, {"alpha": CHANCE, "beta": MEASURE, "gamma": IDLE})
    assert lost(result) == [told("Sstc")]
    assert "sstc" not in seen(result)
    assert result.vm("alpha") == AS_EVER
    assert result.vm("beta") == EXPECTED
    assert result.vm("gamma")[-1] == "idle: ends after 1 wakeups"


def test_a_timer_that_cannot_be_had(tmp_path):
    """QEMU 10.0.2 compares vstimecmp though menvcfg.STCE is 0. On one that does not, it is as if
    the hart had none."""
    options = [*promised(tmp_path), "--cpu", EVERYTHING, *firmware("fw.sstc=none")]
    compares = platforms.closed_timers_compare()
    result = boot(tmp_path, options, {"alpha": IDLE},
                  status=harness.DEPENDENCY if compares else harness.OK)
    if compares:
        assert result.own == [told("Sstc"), NOTHING + "its VSTIP always pends"]
    else:
        assert lost(result) == [told("Sstc")] and "sstc" not in seen(result)
        assert result.vm("alpha")[-1] == "idle: ends after 1 wakeups"


def test_a_tree_that_does_not_name_sstc(tmp_path):
    """The hart has it, and QEMU 10.0.2 compares vstimecmp all the same: Tally makes it never."""
    options = [*promised(tmp_path, cpu(more=",sstc=off")), "--cpu", cpu()]
    result = boot(tmp_path, options, {"alpha": CHANCE, "beta": IDLE})
    assert lost(result) == [] and "sstc" not in seen(result)
    assert result.vm("alpha") == AS_EVER
    assert result.vm("beta")[-1] == "idle: ends after 1 wakeups"


def test_a_firmware_that_believes_the_tree(tmp_path):
    """OpenSBI then uses stimecmp, which the hart has not got: the last words before its own are
    why."""
    options = [*promised(tmp_path), "--cpu", f"{EVERYTHING},sstc=off"]
    result = boot(tmp_path, options, {"alpha": IDLE}, status=INTERRUPTED,
                  until="sbi_trap_error: ")
    assert told("Sstc") in result.own


def test_a_firmware_that_keeps_svadu_and_svpbmt(tmp_path):
    """menvcfg.ADUE and PBMTE are 0."""
    options = [*promised(tmp_path), "--cpu", EVERYTHING, *firmware("fw.tables=no")]
    result = boot(tmp_path, options)
    assert lost(result) == [told("Svadu"), told("Svpbmt")]
    assert not {"svadu", "svpbmt"} & set(seen(result))
    assert result.vm("alpha") == EXPECTED


def test_a_hart_that_guests_cannot_use(tmp_path):
    options = promised(tmp_path) + ["--cpu", f"{EVERYTHING},h=off"]
    result = boot(tmp_path, options, {"alpha": IDLE}, status=harness.DEPENDENCY)
    assert result.own == [told("H"), NOTHING + "it has no H extension"]


@pytest.mark.parametrize("letter, name", [("h", None), ("v", "V")])
def test_other_harts(tmp_path, letter, name):
    """Hart 1 and 2 lack what the boot hart has. Without H they are not used, and their stack is
    the next one's; without V their guests have none."""
    if letter == "v" and not platforms.misa_closes_v():
        pytest.skip("on this QEMU a hart has V whatever misa names")
    options = [*promised(tmp_path, harts=3), "--harts", 3, "--cpu", f"{EVERYTHING},x-misa-w=on",
               *firmware(f"fw.misa={letter}")]
    vcpus = ("2",) if name else ("0",)
    result = boot(tmp_path, options, {"alpha": IDLE}, vcpus=vcpus, profile="smp")
    if name:
        assert lost(result) == [told(name, 1)]
        assert any(line.startswith("hart 1: guests see i m a f d c zicsr ")
                   for line in result.own)
        assert "harts 2: as hart 1" in result.own
    else:
        assert [line for line in result.own if line.startswith(("hart 1", "hart 2"))] == [
            line for n in (1, 2) for line in (told("H", n),
                                              f"hart {n}: not used: it has no H extension")]
    assert "v" in seen(result)
    assert result.own[-1] == "all VMs ended"
