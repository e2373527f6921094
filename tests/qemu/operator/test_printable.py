# SPDX-License-Identifier: Apache-2.0
"""Names that others chose, in every output of every tool: of functions by each kind of file, of VMs
and events by files of samples, of a machine's answers. Nothing but printable characters leaves."""

import gzip
import json
import os
import re
import subprocess
import unicodedata

from elftools.elf.elffile import ELFFile
import pytest

import fakes
import flames
import harness
import kernels
from tallylib import frames, printable

TOOLS = harness.ROOT / "tools"
TEXT = 0xffffffff80000000
# A title of the window, a cleared screen, a forged line, one of a folded stack, controls of eight
# bits, characters that turn the others' direction, one that nobody sees, no character, too many.
HOSTILE = {
    "escape": b"f\x1b]0;PWN\x07\x1b[2J\rg", "line": b"f\nb;forged 9", "space": b"f forged 9",
    "c1": "f\x9b2J\x85g".encode(), "bidi": "f\u202egnp\u2066\u200fg".encode(),
    "nothing": "f\u200b\u3164\u2028\U000e0041\u00a0g".encode(), "delete": b"f\x7f\x08\x0bg",
    "bytes": b"f\xff\xc0\xe2\x82g", "long": b"f" * 100000, "accents": b"f" + "\u0301".encode() * 9,
    "markup": b"f</script>\"'\\&g",
}

def plain(text):
    """All that a terminal, a log, or a program that reads lines, gets."""
    assert not re.search(r"[^\n -~]", text), repr(re.search(r".{0,40}[^\n -~].{0,40}", text, re.S))
    assert not re.search(r"^(b;)?forged", text, re.M)
    assert max(map(len, text.split("\n"))) < 70000


def inside(found):
    """All texts of what a JSON file holds."""
    if isinstance(found, dict):
        found = [*found, *found.values()]
    if isinstance(found, list):
        return [text for each in found for text in inside(each)]
    return [found] if isinstance(found, str) else []


def plain_json(text):
    """A file of JSON, or one object a line: as it stands, and what it stands for."""
    try:
        found = [json.loads(text)]
    except ValueError:
        found = [json.loads(line) for line in text.splitlines()]
    for each in inside(found):
        plain(each)
        assert "\n" not in each and len(each) < 3000


def elf(folder, name):
    """A kernel's ELF file whose function has that name."""
    wanted = b"q" * len(name)
    (folder / "elf.s").write_bytes(
        b".text\n.globl _start, _text, Q, _etext, _end\n_start:\n_text:\n.skip 0x200\n"
        b".type Q, @function\nQ: .skip 0x200\n_etext:\n_end:\n".replace(b"Q", wanted))
    subprocess.run([kernels.GCC, "-nostdlib", "-static", f"-Wl,-Ttext={TEXT:#x}", "-o",
                    folder / "names", folder / "elf.s"], check=True)
    made = (folder / "names").read_bytes()
    assert wanted in made
    (folder / "names").write_bytes(made.replace(wanted, name))


def system_map(folder, name):
    """A System.map, in which a name ends at white space."""
    name = re.sub(rb"[\s\[\]]", b"_", name)
    (folder / "names").write_bytes(b"%x T _text\n%x T %s\n%x T other\t[%s]\n%x T _etext\n" % (
        TEXT, TEXT + 0x200, name, TEXT + 0x300, name, TEXT + 0x400))


def image(folder, name):
    """An Image with kallsyms, where a token of the names stands for it."""
    name = name[:500]
    kernel = kernels.Built([("Q" * len(name), kernels.BODY * 16)] + [
        (f"function_{i}", kernels.BODY) for i in range(300)])
    made = kernel.image.replace(b"Q" * len(name) + b"\0", name + b"\0")
    assert made != kernel.image
    (folder / "names").write_bytes(gzip.compress(made))


SOURCES = {"elf": elf, "map": system_map, "image": image}


@pytest.fixture(autouse=True)
def token(monkeypatch, request):
    """Of an Image."""
    call_of = getattr(request.node, "callspec", None)
    hostile = call_of and call_of.params.get("hostile")
    if hostile:
        monkeypatch.setitem(kernels.TOKENS, 3, b"Q" * len(HOSTILE[hostile][:500]))


def call(folder, *words, status=0):
    """(standard output, standard error), both plain."""
    done = subprocess.run([TOOLS / words[0], *words[1:]], cwd=folder, capture_output=True,
                          stdin=subprocess.DEVNULL, check=False, timeout=harness.GUARD)
    assert done.returncode == status, done
    texts = done.stdout.decode(), done.stderr.decode()
    for text in texts:
        plain(text)
    return texts


