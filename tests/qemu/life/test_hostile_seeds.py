# SPDX-License-Identifier: Apache-2.0
"""Guests that do whatever their seed says (guests/bare/fuzz/fuzz.c), beside a victim: all that the
victim prints, with its counts, samples and what it found in its registers and memory, is the same
as without them.

TALLY_SEEDS: which seeds instead, as "17" or "200-299 17". TALLY_FUZZ: more bootargs of the hostile
guests, as "trace=1 last=2000"."""

import functools
import os
import random
import re

import pytest

import bare_guests
import harness
import peers
import plain
from platforms import takes_uxl_3, vector_cpu

ROUNDS, MORE_ROUNDS = 2, 20
# In `make test`; the rest of 100 with `make test-long`.
SHORT, ALL = 5, 100
# Steps that each hostile guest takes at least; one with a console has told so.
LEAST = 50
TAKEN = harness.BUILD / "test/hostile-steps.txt"

VM = """
		{name} {{
			memory = /bits/ 64 <({memory} << 20)>;
			kernel = <&bare>;
			bootargs = "{bootargs}";
{lines}
		}};
"""
TREE = """/dts-v1/;
/ {{
	compatible = "tally,vm-tree-1";
	images {{ bare: bare {{ data = /incbin/("bare.bin"); }}; }};
	vms {{{nodes}
	}};
}};
"""


def seeds(short=SHORT):
    """Those of TALLY_SEEDS, or all; from `short` on they are for the long form."""
    asked = os.environ.get("TALLY_SEEDS")
    if not asked:
        return [pytest.param(n, marks=[pytest.mark.long] if n >= short else []) for n in range(ALL)]
    chosen = []
    for word in asked.split():
        low, _, high = word.partition("-")
        chosen += range(int(low), int(high or low) + 1)
    return chosen


def text(name, value):
    """A property that is a string, unless it has its default."""
    return f'\t\t\t{name} = "{value}";' if value else ""


# In every third seed both may watch themselves and each other.
OPERATOR = """\t\t\toperator = "watch"; operator-vms = {vms}; operator-interrupt = <5>;
\t\t\toperator-requests-hz = <10000>; operator-samples-hz = <1000>;"""


def is_virt(seed):
    """Whether the hostile VMs of a seed have machine = "virt"; that chooses nothing else."""
    return seed % 4 == 2


def has_key(seed):
    """Whether they have a power key; that chooses nothing else."""
    return seed % 4 == 1


def hostile(chance, seed, harts, mute=True):
    """(name, node, number of vcpus) of the hostile VMs of a seed, of which some have no console."""
    names = ("beta", "gamma")[: chance.choice((1, 1, 1, 2))]
    watch = seed % 3 == 0
    for name in names:
        vcpus, console = chance.choice((1, 1, 2, 2, 3, 4)), chance.choice(("", "", "on", "off"))
        if console == "off" and not mute:
            console = "on"
        lines = [
            text("pmu-reads", chance.choice(("", "direct", "trap"))),
            text("pmu-snapshot", chance.choice(("", "on"))),
            text("pmu-overflow", chance.choice(("", "on", "off"))),
            text("pmu-freeze", chance.choice(("", "guest"))),
            text("pmu", chance.choice(("", "", "", "", "", "", "on", "off"))),
            text("bad-access", chance.choice(("", "fault") * 6 + ("stop",))),
            text("console", console),
            text("machine", "virt" if is_virt(seed) else ""),
            text("shutdown", "key" if has_key(seed) else ""),
            text("restart", chance.choice(("always", "always", "always", "on-failure"))),
            "\t\t\trestart-limit = <1000>;",
        ]
        if chance.random() < 0.3:
            lines.append(f"\t\t\tpmu-overflow-limit = <{chance.choice((1, 10, 1000))}>;")
        if chance.random() < 0.2:
            lines.append("\t\t\tpmu-counters = <"
                         + " ".join(map(str, sorted(chance.sample([0, *range(2, 19)], 5)))) + ">;")
        if chance.random() < 0.2:
            lines.append("\t\t\tpmu-events = <1 2 0x10019 0xf0005 0xf0006 0xf0100 0xf010a>;")
        lines += [bare_guests.VCPU.format(n=n, harts=harts[n % len(harts)]) for n in range(vcpus)]
        stops = text("bad-access", "stop") in lines
        if watch:
            lines.insert(0, OPERATOR.format(vms=", ".join(f'"{name}"' for name in names)))
        bootargs = (f"kind=fuzz seed={seed} vector=1 quiet={int(console == 'off')} "
                    f"stops={int(stops)} operator={int(watch)} "
                    + ("virt=1 " if is_virt(seed) else "")
                    + ("key=1 " if has_key(seed) else "") + os.environ.get("TALLY_FUZZ", ""))
        yield name, VM.format(name=name, memory=8, bootargs=bootargs,
                              lines="\n".join(filter(None, lines))), vcpus


def files(seed):
    """Options: every third machine has guest interrupt files, of which these VMs have none."""
    return ["--aia", "aplic-imsic", "--aia-guests", 3] if seed % 3 == 1 else []


def victim(bootargs, reads, harts="0", rounds=ROUNDS):
    """Its node."""
    lines = "\n".join([text("pmu-reads", reads), bare_guests.VCPU.format(n=0, harts=harts)])
    return VM.format(name="alpha", memory=8, lines=lines,
                     bootargs=f"kind=victim rounds={rounds} vector=1 {bootargs}")


