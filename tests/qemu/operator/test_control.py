# SPDX-License-Identifier: Apache-2.0
"""tools/tally-ctl: programs ask the hypervisor over the console's line while guests run."""

import contextlib
import os
import re
import select
import signal
import socket
import subprocess
import threading

import bare_guests
from bare_guests import FOREVER
import fakes
import harness
from perflib import events as perf_events
import plain
import programs
import prompts
from tallylib import tally_ctl

FLOOD = 1000


def test_a_deep_folder(running, tmp_path):
    """The repository may lie in one: its sockets are in build/control."""
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    deep.mkdir(parents=True)
    run = running({"alpha": FOREVER}, folder=deep)
    assert run.ctl("vms")[0] == 0
    assert run.ctl("poweroff")[0] == 0
    run.read_until(None)
    assert run.process.wait() == harness.OK


def test_the_time_of_day_is_set(running):
    run = running({"alpha": FOREVER})
    run.wait_for_guests()
    assert run.ctl("time", "1700000000") == (0, ["time 2023-11-14T22:13:20Z, seconds 1700000000"],
                                             [])
    assert run.ctl("time", "4294967296")[0] == 2
    assert run.ctl("time", "tomorrow")[0] == 2
    assert re.fullmatch(r"time 2023-11-14T22:\S+, seconds 17000\d+", run.ctl("time")[1][0])
    assert run.ctl("poweroff")[0] == 0
    run.read_until(None)
    assert run.process.wait() == harness.OK


def test_to_this_computers_time(tmp_path):
    machine = fakes.Asked(tmp_path / "control", lambda command: (0, [command]))
    done = subprocess.run([harness.ROOT / "tools/tally-ctl", "--socket", machine.path, "time",
                           "now"], capture_output=True, encoding="utf-8", check=True)
    machine.end()
    assert re.fullmatch(r"time \d{10}", machine.commands[-1]), done.stdout


def test_while_all_guests_wait_for_ever(running):
    """Nobody has set a timer to which the machine's clock could leap: it is heard all the same."""
    run = running({"alpha": "kind=wfi idle=ever", "beta": "kind=wfi idle=ever"})
    run.wait_for_guests()
    for _ in range(3):
        status, answer, complaint = run.ctl("vms")
        assert (status, complaint) == (0, [])
        # And its clock goes forward, a second at a time.
        for name, line in zip(("alpha", "beta"), answer, strict=True):
            up = re.fullmatch(rf"{name} +running +up (\d+)\.\d+ s, vcpus 1, .*", line)
            assert up and int(up.group(1)) < 1 << 32, line
    assert run.ctl("poweroff")[0] == 0
    run.read_until(None)
    assert run.process.wait() == harness.OK


@harness.both_backends
def test_two_programs_while_guests_count_and_flood(running, backend):
    """Each answer is whole and its asker's; alpha's counts are those that test_prompt.py has
    without anybody who asks; of beta's flood no byte is lost, and nobody sees the frames."""
    run = running({"alpha": prompts.ON_AND_ON,
                   "beta": f"kind=chatter lines={FLOOD} by=dbcn"}, backend=backend)
    end, answers = threading.Event(), ([], [])
    threads = [threading.Thread(target=programs.ask_until, args=(run.path, end, mine))
               for mine in answers]
    for thread in threads:
        thread.start()
    while not ("[alpha] measure: round 1 " in run.console and "vm beta: ended" in run.console and
               all(len(mine) > 6 for mine in answers)):
        run.read_line()
    end.set()
    for thread in threads:
        thread.join()
    assert run.ctl("poweroff")[0] == 0
    run.read_until(None)
    assert run.process.wait() == harness.OK
    result = harness.Result(harness.OK, run.console)
    prompts.check_rounds(result.vm("alpha"))
    assert result.vm("beta") == [bare_guests.letters(n) for n in range(FLOOD)]
    assert "tally@" not in run.console and "\x1e" not in run.console
    for mine in answers:
        for command, objects in mine:
            assert [line["vm"] for line in objects if "counter" not in line] == ["alpha", "beta"]
            assert all({"vms": "state", "exits": "ecall", "pmu": "vcpu"}[command] in line
                       for line in objects)


