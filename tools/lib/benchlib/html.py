# SPDX-License-Identifier: Apache-2.0
"""The report: one file that needs nothing else."""

from html import escape  # pylint: disable=import-self

from benchlib import answers, conclusions, derive, plots, table
from benchlib.compare import number

STYLE = """
:root { color-scheme: light dark; --text: #222; --page: #fff; --faint: #555; --line: #ddd;
--box: #f4f4f4; --off: #a33 }
@media (prefers-color-scheme: dark) { :root { --text: #ddd; --page: #161616; --faint: #aaa;
--line: #3a3a3a; --box: #242424; --off: #f88 } }
body { font: 16px/1.5 sans-serif; max-width: 66em; margin: 2em auto; padding: 0 1em;
color: var(--text); background: var(--page) }
dl dl { margin: 0 } h1 { font-size: 1.6em } h2 { font-size: 1.25em; margin-top: 2em;
border-top: 1px solid var(--line); padding-top: .8em } dt { font-weight: bold; margin-top: .8em }
dd { margin: .2em 0 0 0 } p.how { color: var(--faint) }
table { border-collapse: collapse; font-size: 13px; margin: .5em 0 } td, th { padding: 1px 8px;
text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap }
td:first-child, th:first-child { text-align: left } details { margin: 1em 0 }
.wide { overflow-x: auto } img { max-width: 100% }
summary { cursor: pointer; font-weight: bold } .off { color: var(--off) }
pre { font-size: 12px; overflow-x: auto; background: var(--box); padding: .6em }
@media (max-width: 600px) { td:first-child, th { white-space: normal } }
@media print { :root { color-scheme: light; --text: #222; --page: #fff; --faint: #555;
--line: #ddd; --box: #f4f4f4; --off: #a33 } body { margin: 0; max-width: none }
h2, summary { break-after: avoid } table, img { break-inside: avoid }
.wide, pre { overflow: visible } td, th, pre { white-space: pre-wrap } }
"""

INTRODUCTION = """
<p>Tally is a hypervisor whose guests get a performance monitoring unit that counts exactly. This
is what that costs. Every figure is a number of <b>instructions of all privilege levels</b>, guest,
hypervisor and firmware together, from the start of something to its end: in this machine (QEMU,
<code>-icount shift=0</code>) an instruction takes a nanosecond, so a guest that reads the time
sees everything that is done for it. It says how much is executed, and nothing about caches or
pipelines of a real processor.</p>
<p><b>Bare metal</b> is Debian's kernel on OpenSBI alone, <b>Tally</b> the same kernel in a guest,
with one of two ways to drive the hart's counters (<b>ssccfg</b>: delegated to the hypervisor;
<b>sbi</b>: by calls to the firmware){kvm}.</p>
"""
KVM = ", and <b>KVM</b> the same kernel in a guest of Linux on the same machine"

WORDS = """
<details><summary>Words and workloads</summary><dl>
<dt>hart</dt><dd>a processor core of RISC-V; all here is on one</dd>
<dt>exit</dt><dd>the hypervisor interrupts the guest to do something for it; a <i>world switch</i>
gives the hart to another guest</dd>
<dt>reads direct, trapped</dt><dd>the guest reads a hardware counter by one instruction, or the
hypervisor reads it for the guest, at the price of an exit</dd>
<dt>snapshot</dt><dd>counts are passed on in a page of memory (a function of SBI 2.0), when a
counter stops</dd>
<dt>live counter</dt><dd>one that runs when the guest loses the hart</dd>
<dt>SBI call</dt><dd>a call to the firmware, or to the hypervisor, which is the guest's
firmware</dd>
<dt>alone, stat-N, record-N</dt><dd>the workload without perf; under perf stat with N events; under
perf record with N samples a second</dd>
<dt>compute, syscalls, memory</dt><dd>a loop of arithmetic; getppid again and again; steps through
a list</dd>
<dt>pipe, forks, gzip</dt><dd>a byte there and back between two processes; fork, exit and wait;
busybox's gzip of 64 KiB</dd></dl></details>
"""

