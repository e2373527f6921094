# SPDX-License-Identifier: Apache-2.0
"""What `make run-debian` boots: Debian from its own disk, logged in to over SSH, with perf on real
work, beside neighbours under load; and Debian that restarts while it writes. What has to happen has
to do so in some minutes of the machine's own time, however long these take."""

import contextlib
import subprocess

import pytest

from debian_machine import Machine, TREES
import harness
import plain

pytestmark = pytest.mark.long

# A third VM, which counts code of known length; an operator starts it when the others have work.
GAMMA = """/ {
	images { bare: bare { data = /incbin/("bare.bin"); }; };
	vms {
		gamma {
			memory = /bits/ 64 <0x1000000>;
			kernel = <&bare>;
			bootargs = "kind=measure rounds=%d length=4000000";
			vcpu0 { harts = <0>; };
		};
	};
};
"""
ROUNDS = 5
WRITER = """while [ ! -e /run/stop ]; do
	dd if=/dev/urandom of=/root/load.%s bs=1M count=8 conv=fsync status=none
done"""
WRITTEN = "awk '{ print $7 }' /sys/block/vda/stat"
RECEIVED = "cat /sys/class/net/e*/statistics/rx_bytes"


@pytest.fixture(name="machine")
def machines(tmp_path):
    """Boots trees."""
    plain.make("debian-disk")
    with contextlib.ExitStack() as stack:
        def boot(tree):
            return stack.enter_context(contextlib.closing(Machine(tmp_path, tree)))
        yield boot


@pytest.fixture(name="tree", params=TREES)
def trees(request):
    return TREES[request.param]


@pytest.fixture(name="with_gamma")
def tree_of_three(tmp_path, tree):
    """A VM more."""
    plain.make("build/guests/bare.bin")
    path = tmp_path / "three.dts"
    path.write_text(f'/include/ "{tree}"\n' + GAMMA % ROUNDS, encoding="ascii")
    return path


def check_perf(machine, name):
    """Counts and samples of a program of known length, and real work: a database, and apt."""
    for _ in range(3):
        text = machine.ssh(name, "perf stat -x, -e instructions:u /root/work 50000000 2>&1")
        assert harness.perf_counts(text.split("\n")) == {"instructions:u": 50000000}
    text = machine.ssh(name, "perf record -o /root/p -e instructions:u -c 300000 "
                       "/root/work 20000000 2>&1")
    assert "(66 samples)" in text
    text = machine.ssh(name, """rm -f /root/db
perf stat -x, -e instructions:u,cycles:u -- sqlite3 /root/db "
create table t as with recursive c(n) as (select 1 union all select n + 1 from c where n < 20000)
select n, hex(randomblob(20)) s from c; create index i on t(s);
select 'rows', count(*), sum(n) from t;" 2>&1""")
    assert "rows|20000|200010000" in text
    counts = harness.perf_counts(text.split("\n"))
    assert counts["cycles:u"] == counts["instructions:u"] > 20000 * 100
    machine.ssh(name, "perf record -o /root/p -e instructions:u -c 1000000 "
                "-- apt-cache gencaches 2>&1")
    text = machine.ssh(name, "perf report -i /root/p --stdio --sort comm,dso 2>/dev/null")
    assert "libapt-pkg.so" in text and "Total Lost Samples: 0" in text
    # And of what other packages do, which is on the disk afterwards.
    machine.ssh(name, """cd /root; mkdir -p pack/DEBIAN
printf 'Package: tally-test\\nVersion: 1\\nArchitecture: all\\nMaintainer: nobody\\n' \\
	>pack/DEBIAN/control
echo 'Description: a test' >>pack/DEBIAN/control
mkdir -p pack/opt; seq 200000 >pack/opt/numbers
perf stat -o /root/stat -e instructions:u dpkg-deb -b pack p.deb; dpkg -i p.deb; sync""")


