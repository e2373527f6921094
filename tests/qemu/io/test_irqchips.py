# SPDX-License-Identifier: Apache-2.0
"""The host's interrupt controllers: a PLIC; an APLIC, alone and with the harts' IMSICs."""

import io
import re

import pytest

import bare_guests
import harness
import measured
import plain
from prompts import Prompt, check_rounds, to_the_end

LENGTH = 10000000
MEASURE = f"kind=measure rounds=1000000 length={LENGTH}"
EXPECTED = measured.rounds(1, LENGTH)
NAMES = {"none": "PLIC", "aplic": "APLIC", "aplic-imsic": "APLIC and IMSIC"}


@harness.both_backends
@pytest.mark.parametrize("aia", NAMES)
def test_counts_and_typing(console, tmp_path, aia, backend):
    """Two guests count while commands are typed, faster than they are answered: each is carried
    out, which takes interrupts that come again as long as there is more; and the counts are exact.
    """
    plain.make("build/guests/bare.bin")
    tree = tmp_path / "bare.dts"
    tree.write_text(bare_guests.tree({"alpha": MEASURE, "beta": MEASURE}), encoding="utf-8")
    screen = console(tree, timeout=harness.GUARD, backend=backend,
                     options=["--include", harness.BUILD / "guests", "--aia", aia])
    screen.logfile_read = io.StringIO()
    screen.expect(rf"console input by {NAMES[aia]}(?! and)[^\n]*\n")
    screen.expect("from entry to the first guest")
    Prompt(screen)
    screen.send("".join(f"stop no{n}\r" for n in range(40)))
    for n in range(40):
        screen.expect(f'stop: no VM is called "no{n}"')
    # They count on, and end when they are told to.
    for name in ("alpha", "beta"):
        screen.expect(rf"\[{name}\] measure: round [1-9]\d* ")
    screen.send("poweroff\r")
    text = to_the_end(screen)
    for name in ("alpha", "beta"):
        check_rounds(re.findall(rf"\[{name}\] (measure: .*)\n", text), EXPECTED)
