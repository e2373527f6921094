# SPDX-License-Identifier: Apache-2.0
"""docs/firmwares.md says what the self test finds on each firmware today."""

import re
import subprocess

import pytest

import firmwares
import harness

LOGS = harness.BUILD / "test/firmwares"
DOCUMENT = harness.ROOT / "docs/firmwares.md"
HOW = ("MARKS= make test-qemu T=firmwares; "
       "tools/selftest-table build/test/firmwares/*.log >docs/firmwares.md")


def document_of(runs):
    """What tools/selftest-table makes of runs {NAME: function}; the logs stay."""
    LOGS.mkdir(parents=True, exist_ok=True)
    logs = []
    for name, run in runs.items():
        lines = [line for bootargs in firmwares.ARGUMENTS for line in run(bootargs)]
        logs.append(LOGS / f"{name}.log")
        logs[-1].write_text("\n".join(lines) + "\n", encoding="utf-8")
    return subprocess.run([harness.ROOT / "tools/selftest-table", *logs], check=True,
                          capture_output=True, text=True).stdout


def columns(text):
    """{firmware: (its row of the first table, what is said of it)}"""
    rows = dict(re.findall(r"^\| ((?:OpenSBI|KVM|Tally)[^|]*) (\| .*)$", text.split("## ")[0],
                           re.M))
    said = dict(re.findall(r"^## ((?:OpenSBI|KVM|Tally).*?) \(SBI .*?\)\n(.*?)(?=^## )", text,
                           re.M | re.S))
    assert rows.keys() == said.keys()
    return {name: (rows[name], said[name]) for name in rows}


def test_the_document_is_current():
    """Of what this machine has."""
    found = columns(document_of(firmwares.FIRMWARES))
    assert len(found) == 3
    text = columns(DOCUMENT.read_text(encoding="utf-8"))
    assert {name: text.get(name) for name in found} == found, HOW


@pytest.mark.long
def test_all_of_it_is_current():
    """With what is newest in Debian: that is another matter where Debian has moved on."""
    made = document_of(firmwares.FIRMWARES | firmwares.NEWEST)
    text = DOCUMENT.read_text(encoding="utf-8")
    moved = columns(made).keys() - columns(text).keys()
    if moved:
        pytest.skip(f"the document knows nothing of {', '.join(sorted(moved))} yet: {HOW}")
    assert text == made, HOW
