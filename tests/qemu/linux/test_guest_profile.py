# SPDX-License-Identifier: Apache-2.0
"""What the shell of a Linux guest is told (guests/linux/profile), on the host's."""

import subprocess

import harness


def shell(folder, command):
    """Runs a command in a shell with that profile, and with a perf that says what it was asked."""
    perf = folder / "perf"
    perf.write_text('#!/bin/sh\necho "perf $*"\n', encoding="ascii")
    perf.chmod(0o755)
    return subprocess.run(["/bin/sh", "-c", f". {harness.ROOT}/guests/linux/profile\n{command}"],
                          capture_output=True, text=True, check=False,
                          env={"PATH": f"{folder}:/usr/bin:/bin"})


def test_annotate_says_what_is_missing(tmp_path):
    done = shell(tmp_path, "perf annotate -i /tmp/p")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == ("perf annotate needs objdump, which this guest has not; "
                           "perf script -F ip,sym,symoff prints where samples were taken\n")


def test_all_else_is_perf(tmp_path):
    done = shell(tmp_path, "perf stat -e 'a b' work")
    assert (done.returncode, done.stdout, done.stderr) == (0, "perf stat -e a b work\n", "")
