# SPDX-License-Identifier: Apache-2.0
"""Samples as the microvisor notes them (core/vm/samples.h), and the file of `perf-vms record`
(docs/profiling.md)."""
import base64
import json
import re
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


PERIOD = re.compile(r"[0-9]{1,19}(hz)?")
# What objects have, and of which type; `ip`, `satp` and `callchain` are checked as addresses.
WHOSE = {"vm": str, "vcpu": int, "event": str}
FIELDS = {
    "sample": {**WHOSE, "timestamp": int, "hart": int, "period": int, "mode": str, "ip": str,
               "satp": str},
    "lost": {**WHOSE, "timestamp": int, "lost": int},
    "end": {**WHOSE, "lost": int}}


def is_address(text):
    return isinstance(text, str) and 0 <= int(text, 16) < 1 << 64


def is_right(o, head):
    """Whether this is an object behind the first one. May raise ValueError and what read() knows.
    """
    fields = FIELDS[o["type"]]
    numbers = [o[name] for name, kind in fields.items() if kind is int]
    return all(isinstance(o[name], kind) for name, kind in fields.items()) and \
        all(0 <= number < 1 << 64 for number in numbers) and \
        o["vm"] in head["vms"] and o["event"] in head["events"] and \
        (o["type"] != "sample" or o["mode"] in ("kernel", "user") and
         all(map(is_address, (o["ip"], o["satp"], *o.get("callchain", ())))))


def is_head(o):
    return o["tally-samples"] == VERSION and PERIOD.fullmatch(o["period"]) is not None and all(
        isinstance(o[name], list) and all(isinstance(text, str) for text in o[name])
        for name in ("vms", "events"))


def read(lines):
    """The objects of a file of samples. Raises BadSamples if it is none."""
    objects = []
    for n, line in enumerate(lines, 1):
        try:
            o = json.loads(line)
            if is_right(o, objects[0]) if objects else is_head(o):
                objects.append(o)
                continue
        except (ValueError, LookupError, TypeError, AttributeError):
            pass
        if objects:
            raise BadSamples(f"line {n} is no line of a file of samples: {line[:60]!r}")
        break
    if not objects:
        raise BadSamples("is no file of perf-vms record")
    return objects


def load(path):
    """The same of a file, whatever is in it."""
    with open(path, encoding="utf-8", errors="replace") as lines:
        try:
            return read(lines)
        except BadSamples as error:
            raise BadSamples(f"{path}: {error}") from error
