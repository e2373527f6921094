# SPDX-License-Identifier: Apache-2.0
"""CPU models of QEMU that have H: what perf can do in Debian guests on each, in one alone on a hart
and in two on one. tests/machines.json is the record, and docs/machines.md is made of it."""

import json
import re
import subprocess
from typing import NamedTuple

import harness
import peers
from runlib.qemu import CPU

RECORD = harness.ROOT / "tests/machines.json"
PAGE = harness.ROOT / "docs/machines.md"
QEMUS = ("10.0.2", "11.1.3")
# This project's, and later ones.
FIRMWARES = ("1.5.1", "1.6", "1.9")
NAMES = ("alpha", "beta")

KNOWN = 50000000
BOTH = 20000000
PERIOD, SAMPLED = 300000, 20000000
SAMPLES = SAMPLED // PERIOD
# Where there are no samples perf may ask for them for ever.
SCRIPT = f"""
echo counts
perf stat -x, -o /tmp/stat -e instructions:u work {KNOWN}
cat /tmp/stat
grep -q '<not' /tmp/stat && perf stat -x, -e instructions work {KNOWN} 2>&1
echo filters
perf stat -x, -e instructions:u,instructions:k work {BOTH} 2>&1
echo samples
perf record -q -e instructions:u -c {PERIOD} -o /tmp/data work {SAMPLED} >&- 2>&- &
for n in $(seq 40); do
	kill -0 $! 2>/dev/null || break
	usleep 200000
done
kill -9 $! 2>/dev/null
wait $! 2>/dev/null
perf script -i /tmp/data -F comm,dso,ip 2>/dev/null | awk '{{ print $1, $3 }}' | sort | uniq -c
echo all
"""

