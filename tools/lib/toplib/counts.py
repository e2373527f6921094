# SPDX-License-Identifier: Apache-2.0
"""Counts of guests for tools/tally-top, as tools/perf-vms takes them: no guest notices, and where
one wants that counter it wins."""
import collections

NS = 10 ** 9
# All that a guest executes, in its two modes. HS's own is not in it.
EVENTS = {"instructions": "0x2:uk", "cycles": "0x1:uk"}

# Of a vcpu at a look: the observation's number, its value, and when that was.
Count = collections.namedtuple("Count", "number value ns")


class Counts:
    """Begins counts, and looks at them. names: of EVENTS."""

    def __init__(self, machine, names):
        self.machine, self.names = machine, names
        self.observations = {}  # (vm, name) -> numbers
        self.counted = {}       # (vm, vcpu) -> {name: Count}
        self.why_not = {}       # (vm, vcpu) -> why one of them is not counted

    def look(self, vms):
        """Begins counts that do not run yet, and reads the others. A count that has ended, because
        its VM has started again for instance, begins anew at the next look."""
        self.counted, self.why_not, alive = {}, {}, set()
        for vm, told in vms.items():
            for name in self.names:
                if (vm, name) not in self.observations and told["state"] == "running":
                    self._begin(vm, name)
        for line in self.machine.objects("observed") if self.observations else ():
            for name in self.names:
                vcpu = line["vm"], line["vcpu"]
                if line["observation"] not in self.observations.get((line["vm"], name), ()):
                    continue
                if line["ended"] is None:
                    self.counted.setdefault(vcpu, {})[name] = Count(
                        line["observation"], line["value"], line["looked_ns"])
                    alive.add((line["vm"], name))
                else:
                    self.why_not[vcpu] = line["ended"]
        for key in set(self.observations) - alive:
            self._end(key)

    def _begin(self, vm, name):
        found = self.machine.objects("observe %s %s" % (vm, EVENTS[name]))
        self.observations[vm, name] = {line["observation"] for line in found
                                       if line["observation"] is not None}
        for line in found:
            if line["ended"]:
                self.why_not[vm, line["vcpu"]] = line["ended"]

    def _end(self, key):
        for number in self.observations.pop(key, ()):
            self.machine.ask("unobserve %d" % number)

    def end(self):
        """Ends all of them."""
        for key in list(self.observations):
            self._end(key)


def grown(before, after, name):
    """By how much a count has grown; None: not known."""
    first, last = before.counted.get(name), after.counted.get(name)
    if not (first and last) or first.number != last.number or last.value < first.value:
        return None
    return last.value - first.value


def rate(before, after, name):
    """How often a second of the machine's time; None: not known."""
    events = grown(before, after, name)
    if events is None or after.counted[name].ns <= before.counted[name].ns:
        return None
    return round(events * NS / (after.counted[name].ns - before.counted[name].ns), 2)
