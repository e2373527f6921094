# SPDX-License-Identifier: Apache-2.0
"""tools/vm-check --host: which VM will have no samples, no filters and fewer counters, and why, as
far as the host's tree shows; and that boot says the same."""

import json
import subprocess

import pytest

import bare_guests
from bare_guests import NO_OVERFLOW
import harness
import hosts
from measured import ONE_ROUND
from platforms import cpu, hides_flags
from vm_check import check

pytestmark = pytest.mark.usefixtures("vm_check_built")
SHOWS = "if the hart shows VS the OF bits of closed counters: "
HOME = "if the hart counts an event on one counter at a time: "
BOTH = "if it does both, as QEMU 10.0 does: "
FOR_ITSELF = "overflow interrupts without ssccfg: a counter that samples has its event for itself"
OWN_FLAGS = "overflow interrupts without ssccfg: one counter for each event"
NOT_FIXED = "no counters 0 and 2: the guest reads the hart's own OF bits"
ONE_FILTER = "cycles and instructions under one filter at a time: hart 0 has no smcntrpmf"
ALONE = [FOR_ITSELF, SHOWS + OWN_FLAGS, SHOWS + NOT_FIXED,
         f"{BOTH}{OWN_FLAGS}, and no cache events"]
SHARED = f"{NO_OVERFLOW}: hart 0 has no ssccfg, and other vcpus share it"


def written(folder, names, properties="", vcpus=("0",)):
    """The path of a tree of such VMs, which share hart 0."""
    file = folder / "checked.dts"
    file.write_text(bare_guests.tree(dict.fromkeys(names, "kind=measure"), vcpus, properties),
                    encoding="utf-8")
    return file


def limits(folder, names, host, **more):
    """{NAME: its limits}, and whether each has overflow interrupts; as text says the same."""
    words = ("--include", harness.BUILD / "guests", "--host", host, written(folder, names, **more))
    done = check(*words)
    assert (done.returncode, done.stderr) == (0, "")
    told = {}
    for line in done.stdout.splitlines():
        if not line.startswith(" "):
            told[line] = []
            name, inside = line, False
        elif inside and line.startswith(" " * 12):
            told[name].append(line[12:])
        else:
            inside = line.startswith("  pmu ")
    vms = json.loads(check("--json", *words).stdout)["vms"]
    found = {vm["name"]: vm["pmu"]["at_boot"] for vm in vms}
    for name in names:
        assert found[name]["limits"] == told[name]
    return ({name: told[name] for name in names},
            [found[name]["overflow"] for name in names])


@pytest.mark.parametrize("text, names, overflow, lines", [
    (cpu(), "ab", True, []),
    (cpu(["ssaia"]), "ab", False, [f"{NO_OVERFLOW}: hart 0 has no ssaia"]),
    (cpu(["ssccfg"]), "a", True, ALONE),
    (cpu(["ssccfg"]), "ab", None, [FOR_ITSELF, SHOWS + SHARED]),
    (cpu(["smcntrpmf"]), "a", True, [HOME + ONE_FILTER]),
    ("tt-ascalon", "a", True, [*ALONE[:3], HOME + ONE_FILTER, ALONE[3]]),
    ("tt-ascalon", "ab", None, [FOR_ITSELF, SHOWS + SHARED, HOME + ONE_FILTER]),
    ("rv64", "ab", False, [f"{NO_OVERFLOW}: hart 0 has no sscofpmf, no ssaia, no ssccfg",
                           "no hardware counters: hart 0 has no sscofpmf"]),
], ids=["all", "no-ssaia", "alone", "shared", "no-smcntrpmf", "ascalon", "ascalon-shared",
        "plain"])
def test_limits_that_extensions_set(tmp_path, text, names, overflow, lines):
    host = hosts.tree(tmp_path / "host.dtb", cpu=text)
    assert limits(tmp_path, names, host) == (dict.fromkeys(names, lines), [overflow] * len(names))


def test_limits_that_the_vm_tree_sets(tmp_path):
    host = hosts.tree(tmp_path / "host.dtb", harts=2, cpu=cpu(["ssccfg"]))
    lacks = f"{NO_OVERFLOW}: hart 0 has no ssccfg, and "
    moves = [FOR_ITSELF, f"{SHOWS}{lacks}the vcpu may move"]
    for more, lines, overflow in (
            ({"vcpus": ("0 1",)}, moves, None),
            ({"properties": 'pmu-reads = "trap";'}, [lacks + 'pmu-reads is "trap"'], False),
            ({"properties": 'pmu-overflow = "off";'}, [f'{NO_OVERFLOW}: pmu-overflow is "off"'],
             False)):
        assert limits(tmp_path, "a", host, **more) == ({"a": lines}, [overflow])


