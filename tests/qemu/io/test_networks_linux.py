# SPDX-License-Identifier: Apache-2.0
"""Two Debian guests on a network of Tally's, with the driver of Debian's kernel."""

import re
import shutil

import harness

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
SCRIPTS = {
    "alpha": UP.format(own=1) + """
until ping -c 1 -W 1 10.0.0.2 >/dev/null; do :; done
ping -q -c 20 -i 0.01 10.0.0.2 | grep packets
""" + CROSS.format(other=2) + "sha256sum </tmp/sent; sha256sum </tmp/got",
    "beta": UP.format(own=2) + CROSS.format(other=1) +
            "sha256sum </tmp/got; sha256sum </tmp/sent",
}


def counts(result, name):
    """{what: number} of the VM's port at its end."""
    [line] = [line for line in result.own if line.startswith(f"vm {name}: port 0: ")]
    sent, received = line.split(", received ")
    return {way + key: int(number) for way, part in (("sent ", sent), ("received ", received))
            for key, number in re.findall(r"(\w+)=(\d+)", part)}


@harness.both_backends
def test_files_cross(tmp_path, backend):
    """Both ways, and whole, of drivers that take interrupts; what the ports counted adds up."""
    (tmp_path / "test").mkdir()
    for name in ("failover", "net_failover", "virtio_net"):
        shutil.copy(harness.ROOT / f"build/guest/disk-modules/{name}.ko", tmp_path / "test")
    tree = harness.linux_tree(tmp_path, SCRIPTS)
    text = tree.read_text(encoding="utf-8").rstrip()
    assert text.endswith("};")
    tree.write_text(text[:-len("};")] + NETWORK, encoding="utf-8")
    result = harness.run(tree, backend=backend)
    assert result.status == harness.OK, str(result)
    said = {name: result.vm(name) for name in SCRIPTS}
    own = {name: lines[lines.index(f"{name} begin") + 1:lines.index(f"{name} end 0")]
           for name, lines in said.items()}
    assert own["alpha"][:3] == ["02:00:00:00:00:01", "1500",
                                "20 packets transmitted, 20 packets received, 0% packet loss"]
    assert own["beta"][:2] == ["02:00:00:00:00:02", "1500"]
    assert own["alpha"][3] == "1024000" and len(set(own["alpha"][4:])) == 2
    assert own["alpha"][3:] == own["beta"][2:]
    alpha, beta = counts(result, "alpha"), counts(result, "beta")
    assert alpha["sent refused"] == beta["sent refused"] == 0
    for one, other in ((alpha, beta), (beta, alpha)):
        assert one["sent frames"] == other["received frames"] + other["received lost"], str(result)
        assert one["sent bytes"] > 1000 * 1024
