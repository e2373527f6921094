# SPDX-License-Identifier: Apache-2.0
"""docs/firmwares.md says what the self test finds on each firmware, by version. Of a version that
tests/peers.toml does not know the page need not speak."""

import re
import subprocess

import pytest

import firmwares
import harness
import peers
import platforms
from tallylib import peer_record

LOGS = harness.BUILD / "test/firmwares"
DOCUMENT = harness.ROOT / "docs/firmwares.md"


def document_of(runs):
    """What tools/pages/selftest-table makes of runs {NAME: function}; the logs stay."""
    LOGS.mkdir(parents=True, exist_ok=True)
    logs = []
    for name, run in runs.items():
        lines = [line for bootargs in firmwares.ARGUMENTS for line in run(bootargs)]
        logs.append(LOGS / f"{name}.log")
        machine = peers.machine(None, "forky" if name == "opensbi-newest" else None)
        logs[-1].write_text("\n".join([f"machine: {machine}", *lines]) + "\n", encoding="utf-8")
    return subprocess.run([harness.ROOT / "tools/pages/selftest-table", *logs], check=True,
                          capture_output=True, text=True).stdout


def columns(text):
    """{firmware: (its row of the first table, what is said of it)}"""
    rows = dict(re.findall(r"^\| ((?:OpenSBI|KVM|Tally)[^|]*) (\| .*)$", text.split("## ")[0],
                           re.M))
    said = dict(re.findall(r"^## ((?:OpenSBI|KVM|Tally).*?) \(SBI .*?\)\n(.*?)(?=^## )", text,
                           re.M | re.S))
    assert rows.keys() == said.keys()
    return {name: (rows[name], said[name]) for name in rows}


def check(runs):
    """Compares the page with runs."""
    found = columns(document_of(runs))
    text = columns(DOCUMENT.read_text(encoding="utf-8"))
    new = found.keys() - text.keys()
    if new and {"OpenSBI", "KVM"} >= {name.split()[0].strip(",") for name in new}:
        peers.notes.append(f"docs/firmwares.md does not know {', '.join(sorted(new))} "
                           f"({peer_record.HOW})")
        found = {name: said for name, said in found.items() if name in text}
    assert {name: text.get(name) for name in found} == found, peer_record.HOW


@pytest.mark.peer
def test_the_document_is_current():
    """Of what this machine has."""
    platforms.want_redirects()
    check(firmwares.FIRMWARES)


@pytest.mark.peer
@pytest.mark.long
def test_all_of_it_is_current():
    """With what is newest in Debian, and case by case where the page is of the same versions."""
    runs = firmwares.FIRMWARES | firmwares.NEWEST
    check(runs)
    made, text = document_of(runs), DOCUMENT.read_text(encoding="utf-8")
    if columns(made).keys() == columns(text).keys():
        assert text == made, peer_record.HOW
