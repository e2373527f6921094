# SPDX-License-Identifier: Apache-2.0
"""The functions of a kernel or a program, from whatever has their names: a System.map, a copy of a
guest's /proc/kallsyms, a vmlinux or another ELF file, or the Image of a kernel.

A name is given only to what is in that function. What is between functions, before the first or
behind the last one has none.
"""
import bisect
import copy
import os
import re

try:
    from elftools.common.exceptions import ELFError
    from elftools.elf.constants import P_FLAGS, SH_FLAGS
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import SymbolTableSection
except ImportError:  # a package is installed without what it recommends
    ELFFile = None

from perflib import kallsyms
from tallylib import printable

# Where a kernel's code is: from a symbol to another one.
CODE = (("_start", "_text"), ("_text", "_etext"), ("_sinittext", "_einittext"),
        ("__exittext_begin", "__exittext_end"))
# Symbols that say where code of a kind begins or ends, beside the function that is there.
MARK = re.compile(r"_?_s?text|_[se]inittext|_etext|__\w+_(begin|start|end)|_start|_end")
# Of the assembler and the linker.
NO_NAME = re.compile(r"\$|\.L|__pi_\$|L0\x01")
LINE = re.compile(r"([0-9a-fA-F]{8,16}) (\S) ([^\s\[]+)(?:\s+\[(\S+)\])?\s*")
PAGE = 4096
LINKED_AT = kallsyms.LINKED_AT
MAX_ADDRESS = (1 << 64) - 1
WEAK = "WwVv"


class BadSymbols(Exception):
    """There are no names in that file, in a sentence."""


class Function:
    """[start, end). name: as the file has it; rank: which of several names at one address is told,
    the smallest."""

    def __init__(self, start, end, name, kind="T", module=None):
        self.start, self.end = start, end
        self.name = printable.name(name)
        if module is not None:
            self.name += f" [{printable.name(module)}]"
        self.rank = (bool(MARK.fullmatch(name)), kind in WEAK, not kind.isupper(),
                     len(name) - len(name.lstrip("_")), name)


class Symbols:
    """functions: [(start, name)] in their order; text, end: where the whole begins and ends, a
    kernel's `_text` and `_end`; build_id: in hexadecimal, or None. movable: it may run elsewhere
    than the file says; slide: how much higher it does; fixed: a kernel that was linked without what
    it would need for that, as Debian's; parts: [(first, end)] of its code, of modules none. All
    addresses are those at run time."""

    def __init__(self, path, found, text, end, build_id=None, movable=False):
        self.path, self.text, self.end = path, text, end
        self.build_id, self.movable = build_id, movable
        self.slide, self.fixed = 0, False
        self.parts = []
        self.code = []  # [(address, bytes)], if the file has them
        self.mapped = []  # [(address, offset, size)] of a program's code, as it is loaded
        best = {}
        for function in found:
            other = best.get(function.start)
            if other is None or function.rank < other.rank:
                best[function.start] = function
        self.spans = [(f.start, f.end, f.name) for _, f in sorted(best.items())]
        self.starts = [start for start, _, _ in self.spans]
        if not self.spans:
            raise BadSymbols(f"{path}: there are no names of functions in it")

    @property
    def functions(self):
        return [(start, name) for start, _, name in self.spans]

    def moved(self, slide):
        """Another one, which runs so many bytes higher, and nowhere else."""
        other = copy.copy(self)
        other.movable = False
        if slide:
            other.slide += slide
            other.text, other.end = self.text + slide, self.end + slide
            other.spans = [(start + slide, end + slide, name) for start, end, name in self.spans]
            other.starts = [start + slide for start in self.starts]
            other.parts = [(first + slide, end + slide) for first, end in self.parts]
            other.code = [(start + slide, data) for start, data in self.code]
            other.mapped = [(start + slide, *where) for start, *where in self.mapped]
        return other

    def span(self, address):
        """(start, end, name) of the function in which this is, or None."""
        i = bisect.bisect_right(self.starts, address) - 1
        return self.spans[i] if i >= 0 and address < self.spans[i][1] else None

    def find(self, address):
        """(name, start) of it, or None."""
        span = self.span(address)
        return span and (span[2], span[0])

    def read(self, first, end):
        """The code between two addresses. None: the file does not have it."""
        for start, data in self.code:
            if start <= first and end <= start + len(data):
                return data[first - start:end - start]
        return None


