# SPDX-License-Identifier: Apache-2.0
"""tools/check-includes: what does not belong is named, by its line."""

import shutil
import subprocess

import pytest

import harness


def check(top, files):
    """Exit status and lines, for a tree of {path: text}."""
    (top / "tools").mkdir()
    shutil.copy(harness.ROOT / "tools/check-includes", top / "tools")
    for path, text in files.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text(text, encoding="ascii")
    done = subprocess.run([top / "tools/check-includes"], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize("path, header", [
    ("core/lib/a.c", "core/config/b.h"), ("core/config/a.c", "core/vm/b.h"),
    ("core/console/a.h", "core/log.h"), ("core/devices/a.c", "arch/riscv/b.h"),
    ("core/vm/a.c", "core/vsbi/b.h"), ("core/vm/a.c", "core/operator/b.h"),
    ("core/vm/a.c", "core/console/b.h"), ("core/vsbi/a.c", "core/operator/b.h"),
    ("core/operator/a.c", "core/boot/b.h"), ("core/log.c", "core/vm/b.h"),
    ("vpmu/a.c", "core/lib/b.h"), ("arch/riscv/a.c", "core/vm/b.h"),
    ("guests/bare/a.c", "core/lib/b.h")])
def test_upward(tmp_path, path, header):
    assert check(tmp_path, {path: f'#include <stdint.h>\n#include "{header}"\n'}) == (
        1, [f'{path}:2: may not include "{header}"'])


def test_circles(tmp_path):
    """Of units, a source file and its header: of two folders they are named, of one they are not.
    """
    assert check(tmp_path, {
        "core/lib/a.c": '#include "arch/riscv/hart/fence.h"\n',
        "core/lib/a.h": "",
        "core/lib/d.h": '#include "core/lib/e.h"\n',
        "core/lib/e.c": '#include "core/lib/d.h"\n',
        "arch/riscv/hart/fence.h": '#include "core/lib/types.h"\n',
        "core/lib/types.h": '#include "core/lib/a.h"\n'}) == (
            1, ["arch/riscv/hart/fence and core/lib/a: files of two folders include each other",
                "arch/riscv/hart/fence and core/lib/types: files of two folders include each other"])


def test_what_is_closed(tmp_path):
    """struct vpmu, and the port's way back."""
    assert check(tmp_path, {
        "core/vm/a.c": "x = vcpu->pmu.running;\ny = vpmu_started(&vcpu->pmu);\n",
        "core/pmu/vpmu_port.c": "vpmu_evict(v);\nvpmu_wfi_must_trap(v);\n"}) == (
            1, ["core/vm/a.c:1: struct vpmu is private to vpmu/",
                "core/pmu/vpmu_port.c:2: the port calls vpmu/ back"])


def test_this_tree():
    done = subprocess.run([harness.ROOT / "tools/check-includes"], capture_output=True, text=True,
                          check=False)
    assert (done.returncode, done.stdout) == (0, "")
