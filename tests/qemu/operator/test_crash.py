# SPDX-License-Identifier: Apache-2.0
"""tools/tally-ctl crash and last: what is left of a VM that has failed, or whose life has ended."""

import contextlib
import json
import re
import subprocess
from urllib.parse import unquote_to_bytes

import bare_guests
import fakes
import harness
from bare_guests import FOREVER
import operators
import plain

TICKS_MS = 10000
HEARTBEAT = 50 * TICKS_MS
# Instructions of a stay in HS take a nanosecond each; a tick is 100 ns.
LATE = harness.LONGEST_STAY // 100
KEPT = 4096
LINE = b"heart: line %d: \"50%% of it's \\ \x1b[1mthat\x01\xff\"\n"


def start(running, folder, guests, own, **arguments):  # pylint: disable=redefined-outer-name
    """The Run of such guests, each with its own properties."""
    plain.make("build/guests/bare.bin")
    tree = folder / "crash.dts"
    tree.write_text(bare_guests.tree(guests, own=own), encoding="utf-8")
    return running(tree, **arguments)


def crash_of(lines):
    """The head, the registers, the bytes of text and the exits of an answer with --json."""
    head, *rows = [json.loads(line) for line in lines]
    text = [row for row in rows if "text" in row]
    begin = text[0]["at"] if text else 0
    for row in text:
        assert row["at"] == begin
        begin += len(unquote_to_bytes(row["text"]))
    return (head, {name: int(value, 16) for row in rows if "text" not in row and "cause" not in row
                   for name, value in row.items() if name not in ("vm", "vcpu")},
            b"".join(unquote_to_bytes(row["text"]) for row in text),
            [row for row in rows if "cause" in row])


def test_last_words(tmp_path):
    """Of a VM that does not ring any more; and of one that has not failed. An operator in a VM
    asks, so all of it is the same in each run."""
    # Its clock begins with its life, and not with those of all VMs.
    asked = [(50 * TICKS_MS, "start alpha"), (800 * TICKS_MS, "crash alpha --json"),
             *operators.at_once("crash beta", "crash beta --json")]
    result, told = operators.boot(tmp_path, {
        "alpha": "kind=heart rings=100 every=50000 lines=200 then=spin", "beta": FOREVER
    }, asked, own={"alpha": 'heartbeat-ms = <50>; crash-exits = "on"; boot = "defer";'},
        options=["--control", tmp_path / "control"], until=operators.ENDED)
    assert "vm alpha: failed: did not ring for 50 ms" in result.own
    assert [status for _, status in told] == [0] * 4
    head, registers, text, exits = crash_of(told[1][0])
    assert head["failure"] == "did not ring for 50 ms"
    assert (head["crash"], head["life"], head["vcpu"]) == (1, 1, 0)
    # All that it printed, of which the end is left.
    last = int(re.search(rb"heart: has rung 100 times, last behind (\d+)\r?\n$", text).group(1))
    lines = b"".join(LINE % i for i in range(200))
    whole = b"heart: begins\n" + lines + b"heart: has rung 100 times, last behind %d\n" % last
    assert len(text) == KEPT and text == whole[-KEPT:]
    assert head["printed"] == len(whole)
    # Not a tick too soon, and at most one stay in HS too late.
    assert HEARTBEAT <= head["uptime_ticks"] - last <= HEARTBEAT + LATE
    assert 0x80000000 <= registers["pc"] < 0x81000000
    assert registers["stvec"] and len(registers) == 32 + 8
    assert len(exits) == 64 and {row["cause"] for row in exits} <= {"timer", "wfi", "ecall", "irq"}
    assert {row["vcpu"] for row in exits} == {0}
    assert min(row["hs_instructions"] for row in exits) > 0
    # An exit may be served in several stays.
    assert max(row["hs_instructions"] for row in exits) < 4 * harness.LONGEST_STAY
    times = [row["time_us"] for row in exits]
    assert times == sorted(times) and times[-1] <= head["time_us"]
    # tools/run keeps more.
    assert (tmp_path / "control.crash/alpha").read_bytes().replace(b"\r\n", b"\n") == whole
    assert not (tmp_path / "control.crash/beta").exists()
    assert [lines for lines, _ in told[2:]] == [
        ["beta has not failed"], ['{"vm":"beta","failure":null}']]


