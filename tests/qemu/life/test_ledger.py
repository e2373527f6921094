# SPDX-License-Identifier: Apache-2.0
"""The ledger of a build with DEBUG=1 (ledger.py): who had which counter, the FP and vector
registers, and the VMID of each hart.

Every test on that build has its ledgers checked; here are boots that use all there is, and defects
that the check must find.
"""

import os
import shutil
import subprocess

import pytest

import bare_guests
import harness
import ledger
from platforms import vector_cpu

GUESTS = {"alpha": "kind=smp rounds=1", "beta": "kind=pmuloop", "gamma": "kind=control vector=1"}


def kept(folder, kernel, guests=None, **arguments):
    """The entries of the ledger of a boot."""
    path = folder / "kept.ledger"
    options = ["--kernel", kernel, "--ledger", path, *arguments.pop("options", ())]
    bare_guests.boot(folder, guests or GUESTS, options=options, stays=False, **arguments)
    return list(ledger.read(path))


@pytest.fixture(scope="module", name="whole")
def a_ledger(tmp_path_factory, debug_image):
    """The entries of a run with everything in it."""
    return kept(tmp_path_factory.mktemp("ledger"), debug_image, vcpus=["0", "0"],
                options=["--cpu", vector_cpu(128)])


def test_each_unit_has_one_owner(whole):
    """There is every kind of entry, more than one owner of each unit, and no breach."""
    found = ledger.check(whole)
    assert found.breaches == []
    assert {entry.what for entry in whole} == set(range(ledger.COMES, ledger.ENTERS + 1))
    owners = {unit: {span.vcpu for span in found.spans if span.unit == unit}
              for unit in ("FP", "counter 3", "counter 4", "VMID 1", "VMID 2", "VMID 3")}
    # beta and gamma start one vcpu of their two.
    assert owners["FP"] == {1, 2, 3, 5}
    assert [owners[f"VMID {n}"] for n in (1, 2, 3)] == [{1, 2}, {3}, {5}]
    assert len(owners["counter 3"]) > 1 and len(owners["counter 4"]) > 1


def test_on_two_harts(tmp_path, debug_image, roaming):
    """Profile smp: vcpus that roam, so long that each is on both harts, whichever host thread is
    slow."""
    entries = kept(tmp_path, debug_image, {"alpha": "kind=smp rounds=10"}, vcpus=("0 1", "1 0"),
                   profile="smp", options=["--harts", 2, *roaming])
    found = ledger.check(entries)
    assert found.breaches == []
    assert len({(span.vcpu, span.hart) for span in found.spans if span.unit == "FP"}) == 4


def without(entries, what):
    """The ledger of a Tally that does not do that."""
    return [entry for entry in entries if entry.what != what]


def exchanged(entries, what):
    """Of one that leaves the registers of the vcpu before."""
    left, comes, done = {}, False, []
    for entry in entries:
        comes = entry.what == ledger.COMES or comes and entry.what != ledger.GOES
        if entry.what == what:
            entry = entry._replace(value=left.get(entry.hart, 0)) if comes else entry
            left[entry.hart] = entry.value
        done.append(entry)
    return done


DEFECTS = {
    "no HFENCE.VVMA": (ledger.VVMA, "translations of vcpu"),
    "no HFENCE.GVMA": (ledger.GVMA, "without a fence of its table"),
    "no read of a counter that is taken": (ledger.EVICTED, "was not read for it"),
    "no event in a counter": (ledger.PREPARED, "with the event of another one"),
    "no value in a counter": (ledger.SET, "with the value of another one"),
    "no stop of counters": (ledger.STOP, "runs "),
    "no end": (ledger.GOES, "while vcpu"),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_an_entry_less_is_noticed(whole, defect):
    """Each rule, by a ledger that lacks what the rule is about."""
    what, breach = DEFECTS[defect]
    assert breach in "\n".join(ledger.check(without(whole, what)).breaches)


@pytest.mark.parametrize("what, name", [(ledger.FP, "FP"), (ledger.VECTOR, "vector")])
def test_registers_of_another_are_noticed(whole, what, name):
    """The sums of registers that nobody exchanged."""
    breaches = ledger.check(exchanged(whole, what)).breaches
    assert any(f"the {name} registers of vcpu" in breach for breach in breaches)


def test_one_that_is_not_whole_is_refused(tmp_path, whole):
    """An entry is missing, or cut."""
    path = tmp_path / "cut.ledger"
    data = b"".join(ledger.ENTRY.pack(*entry) for entry in whole)
    for part, why in ((data[:-1], "is cut"), (data[: 99 * 32] + data[100 * 32 :], "is missing")):
        path.write_bytes(part)
        with pytest.raises(ledger.NoLedger, match=why):
            list(ledger.read(path))
    done = subprocess.run([harness.ROOT / "tests/qemu/lib/ledger.py", path], check=False,
                          capture_output=True, text=True)
    assert (done.returncode, "is missing" in done.stderr) == (2, True)


# What a source then has instead, and what the ledger says.
PUT_BACK = {
    "no fence between two vcpus": (
        "core/sched/world_switch.c", "if (*last == vcpu)",
        "if (__builtin_expect(*last && *last != pcpu, 0))", "translations of vcpu"),
    "no exchange of registers": (
        "core/sched/world_switch.c", "vcpu_registers_load(pcpu, vcpu);", ";",
        "the FP registers of vcpu"),
    "vectors stay": (
        "core/vcpu/vcpu_registers.c", "vec_restore(to->vec->v, to->vec->csrs);", "(void)to;",
        "the vector registers of vcpu"),
    "a counter is kept": (
        "core/pmu/vpmu_port.c", "if (*owner != vcpu)\n\t\tledger(LEDGER_OWNS, hctr.idx, vcpu, 0);\n"
        "\t*owner = vcpu;", "if (!*owner)\n\t\tledger(LEDGER_OWNS, hctr.idx, vcpu, 0);\n"
        "\tif (!*owner)\n\t\t*owner = vcpu;", "and is vcpu"),
}


@pytest.mark.long
@pytest.mark.parametrize("defect", PUT_BACK)
def test_a_defect_is_noticed(tmp_path, defect):
    """A Tally that has it, booted."""
    name, good, bad, breach = PUT_BACK[defect]
    tree = tmp_path / "tally"
    shutil.copytree(harness.ROOT, tree, ignore=shutil.ignore_patterns("build", ".git"))
    (tree / "build").mkdir()
    os.symlink(harness.BUILD / "guest", tree / "build/guest")
    text = (tree / name).read_text(encoding="utf-8")
    assert text.count(good) == 1
    (tree / name).write_text(text.replace(good, bad), encoding="utf-8")
    subprocess.run(["make", "-s", "-C", tree, "DEBUG=1", "build/debug/tally.bin"], check=True,
                   stdin=subprocess.DEVNULL)
    path = tmp_path / "kept.ledger"
    file = tmp_path / "bare.dts"
    file.write_text(bare_guests.tree(GUESTS, ["0", "0"], "", 16), encoding="utf-8")
    harness.run(file, stays=False, options=[
        "--include", harness.BUILD / "guests", "--kernel", tree / "build/debug/tally.bin",
        "--ledger", path, "--cpu", vector_cpu(128)])
    assert breach in "\n".join(ledger.check(ledger.read(path)).breaches)