def folded(folder, names):
    """Each line has its frames, and one number at its end."""
    for line in call(folder, "perf-vms", "folded", "samples", *names)[0].splitlines():
        stack, n = line.rsplit(" ", 1)
        assert n.isdecimal() and len(stack.split(";")) == 5, line
        assert not re.search(r" [0-9.]+$", stack), line


def export(folder, names):
    """perf.data and the kernel in perf's cache: perf prints names as they are."""
    call(folder, "perf-vms", "export", "samples", "--buildid-dir", "cache", *names)
    made = (folder / "perf.data").read_bytes()
    assert not any(name in made for name in HOSTILE.values() if re.search(rb"[^ -~]|.{1025}", name))
    for path in (folder / "cache").rglob("elf"):
        with open(path, "rb") as file:
            names = ELFFile(file).get_section_by_name(".strtab").data().decode().split("\0")
        for name in names:
            plain(name)
            assert len(name) < 2000


def html(folder, names):
    call(folder, "perf-vms", "html", "samples", "-o", "page", *names)
    page = (folder / "page").read_text(encoding="ascii")
    plain_json(page.split('id="data">')[1].split("</script>")[0])


def speedscope(folder, names):
    plain_json(call(folder, "perf-vms", "speedscope", "samples", *names)[0])


def report(folder, words):
    """A table, and objects."""
    call(folder, "perf-vms", "report", "samples", *words)
    plain_json(call(folder, "perf-vms", "report", "samples", "--json", *words)[0])


def diff(folder, words):
    """The same, and a page."""
    call(folder, "perf-vms", "diff", "samples", "samples", *words)
    plain_json(call(folder, "perf-vms", "diff", "samples", "samples", "--json", *words)[0])
    call(folder, "perf-vms", "diff", "samples", "samples", "--html", "page.html", *words)


READERS = {"folded": folded, "export": export, "html": html, "speedscope": speedscope,
           "report": report, "diff": diff}


def write_samples(folder, vm="alpha", event="cycles", at=TEXT + 0x210):
    """A file of samples: where the function of that name is."""
    head = flames.HEAD | {"vms": [vm], "events": [event]}
    sample = flames.sample(vm, 0, event, "kernel", False, 1000, (hex(at + 0x100), hex(at)))
    flames.write(folder / "samples", [head, sample, flames.end(vm, 0, event, 1, 0, 0, 0, [vm])])


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("hostile", HOSTILE)
def test_functions(tmp_path, hostile, kind):
    SOURCES[kind](tmp_path, HOSTILE[hostile])
    text = TEXT + (kernels.TEXT if kind == "image" else 0)
    write_samples(tmp_path, at=TEXT + 0x1010 if kind == "image" else TEXT + 0x210)
    # Names of all sources are read to the same form, and each reader prints that.
    for reader in READERS.values() if kind == "elf" else (folded, export):
        reader(tmp_path, ["--symbols", f"names@{text:#x}"])


def test_samples(tmp_path):
    """VMs, events and reasons of a file that somebody else has made; and its own name."""
    for name in HOSTILE.values():
        text = name.decode(errors="surrogateescape")
        write_samples(tmp_path, text, text)
        for reader in READERS.values():
            reader(tmp_path, [])


def test_exits(tmp_path):
    """Of a file of hs-instructions."""
    for name in HOSTILE.values():
        text = name.decode(errors="surrogateescape")
        who = {"vm": text, "vcpu": 0, "event": text}
        flames.write(tmp_path / "samples", [
            {"tally-samples": 1, "vms": [text], "events": [text], "period": "1"},
            {"type": "exits", **who, "cause": text, "what": text, "exits": 3, "instructions": 9}])
        stack, = call(tmp_path, "perf-vms", "folded", "samples")[0].splitlines()
        assert len(stack.split(";")) == 4 and stack.endswith(" 9")


def test_several_kernels(tmp_path):
    """Files that are named after VMs stay in their folder."""
    found = []
    for vm in ("../../f", "g\x1b"):
        write_samples(tmp_path, vm)
        head, *rest = map(json.loads, (tmp_path / "samples").read_text("ascii").splitlines())
        found += rest
    flames.write(tmp_path / "samples", [head | {"vms": ["../../f", "g\x1b"]}, *found])
    call(tmp_path, "perf-vms", "export", "samples", "-o", "out")
    assert {path.name for path in tmp_path.glob("out*")} == {"out..._.._f", "out.g\\u001b"}


