# SPDX-License-Identifier: Apache-2.0
"""docs/machines.md says what perf can do in Debian guests on each CPU model of QEMU that has H.
Three models of this machine's QEMU are booted here, all in the long form."""

import pytest

import cpu_models
import harness
import peers
from cpu_models import BOTH, KNOWN, Case, Seen
from runlib.qemu import CPU

RECORD = cpu_models.load()
# Counters without overflow interrupts, overflow interrupts without Ssccfg, neither; and by how many
# guests each. What the record has of two on the first and the last is what it has of one, and
# test_machines.py boots two on such harts.
SHORT = {"rva23s64": (1,), "tt-ascalon": (1, 2), "rv64": (1,)}


def had(find, version):
    """The path of QEMU or OpenSBI of a version, or a test that is left out."""
    try:
        path = find(version)
    except peers.Missing as why:
        pytest.skip(str(why))
    return path


def is_short(case):
    return case.qemu == cpu_models.QEMUS[0] and case.opensbi == cpu_models.FIRMWARES[0] and \
        case.guests in SHORT.get(case.cpu, ())


@pytest.mark.parametrize("case", [
    pytest.param(case, id="-".join(map(str, case)),
                 marks=() if is_short(case) else pytest.mark.long)
    for case in RECORD])
def test_a_model_is_as_recorded(tmp_path, case):
    seen = cpu_models.boot(case, had(peers.find_qemu, case.qemu),
                           had(peers.find_opensbi, case.opensbi), tmp_path)
    assert seen == RECORD[case], "tools/pages/machines-table writes another"


@pytest.mark.parametrize("qemu", [
    version if version == cpu_models.QEMUS[0] else pytest.param(version, marks=pytest.mark.long)
    for version in cpu_models.QEMUS])
def test_each_model_with_h_is_recorded(tmp_path, qemu):
    """With each firmware, one guest and two."""
    names = cpu_models.models(had(peers.find_qemu, qemu), tmp_path)
    assert {case for case in RECORD if case.qemu == qemu} == {
        Case(qemu, name, opensbi, guests) for name in names
        for opensbi in cpu_models.FIRMWARES for guests in (1, 2)}


def test_two_are_told_of_where_they_differ():
    """From one: elsewhere it is enough to boot one."""
    for cpu, numbers in SHORT.items():
        one, two = (RECORD[Case(cpu_models.QEMUS[0], cpu, cpu_models.FIRMWARES[0], guests)]
                    for guests in (1, 2))
        assert (one != two) == (2 in numbers), cpu


def test_nothing_is_wrong():
    """A count or sample is right or refused, and each refusal has words."""
    for case, seen in RECORD.items():
        assert seen.boots == "yes" and "WRONG" not in str(seen), case
        assert bool(seen.words) == (seen[:-1] != cpu_models.BEST), case
    assert all(seen[:-1] == cpu_models.BEST for case, seen in RECORD.items() if case.cpu == CPU)


def test_the_page_is_of_the_record():
    assert cpu_models.PAGE.read_text(encoding="ascii") == cpu_models.page_of(RECORD)
    assert cpu_models.RECORD.read_text(encoding="ascii") == cpu_models.text_of(RECORD)


def guest(user=KNOWN, alone="", both=(BOTH, 1000), shares=("100.00", "100.00"),
          samples=("     66 work (/usr/bin/work)",)):
    """Lines of a guest's script."""
    return ["counts", f"{user},,instructions:u,50000000,100.00,,", *[alone] * bool(alone),
            "filters", f"{both[0]},,instructions:u,20000000,{shares[0]},,",
            f"{both[1]},,instructions:k,20000000,{shares[1]},,", "samples", *samples, "all"]


NONE = "<not supported>"


