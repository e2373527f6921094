# SPDX-License-Identifier: Apache-2.0
"""Samples as the hypervisor notes them (core/watch/samples.h), and the file of `perf-vms record`
(docs/samples.md)."""
import base64
import json
import re
import struct

from tallylib import image_files, printable, progress

HEAD_WORDS = 6
USER, MASKED, CUT = 1, 2, 4
# What is no sample is of a trace (tools/lib/tracelib/records.py).
NO_SAMPLE = 1 << 31
LEAST_WORDS = 2
VERSION = 1


class BadSamples(Exception):
    """What came is not what the hypervisor notes."""


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


class Packed:
    """The bytes that a hart's lines of one answer have together: packed records (docs/samples.md,
    "At the prompt")."""

    NEW, OTHER = 14, 15
    MORE = 8
    SATP, EVENTS, NUMBER, CALLERS = 1, 2, 4, 8
    SMALL = 247

    def __init__(self, data):
        self.data, self.at = data, 0
        self.time, self.places, self.news = 0, {}, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def number(self):
        """Up to SMALL it is a byte; behind a byte SMALL + n come n bytes."""
        first = self.byte()
        if first <= self.SMALL:
            return first
        bytes_of = self.data[self.at:self.at + first - self.SMALL]
        if len(bytes_of) < first - self.SMALL:
            raise ValueError("a number without its end")
        self.at += len(bytes_of)
        return int.from_bytes(bytes_of, "little")

    def changed(self, last):
        """What was `last` before."""
        more = self.number()
        return last + (more >> 1 ^ -(more & 1)) & (1 << 64) - 1

    def place(self, n):
        """What is known of a vcpu of an observation."""
        if n == self.NEW:
            n = self.news % self.NEW
            self.news += 1
            self.places[n] = Place(self.number() << 32 | self.number() << 16)
        return self.places[n]

    def sample(self, first):
        """Its words."""
        flags = first & 7
        place = self.place(first >> 4)
        self.time = self.changed(self.time)
        pc = place.pc[flags & USER] = self.changed(place.pc[flags & USER])
        more = self.byte() if first & self.MORE else 0
        place.number += 1
        if more & self.SATP:
            place.satp = self.changed(place.satp)
        if more & self.EVENTS:
            place.events = self.changed(place.events)
        if more & self.NUMBER:
            place.number = self.changed(place.number)
        chain = []
        for _ in range(self.byte() if more & self.CALLERS else 0):
            chain.append(self.changed(chain[-1] if chain else pc))
        return [place.whose | flags << 24 | HEAD_WORDS + len(chain), self.time, pc, place.satp,
                place.events, place.number, *chain]

    def records(self):
        """[words] of all."""
        found = []
        while self.at < len(self.data):
            first = self.byte()
            if first >> 4 != self.OTHER:
                found.append(self.sample(first))
                continue
            n = self.data[self.at]
            found.append(list(struct.unpack_from(f"<{n}Q", self.data, self.at)))
            self.at += 8 * n
            if n < LEAST_WORDS:
                raise ValueError(f"a record of {n} words")
        return found


class Place:
    """What was told last of a vcpu of an observation."""

    def __init__(self, whose):
        self.whose, self.pc = whose, [0, 0]
        self.satp = self.events = self.number = 0


def unpacked(data):
    """[words] of records as a ring has them."""
    words, found = struct.unpack(f"<{len(data) // 8}Q", data), []
    while words:
        n = words[0] & 0xff
        if not (LEAST_WORDS if words[0] & NO_SAMPLE else HEAD_WORDS) <= n <= len(words):
            raise ValueError(f"a record of {n} words")
        found.append(list(words[:n]))
        words = words[n:]
    return found


def parts(lines):
    """[(hart, are they words?, bytes)]: all that is packed together, or has come together."""
    found, of_hart = [], {}
    for line in lines:
        hart, *kind, data = line.split(" ") if " " in line else (line, "")
        try:
            data = base64.b64decode(data, validate=True)
            if kind == ["begin"] or hart not in of_hart:
                of_hart[hart] = [int(hart), kind == ["words"], b""]
                found.append(of_hart[hart])
        except ValueError as error:
            raise BadSamples(f"no samples: {line}") from error
        if kind not in ([], ["begin"], ["words"]) or of_hart[hart][1] != (kind == ["words"]):
            raise BadSamples(f"no samples: {line}")
        of_hart[hart][2] += data
    return found


