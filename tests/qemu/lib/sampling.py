# SPDX-License-Identifier: Apache-2.0
"""The guest of guests/sampling, and its lines when each overflow comes exactly."""

import bare_guests
import plain

PERIODS = (1, 2, 10, 1000, 100000, 10000000)
UINH, SINH = 0x20, 0x40
ARMINGS = 3
# The handler reads the counter with its third instruction: all three have been counted by then, if
# S counts. The interrupt itself comes at the instruction before which the counter reads 0.
HANDLER = 3
# QEMU swallows the overflow after a start from half range; Tally never makes such a start.
SWALLOWED = 1 << 63
MASKED = """\
masked in sie
armed: LCOFIP 0, flags 0x0
before the wrap: LCOFIP 0, flags 0x0
after it: LCOFIP 1, flags 0x1
long after it: LCOFIP 1, flags 0x1
cleared: LCOFIP 0, flags 0x1
once more: LCOFIP 0, flags 0x1
stopped: LCOFIP 0, flags 0x1
armed again: LCOFIP 0, flags 0x0
interrupt after 1000: LCOFIP 1, flags 0x1
unmasked meanwhile: LCOFIP 0, flags 0x1
far from the wrap: LCOFIP 0, flags 0x0
"""
LATE = """\
interrupts off
wrapped while masked: LCOFIP 1, flags 0x1
unmasked, off for long: LCOFIP 1, flags 0x1
interrupt after 0: LCOFIP 1, flags 0x1
on for a moment: LCOFIP 0, flags 0x1
two wraps before a look
one: LCOFIP 1, flags 0x1
two: LCOFIP 1, flags 0x1
interrupt after 0: LCOFIP 1, flags 0x1
taken: LCOFIP 0, flags 0x1
two counters
interrupt after 1000: LCOFIP 1, flags 0x3
both at once: LCOFIP 0, flags 0x3
interrupt after 501: LCOFIP 1, flags 0x2
interrupt after 1000: LCOFIP 1, flags 0x3
one after the other: LCOFIP 0, flags 0x3
first one: LCOFIP 1, flags 0x1
then both: LCOFIP 1, flags 0x3
interrupt after 0: LCOFIP 1, flags 0x3
"""
# Instructions of U that the samples of `exits` are taken from, the last one an ecall.
RUN = 2001
WAYS = [f"{way}: flags right, 1 interrupts"
        for way in ("start", "go on", "AUTO_START", "world switch")]
TLB_LINES = [
    *[line for event in ("0x10019", "0x1001b", "0x10021") for line in [f"event {event}", *WAYS]],
    "event 0x10019: 100 samples, none late by a period, 0 wrong", "tlb: ends",
]


def sampling(folder, where, bootargs, **arguments):
    """What the guest prints, alone on OpenSBI or on Tally with a back end."""
    bootargs = "sampling=" + bootargs
    if where == "opensbi":
        lines = plain.run(plain.make("build/guests/sampling.bin"), bootargs).splitlines()
        # The firmware's banner is the last thing before it.
        start = max(n for n, line in enumerate(lines) if line.startswith("Boot HART "))
        return lines[start + 1:]
    result = bare_guests.boot(folder, {"alpha": bootargs}, backend=where, **arguments)
    return result.vm("alpha")


def table(where):
    """The lines of kind `table`."""
    lines = []
    for flags in (0, UINH, SINH, UINH | SINH):
        for event in (1, 2):
            lines.append(f"event 0x{event:x}")
            for start in (0, 1 << 61, 1 << 63):
                for mode, inhibit in (("S", SINH), ("U", UINH)):
                    for period in PERIODS:
                        counts = not flags & inhibit
                        if not counts and period != 1000:
                            continue
                        comes = counts and (where != "opensbi" or start != SWALLOWED)
                        value = 0 if flags & SINH else HANDLER
                        lines.append(
                            f"flags 0x{flags:x} {mode} period {period} from 0x{start:x}: "
                            f"{ARMINGS if comes else 0} interrupts after {period if comes else 0}, "
                            f"counter {value if comes else 0}, odd 0")
    return lines + ["table: ends"]


def by_hand(most):
    """What comes of LCOFIs that are held while the guest has them masked: its flag seen to, left
    alone, and with a WFI that it is to end."""
    return [f"{most} come, 0 of 3 more; later LCOFIP {later}, made pending {most + later}, "
            "held back 1" for later in (0, 1, 1)]
