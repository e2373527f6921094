# SPDX-License-Identifier: Apache-2.0
"""tools/run: what its exit status tells, and a person's session at the console."""

import subprocess

import pexpect
import pytest

import harness

BAD_TREE = """/dts-v1/;
/ { compatible = "tally,vm-tree-1"; images { }; vms { alpha { colour = "red"; }; }; };
"""


def start(*arguments, cwd=harness.ROOT):
    """tools/run with these arguments; status and messages."""
    with harness.one_at_a_time():
        done = subprocess.run([harness.ROOT / "tools/run", *map(str, arguments)], cwd=cwd,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, timeout=120)
    return done.returncode, done.stderr


def fake_qemu(folder, version):
    """A program that only tells that it is QEMU."""
    path = folder / "qemu"
    path.write_text(f"#!/bin/sh\necho 'QEMU emulator version {version}'\n", encoding="ascii")
    path.chmod(0o755)
    return path


@pytest.fixture
def bad_tree(tmp_path):
    path = tmp_path / "bad.dts"
    path.write_text(BAD_TREE, encoding="ascii")
    return path


def test_wrong_use():
    assert start("--vms", "no-such-file.dts") == (
        harness.USAGE, "tools/run: no such file: no-such-file.dts\n")
    assert start()[0] == harness.USAGE
    assert start("--vms", "dts/two-linux.dts", "--harts", 2)[0] == harness.USAGE


def test_tree_that_dtc_refuses(tmp_path):
    tree = tmp_path / "bad.dts"
    tree.write_text('/dts-v1/; / { data = /incbin/("nothing"); };', encoding="ascii")
    status, messages = start("--vms", tree)
    assert status == harness.REFUSED
    assert "nothing" in messages


def test_tree_that_tally_refuses(bad_tree):
    status, messages = start("--vms", bad_tree, "--timeout", 60)
    assert status == harness.REFUSED
    assert "refused: /vms/alpha: colour: " in messages


@pytest.mark.parametrize("version", ["10.0.13 (Debian 1:10.0.13+ds-0+deb13u1)", "7.2.22"])
def test_qemu_that_cannot_work(bad_tree, tmp_path, version):
    status, messages = start("--vms", bad_tree, "--qemu", fake_qemu(tmp_path, version))
    assert status == harness.DEPENDENCY
    assert "10.0.2" in messages and "11.1.3" in messages


@pytest.mark.parametrize("option", ["--qemu", "--bios", "--kernel"])
def test_missing_part(bad_tree, option):
    status, messages = start("--vms", bad_tree, option, "/no/such/file")
    assert status == harness.DEPENDENCY
    assert "/no/such/file" in messages


def test_time_is_up(tmp_path):
    tree = harness.linux_tree(tmp_path, {"alpha": "sleep 1000000"})
    status, messages = start("--vms", tree, "--timeout", 8)
    assert (status, messages) == (harness.TIMEOUT, "tools/run: stopped after 8 s\n")


def test_vm_that_fails_and_another_directory(tmp_path):
    """The tree lies outside the repository, and paths are relative to where the user is."""
    harness.linux_tree(tmp_path, {"alpha": "reboot -f", "beta": "echo fine"})
    status, messages = start("--vms", "vms.dts", "--timeout", 60, "--log", "console.log",
                             cwd=tmp_path)
    assert status == harness.VM_FAILED
    assert messages.startswith("tools/run: vm alpha: failed: ")
    lines = (tmp_path / "console.log").read_text(encoding="utf-8").splitlines()
    assert "[beta] fine" in lines and "tally: vm beta: ended" in lines


def test_expected_line_is_missing(tmp_path):
    tree = harness.linux_tree(tmp_path, {"alpha": "echo one", "beta": "echo two"})
    status, messages = start("--vms", tree, "--timeout", 60, "--expect", "one")
    assert status == harness.VM_FAILED
    assert messages == "tools/run: vm beta printed no line that matches 'one'\n"


def test_two_runs_are_identical(tmp_path):
    """Whole boots, every line and every count of both guests. No TLB event is asked for: the
    emulator's TLB depends on the host, and printing another number takes another time."""
    script = "perf stat -e cycles,instructions work 3000000 2>&1; perf stat -e cycles:u true 2>&1"
    tree = harness.linux_tree(tmp_path, {"alpha": script, "beta": script})
    first, second = (harness.run(tree) for _ in range(2))
    assert first.status == harness.OK, str(first)
    assert len(first.vm("alpha")) > 20 and len(first.vm("beta")) > 20
    assert first.lines == second.lines


def test_person_at_the_console(console):
    """Types at one guest, goes to the other with Ctrl-T n, ends both."""
    screen = console(harness.ROOT / "dts/two-linux-shell.dts", timeout=120)
    for _ in range(2):
        screen.expect("A shell on (alpha|beta)")
    screen.expect(r"\[alpha\] / # ")
    screen.send("echo $((6 * 7)) $(hostname)\r")
    screen.expect(r"\[alpha\] 42 alpha\r+\n")
    screen.send("\x14n")
    screen.expect("input goes to beta")
    screen.send("echo $((6 * 9)) $(hostname)\r")
    screen.expect(r"\[beta\] 54 beta\r+\n")
    screen.send("poweroff\r")
    screen.expect("tally: vm beta: ended")
    screen.send("\x14n")
    screen.expect("input goes to alpha")
    screen.send("poweroff\r")
    screen.expect("tally: all VMs ended")
    screen.expect(pexpect.EOF)
    screen.close()
    assert screen.exitstatus == harness.OK