HEAD = f"""\
# CPU models

<!-- Made by tools/pages/machines-table. -->
Debian guests on each CPU model of QEMU's machine `virt` that has H: one alone on a hart, and two
that share it, as in `make run`. QEMU names its models (`-cpu help`); the device tree that it makes
for each tells whether that has H. The longest name is the default of `tools/run`. All runs are in
the `exact` profile. In each guest:

- *counts*: `perf stat -e instructions:u work {KNOWN}`
  - **exact**: {KNOWN:,}
  - **unfiltered**: perf refuses `instructions:u`; `instructions` counts the guest's kernel too
  - **refused**: perf refuses both
- *filters*: `perf stat -e instructions:u,instructions:k work {BOTH}`
  - **at once**: both count all the time, the first exactly {BOTH:,}
  - **by turns**: perf counts one, then the other, and scales the figures
  - **refused**: perf refuses both
- *samples*: `perf record -e instructions:u -c {PERIOD} work {SAMPLED}`
  - **all**: {SAMPLES} samples, each in `work`
  - **refused**: no sample

*Tally's words* are the lines of its boot report about these guests, and about the hart's counters
where no guest counts. They stand where a result is not the best one.

`tools/pages/machines-table` boots all of it, writes `tests/machines.json`, and this page of that.
`make test` compares three models with the file, `make test-long` all.

| QEMU | `-cpu` | OpenSBI | guests | boots | counts | filters | samples | Tally's words |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""
BEST = ("yes", "exact", "at once", "all")


class Case(NamedTuple):
    """What is booted."""
    qemu: str
    cpu: str
    opensbi: str
    guests: int


class Seen(NamedTuple):
    """What came of it: words of HEAD, or "WRONG: " and the figures; and what Tally said."""
    boots: str
    counts: str
    filters: str
    samples: str
    words: tuple


def available():
    """{version: path} of the QEMUs and of the firmwares that can be had today, and why others
    cannot."""
    qemus, firmwares, whys = {}, {}, []
    for found, find, versions in ((qemus, peers.find_qemu, QEMUS),
                                  (firmwares, peers.find_opensbi, FIRMWARES)):
        for version in versions:
            try:
                found[version] = find(version)
            except peers.Missing as why:
                whys.append(str(why))
    return qemus, firmwares, whys


def listed(qemu):
    """The names of all its CPU models."""
    shown = subprocess.run([qemu, "-machine", "virt", "-cpu", "help"], check=True, text=True,
                           capture_output=True).stdout
    return re.findall(r"^  (\S+)$", shown, re.M)


def has_h(qemu, cpu, folder):
    """Whether that is a hart of 64 bits with H. One that QEMU does not start is none."""
    blob = folder / "host.dtb"
    blob.unlink(missing_ok=True)
    if subprocess.run([qemu, "-machine", f"virt,dumpdtb={blob}", "-cpu", cpu, "-display", "none"],
                      check=False, capture_output=True).returncode:
        return False
    isa, extensions = (subprocess.run(["fdtget", blob, "/cpus/cpu@0", name], check=True, text=True,
                                      capture_output=True).stdout
                       for name in ("riscv,isa", "riscv,isa-extensions"))
    return isa.startswith("rv64") and "h" in extensions.split()


def models(qemu, folder):
    """What -cpu gets, for each row of a QEMU: the default first."""
    return [CPU, *(cpu for cpu in listed(qemu) if has_h(qemu, cpu, folder))]


def rows(lines):
    """{event: (count, share of the time)} of `perf stat -x,`; no count: None."""
    found = {}
    for line in lines:
        fields = line.split(",")
        if len(fields) > 4 and fields[2].startswith("instructions"):
            found[fields[2]] = (int(fields[0]) if fields[0].isdigit() else None, fields[4])
    return found


def part(lines, name, end):
    """The lines between two."""
    return lines[lines.index(name) + 1:lines.index(end)]


def counts(lines):
    """The first verdict of a guest."""
    found = rows(part(lines, "counts", "filters"))
    (user, _), (whole, _) = found["instructions:u"], found.get("instructions", (None, ""))
    if user == KNOWN:
        return "exact"
    if user is None and whole is None:
        return "refused"
    # Its kernel does little meanwhile.
    if user is None and KNOWN < whole < 1.05 * KNOWN:
        return "unfiltered"
    return f"WRONG: {user} of user mode, {whole} of all"


def filters(lines):
    """The second."""
    found = rows(part(lines, "filters", "samples"))
    (user, of_user), (kernel, of_kernel) = found["instructions:u"], found["instructions:k"]
    if user is None and kernel is None:
        return "refused"
    if user is not None and kernel is not None and (of_user, of_kernel) != ("100.00", "100.00"):
        return "by turns"
    if user == BOTH and kernel is not None and 0 < kernel < 0.05 * BOTH:
        return "at once"
    return f"WRONG: {user} of user mode, {kernel} of the kernel"


def samples(lines):
    """The third."""
    found = [line.split(maxsplit=1) for line in part(lines, "samples", "all")]
    if not found:
        return "refused"
    if found == [[str(SAMPLES), "work (/usr/bin/work)"]]:
        return "all"
    return "WRONG: " + ", ".join(f"{number} in {place}" for number, place in found)


def words(result, names, counted):
    """What the boot report says of the guests, but for how large they are, and of the hart's
    counters if not `counted`; or how Tally ended."""
    if result.status != harness.OK:
        ends = [line for line in result.own if re.match("refused: |panic: |the platform: ", line)]
        return tuple(ends or result.own[-1:])
    report = []
    for line in result.own:
        if line.endswith(": ended") or ": exits " in line:
            break
        report.append(line)
    said = [] if counted else [line for line in report
                               if re.match(r"hart 0: .*\bcounters?\b", line)]
    for name in names:
        begin = f"vm {name}: "
        of_vm = [line.removeprefix(begin) for line in report if line.startswith(begin)]
        said += of_vm[1:]
    return tuple(dict.fromkeys(said))


def boot(case, qemu, bios, folder):
    """What a case comes to. Two guests of which one has something else: both are named."""
    names = NAMES[:case.guests]
    result = harness.run(
        harness.linux_tree(folder, {name: SCRIPT for name in names}),
        options=["--qemu", qemu, "--bios", bios, "--cpu", case.cpu])
    if result.status != harness.OK:
        return Seen("no", "", "", "", words(result, names, False))
    verdicts = ["yes"]
    for judge in (counts, filters, samples):
        of_all = {name: judge(result.guest_output(name, name)) for name in names}
        same = len(set(of_all.values())) == 1
        verdicts.append(of_all[names[0]] if same else
                        "; ".join(f"{name} {verdict}" for name, verdict in of_all.items()))
    if tuple(verdicts) == BEST:
        return Seen(*verdicts, ())
    return Seen(*verdicts, words(result, names, "refused" not in verdicts[1]))


def load():
    """The record, {Case: Seen}."""
    with open(RECORD, encoding="utf-8") as file:
        entries = json.load(file)
    return {Case(*(entry[key] for key in Case._fields)):
            Seen(*(entry[key] for key in Seen._fields[:-1]), tuple(entry["words"]))
            for entry in entries}


def order(case):
    """The order of rows: the default before QEMU's names."""
    return (QEMUS.index(case.qemu), case.cpu != CPU, case.cpu, FIRMWARES.index(case.opensbi),
            case.guests)


def text_of(record):
    """The record's file: a line for each case."""
    lines = [json.dumps({**case._asdict(), **record[case]._asdict()})
             for case in sorted(record, key=order)]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def page_of(record):
    """The page: a row for all firmwares on which a case comes to the same."""
    found = {}
    for case in sorted(record, key=lambda case: order(case)[:3] + (case.guests, order(case))):
        key = (case.qemu, case.cpu, case.guests, record[case])
        found.setdefault(key, []).append(case.opensbi)
    lines = []
    for (qemu, cpu, guests, seen), firmwares in found.items():
        said = "; ".join(f"`{line}`" for line in seen.words)
        cells = (qemu, f"`{cpu}`", ", ".join(firmwares), str(guests), *seen[:-1], said)
        lines.append(f"| {' | '.join(cells)} |\n".replace("|  |", "| |").replace("|  |", "| |"))
    return HEAD + "".join(lines)
