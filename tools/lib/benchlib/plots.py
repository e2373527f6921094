# SPDX-License-Identifier: Apache-2.0
"""The report's pictures. Each function gives a figure, or None if what it shows was not measured.
A narrow one is for a page of 400 pixels: it has its parts below each other.
"""

import base64
import io
import textwrap

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from benchlib import conclusions, derive, guests

# Told apart by people who do not see colours alike, and by their marks.
# FRONT becomes what the reader's browser writes with, dark or light.
FRONT = "#010203"
COLOURS = {"bare": FRONT, "opensbi": FRONT, "ssccfg": "#1c86c7", "sbi": "#e69f00",
           "kvm-6.12": "#cc79a7", "kvm-new": "#a8447f"}
CONDITIONS = {"alone": "without perf", "stat-2": "under perf stat",
              "record-1000": "under perf record, 1 kHz"}
MARKS = {"bare": "s", "ssccfg": "o", "sbi": "D", "kvm-6.12": "^", "kvm-new": "v"}
plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False,
                     "axes.grid": True, "grid.alpha": 0.3, "svg.hashsalt": "tally",
                     "figure.constrained_layout.use": True,
                     **{key: FRONT for key in ("text.color", "axes.edgecolor", "axes.labelcolor",
                                               "xtick.color", "ytick.color", "axes.titlecolor")},
                     **{key: "none" for key in ("figure.facecolor", "axes.facecolor",
                                                "savefig.facecolor", "legend.facecolor")}})
NARROW = 4.2  # inches: of a picture that 400 pixels show with letters of their size
STYLE = ("<style>:root{color:#222}@media(prefers-color-scheme:dark){:root{color:#ddd}}</style>")


