# SPDX-License-Identifier: Apache-2.0
"""perf in a Debian guest, alone, beside each kind of bare neighbour, and two at once: the program
whose length is known has the same number everywhere."""

import os
import subprocess

import pytest

import bare_guests
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


@harness.both_backends
def test_alone_and_reads_of_a_process(tmp_path, user_reads, backend):
    """A process reads its counter by perf's mmap page, 101,000 times, without one exit; when the
    kernel has closed scounteren, SIGILL (status 128 + 4)."""
    folder = tmp_path / "test"
    folder.mkdir()
    (folder / "user_reads").write_bytes(user_reads.read_bytes())
    (folder / "user_reads").chmod(0o755)
    script = STAT + ("/test/user_reads 1000 && /test/user_reads 100000\n"
                     "/test/user_reads closed 2>&1; echo closed: $?\n")
    result = harness.run(harness.linux_tree(tmp_path, {"alpha": script}), backend=backend)
    assert result.status == harness.OK, str(result)
    lines = result.guest_output("alpha", "alpha")
    assert KNOWN < check(lines) < 1.02 * KNOWN
    reads = [line for line in lines if line.startswith("user_reads: ")]
    assert len(set(reads)) == 1 and len(reads) == 2, lines
    assert reads[0].endswith(", odd 0")
    assert lines[-1] == "closed: 132"
    # The one that was closed left the guest, so that Tally could tell whose fault it is.
    assert bare_guests.exits(result, "alpha")["csr"] == 1


@harness.both_backends
@pytest.mark.parametrize("kind", ["busy", "pmuloop", "hostile again=yes"])
def test_beside(tmp_path, kind, backend):
    """The neighbour goes on for longer than the guest: its share of the measurement shows."""
    result = harness.run(with_neighbour(tmp_path, WAIT + STAT, f"{kind} {AFTER}"),
                         until="alpha end ", backend=backend)
    assert result.status == harness.INTERRUPTED, str(result)
    assert check(result.guest_output("alpha", "alpha")) > 1.8 * KNOWN
    assert "vm beta: ended" not in result.own
    name = kind.split()[0]
    assert result.vm("beta")[0] == name + ": begins"
    if name == "hostile":
        lines = result.lines
        during = lines[lines.index("[alpha] alpha begin") : lines.index("[alpha] alpha end 0")]
        assert any(line.startswith("[beta] hostile: ") for line in during), str(result)


@harness.both_backends
def test_beside_idle(tmp_path, backend):
    """The neighbour wakes a thousand times a second."""
    result = harness.run(with_neighbour(tmp_path, STAT, "idle ticks=60000000"), backend=backend)
    assert result.status == harness.OK, str(result)
    assert check(result.guest_output("alpha", "alpha")) > KNOWN
    assert result.own.index("vm alpha: ended") < result.own.index("vm beta: ended")
    assert int(result.vm("beta")[-1].split()[3]) > 4000, result.vm("beta")


@harness.both_backends
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
