# SPDX-License-Identifier: Apache-2.0
"""Prometheus' text exposition format.

  families = Families()
  families.counter("tally_vcpu_exits_total", "Exits.").add(7, vm="alpha", vcpu=0)
  print(families.text())
"""

ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n"})
LABEL_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", '"': '\\"'})


def decimal(number, unit):
    """A whole number of parts as text, each a `unit`-th (a power of ten), with all digits."""
    whole, rest = divmod(number, unit)
    return f"{whole}.{rest:0{len(str(unit)) - 1}d}"


class Family:
    """A metric: its name, type and meaning, and its values."""

    def __init__(self, name, kind, meaning):
        self.name, self.kind, self.meaning = name, kind, meaning
        self.lines = []

    def add(self, value, **labels):
        """value: a number, or digits."""
        inside = ",".join('%s="%s"' % (name, str(label).translate(LABEL_ESCAPES))
                          for name, label in labels.items())
        self.lines.append(f"{self.name}{{{inside}}} {value}" if inside else f"{self.name} {value}")

    def text(self):
        """Its lines; nothing, if it has no values."""
        if not self.lines:
            return ""
        head = (f"# HELP {self.name} {self.meaning.translate(ESCAPES)}",
                f"# TYPE {self.name} {self.kind}")
        return "".join(line + "\n" for line in (*head, *self.lines))


class Families:
    """Metrics, in the order in which they are asked for first."""

    def __init__(self):
        self.families = {}

    def _family(self, name, kind, meaning):
        return self.families.setdefault(name, Family(name, kind, meaning))

    def counter(self, name, meaning):
        """What only goes up, until it begins anew."""
        return self._family(name, "counter", meaning)

    def gauge(self, name, meaning):
        """What goes up and down."""
        return self._family(name, "gauge", meaning)

    def text(self):
        """All of it."""
        return "".join(family.text() for family in self.families.values())