def image(figure):
    """A figure as an address that holds it."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    plt.close(figure)
    text = buffer.getvalue().decode().replace(FRONT, "currentColor")
    text = text.replace("<defs>", STYLE + "<defs>", 1)
    return "data:image/svg+xml;base64," + base64.b64encode(text.encode()).decode()


def parts(count, size, narrow, **shared):
    """A figure and its axes: `count` beside each other, of that size in all; narrow: below each
    other."""
    width, height = (NARROW, size[1] * count * 0.8 + 0.6) if narrow and count > 1 else \
        (NARROW if narrow else size[0], size[1])
    figure, axes = plt.subplots(*((count, 1) if narrow else (1, count)), figsize=(width, height),
                                squeeze=False, **shared)
    return figure, axes.flatten()


def words(text, narrow):
    """A title or label, in lines that are as wide as the figure."""
    return "\n".join(textwrap.wrap(text, 42)) if narrow else text


def legend_above(figure, handles, labels, columns):
    """A legend that lies on no line, in so many columns; the empty title keeps the place for it."""
    figure.suptitle("\n" * -(-len(labels) // columns), fontsize=8)
    figure.legend(handles, labels, fontsize=8, loc="upper center", ncols=columns, frameon=False)


def bars(axes, rows, columns, value, log=False, label="{:,.0f}".format, legend=True):
    """Groups of horizontal bars, the first row on top. value(row, column): a number or None."""
    height = 0.8 / len(columns)
    for i, column in enumerate(columns):
        for j, row in enumerate(rows):
            number = value(row, column)
            if number is None:
                continue
            y = j + (i - (len(columns) - 1) / 2) * height
            axes.barh(y, number, height * 0.92, color=COLOURS[column],
                      label=derive.NAMES[column] if j == 0 else None)
            axes.annotate(label(number), (max(number, 0), y), xytext=(3, 0),
                          textcoords="offset points", va="center", fontsize=7)
    axes.set_yticks(range(len(rows)), rows)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    if log:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(matplotlib.ticker.StrMethodFormatter("{x:,.0f}"))
    if not legend:
        return
    handles = [plt.Rectangle((0, 0), 1, 1, color=COLOURS[column]) for column in columns]
    side_by_side = len(columns) if axes.figure.get_figwidth() > NARROW else 2
    legend_above(axes.figure, handles, [derive.NAMES[column] for column in columns], side_by_side)


CALLS = ("base", "read-direct", "read-trapped", "config-same", "config-other", "start", "stop",
         "stop-read-start-four", "context-switch", "sample-1000")


def calls(data, narrow):
    """Cost per operation."""
    columns = derive.present(data, "calls", ("opensbi", "ssccfg", "sbi", "kvm-6.12", "kvm-new"))
    if not columns:
        return None
    names = {"base": "empty SBI call", "read-direct": "read a counter", "read-trapped":
             "read one that traps\n(elsewhere: does not)", "config-same": "configure, as before",
             "config-other": "configure anew", "start": "start one", "stop": "stop one",
             "stop-read-start-four": "stop, read, start four", "context-switch":
             "perf's context switch", "sample-1000": "1,000 instructions\nand a sample"}
    shown = {names[row]: row for row in CALLS
             if any(derive.figure(data, f"calls/{c}", row) for c in columns)}
    figure, (axes,) = parts(1, (9, 0.8 + 0.85 * len(shown)), narrow)
    bars(axes, list(shown), columns, lambda row, c: derive.figure(data, f"calls/{c}", shown[row]),
         True)
    axes.set_xlabel(words(
        "instructions of all privilege levels, to the next instruction of the guest", narrow))
    axes.margins(x=0.2 if narrow else 0.05)
    return figure


def rates(data, narrow):
    """Overhead of sampling against its rate."""
    columns = [c for c in derive.present(data, "linux", derive.THREE_WAY)
               if derive.overhead(data, f"linux/{c}", "compute", "record-100") is not None]
    if not columns:
        return None
    shown = ("compute", "pipe", "gzip")
    figure, all_axes = parts(len(shown), (10, 3.8), narrow, sharey=True)
    for axes, workload in zip(all_axes, shown):
        for column in columns:
            points = [(rate, derive.overhead(data, f"linux/{column}", workload, f"record-{rate}"))
                      for rate in guests.RATES]
            points = [(x, y) for x, y in points if y is not None and y > 0]
            axes.plot(*zip(*points) if points else ([], []), marker=MARKS[column],
                      color=COLOURS[column], label=derive.NAMES[column])
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(workload)
        axes.set_xticks(guests.RATES, ["100 Hz", "1 kHz", "10 kHz"])
        axes.minorticks_off()
        axes.margins(x=0.12)
        axes.set_xlabel("samples a second")
    all_axes[0].set_ylabel(words("percent more work than without perf", narrow))
    all_axes[0].yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda y, _: f"{y:g}"))
    all_axes[0].legend(fontsize=8)
    return figure


def switch(data, narrow):
    """What a world switch costs against the counters that are live."""
    columns = derive.present(data, "switch", ("ssccfg", "sbi"))
    if not columns:
        return None
    figure, (axes,) = parts(1, (7, 3.8), narrow)
    for column in columns:
        for row, style, what in (("switch", "-", "neighbour counts, too"),
                                 ("free", ":", "neighbour does not count")):
            points = []
            for n in range(6):
                value = derive.figure(data, f"switch/{column}", f"{row}/live-{n}")
                stay = derive.figure(data, f"switch/{column}", f"stay/live-{n}")
                if value is not None and stay is not None:
                    points.append((n, value - stay))
            axes.plot(*zip(*points), style, marker=MARKS[column], color=COLOURS[column],
                      label=f"{derive.NAMES[column]}, {what}")
    axes.set_xlabel("live counters of each VM")
    axes.set_ylabel("instructions of a world switch")
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=8)
    return figure


def scaling(data, narrow):
    """The price of company."""
    columns = [c for c in ("ssccfg", "sbi") if len(derive.per_guest(data, c, "compute/alone")) > 1]
    if not columns or 1 not in derive.per_guest(data, columns[0], "compute/alone"):
        return None
    figure, all_axes = parts(2, (10, 4.4), narrow, sharey=True)
    for axes, workload in zip(all_axes, ("compute", "pipe")):
        base = derive.per_guest(data, columns[0], f"{workload}/alone")[1]
        for column in columns:
            for condition, style in (("alone", ":"), ("stat-2", "--"), ("record-1000", "-")):
                points = derive.per_guest(data, column, f"{workload}/{condition}")
                axes.plot(list(points), [100 * (y - base) / base for y in points.values()], style,
                          marker=MARKS[column], color=COLOURS[column],
                          label=f"{derive.NAMES[column]}, {CONDITIONS[condition]}")
        axes.set_xscale("log", base=2)
        axes.set_xticks((1, 2, 4, 8), ("1", "2", "4", "8"))
        axes.set_title(workload)
        axes.set_xlabel("guests on the hart, all doing the same")
    all_axes[0].set_ylabel("percent more instructions for each guest\nthan for one guest without "
                           "perf")
    legend_above(figure, *all_axes[0].get_legend_handles_labels(), 1 if narrow else len(columns))
    return figure


def three_way(data, narrow):
    """Bare metal, Tally and KVM, as how much longer each workload takes."""
    columns = derive.present(data, "linux", derive.THREE_WAY[1:])
    if not columns or not derive.present(data, "linux", ("bare",)):
        return None
    rows = [w for w in guests.WORKLOADS
            if derive.figure(data, "linux/bare", f"{w}/alone") is not None]
    conditions = [c for c in CONDITIONS
                  if any(derive.figure(data, "linux/bare", f"{w}/{c}") is not None for w in rows)]
    if not rows:
        return None
    figure, all_axes = parts(len(conditions), (11, 1 + 0.75 * len(rows)), narrow, sharex=True,
                             sharey=True)
    for axes, condition in zip(all_axes, conditions):
        bars(axes, rows, columns,
             lambda row, c, condition=condition: derive.percent_more(
                 data, f"linux/{c}", f"{row}/{condition}", "linux/bare", f"{row}/{condition}"),
             label=conclusions.percent, legend=axes is all_axes[0])
        axes.set_title(CONDITIONS[condition])
        axes.margins(x=0.3)
        if axes is not all_axes[0]:
            axes.invert_yaxis()
    figure.supxlabel(words("percent more instructions than on bare metal under the same condition",
                           narrow), fontsize=10)
    return figure
