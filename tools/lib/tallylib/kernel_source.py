# SPDX-License-Identifier: Apache-2.0
"""Parts of Debian's kernel source, out of its package."""
import glob
import os
import re
import subprocess


def unpack(parts, archive, folder, wanted, strip):
    """Unpacks what matches the patterns `wanted`, paths of the kernel tree, into a folder that is
    there, without the first `strip` parts of the paths. Returns the package; PartsError, OSError,
    SubprocessError."""
    depends = archive.show("linux-source")["Depends"]
    package = re.search(r"\blinux-source-[0-9.]+", depends)
    if not package:
        raise parts.PartsError("linux-source names no source: " + depends)
    tree = archive.unpack(package.group(0))
    packed = glob.glob(os.path.join(tree, "usr/src/linux-source-*.tar.xz"))
    if len(packed) != 1:
        raise parts.PartsError(package.group(0) + " has no source archive")
    # The first part of each path is the folder linux-source-VERSION.
    subprocess.run(["tar", "-xJf", packed[0], "-C", folder, "--no-same-owner", "--wildcards",
                    "--no-wildcards-match-slash", f"--strip-components={strip + 1}",
                    *(f"*/{name}" for name in wanted)], check=True)
    return package.group(0)
