# SPDX-License-Identifier: Apache-2.0
"""Names of functions: what is in kernels' own tables, in maps and ELF files is found, what cannot
be checked is refused, and no address gets a name that is not its own."""

import argparse
import gzip
import json
import os
import random
import struct
import subprocess

import pytest

import harness
import kernels
from kernels import program
from perflib import kallsyms, naming, symbols
import plain

TOOL = harness.ROOT / "tools/perf-vms"
MOVED = 0x1400000


@pytest.mark.parametrize("order", kernels.ORDERS)
@pytest.mark.parametrize("count", [299, 300, 497, 600])
def test_kallsyms(order, count):
    """All symbols, of each order that the tables have had."""
    kernel = kernels.built(count, order=order)
    found = kallsyms.Kallsyms(kernel.image)
    assert found.symbols == sorted(kernel.symbols, key=lambda symbol: symbol[0])
    assert found.base == kernels.BASE
    assert found.end == kernels.BASE + len(kernel.image)
    assert found.build_id == kernels.BUILD_ID.hex()


def test_kallsyms_of_a_kernel_that_relocates_its_tables():
    kernel = kernels.built(order="behind", relocates=True)
    assert len(kallsyms.Kallsyms(kernel.image).symbols) == len(kernel.symbols)
    entry = kernel.image.rindex(struct.pack("<Q", 3))
    with pytest.raises(kallsyms.NoKallsyms, match="cannot be checked"):
        kallsyms.Kallsyms(kernel.image[:entry] + b"\2" + kernel.image[entry + 1:])


