# SPDX-License-Identifier: Apache-2.0
"""Which units the cutter of terminal output makes of which bytes (tools/lib/runlib/ansi.py)."""
import pytest

import harness  # pylint: disable=unused-import  # finds the tools
from runlib.ansi import CONTROL, TEXT, Cutter


def cut(data, size=1 << 16):
    """Units as text: characters as they are, controls as <hex>, sequences as {bytes after ESC}."""
    cutter, out = Cutter(), ""
    for at in range(0, len(data), size):
        for kind, unit in cutter.feed(data[at:at + size]):
            if kind == TEXT:
                out += unit.decode()
            elif kind == CONTROL:
                out += f"<{unit[0]:02x}>"
            else:
                assert unit[:1] == b"\033" and len(unit) <= 32
                out += "{" + unit[1:].decode() + "}"
    return out


CASES = [
    # Text and controls.
    (b"plain ~ text", "plain ~ text"),
    (b"a\r\n\t\b\a\0\x7f", "a<0d><0a><09><08><07><00><7f>"),
    # UTF-8.
    (b"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\u00e9\u20ac\U0001f600"),
    (b"\xc2\xa0", "\u00a0"),
    # C1 controls, as bytes and as characters: some terminals obey them.
    (b"\x9b1A", "?1A"), (b"\xc2\x9b1A", "?1A"),
    # Bytes that begin nothing, overlong forms, surrogates, beyond the last character.
    (b"\x80\xbf\xc0\xc1\xf5\xff", "??????"), (b"\xe0\x9f\xbf", "??"), (b"\xf0\x8f\xbf\xbf", "???"),
    (b"\xed\xa0\x80", "??"), (b"\xf4\x90\x80\x80", "???"),
    # Cut short.
    (b"\xe2\x82z", "z"), (b"\xe2\x82\xc3\xa9", "\u00e9"), (b"\xe2\x82\n", "<0a>"),
    (b"\xe2\x82\033[m", "{[m}"),
    # Sequences.
    (b"\033[m\033[1;31mred\033[0m", "{[m}{[1;31m}red{[0m}"),
    (b"\033[?25h\033[2 q\0337\0338\033c", "{[?25h}{[2 q}{7}{8}{c}"),
    (b"\033(0x\033#8", "{(0}x{#8}"),
    (b"\033 Fx\033\a\0\177[mx", "{ F}x{[m}x"),
    # The next line is never swallowed.
    (b"\033\nx\033[3\nx\033[1;\rx", "<0a>x<0a>x<0d>x"),
    (b"\033[1\033[2Kx", "{[2K}x"), (b"\033[1\030x\033[1\032y", "xy"),
    (b"\033[\a1\0A\033[1\x7fB", "{[1A}{[1B}"), (b"\033[1\xc3\xa9", "\u00e9"),
    # Strings are left out.
    (b"\033]0;title \xc3\xa9\ax", "x"), (b"\033]0;title\033\\x", "{\\}x"),
    (b"\033Pq#0\033\\\033Xs\033\\\033^p\033\\\033_a\033\\x", "{\\}{\\}{\\}{\\}x"),
    (b"\033]0;\x80\xff\ax", "x"), (b"\033]0;never ended\nx", "<0a>x"),
    (b"\033]0;never ended\030x", "x"),
    # 32 bytes in all fit, 33 do not.
    (b"\033[" + b"1" * 29 + b"mx", "{[" + "1" * 29 + "m}x"), (b"\033[" + b"1" * 30 + b"mx", "x"),
    (b"\033[" + b"1" * 150 + b"mx\033[my", "x{[m}y"), (b"\033" + b"(" * 150 + b"0x", "x"),
]


@pytest.mark.parametrize("data, units", CASES)
def test_units(data, units):
    for size in (1, 2, 1 << 16):
        assert cut(data, size) == units