def records(lines):
    """All that answers to `samples` have: [(hart, words)]. The first line of a hart in an answer is
    "HART begin BYTES", others are "HART BYTES". "HART words BYTES" is of a ring that an operator VM
    has read itself."""
    found = []
    for hart, words, data in parts(lines):
        try:
            each = unpacked(data) if words else Packed(data).records()
        except (ValueError, LookupError, struct.error) as error:
            raise BadSamples(f"no samples of hart {hart}: {error}") from error
        found += [(hart, words) for words in each]
    return found


def told(lines):
    """Its samples: [Sample]."""
    return [Sample(hart, words) for hart, words in records(lines) if not words[0] & NO_SAMPLE]


class Merged:
    """What all harts have noted, in the order of time. A batch has all that was noted when it was
    asked for, so what is older than the newest of the batch before is complete. `time` tells when
    one was; those of a hart with the same time keep their order."""

    def __init__(self, time):
        self.time = time
        self.waiting = []
        self.newest = 0

    def add(self, batch):
        """Returns those whose time has come."""
        complete, self.newest = self.newest, max([self.newest] + [*map(self.time, batch)])
        self.waiting += batch
        self.waiting.sort(key=self.time)
        n = sum(self.time(one) <= complete for one in self.waiting)
        ready, self.waiting = self.waiting[:n], self.waiting[n:]
        return ready

    def rest(self):
        ready, self.waiting = self.waiting, []
        return ready


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
    "exits": {**WHOSE, "cause": str, "what": str, "instructions": int},
    "end": WHOSE}
LIMITS = {"vcpu": 1 << 8, "hart": 1 << 32}  # of the others: 1 << 64


ADDRESS = re.compile("0x[0-9a-f]{1,16}")


def are_addresses(words, known):
    """known: of them those that were asked for before."""
    if not known.issuperset(words):
        if not all(isinstance(word, str) and ADDRESS.fullmatch(word) for word in words):
            return False
        known.update(words)
    return True


def is_right(o, head, known):
    """Whether this is an object behind the first one. May raise what each() knows."""
    fields = FIELDS[o["type"]]
    numbers = [(o[name], LIMITS.get(name, 1 << 64)) for name, kind in fields.items()
               if kind is int] + [(o.get("lost", 0), 1 << 64)]
    chain = o.get("callchain", [])
    return all(isinstance(o[name], kind) for name, kind in fields.items()) and \
        all(0 <= number < limit for number, limit in numbers) and \
        o["vm"] in head["vms"] and o["event"] in head["events"] and \
        (o["type"] != "sample" or o["mode"] in ("kernel", "user") and isinstance(chain, list) and
         are_addresses((o["ip"], o["satp"], *chain), known))


def is_head(o):
    return o["tally-samples"] == VERSION and PERIOD.fullmatch(o["period"]) is not None and all(
        isinstance(o[name], list) and all(isinstance(text, str) for text in o[name])
        for name in ("vms", "events")) and image_files.is_right(o.get("images", {}))


def each(lines):
    """The objects of a file of samples, one after the other. Raises BadSamples if it is none."""
    head, known = None, set()
    for n, line in enumerate(lines, 1):
        ours = head is not None
        try:
            o = printable.loads(line, printable.words)
            ours = ours or o["tally-samples"] == VERSION
            right = is_right(o, head, known) if head else is_head(o)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            right = False
        if not right and ours:
            raise BadSamples(f"line {n} is no line of a file of samples: {line[:60]!r}")
        if not right:
            break
        head = head or o
        yield o
    if head is None:
        raise BadSamples("is no file of perf-vms record")


def read(lines):
    """All of them."""
    return list(each(lines))


def load(path):
    """The same of a file, whatever is in it, with all that objects have to have."""
    with open(path, encoding="utf-8", errors="replace") as file:
        try:
            return read(progress.lines(file))
        except BadSamples as error:
            raise BadSamples(f"{path}: {error}") from error
