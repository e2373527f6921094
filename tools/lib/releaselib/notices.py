# SPDX-License-Identifier: Apache-2.0
"""The file `copyright` of a package: Tally's licence, and those of libraries that are linked into
its programs."""
import os

from releaselib import files
from tallylib.places import TOP

LIBFDT = """
The images tally.bin contain libfdt, as Debian's package libfdt-dev has it, under the licence
BSD-2-Clause:

Copyright (C) 2006 David Gibson, IBM Corporation.
Copyright 2012 Kim Phillips, Freescale Semiconductor.

Redistribution and use in source and binary forms, with or without modification, are permitted
provided that the following conditions are met:

1. Redistributions of source code must retain the above copyright notice, this list of conditions
   and the following disclaimer.

2. Redistributions in binary form must reproduce the above copyright notice, this list of conditions
   and the following disclaimer in the documentation and/or other materials provided with the
   distribution.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR
IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND
FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR
CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL
DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE,
DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER
IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF
THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.
"""
GLIBC = """
The program tally-operator contains parts of the GNU C Library (LGPL-2.1-or-later), as Debian's
package libc6-dev-riscv64-cross has it:

Copyright (C) 1991-2015 Free Software Foundation, Inc., and others.

That licence is in /usr/share/common-licenses/LGPL-2.1 on Debian, and the library's sources are in
Debian's source package glibc. The sources of this program are in the same release of Tally:
`make operator-tools` links it with another version of the library.
"""


def write(path, notice):
    """Tally's licence, and a notice behind it."""
    with open(os.path.join(TOP, "LICENSE"), "rb") as file:
        files.write(path, file.read() + notice.encode())
