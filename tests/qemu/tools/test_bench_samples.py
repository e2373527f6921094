# SPDX-License-Identifier: Apache-2.0
"""Sixteen VMs that are sampled at once, by tools/bench-samples: none of their samples is lost, they
are as many as were asked for, and one costs what is allowed. For a second of the machine's time
here, for ten in the long form."""

import subprocess

import pytest

import harness
import schemas

TOOL = harness.ROOT / "tools" / "bench-samples"
RATES = [0, 1000, 16000]
MOST = 400  # instructions in HS of the exit in which a sample is taken, with ssccfg
MOST_SBI = 500  # HS alone: the firmware's are not among them


def bench(*arguments):
    """A run of the tool."""
    return subprocess.run([TOOL, *map(str, arguments)], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def judge(backend, seconds):
    """Measures, and checks each row."""
    # A ring holds a third of a second at the higher rate, which takes seconds of this computer. If
    # it gives none of them to who empties the rings, samples are lost: it is measured again then.
    for _ in range(3):
        done = bench("--seconds", seconds, "--on", backend, "--json")
        if done.returncode != 1:
            break
    assert done.returncode == 0, done.stderr
    rows = schemas.read("bench-samples", done.stdout)
    assert [row["hertz"] for row in rows] == RATES
    for row in rows:
        assert row["us"] >= seconds * 1000000
        if not row["hertz"]:
            assert row["samples"] == 0
            continue
        assert row["lost"] == row["late"] == 0
        assert row["arrived"] == row["samples"]
        # The VMs have the whole hart together. They begin and end one after the other, and the rate
        # is found by trying.
        assert 0.75 < row["samples"] / (row["hertz"] * row["us"] / 1000000) < 1.25, row
        most = harness.at_most(MOST_SBI if backend == "sbi" else MOST)
        assert 100 < row["hs_lcofi"] / row["samples"] <= most, row
    # Nobody pays who does not record.
    assert rows[0]["hs"] / rows[0]["us"] < rows[1]["hs"] / rows[1]["us"]


@harness.both_backends
def test_sixteen_vms(backend):
    judge(backend, 1)


@pytest.mark.long
@harness.both_backends
def test_sixteen_vms_for_long(backend):
    judge(backend, 10)


def test_wrong_use():
    """A sentence, and its status."""
    for seconds in ("0", "-1", "nan", "3601"):
        done = bench("--seconds", seconds)
        assert done.returncode == 2 and "bench-samples: error: --seconds" in done.stderr
