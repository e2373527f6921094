# SPDX-License-Identifier: Apache-2.0
"""Images of kernels made by hand: functions of known code, and the tables of kallsyms as Linux'
scripts/kallsyms.c writes them."""

import os
import struct
import subprocess

GCC = os.environ.get("CROSS_COMPILE", "riscv64-linux-gnu-") + "gcc"
BASE = 0xffffffff80000000
TEXT = 0x1000
BUILD_ID = bytes(range(1, 21))
# What tokens stand for, beside the characters that stand for themselves.
TOKENS = {1: b"kallsyms_", 2: b"tfunction_", 200: b"_start"}
LONG_NAME = "a_name_of_" + "many_characters_" * 12  # longer than 127 tokens
# Where the offsets of symbols are, or their addresses as a whole.
ORDERS = ("behind", "before", "sorted", "place", "addresses", "addresses before")
NOP, CALL, SHORT_CALL, RET = b"\1\0", b"\xef\0\0\0", b"\x82\x90", b"\x82\x80"
# 64 bytes: what is called returns to 8, 18 and 26, of which 26 is behind a short call.
BODY = NOP * 2 + CALL + NOP * 3 + CALL + NOP * 3 + SHORT_CALL + NOP * 18 + RET
RETURNS = (8, 18, 26)
assert len(BODY) == 64
PROGRAM = """
asm(".text; .globl first, second, _start; .type first, @function; .type second, @function;"
    "_start: nop; nop; first: nop; nop; .size first, . - first; .zero 8;"
    "second: nop; nop; nop; nop; .size second, . - second");
"""


def tokens():
    """{token: its text}; most have none."""
    found = {code: b"%c" % code for code in range(33, 127)}
    found.update(TOKENS)
    return found


def compressed(text):
    """A name with its type before it."""
    codes = b""
    while text:
        code, token = max(((code, token) for code, token in tokens().items()
                           if text.startswith(token)), key=lambda each: len(each[1]))
        codes += b"%c" % code
        text = text[len(token):]
    n = len(codes)
    return (b"%c" % n if n < 128 else b"%c%c" % (n & 127 | 128, n >> 7)) + codes