def check_power_key(machine, name):
    """The disk has all that a power key takes: udev finds its drivers and knows its events, and
    logind listens."""
    text = machine.ssh(name, """modprobe -R virtio:d00000012v00001AF4
modprobe -R input:b0006v0627p0001e0001-e0,1,k74,ramlsfw
ls /usr/lib/udev/rules.d/70-power-switch.rules
systemctl is-active dbus systemd-logind""")
    assert text == ("virtio_input\nevdev\n/usr/lib/udev/rules.d/70-power-switch.rules\n"
                    "active\nactive\n")


def test_two_debians(machine, with_gamma):
    """Both have work for perf, disk and network at once, and the bare neighbour counts exactly."""
    machine = machine(with_gamma)
    for name in ("alpha", "beta"):
        machine.boot_id(name)
        machine.ssh(name, f"[ $(hostname) = {name} ]")
        subprocess.run(["scp", "-q", "-F", machine.folder / "ssh_config",
                        harness.BUILD / "guests/linux/work", f"{name}:/root/work"], check=True)
    ends = f"measure: ends, 0 wrong of {8 * ROUNDS}"
    machine.until("gamma did not measure", lambda: ends in machine.said("gamma"))
    with machine.load("beta", WRITER % "a"), \
            machine.load("beta", "cat >/dev/null", source=["head", "-c", "4G", "/dev/zero"]):
        before = [machine.number("beta", text) for text in (WRITTEN, RECEIVED)]
        subprocess.run([harness.ROOT / "tools/tally-ctl", "--socket", machine.control, "start",
                        "gamma"], check=True, stdout=subprocess.DEVNULL)
        check_perf(machine, "alpha")
        machine.until("gamma did not measure", lambda: machine.said("gamma").count(ends) == 2)
        after = [machine.number("beta", text) for text in (WRITTEN, RECEIVED)]
        # 512-byte sectors; bytes.
        assert after[0] - before[0] > (8 << 20) // 512 and after[1] - before[1] > 8 << 20
        machine.ssh("beta", "touch /run/stop")
    check_perf(machine, "beta")
    check_power_key(machine, "beta")
    for name in ("alpha", "beta"):
        machine.try_ssh(name, "poweroff")
    machine.ends_well()
    assert "wrong of" not in machine.said("gamma").replace(ends, "")


def wait_for_writes(machine, name):
    """Until 8 MiB more are on the disk."""
    before = machine.number(name, WRITTEN)
    machine.until("nothing is written",
                  lambda: machine.number(name, WRITTEN) - before > (8 << 20) // 512)


def test_debian_restarts_under_load(machine, tree):
    """Three lives end while three writers are at work, each in another way: the next finds what had
    been synced, and its disk and network serve it."""
    machine = machine(tree)
    machine.boot_id("beta")
    machine.try_ssh("beta", "poweroff")
    life = machine.boot_id("alpha")
    for number, end in enumerate(("reboot", "reboot -ff", "echo b >/proc/sysrq-trigger")):
        text = machine.ssh("alpha", f"""seq {100000 + number} >/root/kept; sync
md5sum /root/kept >/root/sum; sync; rm -f /root/load.*; cat /root/sum""")
        with machine.load("alpha", *(WRITER % writer for writer in range(3))):
            wait_for_writes(machine, "alpha")
            # It ends in the middle of a write; the guest does not close this connection.
            with machine.load("alpha", end):
                life = machine.boot_id("alpha", but=life)
        assert machine.ssh("alpha", "cat /root/sum; md5sum -c --quiet /root/sum") == text
        machine.ssh("alpha", """dd if=/dev/urandom of=/root/b bs=1M count=16 conv=fsync status=none
sum=$(md5sum </root/b); echo 3 >/proc/sys/vm/drop_caches; [ "$(md5sum </root/b)" = "$sum" ]""")
    # Each life told once that it could be logged in to.
    machine.until("not ready", lambda: machine.messages_of("alpha: ssh ready") == 4)
    machine.try_ssh("alpha", "rm -f /root/load.*; poweroff")
    machine.ends_well()
    assert machine.messages_of("alpha: ssh ready") == 4
    assert machine.said("tally").count("vm alpha: asked for a restart") == 3
