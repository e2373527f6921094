# SPDX-License-Identifier: Apache-2.0
"""Code for tests is in builds of `make DEBUG=1` alone (core/debug): a release has neither the code
nor the words of the command line that ask for it, and says that it does not know them."""

import re
import subprocess

import pytest

import bare_guests
import harness
import plain

# Also the most that they may have after "=".
WORDS = ["tally.broken", "tally.ledger", "tally.no-vmids", "tally.roam",
         "tally.silent-events", "tally.trip="]
# Of each file of core/debug one function that is inlined nowhere, and the call of the emulator.
CODE = ["check_exit", "check_entry", "ledger", "debug_trip", "roam", "semihosting"]
UNKNOWN = "WARNING: {}: Tally does not know this word of the bootargs"


def release():
    """Its path, also below `make DEBUG=1 test-qemu`."""
    return plain.make("build/tally.bin", variables=("DEBUG=",))


def image(folder):
    """The bytes of Tally, the names in it, and the files that it is made of."""
    elf = folder / "tally.elf"
    names = subprocess.run(["riscv64-linux-gnu-nm", elf], check=True, capture_output=True,
                           text=True).stdout
    made_of = re.findall(r"^LOAD \S*?obj/(\S+)\.o$", (folder / "tally.map").read_text(), re.M)
    return ((folder / "tally.bin").read_bytes(),
            {line.split()[-1].split(".")[0] for line in names.splitlines()}, made_of)


def debug_files():
    """The sources that only these builds have."""
    return {str(path.relative_to(harness.ROOT))
            for folder in ("core/debug", "arch/riscv/debug")
            for path in (harness.ROOT / folder).glob("*.[cS]")}


def test_a_release_has_nothing_of_it():
    """Neither words nor code."""
    data, names, made_of = image(release().parent)
    assert "core/boot/main.c" in made_of
    for word in WORDS:
        assert word.removeprefix("tally.").encode() + b"\0" not in data
        assert word.encode() not in data
    assert not names & set(CODE)
    assert not debug_files() & set(made_of)


def test_a_debug_build_has_all_of_it(debug_image):
    """The same look finds all there."""
    data, names, made_of = image(debug_image.parent)
    for word in WORDS:
        assert word.encode() + b"\0" in data
    assert names >= set(CODE)
    assert debug_files() <= set(made_of)


def warnings(result):
    """Tally's lines about words."""
    return [line for line in result.own if "this word of the bootargs" in line]


@pytest.mark.parametrize("word", [*WORDS, "tally.backend=others", "tally.roaming", "tally.",
                                  "tally." + "x" * 80])
def test_a_word_that_is_unknown(tmp_path, word):
    """It is told, and changes nothing."""
    word += "text-write" if word.endswith("=") else ""
    result = bare_guests.boot(tmp_path, {"alpha": "kind=busy ticks=1000"},
                              options=["--kernel", release(), "--append", word])
    # Of a long one the beginning.
    assert warnings(result) == [UNKNOWN.format(word[:63])]


def test_words_that_are_known(tmp_path):
    """Those of a user, beside words for others."""
    result = bare_guests.boot(tmp_path, {"alpha": "kind=busy ticks=1000"}, backend="sbi", options=[
        "--kernel", release(), "--append", "quiet  tally.inexact-counts tallyho x=tally.trip"])
    assert warnings(result) == []
    assert any(" back end sbi" in line for line in result.own)