def test_tables_that_do_not_name_themselves():
    """What cannot be checked is not used: there are none, they are elsewhere, or not as a whole."""
    kernel = kernels.built(itself=False)
    with pytest.raises(kallsyms.NoKallsyms, match="cannot be checked by themselves"):
        kallsyms.Kallsyms(kernel.image)
    image = kernels.built().image
    index = image.index(kallsyms.DIGITS)
    for shift in (4, 8):
        shifted = image[:index - 512] + bytes(shift) + image[index - 512:]
        with pytest.raises(kallsyms.NoKallsyms):
            kallsyms.Kallsyms(shifted)
    for end in (64, 0x1000, index, len(image) // 2):
        with pytest.raises(kallsyms.NoKallsyms, match="no kallsyms in it|cannot be checked"):
            kallsyms.Kallsyms(image[:end].ljust(64, b"\0"))


def written(folder, name, data):
    path = folder / name
    path.write_bytes(data)
    return str(path)


def test_images_as_they_are_and_compressed(tmp_path):
    """One by gzip, one in an EFI program; and no name outside of code."""
    kernel = kernels.built()
    packed = gzip.compress(kernel.image)
    efi = b"MZ\0\0zimg" + struct.pack("<II", 512, len(packed)) + bytes(8) + b"gzip"
    efi = efi.ljust(512, b"\0") + packed + b"behind"
    for i, data in enumerate((kernel.image, packed, efi)):
        found = symbols.load(written(tmp_path, f"Image{i}", data))
        # The first function has the mark's address, and its own name.
        assert found.functions == [(kernels.BASE, "_start")] + kernel.functions
        assert (found.text, found.end) == (kernels.BASE + kernels.TEXT,
                                           kernels.BASE + len(kernel.image))
        assert found.build_id == kernels.BUILD_ID.hex()
    first, last = kernel.functions[0][0], kernel.functions[-1][0]
    assert found.find(kernels.BASE - 1) is None
    assert found.find(first) == ("function_0", first)
    assert found.find(last - 1) == ("function_298", last - 64)
    assert found.find(last + 63) == (kernels.LONG_NAME, last)
    assert found.find(last + 64) is None
    other = found.moved(MOVED)
    assert other.find(first) is None
    assert other.find(first + MOVED) == ("function_0", first + MOVED)
    with pytest.raises(symbols.BadSymbols, match="not by gzip"):
        symbols.load(written(tmp_path, "zstd", efi.replace(b"gzip", b"zstd")))
    with pytest.raises(symbols.BadSymbols, match="cannot be unpacked"):
        symbols.load(written(tmp_path, "short", packed[:len(packed) // 2]))


def test_debians_kernel():
    """The names that it has for its tables are checked by the loading; others are known."""
    plain.make("guests")
    found = symbols.load(str(harness.BUILD / "guest/Image"))
    names = {name: start for start, name in found.functions}
    assert found.text == kernels.BASE + 0x2000 and found.movable
    assert len(found.functions) > 40000 and len(found.build_id) == 40
    assert names["_start_kernel"] < found.text < names["handle_exception"] < names["start_kernel"]
    start = names["handle_exception"]
    assert found.find(start + 4) == ("handle_exception", start)
    assert found.find(found.end) is None


def test_maps(tmp_path):
    """A System.map has no end of its last function but that of the code; what /proc/kallsyms has of
    modules ends with their pages."""
    text = ("ffffffff80000000 T _start\nffffffff80002000 T _text\nffffffff80002000 T _stext\n"
            "ffffffff80002000 t first\nffffffff80002010 W weak\nffffffff80002010 T __strong\n"
            "ffffffff80002020 r data\nffffffff80002030 t last\nffffffff80002040 T _etext\n"
            "0000000000000000 A absolute\nffffffff80100000 t __pi_get_kaslr_seed\n"
            "ffffffff80200000 B _end\n")
    found = symbols.load(written(tmp_path, "System.map", text.encode()))
    assert [name for _, name in found.functions] == ["_start", "first", "__strong", "last"]
    assert found.movable and found.build_id is None
    assert found.find(0xffffffff8000201f) == ("__strong", 0xffffffff80002010)
    assert found.find(0xffffffff80002020) is None
    assert found.find(0xffffffff80002040) is None
    modules = text + ("ffffffff01000000 t a [one]\nffffffff01000080 t b [one]\n"
                      "ffffffff01002000 t c [two]\n")
    found = symbols.load(written(tmp_path, "kallsyms", modules.encode()))
    assert not found.movable
    assert found.find(0xffffffff0100007f) == ("a [one]", 0xffffffff01000000)
    assert found.find(0xffffffff01000fff) == ("b [one]", 0xffffffff01000080)
    assert found.find(0xffffffff01001000) is None
    hidden = "".join("0" * 16 + line[16:] + "\n" for line in text.splitlines())
    for data, why in ((hidden, "all addresses are 0"), ("hello\n", "is no ELF file"),
                      ("ffffffff80002000 t first\n", "where the kernel's code is"),
                      ("\x7fELF", "damaged ELF file")):
        with pytest.raises(symbols.BadSymbols, match=why):
            symbols.load(written(tmp_path, "bad", data.encode()))


def test_programs(tmp_path):
    """What is between functions has no name, if the file says how long they are."""
    found = symbols.load(str(program(tmp_path, "-static", "-no-pie", "-Wl,--build-id")))
    starts = {name: start for start, name in found.functions}
    size = (starts["first"] - starts["_start"]) // 2
    assert found.find(starts["first"] + 2 * size - 1) == ("first", starts["first"])
    assert found.find(starts["first"] + 2 * size) is None
    assert found.find(starts["second"] - 1) is None
    assert len(found.build_id) == 40 and not found.movable
    with pytest.raises(symbols.BadSymbols, match="no ELF file for RISC-V: EM_X86_64"):
        symbols.load(os.path.realpath("/proc/self/exe"))


def test_a_vmlinux(tmp_path):
    """Its code is in several sections; and without the code for it, it does not relocate itself."""
    found = symbols.load(str(kernels.vmlinux(tmp_path)))
    first = kernels.BASE + kernels.TEXT
    assert found.movable and len(found.build_id) == 40
    assert (found.text, found.functions[:2]) == (first, [(kernels.BASE, "_start"),
                                                         (first, "function_0")])
    assert found.find(first + 64 * 300 - 1) == ("function_299", first + 64 * 299)
    assert found.find(first + 64 * 300) is None
    (start,) = [start for start, name in found.functions if name == "start_it"]
    assert found.find(start + 63) == ("start_it", start) and found.end > start
    moved = samples_of(kernels.built(), MOVED, [(first + 64 * i, "") for i in range(299)])
    path = str(kernels.vmlinux(tmp_path))
    assert named(moved, "--symbols", path).name(moved[3], moved[3]["ip"]) == "function_1"
    stays = symbols.load(str(kernels.vmlinux(tmp_path, seed="other")))
    assert not stays.movable


def sample(**fields):
    return {"type": "sample", "timestamp": 1, "vm": "alpha", "vcpu": 0, "event": "cycles",
            "hart": 0, "period": 10, "mode": "kernel", "masked": False, "satp": "0x9", **fields}


def samples_of(kernel, slide, functions, **fields):
    """In each of these functions three, each called by all returns of the next one."""
    found = []
    for (start, _), (caller, _) in zip(functions, functions[1:]):
        for where in kernels.RETURNS:
            found.append(sample(ip=f"{start + slide + where:#x}",
                                callchain=[f"{caller + slide + where:#x}"], **fields))
    assert kernel.functions[0][0] <= functions[0][0]
    return found


def named(objects, *words):
    """By a file of these samples."""
    head = {"vms": list(dict.fromkeys(o["vm"] for o in objects if "vm" in o))}
    parser = argparse.ArgumentParser()
    naming.add_options(parser)
    return naming.Naming(parser.parse_args(words), [head, *objects])


def test_a_kernel_that_relocated_itself(tmp_path):
    """Where it is follows from its samples, of each VM for itself; and if it does not follow, its
    addresses have no names."""
    kernel = kernels.built()
    image = written(tmp_path, "Image", kernel.image)
    alpha = samples_of(kernel, 0, kernel.functions)
    beta = samples_of(kernel, MOVED, kernel.functions, vm="beta")
    few = samples_of(kernel, MOVED, kernel.functions[:3], vm="gamma")
    wrong = samples_of(kernel, MOVED + 2, kernel.functions, vm="delta")
    known = named(alpha + beta + few + wrong, "--symbols", image)
    assert known.name(alpha[0], alpha[0]["ip"]) == "function_0"
    assert known.name(beta[0], beta[0]["ip"]) == "function_0"
    assert known.name(beta[0], beta[0]["callchain"][0]) == "function_1"
    assert known.name(few[0], few[0]["ip"]) == few[0]["ip"]
    assert known.name(wrong[0], wrong[0]["ip"]) == wrong[0]["ip"]
    assert [text.split(":")[0] for text in known.complaints] == ["VM gamma", "VM delta"]
    assert "@ADDRESS" in known.complaints[0]
    given = named(few, "--symbols", f"gamma={image}@{kernels.BASE + kernels.TEXT + MOVED:#x}")
    assert given.name(few[0], few[0]["ip"]) == "function_0" and not given.complaints
    # A map has no code to compare with.
    text = "".join(f"{address:016x} {kind} {name}\n" for address, kind, name in kernel.symbols)
    known = named(alpha, "--symbols", written(tmp_path, "System.map", text.encode()))
    assert "has no code" in known.complaints[0]
    assert known.name(alpha[0], alpha[0]["ip"]) == alpha[0]["ip"]


def test_a_kernel_that_cannot_relocate_itself(tmp_path):
    kernel = kernels.built(kaslr=False)
    (one,) = objects = [sample(ip=f"{kernel.functions[2][0]:#x}",
                               callchain=[f"{kernel.functions[5][0]:#x}", "0x12"])]
    known = named(objects, "--symbols", written(tmp_path, "Image", kernel.image))
    assert known.name(one, one["ip"]) == "function_2"
    # The call at the end of function_4 did not come back.
    assert known.name(one, one["callchain"][0]) == "function_4"
    assert known.name(one, "0x12") == "0x12"
    other = sample(ip=one["ip"], mode="user")
    assert known.name(other, other["ip"]) == other["ip"]


def test_a_kernel_without_relocations(tmp_path):
    """It reads a seed, and cannot use it: one sample is enough, and a file without code. If many
    are against it, it has been moved, or is another one."""
    kernel = kernels.built(fixed=True)
    (one,) = objects = [sample(ip=f"{kernel.functions[2][0]:#x}")]
    text = "".join(f"{at:016x} {kind} {name}\n" for at, kind, name in kernel.symbols)
    image = written(tmp_path, "Image", kernel.image)
    for file in image, written(tmp_path, "System.map", text.encode()):
        known = named(objects, "--symbols", file)
        assert (known.name(one, one["ip"]), known.complaints) == ("function_2", [])
    many = samples_of(kernel, MOVED, kernel.functions[3:40])
    assert named(many, "--symbols", image).kernel("alpha").slide == MOVED
    (one,) = objects = [sample(ip=f"{kernel.functions[2][0] + 1:#x}")]
    assert "are of another kernel" in named(objects, "--symbols", image).complaints[0]
    (at,) = (at for at, _, name in kernel.symbols if name == "__rela_dyn_end")
    text = text.replace(f"{at:016x} R __rela_dyn_end", f"{at + 24:016x} R __rela_dyn_end")
    known = named(objects, "--symbols", written(tmp_path, "relocatable", text.encode()))
    assert "has no code" in known.complaints[0]


def test_a_vm_that_was_not_sampled(tmp_path):
    image = written(tmp_path, "Image", kernels.built(kaslr=False).image)
    known = named([{"vm": "alpha"}], "--symbols", f"beta={image}", "--symbols", image)
    assert known.complaints == ["VM beta: a file is given for it, but it was not sampled"]


def test_folded(tmp_path):
    """Names of a kernel and of a program in one address space; elsewhere its addresses stand."""
    kernel = kernels.built(kaslr=False)
    elf = program(tmp_path, "-static", "-no-pie")
    start = dict((name, start) for start, name in symbols.load(str(elf)).functions)["second"]
    lines = [{"tally-samples": 1, "vms": ["alpha"], "events": ["cycles"], "period": "10"},
             sample(ip=f"{kernel.functions[2][0]:#x}", callchain=["0x12"]),
             sample(ip=f"{start:#x}", mode="user", satp="0x5"),
             sample(ip=f"{start:#x}", mode="user", satp="0x6")]
    file = tmp_path / "samples"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    image = written(tmp_path, "Image", kernel.image)
    done = subprocess.run([TOOL, "folded", file, "--symbols", image, "--user", f"alpha:0x5={elf}"],
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "alpha;vcpu 0;[kernel];0x12;function_2 10",
        f"alpha;vcpu 0;[user];{start:#x} 10",
        "alpha;vcpu 0;[user];second 10"]


@pytest.mark.parametrize("words, why", [
    (["--symbols", "/none"], "No such file"),
    (["--symbols", "{image}", "--symbols", "{image}"], "another file"),
    (["--user", "alpha"], "not of that form"),
    (["--user", "alpha:010={image}"], "not of that form"),
    (["--user", "alpha={pie}"], "loaded anywhere")])
def test_wrong_use(tmp_path, words, why):
    files = {"image": written(tmp_path, "Image", kernels.built().image),
             "pie": program(tmp_path, "-static-pie", "-fPIE")}
    file = tmp_path / "samples"
    file.write_text('{"tally-samples": 1, "vms": [], "events": ["cycles"], "period": "1"}\n',
                    encoding="utf-8")
    done = subprocess.run([TOOL, "folded", file, *(word.format(**files) for word in words)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 2 and why in done.stderr and done.stderr.count("\n") == 1


def changed(data, chance):
    """With a few bytes, or a few in a row, that are others; or cut off."""
    found = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        at, n = chance.randrange(len(found)), chance.choice((1, 1, 2, 4, 8, 64))
        found[at:at + n] = bytes(chance.choice((0, 255, chance.randrange(256)))
                                 for _ in range(len(found[at:at + n])))
    return bytes(found[:chance.randrange(len(found))] if chance.random() < 0.2 else found)


@pytest.mark.parametrize("kind", ["Image", "System.map", "ELF"])
def test_damaged_files(tmp_path, kind):
    """They are refused in a sentence, or have names that are in the file."""
    kernel = kernels.built()
    if kind == "Image":
        data = kernel.image
    elif kind == "ELF":
        data = program(tmp_path, "-static", "-no-pie", "-Wl,--build-id").read_bytes()
    else:
        data = "".join(f"{at:016x} {kind} {name}\n" for at, kind, name in kernel.symbols).encode()
    chance, refused = random.Random(1), 0
    for _ in range(200):
        try:
            found = symbols.load(written(tmp_path, "damaged", changed(data, chance)))
            assert all(0 <= start < end for start, end, _ in found.spans)
        except symbols.BadSymbols as error:
            refused += 1
            assert "\n" not in str(error) and "damaged" in str(error)
    assert 20 < refused < 200


def sparse(path, head, size):
    """A file that takes no room on the disk."""
    with open(path, "wb") as file:
        file.write(head)
        file.truncate(size)


def test_what_takes_all_memory(tmp_path):
    """A few MB that unpack to GB, and files with holes: one sentence, within 1.5 GB of memory."""
    files = {}
    # What follows the end of a part is the next part of the same file.
    (tmp_path / "packed").write_bytes(gzip.compress(bytes(1 << 26)) * 48)
    assert (tmp_path / "packed").stat().st_size < 4 << 20
    files["packed"] = "it unpacks to more than 512 MiB"
    data = (tmp_path / "packed").read_bytes()
    (tmp_path / "zboot").write_bytes(
        (b"MZ\0\0zimg" + struct.pack("<II", 512, len(data)) + bytes(8) + b"gzip").ljust(512, b"\0")
        + data)
    files["zboot"] = files["packed"]
    sparse(tmp_path / "map", b"0 T _text\n", 3 << 30)
    files["map"] = "has more than 512 MiB"
    sections = struct.pack("<IIQQQQIIQQ", 0, 1, 6, 0x1000, 64, 3 << 30, 0, 0, 1, 0)
    head = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 2, 243, 1, 0x1000, 0, (3 << 30) + 64, 0, 64, 56, 0, 64, 2, 0)
    sparse(tmp_path / "elf", head, (3 << 30) + 64)
    with open(tmp_path / "elf", "ab") as file:
        file.write(bytes(64) + sections)
    files["elf"] = "is a damaged ELF file: its code has more than 512 MiB"
    (tmp_path / "samples").write_text(
        '{"tally-samples": 1, "vms": [], "events": ["cycles"], "period": "1"}\n', encoding="ascii")
    for name, why in files.items():
        done = subprocess.run(
            ["prlimit", "--as=1500000000", TOOL, "folded", tmp_path / "samples", "--symbols",
             tmp_path / name], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"tools/perf-vms: {tmp_path}/{name}: {why}\n"
