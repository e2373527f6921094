# SPDX-License-Identifier: Apache-2.0
"""What `kind=measure` of guests/bare prints when each of its counts is exact."""

# The fixed loop, in bootargs: rounds, and pairs of instructions in each.
ROUNDS = 2
LENGTH = 1000000
MEASURE = f"kind=measure rounds={ROUNDS} length={LENGTH}"
# One count of each, as long: two time slices.
LONG_ROUND = f"kind=measure rounds=1 length={LENGTH}"
ONE_LENGTH = 100000
ONE_ROUND = f"kind=measure rounds=1 length={ONE_LENGTH}"
SHORT_LENGTH = 20000
SHORT = f"kind=measure rounds=1 length={SHORT_LENGTH}"


def rounds(number=ROUNDS, length=LENGTH):
    """The lines of so many rounds: what each filter leaves of S and U, by the flags of
    config_matching."""
    one = 2 * length + 1
    filters = {"0x0": (one, one), "0x20": (one, 0), "0x40": (0, one), "0x60": (0, 0)}
    return [f"measure: round {n} event {event} flags {flags}: S {s}, U {u}, odd reads 0"
            for n in range(number)
            for event in ("0x2", "0x1")
            for flags, (s, u) in filters.items()]


def expected(number=ROUNDS, length=LENGTH):
    """The same with the last line."""
    return rounds(number, length) + [f"measure: ends, 0 wrong of {8 * number}"]


EXPECTED = expected()
LONG_EXPECTED = expected(1)
ONE_EXPECTED = expected(1, ONE_LENGTH)


def refused(event):
    """What kind=measure says of an event that is not counted."""
    return [f"measure: round 0 event {event} flags {flags}: S 0, U 0, odd reads 0 WRONG"
            for flags in ("0x0", "0x20", "0x40", "0x60")]


ALL_EXACT = expected(1, SHORT_LENGTH)
ALL_REFUSED = refused("0x2") + refused("0x1") + ["measure: ends, 8 wrong of 8"]
