# SPDX-License-Identifier: Apache-2.0
"""What a library that is not ours understands of a trace: @tracerbench/trace-model of npm, whose
version and checksum tests/npm/package-lock.json has. tools/setup trace installs node and npm."""
import json
import os
import shutil
import subprocess

import harness


def install(folder):
    """The library, in a folder."""
    subprocess.run([harness.ROOT / "tools/setup", "trace"], check=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(harness.ROOT / "tests/npm" / name, folder)
    subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error",
                    "--prefix", folder], check=True, stdout=subprocess.DEVNULL)
    return folder


def read(library, trace):
    """{process: {thread: [event]}}."""
    done = subprocess.run(["node", harness.ROOT / "tests/qemu/perf/trace_model.js", trace],
                          check=True,
                          stdout=subprocess.PIPE,
                          env={**os.environ, "NODE_PATH": str(library / "node_modules")})
    return {process["name"]: {thread["name"]: thread["events"] for thread in process["threads"]}
            for process in json.loads(done.stdout)}
