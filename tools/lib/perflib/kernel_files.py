# SPDX-License-Identifier: Apache-2.0
"""perf's cache of files by build-id: what it reads the functions of a guest's kernel from, and
disassembles."""
import hashlib
import os
import struct

from tallylib import whole_file

EM_RISCV, ET_EXEC, EV_CURRENT = 243, 2, 1
FLAGS = 5  # EF_RISCV_RVC and EF_RISCV_FLOAT_ABI_DOUBLE
SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB, SHT_NOTE, SHT_NOBITS = 1, 2, 3, 7, 8
ALLOC, EXEC = 2, 4
PT_LOAD, PF_R, PF_X = 1, 4, 1
GLOBAL, FUNCTION = 1 << 4, 2
EHDR, PHDR, SHDR = 64, 56, 64
PAGE = 4096
NAME = "[kernel.kallsyms]"
NO_FUNCTION = "(no function)"
MADE = b"tally: perf-vms export\0"  # in .comment, where compilers have their names


def build_id(symbols):
    """Its own; or, if it has none, one that is made of its names."""
    if symbols.build_id:
        return symbols.build_id
    text = "".join(f"{start - symbols.slide:x} {name}\n" for start, name in symbols.functions)
    return hashlib.sha1(text.encode()).hexdigest()


def unmoved(symbols):
    """[(start, end, name)] of its functions as its file has them."""
    slide = symbols.slide
    return [(start - slide, end - slide, name) for start, end, name in symbols.spans]


def filled(symbols):
    """The same, and what is between them, which has no name. perf finds nothing in gaps but where
    in this file they are. So modules are in one section with the kernel, where it has such."""
    at = min(symbols.text, symbols.spans[0][0]) - symbols.slide
    found = []
    for span in unmoved(symbols):
        if at < span[0]:
            found.append((at, span[0], NO_FUNCTION))
        found.append(span)
        at = span[1]
    return found


def tables(symbols, spans):
    """(.symtab, .strtab)"""
    # perf finds out by `_text` how far the kernel has moved.
    rows = [(GLOBAL, symbols.text - symbols.slide, 0, "_text")]
    rows += [(GLOBAL | FUNCTION, start, end - start, name) for start, end, name in spans]
    names, table = b"\0", bytes(24)
    for kind, start, size, name in rows:
        table += struct.pack("<IBBHQQ", len(names), kind, 0, 1, start, size)
        names += name.encode() + b"\0"
    return table, names


def code_between(symbols, first, end):
    """What the file has of it, at run time; b"": nothing."""
    found = bytearray()
    for start, data in symbols.code:
        low, high = max(first, start), min(end, start + len(data))
        if low < high:
            found = found or bytearray(end - first)
            found[low - first:high - first] = data[low - start:high - start]
    return bytes(found)


def sections(symbols):
    """[(name, type, flags, address, size, data, link, info, alignment, entry)]"""
    spans = filled(symbols)
    first, end = spans[0][0], spans[-1][1]
    code = code_between(symbols, first + symbols.slide, end + symbols.slide)
    table, names = tables(symbols, spans)
    identity = bytes.fromhex(build_id(symbols))
    note = struct.pack("<3I4s", 4, len(identity), 3, b"GNU\0") + identity
    return [
        (".text", SHT_PROGBITS if code else SHT_NOBITS, ALLOC | EXEC, first, end - first,
         code, 0, 0, 4, 0),
        (".notes", SHT_NOTE, 0, 0, len(note), note, 0, 0, 4, 0),
        (".symtab", SHT_SYMTAB, 0, 0, len(table), table, 4, 1, 8, 24),
        (".strtab", SHT_STRTAB, 0, 0, len(names), names, 0, 0, 1, 0),
        (".comment", SHT_PROGBITS, 0, 0, len(MADE), MADE, 0, 0, 1, 0)]


class Strings:
    """Of section headers: where each name is."""

    def __init__(self):
        self.data = b"\0"

    def put(self, text):
        self.data += text.encode() + b"\0"
        return len(self.data) - len(text) - 1


def elf(symbols):
    """An ELF file with the kernel's code, where the file has it, and its functions."""
    rows = sections(symbols)
    titles = Strings()
    parts, headers, at = [], [bytes(SHDR)], PAGE
    for name, kind, flags, address, size, data, link, info, align, entry in rows:
        at = (at + align - 1) // align * align
        headers.append(struct.pack("<IIQQQQIIQQ", titles.put(name), kind, flags, address, at, size,
                                   link, info, align, entry))
        parts.append((at, data))
        at += len(data)
    title = titles.put(".shstrtab")
    headers.append(struct.pack("<IIQQQQIIQQ", title, SHT_STRTAB, 0, 0, at, len(titles.data), 0, 0,
                               1, 0))
    parts.append((at, titles.data))
    at += len(titles.data)
    ident = b"\x7fELF" + bytes((2, 1, 1)) + bytes(9)
    _, _, _, address, size, data, *_ = rows[0]
    head = ident + struct.pack("<HHIQQQIHHHHHH", ET_EXEC, EM_RISCV, EV_CURRENT, address, EHDR, at,
                               FLAGS, EHDR, PHDR, 1, SHDR, len(headers), len(headers) - 1)
    head += struct.pack("<IIQQQQQQ", PT_LOAD, PF_R | PF_X, PAGE, address, address, len(data), size,
                        PAGE)
    out = bytearray(at)
    out[:len(head)] = head
    for where, data in parts:
        out[where:where + len(data)] = data
    return bytes(out) + b"".join(headers)


def is_own(path):
    with open(path, "rb") as file:
        return MADE in file.read()


def fill(folder, symbols):
    """Puts the kernel into perf's cache in this folder, as perf does. False: somebody has put
    another file there for the same build-id, which stays."""
    identity = build_id(symbols)
    place = os.path.join(folder, NAME, identity)
    path = os.path.join(place, "elf")
    link = os.path.join(folder, ".build-id", identity[:2], identity[2:])
    to = os.path.join("..", "..", NAME, identity)
    if os.path.lexists(link) and not (os.path.islink(link) and os.readlink(link) == to):
        return False
    if os.path.lexists(path) and not is_own(path):
        return False
    os.makedirs(place, exist_ok=True)
    whole_file.replace(path, elf(symbols))
    os.makedirs(os.path.dirname(link), exist_ok=True)
    if not os.path.lexists(link):
        os.symlink(to, link)
    return True
