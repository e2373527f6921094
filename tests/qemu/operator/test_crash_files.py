# SPDX-License-Identifier: Apache-2.0
"""What tools/run keeps of a VM's output for when it fails, without a machine."""

import os
import stat

import pytest

from runlib import crash_files, files, flow
from tallylib import frames

NOTE = b"\x01 alpha\r\n"


@pytest.fixture
def machine(tmp_path):
    """A Flow, and the folder of its crash files."""
    told = flow.Flow(["alpha", "beta"])
    told.listeners.append(crash_files.CrashFiles(str(tmp_path / "files")))
    told.feed(frames.framed(frames.Begun(True)))
    return told, tmp_path / "files"


def feed(told, *events):
    """What Tally prints."""
    told.feed(b"".join(map(frames.framed, events)))


def test_the_last_64_kib(machine):
    """Of the VM that fails, each time it does, whatever the others print."""
    told, folder = machine
    whole = b"".join(b"%07d\n" % n for n in range(50000))
    for at in range(0, len(whole), 999):
        feed(told, frames.Output(0, whole[at:at + 999]), frames.Output(1, b"beta\n"))
    assert not folder.exists()
    feed(told, frames.Own("vm beta: ended"), frames.Own("vm alpha: failed: did not ring for 5 ms"))
    assert {path.name for path in folder.iterdir()} == {"alpha", "alpha.last", "beta.last"}
    assert (folder / "alpha").read_bytes() == whole[-65536:]
    feed(told, frames.Output(0, NOTE), frames.Output(1, b"tally: vm beta: failed: no\n"),
         frames.Own("vm alpha: failed: jump outside its memory, to 0"))
    assert (folder / "alpha").read_bytes() == (whole + NOTE)[-65536:]
    assert {path.name for path in folder.iterdir()} == {"alpha", "alpha.last", "beta.last"}


@pytest.mark.parametrize("line", ["ended", "ended: all its vcpus have stopped", "stopped",
                                  "asked for a restart", "failed: did not ring for 5 ms"])
def test_each_end_of_a_life(machine, line):
    """What is no end changes nothing."""
    told, folder = machine
    feed(told, frames.Output(0, NOTE), frames.Own("vm alpha: starts again"),
         frames.Own("vm alpha: stays off: restart-limit is 1"))
    assert not folder.exists()
    feed(told, frames.Own("vm alpha: " + line))
    assert (folder / "alpha.last").read_bytes() == NOTE
    assert (folder / "alpha").exists() == line.startswith("failed")


def test_one_that_has_printed_nothing(machine):
    told, folder = machine
    feed(told, frames.Own("vm beta: failed: jump outside its memory, to 0"))
    assert (folder / "beta").read_bytes() == b""


@pytest.mark.parametrize("there", [False, True])
def test_they_are_for_who_may_use_the_socket(machine, there):
    """Of mode 0600, as it is, whatever umask and an earlier run say; and not where a link leads."""
    told, folder = machine
    if there:
        folder.mkdir(0o755)
        (folder / "alpha.new").write_bytes(b"old")
        (folder / "alpha.new").chmod(0o644)
    before = os.umask(0)
    try:
        feed(told, frames.Output(0, NOTE), frames.Own("vm alpha: failed: a 0"))
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "alpha").stat().st_mode) == 0o600
    assert (folder / "alpha").read_bytes() == NOTE


def test_a_link_in_the_place_of_the_folder(machine, tmp_path, capsys):
    told, folder = machine
    (tmp_path / "other").mkdir(0o755)
    folder.symlink_to(tmp_path / "other")
    feed(told, frames.Own("vm alpha: failed: a 0"))
    assert "is not kept, and the machine goes on" in capsys.readouterr().err
    assert not list((tmp_path / "other").iterdir())
    assert stat.S_IMODE((tmp_path / "other").stat().st_mode) == 0o755


def test_it_cannot_be_written(machine, capsys):
    """That is said once."""
    told, folder = machine
    folder.write_text("in the way")
    feed(told, frames.Own("vm alpha: failed: a 0"), frames.Own("vm beta: failed: a 0"))
    assert capsys.readouterr().err == (
        f"tools/run: {folder}/alpha: File exists; the last output of VMs that end is not kept, "
        "and the machine goes on\n")


def test_the_next_run_removes_it(tmp_path):
    """If it is in the default place, and its run has ended."""
    process = os.fork()
    if not process:
        os._exit(0)
    os.waitpid(process, 0)
    for number in (process, os.getpid()):
        (tmp_path / f"two-{number}.crash").mkdir()
        (tmp_path / f"two-{number}.crash" / "alpha").write_bytes(NOTE)
    files.remove_dead_sockets(str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == [f"two-{os.getpid()}.crash"]
