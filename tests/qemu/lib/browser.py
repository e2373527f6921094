# SPDX-License-Identifier: Apache-2.0
"""A page in a browser without a window: Chromium (Debian's chromium-headless-shell, which
`tools/setup browser` installs), asked through two pipes by its own protocol for programs."""
import base64
import fcntl
import functools
import json
import os
import select
import shutil
import subprocess
import time

import pytest

import harness

NAMES = ("chromium-headless-shell", "chromium", "google-chrome")
ABOVE = 10  # of file descriptors: 3 and 4 are what the browser takes
KEYS = {"Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37,
        "ArrowRight": 39, "Tab": 9, "Home": 36}


@functools.lru_cache(None)
def program():
    """Installs it if need be. Where that is not possible, the test is skipped, with the reason."""
    with open(harness.BUILD / "browser.lock", "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if not any(map(shutil.which, NAMES)):
            done = subprocess.run([harness.ROOT / "tools/setup", "browser"], check=False,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if done.returncode:
                pytest.skip("no browser: " + " ".join(done.stderr.split()))
    return next(filter(None, map(shutil.which, NAMES)))


class Browser:
    """With one page. requests: what it has asked for; errors: what its scripts have thrown, and
    what the browser has refused."""

    def __init__(self, folder):
        ends = [*os.pipe(), *os.pipe()]
        theirs, self.out, self.inp, mine = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, ABOVE)
                                            for fd in ends]
        for fd in ends:
            os.close(fd)
        # Its sandbox wants rights of its own, and the page is one of ours.
        words = [program(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                 "--disable-dev-shm-usage", "--remote-debugging-pipe",
                 f"--user-data-dir={folder}", "about:blank"]
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{theirs} 4>&{mine}', "bash", *words],
            pass_fds=(theirs, mine), stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        os.close(theirs)
        os.close(mine)
        self.left, self.number, self.session = b"", 0, None
        self.requests, self.errors, self.events = [], [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.inp)

    def read(self):
        """The next message."""
        until = time.monotonic() + harness.GUARD
        while b"\0" not in self.left:
            assert select.select([self.inp], [], [], max(0, until - time.monotonic()))[0]
            data = os.read(self.inp, 1 << 16)
            assert data, "the browser has ended"
            self.left += data
        text, _, self.left = self.left.partition(b"\0")
        message = json.loads(text)
        what, fields = message.get("method"), message.get("params", {})
        if what == "Network.requestWillBeSent":
            self.requests.append(fields["request"]["url"])
        elif what == "Runtime.exceptionThrown":
            self.errors.append(fields["exceptionDetails"])
        elif what == "Log.entryAdded" and fields["entry"]["level"] == "error":
            self.errors.append(fields["entry"])
        self.events.append(what)
        return message

    def call(self, method, **fields):
        self.number += 1
        message = {"id": self.number, "method": method, "params": fields}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self, path, width, height=900, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.requests, self.errors, self.events = [], [], []
        self.call("Page.navigate", url=path.as_uri())
        while "Page.loadEventFired" not in self.events:
            self.read()

    def run(self, script):
        """What an expression of the page's is, as JSON."""
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                         awaitPromise=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def mouse(self, kind, x, y):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, clickCount=1,
                  **({} if kind == "mouseMoved" else {"button": "left"}))

    def click(self, x, y):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.mouse(kind, x, y)

    def key(self, name):
        """One of KEYS, or a letter."""
        code = KEYS.get(name, ord(name[0].upper()))
        text = {"text": "\r" if name == "Enter" else name} \
            if len(name) == 1 or name == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, windowsVirtualKeyCode=code,
                      **(text if kind == "keyDown" else {}))

    def type(self, text):
        self.call("Input.insertText", text=text)

    def picture(self, path, whole=False):
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))
