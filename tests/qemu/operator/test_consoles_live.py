# SPDX-License-Identifier: Apache-2.0
"""tools/tally-console, tools/tally-top and pseudo-terminals of a running tools/run."""

import json
import os
import subprocess

import bare_guests
from bare_guests import FOREVER
import consoles
import harness

TOOLS = harness.ROOT / "tools"


def console(run, *words):
    """Attached to its VM."""
    return consoles.attached("--socket", run.path, *words)


def test_two_guests_and_their_consoles(running, tmp_path):
    """Two shells at once, one of which is left and come back to; a guest that prints frames and
    moves the cursor; the end of both."""
    tree = harness.linux_tree(tmp_path, {"alpha": "true", "beta": "true"}, bootargs="tally.shell")
    run = running(tree, profile="interactive")
    alpha, beta = console(run, "alpha"), console(run, "beta")
    for child, name in ((alpha, "alpha"), (beta, "beta")):
        child.expect("/ # ")
        child.send("echo $((6 * 7)) $(hostname)\r")
        child.expect(f"42 {name}\r\n/ # ")
    alpha.send("\x1dw")
    alpha.expect("stty rows 24 cols 80\r\n/ # ")
    alpha.send("stty size\r")
    alpha.expect("24 80\r\n/ # ")
    # What it prints is shown as it is, here, and is nobody else's.
    alpha.send(consoles.FORGES + "\r")
    alpha.expect_exact(consoles.FORGED + "/ # ")
    assert "tally-console" not in alpha.before
    beta.send("echo on\r")
    beta.expect("\non\r\n/ # ")
    assert "forged" not in beta.before
    consoles.leave(alpha)
    # Printed while nobody is there. A pseudo-terminal has it, too.
    pty = os.open(f"{run.path}.ptys/alpha", os.O_RDWR | os.O_NOCTTY)
    os.write(pty, b"echo $((40 + 4)) away\r")
    got = b""
    while b"44 away\r\n/ # " not in got:
        got += os.read(pty, 4096)
    os.close(pty)
    alpha = console(run, "alpha", "--lines", "2")
    alpha.expect("44 away\r\n/ # ")
    assert alpha.before == ""
    other = console(run, "alpha", "--lines", "1")
    other.expect("/ # ")
    alpha.send("echo $((50 + 5)) both\r")
    for child in (alpha, other):
        child.expect("55 both\r\n/ # ")
    done = subprocess.run([TOOLS / "tally-console", "--socket", run.path, "beta"],
                          input=b"poweroff -f\n", capture_output=True, check=False)
    assert done.returncode == 0
    assert b"tools/tally-console: vm beta: ended\n" in done.stderr
    beta.expect("tools/tally-console: vm beta: ended\r\n")
    alpha.send("poweroff -f\r")
    for child in (alpha, other):
        child.expect("tools/tally-console: vm alpha: ended\r\n")
    assert [consoles.ended(child) for child in (alpha, beta, other)] == [6, 6, 6]
    run.read_until(None)
    assert run.process.wait() == harness.OK
    assert not os.path.exists(f"{run.path}.ptys")


def test_a_flood_and_a_restart(running, tmp_path):
    """Of a guest that prints much a console has each byte, from its first start on; it stays when
    the VM starts again."""
    tree = tmp_path / "flood.dts"
    tree.write_text(bare_guests.tree({"alpha": "kind=chatter lines=3000 by=dbcn", "beta": FOREVER},
                                     properties="restart-limit = <3>;",
                                     own={"alpha": 'boot = "defer";'}), encoding="utf-8")
    run = running(tree)
    with subprocess.Popen([TOOLS / "tally-console", "--socket", run.path, "alpha"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as flood:
        assert b"this is vm alpha" in flood.stderr.readline()
        assert run.ctl("start", "alpha")[0] == 0
        text = flood.stdout.read().decode().replace("\r", "")
        assert flood.wait(timeout=harness.GUARD) == 0
    assert text.splitlines() == [bare_guests.letters(n) for n in range(3000)]
    child = console(run, "beta")
    assert run.ctl("restart", "beta")[0] == 0
    child.expect("tools/tally-console: vm beta: starts again\r\n")
    child.expect("busy: begins")
    assert run.ctl("poweroff")[0] == 0
    assert consoles.ended(child) == 6


def test_two_guests_on_a_hart(running):
    """Of a machine: a row of each, with all its columns. That they have half of the hart each is in
    test_tables.py."""
    run = running({"alpha": FOREVER, "beta": FOREVER})
    run.wait_for_guests()
    done = subprocess.run([TOOLS / "tally-top", "--socket", run.path, "--once", "--json", "-d", "1",
                           "--hs-share"], capture_output=True, text=True, check=False)
    lines, complaints = done.stdout.splitlines(), done.stderr.splitlines()
    assert complaints == []
    rows = list(map(json.loads, lines))
    assert [(row["vm"], row["vcpu"], row["state"], row["hart"]) for row in rows] == [
        ("alpha", 0, "running", 0), ("beta", 0, "running", 0)]
    for row in rows:
        assert {"seconds", "cpu_percent", "steal_percent", "hs_percent"} <= set(row)
        assert "timer" in row["exits_per_s_by"]
    # Nothing of it goes on.
    assert run.ctl("observed") == (0, [], [])
    assert run.ctl("poweroff")[0] == 0
