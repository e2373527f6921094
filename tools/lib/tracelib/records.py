# SPDX-License-Identifier: Apache-2.0
"""What harts note of stays in HS and of who is resident (core/watch/stays.h)."""
import dataclasses

from perflib.samples import NO_SAMPLE, BadSamples

STAY, COME, GO, MOVED, BEGIN, END = range(0x80, 0x86)
WORDS = {STAY: (4, 5, 7), COME: (4,), GO: (5,), MOVED: (2,), BEGIN: (3,), END: (3,)}
GOES_ON = 0xff
INTERRUPT = 0x80
LEFT = ("off", "preempted", "waits")  # STAYS_OFF, STAYS_READY, STAYS_WAITING
NOBODY = 0xff


@dataclasses.dataclass
class Record:
    """Something that a hart noted. number: which of this hart's it is, lost ones included; index:
    of the vcpu on the machine; time: ticks, at its end."""
    hart: int
    number: int
    kind: int
    index: int
    time: int
    words: list

    # Of a STAY:
    begin: int = 0
    instructions: int = 0
    cause: int = GOES_ON
    why: int = 0
    resident: int = NOBODY

    # Bits of hvip; of a STAY, to `resident`.
    injected: int = 0

    def pc(self):
        return self.words[4] if len(self.words) > 4 else None

    def values(self):
        return self.words[5:7]


def record(hart, words):
    """A Record; None: the words are a sample."""
    head = words[0]
    if not head & NO_SAMPLE:
        return None
    kind = head >> 24 & 0xff
    if len(words) not in WORDS.get(kind, ()):
        raise BadSamples(f"{len(words)} words of kind {kind:#x} are nothing of a trace")
    made = Record(hart, head >> 32, kind, head >> 16 & 0xff, words[1], words)
    if kind == STAY:
        made.begin = words[1]
        made.time += words[2] >> 32
        made.instructions = words[2] & 0xffffffff
        made.cause = words[3] & 0xff
        made.why = words[3] >> 8 & 0xff
        made.resident = words[3] >> 16 & 0xff
        made.injected = words[3] >> 32
    elif kind in (COME, GO):
        made.injected = words[3]
    return made
