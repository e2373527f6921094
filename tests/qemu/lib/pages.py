# SPDX-License-Identifier: Apache-2.0
"""Pages of the documentation: their text and their tables."""

import re

import harness

EVALUATION = "docs/evaluation.md"
FIGURES = "docs/evaluation-figures.md"


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
