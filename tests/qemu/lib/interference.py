# SPDX-License-Identifier: Apache-2.0
"""A guest that computes beside one that does its worst (guests/bare/hostile/steady.c and
tempest.c): what its loop takes, and the table of that in docs/neighbours.md."""

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
from benchlib.storms import AIA, CALM, CALM_WORDS, CLOCK, FUNCTION, NETWORK, RNG, STORMS

LENGTH, ROUNDS = 50000, 20
SECONDS = 25_000_000  # ticks that it goes on where there are looks: two are due, or three
OWN = 2 * LENGTH + 1  # what the guest's own counter has to say of a round
# Of one look, exit and entry included (docs/schedules.md).
LOOK = 350
TICKS_A_US = 10
GUARD = harness.LEAST_GUARD["ssccfg"]


class Place(NamedTuple):
    """Where the victim is."""
    head: str  # of the table's column
    hart: int = 1
    storm: int = 0  # the hart of the storm's first vcpu
    harts: int = 2  # of the machine; several of QEMU's run by the host's time
    look: str = "on"
    reads: str = "direct"
    ticks: int = 0  # that it goes on, at least
    schedule: tuple = ()  # of hart 0: frame, and the window's start, length and guard, in us


PLACES = {
    "own": Place("on a hart of its own", look="off"),
    "look": Place("the same, with looks", ticks=SECONDS),
    "turns": Place("by turns", hart=0, harts=1),
    "windows": Place("in windows", hart=0, harts=1, schedule=(1000, 500, 250, GUARD)),
    "apart": Place("in windows, the storm on another hart", hart=0, storm=1,
                   schedule=(50000, 5000, 40000, GUARD)),
}
# That the measurement sees these: each read of a counter is an exit; a window without a guard.
OTHERS = {
    "trapped": PLACES["own"]._replace(reads="trap"),
    "unguarded": PLACES["windows"]._replace(schedule=(1000, 500, 250, 0)),
}

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
			restart-limit = <1000>; {aia}
			vcpu0 {{ harts = <{first}>; }};
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
{network}
{schedules}
}};
"""
SCHEDULES = """	schedules {
		hart0 {
			major-frame-us = <%d>;
			slack = "storm";
			victim { vm = "victim"; start-us = <%d>; length-us = <%d>; %s };
		};
	};"""
LINE = re.compile(r"steady: (\d+) rounds, (\d+) to (\d+) instructions counted, (\d+) exits, "
                  r"(\d+) gusts")
BEGINS = re.compile(r"begins: (\d+) to (\d+), (\d+) times")


class Seen(NamedTuple):
    """Of all rounds: what the guest counted itself, its exits, the storm's gusts, and all
    instructions of the hart in each round, of all privilege modes. In windows on
    a machine of one hart also how late the earliest and the latest began, in ticks, and of how many
    that was seen."""
    counted: set
    exits: int
    gusts: int
    rounds: list
    late: tuple = ()


@functools.cache
def plugin():
    """The path of hart_counts.c, compiled."""
    file = harness.BUILD / "test/hart_counts.so"
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".so", delete=False) as made:
        pass
    subprocess.run([os.environ.get("HOSTCC", "cc"), "-O2", "-Wall", "-Wextra", "-Werror", "-shared",
                    "-fPIC", "-I", harness.ROOT, "-o", made.name,
                    harness.ROOT / "tests/qemu/programs/hart_counts.c"],
                   check=True)
    Path(made.name).replace(file)
    return file


def tree(storm, place):
    """The text of the VM tree."""
    frame, start, length, guard = place.schedule or (0, 0, 0, 0)
    schedules = SCHEDULES % (frame, start, length, f"guard-us = <{guard}>;" if guard else "")
    return TREE.format(
        what=storm, hart=place.hart, first=place.storm, look=place.look, reads=place.reads,
        device=FUNCTION if storm == "dma" else CLOCK, schedules=schedules if frame else "",
        network=NETWORK if storm in ("frames", "messages") else "",
        aia=AIA if storm == "messages" else "",
        how=f"rounds={ROUNDS} length={LENGTH} gusts={STORMS.get(storm, ('', 0))[1]} "
            f"ticks={place.ticks} frame={frame * TICKS_A_US} port={int(storm == 'frames')}")


@functools.cache
def measured(storm, where):
    """What the victim sees of a storm in a place."""
    plain.make("build/guests/bare.bin")
    place = {**PLACES, **OTHERS}[where]
    several = place.harts > 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file, counts = folder / "interference.dts", folder / "counts"
        file.write_text(tree(storm, place), encoding="ascii")
        options = ["--include", harness.BUILD / "guests",
                   "--aia", "auto" if storm == "messages" else "none"]
        if storm == "dma":
            options += ["--device", RNG]
        if several:
            options += ["--harts", place.harts, "--qemu",
                        hosts.qemu(folder, "-plugin", f"{plugin()},out={counts}")]
        result = harness.run(file, until="vm victim: ended", options=options,
                             profile="smp" if several else "exact")
        assert result.status == harness.INTERRUPTED, str(result)
        line, *begins = result.vm("victim")
        rounds, least, most, exits, gusts = map(int, LINE.fullmatch(line).groups())
        lines = counts.read_text(encoding="ascii").splitlines() if several else []
    seen = [tuple(map(int, line.split())) for line in lines]
    assert len(seen) == (rounds if several else 0) and {hart for hart, _ in seen} <= {place.hart}
    late = ()
    if begins and not several:
        earliest, latest, times = map(int, BEGINS.fullmatch(*begins).groups())
        start = place.schedule[1] * TICKS_A_US
        late = earliest - start, latest - start, times
    return Seen({least, most}, exits, gusts, [insns for _, insns in seen], late)


def cell(where, seen):
    """What the table says: the instructions of a round."""
    if not seen.rounds:
        insns = " to ".join(f"{n:,}" for n in sorted(seen.counted))
        return insns + (f"; {seen.late[1]} ticks" if seen.late else "")
    least = min(seen.rounds)
    if where == "own":
        return " to ".join(f"{n:,}" for n in sorted({least, max(seen.rounds)}))
    if where == "apart":
        cut = sum(insns != least for insns in seen.rounds)
        return f"{least:,}" + ("" if cut <= seen.exits else f", and more in {cut - seen.exits}")
    more = sum(seen.rounds) - least * len(seen.rounds)
    return f"{least:,}" + ("" if more <= LOOK * seen.exits else f", and {more} in {seen.exits}")


def table():
    """The rows, of runs."""
    lines = ["| beside | " + " | ".join(place.head for place in PLACES.values()) + " |",
             "| --- |" + " --- |" * len(PLACES)]
    for storm in (CALM, *STORMS):
        what = STORMS.get(storm, (CALM_WORDS,))[0]
        cells = [cell(where, measured(storm, where)) for where in PLACES]
        lines.append(f"| {what} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
