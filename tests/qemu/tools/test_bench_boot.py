# SPDX-License-Identifier: Apache-2.0
"""What a boot costs does not change unnoticed, and stays below what is promised of it."""

import json
import subprocess

import pytest

import harness
import plain

TOOL = harness.ROOT / "tools" / "bench-boot"
ACCEPTED = harness.ROOT / "tests" / "bench" / "boot.json"


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


def test_each_boot_is_as_recorded(run):
    done, _ = run
    assert done.returncode == 0, done.stderr


def test_a_boot_is_short(run):
    """Without clearing memory, copying images, and waiting for harts, which is next to nothing."""
    _, rows = run
    for backend in harness.BACKENDS:
        for harts in (1, 4):
            boot = rows[f"{harts}/boot"][backend]
            assert 100_000 < boot < 1_000_000 + (harts - 1) * 600_000, (harts, backend)
            # Harts that count in turns wait awake, so that they know what they execute.
            assert rows[f"{harts}/wait"][backend] < 1000 * harts + 20_000 * (harts - 1)


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


def test_a_difference_is_noticed(run, tmp_path):
    """The same comparison, with accepted figures that are 3 % too low or too high. Four harts take
    turns as they come, so what they do may be less."""
    done, rows = run
    file, other = tmp_path / "measured.json", tmp_path / "accepted.json"
    file.write_text(done.stdout, encoding="ascii")
    rows = json.loads(done.stdout)
    rows["4/look-ups"]["sbi"] = round(rows["4/look-ups"]["sbi"] * 0.97)
    rows["4/clear"]["sbi"] = round(rows["4/clear"]["sbi"] * 1.03)
    rows["1/copy"]["sbi"] = round(rows["1/copy"]["sbi"] * 1.03)
    other.write_text(json.dumps(rows), encoding="ascii")
    again = bench("--table", file, "--against", other)
    assert again.returncode == 1
    assert [line.split(" ")[1:3] for line in again.stderr.splitlines()] == [
        ["1/copy", "(sbi):"], ["4/look-ups", "(sbi):"]]
