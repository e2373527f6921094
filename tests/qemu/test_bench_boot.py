# SPDX-License-Identifier: Apache-2.0
"""What a boot costs does not grow unnoticed, and stays below what is promised of it."""

import json
import subprocess

import pytest

import harness
import plain

TOOL = harness.ROOT / "tools" / "bench-boot"
ACCEPTED = harness.ROOT / "tests" / "bench" / "boot.json"
PAGE = harness.ROOT / "docs" / "evaluation.md"


def bench(*arguments):
    """A run of the tool."""
    plain.make("build/guests/bench.bin")
    plain.make("build/bench/boot.so")
    return subprocess.run([TOOL, "--timeout", str(harness.GUARD), *arguments], text=True,
                          check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.fixture(scope="module", name="run")
def run_of():
    """The finished run, {row: {back end: instructions}}"""
    done = bench("--json", "--against", ACCEPTED)
    return done, json.loads(done.stdout)


def test_no_boot_has_grown(run):
    done, _ = run
    assert done.returncode == 0, done.stderr


def test_a_boot_is_short(run):
    """Without clearing memory, copying images, and waiting for harts, which is next to nothing."""
    _, rows = run
    for backend in harness.BACKENDS:
        for harts in (1, 4):
            boot = rows[f"{harts}/boot"][backend]
            assert 100_000 < boot < 1_000_000 + (harts - 1) * 600_000, (harts, backend)
            assert rows[f"{harts}/wait"][backend] < 1000 * harts


def test_memory_is_cleared_by_blocks(run):
    """Where the host has Zicboz; all that Tally itself clears is in the row, too."""
    _, rows = run
    for backend in harness.BACKENDS:
        assert 16 << 20 < 64 * rows["1/clear"][backend] and rows["1/clear"][backend] < (
            0.05 * (16 << 20)), backend


def test_harts_clear_side_by_side(run):
    """Each of four harts with a VM of 64 MiB clears and loads its own: three more VMs cost less
    than half of one. On one hart the first of four waits for more than two others."""
    _, rows = run
    for backend in harness.BACKENDS:
        vm = rows["1/1/guests"][backend] - rows["1/boot"][backend]
        assert rows["4/4/guests"][backend] - rows["4/1/guests"][backend] < vm / 2
        assert rows["1/4/guests"][backend] - rows["1/1/guests"][backend] > 2 * vm


def test_growth_is_noticed(run, tmp_path):
    """The same comparison, with an accepted figure that is 3 % too low."""
    done, rows = run
    file, lower = tmp_path / "measured.json", tmp_path / "accepted.json"
    file.write_text(done.stdout, encoding="ascii")
    rows = json.loads(done.stdout)
    rows["4/look-ups"]["sbi"] = round(rows["4/look-ups"]["sbi"] * 0.97)
    lower.write_text(json.dumps(rows), encoding="ascii")
    again = bench("--table", file, "--against", lower)
    assert again.returncode == 1
    assert [line.split(" ")[1:3] for line in again.stderr.splitlines()] == [["4/look-ups",
                                                                             "(sbi):"]]


def test_the_page_has_the_accepted_figures():
    done = bench("--markdown", "--table", ACCEPTED)
    assert done.returncode == 0, done.stderr
    assert done.stdout in PAGE.read_text(encoding="utf-8")
