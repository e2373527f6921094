# SPDX-License-Identifier: Apache-2.0
"""docs/boards.md: its table of cores follows from the trials. docs/board-tree.md: a reader who
types what it shows gets from each board's tree to a VM tree that vm-check accepts."""

import json
import re
import shlex
import subprocess

import pytest

import harness
from samples import blocks

pytestmark = pytest.mark.usefixtures("vm_check_built")
PAGE = (harness.ROOT / "docs/boards.md").read_text(encoding="utf-8")
TRIALS = json.loads((harness.ROOT / "tests/machines.json").read_text(encoding="utf-8"))
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in
        PAGE.split("## Cores")[1].split("\n## ")[0].splitlines() if line.startswith("| ")][2:]
BOARDS = ["p550", "k3", "xiangshan-kunminghu", "tt-atlantis"]


def tried(model, guests):
    """{QEMU's version: the words of the table}, of a model whose trials agree on all firmwares."""
    found = {}
    for run in TRIALS:
        if (run["cpu"], run["guests"]) == (model, guests):
            words = "; ".join(f"{name} {run[name]}" for name in ("counts", "filters", "samples"))
            assert found.setdefault(run["qemu"], words) == words
    return found


def models():
    """[(model, its row)] of the rows that come from trials."""
    return [(name, row) for row in ROWS for name in re.findall(r"QEMU `([\w-]+)`", row[5])]


@pytest.mark.parametrize("column, guests", [(2, 1), (3, 2)])
def test_cores_follow_from_the_trials(column, guests):
    """What the newest QEMU does comes first; where an older one does less, it is said."""
    assert len(models()) == 4
    for model, row in models():
        words = tried(model, guests)
        newest = words.pop(max(words, key=lambda version: int(version.split(".")[0])))
        assert row[column].startswith(newest), model
        for version, older in words.items():
            said = f"On QEMU {version.split('.', maxsplit=1)[0]}"
            assert (said in row[column]) == (older != newest), model
            assert older in row[column], model


def test_each_row_says_where_it_is_known_from():
    assert len(ROWS) == 8
    for row in ROWS:
        assert len(row) == 6
        assert re.match(r"QEMU `|Linux's `|a tree like |documents$", row[5]), row


def test_each_path_is_a_boards():
    """In the order of the table."""
    typed = [line for block in blocks("docs/board-tree.md") for line in block
             if line.startswith("$ dtc ")]
    assert [line.split("/")[-1].removesuffix(".dts") for line in typed] == BOARDS


def shows(printed, wanted):
    """Whether these lines come in this order. "..." stands for lines, or for the end of one."""
    rest = iter(printed)
    return all(any(re.fullmatch(re.escape(line).replace(r"\.\.\.", ".*"), it) for it in rest)
               for line in wanted if line.strip() != "...")


def test_what_shows():
    assert shows(["a", "b", "c d"], ["a", "...", "c ..."])
    assert not shows(["b", "a"], ["a", "b"])


@pytest.fixture(name="folder")
def a_folder(tmp_path):
    """Where a reader types: it looks like the repository, and what is written stays out of that."""
    for name in ("tools", "dts"):
        (tmp_path / name).symlink_to(harness.ROOT / name)
    return tmp_path


@pytest.mark.parametrize("board", BOARDS)
def test_what_a_reader_types(folder, board):
    lines = next(block for block in blocks("docs/board-tree.md")
                 if block and block[0].endswith(f"/{board}.dts"))
    commands = [n for n, line in enumerate(lines) if line.startswith("$ ")]
    base = "0x80000000"
    for n, until in zip(commands, [*commands[1:], len(lines)]):
        words = shlex.split(lines[n][2:])
        if words[0] == "make":
            base = words[1].removeprefix("BOARD_RAM=")
            continue
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), words
        assert shows(done.stdout.splitlines(), lines[n + 1:until]), done.stdout
    assert (folder / "vms.dtb").stat().st_size > 1 << 20
    assert lowest_bank(folder / "board.dtb") == int(base, 16)


def lowest_bank(tree):
    """Where its RAM begins."""
    nodes = subprocess.run(["fdtget", "-l", tree, "/"], check=True, capture_output=True, text=True)
    return min(int(name.partition("@")[2], 16) for name in nodes.stdout.split()
               if name.startswith("memory@"))


def test_steps_for_any_board(folder):
    """The commands in the text above the boards' own, in their order."""
    page = (harness.ROOT / "docs/board-tree.md").read_text(encoding="utf-8")
    text = page.split("## From a board's tree to a VM tree")[1].split("### P550")[0]
    typed = re.findall(r"`((?:dtc|cp|tools/vm-check) [^`]+)`", text)
    assert [words.split()[0] for words in typed] == ["dtc", "cp", "tools/vm-check"]
    for words in typed:
        subprocess.run(shlex.split(words), cwd=folder, check=True, capture_output=True)


def test_tally_is_no_efi_program():
    with open(harness.BUILD / "tally.bin", "rb") as image:
        header = image.read(64)
    assert header[:2] != b"MZ" and header[56:60] == b"RSC\x05"
