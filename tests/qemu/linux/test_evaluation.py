# SPDX-License-Identifier: Apache-2.0
"""The verdict of docs/evaluation.md is of docs/evaluation-figures.md."""

import pytest

from pages import EVALUATION, FIGURES, cells, column

# Of the verdict's table: the row of the tables below, and how many digits the ratios have.
VERDICT = {
    "read of a counter": ("read-direct", 2),
    "start of a counter": ("start", 2),
    "perf's process switch, one event": ("context-switch", 2),
    "a loop, without perf": ("compute/alone", 3),
    "processes that fork, without perf": ("forks/alone", 3),
    "the same under `perf stat`, two events": ("forks/stat-2", 3),
    "the loop under `perf record`, 10 kHz": ("compute/record-10000", 3),
}


@pytest.mark.parametrize("row", VERDICT)
def test_verdict(row):
    name, digits = VERDICT[row]
    base, ssccfg, sbi, kvm = cells(EVALUATION, row)
    bare = column(FIGURES, name, "bare" if "/" in name else "opensbi")
    assert base == f"{bare:,.0f}"
    for shown, head in ((ssccfg, "ssccfg"), (sbi, "sbi"), (kvm, "kvm-6.12")):
        if shown != "not comparable":
            assert shown == f"{column(FIGURES, name, head) / bare:,.{digits}f}", head
