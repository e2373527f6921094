# SPDX-License-Identifier: Apache-2.0
"""The version of Tally and its tools."""
import os
import re

from tallylib.places import SOURCES


def number():
    """Of core/version.h, which belongs to the installed files, too."""
    with open(os.path.join(SOURCES, "core/version.h"), encoding="ascii") as file:
        return re.search(r'^#define TALLY_VERSION "(.*)"$', file.read(), re.M)[1]
