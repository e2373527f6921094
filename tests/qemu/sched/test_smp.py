# SPDX-License-Identifier: Apache-2.0
"""Guests with several vcpus, on one hart where counts are exact, and on several in any placement.
"""

import pytest

import bare_guests
from bare_guests import logistic
import boots
import harness
from platforms import vector_cpu

BACKENDS = ("sbi", "ssccfg")


def lanes(vcpu):
    """What guests/bare/vcpu/vector.S computes, in 16 elements of 64 bits."""
    lane = [vcpu + n for n in range(16)]
    for _ in range(20000):
        lane = [(x * 6364136223846793005 + 1442695040888963407) % 2**64 for x in lane]
    return sum(lane) % 2**64


def smp_lines(vcpus):
    """What a guest prints where counts are exact: of one vcpu, two, and so on."""
    lines = []
    for n in range(vcpus):
        one = 2 * (500000 + 1000 * n) + 1
        lines.append(f"smp: vcpu {n}: instructions {one}, cycles {one}, wrong 0, "
                     f"fp {logistic(n)}, errors 0, ipi 2")
    return lines + [f"smp: ends, {vcpus} vcpus, 0 bad"]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("vcpus", [1, 2, 4])
def test_counts_on_every_vcpu(tmp_path, backend, vcpus):
    """Two such guests on one hart: each vcpu's counts and floating point are its own."""
    guests = {"alpha": "kind=smp", "beta": "kind=smp"}
    result = bare_guests.boot(tmp_path, guests, backend=backend, vcpus=["0"] * vcpus)
    for name in guests:
        assert result.vm(name) == smp_lines(vcpus)


@pytest.mark.parametrize("backend", BACKENDS)
def test_hsm(tmp_path, backend):
    """States and errors; a vcpu that stopped itself leaves nothing of its PMU."""
    guests = {"alpha": "kind=hsm", "beta": "kind=busy ticks=500000"}
    result = bare_guests.boot(tmp_path, guests, backend=backend, vcpus=["0", "0"],
                              properties='pmu-snapshot = "on"; pmu-overflow = "on";')
    assert result.vm("alpha") == ["hsm: ends, 79 checks, 0 failed"]


PLACEMENTS = [
    (2, ("0", "1")),
    (2, ("1", "0")),
    (2, ("1", "1")),
    (2, ("0 1", "1 0", "0 1")),
    (3, ("2", "0", "1")),
    (4, ("0", "1", "2", "3")),
    (4, ("3", "2", "1", "0")),
    (4, ("3", "3", "0", "0")),
    (4, ("0 1 2 3", "1 2 3 0", "2 3 0 1", "3 0 1 2")),
    (8, ("0", "1", "2", "3", "4", "5", "6", "7")),
]


@pytest.mark.parametrize("harts, vcpus", PLACEMENTS)
def test_placements(tmp_path, harts, vcpus):
    """Profile smp: no count means anything, all else is as on one hart."""
    guests = {"alpha": "kind=smp rounds=1", "beta": "kind=hsm", "gamma": "kind=life"}
    result = bare_guests.boot(
        tmp_path, guests, status=harness.VM_FAILED, profile="smp", vcpus=vcpus,
        options=["--harts", harts], properties="restart-limit = <2>;")
    lines = result.vm("alpha")
    assert lines[-1] == f"smp: ends, {len(vcpus)} vcpus, 0 bad"
    for n, line in enumerate(lines[:-1]):
        assert line.startswith(f"smp: vcpu {n}: ")
        assert line.endswith(f", fp {logistic(n)}, errors 0, ipi 2")
    assert result.vm("beta") == ["hsm: ends, 79 checks, 0 failed"]
    assert [line.split(", early")[0] for line in result.vm("gamma")] == [
        "life: fresh 1, dirty words 0, pmu 0"] * 3


@pytest.mark.parametrize("vcpus, bits", [
    (1, 256), (2, 128), (2, 256), (2, 1024),
    *(pytest.param(1, bits, marks=pytest.mark.long) for bits in (128, 1024))])
