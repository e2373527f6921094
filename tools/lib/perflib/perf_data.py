# SPDX-License-Identifier: Apache-2.0
"""perf.data, as Linux' tools/perf/Documentation/perf.data-file-format.txt describes it: what a
profile of VMs has of it. The guests' kernel is the kernel of such a file, and their machine the one
that was profiled. So perf reads it without knowing of VMs. Another program has to know RISC-V, too:
hotspot 1.3 does not."""
import struct

MAGIC = b"PERFILE2"
HEADER_SIZE = 104
ATTR_SIZE = 112  # PERF_ATTR_SIZE_VER5, which all readers know
FEATURE_BITS = 256
# perf_event_attr's flags.
EXCLUDE_USER, EXCLUDE_KERNEL, MMAP_FLAG, COMM_FLAG, FREQ, SAMPLE_ID_ALL = (
    1 << 4, 1 << 5, 1 << 8, 1 << 9, 1 << 10, 1 << 18)
SAMPLE_TYPE = 0x10000 | 0x100 | 0x80 | 0x4 | 0x2 | 0x1  # IDENTIFIER PERIOD CPU TIME TID IP
CALLCHAIN = 0x20
# Records, and who they are about.
MMAP, COMM, SAMPLE, LOST_SAMPLES = 1, 3, 9, 13
KERNEL, USER = 1, 2
CONTEXT = {KERNEL: -128, USER: -512}
MARKS = (1 << 64) - 4095  # such words are marks, if perf knows them or not
NO_PID = 0xffffffff
# What follows the records.
BUILD_ID, HOSTNAME, OSRELEASE, ARCH, NRCPUS, EVENT_DESC, SAMPLE_TIME = 2, 3, 4, 6, 7, 12, 21
RAW = 4
HARDWARE = {"cycles": 0, "instructions": 1}
LIMIT = 0xffff  # of a record, whose size has 16 bits


def text8(text):
    """With its NUL, to a multiple of 8."""
    data = text.encode() + b"\0"
    return data.ljust((len(data) + 7) // 8 * 8, b"\0")


def text64(text):
    """As features have it."""
    data = text.encode() + b"\0"
    data = data.ljust((len(data) + 63) // 64 * 64, b"\0")
    return struct.pack("<I", len(data)) + data


class Event:
    """One that was sampled. period: as the file of samples has it."""

    def __init__(self, number, name, period, chains):
        self.id, self.name = number + 1, name
        plain, _, modes = name.partition(":")
        kind = 0 if plain in HARDWARE else RAW
        flags = MMAP_FLAG | COMM_FLAG | SAMPLE_ID_ALL
        flags |= EXCLUDE_KERNEL if modes == "u" else EXCLUDE_USER if modes == "k" else 0
        flags |= FREQ if period.endswith("hz") else 0
        self.attr = struct.pack(
            "<IIQQQQQ", kind, ATTR_SIZE, HARDWARE.get(plain, number), int(period.rstrip("hz")),
            SAMPLE_TYPE | (CALLCHAIN if chains else 0), 0, flags).ljust(ATTR_SIZE, b"\0")


class Writer:
    """Builds a file: records by their time, then features."""

    def __init__(self, events, chains):
        self.events = {event.name: event for event in events}
        self.chains = chains
        self.records = []  # (time, record)
        self.features = {}
        self.build_ids = []

    def put(self, time, kind, misc, body):
        size = 8 + len(body)
        if size > LIMIT:
            raise ValueError(f"a record of {size} bytes")
        self.records.append((time, struct.pack("<IHH", kind, misc, size) + body))

    def about(self, pid, tid, time, cpu=0, event=0):
        """What each record but a sample has at its end."""
        return struct.pack("<IIQIIQ", pid, tid, time, cpu, 0, event)

    def mapping(self, who, start, length, offset, name, mode):
        """who: (pid, tid)"""
        self.put(0, MMAP, mode, struct.pack("<IIQQQ", *who, start, length, offset) + text8(name) +
                 self.about(*who, 0))

    def comm(self, pid, tid, name):
        self.put(0, COMM, 0, struct.pack("<II", pid, tid) + text8(name) + self.about(pid, tid, 0))

    def lost(self, who, time, event, n):
        event = self.events[event].id
        self.put(time, LOST_SAMPLES, 0, struct.pack("<Q", n) + self.about(*who, time, 0, event))

    def sample(self, who, sample, mode, ip, callers):
        """Of a guest that is where perf has its marks, the chain has the callers alone."""
        time = sample["timestamp"]
        chain = b""
        if self.chains:
            words = callers if ip >= MARKS else [ip, *callers]
            chain = struct.pack("<Qq%dQ" % len(words), 1 + len(words), CONTEXT[mode], *words)
        self.put(time, SAMPLE, mode, struct.pack(
            "<QQIIQIIQ", self.events[sample["event"]].id, ip, *who, time, sample["hart"], 0,
            sample["period"]) + chain)

    def build_id(self, mode, pid, build_id, name):
        """Of a mapping of that name."""
        data = bytes.fromhex(build_id)[:20]
        body = struct.pack("<I20sBBH", pid, data.ljust(20, b"\0"), len(data), 0, 0)
        name = name.encode() + b"\0"
        body += name.ljust((len(name) + 63) // 64 * 64, b"\0")
        # Bit 15 of misc: the size is told.
        self.build_ids.append(struct.pack("<IHH", 0, mode | 1 << 15, 8 + len(body)) + body)

    def describe(self, harts):
        """What perf shows of the machine: no more than is known of it."""
        self.features[ARCH] = text64("riscv64")
        self.features[HOSTNAME] = text64("tally")
        self.features[NRCPUS] = struct.pack("<II", harts, harts)
        self.features[BUILD_ID] = b"".join(self.build_ids)
        described = struct.pack("<II", len(self.events), ATTR_SIZE)
        for event in self.events.values():
            described += event.attr + struct.pack("<I", 1) + text64(event.name) + struct.pack(
                "<Q", event.id)
        self.features[EVENT_DESC] = described
        times = [time for time, _ in self.records if time]
        if times:
            self.features[SAMPLE_TIME] = struct.pack("<QQ", min(times), max(times))

    def bytes(self):
        """The whole file."""
        events = list(self.events.values())
        ids_at = HEADER_SIZE
        attrs_at = ids_at + 8 * len(events)
        attrs_size = (ATTR_SIZE + 16) * len(events)
        data_at = attrs_at + attrs_size
        self.records.sort(key=lambda record: record[0])
        data = b"".join(record for _, record in self.records)
        bits = sum(1 << feature for feature in self.features)
        out = MAGIC + struct.pack("<QQ6Q", HEADER_SIZE, ATTR_SIZE + 16, attrs_at, attrs_size,
                                  data_at, len(data), 0, 0)
        out += bits.to_bytes(FEATURE_BITS // 8, "little")
        out += b"".join(struct.pack("<Q", event.id) for event in events)
        for i, event in enumerate(events):
            out += event.attr + struct.pack("<QQ", ids_at + 8 * i, 8)
        out += data
        at = len(out) + 16 * len(self.features)
        bodies = b""
        for _, body in sorted(self.features.items()):
            out += struct.pack("<QQ", at + len(bodies), len(body))
            bodies += body
        return out + bodies
