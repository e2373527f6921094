# SPDX-License-Identifier: Apache-2.0
"""tools/run: what its exit status tells, and a person's session at the console."""

import re

import pexpect
import pytest

import bare_guests
import harness
import plain
from tallylib import vm_tree
from tool_run import start

BAD_TREE = """/dts-v1/;
/ { compatible = "tally,vm-tree-1"; images { }; vms { alpha { colour = "red"; }; }; };
"""


def fake_qemu(folder, version):
    """A program that only tells that it is QEMU."""
    path = folder / "qemu"
    path.write_text(f"#!/bin/sh\necho 'QEMU emulator version {version}'\n", encoding="ascii")
    path.chmod(0o755)
    return path


def bare_tree(folder, guests):
    """A tree of bare guests, their images built."""
    for image in ("selftest", "bare"):
        plain.make(f"build/guests/{image}.bin")
    tree = folder / "bare.dts"
    tree.write_text(bare_guests.tree(guests), encoding="utf-8")
    return tree


@pytest.fixture
def bad_tree(tmp_path):
    path = tmp_path / "bad.dts"
    path.write_text(BAD_TREE, encoding="ascii")
    return path


def test_wrong_use():
    assert start("--vms", "no-such-file.dts") == (
        harness.USAGE, "tools/run: --vms: no such file: no-such-file.dts\n")
    assert start()[0] == harness.USAGE
    assert start("--vms", "dts/two-linux.dts", "--harts", 2)[0] == harness.USAGE


# (options, the last line of the messages)
WRONG = [
    (["--profile", "fast"], "argument --profile: invalid choice: 'fast' "
     "(choose from exact, interactive, smp)"),
    (["--backend", "none"], "argument --backend: invalid choice: 'none' "
     "(choose from auto, sbi, ssccfg)"),
    (["--profile", "smp", "--harts", "two"], "argument --harts: invalid int value: 'two'"),
    (["--profile", "smp", "--harts", "0"], "--harts 0: a machine has at least one"),
    (["--harts", "2"], "--harts needs --profile smp: with several harts no count is exact"),
    (["--timeout", "0"], "--timeout 0: is not a positive number of seconds"),
    (["--timeout", "inf"], "--timeout inf: is not a positive number of seconds"),
    (["--timeout", "soon"], "argument --timeout: invalid float value: 'soon'"),
    (["--expect", "("], "--expect (: missing ), unterminated subpattern at position 0"),
    (["--expect", "a", "--profile", "interactive"],
     "--expect does not go with --profile interactive"),
    (["--log", "/no/such/folder/log"], "--log /no/such/folder/log: No such file or directory"),
    (["--memory", "lots"], "--memory lots: is not a size, as 512M or 2G"),
    (["--memory", "0"], "--memory 0: is not a size, as 512M or 2G"),
    (["--aia-guests", "8"], "--aia-guests 8: QEMU has 0 to 7"),
    (["--nonsense"], "unrecognized arguments: --nonsense"),
]


@pytest.mark.parametrize("options, words", WRONG, ids=[" ".join(case[0]) for case in WRONG])
def test_wrong_options(bad_tree, options, words):
    status, messages = start("--vms", bad_tree, *options)
    assert status == harness.USAGE
    # Python before 3.12.8 has each choice in quotes.
    told = re.sub(r"\(choose from .*\)", lambda part: part[0].replace("'", ""),
                  messages.splitlines()[-1])
    assert told == "tools/run: error: " + words


def test_a_tree_that_is_missing(tmp_path):
    for vms in ("none.dts", "none.dtb"):
        status, messages = start("--vms", vms, cwd=tmp_path)
        assert (status, messages) == (harness.USAGE, f"tools/run: --vms: no such file: {vms}\n")
    status, messages = start("--vms", tmp_path)
    assert (status, messages) == (
        harness.USAGE,
        f"tools/run: --vms: {tmp_path} is a folder; a VM tree is a file, .dts or .dtb\n")


