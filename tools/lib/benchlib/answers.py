# SPDX-License-Identifier: Apache-2.0
"""The questions that the report answers, in words, from the figures."""

from benchlib import derive
from benchlib.compare import number


def profiling_two(data):
    """Which policy to choose for profiling two guests at 1 kHz."""
    costs = {}
    for backend in ("ssccfg", "sbi"):
        found = [derive.percent_more(data, f"scale/{backend}-2", f"{w}/record-1000",
                                     f"scale/{backend}-2", f"{w}/alone")
                 for w in ("compute", "pipe")]
        if None not in found:
            costs[backend] = found
    if len(costs) < 2:
        return None
    text = ("The <b>ssccfg</b> back end with its defaults: reads <b>direct</b>, snapshot "
            "<b>off</b>. Two guests that both sample at 1 kHz then take %.2f %% longer for a "
            "compute loop and %.1f %% for a pipe between two processes; with <b>sbi</b>, %.2f %% "
            "and %.1f %%." %
            (*costs["ssccfg"], *costs["sbi"]))
    bare = [derive.overhead(data, "linux/bare", w, "record-1000") for w in ("compute", "pipe")]
    if None not in bare:
        text += (" Most of it is perf's own: one kernel on bare metal takes %.2f %% and %.1f %% "
                 "longer."
                 % tuple(bare))
    taken = derive.samples(data, "linux/ssccfg", "record-1000")
    lost = derive.samples(data, "linux/ssccfg-snapshot", "record-1000")
    if taken and lost is not None:
        text += (" Leave the snapshot off for sampling: with it Linux's driver takes %d samples "
                 "where it takes %d without (a defect of that driver, "
                 "docs/guests.md)." % (lost, taken))
    more = derive.percent_more(data, "linux/ssccfg-trap", "pipe/record-1000",
                               "linux/ssccfg", "pipe/record-1000")
    if more is not None:
        text += " With trapped reads the pipe executes %+.2f %%." % more
    return text


def sampling_in_a_guest(data):
    """What perf record costs a guest beside what it costs bare metal."""
    text = ""
    for backend in ("ssccfg", "sbi"):
        found = [(*derive.beside_bare(here, bare), workload, rate, certain)
                 for column, workload, rate, here, bare, certain in derive.recording(data)
                 if column == backend]
        if not found:
            continue
        apart, _, workload, rate, _ = max(found, key=lambda entry: abs(entry[0]))
        text += ("%s: the ratio of work <i>with</i> perf record to work <i>without</i> is at most "
                 "<b>%.2f %%</b> %s than the same ratio on bare metal (%s, %d Hz)" %
                 (derive.NAMES[backend], abs(apart), "higher" if apart > 0 else "lower", workload,
                  rate))
        parts = [part for _, part, _, _, certain in found if certain]
        if parts:
            text += ("; the overhead alone is %.2f to %.2f of bare metal's, where it stands out of "
                     "the noise" %
                     (min(parts), max(parts)))
        text += ". "
    if not text:
        return None
    return text + ("Below 1 is cheaper: a sample calls the firmware three times, and Tally's calls "
                   "with ssccfg are shorter than OpenSBI's (docs/evaluation-figures.md counts it "
                   "out).")


def trapped_read(data):
    """What a trapped read costs."""
    direct = derive.figure(data, "calls/ssccfg", "read-direct")
    trapped = {b: derive.figure(data, f"calls/{b}", "read-trapped") for b in ("ssccfg", "sbi")}
    if None in (direct, *trapped.values()):
        return None
    text = ("<b>%s</b> instructions with ssccfg, <b>%s</b> with sbi, where a direct one takes "
            "<b>%s</b>. "
            % (number(trapped["ssccfg"]), number(trapped["sbi"]), number(direct)))
    worst = [(derive.percent_more(data, f"linux/{b}-trap", row, f"linux/{b}", row), b)
             for b in ("ssccfg", "sbi") for row in ("pipe/stat-2",)]
    worst = [pair for pair in worst if pair[0] is not None]
    if worst:
        text += ("Linux seldom reads: with all reads trapped, the pipe between two processes under "
                 "perf stat executes " + " and ".join("%.2f %% (%s)" % pair for pair in worst) +
                 " more.")
    return text


def who_does_not_count(data):
    """What a guest pays that does not use its PMU."""
    found = derive.who_does_not_count(data)
    if not found:
        return None
    (more, workload), noise = found
    text = ("<b>Nothing.</b> " if abs(more) <= max(noise, 0.1) else "")
    text += ("A guest that has a PMU and does not use it, beside one that has none (pmu = "
             "\"off\"): the greatest difference of all workloads is %+.2f %% (%s); parts of one "
             "run lie up to %.2f %% apart. " % (more, workload, noise))
    switch = [derive.figure(data, f"switch/{b}", "net-none") for b in ("ssccfg", "sbi")]
    if None not in switch and switch[0] == switch[1]:
        text += ("A world switch between guests without live counters takes %s instructions, on "
                 "both back ends: no part of it is the PMU's. " % number(switch[0]))
    beside = [(derive.percent_more(data, f"beside/{b}", "compute/record-1000",
                                   f"beside/{b}", "compute/alone"), b) for b in ("ssccfg", "sbi")]
    if None not in [pair[0] for pair in beside]:
        text += ("While its neighbour on the hart samples at 1 kHz, such a guest's compute loop "
                 "changes by " +
                 " and ".join("%+.2f %% (%s)" % pair for pair in beside) +
                 ", the neighbour's turns included.")
    return text


QUESTIONS = (
    ("Which policy do I choose for profiling two guests at 1 kHz?", profiling_two),
    ("Does perf record cost a guest more than bare metal?", sampling_in_a_guest),
    ("What does a trapped read cost?", trapped_read),
    ("What does a guest pay that does not use its PMU?", who_does_not_count),
)
