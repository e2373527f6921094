# SPDX-License-Identifier: Apache-2.0
"""Further questions of the report, answered as those of conclusions.py: a sentence, a table of its
figures, and a note below that; or None if nothing was measured for it."""

from benchlib import derive
from benchlib.compare import number

BACKENDS = ("ssccfg", "sbi")
SAMPLED = ("compute", "pipe")


def percent(value):
    """Of a cost; "-" if it was not measured."""
    return "-" if value is None else "%+.2f %%" % value


def profiling_two(data):
    """Which policy to choose for profiling two guests at 1 kHz."""
    costs = {b: [derive.percent_more(data, f"scale/{b}-2", f"{w}/record-1000",
                                     f"scale/{b}-2", f"{w}/alone") for w in SAMPLED]
             for b in BACKENDS}
    if None in costs["ssccfg"] + costs["sbi"]:
        return None
    rows = [[f"two guests, {b}", *map(percent, costs[b])] for b in BACKENDS]
    bare = [derive.overhead(data, "linux/bare", w, "record-1000") for w in SAMPLED]
    if None not in bare:
        rows.append(["one kernel on bare metal", *map(percent, bare)])
    note = ""
    taken = derive.samples(data, "linux/ssccfg", "record-1000")
    lost = derive.samples(data, "linux/ssccfg-snapshot", "record-1000")
    if taken and lost is not None:
        note = ("With the snapshot Linux's driver takes %d samples where it takes %d without: a "
                "defect of that driver, docs/guests.md." % (lost, taken))
    return ("The ssccfg back end with its defaults: reads direct, snapshot off.",
            (["longer, with perf record at 1 kHz", *SAMPLED], rows), note)


def sampling_in_a_guest(data):
    """What perf record costs a guest beside what it costs bare metal."""
    rows, words = [], []
    for backend in BACKENDS:
        found = [(*derive.beside_bare(here, bare), workload, rate, certain)
                 for column, workload, rate, here, bare, certain in derive.recording(data)
                 if column == backend]
        if not found:
            continue
        apart, _, workload, rate, _ = max(found, key=lambda entry: abs(entry[0]))
        parts = [part for _, part, _, _, certain in found if certain]
        rows.append([derive.NAMES[backend], percent(apart), f"{workload}, {rate} Hz",
                     f"{min(parts):.2f} to {max(parts):.2f}" if parts else "in the noise"])
        words.append(f"at most {abs(apart):.2f} % {'more' if apart > 0 else 'less'} with {backend}")
    if not rows:
        return None
    return (f"It executes {' and '.join(words)}.",
            (["with perf to without it, beside the same on bare metal", "farthest", "where",
              "overhead: guest / bare metal"], rows),
            "Below 1 is cheaper: a sample calls the firmware three times, and Tally's calls with "
            "ssccfg are shorter than OpenSBI's, as docs/evaluation-figures.md counts out.")


def trapped_read(data):
    """What a trapped read costs."""
    direct = derive.figure(data, "calls/ssccfg", "read-direct")
    trapped = {b: derive.figure(data, f"calls/{b}", "read-trapped") for b in BACKENDS}
    if None in (direct, *trapped.values()):
        return None
    rows = [["a direct read", number(direct), number(direct)],
            ["a trapped read", *map(number, trapped.values())]]
    more = [derive.percent_more(data, f"linux/{b}-trap", "pipe/stat-2", f"linux/{b}", "pipe/stat-2")
            for b in BACKENDS]
    note = ""
    if more != [None, None]:
        rows.append(["the pipe under perf stat, with all reads trapped", *map(percent, more)])
        note = "Linux seldom reads."
    return (f"{number(trapped['ssccfg'])} instructions with ssccfg and {number(trapped['sbi'])} "
            "with sbi.", (["instructions", *BACKENDS], rows), note)


def who_does_not_count(data):
    """What a guest pays that does not use its PMU."""
    found = derive.who_does_not_count(data)
    if not found:
        return None
    (more, workload), noise = found
    rows = [[f"beside a guest with pmu = \"off\": {workload}, the farthest", percent(more)],
            ["parts of one run lie apart by up to", "%.2f %%" % noise]]
    rows += [[f"a loop, while its neighbour samples at 1 kHz, {b}",
              percent(derive.percent_more(data, f"beside/{b}", "compute/record-1000",
                                          f"beside/{b}", "compute/alone"))]
             for b in BACKENDS if derive.figure(data, f"beside/{b}", "compute/alone") is not None]
    switch = [derive.figure(data, f"switch/{b}", "net-none") for b in BACKENDS]
    note = ""
    if None not in switch and switch[0] == switch[1]:
        rows.append(["a world switch between guests without live counters",
                     f"{number(switch[0])} instructions"])
        note = "That switch takes as much with both back ends: no part of it is the PMU's."
    return ("Nothing that can be told from noise." if abs(more) <= max(noise, 0.1) else
            "At most %.2f %% more instructions." % abs(more), (["", "cost"], rows), note)


QUESTIONS = (
    ("Which policy do I choose for profiling two guests at 1 kHz?", profiling_two),
    ("Does perf record cost a guest more than bare metal?", sampling_in_a_guest),
    ("What does a trapped read cost?", trapped_read),
    ("What does a guest pay that does not use its PMU?", who_does_not_count),
)


def of(data):
    """[(question, sentence, (head, rows), note)] of what was measured."""
    found = [(question, answer(data)) for question, answer in QUESTIONS]
    return [(question, *answer) for question, answer in found if answer]
