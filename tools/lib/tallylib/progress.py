# SPDX-License-Identifier: Apache-2.0
"""What a person sees of a file that takes long to read."""
import sys
import time

AFTER_S = 2
EVERY = 1 << 14


def lines(file):
    """The lines of a file. On a terminal standard error tells how many were read, if it takes more
    than AFTER_S; they are gone from there at the end."""
    begun, told = time.monotonic(), False
    try:
        for n, line in enumerate(file, 1):
            if n % EVERY == 0 and sys.stderr.isatty() and time.monotonic() - begun > AFTER_S:
                sys.stderr.write(f"\r{n:,} lines read")
                sys.stderr.flush()
                told = True
            yield line
    finally:
        if told:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
