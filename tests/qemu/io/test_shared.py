# SPDX-License-Identifier: Apache-2.0
"""Shared memory: messages between two bare guests, each checked and each instruction counted; what
a guest may do there; and what is left of it when a VM ends."""

import json

import harness
from isolation import faults, machine, targets
from lives import told
from measured import EXPECTED, MEASURE
import plain
from shared_memory import DOWN, MESSAGES, MIB, TREE, UP, check, lines_of, ring, run, shared, vm


@harness.both_backends
def test_messages(tmp_path, backend):
    """Each message is right, and the two have the instructions that they executed, beside the fixed
    loop, which has its number."""
    result = run(tmp_path, ring(65536) + [vm("delta", MEASURE)], [DOWN, UP], backend=backend)
    assert result.status == harness.OK, str(result)
    exact = "0 wrong, 0 instructions too many or too few"
    lines, looks = lines_of(result)
    assert lines == [f"shared: {done} {MESSAGES} messages, {exact}"
                     for done in ("sent", "received")]
    assert looks > 0
    assert result.vm("delta") == EXPECTED
    assert [line for line in result.own if "shared" in line] == [
        "shared down: 1028 KiB at 0x82c00000",
        "shared up: 4100 KiB at 0x82e00000",
        "vm sender: has shared down at 0x100000000, to read and write",
        "vm sender: has shared up at 0x10200000, to read",
        "vm receiver: has shared down at 0x40000000, to read",
        "vm receiver: has shared up at 0x1ffff800000, to read and write"]


def test_messages_between_harts(tmp_path):
    """At once, on threads of the host. Counts have no meaning there."""
    result = run(tmp_path, ring(1024, 200000, 1), [DOWN, UP], profile="smp", options=["--harts", 2])
    assert result.status == harness.OK, str(result)
    lines, _ = lines_of(result)
    for line, done in zip(lines, ("sent", "received")):
        assert line.startswith(f"shared: {done} 200000 messages, 0 wrong, ")


def found_line(name, at, size, access, life):
    """What kind=shared role=probe prints of a memory."""
    return f"shared: {name} at {at:x} has {size:x} bytes, to {access}: life {life}, wrong 0"


@harness.both_backends
def test_what_a_vm_may_do(tmp_path, backend):
    """A writer in three lives, then a reader: what is not permitted is an access fault, SBI calls
    refuse the addresses, and what is there is kept until the machine is switched off."""
    size = 2 * MIB + 0x3000
    log = shared("log", size, {"alpha": (0x84000000, "read-write"), "beta": (0x7fc00000, "read")})
    result = run(tmp_path, [vm("alpha", "kind=shared role=probe lives=3"),
                            vm("beta", "kind=shared role=probe after=30000000")], [log],
                 backend=backend)
    assert result.status == harness.OK, str(result)
    assert result.vm("alpha") == [found_line("log", 0x84000000, size, "write", n) for n in range(3)]
    assert result.vm("beta") == [found_line("log", 0x7fc00000, size, "read", 3)]


def test_the_writer_ends_first(tmp_path):
    """A VM that is stopped for a store to what it may only read is stopped alone, and one that is
    off, with its memory cleared, leaves what it has written."""
    log = shared("log", 0x3000, {"alpha": (0x90000000, "read-write"),
                                 "beta": (0x90000000, "read"), "gamma": (0xa0000000, "read")})
    stops = 'bad-access = "stop"; restart-limit = <0>;'
    result = run(tmp_path, [vm("alpha", "kind=shared role=probe"),
                            vm("beta", "kind=shared role=probe after=10000000", 0, stops),
                            vm("gamma", "kind=shared role=probe after=20000000")], [log])
    assert result.status == harness.VM_FAILED, str(result)
    assert result.vm("alpha") == [found_line("log", 0x90000000, 0x3000, "write", 0)]
    assert result.vm("beta") == []
    assert told(result, "beta") == ["failed: store outside its memory, to 90002ff8"]
    assert result.vm("gamma") == [found_line("log", 0xa0000000, 0x3000, "read", 1)]


def test_vm_check_says_what_there_is(tmp_path):
    """For a person, and for a program."""
    plain.make("build/guests/bare.bin")
    file = tmp_path / "vms.dts"
    file.write_text(TREE.format(vms="".join(ring(64)), shared=DOWN + UP), encoding="utf-8")
    lines = check(file).stdout.splitlines()
    assert [line for line in lines if "shared" in line and "bootargs" not in line] == [
        "  shared    down at 0x100000000: 1.00391 MiB, to read and write",
        "  shared    up at 0x10200000: 4.00391 MiB, to read",
        "  shared    down at 0x40000000: 1.00391 MiB, to read",
        "  shared    up at 0x1ffff800000: 4.00391 MiB, to read and write"]
    assert lines[-1].startswith("2 VMs, 16 MiB of the ")
    sender, receiver = json.loads(check(file, "--json").stdout)["vms"]
    down, up = {"name": "down", "size": 0x101000}, {"name": "up", "size": 0x401000}
    down["host"], up["host"] = 0x82800000, 0x82a00000
    assert sender["shared"] == [{**down, "at": 0x100000000, "writes": True},
                                {**up, "at": 0x10200000, "writes": False}]
    assert receiver["shared"] == [{**down, "at": 0x40000000, "writes": False},
                                  {**up, "at": 0x1ffff800000, "writes": True}]


def test_refused_at_boot(tmp_path):
    """In the words of vm-check, whose unit test has all of them."""
    result = run(tmp_path, [vm("alpha", "kind=shared role=probe")],
                 [shared("log", 4096, {"alpha": (0x90000000, "read")})])
    words = "/shared/log: no VM may write it: one needs access = \"read-write\""
    assert f"refused: {words}" in result.own, str(result)
    checked = check(tmp_path / "vms.dts")
    assert (checked.returncode, checked.stderr.splitlines()[0]) == (1, words)


def test_dma(tmp_path):
    """A function of a VM reaches what the VM shares, as the VM does: it reads what the VM may read,
    and writes nothing else than what the VM may write."""
    at, own = 0x90000000, 0xa0000000
    log = shared("log", 0x3000, {"alpha": (at, "read"), "beta": (at, "read-write"),
                                 "gamma": (at, "read")})
    heap = shared("heap", 0x1000, {"alpha": (own, "read-write")})
    one_life = ('restart-limit = <0>; '
                'devices { edu { pci = "00:05.0"; dma = "isolated"; }; };')
    result = run(tmp_path, [vm("alpha", "kind=edu " + targets([at + 64, own, own + 0x1000]), 0,
                               one_life), vm("beta", "kind=shared role=probe"),
                            vm("gamma", "kind=shared role=probe after=100000000")], [log, heap],
                 ["--aia", "none", "--qemu", machine(tmp_path)])
    # It has read all eight bytes of what beta has filled in: none of them is like its own.
    assert result.status == harness.VM_FAILED, str(result)
    assert result.vm("alpha")[-2:] == ["edu: 3 targets, 8 bytes read", "edu: ends, 8 bytes wrong"]
    assert f"edu: has read 8 bytes from {at + 64:#x}" in result.vm("alpha")
    found = {fault[:3] for fault in faults(result)}
    assert found >= {("write to", at + 64, 23), ("write to", own + 0x1000, 23),
                     ("read from", own + 0x1000, 21)}
    assert all(at + 64 <= where < at + 72 and what == "write to" or
               0 <= where - own - 0x1000 < 8 for what, where, _ in found)
    # And has changed none.
    assert result.vm("gamma") == [found_line("log", at, 0x3000, "read", 1)]
