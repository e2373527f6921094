# SPDX-License-Identifier: Apache-2.0
"""perf's cache of files by build-id: what it reads the functions of a guest's kernel from, and
disassembles."""
import hashlib
import os
import struct

EM_RISCV, ET_EXEC, EV_CURRENT = 243, 2, 1
FLAGS = 5  # EF_RISCV_RVC and EF_RISCV_FLOAT_ABI_DOUBLE
SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB, SHT_NOTE, SHT_NOBITS = 1, 2, 3, 7, 8
ALLOC, EXEC = 2, 4
PT_LOAD = 1
GLOBAL_FUNCTION = 1 << 4 | 2
EHDR, PHDR, SHDR = 64, 56, 64
PAGE = 4096
NAME = "[kernel.kallsyms]"


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


def sections(symbols):
    """[(name, type, flags, address, size, data, link, info, alignment, entry)]"""
    first, end = symbols.text - symbols.slide, 0
    spans = unmoved(symbols)
    first = min(first, spans[0][0])
    end = max(end for _, end, _ in spans)
    code = symbols.read(first + symbols.slide, end + symbols.slide)
    names, table = b"\0", bytes(24)
    # perf finds out by `_text` how far the kernel has moved.
    for start, stop, name in [(symbols.text - symbols.slide, None, "_text")] + spans:
        kind, size = (1 << 4, 0) if stop is None else (GLOBAL_FUNCTION, stop - start)
        table += struct.pack("<IBBHQQ", len(names), kind, 0, 1, start, size)
        names += name.encode() + b"\0"
    identity = bytes.fromhex(build_id(symbols))
    note = struct.pack("<3I4s", 4, len(identity), 3, b"GNU\0") + identity
    return [
        (".text", SHT_PROGBITS if code else SHT_NOBITS, ALLOC | EXEC, first, end - first,
         code or b"", 0, 0, 4, 0),
        (".notes", SHT_NOTE, 0, 0, len(note), note, 0, 0, 4, 0),
        (".symtab", SHT_SYMTAB, 0, 0, len(table), table, 4, 1, 8, 24),
        (".strtab", SHT_STRTAB, 0, 0, len(names), names, 0, 0, 1, 0)]


def elf(symbols):
    """An ELF file with the kernel's code, where the file has it, and its functions."""
    rows = sections(symbols)
    titles = b"\0"
    parts, headers, at = [], [bytes(SHDR)], PAGE
    text_at = at
    for name, kind, flags, address, size, data, link, info, align, entry in rows:
        at = (at + align - 1) // align * align
        headers.append(struct.pack("<IIQQQQIIQQ", len(titles), kind, flags, address, at, size,
                                   link, info, align, entry))
        titles += name.encode() + b"\0"
        parts.append((at, data))
        at += len(data)
    headers.append(struct.pack("<IIQQQQIIQQ", len(titles), SHT_STRTAB, 0, 0, at,
                               len(titles) + len(".shstrtab") + 1, 0, 0, 1, 0))
    titles += b".shstrtab\0"
    parts.append((at, titles))
    at += len(titles)
    ident = b"\x7fELF" + bytes((2, 1, 1)) + bytes(9)
    _, _, _, address, size, data, *_ = rows[0]
    head = ident + struct.pack("<HHIQQQIHHHHHH", ET_EXEC, EM_RISCV, EV_CURRENT, address, EHDR, at,
                               FLAGS, EHDR, PHDR, 1, SHDR, len(headers), len(headers) - 1)
    head += struct.pack("<IIQQQQQQ", PT_LOAD, FLAGS, text_at, address, address, len(data), size,
                        PAGE)
    out = bytearray(at)
    out[:len(head)] = head
    for where, data in parts:
        out[where:where + len(data)] = data
    return bytes(out) + b"".join(headers)


def write(path, data):
    """Not where another program sees half of it."""
    part = f"{path}.{os.getpid()}"
    with open(part, "wb") as out:
        out.write(data)
    os.replace(part, path)


def fill(folder, symbols):
    """Puts the kernel into perf's cache in this folder, as perf does; where the ELF file is."""
    identity = build_id(symbols)
    place = os.path.join(folder, NAME, identity)
    os.makedirs(place, exist_ok=True)
    path = os.path.join(place, "elf")
    write(path, elf(symbols))
    lines = [f"{symbols.text - symbols.slide:016x} T _text\n"]
    lines += [f"{start:016x} T {name}\n" for start, _, name in unmoved(symbols)]
    write(os.path.join(place, "kallsyms"), "".join(lines).encode())
    link = os.path.join(folder, ".build-id", identity[:2], identity[2:])
    os.makedirs(os.path.dirname(link), exist_ok=True)
    if not os.path.lexists(link):
        os.symlink(os.path.join("..", "..", NAME, identity), link)
    return path