# Title, picture, how to read it; what of KVM must have been measured for a further sentence, and
# that.
PICTURES = (
    ("What single operations cost", plots.calls,
     "Shorter is better; the scale is logarithmic, each step to the right is ten times as much. ",
     "calls", "All of KVM's reads trap. It has no row for samples: half of its overflows are "
              "swallowed by "
     "QEMU, and the guest would wait for ever."),
    ("What sampling costs, against its rate", plots.rates,
     "Each line is one machine; lower is better. A workload under perf record takes so many "
     "percent longer than without, on the same machine. Where a line lies on bare metal's, "
     "virtualization adds nothing to it. ",
     "record", "KVM's lines are low because QEMU keeps most samples from it (the table of samples "
               "is "
     "below), and not because its samples are cheap."),
    ("What a world switch costs, against live counters", plots.switch,
     "Two VMs give the hart to each other. Left: none of them counts. Full lines: both count the "
     "same events, so each switch takes the counters from the other. Dotted: the neighbour counts "
     "nothing, and the counters wait untouched.", None, ""),
    ("What company costs", plots.scaling,
     "1, 2, 4 and 8 guests do the same at once on one hart. A flat line says that a guest's work "
     "costs the same, however many there are. Dotted: without perf; dashed: under perf stat with "
     "two events; full: under perf record at 1 kHz.", None, ""),
    ("The same work, beside bare metal", plots.three_way,
     "How much more is executed for the same work than on bare metal under the same condition; "
     "bars to the left are cheaper than bare metal. ",
     "record", "Under perf record KVM is flattered: on this QEMU it gets only a few of its "
               "samples, see "
     "the table of samples."),
)


def html_table(head, rows):
    """A table; cells are text already."""
    lines = ["<div class=wide><table><tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in head) +
             "</tr>"]
    lines += ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows]
    return "\n".join(lines + ["</table></div>"])


def whole(text):
    """A number stays with its unit."""
    return text.replace(" %", "&nbsp;%")


def questions(data):
    """Answers first: a sentence, its figures and a note each."""
    return "\n".join(
        f"<h2>{question}</h2><p><b>{whole(escape(sentence))}</b></p>" +
        html_table(head, [[escape(cell) for cell in row] for row in rows]) +
        (f"<p class=how>{whole(escape(note))}</p>" if note else "")
        for question, sentence, (head, rows), note in conclusions.of(data) + answers.of(data))


def kvm_was_measured(data, what):
    """calls: single operations; record: under perf record; any: at all."""
    runs = [(name, run) for name, run in data["runs"].items() if "/kvm" in name]
    if what == "calls":
        return any(name.startswith("calls/") for name, _ in runs)
    if what == "record":
        return any("/record" in row for _, run in runs for row in run.get("figures", {}))
    return what == "any" and bool(runs)


def pictures(data):
    """Each picture with its sentence, and narrow for a telephone."""
    lines = []
    for title, draw, how, of_kvm, more in PICTURES:
        figure = draw(data, False)
        if figure is not None:
            how += more if kvm_was_measured(data, of_kvm) else ""
            lines.append(f'<h2>{title}</h2><p class=how>{how}</p><picture>'
                         f'<source media="(max-width: 600px)" '
                         f'srcset="{plots.image(draw(data, True))}">'
                         f'<img alt="{title}" src="{plots.image(figure)}"></picture>')
    return "\n".join(lines)


def taken_samples(data, column, rate):
    """As text."""
    taken = derive.samples(data, f"linux/{column}", f"record-{rate}")
    return "-" if taken is None else f"{taken:,}"