def is_fixed(names):
    """Whether a kernel with these symbols, {name: address}, has no relocations."""
    return "__rela_dyn_start" in names and not any("__relr" in name for name in names) and \
        names["__rela_dyn_start"] == names.get("__rela_dyn_end")


def kernel(path, symbols, end=None, build_id=None):
    """From [(address, type, name, module)], in any order."""
    symbols = sorted(symbols, key=lambda symbol: symbol[0])
    marks = {name: address for address, _, name, module in symbols if module is None}
    if "_text" not in marks or "_etext" not in marks:
        raise BadSymbols(f"{path}: it does not say where the kernel's code is (_text, _etext)")
    code = [(marks[first], marks[last]) for first, last in CODE
            if first in marks and last in marks]
    end = end or marks.get("_end") or max(last for _, last in code)
    found = []
    following = MAX_ADDRESS
    for i in range(len(symbols) - 1, -1, -1):
        address, kind, name, module = symbols[i]
        if i + 1 < len(symbols) and symbols[i + 1][0] > address:
            following = symbols[i + 1][0]
        if kind not in "tTwW":
            continue
        if module is not None:
            # What follows may be another module's; the code of each begins on a page of its own.
            limit = address // PAGE * PAGE + PAGE
            if i + 1 < len(symbols) and symbols[i + 1][3] == module:
                limit = MAX_ADDRESS
            found.append(Function(address, min(following, limit), name, kind, module))
            continue
        for first, last in code:
            if first <= address < last:
                found.append(Function(address, min(following, last), name, kind))
                break
    # Without this code it cannot move; if it or modules are where they are loaded, this is a copy
    # of what /proc/kallsyms said.
    movable = any("kaslr_seed" in name for name in marks) and not any(
        module for *_, module in symbols) and marks.get("_start", LINKED_AT) == LINKED_AT
    made = Symbols(path, found, marks["_text"], end, build_id, movable)
    made.fixed, made.parts = is_fixed(marks), code
    return made


def from_map(path, data):
    """A System.map, or what /proc/kallsyms says."""
    found = []
    for line in data.decode("ascii", "replace").splitlines():
        match = LINE.fullmatch(line)
        if match is None:
            raise BadSymbols(f"{path}: is no ELF file, no Image of RISC-V and no System.map: "
                             f"{line[:60]!r}")
        address, kind, name, module = match.groups()
        if kind not in "aAU" and not NO_NAME.match(name):
            found.append((int(address, 16), kind, name, module))
    if found and not any(address for address, *_ in found):
        raise BadSymbols(f"{path}: all addresses are 0: kernel.kptr_restrict was on when it was "
                         "copied")
    return kernel(path, found)


def from_image(path, data):
    try:
        tables = kallsyms.Kallsyms(data)
    except kallsyms.NoKallsyms as error:
        raise BadSymbols(f"{path}: {error}") from error
    symbols = [(address, kind, name, None) for address, kind, name in tables.symbols
               if not NO_NAME.match(name)]
    found = kernel(path, symbols, tables.end, tables.build_id)
    found.code = [(tables.base, data)]
    return found


def elf_kind(symbol):
    letter = "t" if symbol["st_info"]["bind"] == "STB_LOCAL" else "T"
    return "W" if symbol["st_info"]["bind"] == "STB_WEAK" else letter


def elf_code(elf):
    """{number of a section with code: its first address and the one behind it}"""
    return {i: (section["sh_addr"], section["sh_addr"] + section["sh_size"])
            for i, section in enumerate(elf.iter_sections())
            if section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR and section["sh_addr"]}


def elf_functions(table, code):
    """Those of a table of symbols; where it does not say how long one is, it ends at the next."""
    symbols = [symbol for symbol in table.iter_symbols()
               if symbol["st_shndx"] in code and symbol.name and not NO_NAME.match(symbol.name)
               and symbol["st_info"]["type"] in ("STT_FUNC", "STT_NOTYPE")]
    starts = sorted({symbol["st_value"] for symbol in symbols})
    for symbol in symbols:
        start = symbol["st_value"]
        first, last = code[symbol["st_shndx"]]
        i = bisect.bisect_right(starts, start)
        following = starts[i] if i < len(starts) else last
        size = symbol["st_size"]
        if first <= start < last:
            end = min(start + size if size else following, last)
            yield Function(start, end, symbol.name, elf_kind(symbol))


