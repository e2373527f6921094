# SPDX-License-Identifier: Apache-2.0
"""The symbols that a Linux kernel for RISC-V carries with it for its own use (kallsyms), out of its
Image, and its build-id.

The names are compressed by a table of 256 tokens, and nothing in the Image says where the tables
are. They are found by the tokens of the digits, which stand for themselves. That it is them is not
guessed: a kernel with CONFIG_KALLSYMS_ALL names its own tables, and what is decoded must say that
they are where they were found.
"""
import contextlib
import gzip
import io
import struct
import zlib

MAGIC, MAGIC_AT = b"RSC\x05", 56
SIZE_AT = 16  # of the header: how many bytes the kernel takes in memory
ZBOOT = b"zimg"  # an EFI program that unpacks the Image

# Where kernels for RV64 are linked to, since 5.13.
LINKED_AT = 0xffffffff80000000
R_RISCV_RELATIVE = 3

# In bytes, more than any kernel or program of a guest has: a few MB may unpack to all memory.
LARGEST = 1 << 29

TOKENS = 256
DIGITS = b"".join(b"%c\0" % c for c in b"0123456789")
LONGEST_TOKEN = 1024
MARKED = 256  # each so many names there is a marker
MOST_NAMES = 1 << 20
LONGEST_NAME = 1 << 14  # with its length
LONG = 0x80  # in the first byte of a length: a second one follows
OWN = ("names", "markers", "token_table", "token_index")


class NoKallsyms(Exception):
    """There are none, or none that can be checked."""


def bounded(data):
    """What gzip has packed."""
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        found = file.read(LARGEST + 1)
    if len(found) > LARGEST:
        raise NoKallsyms(f"it unpacks to more than {LARGEST >> 20} MiB")
    return found


def unpacked(data):
    """The Image itself, if it is compressed by gzip, or in an EFI program that is."""
    try:
        if data[:2] == b"MZ" and data[4:8] == ZBOOT:
            start, size = struct.unpack_from("<II", data, 8)
            if data[24:28] != b"gzip":
                raise NoKallsyms("it is compressed, but not by gzip: unpack it first")
            return bounded(data[start:start + size])
        return bounded(data) if data[:2] == b"\x1f\x8b" else data
    except (OSError, EOFError, zlib.error, struct.error) as error:
        raise NoKallsyms(f"it cannot be unpacked: {error}") from error


def is_image(data):
    return data[MAGIC_AT:MAGIC_AT + len(MAGIC)] == MAGIC


def aligned(at, to):
    return (at + to - 1) // to * to


