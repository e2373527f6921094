# SPDX-License-Identifier: Apache-2.0
"""Tally's lines about the lives of a VM: how they ended, and that the next one is fresh."""

import re

NEW_LIFE = "life: fresh 1, dirty words 0, pmu 0, early 1, counted 2001"
WARDEN_LINES = ["stopped", "starts again"] * 3 + ["stopped"]


def told(result, name):
    """Tally's lines about a VM from its start on, but for registers and exits."""
    boot = next(n for n, line in enumerate(result.own) if "to the first guest" in line)
    lines = [line.removeprefix(f"vm {name}: ") for line in result.own[boot:]
             if line.startswith(f"vm {name}: ")]
    return [line for line in lines if not line.startswith("vcpu ")]


def registers(result, name):
    """{register: value} of the lines behind a failure, which are no more than ten."""
    lines = [line for line in result.own
             if re.match(rf"vm {name}: vcpu \d+: ", line) and ": exits " not in line]
    assert len(lines) == 10, str(result)
    return {name: int(value, 16) for line in lines
            for name, value in re.findall(r" ([a-z]+[0-9]*) ([0-9a-f]+)(?= |$)",
                                          line.split(": ", 2)[2].join("  "))}


def ends_of(result, name):
    """Tally's lines about a VM, but for those at boot, registers and exits."""
    lines = [line.removeprefix(f"vm {name}: ") for line in result.own
             if line.startswith(f"vm {name}: ")]
    return [line for line in lines if line in ("stopped", "starts again", "ended")
            or line.startswith(("failed", "stays off"))]