@pytest.mark.parametrize("option", ["--symbols", "--user"])
def test_names_of_files(tmp_path, option):
    """Of symbols: perf has to find the file, so no other name can stand for it."""
    for name in (b"f\x1b]0;PWN\x07", b"f\xff", "f\u202eg".encode()):
        (tmp_path / os.fsdecode(name)).write_bytes(b"")
        write_samples(tmp_path)
        _, said = call(tmp_path, "perf-vms", "folded", "samples", option,
                       b"alpha=" + name, status=2)
        assert said.endswith("the file's name has characters that cannot be shown: rename it\n")


# Of tools that ask a machine: what they are called with.
ASKING = {
    "tally-ctl": [["vms"], ["exits"], ["pmu"], ["crash", "alpha"], ["vms", "--json"], ["metrics"],
                  ["stop", "alpha"]],
    "tally-top": [["--once", "-d", "0.01", *more] for more in ([], ["--json"], ["--functions"])],
    "perf-vms": [["--duration", "0.1"], ["--duration", "0.1", "-x,"], ["--duration", "0.1", "-j"],
                 ["--duration", "0.1", "--vm", "nobody"], ["record", "--duration", "0.1"]],
    "tally-trace": [["--duration", "0.1"], ["--vm", "nobody"]],
    "tally-console": [],  # is told all by frames
}


# What fakes.looked() leaves out.
REST = {"ns": 0, "value": 0, "shared": False, "event": "0x1", "data": "0x0", "filter": "uk",
        "longest_stay": 0, "hs_instructions_by": dict.fromkeys(fakes.CAUSES, 0), "hctr": 1,
        "state": "running", "read": "csr", "of": False, "failure": None}


@pytest.mark.parametrize("hostile", ["escape", "line", "c1", "bidi"])
@pytest.mark.parametrize("tool", ASKING)
def test_answers(tmp_path, tool, hostile):
    """Of a machine whose VMs and sentences are called so. Its tool ends with what it likes, but
    with no traceback."""
    name = HOSTILE[hostile].decode(errors="replace")
    text = re.sub(r"[\n\r]", " ", name)
    shown = printable.plain(name)

    def answer(command):
        if command.startswith(("stop", "stays off")):
            return 1, [text]
        rows = [REST | row | {"vm": name}
                for row in fakes.looked(command.replace(shown, "alpha"), 1)]
        if command.startswith("crash"):
            rows = [REST | {"vm": name}]
        if command.startswith("stays on"):
            rows = [{"vm": name, "vcpu": 0, "index": 0, "timebase": 10000000}]
        return 0, [json.dumps(row | {"ended": name} if "ended" in row else row, ensure_ascii=False)
                   for row in rows]

    machine = fakes.Asked(tmp_path / "control", answer)
    for words in ASKING[tool]:
        done = subprocess.run([TOOLS / tool, *words, "--socket", machine.path],
                              cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True,
                              check=False, timeout=harness.GUARD)
        for part in (done.stdout, done.stderr):
            plain(part.decode())
        assert b"Traceback" not in done.stderr, done.stderr
        told = (done.stdout + done.stderr).decode().replace("\\\\", "\\")
        assert re.search(r"f(\\[un]| b;)", told), done
    machine.end()
    for path in (tmp_path / "tally-trace.json", tmp_path / "tally.samples"):
        if path.exists() and path.stat().st_size:
            plain_json(path.read_text("utf-8"))


def test_every_tool_is_here():
    """One that is new is told here how it prints names."""
    asking = {path.name for path in TOOLS.iterdir() if path.is_file()
              and "reach.add_arguments" in path.read_text("utf-8", "replace")}
    assert asking == ASKING.keys()
    assert re.search(r"^READERS = \((.*)\)$", (TOOLS / "perf-vms").read_text("ascii"),
                     re.M)[1] == ", ".join(f'"{name}"' for name in sorted(READERS))
    assert {path.stem for path in (TOOLS / "lib/perflib").glob("*.py")
            if re.search(r"(naming|profile)\.add_options\(", path.read_text("ascii"))} == {
                *READERS, "profile"}


