# SPDX-License-Identifier: Apache-2.0
"""The VM "ops", which asks as an operator what its script says (guests/bare/io/operator.c): in the
exact profile each request comes at the same instruction in each run."""

import json
import re

import bare_guests
import harness
import plain

NAME = "ops"
# When it has played its script. A machine whose VMs were stopped waits for an operator that starts
# one, so a run whose other VMs do not end by themselves is over then.
ENDED = "vm ops: ended"
MS = 10000  # ticks
# As often as there may be.
PROPERTIES = """
			operator = "{access}"; operator-vms = {vms}; operator-interrupt = <5>;
			operator-requests-hz = <10000>; initrd = <&script>;
"""
SCRIPT = """
/ {{ images {{ script: script {{ data = "{text}"; }}; }}; }};
"""


def script(asked):
    """Of (WHEN, COMMAND). WHEN: a tick of the machine's time, "+N": N ticks after the answer
    before, or "key"."""
    return ";".join(f"{when},{command.replace(' ', '+')}" for when, command in asked)


def at_once(*commands):
    """Each command when the one before is answered."""
    return [("+0", command) for command in commands]


def tree(guests, asked, access="control", times=1, hart=0, **arguments):
    """The text of a tree of bare guests with "ops" behind them, which may ask about all of them.
    asked: as for script(); times: how often all of it; other arguments as for
    bare_guests.tree()."""
    text = bare_guests.tree(guests, **arguments)
    end = text.rindex("\t};\n};")
    vms = ", ".join(f'"{name}"' for name in guests)
    node = bare_guests.VM.format(
        name=NAME, memory=16, image="bare", bootargs=f"kind=operator times={times}",
        properties=PROPERTIES.format(access=access, vms=vms),
        vcpus=bare_guests.VCPU.format(n=0, harts=hart))
    return text[:end] + node + text[end:] + SCRIPT.format(text=script(asked))


def boot(folder, guests, asked, until=None, options=(), times=1, hart=0, access="control",
         vcpus=("0",), properties="", memory=16, own=None, **arguments):
    """Boots it, to its end or to a line that contains `until`; the result, and of each request
    (lines, status)."""
    for name in ("selftest", "bare", "sampling"):
        plain.make(f"build/guests/{name}.bin")
    file = folder / "operators.dts"
    file.write_text(tree(guests, asked, access, times, hart, vcpus=vcpus, properties=properties,
                         memory=memory, own=own), encoding="utf-8")
    result = harness.run(file, options=["--include", harness.BUILD / "guests", *options],
                         until=until, **arguments)
    assert result.status == (harness.INTERRUPTED if until else harness.OK), str(result)
    return result, answers(result)


def answers(result, name=NAME):
    """Of each request its lines and its status."""
    told = {}
    for line in result.vm(name):
        found = re.fullmatch(r"operator: (\d+): (.*)", line)
        if found:
            told.setdefault(int(found[1]), []).append(found[2])
    return [(lines[:-1], int(lines[-1].removeprefix("status ")))
            for _, lines in sorted(told.items())]


def objects(answer):
    """The lines of an answer to a command with --json, which was carried out."""
    lines, status = answer
    assert status == 0, answer
    return [json.loads(line) for line in lines]
