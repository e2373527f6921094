# SPDX-License-Identifier: Apache-2.0
"""tools/vm-check, run as a user does; and its program alone, for many trees."""

import os
import subprocess

from harness import BUILD, ROOT
import schemas
from tallylib.vm_tree import compile_tree

VM_CHECK = ROOT / "tools/vm-check"


def check(*arguments, **environment):
    """Runs tools/vm-check from another folder than the repository's. Its JSON fits its schema."""
    done = subprocess.run([VM_CHECK, *map(str, arguments)], capture_output=True, text=True,
                          check=False, cwd="/", env={**os.environ, **environment})
    if done.stdout.startswith("{"):
        schemas.read("vm-check", done.stdout)
    return done


def refusals(file, *options):
    """What the program below it says of a tree: its status, its summary, its refusals. It is what
    tools/vm-check prints but for the places in the sources, at a tenth of the time."""
    blob = file.with_suffix(".dtb")
    assert compile_tree(str(file), [], str(blob)) is None
    done = subprocess.run([BUILD / "host/vm-check", *map(str, options), blob], text=True,
                          capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.splitlines()
