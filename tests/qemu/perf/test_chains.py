# SPDX-License-Identifier: Apache-2.0
"""Chains of callers of a Debian kernel's samples lead to where the kernel was entered."""

import re

import pytest

from operators import MS
from perflib import samples
import replayed

# Of exceptions, system calls and interrupts; of a thread of the kernel; of the boot hart and of
# others, whose idle loops began there.
ENTRIES = "handle_exception", "ret_from_exception", "ret_from_fork", "_start_kernel", "smp_callin"
# What the kernel does in the samples: each must be on the way in some.
MIXED = "do_trap_ecall_u", "do_page_fault", "do_irq", "handle_softirqs", "kthread", "do_idle"
GUEST = f"""
grep -E -A1 ' ({'|'.join(ENTRIES + MIXED)})$' /proc/kallsyms | sed 's/^/symbol /'
{replayed.STARTS}
while true; do
 cat $(yes /proc/zoneinfo | head -20) >/dev/null
 head -c 400000 /dev/zero | gzip >/dev/null
 ls -lR /proc/1 >/dev/null 2>&1
 dd if=/dev/zero of=/tmp/x bs=4k count=200 2>/dev/null
 for i in 1 2 3 4 5 6 7 8 9; do sleep 0.01; done
done
"""
PERIOD, CALLERS = 150001, 64
# How often it is looked at, and for how many ticks. A ring then has room for all.
TIMES, SPAN = 60, 30 * MS


def ranges(console):
    """{function: where it is}, as the guest's own kernel says, up to the symbol that follows."""
    lines = [line.split() for line in re.findall(r"\] symbol ([0-9a-f]{16} .*)\r*", console)]
    return {name: range(int(at, 16), int(behind[0], 16))
            for (at, _, name, *_), behind in zip(lines, lines[1:]) if name in ENTRIES + MIXED}


@pytest.mark.long
def test_they_lead_to_an_entry(tmp_path):
    """At least 95 % of those of a mixed load do. Of the rest, most were in a function that has not
    made its frame, or in the entry's own code, where s0 is a process's."""
    console, file = replayed.record_linux(
        tmp_path, GUEST, ("0x2:k", "instructions:k"), (PERIOD, CALLERS), SPAN, TIMES)
    places = ranges(console)
    kernel = [[int(at, 16) for at in [sample["ip"], *sample.get("callchain", [])]]
              for sample in samples.read(file.read_text(encoding="utf-8").splitlines())
              if sample.get("type") == "sample" and sample["mode"] == "kernel"]
    assert len(kernel) > 20 * TIMES, len(kernel)
    # Where the chain ends is a return address, so the call is before it.
    ended = sum(any(chain[-1] - (len(chain) > 1) in places[entry] for entry in ENTRIES
                    if entry in places) for chain in kernel)
    assert ended >= 0.95 * len(kernel), f"{ended} of {len(kernel)}"
    for function in MIXED:
        assert any(at in places[function] for chain in kernel for at in chain), function
