# SPDX-License-Identifier: Apache-2.0
"""What `make run` shows: two Debian guests share one hart, and each count is exact."""

import pytest

import harness
import samples

KNOWN = 50000000


@pytest.fixture(scope="module", params=harness.backends_short_on("sbi"))
def run(request):
    return harness.run(harness.ROOT / "dts/two-linux.dts", backend=request.param,
                       options=["--expect", "report end 0"])


def test_both_end_well(run):
    assert run.status == harness.OK, str(run)
    assert run.own[-1] == "all VMs ended"
    assert "vm alpha: ended" in run.own and "vm beta: ended" in run.own


def test_boot_is_short(run):
    """However large the images are: kernels and initramfs have 75 MB."""
    (line,) = [line for line in run.own if "from entry to the first guest" in line]
    assert 500_000 < int(line.split()[0]) < 1_500_000, line


@pytest.mark.parametrize("name", ["alpha", "beta"])
def test_instructions_are_exact(run, name):
    report = run.guest_output(name, "report")
    assert f"work executes {KNOWN} instructions; perf counted {KNOWN}" in report


@pytest.mark.parametrize("name", ["alpha", "beta"])
def test_all_three_events_count(run, name):
    report = run.guest_output(name, "report")
    for event in ("cycles", "instructions", "dTLB-load-misses"):
        counted = [line.split()[0] for line in report if line.split()[1:2] == [event]]
        assert len(counted) == 1 and counted[0].isdigit(), report
    assert not [line for line in report if "<not" in line]


def test_the_readme_shows_it(run):
    """Whose line comes first is not said: the guests take turns."""
    (shown,) = [block for block in samples.blocks("README.md") if "tally: all VMs ended" in block]
    for line in shown:
        assert samples.missing([line], run.lines) is None


def test_a_guest_that_is_too_small_says_so(tmp_path):
    """Its kernel boots in 160 MiB, and unpacks as much of the initramfs as there is room for."""
    result = harness.run(harness.linux_tree(tmp_path, {"alpha": "true"}, memory=160))
    assert any("has too little memory for its initramfs" in line for line in result.vm("alpha"))
    assert any("needs 256 MiB" in line for line in result.vm("alpha"))