class Names:
    """The table of names before the tokens of these digits."""

    def __init__(self, image, digits):
        self.image = image
        self.at = {}  # {table: where it is}
        self.find_tokens(digits)
        try:
            self.markers = self.find_markers()
            self.names = self.find_names()
        except NoKallsyms:
            self.names = self.find_before_order()

    def word(self, at):
        return struct.unpack_from("<I", self.image, at)[0]

    def find_tokens(self, digits):
        start = second = digits
        for _ in range(ord("0")):
            second = start
            start = self.image.rfind(b"\0", max(0, start - LONGEST_TOKEN), start - 1) + 1
            if not start:
                raise NoKallsyms("no tokens before")
        # Its first byte is aligned, and not always behind a zero.
        for first in (start, *range(aligned(start + 1, 8), second, 8)):
            if self.are_tokens(first):
                return
        raise NoKallsyms("no index of the tokens")

    def are_tokens(self, start):
        """Whether the index behind them says so."""
        self.at["token_table"] = start
        self.tokens, starts = [], []
        for _ in range(TOKENS):
            end = self.image.find(b"\0", start, start + LONGEST_TOKEN)
            if end < 0:
                return False
            starts.append(start - self.at["token_table"])
            self.tokens.append(self.image[start:end])
            start = end + 1
        if starts[-1] > 0xffff:
            return False
        index = struct.pack("<%dH" % TOKENS, *starts)
        self.at["token_index"] = self.image.find(index, start, start + len(index) + 64)
        self.end = self.at["token_index"] + len(index)
        return self.at["token_index"] >= 0

    def find_markers(self):
        """They ascend from 0, and are before the tokens, with padding."""
        at = self.at["token_table"] // 4 * 4 - 4
        while at > self.at["token_table"] - 16 and not self.word(at):
            at -= 4
        found = [self.word(at)]
        while found[-1]:
            at -= 4
            if at < 0 or self.word(at) >= found[-1]:
                raise NoKallsyms("no markers")
            found.append(self.word(at))
        self.at["markers"] = at
        return found[::-1]

    def find_before_order(self):
        """Linux 6.2 and 6.3 have the order of the names by the alphabet between the markers and the
        tokens: three bytes for each name."""
        at = tokens = self.at["token_table"]
        of_marker = 4 + 3 * MARKED  # bytes of both tables
        while (at := self.image.rfind(bytes(4), max(0, tokens - MOST_NAMES * 4), at + 3)) >= 0:
            both = tokens - at if at % 8 == 0 and self.word(at + 4) else 0
            # The last marker may have fewer names, and there is padding up to 8 bytes twice.
            for n in range(max(2, (both - 14) // of_marker), (both - 4) // of_marker + 2):
                self.at["markers"] = at
                self.markers = struct.unpack_from(f"<{n}I", self.image, at)
                if all(one < other for one, other in zip(self.markers, self.markers[1:])):
                    with contextlib.suppress(NoKallsyms):
                        return self.find_names()
        raise NoKallsyms("no names")

    def find_names(self):
        """They are before the markers; before them is how many they are."""
        last = self.at["markers"] // 4 * 4 - self.markers[-1] // 4 * 4
        for at in range(last, max(8, last - MARKED * LONGEST_NAME), -4):
            # Tables are aligned to 8 bytes; from Linux 7.0 on to 4.
            for n in {self.word(at - 8) if at % 8 == 0 else 0, self.word(at - 4)}:
                names = (n + MARKED - 1) // MARKED == len(self.markers) and self.decode(at, n)
                if names:
                    self.at["names"], self.count = at, n
                    return names
        raise NoKallsyms("no names")

    def decode(self, at, n):
        """The names with their types before them; None: there are none."""
        names, start, end = [], at, self.at["markers"]
        for i in range(n):
            if at + 2 > end or i % MARKED == 0 and at - start != self.markers[i // MARKED]:
                return None
            length = self.image[at]
            at += 1
            if length & LONG:
                length = length & ~LONG | self.image[at] << 7
                at += 1
            names.append(b"".join([self.tokens[c] for c in self.image[at:at + length]]))
            at += length
            if not names[-1]:
                return None
        return names if at <= end < at + 8 else None


class Kallsyms:
    """symbols: [(address, type, name)], in the order of addresses. base: where the Image's first
    byte is linked to; end: where the kernel ends."""

    def __init__(self, image):
        self.image = image
        if not is_image(image):
            raise NoKallsyms("it is no Image of a RISC-V kernel")
        self.base = None
        names = self.found_names()
        for table, way in (("offsets", self.offsets_behind), ("offsets", self.offsets_before),
                           ("offsets", self.offsets_by_place),
                           ("addresses", self.addresses_behind),
                           ("addresses", self.addresses_before)):
            if self.holds(names, table, way(names)):
                break
        else:
            raise NoKallsyms("its kallsyms cannot be checked by themselves (is CONFIG_KALLSYMS_ALL "
                             "off?): give its System.map or vmlinux")
        self.end = self.base + struct.unpack_from("<Q", image, SIZE_AT)[0]
        self.build_id = self.find_build_id()

    def found_names(self):
        at = self.image.find(DIGITS)
        while at >= 0:
            try:
                return Names(self.image, at)
            except NoKallsyms:
                at = self.image.find(DIGITS, at + 1)
        raise NoKallsyms("there are no kallsyms in it: give its System.map or vmlinux")

    def words_at(self, at, names, size=4):
        kind = {4: "I", 8: "Q"}[size]
        return struct.unpack_from(f"<{names.count}{kind}", self.image, at) if \
            0 <= at <= len(self.image) - names.count * size else ()

    def relative(self, names, at, base_at):
        """(where the offsets are, addresses); the offsets are from an address in the Image."""
        offsets = self.words_at(at, names)
        if not offsets or not 0 <= base_at <= len(self.image) - 8:
            return at, ()
        base = struct.unpack_from("<Q", self.image, base_at)[0]
        if not base:
            # A kernel that relocates itself has it in an entry of .rela.dyn.
            entry = struct.pack("<3Q", LINKED_AT + base_at, R_RISCV_RELATIVE, LINKED_AT)
            if self.image.find(entry) < 0:
                return at, ()
            base = LINKED_AT
        return at, [base + offset for offset in offsets]

    def offsets_behind(self, names):
        """Linux 6.4 and later: behind the tokens."""
        at = aligned(names.end, 8)
        return self.relative(names, at, aligned(at + 4 * names.count, 8))

    def offsets_before(self, names):
        """Linux before 6.4: before the names."""
        base_at = names.at["names"] - 16
        return self.relative(names, aligned(base_at - 4 * names.count - 7, 8), base_at)

    def offsets_by_place(self, names):
        """Linux 7.0 and later: each is from its own place."""
        at = aligned(names.end, 4)
        offsets = self.words_at(at, names)
        return at, [LINKED_AT + at + 4 * i + (offset ^ 1 << 31) - (1 << 31)
                    for i, offset in enumerate(offsets)]

    def addresses_behind(self, names):
        """Linux 6.4 to 6.10 without CONFIG_KALLSYMS_BASE_RELATIVE: each as a whole."""
        at = aligned(names.end, 8)
        return at, self.words_at(at, names, 8)

    def addresses_before(self, names):
        """The same before 6.4."""
        at = names.at["names"] - 8 - 8 * names.count
        return at, self.words_at(at, names, 8)

    def holds(self, names, table, found):
        """Whether the kernel says that its tables are where they were found."""
        at, addresses = found
        if not addresses:
            return False
        self.symbols = [(address, chr(name[0]), name[1:].decode("ascii", "replace"))
                        for address, name in zip(addresses, names.names)]
        places = {**names.at, table: at}
        own = {name: address for address, _, name in self.symbols if name.startswith("kallsyms_")}
        bases = {own.get("kallsyms_" + each, 0) - places[each] for each in (*OWN, table)}
        self.base = bases.pop()
        starts = [address for address, _, name in self.symbols if name == "_start"]
        self.symbols.sort(key=lambda symbol: symbol[0])
        return not bases and starts == [self.base]

    def find_build_id(self):
        """In hexadecimal; None: it has none."""
        marks = {name: address - self.base for address, _, name in self.symbols
                 if name in ("__start_notes", "__stop_notes")}
        at, end = marks.get("__start_notes", 0), marks.get("__stop_notes", 0)
        return note_of(self.image[at:end]) if 0 < at < end else None


def note_of(notes):
    """The build-id of an ELF section of notes."""
    at = 0
    while at + 12 <= len(notes):
        name, size, kind = struct.unpack_from("<3I", notes, at)
        body = at + 12 + aligned(name, 4)
        if (kind, notes[at + 12:at + 12 + name]) == (3, b"GNU\0"):
            return notes[body:body + size].hex()
        at = body + aligned(size, 4)
    return None
