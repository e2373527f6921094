# SPDX-License-Identifier: Apache-2.0
"""tools/fetch/guest-parts as a module, for packages of another suite: how to fetch is written
there."""
import importlib.machinery
import importlib.util
import os
import subprocess
import sys

from tallylib.places import TOP


def load(suite, out):
    """The module, set to look into a suite and to keep what it fetches below the folder `out`."""
    loader = importlib.machinery.SourceFileLoader("guest_parts",
                                                  os.path.join(TOP, "tools/fetch/guest-parts"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("guest_parts", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    module.SUITE = suite
    module.APT = os.path.join(out, "apt")
    module.DEBS = os.path.join(out, "deb")
    module.TREES = os.path.join(out, "unpacked")
    return module


def archive(parts, release=None):
    """The suite's packages, its signed index read; PartsError if it cannot be had. release: another
    suite, for packages that the first one does not have."""
    suites = [parts.SUITE] + [release] * bool(release)
    os.makedirs(parts.DEBS, exist_ok=True)
    parts.progress("reading the package index of " + " and ".join(suites))
    if subprocess.run([os.path.join(TOP, "tools/fetch/apt-private"), parts.APT, parts.ARCH,
                       *suites], check=False).returncode:
        raise parts.PartsError("no index of " + " and ".join(suites))
    if release:
        # apt would take from backports only what the release lacks.
        with open(os.path.join(parts.APT, "main.conf"), "a", encoding="ascii") as file:
            file.write('APT::Default-Release "%s";\n' % parts.SUITE)
    return parts.Archive()


def versions(parts, source, names):
    """A line for each package that something was taken from."""
    return ["%s %s %s %s\n" % (parts.SUITE, name, source.show(name)["Version"],
                               source.show(name)["SHA256"]) for name in sorted(names)]
