# SPDX-License-Identifier: Apache-2.0
"""A build in another folder gives the same bytes: what a guest executes, and how long its files
are, is in each figure of tools/bench."""

import hashlib
import os
import shutil
import subprocess

import pytest

import harness
import plain

PRODUCTS = ("build/guests/kvm/vmm", "build/guests/linux/work", "build/guests/workloads/workload",
            "build/guests/bench.elf", "build/guest/initramfs.cpio", "build/start.elf")
ALL = ("build/tally.elf", "build/guests/bare.elf", "build/guests/selftest.elf",
       "build/guests/sampling.elf", "build/guests/linux/mmap_reads",
       "build/tests/firmware.elf", "build/tests/spike.elf")


def digest(path):
    """Of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def link(source, target):
    """Debian's packages are large, and nobody writes to what was made of them."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def copy(folder):
    """The sources in another folder, and what was fetched for them; of what is made, nothing."""
    shutil.copytree(harness.ROOT, folder, symlinks=True,
                    ignore=shutil.ignore_patterns("build", ".git", "__pycache__"))
    shutil.copytree(harness.GUEST, folder / "build/guest", symlinks=True, copy_function=link,
                    ignore=shutil.ignore_patterns("initramfs.cpio"))


def differ(folder, products):
    """Those that are not the same here and there, with the second folder's name known by a link."""
    copy(folder / "a-folder-with-a-name-of-another-length")
    (folder / "link").symlink_to(next(folder.iterdir()))
    here = {product: digest(plain.make(product)) for product in products}
    done = subprocess.run(["make", "-s", *products], cwd=folder / "link", check=False,
                          env={**os.environ, "PWD": str(folder / "link")},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return [product for product in products if digest(folder / "link" / product) != here[product]]


def test_guests(tmp_path):
    assert differ(tmp_path, PRODUCTS) == []


@pytest.mark.long
def test_everything(tmp_path):
    assert differ(tmp_path, PRODUCTS + ALL) == []
