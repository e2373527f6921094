# SPDX-License-Identifier: Apache-2.0
"""Samples as rows of a table: sums of events for each VM, mode and function, or by other keys."""
import collections

from perflib import samples

# What rows may be about, in words of perf's where it has them: its title, and its value of a
# profile.Stack whose function is given.
KEYS = {"vm": ("VM", lambda stack, _: stack.vm),
        "vcpu": ("VCPU", lambda stack, _: str(stack.vcpu)),
        "mode": ("Mode", lambda stack, _: stack.mode),
        "interrupts": ("Interrupts", lambda stack, _: interrupts(stack)),
        "satp": ("Address space", lambda stack, _: stack.satp),
        "symbol": ("Symbol", lambda _, name: name)}
SHORT = {"sym": "symbol"}
DEFAULT = "vm,mode,symbol"
HUNDRED = 10000  # percent, in hundredths

# self, children: events, of the function itself and with all that it called; samples: of itself.
Row = collections.namedtuple("Row", "key self children samples")


def interrupts(stack):
    """Whether a kernel had them off; Tally does not know that of a process."""
    return "-" if stack.mode == "user" else "off" if stack.masked else "on"


def add_options(parser):
    """--sort, --vm, --event and --json."""
    parser.add_argument("-s", "--sort", metavar="KEYS", default=DEFAULT,
                        help="a row for each combination of these: %s (default: %s)" % (
                            ", ".join(KEYS), DEFAULT))
    parser.add_argument("--vm", action="append", metavar="NAME",
                        help="of this VM (may be repeated; default: all). Shares are of those")
    parser.add_argument("-e", "--event", metavar="EVENT",
                        help="of this one (default: a table for each)")
    parser.add_argument("-j", "--json", action="store_true", help="a JSON object for each row")


def keys_of(parser, args):
    """The keys of --sort; ends the program for a wrong one."""
    keys = [SHORT.get(word, word) for word in args.sort.split(",")]
    for key in keys:
        if key not in KEYS or keys.count(key) > 1:
            parser.error("--sort %s: are different ones of: %s" % (args.sort, ", ".join(KEYS)))
    return keys


def check(found, args):
    """Whether a Profile has the VMs and the event that are asked for."""
    for given, known, what in ((args.vm or (), found.vms, "VM"),
                               ([args.event] if args.event else (), found.events, "event")):
        for name in given:
            if name not in known:
                raise samples.BadSamples('%s: no %s "%s" was sampled; there are: %s' % (
                    args.file, what, name, ", ".join(known)))


def rows(found, event, keys, vms=None):
    """{key: Row} of a Profile, and the sum of all events. vms: of these only; None: of all."""
    own, children, n, total = (collections.Counter(), collections.Counter(),
                               collections.Counter(), 0)
    for stack, (taken, events) in found.sums.items():
        if stack.event != event or stack.vm not in (vms or found.vms):
            continue
        total += events
        key = [tuple(KEYS[key][1](stack, name) for key in keys) for name in stack.frames]
        own[key[-1]] += events
        n[key[-1]] += taken
        # A function that called itself is there once.
        for each in set(key):
            children[each] += events
    return {key: Row(key, own[key], events, n[key]) for key, events in children.items()}, total


def share(part, whole):
    """In hundredths of a percent, rounded."""
    return (2 * part * HUNDRED + whole) // (2 * whole) if whole else 0


def lines(heads, cells):
    """A table for people: numbers to the right, the last columns, which are names, to the left.
    heads: [(title, whether it is a number)]."""
    wide = [max(len(row[i]) for row in [[title for title, _ in heads], *cells])
            for i in range(len(heads))]
    for mark, row in [("#", [title for title, _ in heads]), *((" ", row) for row in cells)]:
        yield mark + "".join(
            "  " + (text.rjust(size) if number else text.ljust(size))
            for text, size, (_, number) in zip(row, wide, heads)).rstrip()
