# SPDX-License-Identifier: Apache-2.0
"""The machine of tools/run-debian, and a person at its guests."""

import contextlib
import re
import subprocess
import time

import harness
from runlib.guest_disk import file_system
from tallylib import tally_ctl

TREES = {"plic": harness.ROOT / "dts/debian-disks.dts",
         "aia": harness.ROOT / "dts/debian-disks-aia.dts"}
# Seconds of the machine's time: what takes longest is the boot of two guests, half a minute; a
# guest that is asked while it goes down does not answer.
PATIENCE_S = 600
ASK_S = 30
# Complaints of a kernel whose device does not answer, or whose file system is wrong.
TROUBLE = re.compile(r"I/O error|EXT4-fs (error|warning)|blocked for more than|BUG:|Oops|"
                     r"nobody cared|timed? ?out|watchdog:", re.I)


class Machine:
    """tools/run-debian with a machine that runs, on copies of a disk that was made."""

    def __init__(self, folder, tree, made=harness.BUILD / "debian", disk="disk.ext4"):
        for name in (disk, disk + ".made", "key"):
            (folder / name).symlink_to(made / name)
        self.folder, self.control, self.told_s = folder, folder / "control", 0
        self.messages = (folder / "messages").open("wb")
        kernel = ["--kernel", harness.KERNEL] if harness.KERNEL else []
        self.process = subprocess.Popen(
            [harness.ROOT / "tools/run-debian", "--disks", folder, "--vms", tree,
             "--port", str(harness.first_port()), "--",
             "--control", self.control, "--log-dir", folder / "logs", *kernel],
            stdin=subprocess.DEVNULL, stdout=self.messages, stderr=self.messages)

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.messages.close()

    def said(self, name):
        return (self.folder / "logs" / f"{name}.log").read_text(errors="replace")

    def messages_of(self, text):
        """How often the tools have said that."""
        return (self.folder / "messages").read_text(errors="replace").count(text)

    def words(self, name):
        # Nothing that ends by the time of this computer.
        return ["ssh", "-F", self.folder / "ssh_config", "-o", "ServerAliveCountMax=1000000", name]

    def now(self):
        """The machine's own time in seconds; once it has ended, what it told last."""
        with contextlib.suppress(tally_ctl.Unreachable, tally_ctl.NoAnswer), \
                tally_ctl.Machine(str(self.control), harness.GUARD) as machine:
            self.told_s = machine.objects("exits")[0]["time_us"] / 1e6
        return self.told_s

    def try_ssh(self, name, script, seconds=PATIENCE_S):
        """A script's status and output, unless that takes more seconds of the machine."""
        last = self.now() + seconds
        with subprocess.Popen([*self.words(name), "sh -s"], text=True, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            while True:
                try:
                    text = process.communicate(script, timeout=1)[0]
                    return process.returncode, text
                except subprocess.TimeoutExpired:
                    script = None  # it has that already
                if self.now() > last:
                    process.kill()
                    return 255, f"{name}: no answer"

    def ssh(self, name, script):
        status, text = self.try_ssh(name, "set -e\n" + script)
        assert status == 0, text
        return text

    def until(self, what, found):
        """Waits for something to be true, which it has to be before the machine ends."""
        last = self.now() + PATIENCE_S
        while not (value := found()):
            assert self.process.poll() is None, (self.folder / "messages").read_text()[-3000:]
            assert self.now() < last, what
            time.sleep(1)
        return value

    def boot_id(self, name, but=""):
        """Waits for a guest to be logged in to, in another life than that; names this one."""
        def found():
            # One that is asked while it goes down does not answer; it is asked again.
            status, text = self.try_ssh(name, "cat /proc/sys/kernel/random/boot_id", ASK_S)
            return status == 0 and text != but and text
        return self.until(f"{name} cannot be logged in to", found)

    def number(self, name, command):
        return int(self.ssh(name, command))

    @contextlib.contextmanager
    def load(self, name, *commands, source=None):
        """Commands in a guest, until the end. source: a command here whose output they get."""
        with contextlib.ExitStack() as stack:
            for command in commands:
                feed = subprocess.DEVNULL
                if source:
                    feeder = stack.enter_context(subprocess.Popen(source, stdout=subprocess.PIPE))
                    stack.callback(feeder.kill)
                    feed = feeder.stdout
                process = stack.enter_context(subprocess.Popen(
                    [*self.words(name), command], stdin=feed, stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL))
                stack.callback(process.kill)
            yield

    def until_off(self):
        """Waits until all guests are off."""
        last = self.now() + PATIENCE_S
        while (status := self.process.poll()) is None:
            assert self.now() < last, "the machine does not end"
            time.sleep(1)
        assert status == harness.OK

    def ends_well(self, names=("alpha", "beta")):
        """All guests are off, their kernels had nothing to complain of, and their disks are
        clean."""
        self.until_off()
        for name in names:
            complaints = [line for line in self.said(name).split("\n") if TROUBLE.search(line)]
            assert not complaints, complaints
            subprocess.run(["/usr/sbin/e2fsck", "-fn", file_system(self.folder / f"{name}.ext4")],
                           check=True, capture_output=True)
