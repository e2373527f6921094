# SPDX-License-Identifier: Apache-2.0
"""tools/check/stack on small programs: what it computes, and each thing that it refuses."""

import subprocess

import pytest

import harness
import schemas

CROSS = "riscv64-linux-gnu-"
TABLE = """
largest_frame = "PAGE"
[[entry]]
name = "_start"
stack = "STACK"
"""
OFFSETS = "#define STACK 2048\n#define PAGE 1024\n"
# use() makes a frame of 16 bytes and its array, so that a test knows the sum.
PROGRAM = """
#define NOINLINE __attribute__((noinline, noclone))
void sink(volatile char *at);
NOINLINE void sink(volatile char *at) { *at = 1; }
#define FRAME(bytes) volatile char array[bytes]; sink(array); sink(array)
"""


def check(folder, text, table=TABLE, options=()):
    """Compiles a program and looks at it."""
    source = folder / "program.c"
    source.write_text(PROGRAM + text)
    (folder / "table.toml").write_text(table)
    (folder / "offsets.h").write_text(OFFSETS)
    subprocess.run([f"{CROSS}gcc", "-O2", "-march=rv64gc", "-ffreestanding", "-nostdlib", "-static",
                    "-fno-pic", "-no-pie", "-fno-stack-protector", "-fno-optimize-sibling-calls",
                    "-Wl,--build-id=none", "-fcallgraph-info=su", "-dumpdir", f"{folder}/", source,
                    "-o", folder / "program"], check=True)
    (ci,) = folder.glob("*.ci")
    return subprocess.run([harness.ROOT / "tools/check/stack", CROSS, folder / "program", ci,
                           folder / "offsets.h", "--table", folder / "table.toml", *options],
                          capture_output=True, text=True, check=False)


def refused(done):
    """Why it is refused, in one line."""
    assert (done.returncode, done.stdout) == (1, ""), done
    (line,) = done.stderr.splitlines()
    return line


def test_the_deepest_path(tmp_path):
    """16 bytes for ra and alignment beside each array."""
    program = """
NOINLINE void small(void) { FRAME(16); }
NOINLINE void large(void) { FRAME(256); small(); }
NOINLINE void other(void) { FRAME(160); }
void _start(void) { large(); other(); for (;;); }"""
    done = check(tmp_path, program)
    assert done.returncode == 0, done
    assert done.stdout == "_start: 320 of 2048 bytes: _start > large > small > sink\n"
    assert schemas.read("stack", check(tmp_path, program, options=["--json"]).stdout) == [
        {"entry": "_start", "bytes": 320, "of": 2048, "path": ["_start", "large", "small", "sink"]}]


def test_too_deep(tmp_path):
    done = check(tmp_path, """
NOINLINE void a(void) { FRAME(800); }
NOINLINE void b(void) { FRAME(800); a(); }
void _start(void) { FRAME(512); b(); for (;;); }""")
    assert refused(done) == ("tools/check/stack: _start: 2160 bytes, and its stack has 2048: "
                             "_start > b > a > sink")


def test_a_frame_that_reaches_over_a_guard(tmp_path):
    done = check(tmp_path, "void _start(void) { FRAME(1024); for (;;); }")
    assert refused(done) == (
        "tools/check/stack: _start: its frame of 1040 bytes could reach over a guard")


@pytest.mark.parametrize("text, ring", [
    ("NOINLINE void a(int n) { FRAME(16); if (n) a(n - 1); sink(array); }\n", "a"),
    ("void b(int n);\nNOINLINE void a(int n) { FRAME(16); b(n - 1); sink(array); }\n"
     "NOINLINE void b(int n) { FRAME(16); if (n) a(n); sink(array); }\n", "a, b")])
def test_recursion(tmp_path, text, ring):
    done = check(tmp_path, text + "void _start(void) { a(5); for (;;); }")
    assert refused(done) == f"tools/check/stack: recursion: {ring}"


def test_recursion_by_a_pointer(tmp_path):
    done = check(tmp_path, """
void (*volatile next)(void);
NOINLINE void a(void) { FRAME(16); next(); sink(array); }
void _start(void) { next = a; a(); for (;;); }""",
                 TABLE + f'[[pointer]]\nin = "{tmp_path}/program.c"\ntext = "next()"\nto = ["a"]\n')
    assert refused(done) == "tools/check/stack: recursion: a"


def test_a_frame_of_variable_size(tmp_path):
    done = check(tmp_path, "void _start(void) { for (int n = 0;; n++) { FRAME(n + 1); } }")
    assert refused(done) == "tools/check/stack: _start: the size of its frame is dynamic"


CALLS = """
NOINLINE void a(void) { FRAME(16); }
NOINLINE void b(void) { FRAME(512); }
void (*volatile next)(void) = a;
void (*volatile last)(void) = b;
void _start(void) { next(); last(); for (;;); }"""


def rows(folder, *pairs):
    """A table with these calls through pointers."""
    return TABLE + "".join(f'[[pointer]]\nin = "{folder}/program.c"\ntext = "{text}"\nto = {to}\n'
                           for text, to in pairs)


def test_pointers(tmp_path):
    """The deeper one of two counts."""
    done = check(tmp_path, CALLS, rows(tmp_path, ("next(); last()", ["a", "b"])))
    assert done.stdout == "_start: 544 of 2048 bytes: _start > b > sink\n"


@pytest.mark.parametrize("pairs, why", [
    ((("none", ["a", "b"]),), "an unknown call through a pointer: void _start(void) { next(); "
                              "last(); for (;;); }"),
    ((("next", ["a"]),), "b: its address is taken, and no call leads to it"),
    ((("next", ["a", "b", "c"]),), "nothing named c has its address taken"),
    ((("next", ["a", "b"]), ("no such", ["a"])), "no such call through a pointer: no such")])
def test_pointers_that_are_not_as_the_table_says(tmp_path, pairs, why):
    line = refused(check(tmp_path, CALLS, rows(tmp_path, *pairs)))
    assert line.replace(f"{tmp_path}/program.c: ", "") == f"tools/check/stack: {why}"


def test_tally_itself():
    """The link of the hypervisor looks, and leaves what it found."""
    text = (harness.BUILD / "stacks.txt").read_text(encoding="utf-8")
    assert [line.partition(":")[0] for line in text.splitlines()] == [
        "_start", "secondary_hart", "trap_vector", "trap_vector_recorded", "hs_trap", "last_words"]
