# SPDX-License-Identifier: Apache-2.0
"""A program of tools/ as a module, for tests of what it measures."""

import importlib.machinery
import importlib.util
import sys

import harness


def tool(name):
    """The module. It leaves nothing beside the program."""
    path = str(harness.ROOT / "tools" / name)
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module
