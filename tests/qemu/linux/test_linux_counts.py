# SPDX-License-Identifier: Apache-2.0
"""perf in a Debian guest, alone, beside each kind of bare neighbour, and two at once: the program
whose length is known has the same number everywhere."""

import os
import shutil
import subprocess

import pytest

import bare_guests
import boots
import harness
from linux_counts import AFTER, KNOWN, STAT, WAIT, check, with_neighbour


@pytest.fixture(scope="module")
def user_reads(tmp_path_factory):
    """A process that reads its own counter."""
    program = tmp_path_factory.mktemp("program") / "user_reads"
    subprocess.run(
        [os.environ.get("CROSS_COMPILE", "riscv64-linux-gnu-") + "gcc", "-march=rv64gc",
         "-mabi=lp64d", "-mcmodel=medany", "-O2", "-Wall", "-Wextra", "-Werror", "-ffreestanding",
         "-fno-pic", "-fno-stack-protector", "-static", "-no-pie", "-nostdlib",
         "-Wl,--build-id=none", f"-I{harness.ROOT}", harness.ROOT / "guests/linux/user_reads.c",
         harness.ROOT / "guests/lib/count.S", "-o", program], check=True)
    return program


ALONE = STAT + """
/test/user_reads 1000 && /test/user_reads 100000
/test/user_reads closed 2>&1; echo closed: $?
"""


@pytest.fixture(name="busy", scope="module", params=harness.BACKENDS)
def beside_busy(request, tmp_path_factory, user_reads):
    """A guest alone on its hart, and then beside a neighbour that is busy without a trap."""
    folder = tmp_path_factory.mktemp("busy")
    (folder / "test").mkdir()
    shutil.copy(user_reads, folder / "test")
    script = boots.in_turn({"alone": ALONE, "beside": WAIT + STAT})
    return harness.run(with_neighbour(folder, script, f"busy {AFTER}"), backend=request.param,
                       until="vm alpha: vcpu 0: exits ")


def test_alone_and_reads_of_a_process(busy):
    """A process reads its counter by perf's mmap page, 101,000 times, without one exit; when the
    kernel has closed scounteren, SIGILL (status 128 + 4)."""
    assert busy.status == harness.INTERRUPTED, str(busy)
    lines = busy.guest_output("alpha", "alone")
    assert KNOWN < check(lines) < 1.02 * KNOWN
    reads = [line for line in lines if line.startswith("user_reads: ")]
    assert len(set(reads)) == 1 and len(reads) == 2, lines
    assert reads[0].endswith(", odd 0")
    assert lines[-1] == "closed: 132"
    # The one that was closed left the guest, so that Tally could tell whose fault it is.
    assert bare_guests.exits(busy, "alpha")["csr"] == 1


def check_beside(result, name, test):
    """The neighbour goes on for longer than the guest: its share of the measurement shows."""
    assert result.status == harness.INTERRUPTED, str(result)
    assert check(result.guest_output("alpha", test)) > 1.8 * KNOWN
    assert "vm beta: ended" not in result.own
    assert result.vm("beta")[0] == name + ": begins"


def test_beside_busy(busy):
    check_beside(busy, "busy", "beside")


HOSTILE = "hostile again=yes"


# Bare guests are beside each of them on both back ends in test_neighbours.py.
@pytest.mark.parametrize("kind, backend", [
    ("pmuloop", "sbi"), pytest.param("pmuloop", "ssccfg", marks=pytest.mark.long),
    *(pytest.param(HOSTILE, backend, marks=pytest.mark.long) for backend in harness.BACKENDS)])
def test_beside(tmp_path, kind, backend):
    result = harness.run(with_neighbour(tmp_path, WAIT + STAT, f"{kind} {AFTER}"),
                         until="alpha end ", backend=backend)
    name = kind.split(maxsplit=1)[0]
    check_beside(result, name, "alpha")
    if name == "hostile":
        lines = result.lines
        during = lines[lines.index("[alpha] alpha begin") : lines.index("[alpha] alpha end 0")]
        assert any(line.startswith("[beta] hostile: ") for line in during), str(result)


@harness.short_on("sbi")
def test_beside_idle(tmp_path, backend):
    """The neighbour wakes a thousand times a second."""
    result = harness.run(with_neighbour(tmp_path, STAT, "idle ticks=60000000"), backend=backend)
    assert result.status == harness.OK, str(result)
    assert check(result.guest_output("alpha", "alpha")) > KNOWN
    assert result.own.index("vm alpha: ended") < result.own.index("vm beta: ended")
    assert int(result.vm("beta")[-1].split()[3]) > 4000, result.vm("beta")


# On sbi two of them are counted in test_shared_flags.py.
@harness.short_on("ssccfg")
def test_two_at_once(linux, backend):
    """Both measurements take as long as two, so they overlap nearly all of the time; neither
    guest does anything else meanwhile."""
    result = linux({"alpha": STAT, "beta": STAT}, backend=backend)
    assert result.status == harness.OK, str(result)
    for name in ("alpha", "beta"):
        assert check(result.guest_output(name, name)) > 1.7 * KNOWN
        assert bare_guests.exits(result, name)["timer"] > 10
    order = [line for line in result.lines
             if line.split("] ")[-1] in ("alpha begin", "beta begin", "alpha end 0", "beta end 0")]
    assert ["begin" in line for line in order] == [True, True, False, False]
