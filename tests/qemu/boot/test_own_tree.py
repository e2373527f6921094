# SPDX-License-Identifier: Apache-2.0
"""A guest of one's own, as dts/README.md tells to make it: word by word."""

import os
import re
import subprocess

import harness
import plain


def test_the_example_can_be_followed(tmp_path):
    """Tree and commands are those of the document."""
    for target in ("all", "build/guest/initramfs.cpio", "build/guests/bare.bin"):
        plain.make(target)
    text = (harness.ROOT / "dts/README.md").read_text(encoding="utf-8")
    tree, = re.findall(r"```dts\n(/dts-v1/;.*?)```", text, re.S)
    commands, = re.findall(r"```sh\n(.*?)```", text, re.S)
    (tmp_path / "vms.dts").write_text(tree, encoding="utf-8")
    done = subprocess.run(["sh", "-e", "-c", commands], cwd=tmp_path, stdin=subprocess.DEVNULL,
                          env={**os.environ, "TALLY": str(harness.ROOT)}, capture_output=True,
                          text=True, errors="replace", check=False)
    assert (done.returncode, done.stderr) == (harness.OK, ""), done
    result = harness.Result(done.returncode, done.stdout)
    assert "hello from Linux riscv64" in result.vm("linux")
    assert result.vm("bare")[-1] == "measure: ends, 0 wrong of 8"
    assert any(line.startswith("2 VMs, 272 MiB of the ") for line in result.lines)
