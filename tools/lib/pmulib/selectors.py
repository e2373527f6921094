# SPDX-License-Identifier: Apache-2.0
"""How a core's mhpmevent says what to count: fields of a selector, encode and decode.

Two kinds. `numbers`: one, two or four fields that hold an event's number each, with operators that
join the first two, the other two, and both results. `bits`: one bit an event, and the selector
counts what any of them counts.
"""
import dataclasses

from .expressions import ExpressionError, Join, events, join, text

RAW_V1_BITS = 48  # SBI 3.0, 11.3: event data of type 2
RAW_V2_BITS = 56  # of type 3
ALL = (1 << 64) - 1


def mask(bits):
    """The bits of a field (lowest, width)."""
    low, width = bits
    return (1 << width) - 1 << low


def bits_text(bits):
    """HIGH:LOW of a field."""
    low, width = bits
    return f"{low + width - 1}:{low}"


@dataclasses.dataclass(frozen=True)
class Layout:
    """Of a selector. A field is (lowest bit, width)."""
    kind: str
    fields: tuple     # numbers: one for each event; bits: one, with all events
    group: tuple      # numbers: bits of each field, counted from its lowest, that hold the group;
                      # bits: the field that holds it; None: no such bits
    joins: tuple      # operators' fields, none for one event, 1 for two, 3 for four
    operators: dict   # {"OR": number}; a field with one event holds OR

    @property
    def used(self):
        """All bits that a selector may set."""
        every = 0
        for bits in (*self.fields, *self.joins):
            every |= mask(bits)
        return every | (mask(self.group) if self.kind == "bits" and self.group else 0)

    def limit(self):
        """The lowest number that no event of a group can have."""
        low, width = self.fields[0]
        if self.kind == "bits":
            return low + width
        return 1 << (self.group[0] if self.group else width)

    def base(self, group):
        """The selector of a group with no event in it."""
        if not self.group:
            return 0
        if self.kind == "bits":
            return group.number << self.group[0]
        return sum(group.number << self.group[0] + low for low, _ in self.fields)

    def put(self, event, n=0):
        """An event alone, in field n, without its group's bits."""
        return 1 << event.code if self.kind == "bits" else event.code << self.fields[n][0]

    def number(self, event):
        """What the field of an event holds: its group and number, or its bit's number."""
        if self.kind == "bits" or not self.group:
            return event.code
        return event.group.number << self.group[0] | event.code

    def variable(self, group):
        """The bits in which selectors of a group differ."""
        if self.kind == "bits":
            return sum(1 << event.code for event in group.events)
        every = 0
        for low, width in self.fields:
            every |= mask((low, self.group[0] if self.group else width))
        values = 0
        for value in self.operators.values():
            values |= value
        return every | sum(values << low for low, _ in self.joins)

    def encode(self, tree):
        """The selector that counts a tree of events, or ExpressionError."""
        members = events(tree)
        first = members[0]
        for event in members:
            if event.nothing:
                raise ExpressionError(f"{event.id} is no event: it stands for an empty place")
            if event.group is not first.group:
                raise ExpressionError(
                    f"{first.id} is of the group {first.group.name} and {event.id} of "
                    f"{event.group.name}: no counter counts both")
        if self.kind == "bits":
            return self.base(first.group) | self.encode_bits(tree, members)
        return self.base(first.group) | self.encode_numbers(tree)

    def encode_bits(self, tree, members):
        """Each of the events, all joined by OR."""
        if isinstance(tree, Join):
            self.know(tree)
            if any(isinstance(part, Join) for part in tree.parts):
                raise ExpressionError("this core joins events by OR alone")
        selector = 0
        for event in members:
            if selector & self.put(event):
                raise ExpressionError(f"{event.id} is there twice, and has one bit")
            selector |= self.put(event)
        return selector

    def know(self, tree):
        """Has the core the operator?"""
        if tree.operator not in self.operators:
            have = ", ".join(self.operators) or "none: it counts one event at a time"
            raise ExpressionError(f"this core has no {tree.operator}; its operators: {have}")

    def encode_numbers(self, tree):
        """The halves that the last operator joins, each of one or two events."""
        if not isinstance(tree, Join):
            return self.put(tree)
        self.know(tree)
        halves = self.halves(tree)
        selector = 0
        for n, half in enumerate(halves):
            parts = half.parts if isinstance(half, Join) else (half,)
            for k, event in enumerate(parts):
                selector |= self.put(event, 2 * n + k)
            selector |= self.operators[half.operator if len(parts) == 2 else "OR"] << \
                self.joins[n][0]
        if len(halves) == 2:
            selector |= self.operators[tree.operator] << self.joins[2][0]
        elif len(self.joins) == 3:
            selector |= self.operators["OR"] << self.joins[2][0]
            selector |= self.operators["OR"] << self.joins[1][0]
        return selector

    def halves(self, tree):
        """[event or Join of two events], as many as the core has pairs of fields."""
        count = len(events(tree))
        if count > len(self.fields):
            raise ExpressionError(f"it has {count} events, and a selector of this core takes "
                                  f"{len(self.fields)}")
        halves, waiting = [], None  # waiting: the place of a single event that has room beside it
        for part in tree.parts:
            if isinstance(part, Join):
                self.know(part)
                if len(part.parts) > 2 or any(isinstance(p, Join) for p in part.parts):
                    raise ExpressionError(f"({text(part)}) would have to be one result, and one "
                                          "joins two events")
                halves.append(part)
            elif waiting is None:
                waiting = len(halves)
                halves.append(part)
            else:
                halves[waiting] = Join(tree.operator, (halves[waiting], part))
                waiting = None
        if len(halves) > len(self.fields) // 2:
            raise ExpressionError(
                f"({text(tree)}) needs {len(halves)} results of two events each, and a selector "
                f"of this core has {len(self.fields) // 2}")
        return halves

    def decode(self, selector, groups):
        """The tree that a selector counts, or ExpressionError."""
        if selector & ~self.used & ALL:
            high = (selector & ~self.used & ALL).bit_length() - 1
            raise ExpressionError(f"bit {high} belongs to no field of this core's selector")
        fixed = [g for g in groups if not (selector ^ self.base(g)) & self.group_bits()]
        if not fixed:
            raise ExpressionError("its fixed bits are those of no group: "
                                  + ", ".join(f"{g.name} has {self.base(g):#x}" for g in groups))
        if self.kind == "bits":
            return self.decode_bits(selector, fixed[0])
        return self.decode_numbers(selector, fixed[0])

    def group_bits(self):
        """The bits that tell groups apart."""
        if not self.group:
            return 0
        if self.kind == "bits":
            return mask(self.group)
        return sum(mask((low + self.group[0], self.group[1])) for low, _ in self.fields)

    def decode_bits(self, selector, group):
        """The events of the bits that are set."""
        found = []
        for code in range(self.fields[0][0], sum(self.fields[0])):
            if selector >> code & 1:
                found.append(group.event(code))
        if not found:
            raise ExpressionError("it has no event")
        return join("OR", found)

    def decode_numbers(self, selector, group):
        """The events of the fields, joined."""
        parts = []
        for low, _ in self.fields:
            event = group.event(selector >> low & self.limit() - 1)
            parts.append(None if event.nothing else event)
        if not any(parts):
            raise ExpressionError("it has no event")
        words = {value: word for word, value in self.operators.items()}
        row = []
        for bits in self.joins:
            value = (selector & mask(bits)) >> bits[0]
            if value not in words:
                raise ExpressionError(f"its bits {bits_text(bits)} are {value}, which is no "
                                      "operator of this core")
            row.append(words[value])
        level = parts
        while len(level) > 1:
            level = [self.both(row.pop(0), *level[n:n + 2]) for n in range(0, len(level), 2)]
        return level[0]

    @staticmethod
    def both(operator, left, right):
        """Two results joined, of which one may be nothing at all."""
        if left is None or right is None:
            if operator == "AND" and left is not right:
                raise ExpressionError("it would read 0 for ever: AND joins an event with nothing")
            return left or right
        return join(operator, (left, right))
