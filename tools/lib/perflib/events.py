# SPDX-License-Identifier: Apache-2.0
"""Events by perf's names, and those of Tally, as the prompt's `observe` takes them."""
import re

# SBI 3.0 tables 31 to 35; the last two of table 31 have no other name in perf.
GENERAL = {
    "cycles": 1, "cpu-cycles": 1, "instructions": 2, "cache-references": 3, "cache-misses": 4,
    "branches": 5, "branch-instructions": 5, "branch-misses": 6, "bus-cycles": 7,
    "stalled-cycles-frontend": 8, "stalled-cycles-backend": 9, "ref-cycles": 10,
}
CACHES = ("L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node")
OPERATIONS = (("loads", "load-misses"), ("stores", "store-misses"),
              ("prefetches", "prefetch-misses"))
FIRMWARE = (
    "misaligned-load", "misaligned-store", "access-load", "access-store", "illegal-insn",
    "set-timer", "ipi-sent", "ipi-received", "fence-i-sent", "fence-i-received",
    "sfence-vma-sent", "sfence-vma-received", "sfence-vma-asid-sent", "sfence-vma-asid-received",
)
# vpmu/tally_events.h, from 256 on.
TALLY = (
    "exits", "exits-ecall", "exits-timer", "exits-irq", "exits-lcofi", "exits-mmio", "exits-csr",
    "exits-wfi", "exits-other", "hs-instructions", "steal-ticks", "lcofi-injected", "refusals",
    "longest-stay", "lcofi-held", "throttled-ticks",
)
FW = 0xF0000
# Of a list: a group, or an event. A comma is in a group or between two of them.
ITEM = r"(?:\{[^{}]*\}(?::\w+)?|[^{},]+)"


class BadEvent(Exception):
    """No event is called that."""


def caches():
    """{name: event_idx}"""
    return {f"{cache}-{name}": 0x10000 | n << 3 | op << 1 | result
            for n, cache in enumerate(CACHES) for op, names in enumerate(OPERATIONS)
            for result, name in enumerate(names)}


def groups():
    """[(title, {name: event_idx})]"""
    return [
        ("Hardware events", GENERAL),
        ("Hardware cache events", caches()),
        ("Firmware events", {f"fw-{name}": FW + n for n, name in enumerate(FIRMWARE)}),
        ("Tally's own events", {name: FW + 256 + n for n, name in enumerate(TALLY)}),
    ]


def raw(value):
    """rNNN, split as Linux does (docs/events.md)."""
    if value >> 62 == 2:
        if value & (1 << 62) - 1 > 0xFFFF:
            return None
        return f"{FW | value & 0xFFFF:#x}"
    if value >> 62 or value >> 56:
        return None
    return f"{0x20000 if value >> 48 == 0 else 0x30000:#x}/{value:#x}"


class Event:
    """One of a list: its name as it is shown, as `observe` takes it, and its group, or None."""

    def __init__(self, name, group):
        self.name, self.group, self.text = name, group, parse(name)


def parse_list(text):
    """[Event] of a list as perf takes it, groups in braces: {cycles,instructions}:u,exits."""
    if not re.fullmatch(f"{ITEM}(,{ITEM})*", text):
        raise BadEvent(f"events '{text}': they stand between commas, and a group as "
                       "{EVENT,EVENT}, with :u or :k behind it or not")
    events = []
    for item in re.findall(ITEM, text):
        if not item.startswith("{"):
            events.append(Event(item, None))
            continue
        group, (names, modifier) = object(), item[1:].split("}")
        events += [Event(name if ":" in name else name + modifier, group)
                   for name in names.split(",")]
    return events


def parse(text):
    """An event as perf takes it, for `observe`."""
    name, _, modifier = text.partition(":")
    if modifier not in ("", "u", "k", "uk", "ku"):
        raise BadEvent(f"event '{text}': a modifier is :u, :k or :uk")
    modes = "".join(sorted(modifier, reverse=True)) or "uk"
    event = number(name, text)
    # Whose doing one of the firmware's or Tally's own is, nobody noted.
    if modes != "uk" and int(event.split("/")[0], 16) >= FW:
        raise BadEvent(f"event '{text}': it has no modes")
    return f"{event}:{modes}"


def number(name, text):
    """The event of that name, without modes."""
    if re.fullmatch("r[0-9a-fA-F]{1,16}", name):
        event = raw(int(name[1:], 16))
        if event is None:
            raise BadEvent(f"event '{text}': such a number is no raw event of the SBI")
        return event
    for _, names in groups():
        if name in names:
            return f"{names[name]:#x}"
    raise BadEvent(f"event '{text}': there is none of that name; --list has those that there are")
