# SPDX-License-Identifier: Apache-2.0
"""The words on the bars of tools/tally-trace, for each cause of an exit."""

import re

import pytest

import harness
from tracelib import names, records

PC = 0x80200000


def stay(cause, *values):
    """A STAY that begins so."""
    return records.Record(0, 0, records.STAY, 0, 0, [0, 0, 0, 0, PC, *values], cause=cause,
                          instructions=7)


@pytest.mark.parametrize("cause, values, name, fields", [
    (10, (0x504d55, 3), "PMU counter_start", {}),
    (21, (0x10001002, 0x10001000), "load", {"address": "0x10001002"}),
    (22, (0x10500073, 0), "wfi", {"instruction": "0x10500073"}),
    (22, (0xc0102573, 0), "csr", {"instruction": "0xc0102573", "csr": "0xc01"}),
    (13, (0x1234, 0), "load page fault", {"stval": "0x1234"}),
    (12, (0x1234, 0), "instruction page fault", {"stval": "0x1234"}),
    (5, (0x1234, 0), "load access fault", {"stval": "0x1234"}),
    (2, (0, 0), "illegal instruction", {"stval": "0x0"}),
    (14, (0, 0), "exception 14", {"stval": "0x0"}),
    (records.INTERRUPT | 5, (), "timer", {}),
    (records.INTERRUPT | 40, (), "interrupt 40", {})])
def test_words(cause, values, name, fields):
    assert names.of_exit(stay(cause, *values)) == (
        name, {"instructions": 7, "pc": hex(PC), **fields})


def test_no_exception_is_a_number():
    """Each that Tally's sources know has words."""
    text = (harness.ROOT / "arch/riscv/hart/csr.h").read_text(encoding="utf-8")
    causes = {int(number) for number in re.findall(r"#define CAUSE_[A-Z_]+ +(\d+)\n", text)}
    assert 12 in causes
    for cause in causes:
        assert not names.of_exit(stay(cause, 0, 0))[0].startswith("exception"), cause
