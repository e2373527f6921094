# SPDX-License-Identifier: Apache-2.0
"""The folders of the tools. A checkout has what is built and kept in build/. Installed tools read
below /usr, and keep what they make in the user's cache."""
import os
import re

# The parent of tools/. Where it is installed, a file there has the prefix.
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))
INSTALLED = os.path.exists(os.path.join(TOP, "installed"))
SHARE = os.path.normpath(os.path.join(TOP, "../../share/tally"))


def cache():
    """The folder of installed tools for files that they make or fetch."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(home):  # as the XDG specification has it
        home = os.path.expanduser("~/.cache")
    return os.path.abspath(os.environ.get("TALLY_CACHE") or os.path.join(home, "tally"))


BUILD = os.path.join(TOP, "build")
SOURCES = SHARE if INSTALLED else TOP    # dts/, guests/debian/
IMAGES = SHARE if INSTALLED else BUILD   # tally.bin and other programs for RISC-V
PROGRAMS = TOP if INSTALLED else BUILD   # host/vm-check
MADE = cache() if INSTALLED else BUILD   # fetched packages, disks, sockets


def command(tool):
    """The name under which users type a tool."""
    if not INSTALLED:
        return "tools/" + tool
    return tool if tool.startswith("tally-") or tool == "perf-vms" else "tally-" + tool


def shown(text):
    """A text for users, with the names of this checkout or of the installed files."""
    if not INSTALLED:
        return text
    with open(os.path.join(TOP, "installed"), encoding="utf-8") as file:
        usr = file.read().strip()
    for pattern, name in (
            (r"tools/(?=fetch/)", usr + "/lib/tally/tools/"),
            (r"build/(?=tally\.bin)", usr + "/share/tally/"),
            (r"build/", "~/.cache/tally/"), (r"(?=dts/)", usr + "/share/tally/"),
            (r"docs/", usr + "/share/doc/tally/")):
        text = re.sub(r"(?<![\w/.])" + pattern, name, text)
    return re.sub(r"(?<![\w/.])tools/([a-z]+(?:-[a-z]+)*)(?![\w/])",
                  lambda found: command(found[1]), text)
