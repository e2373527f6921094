# SPDX-License-Identifier: Apache-2.0
"""tools/vm-check, run as a user does."""

import os
import subprocess

from harness import ROOT

VM_CHECK = ROOT / "tools/vm-check"


def check(*arguments, **environment):
    """Runs tools/vm-check from another folder than the repository's."""
    return subprocess.run([VM_CHECK, *map(str, arguments)], capture_output=True, text=True,
                          check=False, cwd="/", env={**os.environ, **environment})