def test_each_exit_status(running, tmp_path):
    """And what Tally is told by something that is no program of ours."""
    run = running({"alpha": FOREVER})
    run.wait_for_guests()
    status, lines, complaints = run.ctl("vms")
    assert (status, complaints) == (0, [])
    assert re.fullmatch(r"alpha {10} running  up \d+\.\d{3} s, vcpus 1, harts 0, memory 16 MiB",
                        lines[0])
    status, lines, _ = run.ctl("exits", "--json")
    assert status == 0 and lines[0].startswith('{"vm":"alpha","vcpu":0,')
    assert run.ctl("stop", "gamma") == (
        1, [], ['tools/tally-ctl: stop: no VM is called "gamma"'])
    assert run.ctl("frames", "off") == (1, [], [
        "tools/tally-ctl: frames are on as long as the machine runs: tools/run reads them"])
    # This hart cannot count branches, so nothing has begun.
    status, lines, complaints = run.ctl("observe", "alpha", "branches")
    assert (status, complaints) == (1, []) and lines[0].endswith(", ended: not supported")
    assert run.ctl("observe", "alpha", "branches", "--json")[0] == 1
    assert run.ctl("observe", "alpha", "cycles")[0] == 0
    assert run.ctl("unobserve")[0] == 0
    for wrong in (["nonsense"], ["vms", "all"], ["exit"], ["vms\x14n"], ["v" * 65], [" "]):
        status, lines, complaints = run.ctl(*wrong)
        assert (status, lines, len(complaints)) == (2, [], 1), wrong
    nobody = str(tmp_path / "nobody")
    assert run.ctl("--socket", nobody, "vms") == (
        4, [], [f"tools/tally-ctl: nobody listens at {nobody}"])
    # Nobody reads the answer, as behind `| true`: no more words about that than other tools make.
    nobody_reads, answer = os.pipe()
    os.close(nobody_reads)
    with os.fdopen(answer, "wb") as stdout:
        done = subprocess.run([harness.ROOT / "tools/tally-ctl", "--socket", run.path, "vms"],
                              stdout=stdout, stderr=subprocess.PIPE, check=False,
                              timeout=harness.GUARD)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")
    # Rubbish on the socket: a complaint for each line, and the next program is served.
    with socket.socket(socket.AF_UNIX) as rubbish:
        rubbish.connect(str(run.path))
        rubbish.sendall(b"\x14n\n" + b"x" * 100000 + b"\n" + bytes(range(256)) + b"\nvms\n")
        got = b""
        while b"\n. 0\n" not in got:
            got += rubbish.recv(4096)
        assert got.count(b"! a command is") == 4 and got.count(b"= vm alpha, state running") == 1
    # The same names as perf's, for the same events.
    with tally_ctl.Machine(str(run.path), timeout=harness.GUARD) as machine:
        names = {name: idx for _, group in perf_events.groups() for name, idx in group.items()}
        assert len(names) == 12 + 7 * 6 + 14 + 16
        for name, idx in names.items():
            (line,) = machine.objects(f"observe alpha {name}")
            assert line["event"] == hex(idx), line
            machine.objects("unobserve")
    assert run.ctl("restart", "alpha") == (0, ["alpha is being restarted"], [])
    run.read_until("vm alpha: starts again")
    run.console = ""
    assert run.ctl("stop", "alpha") == (0, ["alpha is being stopped"], [])
    run.read_until("vm alpha: stopped")
    run.process.terminate()
    assert run.process.wait() == harness.INTERRUPTED
    assert run.ctl("vms")[0] == 4