def test_vectors_on_every_vcpu(tmp_path, bits, vcpus):
    """Vectors and floating point of two guests on one hart: each vcpu's are its own, and 0
    before it wrote any."""
    guests = {"alpha": "kind=smp vector=1", "beta": "kind=smp vector=1",
              "gamma": "kind=marks mark=2 ticks=1000000 vector=1",
              "delta": "kind=marks mark=3 ticks=1000000 vector=1"}
    result = bare_guests.boot(tmp_path, guests, vcpus=["0"] * vcpus,
                              options=["--cpu", vector_cpu(bits)])
    for name in ("alpha", "beta"):
        lines = result.vm(name)
        for n in range(vcpus):
            assert lines[n] == f"{smp_lines(vcpus)[n]}, vector {lanes(n):x}"
        assert lines[vcpus:] == smp_lines(vcpus)[vcpus:]
    for name in ("gamma", "delta"):
        assert result.vm(name) == [f"marks: vector registers of {bits // 8} bytes",
                                   "marks: ends, 0 wrong"]


def test_vectors_on_several_harts(tmp_path):
    """Profile smp: the same with each vcpu on a hart of its own."""
    result = bare_guests.boot(
        tmp_path, {"alpha": "kind=smp rounds=1 vector=1", "beta": "kind=smp rounds=1 vector=1"},
        profile="smp", vcpus=["0", "1"], options=["--harts", 2, "--cpu", vector_cpu(128)])
    for name in ("alpha", "beta"):
        for n, line in enumerate(result.vm(name)[:-1]):
            assert line.endswith(f", fp {logistic(n)}, errors 0, ipi 2, vector {lanes(n):x}")


def test_debian_uses_vectors(linux):
    """Its kernel finds the extension, and counts are as ever."""
    script = ("grep -o 'rv64[a-z]*' /proc/cpuinfo\n"
              "perf stat -x, -e instructions:u work 3000000 2>&1\n")
    result = linux({"alpha": script, "beta": script}, options=["--cpu", vector_cpu(256)])
    for name in ("alpha", "beta"):
        lines = result.guest_output(name, name)
        assert lines[0] == "rv64imafdcv"
        assert harness.perf_counts(lines) == {"instructions:u": 3000000}


HOTPLUG = """
grep -o 'isa.*' /proc/cpuinfo | sort -u | sed 's/_.*//'
cpu1=/sys/devices/system/cpu/cpu1/online
for time in 1 2 3; do
	taskset 2 perf stat -x, -e instructions:u,cycles:u work 1000000 2>&1
	echo 0 >$cpu1; echo "online $(cat /sys/devices/system/cpu/online)"
	work 1000000
	echo 1 >$cpu1; echo "online $(cat /sys/devices/system/cpu/online)"
done
taskset 2 perf stat -x, -e instructions:u,cycles:u work 20000000 2>&1
taskset 2 perf record -q -e instructions:u -c 100000 -o /tmp/data work 20000000 2>&1
perf report -i /tmp/data -D 2>/dev/null | grep -c PERF_RECORD_SAMPLE
"""


# test_hsm has the same calls on both.
@harness.short_on("sbi")
def test_hotplug(tmp_path, backend):
    """A vcpu stopped and started from Debian counts and samples as one never stopped."""
    scripts = {"alpha": HOTPLUG, "beta": "perf stat -x, -e instructions:u work 30000000 2>&1"}
    tree = boots.smp_tree(tmp_path, scripts, {"alpha": ("0", "0"), "beta": ("0",)})
    result = harness.run(tree, backend=backend, timeout=harness.GUARD)
    assert result.status == harness.OK, str(result)
    lines = result.guest_output("alpha", "alpha")
    assert lines.pop(0).split() == ["isa", ":", "rv64imafdc"]
    assert [line for line in lines if line.startswith("online")] == ["online 0", "online 0-1"] * 3
    counts = [int(line.split(",")[0]) for line in lines if "instructions:u" in line]
    assert counts == [1000000] * 3 + [20000000]
    assert len([line for line in lines if "cycles:u" in line]) == 4
    assert lines[-1] == "200"
    assert harness.perf_counts(result.guest_output("beta", "beta")) == {"instructions:u": 30000000}


@pytest.mark.long
@pytest.mark.parametrize("placement", [boots.PLACEMENTS[n] for n in (2, 4, 5, 6)], ids=str)
def test_debian_under_stress(tmp_path, placement):
    """Vcpus that have a hart each, and that share some. tests/qemu/lib/boots.py does it fifty
    times."""
    assert boots.boot(tmp_path, placement) == []
