# SPDX-License-Identifier: Apache-2.0
"""The three questions that a reader comes with, each answered in one sentence and a small table:
beside bare metal, and beside KVM where that was measured. Then what an interrupt costs. A note
below a table says how far to trust it."""

from benchlib import derive, guests
from benchlib.compare import number

TALLYS = ("ssccfg", "sbi")
KVMS = ("kvm-6.12", "kvm-new")
IN_THE_NOISE = 0.1  # percent
FEWER = 1  # percent of samples that are worth a word


def measured(data, condition):
    """{column: {workload: percent more}} of all machines. alone: than bare metal, which is left
    out; else than the same machine without perf."""
    found = {}
    for column in derive.present(data, "linux", derive.THREE_WAY):
        run = f"linux/{column}"
        for workload in guests.WORKLOADS:
            if condition != "alone":
                more = derive.overhead(data, run, workload, condition)
            elif column == "bare":
                continue
            else:
                more = derive.percent_more(data, run, f"{workload}/alone", "linux/bare",
                                           f"{workload}/alone")
            if more is not None:
                found.setdefault(column, {})[workload] = more
    return found


def percent(value):
    """With as many digits as a small cost needs; no sign before nothing."""
    return "%+.2f %%" % (value if abs(value) >= 0.005 else 0)


def most(costs):
    """The greatest of a machine's."""
    return percent(max(costs.values())).lstrip("+")


def listed(parts):
    """Words with commas, and an `and`."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def sentence(costs, text, adds):
    """One sentence of all machines that were measured: Tally, bare metal, KVM. adds: its verb."""
    tally = [f"{text(c)} with {c}" for c in TALLYS if c in costs]
    if not tally:
        return None
    others = [f"on bare metal {text(c)}" for c in ("bare",) if c in costs]
    others += [f"under KVM of {derive.NAMES[c].removeprefix('KVM, ')} {text(c)}"
               for c in KVMS if c in costs]
    return "; ".join([f"In a guest of Tally {adds} at most {listed(tally)}"] + others) + "."


def having(data):
    """The cost of a PMU that is not used."""
    costs = measured(data, "alone")
    tally = [abs(v) for c in TALLYS for v in costs.get(c, {}).values()]
    text = sentence(costs, lambda c: most(costs[c]),
                    "a program that does not use it executes more than on bare metal by")
    if not tally or max(tally) > IN_THE_NOISE:
        return text
    return "Nothing that can be told from noise: i" + text.removeprefix("I")


def counting(data):
    """perf stat."""
    costs = measured(data, "stat-2")
    return sentence(costs, lambda c: most(costs[c]),
                    "perf stat with two events adds to the instructions of a program")


def fewer(data, condition):
    """Which machines took fewer samples than bare metal, in words."""
    bare = derive.samples(data, "linux/bare", condition)
    found = []
    for column in derive.THREE_WAY[1:]:
        taken = derive.samples(data, f"linux/{column}", condition)
        if bare and taken is not None and 100 * (bare - taken) / bare > FEWER:
            found.append("%s, %.1f %% fewer" % (derive.NAMES[column], 100 * (bare - taken) / bare))
    if not found:
        return ""
    return ("Fewer samples cost less, so the overhead looks smaller than it is where fewer were "
            "taken than on bare metal: %s." % "; ".join(found))


def sampling(data):
    """perf record at 1 kHz."""
    costs = measured(data, "record-1000")
    return sentence(costs, lambda c: most(costs[c]),
                    "perf record at 1 kHz adds to the instructions of a program")


def table_of(data, condition):
    """(head, rows) of the costs; the samples below them."""
    costs = measured(data, condition)
    columns = list(costs)
    workloads = [w for w in guests.WORKLOADS if any(w in costs[c] for c in columns)]
    rows = [[w] + [percent(costs[c][w]) if w in costs[c] else "-" for c in columns]
            for w in workloads]
    taken = [derive.samples(data, f"linux/{c}", condition) for c in columns]
    if any(n is not None for n in taken):
        rows.append(["samples, in all"] + ["-" if n is None else f"{n:,}" for n in taken])
    return [""] + [derive.NAMES[c] for c in columns], rows


def alike(data):
    """Which extensions each guest saw, in one line; None if nobody was asked."""
    seen = derive.extensions(data)
    if not seen:
        return None
    common = [e for e in next(iter(seen.values())) if all(e in isa for isa in seen.values())]
    text = "All saw the extensions %s" % " ".join(common)
    more = ["%s %s" % (derive.NAMES[c], " ".join(e for e in isa if e not in common))
            for c, isa in seen.items() if set(isa) - set(common)]
    return text + ("; besides, " + "; ".join(more) if more else "") + "."


def unlike(data, columns):
    """Below a table: which of its machines had other extensions than bare metal; "" if none."""
    parts = []
    for column, (more, less) in derive.differing(data).items():
        if column in columns:
            words = [verb + " ".join(them) for verb, them in (("has ", more), ("lacks ", less))
                     if them]
            parts.append("%s %s" % (derive.NAMES[column], " and ".join(words)))
    return "Not the same extensions as on bare metal: %s." % "; ".join(parts) if parts else ""


INTERRUPTS = {
    "exits/plic": "a level at a PLIC",
    "exits/aia-level": "a level at an AIA",
    "exits/aia-edge": "an edge at an AIA",
    "exits/msi-x": "MSI-X at an AIA",
}


def interrupts(data):
    """[(question, sentence, (head, rows), note)] of the exits of an interrupt; [] if not
    measured."""
    columns = [c for c in TALLYS
               if None not in [derive.figure(data, f"calls/{c}", row) for row in INTERRUPTS]]
    if not columns:
        return []
    rows = [[name] + [number(derive.figure(data, f"calls/{c}", row)) for c in columns]
            for row, name in INTERRUPTS.items()]
    free = [row[0] for row in rows if set(row[1:]) == {"0"}]
    said = "None for %s." % " and ".join(free) if free else "Each has some."
    return [("How many exits does an interrupt of a device cost?", said,
             (["exits of each"] + [derive.NAMES[c] for c in columns], rows), "")]


QUESTIONS = (
    ("What does it cost to have a PMU?", having, "alone"),
    ("What does it cost to count?", counting, "stat-2"),
    ("What does it cost to sample?", sampling, "record-1000"),
)


def of(data):
    """[(question, sentence, (head, rows), note)] of what was measured."""
    apart = unlike(data, derive.THREE_WAY)
    found = [(question, answer(data), table_of(data, condition),
              " ".join(filter(None, (fewer(data, condition), apart))))
             for question, answer, condition in QUESTIONS]
    return [each for each in found if each[1]]
