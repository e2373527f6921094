# SPDX-License-Identifier: Apache-2.0
"""A Debian guest that spends its time with interrupts off, profiled by its own perf and from beside
(docs/profiling-exact.md, "Seen from both sides").

/proc/zoneinfo is printed with a zone's lock held and interrupts off. The overflow of the guest's
own counter is delivered when they are on again, so its perf shows the function that puts them on.
"""

import math
import re
import subprocess

import harness
from operators import MS
from perf_runs import TOOL
from perflib import samples, symbols
import replayed

# Longer than the reading of one. The guest's own period begins anew when interrupts are on, so a
# short one would end at the same few places each time.
PERIOD = 100003
LOAD = "cat $(yes /proc/zoneinfo | head -200) >/dev/null"
GUEST = f"""
perf record -q -e instructions:k -c {PERIOD} -o /tmp/data sh -c '{LOAD}' 2>&1
perf report -i /tmp/data --stdio --sort sym 2>/dev/null >/tmp/report
sed -n 's/^ *\\([0-9.]*\\)%.*\\[k\\] /is \\1 /p' /tmp/report
sed -n 's/.*Event count (approx.): /count /p' /tmp/report
{replayed.STARTS}
while true; do {LOAD}; done
"""
SEEN_BY_BOTH = "clear_page", "__rmqueue_pcplist", "free_unref_folios"
UNMASKS = "_raw_spin_unlock_irqrestore"
PRINTS = {"format_decode", "vsnprintf", "number", "string", "put_dec_trunc8", "skip_atoi"}
# How often it is looked at from beside, and for how many ticks. A ring then has room for all.
TIMES, SPAN = 8, 15 * MS
CALLERS = 12
# Standard deviations between two shares of the same thing.
SIGMAS = 4
IMAGE = harness.BUILD / "guest/Image"


def are_near(a, n_a, b, n_b):
    """Whether two numbers of samples can have these shares of one and the same thing."""
    both = (a * n_a + b * n_b) / (n_a + n_b)
    return abs(a - b) <= SIGMAS * math.sqrt(both * (1 - both) * (1 / n_a + 1 / n_b))


def report(samples_file, tmp_path):
    """{function: share} as perf's report has it of what was recorded from beside."""
    data, cache = tmp_path / "perf.data", tmp_path / "buildids"
    subprocess.run([TOOL, "export", "--buildid-dir", cache, "--symbols", IMAGE, "-o", data,
                    samples_file], check=True, timeout=harness.GUARD)
    told = subprocess.run(
        ["perf", "--buildid-dir", cache, "report", "-i", data, "--stdio", "--no-children", "-g",
         "none", "--sort", "sym"], check=True, timeout=harness.GUARD, capture_output=True,
        text=True)
    return {name: float(share) / 100
            for share, name in re.findall(r"(?m)^ *([\d.]+)% +\[\w\] (\S+)", told.stdout)}


def test_interrupts_off(tmp_path):
    """The guest's perf has next to nothing of what prints. From beside it is found there, with its
    interrupts off, and it is said who called it."""
    console, file = replayed.record_linux(
        tmp_path, GUEST, ("0x2:k", "instructions:k"), (PERIOD, CALLERS), SPAN, TIMES)
    inside = {name: float(share) / 100 for share, name in
              re.findall(r"is ([\d.]+) (\S+)", console)}
    beside = report(file, tmp_path)
    # What the guest's perf says.
    assert inside[UNMASKS] > 0.2
    assert sum(inside.get(function, 0) for function in PRINTS) < 0.02
    # What is so. Of what runs with interrupts on both have the same share.
    assert beside.get(UNMASKS, 0) < 0.01
    assert sum(beside[function] for function in PRINTS) > 0.2
    found = [s for s in samples.read(file.read_text(encoding="utf-8").splitlines())
             if s.get("type") == "sample"]
    assert len(found) > 100 * TIMES
    n_inside = int(re.search(r"count (\d+)", console)[1]) // PERIOD
    masked = sum(s["masked"] for s in found) / len(found)
    assert are_near(inside[UNMASKS], n_inside, masked, len(found))
    for function in SEEN_BY_BOTH:
        assert are_near(inside.get(function, 0), n_inside, beside[function], len(found)), function
    kernel = symbols.load(IMAGE)

    def name(address):
        return (kernel.find(int(address, 16)) or (address,))[0]

    prints = [s for s in found if name(s["ip"]) in PRINTS]
    from_zoneinfo = [s for s in prints if "zoneinfo_show" in map(name, s["callchain"])]
    assert len(from_zoneinfo) > 0.9 * len(prints)
    assert all(s["masked"] for s in from_zoneinfo)
