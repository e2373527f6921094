# SPDX-License-Identifier: Apache-2.0
"""dts/one-disk.dts: two guests have their root file systems on the disk that a third one has."""

import hashlib
import re
import subprocess
import threading
import time

import pytest

import harness
import plain
from runlib.guest_disk import run
from runlib.one_disk import configure
from tallylib import tally_ctl

FIRST, PARTITION = 1 << 20, 64 << 20  # where tools/make/one-disk puts them, in bytes
PARTS = ("build/guest/one-disk-io.cpio", "build/guest/one-disk-client.cpio")
NAMES = ("alpha", "beta")
ADDRESSES = ("10.1.1.2", "10.1.2.2")
# alpha asks for each partition, and for beta's at beta's address too. Nobody answers there, but
# that it is not tried for ever. Then it asks io at its own address and at one that nobody has.
ASKS = """ask() {
	if timeout $2 nbd-client -b 512 -N "$1" 10.1.1.1 /dev/nbd1 2>/dev/null; then
		echo "got $1 $3"
		nbd-client -d /dev/nbd1
	else
		echo "no $1 $3"
	fi
}
reach() {
	if ping -q -c 1 -W 1 -I "$1" 10.1.1.1 >/dev/null; then echo "got io at $1"
	else echo "no io at $1"
	fi
}
if [ "$(hostname)" = alpha ]; then
	ask alpha 5; ask beta 5
	ip addr add 10.1.2.2/32 dev lan
	ip route replace 10.1.1.1/32 dev lan src 10.1.2.2
	ip route get 10.1.1.1 | grep -o "src 10.1.2.2"
	ask beta 1 "at its address"
	ip route del 10.1.1.1/32; ip addr del 10.1.2.2/32 dev lan
	ip addr add 10.1.1.7/24 dev lan
	reach 10.1.1.2; reach 10.1.1.7
	ip addr del 10.1.1.7/24 dev lan
fi
"""
ASKED = ["got alpha", "no beta", "src 10.1.2.2", "no beta at its address",
         "got io at 10.1.1.2", "no io at 10.1.1.7"]
# alpha does not reach beta, and has a DHCP server for it. beta asks for an address again.
POSES = """! ping -q -c 1 -W 1 10.1.2.2 >/dev/null || echo "reaches beta"
cd /tmp
cat >conf <<END
interface lan
start 10.1.2.5
end 10.1.2.9
max_leases 5
option router 10.1.2.5
lease_file /tmp/leases
pidfile /tmp/pid
END
: >leases
udhcpd -f conf >posed 2>&1 &
until grep -q :0043 /proc/net/udp; do sleep 0.1; done
cat posed
"""
ASKS_AGAIN = """cat >/tmp/told <<'END'
#!/bin/sh
[ "$1" != bound ] || echo $ip of $serverid
END
chmod +x /tmp/told
udhcpc -f -q -n -i lan -s /tmp/told 2>/dev/null | grep of
"""
LOGS_IN = "hostname; cat /from-host; : >/logged-in"
# Until somebody has logged in.
WAITS = """echo "waits for a login"
until [ -e /logged-in ]; do sleep 0.1; done
"""
RESTARTS = 10
# Seconds of the machine's time without an io: longer than a client's kernel waits for an answer.
OFF_S = 40
# Both write until they have been served by so many more lives of io than at first. What is written
# while there is none waits for the next. Nothing of it is lost.
WRITES = """life() {{
	wget -q -T 2 -O - http://$SERVER/began
}}
mkdir /load
lives=0 last='' number=0
until [ $lives -gt {lives} ]; do
	now=$(life)
	if [ "$now" ] && [ "$now" != "$last" ]; then
		last=$now lives=$((lives + 1))
		echo "writes in life $lives of io."
	fi
	number=$(((number + 1) % 100))
	dd if=/dev/urandom of=/load/$number bs=1k count=100 conv=fsync 2>/dev/null ||
		echo "cannot write"
	sha256sum /load/$number >/load/$number.sum
done
sync
echo 3 >/proc/sys/vm/drop_caches
cat /load/*.sum | sha256sum -cs && echo "nothing is lost"
dmesg | grep -E "I/O error|EXT4-fs (error|warning)|BUG:|Oops" && echo "has trouble"
"""


def at(disk, number):
    """A partition, as e2fsprogs find it."""
    return f"{disk}?offset={FIRST + number * PARTITION}"


def read(disk, number, name):
    """A file in a partition."""
    return run(str(disk), "/usr/sbin/debugfs", "-R", f"cat {name}", at(disk, number))


def made_disk(folder, steps):
    """That of `make run-one-disk`, but with steps of the guests before they write."""
    for path in PARTS:
        plain.make(path)
    disk, init = folder / "disk.img", folder / "init"
    subprocess.run([harness.ROOT / "tools/make/one-disk", folder, *NAMES], check=True)
    head, mark, tail = read(disk, 0, "/usr/bin/init").decode().partition("\n{\n")
    assert mark
    init.write_text(head + "\n" + steps + mark + tail, encoding="utf-8")
    for number in range(len(NAMES)):
        for command in ("rm /usr/bin/init", f"write {init} /usr/bin/init",
                        "sif /usr/bin/init mode 0100755"):
            run(command, "/usr/sbin/debugfs", "-w", "-R", command, at(disk, number))
    return disk


