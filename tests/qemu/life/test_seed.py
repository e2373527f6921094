# SPDX-License-Identifier: Apache-2.0
"""Seeds for guests' random numbers: one for each life of each VM, out of the host's."""

import re
import struct
import subprocess
import threading

import pytest

import bare_guests
import harness
from hosts import Monitor
import plain
from tallylib import tally_ctl

GUESTS = {"alpha": "kind=seed type=1", "beta": "kind=seed type=1"}
NO_SEED = "guests get no seed for random numbers: the host tree has no /chosen/rng-seed of 32 bytes"


def chacha20(key, counter, nonce):
    """The first half of a block of RFC 8439."""

    def quarter(a, b, c, d):
        for n, x, y, z in ((16, d, a, b), (12, b, c, d), (8, d, a, b), (7, b, c, d)):
            into = y if x == d else c
            added = z if x == d else d
            w[into] = w[into] + w[added] & 0xffffffff
            w[x] ^= w[into]
            w[x] = (w[x] << n | w[x] >> 32 - n) & 0xffffffff

    first = struct.unpack("<16I", b"expand 32-byte k" + key + struct.pack("<4I", counter, *nonce))
    w = list(first)
    for _ in range(10):
        for n in range(4):
            quarter(n, 4 + n, 8 + n, 12 + n)
        for n in range(4):
            quarter(n, 4 + (n + 1) % 4, 8 + (n + 2) % 4, 12 + (n + 3) % 4)
    return struct.pack("<8I", *(x + y & 0xffffffff for x, y in zip(w[:8], first)))


def seed_of(host, vm, life):
    """What a guest has to find."""
    return chacha20(host, life, (0, vm, 0))


def machine(folder, size, memory="1G", more=""):
    """The path of a QEMU whose device tree has a seed of so many bytes. What is in them QEMU writes
    at power-on: in the exact profile the same each time."""
    tree, script = folder / "virt.dtb", folder / "qemu"
    subprocess.run([plain.QEMU, "-machine", f"virt,dumpdtb={tree}", "-cpu",
                    "rv64,sscofpmf=on,smcntrpmf=on,ssaia=on,ssccfg=on", "-smp", "1", "-m", memory,
                    "-nographic", "-bios", "none"], check=True, capture_output=True)
    subprocess.run(["fdtput", "-d", tree, "/chosen", "rng-seed"], check=True)
    if size:
        subprocess.run(["fdtput", "-t", "bx", tree, "/chosen", "rng-seed", *["0"] * size],
                       check=True)
    script.write_text(f'#!/bin/sh\nexec {plain.QEMU} "$@" -dtb {tree} {more}\n', encoding="utf-8")
    script.chmod(0o755)
    return script


def host_seed(qemu, monkeypatch, memory="1G"):
    """The seed that a guest without Tally finds."""
    monkeypatch.setattr(plain, "QEMU", str(qemu))
    text = plain.run(plain.make("build/guests/bare.bin"), "kind=seed", memory=memory)
    return bytes.fromhex(re.search("^seed: (.*)$", text, re.M)[1])


def seeds(result):
    """{VM: what it found in each of its lives}."""
    return {name: [line.removeprefix("seed: ") for line in result.vm(name)] for name in GUESTS}


def boot(folder, options=(), **arguments):
    """Two guests that live twice, and fail by their second restart."""
    return bare_guests.boot(folder, GUESTS, status=harness.VM_FAILED, options=options,
                            properties="restart-limit = <1>;", **arguments)


@pytest.mark.parametrize("size", [32, 48])
def test_each_life_has_its_own(tmp_path, size, monkeypatch):
    qemu = machine(tmp_path, size)
    host = host_seed(qemu, monkeypatch)
    assert len(host) == size
    result = boot(tmp_path, ["--qemu", qemu])
    assert seeds(result) == {name: [seed_of(host[:32], vm, life).hex() for life in range(2)]
                             for vm, name in enumerate(GUESTS)}
    assert NO_SEED not in result.own


@pytest.mark.parametrize("size", [0, 31])
def test_none(tmp_path, size):
    result = boot(tmp_path, ["--qemu", machine(tmp_path, size)])
    assert seeds(result) == {"alpha": ["none"] * 2, "beta": ["none"] * 2}
    assert NO_SEED in result.own


def test_profiles(tmp_path):
    """exact: the same in every run; smp: others each time."""
    exact, again = (seeds(boot(tmp_path)) for _ in range(2))
    smp, other = (seeds(boot(tmp_path, profile="smp")) for _ in range(2))
    assert exact == again
    found = [seed for run in (exact, smp, other) for lives in run.values() for seed in lives]
    assert len(set(found)) == len(found) == 12
    assert all(re.fullmatch("[0-9a-f]{64}", seed) for seed in found)


@pytest.mark.long
def test_from_u_boot(tmp_path):
    found = seeds(boot(tmp_path, ["--u-boot"]))
    assert len({seed for lives in found.values() for seed in lives}) == 4
    assert found == seeds(boot(tmp_path))


CALLS = ("perf stat -x, -e instructions:k perf bench syscall basic --loop {n} 2>&1 |"
         " grep instructions\n")
LINUX = "dmesg | grep -o 'random: crng init done'\n" + CALLS.format(n=1000) + CALLS.format(n=11000)


def price(lines):
    """Instructions of the kernel's in a system call, with a random stack offset each."""
    assert lines[0] == "random: crng init done"
    few, many = (int(line.split(",")[0]) for line in lines[1:])
    return (many - few) / 10000


def test_system_calls_of_linux(linux, bare):
    """As cheap as on bare metal. Without a seed each takes 15,000 instructions."""
    result = linux({"alpha": LINUX})
    assert result.status == harness.OK, str(result)
    assert price(result.guest_output("alpha", "alpha")) < 1.05 * price(bare(LINUX))


def test_the_hosts_is_wiped(tmp_path, monkeypatch):
    """It is only where Tally keeps it, and each guest's in its tree only. The firmware's tree is in
    the last MiB here; in an even number of them the VM tree would happen to be moved over it."""
    qemu = machine(tmp_path, 32, "1025M", f"-qmp unix:{tmp_path}/qmp,server=on,wait=off")
    host = host_seed(qemu, monkeypatch, "1025M")
    parts = {"low": (0x80000000, 128 << 20), "tree": (0xc0000000, 1 << 20)}

    def look():
        # All have been loaded before the machine is stopped.
        with tally_ctl.Machine(f"{tmp_path}/control", timeout=harness.GUARD) as tally:
            while any(vm["state"] != "running" for vm in tally.objects("vms")):
                pass
        monitor = Monitor(tmp_path / "qmp")
        monitor.ask("stop")
        for name, (start, size) in parts.items():
            monitor.ask("pmemsave", val=start, size=size, filename=f"{tmp_path}/{name}")
        monitor.ask("quit")

    bare_guests.boot(tmp_path, {name: "kind=idle ticks=1000000000000" for name in GUESTS},
                     status=harness.NO_VERDICT, options=["--qemu", qemu, "--memory", "1025M",
                                                        "--control", tmp_path / "control"],
                     meanwhile=threading.Thread(target=look))
    low, tree = ((tmp_path / name).read_bytes() for name in parts)
    assert b"riscv-virtio" in tree and host not in tree
    assert low.count(host) == 1
    for vm in range(len(GUESTS)):
        assert low.count(seed_of(host, vm, 0)) == 1
        assert low.count(seed_of(host, vm, 1)) == 0
