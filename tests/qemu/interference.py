# SPDX-License-Identifier: Apache-2.0
"""A guest that computes beside one that does its worst (guests/bare/steady.c and tempest.c): what
its loop takes, and the table of that in docs/partitioning.md."""

import functools
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import harness
import hosts
import plain

# Kinds of storm, what each does without a pause, and how many gusts the victim waits for.
STORMS = {
    "calls": ("SBI calls, right and wrong", 1000),
    "ipi": ("IPIs to itself, each taken", 1000),
    "fence": ("remote fences to itself", 1000),
    "timer": ("a timer that is due at once, by SBI", 1000),
    "console": ("text to the debug console", 200),
    "mmio": ("registers of its UART and PLIC", 1000),
    "outside": ("loads and stores where it has nothing", 500),
    "illegal": ("illegal instructions, and CSRs of HS", 500),
    "pmu": ("counters configured, started, stopped, reset", 1000),
    "overflow": ("a counter that overflows every 100 instructions", 200),
    "wakes": ("sleeps of 2 microseconds", 200),
    "starts": ("a second vcpu that starts and stops itself", 5),
    "restart": ("its own restart, at its first instruction", 5),
    "device": ("interrupts of a device of its own", 200),
    "dma": ("DMA of a device of its own, reset each time", 50),
}
CALM = "nothing"
LENGTH, ROUNDS = 50000, 20
SECONDS = 25_000_000  # ticks that it goes on where there are looks: two are due, or three
OWN = 2 * LENGTH + 1  # what the guest's own counter has to say of a round
# Of one look, exit and entry included (docs/schedules.md).
LOOK = 350
# own: a hart of its own without a look; look: with one; turns: one hart for both.
PLACES = ("own", "look", "turns")
# And one of its own where each read of a counter is an exit: that the measurement sees these.

CLOCK = 'clock { host = "/soc/rtc@101000"; dma = "none"; };'
FUNCTION = 'rng { pci = "00:01.0"; dma = "isolated"; };'

TREE = """/dts-v1/;
/ {{
	compatible = "tally,vm-tree-1";
	images {{ bare: bare {{ data = /incbin/("bare.bin"); }}; }};
	vms {{
		victim {{
			memory = /bits/ 64 <(4 << 20)>;
			kernel = <&bare>;
			bootargs = "kind=steady {how}";
			look = "{look}";
			pmu-reads = "{reads}";
			vcpu0 {{ harts = <{hart}>; }};
		}};
		storm {{
			memory = /bits/ 64 <(4 << 20)>;
			kernel = <&bare>;
			bootargs = "kind=tempest what={what}";
			restart-limit = <1000>;
			vcpu0 {{ harts = <0>; }};
			vcpu1 {{ harts = <0>; }};
			devices {{ {device} }};
		}};
	}};
	shared {{
		gusts {{
			size = /bits/ 64 <4096>;
			storm {{ at = /bits/ 64 <0x100000000>; access = "read-write"; }};
			victim {{ at = /bits/ 64 <0x100000000>; }};
		}};
	}};
}};
"""
LINE = re.compile(r"steady: (\d+) rounds, (\d+) to (\d+) instructions counted, (\d+) exits, "
                  r"(\d+) gusts")


class Seen(NamedTuple):
    """Of all rounds: what the guest counted itself, its exits, the storm's gusts, and all
    instructions of the hart in each round, of all privilege modes."""
    counted: set
    exits: int
    gusts: int
    rounds: list


@functools.cache
def plugin():
    """The path of hart_counts.c, compiled."""
    file = harness.BUILD / "test/hart_counts.so"
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".so", delete=False) as made:
        pass
    subprocess.run([os.environ.get("HOSTCC", "cc"), "-O2", "-Wall", "-Wextra", "-Werror", "-shared",
                    "-fPIC", "-o", made.name, harness.ROOT / "tests/qemu/hart_counts.c"],
                   check=True)
    Path(made.name).replace(file)
    return file


@functools.cache
def measured(storm, place):
    """What the victim sees of a storm in a place."""
    plain.make("build/guests/bare.bin")
    alone = place != "turns"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file, counts = folder / "interference.dts", folder / "counts"
        file.write_text(TREE.format(
            what=storm, hart=int(alone), look="off" if place in ("own", "trapped") else "on",
            device=FUNCTION if storm == "dma" else CLOCK,
            reads="trap" if place == "trapped" else "direct",
            how=f"rounds={ROUNDS} length={LENGTH} gusts={STORMS.get(storm, ('', 0))[1]} "
                f"ticks={SECONDS if place == 'look' else 0}"), encoding="ascii")
        options = ["--include", harness.BUILD / "guests", "--aia", "none"]
        if storm == "dma":
            options += ["--device", hosts.RNG]
        if alone:
            options += ["--harts", 2, "--qemu",
                        hosts.qemu(folder, "-plugin", f"{plugin()},out={counts}")]
        result = harness.run(file, until="vm victim: ended", options=options,
                             profile="smp" if alone else "exact")
        assert result.status == harness.INTERRUPTED, str(result)
        (line,) = result.vm("victim")
        rounds, least, most, exits, gusts = map(int, LINE.fullmatch(line).groups())
        lines = counts.read_text(encoding="ascii").splitlines() if alone else []
    seen = [tuple(map(int, line.split())) for line in lines]
    assert len(seen) == (rounds if alone else 0) and {hart for hart, _ in seen} <= {1}
    return Seen({least, most}, exits, gusts, [insns for _, insns in seen])


def cell(place, seen):
    """What the table says: the instructions of a round."""
    if place == "turns":
        return " to ".join(f"{n:,}" for n in sorted(seen.counted))
    least = min(seen.rounds)
    if place == "own":
        return " to ".join(f"{n:,}" for n in sorted({least, max(seen.rounds)}))
    more = sum(seen.rounds) - least * len(seen.rounds)
    return f"{least:,}" + ("" if more <= LOOK * seen.exits else f", and {more} in {seen.exits}")


def table():
    """The rows, of runs."""
    lines = ["| beside | on a hart of its own | the same, with looks | by turns |",
             "| --- | --- | --- | --- |"]
    for storm in (CALM, *STORMS):
        what = STORMS.get(storm, ("one that only computes",))[0]
        cells = [cell(place, measured(storm, place)) for place in PLACES]
        lines.append(f"| {what} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