def padded(data, to):
    return data.ljust((len(data) + to - 1) // to * to, b"\0")


class Built:
    """image: its bytes. symbols: [(address, type, name)]"""

    def __init__(self, functions, order="behind", relocates=False, itself=True, kaslr=True,
                 fixed=False):
        """kaslr: it reads a seed; fixed: it has no relocations, as Debian's."""
        text = b""
        self.functions = []
        self.symbols = [(BASE, "T", "_start"), (BASE + TEXT, "T", "_text")]
        for name, body in functions:
            self.functions.append((BASE + TEXT + len(text), name))
            text += body
        self.symbols += [(address, "t", name) for address, name in self.functions]
        self.symbols.append((BASE + TEXT + len(text), "T", "_etext"))
        note = struct.pack("<3I4s", 4, 20, 3, b"GNU\0") + BUILD_ID
        data = bytes(TEXT) + padded(text, 8)
        self.symbols += [(BASE + len(data), "D", "__start_notes"),
                         (BASE + len(data) + len(note), "D", "__stop_notes")]
        data = padded(data + note, 8)
        if kaslr:
            self.symbols.append((BASE + len(data), "t", "__pi_get_kaslr_seed"))
        if fixed:
            self.symbols += [(BASE + len(data), "R", "__rela_dyn_end"),
                             (BASE + len(data), "R", "__rela_dyn_start")]
        self.data = data + b"\xff" * 16
        self.add_tables(order, relocates, itself)
        self.data = padded(self.data, 4096)
        header = struct.pack("<IIQQ", 0x6f, 0, 0x200000, len(self.data)) + bytes(32) + b"RSC\5"
        self.image = header.ljust(64, b"\0") + self.data[64:]

    def put(self, data, align=8):
        self.data = padded(self.data, align)
        at = len(self.data)
        self.data += data
        return at

    def add_tables(self, order, relocates, itself):
        """itself: whether the tables are symbols as well."""
        where = "addresses" if order.startswith("addresses") else "offsets"
        own = ["num_syms", "names", "markers", "token_table", "token_index", where]
        total = len(self.symbols) + (len(own) + 1 if itself else 0)
        plain = [kind + name for _, kind, name in self.symbols]
        if itself:
            plain += ["rkallsyms_" + name for name in own] + ["B_end"]
        names, markers = b"", []
        for i, name in enumerate(plain):
            if i % 256 == 0:
                markers.append(len(names))
            names += compressed(name.encode())
        table, index = b"", []
        for code in range(256):
            index.append(len(table))
            table += tokens().get(code, b"") + b"\0"
        content = {"num_syms": struct.pack("<Q", total), "names": names,
                   "markers": struct.pack(f"<{len(markers)}I", *markers), "token_table": table,
                   "token_index": struct.pack("<256H", *index),
                   "offsets": bytes(4 * total), "addresses": bytes(8 * total),
                   "relative_base": struct.pack("<Q", 0 if relocates else BASE),
                   "seqs_of_names": b"".join(i.to_bytes(3, "big") for i in sorted(
                       range(total), key=lambda i: plain[i][1:]))}
        tail = ["offsets", "relative_base"]
        written = {"behind": own[:5] + tail, "before": tail + own[:5], "place": own,
                   "sorted": tail + own[:3] + ["seqs_of_names"] + own[3:5],
                   "addresses": own, "addresses before": [where] + own[:5]}[order]
        at = {}
        if order == "place":  # Linux 7.0 and later: nothing of it has 8 bytes
            self.data += bytes(4)
            content["num_syms"] = content["num_syms"][:4]
        for name in written:
            at[name] = self.put(content[name], 4 if order == "place" else 8)
        if relocates:
            self.put(struct.pack("<3Q", BASE + at["relative_base"], 3, BASE))
        self.data += bytes(8)
        if itself:
            self.symbols += [(BASE + at[name], "r", "kallsyms_" + name) for name in own]
            self.symbols.append((BASE + (len(self.data) + 4095) // 4096 * 4096, "B", "_end"))
        first = at[where]
        table = b"".join(
            struct.pack("<Q", address) if where == "addresses" else
            struct.pack("<i", address - BASE - first - 4 * i) if order == "place" else
            struct.pack("<I", address - BASE) for i, (address, _, _) in enumerate(self.symbols))
        self.data = self.data[:first] + table + self.data[first + len(table):]


def built(count=300, **how):
    """A kernel of so many functions; 256 or fewer symbols would have no second marker."""
    return Built([(f"function_{i}", BODY) for i in range(count - 1)] + [(LONG_NAME, BODY)], **how)


LAYOUT = """
ENTRY(_start)
PHDRS { text PT_LOAD FLAGS(5); init PT_LOAD FLAGS(5); }
SECTIONS {
    . = BASE;
    .head.text : { *(.head.text) } :text
    . = BASE + 0x1000;
    .text : { _text = .; *(.text) _etext = .; } :text
    .notes : { *(.note*) } :text
    . = ALIGN(0x200000);
    .init.text : { _sinittext = .; *(.init.text) _einittext = .; } :init
    _end = .;
}
"""


def vmlinux(folder, count=300, seed="__pi_get_kaslr_seed"):
    """An ELF file with so many functions of the same code, and one more that is in .init.text."""
    body = ".byte " + ", ".join(map(str, BODY))
    lines = ['.section .head.text, "ax"', ".globl _start", "_start: nop", ".text"]
    for name in [f"function_{i}" for i in range(count)] + [".init", "start_it"]:
        if name == ".init":
            lines.append('.section .init.text, "ax"')
        else:
            lines += [f".type {name}, @function", f"{name}: {body}", f".size {name}, . - {name}"]
    lines += [f".type {seed}, @function", f"{seed}: ret"]
    source, layout, path = folder / "vmlinux.S", folder / "vmlinux.lds", folder / "vmlinux"
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    layout.write_text(LAYOUT.replace("BASE", hex(BASE)), encoding="utf-8")
    subprocess.run([GCC, "-nostdlib", "-static", "-no-pie", "-Wl,-T," + str(layout),
                    "-Wl,--build-id", "-mcmodel=medany", source, "-o", path], check=True)
    return path


def program(folder, *words):
    source = folder / "program.c"
    source.write_text(PROGRAM, encoding="utf-8")
    path = folder / "program"
    subprocess.run([GCC, "-nostdlib", *words, source, "-o", path], check=True)
    return path