def steps(result, name):
    """How many steps a hostile VM took, in all its lives. Each vcpu tells it after so many, and
    what it prints besides may be anything."""
    total, life = 0, {}
    for line in result.vm(name):
        if "fuzz: seed=" in line:
            total, life = total + sum(life.values()), {}
        elif found := re.search(r"fuzz: vcpu (\d): (\d+) steps", line):
            life[found[1]] = int(found[2])
    return total + sum(life.values())


def enough_steps(result, test, seed, names, least):
    """Those were not idle. How many they took is added to a file."""
    counts = {name: steps(result, name) for name in names}
    TAKEN.parent.mkdir(parents=True, exist_ok=True)
    with TAKEN.open("a", encoding="ascii") as file:
        print(test, f"seed {seed}:", *(f"{name} {n}" for name, n in counts.items()), file=file)
    assert all(n >= least for n in counts.values()), f"{counts}\n{str(result)[-20000:]}"


def boot(folder, nodes, options=(), **arguments):
    """Until the victim ends: the result."""
    plain.make("build/guests/bare.bin")
    tree = folder / "vms.dts"
    tree.write_text(TREE.format(nodes="".join(nodes)), encoding="ascii")
    result = harness.run(tree, until="victim: ends", options=[
        "--include", harness.BUILD / "guests", "--cpu", vector_cpu(128), *options], **arguments)
    assert any(line.startswith("victim: ends") for line in result.vm("alpha")), str(result)[-20000:]
    return result


@pytest.fixture(scope="module", name="alone")
def without_them(tmp_path_factory):
    """(back end, pmu-reads, bootargs) -> what the victim prints when it has the machine to itself.
    """
    @functools.lru_cache(None)
    def alone(backend, reads, bootargs):
        lines = boot(tmp_path_factory.mktemp("alone"), [victim(bootargs, reads)],
                     backend=backend).vm("alpha")
        assert lines[-1] == "victim: ends, 0 wrong", "\n".join(lines)
        return lines
    return alone


@harness.both_backends
@pytest.mark.parametrize("seed", seeds())
def test_victim_is_the_same(tmp_path, alone, debug_build, backend, seed):
    """On one hart, where all counts are exact."""
    chance = random.Random(seed)
    reads = chance.choice(("", "", "trap"))
    options = [*debug_build, "--append", "tally.no-vmids"] if chance.random() < 0.2 else []
    options += files(seed)
    they = list(hostile(chance, seed, ["0"]))
    others = sum(vcpus for _, _, vcpus in they)
    result = boot(tmp_path, [victim(f"others={others}", reads), *(node for _, node, _ in they)],
                  options=options, backend=backend)
    assert any(f"back end {backend}," in line for line in result.own), str(result)[-20000:]
    assert result.vm("alpha") == alone(backend, reads, ""), str(result)[-20000:]
    for name, node, _ in they:
        began = any(line.startswith("fuzz: seed=") for line in result.vm(name))
        assert began != ('console = "off"' in node), str(result)[-20000:]
    enough_steps(result, "exact " + backend, seed,
                 [name for name, node, _ in they if 'console = "off"' not in node], LEAST)


@pytest.mark.parametrize("seed", seeds(short=1))
def test_no_invariant_breaks(tmp_path, debug_build, seed):
    """The hypervisor that checks them at each exit and entry. It takes longer, so what the victim
    says of its share of time is left out."""
    they = list(hostile(random.Random(seed), seed, ["0"]))
    nodes = [victim("others=1000", ""), *(node for _, node, _ in they)]
    result = boot(tmp_path, nodes, options=[*debug_build, *files(seed)], stays=False)
    assert result.vm("alpha")[-1] == "victim: ends, 0 wrong", str(result)[-20000:]


@pytest.mark.parametrize("seed", seeds(short=1))
def test_several_harts(tmp_path, seed, roaming):
    """Profile smp: two harts, and all vcpus go to and fro. Counts and times mean nothing there; the
    rest holds."""
    chance = random.Random(seed)
    they = list(hostile(chance, seed, ["0 1", "1 0"], mute=False))
    nodes = [victim("counts=no", "", harts="1 0", rounds=MORE_ROUNDS),
             *(node for _, node, _ in they)]
    result = boot(tmp_path, nodes, profile="smp",
                  options=[*roaming, "--harts", 2, *files(seed)])
    lines = [f"victim: round {n}" for n in range(MORE_ROUNDS)] + ["victim: ends, 0 wrong"]
    assert result.vm("alpha") == lines, str(result)[-20000:]
    enough_steps(result, "smp", seed, [name for name, _, _ in they], LEAST)


@pytest.mark.peer
def test_users_of_128_bits_end_the_emulator():
    """What no seed may do: QEMU takes UXL = 3, and does not expect it (docs/platform.md). When this
    fails, an emulator without the defect has come, and fuzz_code.c need not leave it out."""
    try:
        plain.run(plain.make("build/guests/bare.bin"), "kind=uxl", cpu=vector_cpu(128))
        end = "it goes on"
    except AssertionError as error:
        end = re.search(r"\b\w+: code should not be reached|ended with \S+", str(error))[0]
    peers.check("vtype read with UXL 3", peers.machine(), {"QEMU": end})


def test_users_of_128_bits_without_vectors(tmp_path):
    """Where the hart has no V nothing happens."""
    result = bare_guests.boot(tmp_path, {"beta": "kind=uxl"})
    assert result.vm("beta") == [f"uxl: {3 if takes_uxl_3() else 2}", "uxl: ends"]
