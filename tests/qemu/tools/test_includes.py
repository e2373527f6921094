# SPDX-License-Identifier: Apache-2.0
"""tools/check/includes and tools/check/calls: what does not belong is named."""

import os
import shutil
import subprocess

import pytest

import harness

CROSS = os.environ.get("CROSS_COMPILE", "riscv64-linux-gnu-")
TOOLS = ("tools/check/includes", "tools/check/calls", "tools/check/rooms.py")


def written(top, files):
    """A tree of {path: text} with the tools in it."""
    (top / "tools/check").mkdir(parents=True)
    for name in TOOLS:
        shutil.copy(harness.ROOT / name, top / name)
    for path, text in files.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text(text, encoding="ascii")


def check(top, files):
    """Exit status and lines of tools/check/includes."""
    written(top, files)
    done = subprocess.run([top / "tools/check/includes"], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize("path, header", [
    ("core/lib/a.c", "core/tree/b.h"), ("core/host/a.c", "core/tree/b.h"),
    ("core/tree/a.c", "core/hart/b.h"), ("core/tree/a.c", "arch/riscv/hart/csr.h"),
    ("core/console/a.h", "core/log.h"), ("core/devices/a.c", "arch/riscv/hart/b.h"),
    ("core/vcpu/a.c", "core/sched/b.h"), ("core/pmu/a.c", "core/sched/b.h"),
    ("core/watch/a.c", "core/sched/b.h"), ("core/sched/a.c", "core/io/b.h"),
    ("core/io/a.c", "core/dispatch/b.h"), ("core/life/a.c", "core/dispatch/b.h"),
    ("core/dispatch/a.c", "core/vsbi/b.h"), ("core/vsbi/a.c", "core/operator/b.h"),
    ("core/operator/a.c", "core/boot/b.h"), ("core/log.c", "core/hart/b.h"),
    ("core/boot/a.c", "core/debug/b.h"), ("vpmu/a.c", "core/lib/b.h"),
    ("arch/riscv/hart/a.c", "arch/riscv/counters/b.h"),
    ("arch/riscv/counters/a.c", "core/hart/b.h"), ("guests/bare/a.c", "core/lib/b.h")])
def test_upward(tmp_path, path, header):
    assert check(tmp_path, {path: f'#include <stdint.h>\n#include "{header}"\n'}) == (
        1, [f'{path}:2: may not include "{header}"'])


def test_ports_and_rooms_below(tmp_path):
    assert check(tmp_path, {
        "core/sched/a.c": '#include "core/sched/port.h"\n#include "core/vcpu/vcpu.h"\n',
        "core/dispatch/a.c": '#include "core/sched/port.h"\n',
        "arch/riscv/hart/a.c": '#include "core/panic.h"\n'}) == (0, [])


def test_circles(tmp_path):
    """Of units, a source file and its header, in one room: more than its table row says."""
    assert check(tmp_path, {
        "core/life/a.c": '#include "core/life/b.h"\n',
        "core/life/b.h": '#include "core/life/c.h"\n',
        "core/life/c.c": '#include "core/life/a.h"\n',
        "core/hart/pcpu.h": '#include "core/hart/platform.h"\n',
        "core/hart/platform.c": '#include "core/hart/pcpu.h"\n'}) == (
            1, ["include each other: core/life/a core/life/b core/life/c"])


def test_what_is_closed(tmp_path):
    """struct vpmu, and the port's way back."""
    assert check(tmp_path, {
        "core/vcpu/a.c": "x = vcpu->pmu.running;\ny = vpmu_started(&vcpu->pmu);\n",
        "core/pmu/vpmu_port.c": "vpmu_evict(v);\nvpmu_wfi_must_trap(v);\n"}) == (
            1, ["core/pmu/vpmu_port.c:2: the port calls vpmu/ back",
                "core/vcpu/a.c:1: struct vpmu is private to vpmu/"])


def calls(top, files):
    """Exit status and lines of tools/check/calls for these objects, without the rows of CIRCLES."""
    ports = {path: harness.ROOT.joinpath(path).read_text(encoding="utf-8")
             for path in ("vpmu/port.h", "arch/riscv/hart/port.h", "arch/riscv/hart/entry.h",
                          "core/console/port.h",
                          "core/vcpu/terminal_port.h", "core/watch/port.h", "core/pmu/port.h",
                          "core/sched/port.h", "core/io/port.h", "core/panic.h")}
    written(top, ports | files)
    tool = top / "tools/check/calls"
    text = tool.read_text(encoding="utf-8")
    tool.write_text(text.split("CIRCLES = {")[0] + "CIRCLES = {" + text[text.index("}\n"):],
                    encoding="utf-8")
    objects = []
    for path in files:
        objects.append(top / "obj" / (path + ".o"))
        objects[-1].parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([CROSS + "gcc", "-c", "-flto", top / path, "-o", objects[-1]], check=True)
    done = subprocess.run([tool, CROSS, *objects], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


def test_a_call_upward_needs_a_port(tmp_path):
    """Declaring it where it is called does not help."""
    assert calls(tmp_path, {
        "core/sched/a.c": "void bell(void);\nvoid sched_a(void) { bell(); }\n",
        "core/io/b.c": "void bell(void) { }\nvoid sched_a(void);\nvoid b(void) { sched_a(); }\n",
    }) == (1, ["core/sched/a.c: uses bell of core/io/b.c, which is above, and no port.h declares "
               "it"])


def test_a_port_is_for_its_room_and_those_above(tmp_path):
    """wired_update_routes() is in the scheduler's port, which vcpus are below."""
    callee = "void wired_update_routes(void) { }\n"
    caller = "void wired_update_routes(void);\nvoid a(void) { wired_update_routes(); }\n"
    (tmp_path / "good").mkdir()
    assert calls(tmp_path / "good", {"core/sched/a.c": caller, "core/io/b.c": callee}) == (0, [])
    (tmp_path / "bad").mkdir()
    assert calls(tmp_path / "bad", {"core/vcpu/a.c": caller, "core/io/b.c": callee}) == (
        1, ["core/vcpu/a.c: uses wired_update_routes of core/io/b.c, which is above, and no port.h "
            "declares it"])


def test_circles_of_calls(tmp_path):
    assert calls(tmp_path, {
        "core/life/a.c": "void b(void);\nvoid a(void) { b(); }\n",
        "core/life/b.c": "void a(void);\nvoid b(void) { a(); }\n"}) == (
            1, ["core/life: 2 files use each other, and CIRCLES says 0: core/life/a.c "
                "core/life/b.c"])


def test_this_tree():
    done = subprocess.run([harness.ROOT / "tools/check/includes"], capture_output=True, text=True,
                          check=False)
    assert (done.returncode, done.stdout) == (0, "")