def ssh(folder, name, command):
    """Has a guest execute that, by way of its SSH server."""
    return subprocess.Popen(["ssh", "-F", folder / "ssh_config", name, command],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)


def until_both(folder, text):
    """Waits until both have said that."""
    while not all(text in (folder / f"logs/{name}.log").read_text() for name in NAMES):
        time.sleep(0.1)


def operator_of(folder):
    """Asks the machine."""
    return tally_ctl.Machine(str(folder / "control"), timeout=harness.GUARD)


def ask(machine, command):
    """What the machine does."""
    status, lines = machine.ask(command)
    assert status == 0, lines


def restart(folder):
    """Has io begin again, whenever both others write."""
    with operator_of(folder) as machine:
        for number in range(RESTARTS):
            until_both(folder, f"writes in life {number + 1} of io.")
            ask(machine, "restart io")


def crash(folder):
    """While both others write, the kernel of io panics; its next life is stopped, and none follows
    for OFF_S."""
    until_both(folder, "writes in life 1 of io.")
    login = ssh(folder, "io", "echo c >/proc/sysrq-trigger")
    until_both(folder, "writes in life 2 of io.")
    login.kill()
    login.wait()
    with operator_of(folder) as machine:
        ask(machine, "stop io")

        def passed():
            return machine.objects("exits")[0]["time_us"] / 1e6

        until = passed() + OFF_S
        while passed() < until:
            time.sleep(0.1)
        ask(machine, "start io")


def log_in(folder, told):
    """Logs in to both when they wait for it. told: a list that gets what that printed."""
    until_both(folder, "waits for a login")
    for name, command in (("alpha", POSES), ("beta", ASKS_AGAIN),
                          ("alpha", "cat /tmp/posed; kill $(cat /tmp/pid)"),
                          *((name, LOGS_IN) for name in NAMES)):
        told.append(ssh(folder, name, command).communicate()[0])


def written(folder, steps, **more):
    """Boots with these steps. What the guests wrote is on the disk, and on the right partition."""
    disk = made_disk(folder, steps)
    result = harness.run(harness.ROOT / "dts/one-disk.dts", profile="interactive",
                         options=[*configure(str(folder), harness.first_port()),
                                  "--memory", "1536M", "--control", folder / "control",
                                  "--log-dir", folder / "logs"], **more)
    assert result.status == harness.OK, str(result)
    for line in (*(f"serves partition {number} of its disk to {name}"
                   for number, name in enumerate(NAMES, 1)),
                 "alpha is done", "beta is done", "one-disk end"):
        assert line in result.vm("io")
    for number, name in enumerate(NAMES):
        said, told = result.vm(name), read(disk, number, "/from-guest")
        assert f"has {ADDRESSES[number]}/24 by DHCP of 10.1.{number + 1}.1" in said, str(result)
        assert f"root is /dev/nbd0; it has: the root of {name}" in said, str(result)
        assert told.startswith(f"written by {name}\n".encode()) and len(told) > 1024000
        assert "wrote " + hashlib.sha256(told).hexdigest() in said and "one-disk end" in said
        run(name, "/usr/sbin/e2fsck", "-fn", at(disk, number))
    return result


def test_files_cross(tmp_path):
    """Each guest reads what the host wrote for it, and what it writes is on its partition when all
    have ended. It gets no other partition. It is logged in to by way of io."""
    told = []
    person = threading.Thread(target=log_in, args=[tmp_path, told], daemon=True)
    result = written(tmp_path, WAITS + ASKS, meanwhile=person)
    posed, again, asked, *logins = told
    # It began, and nobody asked it for an address.
    assert re.fullmatch("udhcpd: started, v[0-9.]+\n", posed) and asked == posed, told
    assert again == "10.1.2.2 of 10.1.2.1\n", told
    assert logins == [f"{name}\nthe root of {name}\n" for name in NAMES]
    asked = [line.strip() for line in result.vm("alpha") if re.match("(got|no|src) ", line)]
    assert asked == ASKED, str(result)


@pytest.mark.long
@pytest.mark.parametrize("ends, lives", [(restart, RESTARTS), (crash, 2)])
def test_the_server_begins_again(tmp_path, ends, lives):
    """While both others write: they wait, and go on without an error, and with all that they
    wrote. The first that cannot write ends the machine: without its disk it would never end."""
    operator = threading.Thread(target=ends, args=[tmp_path], daemon=True)
    result = written(tmp_path, WRITES.format(lives=lives), meanwhile=operator,
                     until="cannot write")
    for name in NAMES:
        assert "nothing is lost" in result.vm(name), str(result)
        assert "has trouble" not in result.vm(name), str(result)
    assert result.vm("io").count("serves partition 1 of its disk to alpha") == lives + 1
    assert result.own.count("vm io: asked for a restart") == (ends is crash), result.own