def test_power_off(running):
    """The answer comes before the end."""
    run = running({"alpha": FOREVER, "beta": FOREVER})
    assert run.ctl("poweroff", "now") == (
        0, ["all VMs are being stopped, then the machine goes off"], [])
    run.read_until(None)
    assert run.process.wait() == harness.OK and "all VMs ended" in run.console


def test_nobody_reads_the_screen(running):
    """A terminal that takes nothing more, while a guest floods it: programs are answered."""
    run = running({"alpha": "kind=chatter lines=100000 by=uart", "beta": FOREVER})
    for _ in range(20):
        assert run.ctl("vms")[0] == 0


def test_a_half_typed_line_and_the_focus(console, tmp_path):
    """A person at the prompt sees nothing of programs, and loses nothing of what was typed."""
    plain.make("build/guests/bare.bin")
    tree = tmp_path / "bare.dts"
    tree.write_text(bare_guests.tree({"alpha": FOREVER, "beta": FOREVER}), encoding="utf-8")
    path = tmp_path / "control"
    screen = console(tree, timeout=harness.GUARD, options=["--include", harness.BUILD / "guests",
                                                 "--control", path])
    screen.expect(r"\[beta\] busy: begins\r\n")
    with tally_ctl.Machine(str(path), timeout=harness.GUARD) as machine:
        assert machine.objects("vms")[0]["vm"] == "alpha"
        prompt = prompts.Prompt(screen)
        screen.send("vm")
        screen.expect("vm")
        assert len(machine.objects("exits")) == 2
        screen.send("s --json\r")
        # Nothing but the echo since "vm".
        screen.expect(r"s --json\r\ntally: \{")
        assert screen.before == ""
        assert "uptime_ms" in prompt.wait()
        # Half a key, which nobody may come into.
        screen.send("\x14")
        assert len(machine.objects("vms")) == 2
        screen.send("2")
        screen.expect("input goes to beta")
        assert screen.before.count("\n") == 0
        # QEMU's monitor has a line of its own, so programs are answered meanwhile.
        screen.send("\x01c")
        screen.expect(r"\(qemu\) ")
        assert len(machine.objects("vms")) == 2
        screen.send("info version\r")
        screen.expect(r"\r\n\d+\.\d+\.\d+[^\n]*\n")
        screen.expect(r"\(qemu\) ")
        screen.send("\x01c")
        screen.expect("input goes to beta")
        assert len(machine.objects("vms")) == 2


def test_who_reads_late(running):
    """A program that asks much and reads nothing for a while gets all of it; one that never reads
    is left, and harms nobody."""
    run = running({"alpha": FOREVER})
    with socket.socket(socket.AF_UNIX) as late, socket.socket(socket.AF_UNIX) as never:
        for program, commands in ((late, 100), (never, 1000)):
            program.connect(str(run.path))
            program.sendall(b"help\n" * commands)
        assert run.ctl("vms")[0] == 0
        got = b""
        while got.count(b"\n. 0\n") < 100:
            got += late.recv(65536)
        answer = got[:got.index(b". 0\n") + 4]
        assert answer.count(b"\n= ") > 8 and got == answer * 100
        left = select.poll()
        left.register(never, 0)
        assert left.poll()
        got = b""
        # Who closes with requests unread resets the connection, behind what was sent before.
        with contextlib.suppress(ConnectionResetError):
            while data := never.recv(65536):
                got += data
        assert got == (answer * 1000)[:len(got)] and got.count(b". 0\n") < 1000


def test_two_machines_and_one_socket(running, tmp_path):
    """The second is refused, and the first goes on being asked."""
    run = running({"alpha": FOREVER})
    second = subprocess.run(
        harness.command(tmp_path / "bare.dts", timeout=harness.GUARD, options=[
            "--include", harness.BUILD / "guests", "--control", run.path]),
        capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert second.returncode == harness.USAGE
    assert second.stderr.endswith(f"--control {run.path}: another machine listens there\n")
    assert run.ctl("vms")[0] == 0
