# SPDX-License-Identifier: Apache-2.0
"""Two filters of one event at once in a Debian guest: both are counted all the time, and exactly,
also beside a neighbour that does the same."""

import harness

KNOWN = 50000000
PERIOD = 100000
STAT = f"""
echo stat
perf stat -x, -e cycles:u,cycles:k,instructions:u,instructions:k work {KNOWN} 2>&1
"""
RECORD = f"""
for event in instructions cycles; do
perf record -q -e $event:u -e $event:k -c {PERIOD} -o /tmp/data work {KNOWN} 2>&1
echo "record: $(perf script -i /tmp/data -F event 2>/dev/null | sort | uniq -c | tr -s ' \\n' ' ')"
done
"""
EVENTS = ["cycles:u", "cycles:k", "instructions:u", "instructions:k"]


def check_stat(lines):
    """perf's fields: count, unit, event, time_running, share of the time."""
    at = lines.index("stat") + 1
    rows = [line.split(",") for line in lines[at : at + 4]]
    assert [row[2] for row in rows] == EVENTS
    assert [row[4] for row in rows] == ["100.00"] * 4
    counts = {row[2]: int(row[0]) for row in rows}
    assert counts["cycles:u"] == counts["instructions:u"] == KNOWN
    # The same kernel work on all four counters, but for what lies between their starts and stops.
    assert 0 < counts["instructions:k"] < counts["cycles:k"] < 0.05 * KNOWN
    return counts


@harness.short_on("ssccfg")
def test_two_filters(tmp_path, backend):
    tree = harness.linux_tree(tmp_path, {"alpha": STAT + RECORD, "beta": STAT})
    result = harness.run(tree, backend=backend)
    assert result.status == harness.OK, str(result)
    beta = check_stat(result.guest_output("beta", "beta"))
    lines = result.guest_output("alpha", "alpha")
    counts = check_stat(lines)
    print(counts, beta)
    records = [line.split()[1:] for line in lines if line.startswith("record: ")]
    for event, row in zip(("instructions", "cycles"), records, strict=True):
        # Pairs of a number and an event. Of user space's samples none is lost; of the kernel's
        # there are as many as periods in what was counted above, and perf record itself is longer
        # at it.
        samples = dict(zip((name.rstrip(":") for name in row[1::2]), map(int, row[::2])))
        assert samples[f"{event}:u"] == KNOWN // PERIOD, row
        assert samples[f"{event}:k"] >= counts[f"{event}:k"] // PERIOD, row
