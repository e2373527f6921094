# SPDX-License-Identifier: Apache-2.0
"""Machines that offer less than the default one, or more; several vcpus on one hart."""

import pytest

import bare_guests
import harness
from measured import ONE_EXPECTED, ONE_ROUND
from platforms import BASE, cpu, hides_flags, without_ssccfg

BEGGED = "hart 0: back end ssccfg was asked for, but its counters are not delegated"
# In the order in which the boot report names what overflow interrupts want.
WANTED = ("sscofpmf", "ssaia", "ssccfg")


def lacks(missing):
    """What the boot report says of a hart without some of them: "no ssaia, no ssccfg"."""
    return ", ".join(f"no {name}" for name in WANTED if name in missing)


def boot(folder, text, **arguments):
    """Two guests that measure, on such a hart."""
    return bare_guests.boot(folder, {"alpha": ONE_ROUND, "beta": ONE_ROUND}, timeout=harness.GUARD,
                            options=["--cpu", text], **arguments)


def hart(result):
    """What the boot report says of hart 0: its extensions, and its counters."""
    found = [line.split(": ", 1)[1] for line in result.own if line.startswith("hart 0: ")]
    return found[0].split(), found[1]


@pytest.mark.parametrize("backend", ["auto", *harness.BACKENDS])
@pytest.mark.parametrize("text, missing", [
    (cpu(), []),
    (cpu(["ssaia"]), ["ssaia"]),
    (cpu(["ssccfg"]), ["ssccfg"]),
    (cpu(["ssaia", "ssccfg"]), ["ssaia", "ssccfg"]),
    (cpu(["smcntrpmf"]), ["smcntrpmf"]),
    (cpu(more=",sstc=off"), ["sstc"]),
    (cpu(["ssaia", "ssccfg", "smcntrpmf"], ",sstc=off"),
     ["ssaia", "ssccfg", "smcntrpmf", "sstc"]),
    ("max,ssaia=on,ssccfg=on", []),
], ids=["all", "no-ssaia", "no-ssccfg", "neither", "no-smcntrpmf", "no-sstc", "sscofpmf-only",
        "max"])
def test_counts_are_exact(tmp_path, text, missing, backend):
    """Delegation where it is there, unless told otherwise; the boot report says which it is."""
    result = boot(tmp_path, text, backend=backend)
    chosen = "sbi" if backend == "sbi" or "ssccfg" in missing else "ssccfg"
    extensions, counters = hart(result)
    for name in BASE + ("sstc",):
        assert (name in extensions) == (name not in missing), extensions
    offered = "to guests"
    if lacks(missing):
        who = "not available to guests" if "ssaia" in missing else without_ssccfg()
        offered = f"{who}: {lacks(missing)}"
    assert counters == f"16 counters (3 to 18) of 64 bits, back end {chosen}, overflow {offered}"
    assert (BEGGED in result.own) == (chosen != backend == "ssccfg")
    for name in ("alpha", "beta"):
        assert result.vm(name) == ONE_EXPECTED
        assert f"vm {name}: 16 MiB, 1 vcpu on hart 0, 18 counters (0, 2 to 18)" in result.own
        said = [line for line in result.own if line.startswith(f"vm {name}: no overflow")]
        shared = "" if "ssaia" in missing else ", and other vcpus share it"
        refused = lacks(missing) and ("ssaia" in missing or not hides_flags())
        assert said == ([f"vm {name}: {bare_guests.NO_OVERFLOW}: hart 0 has {lacks(missing)}"
                         f"{shared}"] if refused else [])


def test_without_access_to_hvien(tmp_path):
    """Smstateen without Smaia: the firmware has no reason to set mstateen0.AIA."""
    result = boot(tmp_path, cpu(more=",smstateen=on"))
    why = "no access to hvien (mstateen0.AIA is 0)"
    assert hart(result)[1].endswith(f"overflow not available to guests: {why}")
    for name in ("alpha", "beta"):
        assert f"vm {name}: {bare_guests.NO_OVERFLOW}: hart 0 has {why}" in result.own
        assert result.vm(name) == ONE_EXPECTED


@pytest.mark.parametrize("text, missing", [
    (cpu(["sscofpmf"]), ["sscofpmf"]),
    (cpu(["sscofpmf", "ssaia"]), ["sscofpmf", "ssaia"]),
    (cpu(["sscofpmf", "ssccfg"]), ["sscofpmf", "ssccfg"]),
    ("rv64", WANTED), ("rv64,sstc=off", WANTED),
], ids=["no-sscofpmf", "nor-ssaia", "nor-ssccfg", "plain", "plain-no-sstc"])
def test_without_filters_nothing_is_offered(tmp_path, text, missing):
    """A hardware counter that cannot be kept from counting M and HS is given to nobody."""
    result = boot(tmp_path, text, status=harness.VM_FAILED)
    assert hart(result)[1] == ("no counters of 64 bits, back end sbi, overflow not available to "
                               f"guests: {lacks(missing)}")
    for name in ("alpha", "beta"):
        assert f"vm {name}: 16 MiB, 1 vcpu on hart 0, no counters" in result.own
        assert (f"vm {name}: {bare_guests.NO_OVERFLOW}: hart 0 has {lacks(missing)}"
                in result.own)
        assert result.vm(name)[-1] == "measure: ends, 8 wrong of 8"
        # Refused, not counted wrongly.
        assert all(": S 0, U 0, odd reads 0" in line for line in result.vm(name)[:-1])


