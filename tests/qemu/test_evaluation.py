# SPDX-License-Identifier: Apache-2.0
"""The verdict of docs/evaluation.md is of the tables that stand below it."""

import re

import pytest

import harness

PAGE = "docs/evaluation.md"
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


def text_of(path):
    return (harness.ROOT / path).read_text(encoding="utf-8")


def cells(path, begin):
    """The cells of the first row of a table that begins so."""
    row = re.findall(rf"^\| {re.escape(begin)} \|(.*)\|$", text_of(path), re.M)[0]
    return [cell.strip(" *") for cell in row.split("|")]


def column(path, row, name):
    """The number in a row, in the column that has that name in the table's head."""
    before = text_of(path).split(f"\n| {row} |")[0]
    head = re.findall(r"^\|(.*)\|\n\| ---", before, re.M)[-1]
    where = [cell.strip() for cell in head.split("|")].index(name)
    return float(cells(path, row)[where - 1].replace(",", ""))


@pytest.mark.parametrize("row", VERDICT)
def test_verdict(row):
    name, digits = VERDICT[row]
    base, ssccfg, sbi, kvm = cells(PAGE, row)
    bare = column(PAGE, name, "bare" if "/" in name else "opensbi")
    assert base == f"{bare:,.0f}"
    for shown, head in ((ssccfg, "ssccfg"), (sbi, "sbi"), (kvm, "kvm-6.12")):
        if shown != "not comparable":
            assert shown == f"{column(PAGE, name, head) / bare:,.{digits}f}", head
