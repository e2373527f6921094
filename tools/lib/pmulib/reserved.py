# SPDX-License-Identifier: Apache-2.0
"""Names that would not mean the event where they are typed."""
import re

from perflib import events as perf_events

from .expressions import OPERATORS

GENERAL = {name.lower() for name in perf_events.GENERAL | perf_events.caches()}
# Of perf's util/parse-events.l: its software and tool events, ...
SOFTWARE = {
    "idle-cycles-frontend", "idle-cycles-backend", "cpu-clock", "task-clock", "page-faults",
    "faults", "minor-faults", "major-faults", "context-switches", "cs", "cpu-migrations",
    "migrations", "alignment-faults", "emulation-faults", "dummy", "duration_time", "user_time",
    "system_time", "bpf-output", "cgroup-switches",
}
# ... other words for the cache events, ...
CACHES = ("l1-d|l1d|L1-data|L1-dcache|l1-i|l1i|L1-instruction|L1-icache|LLC|L2|d-tlb|Data-TLB|dTLB|"
          "i-tlb|Instruction-TLB|iTLB|branch|branches|bpu|btb|bpc|node")
RESULTS = ("load|loads|read|store|stores|write|prefetch|prefetches|speculative-read|"
           "speculative-load|refs|Reference|ops|access|misses|miss")
# ... and a raw event, rNNN.
OTHERS = re.compile(rf"(?:{CACHES})(?:-(?:{RESULTS})){{0,2}}|r(?:0x)?[0-9a-fA-F]{{1,16}}")


def refusal(name, raw):
    """Why an event cannot be called so, or None. raw: perf knows events by these names."""
    if name in OPERATORS:
        return "is an operator of expressions"
    if raw and (name.lower() in GENERAL | SOFTWARE or OTHERS.fullmatch(name)):
        return "is a name of perf's own, which could then count this instead"
    return None
