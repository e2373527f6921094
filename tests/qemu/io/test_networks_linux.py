# SPDX-License-Identifier: Apache-2.0
"""Two Debian guests on a network of Tally's, with the driver of Debian's kernel."""

import re
import shutil
import threading

import pytest

import harness
from tallylib import tally_ctl

NETWORK = """
	networks { lan {
		alpha { mac-address = [02 00 00 00 00 01]; };
		beta { mac-address = [02 00 00 00 00 02]; };
	}; };
};
"""
UP = """
for name in failover net_failover virtio_net; do insmod /test/$name.ko; done
cat /sys/class/net/eth0/address /sys/class/net/eth0/mtu
ip link set eth0 up; ip addr add 10.0.0.{own}/24 dev eth0
dd if=/dev/urandom of=/tmp/sent bs=1k count=1000 2>/dev/null
"""
# Each sends a file to the other, at the same time. nc ends when its input does, so it gets one that
# does not.
CROSS = """
mkfifo /tmp/open; exec 3<>/tmp/open
nc -l -p 7 <&3 >/tmp/got &
until nc 10.0.0.{other} 7 </tmp/sent 2>/dev/null; do :; done
wait
wc -c </tmp/got
"""
# What the driver makes of the link, which the operator sets down and up.
CARRIER = """
for state in 0 1; do
    until [ "$(cat /sys/class/net/eth0/carrier)" = $state ]; do sleep 0.1; done; echo $state
done
"""
DOWN_MS = 2000  # of the machine's time: the guest is at the script's next line long before
SCRIPTS = {
    "alpha": UP.format(own=1) + CARRIER + """
until ping -c 1 -W 1 10.0.0.2 >/dev/null; do :; done
ping -q -c 20 -i 0.01 10.0.0.2 | grep packets
""" + CROSS.format(other=2) + "sha256sum </tmp/sent; sha256sum </tmp/got",
    "beta": UP.format(own=2) + CROSS.format(other=1) +
            "sha256sum </tmp/got; sha256sum </tmp/sent",
}
# Lines of /proc/interrupts.
INTERRUPTS = """
grep virtio /proc/interrupts
"""

# Two networks, one of them with offloads. Alpha sends a file to beta over each.
BOTH = """
	networks {
		large { offload = "on"; alpha { mac-address = [02 00 00 00 00 01]; };
			beta { mac-address = [02 00 00 00 00 02]; };
		};
		small { alpha { mac-address = [02 00 00 00 01 01]; };
			beta { mac-address = [02 00 00 00 01 02]; };
		};
	};
};
"""
UP_BOTH = """
for name in failover net_failover virtio_net; do insmod /test/$name.ko; done
for at in /sys/class/net/eth*; do
    case $(cat $at/address) in
    02:00:00:00:00:*) ip addr add 10.0.0.{own}/24 dev ${{at##*/}};;
    *) ip addr add 10.0.1.{own}/24 dev ${{at##*/}};;
    esac
    ip link set ${{at##*/}} up
done
mkfifo /tmp/open; exec 3<>/tmp/open
"""
MIB = 4
ONE_WAY = {
    "alpha": UP_BOTH.format(own=1) + f"dd if=/dev/urandom of=/tmp/sent bs=1M count={MIB} 2>&-" + """
for net in 0 1; do until nc 10.0.$net.2 7 </tmp/sent 2>/dev/null; do :; done; done
sha256sum </tmp/sent""",
    "beta": UP_BOTH.format(own=2) + """
for net in 0 1; do nc -l -p 7 <&3 >/tmp/got$net; done
cat /tmp/got0 /tmp/got1 | wc -c; sha256sum </tmp/got0; sha256sum </tmp/got1""",
}


def counts(result, name, port=0):
    """{what: number} of the VM's port at its end."""
    [line] = [line for line in result.own if line.startswith(f"vm {name}: port {port}: ")]
    sent, received = line.split(", received ")
    return {way + key: int(number) for way, part in (("sent ", sent), ("received ", received))
            for key, number in re.findall(r"(\w+)=(\d+)", part)}


def pull_and_plug(path):
    """Sets alpha's link down for some time, when its driver has got a frame of beta."""
    with tally_ctl.Machine(str(path), timeout=harness.GUARD) as machine:

        def row():
            """Of alpha and its port."""
            return {key: value for line in machine.objects("vms") if line["vm"] == "alpha"
                    for key, value in line.items()}

        while not row()["received"]:
            pass
        assert machine.ask("link alpha down") == (0, ["alpha: 1 link is down"])
        until = row()["uptime_ms"] + DOWN_MS
        while row()["uptime_ms"] < until:
            pass
        assert machine.ask("link alpha up") == (0, ["alpha: 1 link is up"])


