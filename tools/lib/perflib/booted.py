# SPDX-License-Identifier: Apache-2.0
"""The functions of what a VM was booted from, by the note that tools/run leaves of it
(tallylib/image_files.py)."""
import os

from perflib import symbols
from tallylib import image_files


def symbols_of(file, sha256):
    """Symbols, or BadSymbols. A program without names in it has those of the ELF file that lies
    beside it, if that has the same code."""
    image = image_files.content(file)
    if image is None or image_files.digest(image) != sha256:
        raise symbols.BadSymbols(f"{file}: is not there, or was changed since the VM was booted "
                                 "from it")
    try:
        return symbols.load(file)
    except symbols.BadSymbols:
        beside = os.path.splitext(file)[0] + ".elf"
        if not os.path.isfile(beside):
            raise
    found = symbols.load(beside)
    if any(image[start - found.text:start - found.text + len(code)] != code
           for start, code in found.code):
        raise symbols.BadSymbols(f"{beside}: its code is not that of {file}")
    return found