def elf_build_id(elf):
    for section in elf.iter_sections():
        if section["sh_type"] == "SHT_NOTE" and not section.compressed:
            found = kallsyms.note_of(section.data())
            if found:
                return found
    return None


def check_elf(elf):
    """Whether what it describes is in the file, before that is read."""
    size = elf.stream.seek(0, os.SEEK_END)
    parts = [(section["sh_offset"], section["sh_size"]) for section in elf.iter_sections()
             if section["sh_type"] != "SHT_NOBITS"]
    parts += [(segment["p_offset"], segment["p_filesz"]) for segment in elf.iter_segments()]
    for at, length in parts:
        if at + length > size:
            raise ValueError("there are parts of it behind its end")
    read = sum(section["sh_size"] for section in elf.iter_sections()
               if section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR or section["sh_type"] == "SHT_NOTE")
    if read > kallsyms.LARGEST:
        raise ValueError(f"its code has more than {kallsyms.LARGEST >> 20} MiB")


def from_elf(path, stream):
    if ELFFile is None:
        raise BadSymbols(f"{path}: ELF files are read by python3-pyelftools, which is not here")
    try:
        elf = ELFFile(stream)
        check_elf(elf)
        machine = elf["e_machine"]
        code = elf_code(elf)
        tables = [section for section in elf.iter_sections()
                  if isinstance(section, SymbolTableSection)]
        functions = [function for table in tables for function in elf_functions(table, code)]
        names = {symbol.name: symbol["st_value"] for table in tables
                 for symbol in table.iter_symbols()}
        build_id = elf_build_id(elf)
        loads = [segment for segment in elf.iter_segments() if segment["p_type"] == "PT_LOAD"]
        coded = [segment for segment in loads if segment["p_flags"] & P_FLAGS.PF_X]
        data = [(section["sh_addr"], section.data()) for i, section in
                enumerate(elf.iter_sections()) if i in code and not section.compressed]
        mapped = [(segment["p_vaddr"], segment["p_offset"], segment["p_filesz"])
                  for segment in coded]
        movable = elf["e_type"] == "ET_DYN"
    except (ELFError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise BadSymbols(f"{path}: is a damaged ELF file: {error}") from error
    if machine != "EM_RISCV":
        raise BadSymbols(f"{path}: is no ELF file for RISC-V: {machine}")
    if not loads or not code:
        raise BadSymbols(f"{path}: is no program: nothing of it is loaded as code")
    text = min(segment["p_vaddr"] for segment in loads)
    end = max(segment["p_vaddr"] + segment["p_memsz"] for segment in loads)
    if "_text" in names and names["_text"] >= LINKED_AT:  # Linux
        text, end = names["_text"], names.get("_end", end)
        movable = any("kaslr_seed" in name for name in names)
    found = Symbols(path, functions, text, end, build_id, movable)
    found.code, found.mapped, found.fixed = data, mapped, is_fixed(names)
    found.parts = list(code.values())
    return found


def load(path, slide=None):
    """Symbols, or BadSymbols. slide: how much higher it is at run time than the file says; None:
    this is not known yet of what is movable."""
    try:
        with open(path, "rb") as stream:
            if stream.read(4) == b"\x7fELF":
                found = from_elf(path, stream)
            else:
                stream.seek(0)
                data = stream.read(kallsyms.LARGEST + 1)
                if len(data) > kallsyms.LARGEST:
                    raise BadSymbols(f"{path}: has more than {kallsyms.LARGEST >> 20} MiB")
                data = kallsyms.unpacked(data)
                found = (from_image if kallsyms.is_image(data) else from_map)(path, data)
    except OSError as error:
        raise BadSymbols(f"{path}: {error.strerror}") from error
    except kallsyms.NoKallsyms as error:
        raise BadSymbols(f"{path}: {error}") from error
    return found if slide is None else found.moved(slide)