@pytest.mark.parametrize("options, files", [((), 2), (("--aia-guests", 3), 3)])
def test_the_machine_has_what_an_aia_needs(tmp_path, options, files):
    """An interrupt file for each vcpu, if nobody says otherwise."""
    result = bare_guests.boot(
        tmp_path, dict.fromkeys(("alpha", "beta"), "kind=measure rounds=1 length=1000"),
        properties='interrupts = "aia";', options=options)
    assert f"hart 0: {files} guest interrupt files" in result.own


@pytest.mark.parametrize("options", [(), ("--aia", "aplic"), ("--aia", "none")])
def test_files_without_an_imsic(bad_tree, options):
    status, messages = start("--vms", bad_tree, "--aia-guests", 1, *options)
    assert (status, messages) == (
        harness.USAGE, 'tools/run: --aia-guests needs --aia aplic-imsic, or a VM tree in which a '
        'VM has interrupts = "aia": guest interrupt files are in IMSICs\n')


@pytest.mark.parametrize("option, words", [
    (["--cpu", "nonsense"], "unable to find CPU model 'nonsense'"),
    (["--profile", "smp", "--harts", "100000"], "100000"),
])
def test_what_qemu_refuses(bad_tree, option, words):
    """QEMU's own words, and that it was wrong use."""
    status, messages = start("--vms", bad_tree, *option)
    assert status == harness.USAGE
    assert words in messages
    assert messages.splitlines()[-1] == (
        "tools/run: QEMU did not start this machine; what it says is above")


