# SPDX-License-Identifier: Apache-2.0
"""docs/boot-lines.md has each line that boot can print about the machine, and the words for each
way in which something can fail its test."""

import re

import pytest

import harness

PAGE = (harness.ROOT / "docs/boot-lines.md").read_text(encoding="utf-8")

# What prints about firmware, harts and the host's tree, or says why.
SOURCES = ["arch/riscv/counters/hpm_exact.c", "arch/riscv/counters/hpm_flag_trials.c",
           "arch/riscv/counters/hpm_probe.c", "arch/riscv/counters/hpm_selfcheck.c",
           "arch/riscv/devices/imsic.c",
           "core/boot/boot_report.c", "core/boot/hart_table.c", "core/boot/hart_usable.c",
           "core/boot/bootargs.c", "core/boot/harts.c", "core/boot/host_dt.c",
           "core/boot/hs_memory.c",
           "core/boot/main.c", "core/host/host_cpus.c",
           "core/host/host_tree.h", "core/lib/words.c", "core/vcpu/guest_file.c",
           "core/hart/hart_kind.c", "core/hart/pcpu.c", "core/pmu/vm_overflow.c"]
STRING = r'"(?:[^"\\]|\\.)*"'
QUIRK = re.compile(r"\{&quirks\.\w+, \"([\w-]+)\"\}")


def words(source):
    """The texts in a file: of several words, and of no assembly. Comments are no texts."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*|^#include[^\n]*", "", source, flags=re.S | re.M)
    found = ("".join(part[1:-1] for part in re.findall(STRING, run))
             for run in re.findall(rf"{STRING}(?:\s*{STRING})*", text))
    return [it for it in found if re.search(r"[a-z]+ [a-z]", it) and "\\" not in it]


def pattern(text):
    """What prints becomes what the page may have for it: # is a hart's number, too."""
    parts = re.split(r"%[-0-9.*]*(?:l|z)?[a-z]|#", text)
    return re.compile(".*".join(re.escape(part.strip()) for part in parts))


def spans(page):
    """What the page has in backticks, without its samples; a line break in it is a space."""
    page = re.sub(r"^```.*?^```$", "", page, flags=re.M | re.S)
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", page)]


def missing(texts, page):
    """Those that the page does not have."""
    have = spans(page)
    return [text for text in texts if not any(pattern(text).search(span) for span in have)]


@pytest.mark.parametrize("name", SOURCES)
def test_each_line_is_explained(name):
    texts = words((harness.ROOT / name).read_text(encoding="utf-8"))
    assert texts
    assert missing(texts, PAGE) == []


def test_each_quirk_is_explained():
    names = QUIRK.findall((harness.ROOT / "arch/riscv/hart/quirks.c").read_text(encoding="utf-8"))
    assert len(names) == 10
    assert missing(names, PAGE) == []


def test_the_line_before_all_others():
    """In assembly, in two parts."""
    source = (harness.ROOT / "arch/riscv/hart/entry.S").read_text(encoding="utf-8")
    text = "".join(re.findall(r'\.ascii\s+"([^"]*)"', source)[-2:])
    assert text.endswith("\\n")
    assert missing([text[:-2].partition("the platform: ")[2]], PAGE) == []


def test_what_it_finds():
    """Two strings in a row, a comment, and the assembly."""
    source = '''log_line("hart %lu: not " /* x */
	"used at all: %s"); /* "never mind this" */ __asm__("csrr a0, b\\n"); f("one");'''
    assert words(source) == ["hart %lu: not used at all: %s"]
    assert missing(words(source), "`hart N: not\nused at all: WHY`") == []
    assert missing(words(source), "`hart N: not used`") == words(source)