def test_until_the_next(running, tmp_path):  # pylint: disable=redefined-outer-name
    """They are there when the VM runs again, and without exits where none were noted."""
    run = start(running, tmp_path, {
        "alpha": "kind=crash how=breakpoint", "beta": FOREVER
    }, {"alpha": 'restart = "on-failure"; restart-limit = <1>;'})
    run.read_until("stays off: restart-limit is 1")
    run.read_until("stvec")
    status, lines, wrong = run.ctl("crash", "alpha", "--json")
    assert (status, wrong) == (0, [])
    head, registers, text, exits = crash_of(lines)
    assert run.ctl("crash", "beta") == (0, ["beta has not failed"], [])
    assert run.ctl("crash", "beta", "--json") == (0, ['{"vm":"beta","failure":null}'], [])
    assert run.ctl("crash", "gamma") == (
        1, [], ['tools/tally-ctl: crash: no VM is called "gamma"'])
    assert head["failure"].startswith("its trap handler traps for ever at ")
    assert (head["crash"], head["life"], head["exits_noted"]) == (2, 2, False)
    assert text == b"crash: begins\n" and exits == []
    assert registers["scause"] == 3 and registers["sepc"] == registers["stvec"] + 12
    status, lines, _ = run.ctl("crash", "alpha")
    assert status == 0
    assert lines[0] == f"vm alpha: failed: {head['failure']}"
    assert "after its start number 2; crash number 2" in lines[1]
    assert lines[2].endswith("crash-exits is not on in its node of the VM tree")
    assert lines[3] == "registers of vcpu 0:"
    assert lines[-2:] == ["its last text:", "  crash: begins"]


def last_of(lines):
    """The head and the bytes of text of an answer to `last` with --json."""
    head, registers, text, exits = crash_of(lines)
    assert not registers and not exits
    return head, text


def test_the_last_life(tmp_path):
    """Whatever has ended it: a shutdown, a reboot behind which the next life runs, a stop. A crash
    before it stays what it is."""
    asked = [*operators.at_once("last beta", "last beta --json"), (10 * TICKS_MS, "start alpha"),
             (700 * TICKS_MS, "last alpha --json"), *operators.at_once(
                 "crash alpha --json", "last gamma --json", "stop beta"),
             ("+10000", "last beta --json"), *operators.at_once(
                 "last gamma --json", "crash delta --json", "last delta --json", "last")]
    result, told = operators.boot(tmp_path, {
        "alpha": "kind=heart rings=20 every=50000 lines=200 then=end", "beta": FOREVER,
        "gamma": "kind=life type=1 spin=10000000", "delta": "kind=crash how=breakpoint"
    }, asked, own={"alpha": 'heartbeat-ms = <50>; boot = "defer";',
                   "gamma": "restart-limit = <1000>;", "delta": 'restart = "never";'},
        until=operators.ENDED)
    assert told[0] == (["beta has not ended"], 0), str(result)
    assert told[1] == (['{"vm":"beta","end":null}'], 0)
    head, text = last_of(told[3][0])
    assert (head["end"], head["life"]) == ("shutdown", 1)
    last = int(re.search(rb"heart: has rung 20 times, last behind (\d+)\n", text).group(1))
    whole = b"".join([b"heart: begins\n", *(LINE % i for i in range(200)),
                      b"heart: has rung 20 times, last behind %d\n" % last,
                      b"heart: ends, 45 checks, 0 failed\n"])
    assert (head["printed"], text) == (len(whole), whole[-KEPT:])
    assert told[4] == (['{"vm":"alpha","failure":null}'], 0)
    before, text = last_of(told[5][0])
    assert (before["end"], before["printed"]) == ("reboot", len(text))
    assert text.count(b"\n") == 1 and text.startswith(b"life")
    head, text = last_of(told[7][0])
    assert (head["end"], head["life"], text) == ("stop", 1, b"busy: begins\n")
    head, text = last_of(told[8][0])
    assert head["life"] >= before["life"]
    crash, _, of_crash, _ = crash_of(told[9][0])
    head, text = last_of(told[10][0])
    assert (head["end"], head["life"], text) == ("failure", crash["life"], of_crash)
    assert head["uptime_ticks"] == crash["uptime_ticks"] and head["time_us"] == crash["time_us"]
    assert told[11][1] == 2


def test_whole_lines(tmp_path):
    """Pieces of a text end anywhere: also within a line, or between CR and LF."""
    head = {"vm": "alpha", "end": "stop", "life": 1, "time_us": 2, "uptime_us": 1}
    pieces = ["one%0D%0A", "two%0D", "%0A%0D%0Athr", "ee%0D%0A", "end"]
    with contextlib.ExitStack() as stack:
        machine = fakes.Asked(tmp_path / "control", lambda _: fakes.told(
            [head, *({"vm": "alpha", "at": 0, "text": piece} for piece in pieces)]))
        stack.callback(machine.end)
        said = subprocess.run(
            [harness.ROOT / "tools/tally-ctl", "--socket", machine.path, "last", "alpha"],
            check=True, capture_output=True, text=True).stdout
    assert said.splitlines()[2:] == ["its last text:", "  one", "  two", "  ", "  three", "  end"]
