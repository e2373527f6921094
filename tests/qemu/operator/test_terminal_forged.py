# SPDX-License-Identifier: Apache-2.0
"""A guest that prints what others would: on the screen, in logs and in the verdict it is its own,
the guest in focus of a terminal included."""
import pexpect
import pytest

import bare_guests
import harness
import plain
import recorded

UP = b"\x1b[A\r"
TO_THE_LEFT = b"\x1b[40D"


def forger(printed, after=0):
    """The bootargs of a guest that prints that."""
    return f"kind=forge after={after} ticks=20000 bytes={printed.hex()}"


@pytest.fixture
def seen(console, tmp_path):
    """(what alpha prints) -> (exit status, the terminal's Screen, folder of logs): alpha, in
    focus, prints it in the middle of what beta does."""

    def run(printed):
        plain.make("build/guests/bare.bin")
        tree, logs = tmp_path / "bare.dts", tmp_path / "logs"
        guests = {"alpha": forger(printed, 30000), "beta": "kind=busy ticks=100000"}
        tree.write_text(bare_guests.tree(guests), encoding="utf-8")
        screen = console(tree, options=["--include", harness.BUILD / "guests", "--log-dir", logs])
        screen.expect(pexpect.EOF)
        screen.close()
        shown = recorded.Screen(columns=200, lines=24)
        shown.feed(screen.before.encode())
        return screen.exitstatus, shown, logs

    return run


def begins(rows, text):
    return [row for row in rows if row.startswith(text)]


@pytest.mark.parametrize("forged", [
    b"x" + UP * 3 + b"tally: vm beta: forged",
    b"x" + TO_THE_LEFT + b"tally: vm beta: forged\r\n",
    b"x\x1b[2K\x1b[Gtally: vm beta: forged\r\n",
    b"x\x1b[5;1Htally: vm beta: forged\x1b[24;1H\r\n",
    b"x\x1b[24;1H\x1bM\x1bM\x1bMtally: vm beta: forged",
    b"x\x1b[3S\x1b[1Ftally: vm beta: forged",
    "\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301".encode() + TO_THE_LEFT +
    b"tally: vm beta: forged\r\n",
    b"\x1b[7;31mx\r\n",
    b"x\x1b[?25;1049h\x1b[1;1Hy\x1b[25;1;1049ltally: vm beta: forged\x1b[?1049l\r\n",
], ids=["up", "left", "erased", "absolute", "reverse", "scrolled", "no-width", "colour", "screens"])
def test_the_screen(seen, forged):
    """No row that is not Tally's begins with its name, and Tally's own are all there to be seen."""
    status, screen, _ = seen(forged)
    assert status == harness.OK
    rows = screen.all_rows()
    assert not begins(rows, "tally: vm beta: forged"), rows
    assert begins(rows, "tally: vm beta: ended") and begins(rows, "tally: vm alpha: ended")
    assert rows.index("tally: all VMs ended") > rows.index("tally: vm alpha: ended")
    assert begins(rows, "[beta] busy: begins")
    # None of them has the look of the guest's text.
    for y, row in enumerate(screen.display):
        if row.startswith("tally: "):
            assert screen.buffer[y][0].fg == "default" and not screen.buffer[y][0].reverse


VERDICTS = [
    TO_THE_LEFT + b"tally: vm beta: failed: forged\r\n",
    TO_THE_LEFT + b"tally: panic: forged\r\n",
    TO_THE_LEFT + b"tally: refused: forged\r\n",
    b"\ntally: vm beta: failed: forged\n\n[beta] x\n",
    b"\x1e!vm beta: failed: forged\n\x1e-\n\x1e!panic\n",
    b"\x1etally@! on\r\n\x1etally@- tally: vm beta: failed: x\r\n",
    b"\r\x1b[A\x1b[Ktally: 1 instructions from entry to the first guest\n" + TO_THE_LEFT +
    b"tally: panic\n",
]


@pytest.mark.parametrize("forged", VERDICTS)
def test_a_wrong_verdict(seen, forged):
    """Both VMs end well, whatever alpha says."""
    assert seen(forged)[0] == harness.OK


@pytest.mark.parametrize("forged", [
    TO_THE_LEFT + b"tally: all VMs ended\r\n", b"\x1e!vm alpha: ended\n\x1e!all VMs ended\n",
    b"\ntally: all VMs ended\n"])
def test_a_good_verdict(console, tmp_path, forged):
    """Who leaves a machine whose guests only say that they have ended is told so."""
    plain.make("build/guests/bare.bin")
    tree = tmp_path / "bare.dts"
    guests = {"alpha": forger(forged + b"said\n").replace("20000", "100000000000"),
              "beta": "kind=busy ticks=100000000000"}
    tree.write_text(bare_guests.tree(guests), encoding="utf-8")
    screen = console(tree, options=["--include", harness.BUILD / "guests"])
    screen.expect("said\r\n")
    screen.send("\x01x")
    screen.expect("the machine was left before all VMs had ended")
    screen.expect(pexpect.EOF)
    screen.close()
    assert screen.exitstatus == harness.INTERRUPTED


def test_the_verdict_without_a_terminal(tmp_path):
    for forged in VERDICTS:
        bare_guests.boot(tmp_path, {"alpha": forger(forged), "beta": "kind=busy ticks=1000"})


def test_what_is_expected(tmp_path):
    """--expect is about lines of each VM's own."""
    bare_guests.boot(tmp_path, {"alpha": forger(b"done\n\r[beta] done\n\x1eBdone%0A\n"),
                                "beta": "kind=busy ticks=1000"}, status=harness.VM_FAILED,
                     options=["--expect", "^.(alpha|beta). done"])


@pytest.mark.parametrize("forged", [
    TO_THE_LEFT + b"[beta] forged\r\n", b"\r[beta] forged\n", b"\n[beta] forged\n",
    b"\x1eBforged\n\x1eB%0Aforged%0A\n\x1e:A beta\nforged\n", UP + b"[beta] forged\n"])
def test_a_neighbours_log(seen, forged):
    """What alpha prints is in its own log alone."""
    status, _, logs = seen(forged)
    assert status == harness.OK
    texts = {path.stem: path.read_text(encoding="utf-8") for path in logs.iterdir()}
    assert "forged" in texts["alpha"]
    assert "forged" not in texts["tally"] and "forged" not in texts["beta"]
    assert texts["beta"].splitlines()[0] == "busy: begins" and len(texts["beta"].splitlines()) == 2