def sampling(data):
    """Overhead in guests beside bare metal's, and how many samples were taken."""
    head = ("workload, rate", "more work with perf: guest", "bare metal",
            "with / without: guest to bare metal",
            "overhead: guest / bare metal", "samples, in all: guest, bare metal")
    rows = {}
    for column, workload, rate, here, bare, certain in derive.recording(data):
        apart, part = derive.beside_bare(here, bare)
        rows.setdefault(column, []).append(
            (f"{workload}, {rate} Hz", f"{here:.3f} %", f"{bare:.3f} %", f"{apart:+.2f} %",
             f"{part:.2f}" if certain else "<span class=off>in the noise</span>",
             ", ".join(taken_samples(data, where, rate) for where in (column, "bare"))))
    if not rows:
        return ""
    text = ("<h2>perf record in a guest beside bare metal</h2><p class=how>How much more is "
            "executed for a workload under perf record than without it, each compared with its own "
            "machine, and two ways to set the guest beside bare metal: how far its ratio of work "
            "with perf to work without is from bare metal's ratio, and what part of bare metal's "
            "overhead its overhead is (below 1: cheaper). <i>In the noise</i>: the overhead is "
            "less than three times what parts of one run lie apart. An overhead is for the samples "
            "beside it, those of all workloads together: who took fewer looks cheaper than he "
            "is.</p>")
    for column, lines in rows.items():
        text += (f"<details{' open' if column == 'ssccfg' else ''}>"
                 f"<summary>{derive.NAMES[column]}</summary>" +
                 html_table(head, lines) + "</details>")
    counted = [c for c in derive.present(data, "linux", tuple(derive.NAMES))
               if derive.samples(data, f"linux/{c}", "record-1000") is not None]
    rates = [r for r in (100, 1000, 10000)
             if any(derive.samples(data, f"linux/{c}", f"record-{r}") is not None for c in counted)]
    cells = [[derive.NAMES[c]] + [str(derive.samples(data, f"linux/{c}", f"record-{r}") or "-")
                                 for r in rates] for c in counted]
    why = ("Few in KVM's rows are QEMU's doing, few in those with the snapshot the Linux driver's "
           "(docs/guests.md)." if kvm_was_measured(data, "record") else "")
    return text + (f"<p>Samples that perf took in all workloads together. {why}</p>" +
                   html_table(["where"] + [f"{r} Hz" for r in rates], cells))


def tables(data):
    """All figures."""
    lines = ["<h2>All figures</h2>"]
    for family, rows, columns, cells in table.groups(data):
        body = [[escape(row)] +
                [number(cells[row, c]) if (row, c) in cells else "-" for c in columns]
                for row in rows]
        lines.append(f"<details><summary>{escape(table.TITLES.get(family, family))}</summary>" +
                     html_table([""] + columns, body) + "</details>")
    return "\n".join(lines)


def how_made(data):
    """Versions, commands, and whether two runs gave the same."""
    commands = "\n".join(f"# {name} ({run['seconds']} s)\n" +
                         "\n".join(run["commands"] + run.get("trees", []))
                         for name, run in data["runs"].items())
    failed = [f"<p class=off>{escape(name)} did not come to its end.</p>"
              for name, run in data["runs"].items() if "failure" in run]
    return ("<h2>How this was made</h2>" + "".join(failed) +
            f"<p>{escape(conclusions.alike(data) or '')}</p>"
            f"<p>{escape(table.determinism(data))}</p>" +
            html_table(("what", "version"),
                       [(escape(what), escape(version))
                        for what, version in data["versions"].items()]) +
            f"<p>tools/bench --set {data['set']}; the method is in docs/evaluation-method.md.</p>"
            f"<details><summary>Commands</summary><pre>{escape(commands)}</pre></details>")


def report(data):
    """The whole file."""
    introduction = INTRODUCTION.format(kvm=KVM if kvm_was_measured(data, "any") else "")
    return ("<!DOCTYPE html>\n<html lang=en><meta charset=utf-8>"
            "<meta name=viewport content=\"width=device-width, initial-scale=1\">"
            f"<title>What a virtual PMU costs</title><style>{STYLE}</style>\n"
            "<h1>What a virtual PMU costs</h1>" + introduction + questions(data) + WORDS +
            pictures(data) + sampling(data) + tables(data) + how_made(data) + "</html>\n")