ONE_COUNTER = ["--cpu", cpu(more=",pmu-mask=0x8")]
BESIDE = "kind=hostile ticks=0"


def test_one_delegated_counter_has_one_event(tmp_path):
    """Nobody can try what it does when it changes its event, which on QEMU is to count both: all
    but the first are refused."""
    result = bare_guests.boot(tmp_path, {"alpha": ONE_ROUND, "beta": BESIDE}, backend="ssccfg",
                              options=ONE_COUNTER, status=harness.VM_FAILED)
    assert hart(result)[1].startswith("1 counter (3) of 64 bits")
    lines = result.vm("alpha")
    assert [line.removesuffix(" WRONG") for line in lines[:4]] == [
        f"measure: round 0 event 0x2 flags {flags}: S 0, U 0, odd reads 0"
        for flags in ("0x0", "0x20", "0x40", "0x60")]
    assert lines[4:8] == ONE_EXPECTED[4:8]


@harness.both_backends
def test_all_counters_that_there_may_be(tmp_path, backend):
    """3 to 31: guests have them all."""
    result = boot(tmp_path, cpu(more=",pmu-mask=0xfffffff8"), backend=backend)
    assert hart(result)[1].startswith("29 counters (3 to 31) of 64 bits")
    for name in ("alpha", "beta"):
        assert f"vm {name}: 16 MiB, 1 vcpu on hart 0, 31 counters (0, 2 to 31)" in result.own
        assert result.vm(name) == ONE_EXPECTED


def test_one_counter_of_the_firmware_has_any(tmp_path):
    """One after the other: its RESET makes it a fresh one."""
    result = bare_guests.boot(tmp_path, {"alpha": ONE_ROUND, "beta": BESIDE}, backend="sbi",
                              options=ONE_COUNTER)
    assert result.vm("alpha") == ONE_EXPECTED


@pytest.mark.parametrize("more, there", [("", "none there"), (",smctr=on,ssctr=on", "there"),
                                         (",smctr=on,ssctr=on,smstateen=on", "none there")],
                         ids=["none", "open", "closed"])
def test_control_transfer_records(tmp_path, more, there):
    """Where only Smstateen could keep guests from them, no one finds what another one's jumps were.
    """
    guests = {"alpha": "kind=records who=writer ticks=300000",
              "beta": "kind=records who=reader ticks=300000"}
    result = bare_guests.boot(tmp_path, guests, options=["--cpu", cpu(more=more)])
    own = "some" if there == "there" else "none"
    assert result.vm("alpha") == [f"records: {there}, found {own}"]
    assert result.vm("beta") == [f"records: {there}, found none"]


def test_cache_blocks(tmp_path):
    """Where the host has Zicbom and Zicboz guests have, by henvcfg, and count them as any
    instruction."""
    assert bare_guests.boot(tmp_path, {"alpha": "kind=blocks"}).vm("alpha") == [
        "blocks: ends, 35 checks, 0 failed"]
    without = bare_guests.boot(tmp_path, {"alpha": "kind=blocks has=no"}, options=[
        "--cpu", cpu(more=",zicbom=off,zicboz=off")])
    assert without.vm("alpha") == ["blocks: ends, 30 checks, 0 failed"]


def test_without_h_no_guest_can_run(tmp_path):
    """A feature is missing, nothing is broken."""
    result = boot(tmp_path, "rv64,h=off", status=harness.DEPENDENCY)
    assert result.own == [
        "the platform: no guest can run on boot hart 0: it has no H extension"]