@pytest.mark.parametrize("judge, lines, verdict", [
    (cpu_models.counts, guest(), "exact"),
    (cpu_models.counts, guest(KNOWN + 1), "WRONG: 50000001 of user mode, None of all"),
    (cpu_models.counts, guest(NONE, f"{KNOWN + 200000},,instructions,50000000,100.00,,"),
     "unfiltered"),
    (cpu_models.counts, guest(NONE, f"{KNOWN - 1},,instructions,50000000,100.00,,"),
     "WRONG: None of user mode, 49999999 of all"),
    (cpu_models.counts, guest(NONE, f"{2 * KNOWN},,instructions,50000000,100.00,,"),
     "WRONG: None of user mode, 100000000 of all"),
    (cpu_models.counts, guest(NONE, f"{NONE},,instructions,0,100.00,,"), "refused"),
    (cpu_models.filters, guest(), "at once"),
    (cpu_models.filters, guest(both=(BOTH - 1, 1000)),
     "WRONG: 19999999 of user mode, 1000 of the kernel"),
    (cpu_models.filters, guest(both=(BOTH, BOTH)),
     "WRONG: 20000000 of user mode, 20000000 of the kernel"),
    (cpu_models.filters, guest(both=(BOTH, NONE)),
     "WRONG: 20000000 of user mode, None of the kernel"),
    (cpu_models.filters, guest(shares=("51.00", "49.00")), "by turns"),
    (cpu_models.filters, guest(both=(NONE, NONE)), "refused"),
    (cpu_models.samples, guest(), "all"),
    (cpu_models.samples, guest(samples=()), "refused"),
    (cpu_models.samples, guest(samples=("     65 work (/usr/bin/work)",)),
     "WRONG: 65 in work (/usr/bin/work)"),
    (cpu_models.samples, guest(samples=("      1 sh (/usr/bin/busybox)",
                                        "     66 work (/usr/bin/work)")),
     "WRONG: 1 in sh (/usr/bin/busybox), 66 in work (/usr/bin/work)"),
])
def test_what_is_wrong_is_called_so(judge, lines, verdict):
    assert judge(lines) == verdict


def test_words_of_a_refusal():
    """Not those about the other VM, nor those that everyone gets."""
    console = ["hart 0: guests see i m a", "hart 0: no counters of 64 bits", "vm alpha: 256 MiB",
               "vm alpha: no filters", "vm beta: 256 MiB", "vm beta: no filters",
               "vm alpha: vcpu 0: exits ecall=1", "vm alpha: ended"]
    result = harness.Result(harness.OK, "\n".join("tally: " + line for line in console))
    assert cpu_models.words(result, ("alpha", "beta"), True) == ("no filters",)
    assert cpu_models.words(result, ("alpha",), False) == ("hart 0: no counters of 64 bits",
                                                           "no filters")
    refused = harness.Result(harness.REFUSED, "tally: hart 0: h\ntally: refused: /vms: none")
    assert cpu_models.words(refused, ("alpha",), False) == ("refused: /vms: none",)


def test_what_cannot_be_had_is_named(monkeypatch):
    """Of this machine's own QEMU and OpenSBI nothing is fetched."""
    monkeypatch.setattr(peers, "refusal", lambda *_: "no such mirror")
    qemus, firmwares, whys = cpu_models.available()
    assert len(qemus) <= 1 and len(firmwares) <= 1
    assert len(whys) == 5 - len(qemus) - len(firmwares)
    for why in whys:
        assert " cannot be had: this machine has " in why and why.endswith("; no such mirror")


def test_equal_firmwares_share_a_row():
    seen = Seen("yes", "exact", "by turns", "all", ("one counter",))
    case = Case("10.0.2", "rv64", "1.5.1", 1)
    other = seen._replace(samples="refused")
    rows = cpu_models.page_of({case: seen, case._replace(opensbi="1.6"): seen,
                               case._replace(opensbi="1.9"): other})
    assert rows.removeprefix(cpu_models.HEAD).splitlines() == [
        "| 10.0.2 | `rv64` | 1.5.1, 1.6 | 1 | yes | exact | by turns | all | `one counter` |",
        "| 10.0.2 | `rv64` | 1.9 | 1 | yes | exact | by turns | refused | `one counter` |"]
