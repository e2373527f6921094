# SPDX-License-Identifier: Apache-2.0
"""Two filters of one event at once in a Debian guest: both are counted all the time, and exactly,
also beside a neighbour that does the same."""

import harness
from platforms import instret_is_alike

KNOWN = 50000000
PERIOD = 100000
STAT = f"""
echo stat
perf stat -x, -e {{events}} work {KNOWN} 2>&1
"""
RECORD = f"""
for event in {{events}}; do
perf record -q -e $event:u -e $event:k -c {PERIOD} -o /tmp/data work {KNOWN} 2>&1
echo "record: $(perf script -i /tmp/data -F event 2>/dev/null | sort | uniq -c | tr -s ' \\n' ' ')"
done
"""


def events(names):
    """Each with both filters."""
    return [f"{name}:{mode}" for name in names for mode in "uk"]


def check_stat(lines, names):
    """perf's fields: count, unit, event, time_running, share of the time."""
    at = lines.index("stat") + 1
    rows = [line.split(",") for line in lines[at : at + 2 * len(names)]]
    assert [row[2] for row in rows] == events(names)
    assert {row[4] for row in rows} == {"100.00"}
    counts = {row[2]: int(row[0]) for row in rows}
    assert {counts[f"{name}:u"] for name in names} == {KNOWN}
    # The same kernel work on all counters, but for what lies between their starts and stops.
    kernel = [counts[f"{name}:k"] for name in names]
    bounds = [KNOWN // 20, *kernel, 0]
    assert bounds == sorted(set(bounds), reverse=True)
    return counts


@harness.short_on("ssccfg")
def test_two_filters(tmp_path, backend):
    """Of instructions only where guests get instret."""
    names = ["cycles"] + ["instructions"] * instret_is_alike()
    stat = STAT.format(events=",".join(events(names)))
    record = RECORD.format(events=" ".join(names))
    tree = harness.linux_tree(tmp_path, {"alpha": stat + record, "beta": stat})
    result = harness.run(tree, backend=backend)
    assert result.status == harness.OK, str(result)
    beta = check_stat(result.guest_output("beta", "beta"), names)
    lines = result.guest_output("alpha", "alpha")
    counts = check_stat(lines, names)
    print(counts, beta)
    records = [line.split()[1:] for line in lines if line.startswith("record: ")]
    for event, row in zip(names, records, strict=True):
        # Pairs of a number and an event. Of user space's samples none is lost; of the kernel's
        # there are as many as periods in what was counted above, and perf record itself is longer
        # at it.
        samples = dict(zip((name.rstrip(":") for name in row[1::2]), map(int, row[::2])))
        assert samples[f"{event}:u"] == KNOWN // PERIOD, row
        assert samples[f"{event}:k"] >= counts[f"{event}:k"] // PERIOD, row