def test_limits_that_the_pmu_node_sets(tmp_path):
    """Firmware that has cycles and instructions on fixed counters alone."""
    maps = "1 1 1 2 2 4 10019 10019 78".split()
    host = hosts.tree(tmp_path / "host.dtb", cpu=cpu(["ssaia", "ssccfg", "smcntrpmf"]))
    subprocess.run(["fdtput", "-t", "x", host, "/pmu", "riscv,event-to-mhpmcounters", *maps],
                   check=True)
    fixed = ("cycles and instructions: the host's /pmu has only fixed counters for them, which "
             "have no filter here: refused")
    assert limits(tmp_path, "a", host) == (
        {"a": [f"{NO_OVERFLOW}: hart 0 has no ssaia, no ssccfg", fixed]}, [False])


@pytest.mark.parametrize("text, event, words, lines", [
    (cpu(), 2, None, []),
    (cpu(["ssaia"]), 2, "hart 0 has no overflow interrupts", None),
    (cpu(["sscofpmf"]), 2, "hart 0 has no counters", None),
    (cpu(), 3, "hart 0 has no counter for the event", None),
    (cpu(["ssccfg"]), 2, None, [SHOWS + "refused: hart 0 has no ssccfg",
                                BOTH + "refused: hart 0 has no ssccfg"]),
    (cpu(), 0x10019, None,
     [HOME + "refused: hart 0 has no overflow interrupt of cache events",
      BOTH + "refused: hart 0 has no overflow interrupt of cache events"]),
])
def test_budgets(tmp_path, text, event, words, lines):
    """In the words of boot, and which trials there decide."""
    host = hosts.tree(tmp_path / "host.dtb", cpu=text)
    tree = written(tmp_path, "a", properties=f"budget = <{event} 5000 100>;")
    done = check("--include", harness.BUILD / "guests", "--host", host, tree)
    if words:
        assert (done.returncode, done.stderr.splitlines()[0]) == (
            1, f"/vms/a: budget: {words}")
        return
    assert (done.returncode, done.stderr) == (0, "")
    said = done.stdout.splitlines()
    at = next(n for n, line in enumerate(said) if line.startswith("  budget "))
    end = next(n for n in range(at + 1, len(said)) if not said[n].startswith(" " * 12))
    assert said[at + 1:end] == [" " * 12 + line for line in lines]


@pytest.mark.parametrize("text", [cpu(), cpu(["ssaia"]), cpu(["ssccfg"]), "tt-ascalon"])
@pytest.mark.parametrize("names", [("alpha",), ("alpha", "beta")], ids=len)
def test_boot_says_the_same(tmp_path, names, text):
    """Of vm-check's lines the last is for a hart that shows OF bits, the first for one that hides
    them."""
    told = limits(tmp_path, names, hosts.tree(tmp_path / "host.dtb", cpu=text))[0]
    result = bare_guests.boot(tmp_path, dict.fromkeys(names, ONE_ROUND), options=["--cpu", text])
    for name, lines in told.items():
        said = [line.removeprefix(f"vm {name}: ") for line in result.own
                if line.startswith(f"vm {name}: ") and "overflow interrupts" in line]
        ours = [line[line.index(": ") + 2:] if line.startswith("if ") else line
                for line in lines if "overflow interrupts" in line]
        assert said == (ours[:1] if hides_flags() else ours[-1:]), str(result)


def test_boot_has_the_last_word_on_counters(tmp_path):
    """The node /pmu names counter 3 alone, the hart has 9 as well and lacks 31."""
    edits = [["-t", "x", "host.dtb", "/pmu", "riscv,event-to-mhpmcounters",
              *"1 1 9 2 2 c".split()]]
    qemu = hosts.qemu(tmp_path, *hosts.changed(tmp_path, edits))
    options = ["--memory", "1G", "--qemu", qemu]
    for counter, status in ((9, 0), (31, harness.REFUSED)):
        counters = f"pmu-counters = <3 {counter}>;"
        lines = limits(tmp_path, "a", tmp_path / "host.dtb", properties=counters)[0]["a"]
        assert (f"counter {counter} is not in the host's /pmu: if the hart lacks it, boot refuses "
                "the tree") in lines
        result = bare_guests.boot(tmp_path, {"a": "kind=idle ticks=1000"}, options=options,
                                  properties=counters, status=status)
        if status:
            assert result.own[-1] == ("refused: /vms/a: pmu-counters: this machine has no counter "
                                      f"{counter}"), str(result)
        else:
            assert "vm a: 16 MiB, 1 vcpu on hart 0, 2 counters (3, 9)" in result.own, str(result)
