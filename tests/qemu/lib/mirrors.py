# SPDX-License-Identifier: Apache-2.0
"""A mirror of Debian's kind, served on this computer: small packages made by hand, and an index
that a key made for it signs."""

import contextlib
import functools
import hashlib
import http.server
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading

# Hashes and sizes of the files of an index, as a Release file lists them. It was signed long ago.
RELEASE = """Origin: Debian
Suite: {suite}
Codename: {suite}
Date: Sat, 01 Nov 2025 10:00:00 UTC
Architectures: amd64 arm64 riscv64
Components: main
{more}SHA256:
{sums}"""
# apt takes nothing from a release's backports by itself.
BACKPORTS = "NotAutomatic: yes\nButAutomaticUpgrades: yes\n"


class Key:
    """A key that signs, and the keyring that has it. at: gpg's options for a time that is not this
    computer's."""

    def __init__(self, at=()):
        self.at = at
        # The agent's socket lies there, whose path must be short.
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="tally-key-"))
        self.keyring = self.home / "keyring.gpg"
        self.gpg("--passphrase", "", "--quick-gen-key", "mirror@localhost", "ed25519", "sign",
                 "never")
        self.gpg("-o", self.keyring, "--export")

    def gpg(self, *words):
        subprocess.run(["gpg", "--homedir", self.home, "--batch", "--yes", "--quiet",
                        *self.at, *words],
                       check=True, capture_output=True)

    def close(self):
        subprocess.run(["gpgconf", "--homedir", self.home, "--kill", "gpg-agent"], check=True)
        # The agent removes its sockets while it ends.
        shutil.rmtree(self.home, ignore_errors=True)


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves a folder and says nothing."""

    def log_message(self, *_):
        pass


class Mirror:
    """Packages are added, then an index of them is published; `address` is for apt's sources."""

    def __init__(self, folder, key, address=None):
        self.folder, self.key, self.address = folder, key, address or f"file:{folder}"
        self.stanzas = {}

    def add(self, name, files=None, arch="riscv64", version="1", **fields):
        """A package with files {path: content}; further fields have _ for -."""
        tree = self.folder / "tree"
        control = {"Package": name, "Version": version, "Architecture": arch,
                   "Maintainer": "nobody", "Description": "a test",
                   **{key.replace("_", "-"): value for key, value in fields.items()}}
        (tree / "DEBIAN").mkdir(parents=True)
        (tree / "DEBIAN/control").write_text(
            "".join(f"{key}: {value}\n" for key, value in control.items()), encoding="ascii")
        for path, content in (files or {f"usr/share/doc/{name}/copyright": b"none"}).items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_bytes(content)
        deb = self.deb(name)
        deb.parent.mkdir(exist_ok=True)
        # The same content is the same bytes, whenever it is made: two indexes may name it.
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, deb],
                       check=True, capture_output=True,
                       env={**os.environ, "SOURCE_DATE_EPOCH": "1"})
        shutil.rmtree(tree)
        self.adopt(deb)

    def adopt(self, deb):
        """Adds a package that is in the folder."""
        fields = subprocess.run(["dpkg-deb", "-f", deb], check=True, capture_output=True,
                                text=True).stdout
        control = dict(re.findall(r"^([A-Za-z-]+): (.*)$", fields, re.M))
        content = deb.read_bytes()
        control.update(Filename=str(deb.relative_to(self.folder)), Size=len(content),
                       SHA256=hashlib.sha256(content).hexdigest())
        self.stanzas[control["Package"]] = control

    def deb(self, name):
        """The file of a package."""
        return self.folder / "pool" / f"{name}.deb"

    def index(self, suite, arch="riscv64"):
        """The file of an index."""
        return self.folder / f"dists/{suite}/main/binary-{arch}/Packages.xz"

    def publish(self, *suites, without=()):
        """Signs an index of the packages that were added, but some, for suites."""
        for suite in suites:
            sums = []
            for arch in ("riscv64", "amd64", "arm64"):
                packages = "\n".join(
                    "".join(f"{key}: {value}\n" for key, value in control.items())
                    for name, control in self.stanzas.items()
                    if control["Architecture"] in (arch, "all") and name not in without).encode()
                packed = lzma.compress(packages)
                index = self.index(suite, arch)
                index.parent.mkdir(parents=True, exist_ok=True)
                index.write_bytes(packed)
                path = index.relative_to(self.folder / "dists" / suite)
                sums += [f" {hashlib.sha256(data).hexdigest()} {len(data)} {name}\n"
                         for data, name in ((packages, path.with_suffix("")), (packed, path))]
            release = self.folder / "dists" / suite / "InRelease"
            text = release.with_name("Release.part")
            more = BACKPORTS if suite.endswith("-backports") else ""
            text.write_text(RELEASE.format(suite=suite, more=more, sums="".join(sums)),
                            encoding="ascii")
            self.key.gpg("-o", release, "--clearsign", text)
            text.unlink()

    def tear(self, *suites):
        """Leaves the indexes of suites as they are, beside the signature of the next ones."""
        old = {path: path.read_bytes() for suite in suites
               for path in (self.folder / "dists" / suite).rglob("Packages.xz")}
        self.stanzas["next"] = {"Package": "next", "Version": "1", "Architecture": "all"}
        self.publish(*suites)
        del self.stanzas["next"]
        for path, content in old.items():
            path.write_bytes(content)

    def environment(self):
        """Variables for tools/fetch/apt-private, and what calls it. Nothing lies between."""
        return {**os.environ, "TALLY_MIRROR": self.address, "TALLY_KEYRING": str(self.key.keyring),
                "no_proxy": "127.0.0.1"}


@contextlib.contextmanager
def served(folder, key):
    """A mirror with an address of HTTP on this computer."""
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield Mirror(folder, key, "http://127.0.0.1:%d" % server.server_port)
        finally:
            server.shutdown()
