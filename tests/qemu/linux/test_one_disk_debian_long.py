# SPDX-License-Identifier: Apache-2.0
"""What `make run-one-disk ONE_DISK=--debian` boots: two Debian guests whose root file systems, and
whose way to other networks, are those of a third one, which begins again while they write."""

import base64
import contextlib
import re
import shutil
import subprocess

import pytest

from debian_machine import ASK_S, Machine
import harness
import mirrors
import plain
from tallylib import tally_ctl

pytestmark = pytest.mark.long

FIRST, PARTITION = 1 << 20, 2 << 30  # where tools/make/one-disk puts them, in bytes
MADE = harness.BUILD / "debian/one-disk-debian"
NAMES = ("alpha", "beta")
RESTARTS = 3
TROUBLE = re.compile(r"I/O error|EXT4-fs (error|warning)|BUG:|Oops")
HELLO = b"of a package of the test's own\n"
# A writer that no connection ends; what it has written is compared when it has ended.
WRITER = """cat >/root/writer <<'END'
number=0
while [ ! -e /run/stop ]; do
	number=$((number + 1))
	file=/root/load/$((number % 50))
	dd if=/dev/urandom of=$file bs=64k count=8 conv=fsync status=none ||
		echo $number >>/run/failed
	sha256sum $file >$file.sum
	echo $number >/run/written
done
END
mkdir -p /root/load
systemd-run -q --unit=writer sh /root/writer
"""
COMPARE = """touch /run/stop
while systemctl -q is-active writer; do sleep 0.2; done
sync
echo 3 >/proc/sys/vm/drop_caches
cat /root/load/*.sum | sha256sum -c --quiet
[ ! -e /run/failed ]
dmesg
"""


class OneDisk(Machine):
    """tools/make/run-one-disk with a machine that runs, on a copy of the disk."""

    def __init__(self, folder):
        # pylint: disable=super-init-not-called # another command
        for name in ("key", "known_hosts"):
            shutil.copy(MADE / name, folder)
        subprocess.run(["cp", "--sparse=always", MADE / "disk.img", folder], check=True)
        self.folder, self.control, self.told_s = folder, folder / "control", 0
        self.messages = (folder / "messages").open("wb")
        kernel = ["--kernel", harness.KERNEL] if harness.KERNEL else []
        self.process = subprocess.Popen(
            [harness.ROOT / "tools/make/run-one-disk", "--debian", "--folder", folder, "--",
             "--control", self.control, "--log-dir", folder / "logs", *kernel],
            stdin=subprocess.DEVNULL, stdout=self.messages, stderr=self.messages)

    def booted(self, name):
        """Waits for its login on the console, without asking a guest that is busy."""
        self.until(f"{name} does not boot", lambda: (
            self.folder / f"logs/{name}.log").exists() and "(automatic login)" in self.said(name))

    def restart_io(self):
        with tally_ctl.Machine(str(self.control), timeout=harness.GUARD) as machine:
            status, lines = machine.ask("restart io")
            assert status == 0, lines

    def written(self, name):
        """How often its writer has written; None if nobody answers."""
        status, text = self.try_ssh(name, "cat /run/written", ASK_S)
        return int(text) if status == 0 else None


@pytest.fixture(name="machine")
def machine_with_one_disk(tmp_path):
    for path in ("run-one-disk-parts", "debian-disk"):
        plain.make(path, variables=("ONE_DISK=--debian",))
    with contextlib.closing(OneDisk(tmp_path)) as machine:
        yield machine


def install(machine, folder):
    """A package of a mirror on this computer, whose index is signed, by way of io."""
    # A guest's time may be behind this computer's, and is not before that of the index.
    key = mirrors.Key(["--faked-system-time", "20251101T100000"])
    with contextlib.closing(key), mirrors.served(folder, key) as mirror:
        mirror.add("tally-hello", {"usr/share/tally-hello/text": HELLO}, arch="all")
        mirror.publish("trixie")
        ring = base64.b64encode(key.keyring.read_bytes()).decode()
        # 10.0.2.2 is this computer for QEMU's network.
        address = mirror.address.replace("127.0.0.1", "10.0.2.2")
        text = machine.ssh("alpha", f"""ring=/usr/share/keyrings/test.gpg
echo {ring} | base64 -d >$ring
rm -f /etc/apt/sources.list.d/* /etc/apt/apt.conf.d/*proxy*
echo 'deb [signed-by='$ring'] {address} trixie main' >/etc/apt/sources.list
apt-get -q update 2>&1; apt-get -q -y install tally-hello 2>&1
dpkg -S /usr/share/tally-hello/text; cat /usr/share/tally-hello/text""")
    assert text.endswith("tally-hello: /usr/share/tally-hello/text\n" + HELLO.decode()), text


def goes_on(machine, name, before):
    """Waits until its writer has written twice more: one of these began after `before`."""
    def more():
        count = machine.written(name)
        return count is not None and count > before + 1
    machine.until(f"{name} does not write", more)


def whole(machine, number, name):
    """Its file system, once it is off."""
    path = machine.folder / name
    subprocess.run(["dd", f"if={machine.folder / 'disk.img'}", f"of={path}", "bs=1M",
                    f"skip={FIRST + number * PARTITION >> 20}", f"count={PARTITION >> 20}",
                    "conv=sparse", "status=none"], check=True)
    subprocess.run(["/usr/sbin/e2fsck", "-fn", path], check=True, capture_output=True)
    path.unlink()


def test_two_debians_on_one_disk(machine, tmp_path):
    """All three are logged in to, one gets a package, both write while io begins again, and all end
    by `poweroff` in these two."""
    for name in NAMES:
        machine.booted(name)
        machine.boot_id(name)
        assert machine.ssh(name, "hostname; findmnt -no SOURCE /") == f"{name}\n/dev/nbd0\n"
    assert machine.ssh("io", "hostname") == "io\n"
    install(machine, tmp_path)
    for name in NAMES:
        machine.ssh(name, WRITER)
        goes_on(machine, name, 0)
    for _ in range(RESTARTS):
        machine.restart_io()
        for name in NAMES:
            count = machine.until("io cannot be logged in to", lambda name=name:
                                  machine.written(name))
            goes_on(machine, name, count)
    for name in NAMES:
        assert not TROUBLE.search(machine.ssh(name, COMPARE))
    for name in NAMES:
        machine.try_ssh(name, "poweroff")
    machine.until_off()
    assert machine.said("io").count("serves partition 1 of its disk to alpha") == RESTARTS + 1
    for number, name in enumerate(NAMES):
        assert "one-disk end" in machine.said(name)
        assert not TROUBLE.search(machine.said(name))
        whole(machine, number, name)