def with_networks(tmp_path, scripts, networks, properties=""):
    """A tree of guests with the driver of ports."""
    (tmp_path / "test").mkdir()
    for name in ("failover", "net_failover", "virtio_net"):
        shutil.copy(harness.ROOT / f"build/guest/disk-modules/{name}.ko", tmp_path / "test")
    tree = harness.linux_tree(tmp_path, scripts, properties=properties)
    text = tree.read_text(encoding="utf-8").rstrip()
    assert text.endswith("};")
    tree.write_text(text[:-len("};")] + networks, encoding="utf-8")
    return tree


def said_by(result, scripts):
    """The lines of each guest's script."""
    said = {name: result.vm(name) for name in scripts}
    return {name: lines[lines.index(f"{name} begin") + 1:lines.index(f"{name} end 0")]
            for name, lines in said.items()}


def cross(tmp_path, scripts, properties="", **others):
    """Files go both ways, and whole, of drivers that take interrupts; what the ports counted adds
    up. Before that the driver of one sees its link go, and come again. Returns what each guest said
    behind that."""
    tree = with_networks(tmp_path, scripts, NETWORK, properties)
    operator = threading.Thread(target=pull_and_plug, args=[tmp_path / "control"])
    result = harness.run(tree, meanwhile=operator, options=["--control", tmp_path / "control"],
                         **others)
    assert result.status == harness.OK, str(result)
    own = said_by(result, scripts)
    assert own["alpha"][:5] == ["02:00:00:00:00:01", "1500", "0", "1",
                                "20 packets transmitted, 20 packets received, 0% packet loss"]
    assert own["beta"][:2] == ["02:00:00:00:00:02", "1500"]
    assert own["alpha"][5] == "1024000" and len(set(own["alpha"][6:8])) == 2
    assert own["alpha"][5:8] == own["beta"][2:5]
    alpha, beta = counts(result, "alpha"), counts(result, "beta")
    assert alpha["sent refused"] == beta["sent refused"] == 0
    # What alpha sends before its driver knows that the link is down is lost at alpha.
    assert alpha["sent frames"] + beta["sent frames"] == sum(
        one["received frames"] + one["received lost"] for one in (alpha, beta)), str(result)
    assert min(alpha["sent bytes"], beta["sent bytes"]) > 1000 * 1024
    return {"alpha": own["alpha"][8:], "beta": own["beta"][5:]}


@harness.short_on("sbi")
def test_files_cross(tmp_path, backend):
    assert cross(tmp_path, SCRIPTS, backend=backend) == {"alpha": [], "beta": []}


@pytest.mark.long
def test_messages(tmp_path):
    """With an AIA the driver has a message for each queue, and one for changes of the link, of
    which alpha sees two."""
    said = cross(tmp_path, {name: script + INTERRUPTS for name, script in SCRIPTS.items()},
                 'interrupts = "aia";')
    for name, changes in (("alpha", 2), ("beta", 0)):
        taken = {}
        for line in said[name]:
            found = re.fullmatch(r" *\d+: +(\d+) +PCI-MSIX-\S+ +\d+ +Edge +virtio0-(\S+)", line)
            assert found, line
            taken[found[2]] = int(found[1])
        print(name, taken)
        assert set(taken) == {"config", "input.0", "output.0"}, said[name]
        assert taken["config"] == changes and taken["input.0"] > 0, said[name]


@pytest.mark.long
def test_offloads(tmp_path):
    """A file arrives whole, in few large frames, with checksums that nobody has computed; the same
    one over a network without offloads takes many times as many."""
    result = harness.run(with_networks(tmp_path, ONE_WAY, BOTH))
    assert result.status == harness.OK, str(result)
    own = said_by(result, ONE_WAY)
    [digest] = own["alpha"]
    assert own["beta"] == [str(2 * MIB << 20), digest, digest], str(result)
    large, small = counts(result, "alpha"), counts(result, "alpha", 1)
    for sent, port in ((large, 0), (small, 1)):
        got = counts(result, "beta", port)
        assert sent["sent refused"] == 0 and got["received lost"] == 0, str(result)
        assert sent["sent bytes"] > MIB << 20
        assert sent["sent frames"] == got["received frames"]
    assert small["sent frames"] > (MIB << 20) // 1514
    print(large["sent frames"], small["sent frames"])
    assert large["sent frames"] * 8 < small["sent frames"], str(result)