def test_lines_of_a_machine():
    """Frames of tools/run, tally-serve and tally-console: names, Tally's lines, answers."""
    for name in HOSTILE.values():
        name = re.sub(rb"[\n\x1e]", b" ", name)[:900]
        data = b"".join(b"\x1e%s%s\n" % (kind, name) for kind in (b":A ", b"!", b"=r1 "))
        for event in frames.Frames().feed(data):
            text = getattr(event, "text", "") or event.name
            plain(text)
            assert "f" in text


def test_what_is_printable():
    """The decision itself, for each character there is."""
    for number in range(0x110000):
        char = chr(number)
        name, line = printable.name(char), printable.line(char)
        assert name == char if "!" <= char <= "~" else re.fullmatch(
            r"(\\u[0-9a-f]{4}){1,2}", name)
        kind = unicodedata.category(char)
        stays = char in " \t" or kind[0] not in "CZ"
        assert (line == char) == stays, (char, kind)
    # Names that differ do so afterwards, but for those that are one already.
    assert printable.name("f\udcff") == "f\\u00ff" == printable.name(printable.name("f\xff"))
    assert printable.words("f g") == "f g" and printable.name("f g") == "f\\u0020g"
    for text in HOSTILE.values():
        text = text.decode(errors="surrogateescape")
        for decide in (printable.name, printable.line, printable.plain, printable.words):
            assert decide(decide(text)) == decide(text)
    assert len(printable.name("\n" * 5000)) == len(printable.name("f" * 5000)) == 1024


TREE = """/dts-v1/;
/ {
	compatible = "tally,vm-tree-1";
	images { bare: bare { data = /incbin/("zeros"); }; };
	vms { one { memory = /bits/ 64 <0x200000>; kernel = <&bare>;
	            bootargs = "ARGUMENTS"; qqqqqqqq = "x"; vcpu0 { harts = <0>; }; }; };
};
"""


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_vm_trees(tmp_path, words):
    """The names and command lines of a tree, which may be a blob that dtc has not made."""
    (tmp_path / "zeros").write_bytes(bytes(100))
    (tmp_path / "bad.dts").write_text(TREE, encoding="ascii")
    (tmp_path / "good.dts").write_text(TREE.replace('qqqqqqqq = "x"; ', ""), encoding="ascii")
    for source, word in (("bad", b"qqqqqqqq"), ("good", b"ARGUMENTS")):
        subprocess.run(["dtc", "-q", "-O", "dtb", "-o", f"{source}.dtb", f"{source}.dts"],
                       cwd=tmp_path, check=True)
        blob = (tmp_path / f"{source}.dtb").read_bytes()
        assert word in blob
        for name in (b"f\x1b[2J\x07", b"f\xc2\x9b2J\n", "f\u202eg".encode(), b"f\xffg"):
            hostile = name.ljust(len(word), b"g")[:len(word)]
            (tmp_path / "tree.dtb").write_bytes(blob.replace(word, hostile))
            done = subprocess.run([TOOLS / "vm-check", *words, "tree.dtb"], cwd=tmp_path,
                                  check=False, capture_output=True)
            text = (done.stdout + done.stderr).decode()
            plain(text)
            assert done.returncode == (source == "bad"), done
            assert re.search(r"f(\?|\\u)", text), done


@pytest.mark.parametrize("escape", ["\\e]0;x\\a", "\\x9b2J", "\\u202e", "\\0"])
def test_event_tables(tmp_path, escape):
    """YAML has escapes of its own: a table of a core's events is refused, in printable words."""
    table = (harness.ROOT / "dts/pmu/virt.yaml").read_text("utf-8")
    hostile, n = re.subn(r"^title: .*$", lambda _: f'title: "f{escape}g"', table, flags=re.M)
    assert n == 1
    (tmp_path / "virt.yaml").write_text(hostile, "utf-8")
    said = call(tmp_path, "pmu-events", "virt.yaml", "check", status=1)[1]
    assert said.endswith("g has characters that cannot be shown\n") and "f\\u" in said, said


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_functions_as_they_run(tmp_path, fake_machine, words):
    """tools/tally-top, of a System.map."""
    name = b"f\x1b]0;PWN\x07" + HOSTILE["c1"]
    (tmp_path / "names").write_bytes(b"%x T _text\n%x T %s\n%x T _etext\n" % (
        0x80200000, 0x80200008, name, 0x80201000))
    text = call(tmp_path, "tally-top", "--socket", fake_machine.path, "--once", "-d", "0.01",
                "--functions", "--symbols", "names@0x80200000", *words)[0]
    assert printable.name(name.decode("ascii", "replace")) in text.replace("\\\\", "\\")