def test_memory_that_the_tree_does_not_fit_into(tmp_path):
    """The same bound as QEMU's: just enough is started."""
    harness.linux_tree(tmp_path, {"alpha": "true"})
    tree = tmp_path / "vms.dts"
    tree.write_text(tree.read_text(encoding="utf-8") +
                    '/ { vms { alpha { memory = /bits/ 64 <1>; }; }; };', encoding="utf-8")
    blob = tmp_path / "vms.dtb"
    assert vm_tree.compile_tree(str(tree), [], str(blob)) is None
    size = blob.stat().st_size
    least = next(n for n in range(1, 1000)
                 if (n << 20) // 2 + size + (2 << 20) <= (n << 20) - (1 << 16) >> 21 << 21)
    assert start("--vms", blob, "--memory", f"{least - 1}M") == (
        harness.USAGE, f"tools/run: --memory {least - 1}M: is too little to load this VM tree, "
        f"which takes {(size + (1 << 20) - 1) >> 20} MiB\n")
    status, messages = start("--vms", blob, "--memory", f"{least}M")
    assert status == harness.REFUSED and "memory: 1 bytes is not a positive" in messages


def test_an_image_that_is_missing(tmp_path):
    """Of a tree that is right but for that; then of the same tree, with a folder to look in."""
    tree = tmp_path / "vms.dts"
    text = bare_guests.tree({"alpha": "kind=busy ticks=1000"})
    tree.write_text(text.replace("bare.bin", "mine.bin"), encoding="utf-8")
    status, messages = start("--vms", "vms.dts", cwd=tmp_path)
    assert status == harness.REFUSED
    assert "mine.bin" in messages and "Traceback" not in messages
    images = tmp_path / "images"
    images.mkdir()
    (images / "mine.bin").write_bytes(plain.make("build/guests/bare.bin").read_bytes())
    plain.make("build/guests/selftest.bin")
    status, messages = start("--vms", "vms.dts", "-i", "images", "--timeout", harness.GUARD,
                             "--expect", "busy: ends", cwd=tmp_path)
    assert (status, messages) == (harness.OK, "")


def test_tree_that_dtc_refuses(tmp_path):
    tree = tmp_path / "bad.dts"
    tree.write_text('/dts-v1/; / { data = /incbin/("nothing"); };', encoding="ascii")
    status, messages = start("--vms", tree)
    assert status == harness.REFUSED
    assert "nothing" in messages


def test_tree_that_tally_refuses(bad_tree):
    status, messages = start("--vms", bad_tree, "--timeout", harness.GUARD)
    assert status == harness.REFUSED
    assert messages.splitlines() == [
        "tools/run: refused: /vms/alpha: colour: is not a property of this node",
        "tools/run: that is in bad.dts:2"]


@pytest.mark.parametrize("version", ["10.0.13 (Debian 1:10.0.13+ds-0+deb13u1)", "11.1.2", "7.2.22"])
def test_qemu_that_cannot_work(bad_tree, tmp_path, version):
    status, messages = start("--vms", bad_tree, "--qemu", fake_qemu(tmp_path, version))
    assert status == harness.DEPENDENCY
    assert "10.0.2" in messages and "11.1.3" in messages


def test_qemu_that_tells_no_version(bad_tree, tmp_path):
    status, messages = start("--vms", bad_tree, "--qemu", fake_qemu(tmp_path, "of mine"))
    assert status == harness.DEPENDENCY
    assert messages.startswith(f"tools/run: {tmp_path}/qemu does not tell its version. QEMU vers")
    assert len(messages.splitlines()) == 1


def test_qemu_that_is_untried_or_not_looked_at(bad_tree, tmp_path):
    """It is run, with a warning or without; this one does nothing, so there is no verdict."""
    no_verdict = "tools/run: the machine stopped before all VMs had ended"
    other = fake_qemu(tmp_path, "10.2.0")
    status, messages = start("--vms", bad_tree, "--qemu", other)
    assert status == harness.NO_VERDICT
    assert messages.splitlines()[0].startswith("tools/run: QEMU 10.2.0 is untried. QEMU versions")
    broken = fake_qemu(tmp_path, "10.0.13")
    assert start("--vms", bad_tree, "--qemu", broken, "--any-qemu") == (
        harness.NO_VERDICT, no_verdict + "\n")


@pytest.mark.parametrize("option, what", [
    ("--qemu", "program"), ("--bios", "file"), ("--kernel", "file")])
def test_missing_part(bad_tree, option, what):
    """What the user named; `make` would not make it."""
    assert start("--vms", bad_tree, option, "/no/such/file") == (
        harness.DEPENDENCY, f"tools/run: {option} /no/such/file: there is no such {what}\n")


def test_time_is_up(tmp_path):
    tree = bare_tree(tmp_path, {"alpha": "kind=busy ticks=100000000000"})
    status, messages = start("--vms", tree, "--timeout", 2)
    assert (status, messages) == (harness.TIMEOUT, "tools/run: stopped after 2 s\n")


def test_vm_that_fails_and_another_directory(tmp_path):
    """The tree lies outside the repository, and paths are relative to where the user is."""
    harness.linux_tree(tmp_path, {"alpha": "reboot -f", "beta": "echo fine"})
    status, messages = start("--vms", "vms.dts", "--timeout", harness.GUARD, "--log", "console.log",
                             cwd=tmp_path)
    assert status == harness.VM_FAILED
    assert messages.startswith("tools/run: vm alpha: failed: ")
    lines = (tmp_path / "console.log").read_text(encoding="utf-8").splitlines()
    assert "[beta] fine" in lines and "tally: vm beta: ended" in lines


def test_expected_line_is_missing(tmp_path):
    tree = bare_tree(tmp_path, {"alpha": "kind=busy ticks=1000", "beta": "kind=idle ticks=1000"})
    expected = ("--expect", "^.(alpha|beta). (idle|busy): begins")
    assert start("--vms", tree, "--timeout", harness.GUARD, *expected) == (harness.OK, "")
    status, messages = start("--vms", tree, "--timeout", harness.GUARD, *expected, "--expect",
                             "busy: ends")
    assert status == harness.VM_FAILED
    assert messages == "tools/run: vm beta printed no line that matches 'busy: ends'\n"


@pytest.mark.long
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
    screen = console(harness.ROOT / "dts/two-linux-shell.dts", timeout=harness.GUARD)
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
    screen.wait()
    screen.close()
    assert screen.exitstatus == harness.OK
