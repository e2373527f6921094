# SPDX-License-Identifier: Apache-2.0
"""Samples as the microvisor notes them (core/vm/samples.h), and the file of `perf-vms record`
(docs/profiling.md)."""
import base64
import json
import struct

HEAD_WORDS = 6
USER, MASKED = 1, 2
VERSION = 1


class BadSamples(Exception):
    """What came is not what the microvisor notes."""


class Sample:
    """One of a vcpu. ticks: of the machine's time; events: how many it stands for; number: which of
    its observation's on this vcpu it is, from 1 on."""

    def __init__(self, hart, words):
        head, self.ticks, self.pc, self.satp, self.events, self.number = words[:HEAD_WORDS]
        self.hart = hart
        self.observation = head >> 32
        self.flags = head >> 24 & 0xff
        self.vcpu = head >> 16 & 0xff
        self.chain = words[HEAD_WORDS:]

    def mode(self):
        return "user" if self.flags & USER else "kernel"


class Decoder:
    """Lines of `samples` in the order in which they come; a sample may be in two of them."""

    def __init__(self):
        self.left = {}  # {hart: words of a sample that has not come as a whole}

    def line(self, text):
        """[Sample]"""
        hart, _, words = text.partition(" ")
        try:
            data = base64.b64decode(words, validate=True)
            left = self.left.setdefault(int(hart), [])
            left += struct.unpack(f"<{len(data) // 8}Q", data)
        except (ValueError, struct.error) as error:
            raise BadSamples(f"no words of a ring: {text}") from error
        found = []
        while left and len(left) >= left[0] & 0xff:
            length = left[0] & 0xff
            if length < HEAD_WORDS:
                raise BadSamples(f"a sample of {length} words")
            found.append(Sample(int(hart), left[:length]))
            del left[:length]
        return found


class Writer:
    """Writes a file of samples, one JSON object a line."""

    def __init__(self, out):
        self.out = out

    def flush(self):
        self.out.flush()

    def put(self, **fields):
        self.out.write(json.dumps(fields) + "\n")


def each(lines):
    """The objects of a file of samples, one after the other. Raises BadSamples if it is none."""
    head = None
    for line in lines:
        try:
            found = json.loads(line)
            if head is None and found["tally-samples"] == VERSION:
                head = found
        except (ValueError, LookupError, TypeError, RecursionError):
            head = None
        if head is None:
            break
        yield found
    if head is None:
        raise BadSamples("this is no file of perf-vms record")


def read(lines):
    """All of them."""
    return list(each(lines))
