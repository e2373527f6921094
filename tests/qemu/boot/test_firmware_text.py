# SPDX-License-Identifier: Apache-2.0
"""OpenSBI from 1.6 on prints a text without a newline for each illegal CSR instruction of a guest:
it gets a line of its own, and no line of Tally's or a guest's is cut by it."""

import bare_guests
import harness
import peers
from runlib.firmware import NAME, TEXT, FirmwareText

LINES = b"[alpha] one\r\n[beta] two\r\ntally: three\r\n"
SAID = NAME + TEXT + b"\r\n"


def sorted_out(data, size):
    """What becomes of some bytes that come `size` at a time."""
    text = FirmwareText()
    parts = [text.feed(data[n:n + size]) for n in range(0, len(data), size)]
    return b"".join(parts) + text.end()


def test_wherever_it_falls():
    for size in (1, 2, 7, 1000):
        for at in range(len(LINES) + 1):
            came = sorted_out(LINES[:at] + TEXT + LINES[at:], size)
            assert came.replace(SAID, b"", 1) == LINES
            start = came.index(SAID)
            assert start == 0 or came[start - 1:start] == b"\n"


def test_many_in_a_row_are_one_line():
    for size in (1, 1000):
        assert sorted_out(b"[alpha] o" + 3 * TEXT + b"ne\n", size) == (
            b"[alpha] one\n" + NAME + TEXT + b" (3 times)\r\n")


def test_what_is_not_the_text_stays():
    """An s that somebody types comes when nothing has followed for a moment."""
    text = FirmwareText()
    assert text.feed(b"/ # s") == b"/ # "
    assert text.release() == b"s"
    assert sorted_out(b"system_opcode_insn: something else\n", 1) == (
        b"system_opcode_insn: something else\n")


def test_a_neighbours_lines_are_whole(tmp_path):
    """On OpenSBI 1.6, beside a guest that tries the instructions which that prints its text for."""
    result = bare_guests.boot(tmp_path, {"alpha": "kind=hostile", "beta": "kind=measure rounds=1 "
                                         "length=1000"}, status=harness.INTERRUPTED,
                              until="hostile: instructions done",
                              options=["--bios", peers.opensbi("trixie")])
    assert result.vm("beta")[-1] == "measure: ends, 0 wrong of 8"
    alpha = result.vm("alpha")
    assert alpha[0] == "hostile: begins"
    assert all(line.startswith("hostile: ") for line in alpha)
    said = [line for line in result.lines if "system_opcode_insn" in line]
    assert said and all(line.startswith("firmware: system_opcode_insn: ") for line in said)
