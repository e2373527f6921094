# SPDX-License-Identifier: Apache-2.0
"""The schemas of docs/schemas: what tools print with --json is read through them.

  schemas.read("vm-check", done.stdout)              the whole output
  schemas.checked("tally-ctl", objects, "vms")       lines of `tally-ctl vms --json`
"""

import functools
import json

import jsonschema

import harness

FOLDER = harness.ROOT / "docs/schemas"


@functools.cache
def validator(tool, part=None):
    """Of a tool's output, or of one of its $defs."""
    schema = json.loads((FOLDER / f"{tool}.json").read_text(encoding="ascii"))
    if part is not None:
        kinds = {"$schema", "$defs"}
        schema = {key: schema[key] for key in kinds} | {"$ref": f"#/$defs/{part}"}
    kind = jsonschema.Draft202012Validator
    kind.check_schema(schema)
    return kind(schema)


def check(tool, value, part=None):
    """The value, which is as the schema says."""
    errors = sorted(validator(tool, part).iter_errors(value), key=jsonschema.exceptions.relevance)
    assert not errors, "docs/schemas/%s.json: %s in %s" % (tool, errors[-1].message, value)
    return value


def checked(tool, values, part=None):
    """Each of a list of objects, a line each."""
    return [check(tool, value, part) for value in values]


def read(tool, text, part=None):
    """The value of a tool's output."""
    return check(tool, json.loads(text), part)


def lines(tool, text, part=None):
    """The values of an output with an object a line."""
    return [read(tool, line, part) for line in text.splitlines()]