@pytest.mark.parametrize("text, flags, flags_alone", [
    (cpu(["ssccfg"]), "leaks: 0xf8, 0 changes", "leaks: 0x0, 0 changes"),
    (cpu(["ssaia", "ssccfg"]), "leaks: 0xf8, 0 changes", "leaks: 0xf8, 0 changes"),
    (cpu(["ssaia"]), "leaks: illegal instruction", "leaks: illegal instruction"),
    (cpu(), "leaks: 0x0, 0 changes", "leaks: 0x0, 0 changes"),
], ids=["no-ssccfg", "neither", "no-ssaia", "all"])
def test_flags_tell_nothing_of_a_neighbour(tmp_path, text, flags, flags_alone):
    """Without Ssccfg QEMU shows every guest the hart's own scountovf: it is the same whatever
    others do with counters, or nothing. Who is alone sees its own flags; so does everyone where
    OF bits of closed counters are hidden."""
    leaks = {"alpha": "sampling=leaks ticks=100000"}
    idle = {**leaks, "beta": "kind=idle ticks=1000"}
    beside = {**leaks, "beta": "kind=pmuloop ticks=90000 after=10000", "gamma": ONE_ROUND}
    for guests, expected in ((leaks, flags_alone), (idle, flags), (beside, flags)):
        result = bare_guests.boot(tmp_path, guests, timeout=harness.GUARD, options=["--cpu", text])
        shown = expected.replace("0xf8", "0x0") if hides_flags() else expected
        assert result.vm("alpha") == [shown]
    assert result.vm("gamma")[-1] == "measure: ends, 0 wrong of 8"


@pytest.mark.parametrize("text, offered", [(cpu(), True), (cpu(["ssaia"]), False),
                                           (cpu(["ssccfg"]), True)],
                         ids=["all", "no-ssaia", "no-ssccfg"])
def test_debian_is_told_what_works(linux, text, offered):
    """Its ISA strings have sscofpmf where sampling works, and never what a guest has not. Without
    it perf record asks again and again, on the firmware alone too; hence the kill."""
    script = ("tr '\\0' ' ' </proc/device-tree/cpus/cpu@0/riscv,isa-extensions; echo\n"
              "tr '\\0' '\\n' </proc/device-tree/cpus/cpu@0/riscv,isa\n"
              "perf record -q -e instructions:u -c 100000 -o /tmp/data work 3000000 >&- 2>&- &\n"
              "sleep 4; kill -9 $! 2>/dev/null; wait $!; echo status $?\n")
    result = linux({"alpha": script}, options=["--cpu", text])
    assert result.status == harness.OK, str(result)
    lines = result.guest_output("alpha", "alpha")
    for extensions in (lines[0].split(), lines[1].replace("rv64imafdc", "").split("_")):
        assert ("sscofpmf" in extensions) == offered
        assert not {"h", "smcdeleg", "ssccfg", "smcsrind", "sscsrind", "smcntrpmf", "smaia",
                    "ssaia"} & set(extensions)
    assert (lines[-1] == "status 0") == offered, lines


@harness.short_on("sbi")
def test_debian_without_sstc_and_overflow(linux, backend):
    """Its timer is a call, and its driver asks for no filter: the total is what it can have."""
    script = ("perf stat -x, -e instructions work 3000000 2>&1\n"
              "perf stat -x, -e instructions:u work 3000000 2>&1\n")
    result = linux({"alpha": script}, backend=backend,
                   options=["--cpu", cpu(["ssaia"], ",sstc=off")])
    assert result.status == harness.OK, str(result)
    counts = harness.perf_counts(result.guest_output("alpha", "alpha"))
    assert counts.pop("instructions:u") == "<not supported>"
    assert 3000000 < counts.pop("instructions") < 4000000
    assert bare_guests.exits(result, "alpha")["ecall"] > 300


def smp_tree(folder, scripts, vcpus):
    """A Debian guest for each script, with several vcpus: the harts of each."""
    tree = harness.linux_tree(folder, scripts)
    text = tree.read_text(encoding="utf-8")
    one = "\t\t\tvcpu0 {\n\t\t\t\tharts = <0>;\n\t\t\t};"
    assert text.count(one) == len(scripts)
    nodes = "\n".join(bare_guests.VCPU.format(n=n, harts=harts) for n, harts in enumerate(vcpus))
    tree.write_text(text.replace(one, nodes), encoding="utf-8")
    return tree


PINNED = """
nproc
for cpu in 1 2; do
	taskset $cpu perf stat -x, -e instructions:u,cycles:u work 10000000 2>&1
done
taskset 1 work 10000000 & taskset 2 perf stat -x, -e instructions:u work 20000000 2>&1
wait
"""


# test_smp.py has bare guests with as many on both.
@harness.short_on("ssccfg")
def test_four_vcpus_on_one_hart(tmp_path, backend):
    """Two Debian guests of two vcpus each; a measurement on either vcpu is exact."""
    tree = smp_tree(tmp_path, {"alpha": PINNED, "beta": PINNED}, ["0", "0"])
    result = harness.run(tree, timeout=harness.GUARD, backend=backend)
    assert result.status == harness.OK, str(result)
    for name in ("alpha", "beta"):
        lines = result.guest_output(name, name)
        assert lines[0] == "2"
        assert [int(line.split(",")[0]) for line in lines[1:]] == [10000000] * 4 + [20000000]
        assert any(line.startswith(f"vm {name}: 256 MiB, 2 vcpus on ") for line in result.own)
        for n in (0, 1):
            assert any(line.startswith(f"vm {name}: vcpu {n}: exits ") for line in result.own)
