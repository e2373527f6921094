#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Boots two SMP Debian guests that run perf stat, perf record, forks, pipes and fences.

  tests/qemu/lib/boots.py [--boots 50]    so many times, with other placements each time; exit
                                          status 1 when one fails, hangs or counts nothing

The tests take boot() from here.
"""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import bare_guests
import harness
import plain

# For each vcpu of each of two guests, the harts it may run on; on machines of up to 4 harts. The
# tests take some of these.
PLACEMENTS = (
    (1, ("0",), ("0",)),
    (1, ("0", "0"), ("0", "0", "0", "0")),
    (2, ("0", "1"), ("1", "0")),
    (2, ("0", "0", "1", "1"), ("1",)),
    (2, ("0 1", "1 0", "0 1"), ("1 0", "0 1", "1 0")),
    (3, ("2", "1", "0"), ("0", "2")),
    (4, ("0", "1", "2", "3"), ("3", "2", "1", "0")),
    (4, ("3", "3"), ("0 1 2 3", "1 2 3 0", "2 3 0 1", "3 0 1 2")),
    (4, ("0", "1"), ("2", "3")),
    (4, ("0 1 2 3", "1 2 3 0", "2 3 0 1", "3 0 1 2"), ("3 2 1 0", "2 1 0 3", "1 0 3 2", "0 3 2 1")),
)
# 1 to 4 vcpus on 1 to 4 harts, the second guest's from the other end.
MATRIX = tuple((harts, tuple(str(n % harts) for n in range(vcpus)),
                tuple(str(-n % harts) for n in range(1, vcpus + 1)))
               for harts in range(1, 5) for vcpus in range(1, 5))
# With tally.roam of `make DEBUG=1` a vcpu goes to another one of its harts after every turn and
# whenever it waits.
ROAMING = tuple(p for p in PLACEMENTS if any(" " in harts for v in p[1:] for harts in v))

SCRIPT = """
test $(nproc) = {vcpus} || echo wrong nproc
/test/stress {rounds} > /tmp/stress & first=$!
perf stat -x, -e instructions:u work 1000000 2>&1
last=$(({vcpus} - 1))
taskset $((1 << last)) perf record -q -e cycles:u -c 1000000 -o /tmp/data work 100000000 2>&1
perf report -i /tmp/data -D 2>/dev/null | grep -c PERF_RECORD_SAMPLE | sed 's/^/samples /'
wait $first || echo stress failed
cat /tmp/stress
echo all done
"""


def build_stress(folder):
    """The program of stress.c, where harness.initramfs() takes it along."""
    (folder / "test").mkdir(exist_ok=True)
    subprocess.run([os.environ.get("CROSS_COMPILE", "riscv64-linux-gnu-") + "gcc", "-static", "-O2",
                    "-Wall", "-Wextra", "-Werror", "-pthread",
                    harness.ROOT / "tests/qemu/programs/stress.c",
                    "-o", folder / "test/stress"], check=True)


def in_turn(scripts):
    """One shell script for a Debian guest that runs those of {NAME: text} one after the other. The
    lines of each are harness.Result.guest_output(GUEST, NAME)."""
    return "".join(f"echo '{name} begin'\n(\n{text}\n)\necho \"{name} end $?\"\n"
                   for name, text in scripts.items())


def smp_tree(folder, scripts, vcpus, **arguments):
    """A Debian guest for each {NAME: shell script} with several vcpus: {NAME: the harts of each}.
    Other arguments as for harness.linux_tree()."""
    tree = harness.linux_tree(folder, scripts, **arguments)
    text = tree.read_text(encoding="utf-8")
    one = "\t\t\tvcpu0 {\n\t\t\t\tharts = <0>;\n\t\t\t};"
    assert text.count(one) == len(scripts)
    for name in scripts:
        nodes = "\n".join(bare_guests.VCPU.format(n=n, harts=harts)
                          for n, harts in enumerate(vcpus[name]))
        text = text.replace(one, nodes, 1)
    tree.write_text(text, encoding="utf-8")
    return tree


def boot(folder, placement, rounds=10, timeout=harness.GUARD, options=()):
    """One boot. Returns what is wrong with it, an empty list if nothing."""
    harts, *vcpus = placement
    build_stress(folder)
    names = ("alpha", "beta")
    scripts = {name: SCRIPT.format(vcpus=len(v), rounds=rounds) for name, v in zip(names, vcpus)}
    tree = smp_tree(folder, scripts, dict(zip(names, vcpus)))
    result = harness.run(tree, profile="smp", timeout=timeout,
                         options=["--harts", harts, *options])
    if result.status != harness.OK:
        return [str(result)]
    wrong = []
    for name in names:
        lines = result.guest_output(name, name)
        counts = harness.perf_counts(lines)
        samples = [int(line.split()[1]) for line in lines if line.startswith("samples ")]
        # In this profile the emulator counts time: only that it counts can be asked.
        if not isinstance(counts.get("instructions:u"), int) or not counts["instructions:u"]:
            wrong.append(f"{name}: perf stat: {counts}")
        if not samples or not samples[0]:
            wrong.append(f"{name}: perf record: {samples}")
        if f"stress: {rounds} rounds, 0 faults" not in lines or lines[-1] != "all done":
            wrong.append(f"{name}: " + "\n".join(lines))
        wrong += [f"{name}: {line}" for line in lines if line in ("wrong nproc", "stress failed")]
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boots", type=int, default=50, metavar="N")
    args = parser.parse_args()
    debug = plain.make("build/debug/tally.bin", variables=("DEBUG=1",))
    failed = 0
    for n in range(args.boots):
        every = [(placement, ()) for placement in PLACEMENTS + MATRIX] + [
            (placement, ("--kernel", debug, "--append", "tally.roam")) for placement in ROAMING]
        placement, options = every[n % len(every)]
        with tempfile.TemporaryDirectory() as folder:
            wrong = boot(Path(folder), placement, options=options)
        print(f"boot {n + 1} of {args.boots}: {placement}" + " roaming" * bool(options) +
              (": FAILED" if wrong else ": ok"), flush=True)
        for text in wrong:
            print(text)
        failed += bool(wrong)
    print(f"{args.boots - failed} good boots, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
