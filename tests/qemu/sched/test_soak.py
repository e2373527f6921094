# SPDX-License-Identifier: Apache-2.0
"""Everything at once for some minutes: a guest that restarts two hundred times, messages through
shared memory, samples, and Debian that writes its disk and reboots while it does. Each message,
sample and life is accounted for, the file system is clean, and Tally's code and constants are what
they were."""

import json
import re
import subprocess
import threading
import time

import pytest

from disks import BEGIN, content, disk_of
import harness
import hosts
from hosts import Monitor
from lives import NEW_LIFE
import plain
from tallylib import tally_ctl

pytestmark = pytest.mark.long

RESTARTS, MESSAGES, SAMPLES, BOOTS = 200, 10_000_000, 200_000, 4
# Of the machine's own time that all this takes at least: it was 18, of which the host needed eight
# minutes while it had much else to do.
SECONDS = 15

TREE = """/dts-v1/;
/ {{
	compatible = "tally,vm-tree-1";
	images {{
		kernel: kernel {{ data = /incbin/("Image"); }};
		drivers: drivers {{ data = /incbin/("disk.cpio"); }};
		bare: bare {{ data = /incbin/("bare.bin"); }};
		sampling: sampling {{ data = /incbin/("sampling.bin"); }};
	}};
	vms {{
		linux {{
			memory = /bits/ 64 <(256 << 20)>;
			kernel = <&kernel>;
			initrd = <&drivers>;
			bootargs = "console=ttyS0 panic=-1 quiet";
			restart-limit = <1000>;
			vcpu0 {{ harts = <0>; }};
			devices {{ disk0 {{ pci = "00:01.0"; dma = "isolated"; }}; }};
		}};
		sender {{ {bare} bootargs = "kind=shared role=send slots=65536 messages={messages}";
			vcpu0 {{ harts = <0>; }}; }};
		receiver {{ {bare}
			bootargs = "kind=shared role=receive slots=65536 messages={messages}";
			vcpu0 {{ harts = <0>; }}; }};
		sampler {{ {bare} kernel = <&sampling>;
			bootargs = "sampling=rate period=1000 samples={samples} event=instructions";
			vcpu0 {{ harts = <0>; }}; }};
		phoenix {{ {bare} bootargs = "kind=life type=1"; restart-limit = <{restarts}>;
			pmu-snapshot = "on"; pmu-overflow = "on"; vcpu0 {{ harts = <0>; }}; }};
		keeper {{ {bare} bootargs = "kind=idle period=10000000 ticks=1000000000000000";
			vcpu0 {{ harts = <0>; }}; }};
	}};
	shared {{
		down {{ size = /bits/ 64 <0x101000>;
			sender {{ at = /bits/ 64 <0x100000000>; access = "read-write"; }};
			receiver {{ at = /bits/ 64 <0x100000000>; }}; }};
		up {{ size = /bits/ 64 <0x1000>;
			sender {{ at = /bits/ 64 <0x200000000>; }};
			receiver {{ at = /bits/ 64 <0x200000000>; access = "read-write"; }}; }};
	}};
}};
"""
WRITES = BEGIN + """life=$(($(cat /life) + 1))
echo $life >/life
sync
echo "life $life"
if [ $life -lt %d ]; then
	while :; do head -c 1000000 /dev/urandom >/load; sync; done &
	for round in 1 2 3; do head -c 300000 /dev/urandom >/other; sync; done
	reboot -f
fi
sync
mount -o remount,ro /
poweroff -f
"""


def constants():
    """Where Tally's code and constants are, from and to."""
    lines = subprocess.run(["riscv64-linux-gnu-nm", harness.BUILD / "tally.elf"], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    at = {line.split()[2]: int(line.split()[0], 16) for line in lines if len(line.split()) == 3}
    return at["_image_start"], at["_data_start"]


class Asked(Monitor):
    """QEMU's monitor, with an answer."""

    def executed(self):
        """Instructions, a nanosecond each of the machine's time, with what was slept."""
        self.socket.sendall(b'{"execute": "query-replay"}')
        for line in self.lines:
            if "return" in (answer := json.loads(line)):
                return answer["return"]["icount"]
        raise EOFError


class Watch(threading.Thread):
    """Keeps what Tally's code is at first and at last, and ends the machine when all have ended."""

    def __init__(self, folder):
        super().__init__()
        self.folder, self.dumps, self.executed = folder, [], 0

    def keep(self, monitor):
        """Writes down what is there now."""
        begin, end = constants()
        self.dumps.append(self.folder / f"dump-{len(self.dumps)}")
        monitor.ask("stop")
        monitor.ask("pmemsave", val=begin, size=end - begin, filename=str(self.dumps[-1]))
        monitor.ask("cont")

    def run(self):
        with tally_ctl.Machine(str(self.folder / "control"), timeout=harness.GUARD) as tally:
            monitor = Asked(self.folder / "qmp")
            self.keep(monitor)
            while sum(vm["state"] != "off" for vm in tally.objects("vms")) > 1:
                time.sleep(1)
        self.keep(monitor)
        self.executed = monitor.executed()
        monitor.ask("quit")


def test_everything_for_minutes(tmp_path):
    """And all of it is right."""
    for path in ("build/guest/disk.cpio", "build/guests/bare.bin", "build/guests/sampling.bin"):
        plain.make(path)
    tree, disk = tmp_path / "soak.dts", disk_of(tmp_path, WRITES % BOOTS)
    bare = "memory = /bits/ 64 <(16 << 20)>; kernel = <&bare>;"
    text = TREE.format(bare=bare, messages=MESSAGES, samples=SAMPLES, restarts=RESTARTS)
    tree.write_text(text.replace("kernel = <&bare>; kernel =", "kernel ="), encoding="ascii")
    watch, logs = Watch(tmp_path), tmp_path / "logs"
    result = harness.run(tree, profile="interactive", meanwhile=watch, options=[
        "--include", harness.BUILD / "guests", "--disk", f"linux={disk}", "--log-dir", logs,
        "--control", tmp_path / "control",
        "--qemu", hosts.qemu(tmp_path, "-qmp", f"unix:{tmp_path}/qmp,server=on,wait=off")],
        timeout=3600)
    watch.join()
    # Of the one that restarts once too often.
    assert result.status == harness.VM_FAILED, str(result)[-2000:]
    lines = {name: (logs / f"{name}.log").read_text().splitlines()
             for name in ("linux", "sender", "receiver", "sampler", "phoenix")}
    exact = "0 wrong, 0 instructions too many or too few"
    assert lines["sender"][0] == f"shared: sent {MESSAGES} messages, {exact}"
    assert lines["receiver"][0] == f"shared: received {MESSAGES} messages, {exact}"
    assert lines["sampler"] == [f"rate: ends, {SAMPLES} samples, 0 wrong"]
    assert lines["phoenix"] == [NEW_LIFE] * (RESTARTS + 1)
    assert re.findall(r"^life (\d+)$", "\n".join(lines["linux"]), re.M) == [
        str(n + 1) for n in range(BOOTS)]
    assert content(disk, "/life") == f"{BOOTS}\n"
    subprocess.run(["/usr/sbin/e2fsck", "-fn", disk], check=True, capture_output=True)
    print(f"soak: {watch.executed / 1e9:.0f} seconds of the machine's time")
    assert watch.executed >= SECONDS * 10**9
    first, last = (dump.read_bytes() for dump in watch.dumps)
    assert len(first) > 100000 and first == last
