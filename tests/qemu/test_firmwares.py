# SPDX-License-Identifier: Apache-2.0
"""docs/firmwares.md says what the self test finds on each firmware today."""

import subprocess

import firmwares
import harness

LOGS = harness.BUILD / "test/firmwares"
HOW = "tools/selftest-table build/test/firmwares/*.log >docs/firmwares.md brings it up to date"


def test_the_document_is_current():
    LOGS.mkdir(parents=True, exist_ok=True)
    logs = []
    for name, run in firmwares.FIRMWARES.items():
        lines = [line for bootargs in firmwares.ARGUMENTS for line in run(bootargs)]
        logs.append(LOGS / f"{name}.log")
        logs[-1].write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = subprocess.run([harness.ROOT / "tools/selftest-table", *logs], check=True,
                           capture_output=True, text=True).stdout
    text = (harness.ROOT / "docs/firmwares.md").read_text(encoding="utf-8")
    assert text == table, HOW
