# SPDX-License-Identifier: Apache-2.0
"""Debian guests that load a network of Tally's, and whether each frame is accounted for: at the
ports, and in the guests' own statistics."""

import json
import re
import shutil
import subprocess
import threading
import time

import harness
import plain
from tallylib import tally_ctl

NAMES = ("alpha", "beta")
NET_MODULES = ("failover", "net_failover", "virtio_net")
MEMORY = 384  # MiB of a guest: with a load's programs its initramfs has 52
WORK = 5000000
NETWORKS = """
	networks {{ lan {{ {properties}
		alpha {{ mac-address = [02 00 00 00 00 01]; }};
		beta {{ mac-address = [02 00 00 00 00 02]; }};
	}}; }};
}};
"""
# Without IPv6 a guest sends nothing that no program asks for. `answer` retries what needs a
# neighbour that listens; the neighbour may still boot.
UP = """
for name in $(cat /test/order); do insmod /test/$name.ko; done
sysctl -q -w net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
net=/sys/class/net/eth0
ip addr add 10.0.0.{own}/24 dev eth0; ip link set eth0 up
answer() {{
    until "$@" >/tmp/answer 2>&1; do
        grep -q refused /tmp/answer || cat /tmp/answer
        sleep 0.2
    done
	cat /tmp/answer
}}
"""
# A guest counts all the time until COUNTED.
COUNTS = f"""
while [ ! -e /tmp/done ]; do perf stat -x, -e instructions:u work {WORK}; sleep 0.1; done \
    2>/tmp/counts &
"""
COUNTED = """
touch /tmp/done; wait; cat /tmp/counts
"""
# What the driver has counted, which is final when the cable is pulled.
STATISTICS = """
for name in $(ls $net/statistics); do echo "stat $name $(cat $net/statistics/$name)"; done
grep Tcp: /proc/net/snmp | sed 's/^/snmp /'
"""
# A connection in TIME_WAIT or none: nothing is sent any more. Then the operator pulls both cables.
ACCOUNT = """
while grep : /proc/net/tcp | grep -qv ' 0A \\| 06 '; do sleep 0.1; done
echo quiet
until [ "$(cat $net/carrier)" = 0 ]; do sleep 0.1; done
""" + STATISTICS
PORT = re.compile(r"vm (\w+): port 0: sent frames=(\d+) bytes=(\d+) refused=(\d+), "
                  r"received frames=(\d+) bytes=(\d+) lost=(\d+)")
KEYS = ("sent", "sent_bytes", "refused", "received", "received_bytes", "lost")


def tree(folder, scripts, properties="", kernel=None, modules=None, more="", perf=True,
         programs="root"):
    """A VM tree of a guest for each {NAME: script}, behind UP. properties: of the network; kernel:
    not the guests' own; modules: a folder with others than NET_MODULES; more: nodes of other VMs;
    perf: False for guests that boot sooner without it; programs: of tools/fetch/load-parts."""
    load = plain.make("build/guest/load/VERSIONS").parent
    tests = folder / "test"
    tests.mkdir()
    if modules:
        shutil.copytree(modules, tests, dirs_exist_ok=True)
    else:
        for name in NET_MODULES:
            shutil.copy(harness.GUEST / f"disk-modules/{name}.ko", tests)
        (tests / "order").write_text("\n".join(NET_MODULES), encoding="ascii")
    path = harness.linux_tree(
        folder, {name: UP.format(own=NAMES.index(name) + 1) + text
                 for name, text in scripts.items()}, memory=480 if kernel else MEMORY)
    packed = folder / "initramfs-tests.cpio"
    base = packed if perf else plain.make("build/guest/partitions.cpio")
    subprocess.run([harness.ROOT / "tools/initramfs", "-b", base, "-o", packed,
                    f"{load / programs}=", f"{tests}=test", "lib->usr/lib"], check=True)
    text = path.read_text(encoding="utf-8").rstrip().removesuffix("};")
    if kernel:
        text = text.replace('"Image"', f'"{kernel}"')
    head, vms, tail = text.partition("\tvms {")
    path.write_text(head + vms + more + tail + NETWORKS.format(properties=properties),
                    encoding="utf-8")
    return path


def until(folder, *texts):
    """Waits until each guest's log has all of them."""
    for name in NAMES:
        log = folder / f"logs/{name}.log"
        while not (log.exists() and all(text in log.read_text() for text in texts)):
            time.sleep(0.1)


def pull(machine):
    """Both cables."""
    for name in NAMES:
        assert machine.ask(f"link {name} down") == (0, [f"{name}: 1 link is down"])


def pull_when_quiet(folder, others=False):
    """Thread of an operator: pulls both cables when no guest sends any more. others: there are
    other VMs, which it ends when both have ended."""
    def wait():
        until(folder, "\nquiet")
        with tally_ctl.Machine(str(folder / "control"), timeout=harness.GUARD) as machine:
            pull(machine)
            while others and not all(vm["state"] == "off" for vm in machine.objects("vms")
                                     if vm["vm"] in NAMES and "state" in vm):
                time.sleep(0.1)
            if others:
                machine.ask("poweroff")
    return threading.Thread(target=wait, daemon=True)


def options(folder):
    """Of tools/run, for an operator."""
    return ["--control", folder / "control", "--log-dir", folder / "logs"]


def ports(result, name):
    """What its port had counted at the end of each life."""
    return [dict(zip(KEYS, map(int, found.groups()[1:]))) for found in map(PORT.match, result.own)
            if found and found.group(1) == name]


def stats(result, name):
    """Statistics of the guest's driver, by name."""
    return {words[1]: int(words[2]) for words in map(str.split, result.vm(name))
            if words[:1] == ["stat"]}


def segments(result, name):
    """(sent, of which again) by the guest's TCP."""
    keys, values = [line.split()[2:] for line in result.vm(name) if line.startswith("snmp Tcp: ")]
    row = dict(zip(keys, values))
    return int(row["OutSegs"]), int(row["RetransSegs"])


def counted(result, name):
    """How many counts a guest has made; each is exact."""
    counts = [line.split(",")[0] for line in result.vm(name) if ",instructions:u," in line]
    assert counts and set(counts) == {str(WORK)}, counts
    return len(counts)


def report(result, name):
    """iperf3's, of the only transfer of a guest."""
    lines = result.vm(name)
    return json.loads("\n".join(lines[lines.index("{"):lines.index("}") + 1]))


def accounted(result, lives=()):
    """Each frame of all lives was received or lost; and each of a guest's last life is in its own
    statistics. lives: what ports had counted in those before. The sums, of all."""
    lives = [*lives, *(ports(result, name)[-1] for name in NAMES)]
    total = {key: sum(life[key] for life in lives) for key in KEYS}
    assert total["sent"] == total["received"] + total["lost"], str(result)
    for name in NAMES:
        own, port = stats(result, name), ports(result, name)[-1]
        assert own["tx_packets"] == port["sent"] + port["refused"], str(result)
        assert (own["rx_packets"], own["rx_bytes"]) == (
            port["received"], port["received_bytes"]), str(result)
        if not port["refused"]:
            assert own["tx_bytes"] == port["sent_bytes"], str(result)
        assert [own["tx_errors"], own["rx_errors"], own["rx_dropped"]] == [0, 0, 0], str(result)
    return total
