# SPDX-License-Identifier: Apache-2.0
"""docs/schemas: each tool with --json has one, and it knows all that the tool can print. Outputs
are read through them in the tests of each tool (lib/schemas.py)."""

import json
import os
import re
import subprocess

import pytest

from bare_guests import FOREVER
import harness
import schemas

TOOLS = harness.ROOT / "tools"
# Of `$defs`: parts of lines, which no command prints alone.
PARTS = {"count", "hex", "windows", "causes", "budget", "details", "registers", "text", "last_exit"}


def definitions(tool):
    """The text of its schema, and its $defs."""
    text = (schemas.FOLDER / f"{tool}.json").read_text(encoding="ascii")
    return text, json.loads(text).get("$defs", {})


def test_each_tool_has_one():
    """The text of a tool tells whether it takes --json."""
    tools = {path.name for path in TOOLS.rglob("*") if path.is_file() and os.access(path, os.X_OK)
             and "--json" in path.read_text(encoding="utf-8")}
    files = {path.stem for path in schemas.FOLDER.glob("*.json")}
    assert tools == files
    page = (schemas.FOLDER / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\[(.*?)\.json\]\(\1\.json\)", page)) == files


@pytest.mark.parametrize("file", sorted(path.stem for path in schemas.FOLDER.glob("*.json")))
def test_each_is_sound(file):
    """Each name that it uses is there, each that is there is used, and objects name their fields.
    """
    text, defs = definitions(file)
    schemas.validator(file)
    used = set(re.findall(r'"#/\$defs/([\w-]+)"', text))
    assert used <= set(defs)
    commands = {"tally-ctl": set(defs) - PARTS, "pmu-events": set(defs) - PARTS}.get(file, set())
    assert set(defs) - used <= commands
    assert '"additionalProperties"' in text


def names(schema):
    """The names of all fields."""
    if isinstance(schema, list):
        return set().union(*map(names, schema))
    if not isinstance(schema, dict):
        return set()
    own = set(schema["properties"]) if isinstance(schema.get("properties"), dict) else set()
    return own.union(*map(names, schema.values()))


def test_each_field_of_the_prompt_is_known():
    """From where answers are written: a new field wants its place in the schema."""
    written = {"vm", "vcpu"}
    for path in (harness.ROOT / "core/operator").glob("prompt_*.c"):
        written.update(re.findall("'([a-z_]+)':", path.read_text(encoding="utf-8")))
    # Values of CSRs are as those of x registers, whose names the schema does not have.
    csrs = {"sstatus", "sepc", "stvec", "satp", "sie", "sscratch"}
    # `crash` and `last` of a VM that has none are written without these marks.
    assert names(definitions("tally-ctl")[1]) == written - csrs | {"failure", "end"}


def test_each_command(running):
    """Of a machine, with a VM that fails: each line of each command is as told of that command."""
    run = running({"alpha": FOREVER, "beta": "kind=crash how=breakpoint"})
    run.read_until("vm beta: failed")
    told = {}

    def ask(command):
        status, lines, complaints = run.ctl(*command.split(), "--json")
        assert (status, complaints) == (0, []), command
        told.setdefault(command.split()[0], []).extend(
            schemas.read("tally-ctl", line, command.split()[0]) for line in lines)

    assert run.ctl("trace", "on")[0] == 0
    for command in ("vms", "exits", "pmu", "time", "crash alpha", "crash beta", "last alpha",
                    "last beta", "observe alpha 0x2:uk", "sample alpha 0x1 999999",
                    "account alpha", "accounts", "observed", "unobserve 1", "stays on",
                    "stays off"):
        ask(command)
    while not told.get("trace"):
        ask("trace")
    assert set(told) == set(definitions("tally-ctl")[1]) - PARTS
    assert all(told.values())
    assert told["crash"][0] == {"vm": "alpha", "failure": None}
    # What is not so is found.
    for wrong in ({**told["vms"][0], "more": 1}, {**told["vms"][0], "vcpus": "1"},
                  {"vm": "alpha"}):
        with pytest.raises(AssertionError, match="docs/schemas/tally-ctl.json: "):
            schemas.check("tally-ctl", wrong, "vms")


def output(*words):
    """What a tool prints."""
    return subprocess.run([TOOLS / words[0], *words[1:]], check=True, capture_output=True,
                          text=True).stdout


@pytest.mark.parametrize("table", ["p550", "u74", "kunminghu", "virt"])
def test_tables_of_events(tmp_path, table):
    """The commands of tools/pmu-events that no test of theirs reads so."""
    for command, *more in (("check",), ("list",), ("vm-names",), ("perf-lines",),
                           ("perf-json", tmp_path)):
        text = output("pmu-events", table, command, *more, "--json")
        assert schemas.read("pmu-events", text, command)


def test_calls_between_rooms(tmp_path):
    """tools/check/calls, of two objects."""
    objects = []
    for name, text in (("a", "int b(void);\nint a(void)\n{\n\treturn b();\n}\n"),
                       ("b", "int b(void)\n{\n\treturn 1;\n}\n")):
        source = tmp_path / f"{name}.c"
        source.write_text(text, encoding="ascii")
        folder = tmp_path / "obj/core/lib"
        folder.mkdir(parents=True, exist_ok=True)
        objects.append(folder / f"{name}.o")
        subprocess.run(["gcc", "-c", "-o", objects[-1], source], check=True)
    told = schemas.read("calls", output("check/calls", "--json", "", *objects))
    assert told["upward"] == []


def test_accepted_figures():
    """tests/bench was printed by the tools."""
    for name in ("boot", "calls", "switch"):
        text = (harness.ROOT / f"tests/bench/{name}.json").read_text(encoding="ascii")
        assert schemas.read(f"bench-{name}", text)
