# SPDX-License-Identifier: Apache-2.0
"""The VM "ops", which asks as an operator what its script says (guests/bare/io/operator.c): in the
exact profile each request comes at the same instruction in each run."""

import re

import bare_guests
import harness
import plain
import schemas

NAME = "ops"
# When it has played its script. A machine whose VMs were stopped waits for an operator that starts
# one, so a run whose other VMs do not end by themselves is over then.
ENDED = "vm ops: ended"
MS = 10000  # ticks
# As often as there may be.
PROPERTIES = """
			operator = "{access}"; operator-vms = {vms}; operator-interrupt = <5>;
			operator-requests-hz = <10000>; initrd = <&script>; {more}
"""
IMAGES = """
/ {{ images {{
	operator: operator {{ data = /incbin/("{bare}"); }};
	script: script {{ data = "{text}"; }};
}}; }};
"""


def script(asked):
    """Of (WHEN, COMMAND). WHEN: a tick of the machine's time, "+N": N ticks after the answer
    before, or "key"."""
    return ";".join(f"{when},{command.replace(' ', '+')}" for when, command in asked)


def at_once(*commands):
    """Each command when the one before is answered."""
    return [("+0", command) for command in commands]


def beside(text, vms, asked, access="control", times=1, hart=0, more=""):
    """A tree with "ops" behind its VMs; it may ask about those in `vms`. asked: as for script();
    times: how often all of it; more: properties."""
    end = text.rindex("\t};\n};")
    node = bare_guests.VM.format(
        name=NAME, memory=16, image="operator", bootargs=f"kind=operator times={times}",
        properties=PROPERTIES.format(access=access, vms=", ".join(f'"{vm}"' for vm in vms),
                                     more=more),
        vcpus=bare_guests.VCPU.format(n=0, harts=hart))
    return text[:end] + node + text[end:] + IMAGES.format(
        bare=plain.make("build/guests/bare.bin"), text=script(asked))


def run(folder, text, vms, asked, until=None, options=(), **arguments):
    """Boots that tree to its end, or to a line that contains `until`; the result, and of each
    request (lines, status)."""
    node = {name: arguments.pop(name) for name in ("access", "times", "hart", "more")
            if name in arguments}
    file = folder / "operators.dts"
    file.write_text(beside(text, vms, asked, **node), encoding="utf-8")
    result = harness.run(file, options=["--include", harness.BUILD / "guests", *options],
                         until=until, **arguments)
    assert result.status == (harness.INTERRUPTED if until else harness.OK), str(result)
    return result, answers(result)


def boot(folder, guests, asked, **arguments):
    """The same of bare guests, as for bare_guests.tree()."""
    for name in ("selftest", "bare", "sampling"):
        plain.make(f"build/guests/{name}.bin")
    words = {name: arguments.pop(name) for name in ("vcpus", "properties", "memory", "own")
             if name in arguments}
    return run(folder, bare_guests.tree(guests, **words), guests, asked, **arguments)


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
    return [schemas.read("tally-ctl", line) for line in lines]
