# SPDX-License-Identifier: Apache-2.0
"""The command line of a tool."""
import argparse

from tallylib import places, version


class Version(argparse.Action):
    """Prints the version."""

    def __init__(self, option_strings, dest, **_):
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, default=argparse.SUPPRESS,
                         help="show program's version number and exit")

    def __call__(self, parser, *_):
        print("%s (Tally) %s" % (parser.prog, version.number()))
        parser.exit()


class Parser(argparse.ArgumentParser):
    """With --version, and a help that has the names of the installed files. prog: "tools/NAME"."""

    def __init__(self, prog, **more):
        more.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(prog=places.shown(prog), **more)
        self.add_argument("--version", action=Version)

    def format_help(self):
        return places.shown(super().format_help())
