# SPDX-License-Identifier: Apache-2.0
"""Two filters of one event at once in a Debian guest: both are counted all the time, and exactly."""

import pytest

import bare_guests
import harness

KNOWN = 50000000
PERIOD = 100000
STAT = f"""
echo counted
perf stat -x, -e cycles:u,cycles:k,instructions:u,instructions:k work {KNOWN} 2>&1
"""
RECORD = f"""
for event in instructions cycles; do
perf record -q -e $event:u -e $event:k -c {PERIOD} -o /tmp/data work {KNOWN} 2>&1
echo "$event: $(perf script -i /tmp/data -F event 2>/dev/null | sort | uniq -c | tr -s ' \\n' ' ')"
done
"""


@harness.both_backends
def test_two_filters(tmp_path, backend):
    tree = harness.linux_tree(tmp_path, {"alpha": STAT + RECORD, "beta": STAT})
    result = harness.run(tree, backend=backend)
    assert result.status == harness.OK, str(result)
    for vm in "alpha", "beta":
        print("\n".join(result.guest_output(vm, vm)))
    assert 0
