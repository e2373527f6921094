# SPDX-License-Identifier: Apache-2.0
"""`make run`: what it builds and what it prints, with nothing built and nothing run here."""

import os
import subprocess

import pexpect
import pytest

import harness
from tool_run import ENDED, start_fake

PHASES = harness.ROOT / "tools/make/phases"


def make(*words):
    """What make says it would do, or does. A make above this test may build with DEBUG=1."""
    env = {name: value for name, value in os.environ.items()
           if name not in ("DEBUG", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES")}
    return subprocess.run(["make", "-C", harness.ROOT, *words], check=True, capture_output=True,
                          env=env, text=True).stdout


def test_only_what_is_run_is_built(tmp_path):
    """The kernel, the initramfs and the hypervisor; a tree of one's own may name any guest."""
    would = make("-n", f"B={tmp_path}", "run-parts")
    assert f"{tmp_path}/guest/initramfs.cpio" in would and f"{tmp_path}/tally.bin" in would
    for other in ("bench", "bare", "selftest", "sampling", "replay", "kvm", "workloads"):
        assert f"guests/{other}" not in would, other
    assert "guests/bare" in make("-n", f"B={tmp_path}", "VMS=mine.dts", "run-parts")
    assert "host/vm-check" in make("-n", f"B={tmp_path}", "all")


def test_clean_keeps_what_was_fetched(tmp_path):
    for name in ("guest/Image", "guest/initramfs.cpio", "guests/x", "obj/y", "platform/z",
                 "debian/alpha.ext4"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    make(f"B={tmp_path}", "clean")
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == [
        "debian", "debian/alpha.ext4", "guest", "guest/Image", "platform", "platform/z"]
    make(f"B={tmp_path}", "clean")
    make(f"B={tmp_path}", "distclean")
    assert not tmp_path.exists()


SCRIPT = ("echo '  CC      a.c'; echo '  CC      b.c'; echo 'guest parts: fetching x (1 MB)' >&2; "
          "echo warning; exit ")


def test_a_line_for_each_phase():
    """What was printed is shown if it fails."""
    for status in (0, 3):
        done = subprocess.run([PHASES, "building", "sh", "-c", SCRIPT + str(status)],
                              capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (status, "")
        lines = ["building", "fetching x (1 MB)"]
        if status:
            lines += ["  CC      a.c", "  CC      b.c", "guest parts: fetching x (1 MB)", "warning"]
        assert done.stderr.splitlines() == lines
    screen = pexpect.spawn(str(PHASES), ["building", "sh", "-c", SCRIPT + "0"], timeout=None)
    screen.expect(r"building: \d+ s, 2 steps\r\n.*fetching x \(1 MB\): \d+ s\r\n")
    screen.expect(pexpect.EOF)
    assert b"warning" not in screen.before


TOLD = "tally: vm alpha: ended\ntally: all VMs ended\n"


@pytest.mark.parametrize("console, shown, kept", [
    ("OpenSBI\n\nBoot HART\n" + ENDED, TOLD, "OpenSBI\n\nBoot HART\n" + TOLD),
    ("OpenSBI\n tally: no\n", "OpenSBI\n tally: no\n", "OpenSBI\n tally: no\n"),
])
def test_the_firmware_is_shown_when_nothing_follows(fake_run, tmp_path, console, shown, kept):
    """And it is in the log in any case."""
    log = tmp_path / "log"
    with open(tmp_path / "out", "wb") as out:
        start_fake([*fake_run(console), "--brief", "--log", str(log)], tmp_path, stdout=out)
    assert (tmp_path / "out").read_text(encoding="utf-8") == shown
    assert log.read_text(encoding="utf-8") == kept
