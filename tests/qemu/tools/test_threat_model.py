# SPDX-License-Identifier: Apache-2.0
"""docs/threat-model.md: each promise has tests, and each test is one's or said to be none's."""

import re

import harness

PAGE = (harness.ROOT / "docs/threat-model.md").read_text(encoding="ascii")
FOLDERS = {"tests/qemu": "*/test_*.py", "tests/host": "test_*.c", "tests/fuzz": "fuzz_*.c"}
TEST = re.compile(r"`((?:test|fuzz)_\w+\.(?:py|c))(?:::\w+)?`")


def files():
    """Names of all tests."""
    return {path.name for folder, names in FOLDERS.items()
            for path in (harness.ROOT / folder).glob(names)}


def test_each_promise_has_tests():
    promises = re.split(r"^\*\*(\d+)\. ", PAGE.split("## What is not promised")[0], flags=re.M)[1:]
    assert promises[::2] == [str(n + 1) for n in range(len(promises) // 2)]
    for number, text in zip(promises[::2], promises[1::2]):
        assert TEST.search(text), number


def test_each_test_is_there():
    named = set(TEST.findall(PAGE))
    assert named - files() == set()  # gone, or misspelt
    assert files() - named == set()  # a new one: which promise does it show?


def test_none_is_a_promises_and_nones():
    promised, others = PAGE.split("## What is promised")[1].split("## Tests of no promise")
    assert set(TEST.findall(promised)) & set(TEST.findall(others)) == set()
