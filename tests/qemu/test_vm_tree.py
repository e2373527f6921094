# SPDX-License-Identifier: Apache-2.0
"""tools/vm-check, and that the microvisor refuses what it refuses, in the same words."""

import bz2
import gzip
import json
import lzma
import os
import re
import subprocess
from pathlib import Path

import pytest

import harness

ROOT = Path(__file__).resolve().parents[2]
VM_CHECK = ROOT / "tools/vm-check"

TREE = """/dts-v1/;
/ {
	compatible = "tally,vm-tree-1";
	images { bare: bare { data = /incbin/("hundred-zeros.bin"); }; };
	vms {
		one {
			memory = /bits/ 64 <0x200000>;
			kernel = <&bare>;
			vcpu0 { harts = <0>; };
		};
	};
};
"""

# (what to replace, by what, the refusal). One for each kind that dtc lets through.
REFUSALS = [
    ('"tally,vm-tree-1"', '"tally,vm-tree-0"', '/: compatible: is not "tally,vm-tree-1"'),
    ("vms {", "chosen {}; vms {", "/chosen: no node of this name belongs here"),
    ("harts", "hart", "/vms/one/vcpu0: hart: is not a property of this node; did you mean harts?"),
    ("vms {", "schedules { hart0 { major-frame = <1000>; }; }; vms {",
     "/schedules/hart0: major-frame: is not a property of this node; did you mean major-frame-us?"),
    ("memory = /bits/ 64 <0x200000>;", "", "/vms/one: memory: is missing"),
    ("/bits/ 64 <0x200000>", "<0x200000>",
     "/vms/one: memory: is 4 bytes long, not 8: one 64-bit number, two cells"),
    ("/bits/ 64 <0x200000>", "/bits/ 64 <0x100000>",
     "/vms/one: memory: 1048576 bytes is not a positive multiple of 2 MiB"),
    ("/bits/ 64 <0x200000>", "/bits/ 64 <0x40000000>",
     "/vms/one: memory: the VMs up to this one need 1024 MiB, this machine has 990 MiB"),
    ("memory =", "memory-at = /bits/ 64 <0x90000000>; memory =",
     "/vms/one: memory-at: is 8 bytes long, not pairs of address and size, 16 bytes each"),
    ("memory =", "memory-at; memory =", "/vms/one: memory-at: names no memory"),
    ("memory =", f"memory-at = /bits/ 64 <{'0x90000000 0x200000 ' * 5}>; memory =",
     "/vms/one: memory-at: names 5 pieces, more than 4"),
    ("memory =", "memory-at = /bits/ 64 <0x90100000 0x200000>; memory =",
     "/vms/one: memory-at: 0x90100000 is not a multiple of 2 MiB"),
    ("memory =", "memory-at = /bits/ 64 <0x90000000 0x100000>; memory =",
     "/vms/one: memory-at: 1048576 bytes at 0x90000000 are not a positive multiple of 2 MiB"),
    ("memory =", "memory-at = /bits/ 64 <0x90000000 0x400000>; memory =",
     "/vms/one: memory: 2097152 bytes are not the 4194304 of memory-at"),
    ("memory =", "memory-at = /bits/ 64 <0x7fe00000 0x200000>; memory =",
     "/vms/one: memory-at: the memory at 0x7fe00000 is no RAM that Tally uses, which "
     "begins at 0x80000000"),
    ("memory =", "memory-at = /bits/ 64 <0xbfe00000 0x400000>; memory =",
     "/vms/one: memory-at: the memory at 0xbfe00000 goes on behind the end of RAM, 0xc0000000"),
    ("memory =", "memory-at = /bits/ 64 <0xc0000000 0x200000>; memory =",
     "/vms/one: memory-at: the memory at 0xc0000000 begins behind the end of RAM, 0xc0000000"),
    ("memory =", "memory-at = /bits/ 64 <0x81e00000 0x200000>; memory =",
     "/vms/one: memory-at: the memory at 0x81e00000 begins in what Tally keeps of RAM, up to "
     "0x82000000"),
    ("memory =", "memory-at = /bits/ 64 <0xbfe00000 0x200000>; memory =",
     "/vms/one: memory-at: the memory at 0xbfe00000 reaches the VM tree, which begins at "
     "0xbfe00000"),
    ("memory =", "memory-at = /bits/ 64 <0x90000000 0x400000 0x90200000 0x200000>; memory =",
     "/vms/one: memory-at: the pieces at 0x90000000 and 0x90200000 overlap"),
    ("one {", "nil { memory-at = /bits/ 64 <0x90000000 0x400000>; kernel = <&bare>; "
     "vcpu0 { harts = <0>; }; }; one { memory-at = /bits/ 64 <0x90200000 0x200000>;",
     "/vms/one: memory-at: the memory at 0x90200000 overlaps that of nil"),
    ("one {", "nil { memory-at = /bits/ 64 <0x82000000 0x1e000000 "
     "0xa0200000 0x1e00000 0xa2200000 0x1da00000>; "
     "kernel = <&bare>; vcpu0 { harts = <0>; }; }; two { memory = /bits/ 64 <0x400000>; "
     "kernel = <&bare>; vcpu0 { harts = <0>; }; }; one {",
     "/vms/two: memory: no 4 MiB in one piece are left beside memory-at of the VMs and "
     "/reserved-memory; at most 2"),
    ("harts = <0>", "harts = <1>", "/vms/one/vcpu0: harts: this machine has no hart 1"),
    ("harts = <0>", "harts = <0 0>", "/vms/one/vcpu0: harts: names 0 twice"),
    ("vcpu0 { harts = <0>; };", "", "/vms/one: has no vcpu"),
    ("vcpu0", "vcpu1", "/vms/one/vcpu1: vcpus are vcpu0, vcpu1 and so on: vcpu0 belongs here"),
    ("one {", "One {",
     "/vms/One: the name of a VM is 1 to 15 characters of a-z, 0-9 and -"),
    ("<&bare>", "<99>", "/vms/one: kernel: does not refer to a child of /images"),
    ('data = /incbin/("hundred-zeros.bin");', "data;", "/images/bare: data: is empty"),
    ('/incbin/("hundred-zeros.bin")', "[1f 8b 08 00]",
     "/vms/one: kernel: is packed by gzip: unpack it first, with gzip -d"),
    ('/incbin/("hundred-zeros.bin")', "[28 b5 2f fd 04]",
     "/vms/one: kernel: is packed by zstd: unpack it first, with zstd -d"),
    ('/incbin/("hundred-zeros.bin")', "[7f 45 4c 46 02]",
     "/vms/one: kernel: is an ELF file: a VM runs an Image, or raw code (objcopy -O binary)"),
    ('/incbin/("hundred-zeros.bin")', "[4d 5a 00 00 7a 69 6d 67]",
     "/vms/one: kernel: is a packed EFI program: a VM runs an Image, or raw code (objcopy -O "
     "binary)"),
    ("kernel = <&bare>;", 'kernel = <&bare>; bootargs = "a", "b";',
     "/vms/one: bootargs: is not one string"),
    ("kernel = <&bare>;", 'kernel = <&bare>; console = "of";',
     '/vms/one: console: is not "on" or "off"'),
    ("kernel = <&bare>;", "kernel = <&bare>; pmu-counters = <0 19>;",
     "/vms/one: pmu-counters: this machine has no counter 19"),
    ("kernel = <&bare>;", "kernel = <&bare>; pmu-events = <1 0x100001>;",
     "/vms/one: pmu-events: SBI 3.0 has no event_idx 1048577"),
    ("kernel = <&bare>;", 'kernel = <&bare>; pmu-freeze = "none";',
     '/vms/one: pmu-freeze: is not "guest" or "vcpu"'),
    ("vcpu0 { harts = <0>; };", 'pmu-idle-cycles = "on"; vcpu0 { harts = <0>; }; '
     "vcpu1 { harts = <0>; };",
     '/vms/one: pmu-idle-cycles: "on" is for vcpus alone on their harts, and two may run on '
     "hart 0"),
    ("kernel = <&bare>;", 'kernel = <&bare>; restart = "sometimes";',
     '/vms/one: restart: is not "never", "on-failure" or "always"'),
    ("kernel = <&bare>;", "kernel = <&bare>; restart-limit = <1001>;",
     "/vms/one: restart-limit: 1001 is more than 1000"),
    ("kernel = <&bare>;", 'kernel = <&bare>; look = "never";',
     '/vms/one: look: is not "on" or "off"'),
    ("vcpu0 { harts = <0>; };",
     'look = "off"; vcpu0 { harts = <0>; }; vcpu1 { harts = <0>; };',
     '/vms/one: look: "off" is for vcpus alone on their harts, and two may run on hart 0'),
    ("kernel = <&bare>;", "kernel = <&bare>; budget = <2 999 100>;",
     "/vms/one: budget: of 999 events is less than 1000 events"),
    ("kernel = <&bare>;", "kernel = <&bare>; budget = <0x20000 1000 100>;",
     "/vms/one: budget: event_idx 131072 is no general or cache event of SBI 3.0"),
    ("kernel = <&bare>;", "kernel = <&bare>; budget = <2 1000 99>;",
     "/vms/one: budget: for 99 us is for less than 100 us"),
    ("kernel = <&bare>;", 'kernel = <&bare>; look = "off"; budget = <2 1000 100>;',
     '/vms/one: budget: has an exit at the end of each period, and look is "off"'),
    ("vms {", "vms { turn-us = <99>;", "/vms: turn-us: 99 is less than 100 us"),
    ("vms {", "schedules { hart0 { major-frame-us = <9>; }; }; vms {",
     "/schedules/hart0: major-frame-us: 9 is less than 200 us"),
    ("vms {", "schedules { hart1 { major-frame-us = <900>; }; }; vms {",
     "/schedules/hart1: this machine has no hart 1"),
    ("vms {", "schedules { hart0 { major-frame-us = <900>; }; }; vms {",
     "/schedules/hart0: has no window"),
    ("vms {", "schedules { hart0 { major-frame-us = <900>; w { vm = \"one\"; start-us = <0>; "
     "length-us = <901>; }; }; }; vms {",
     "/schedules/hart0/w: length-us: the window ends at 901 us, behind the frame of 900 us"),
    ("vms {", "schedules { hart0 { major-frame-us = <900>; a { vm = \"one\"; start-us = <0>; "
     "length-us = <500>; }; b { vm = \"one\"; start-us = <499>; length-us = <100>; }; }; }; vms {",
     "/schedules/hart0/b: start-us: 499 us is before the end of the window before it, 500 us"),
    ("vms {", "schedules { hart0 { major-frame-us = <900>; w { vm = \"one\"; start-us = <0>; "
     "length-us = <800>; guard-us = <101>; }; }; }; vms {",
     "/schedules/hart0/w: guard-us: 101 us are more than the 100 us since the last window of the "
     "frame before"),
    ("vms {", "schedules { hart0 { major-frame-us = <900>; w { vm = \"two\"; start-us = <0>; "
     "length-us = <800>; }; }; }; vms {",
     '/schedules/hart0/w: vm: no VM has the name "two"'),
    ("kernel = <&bare>;", "kernel = <&bare>; share = <0>;",
     "/vms/one: share: is 0: it would never run"),
    ("kernel = <&bare>;", "kernel = <&bare>; share = <501>;",
     "/vms/one: share: makes turns of 1002000 us, longer than 1000000 us"),
    ("kernel = <&bare>;", 'kernel = <&bare>; bad-access = "ignore";',
     '/vms/one: bad-access: is not "fault" or "stop"'),
    ("kernel = <&bare>;", 'kernel = <&bare>; controls = "two";',
     '/vms/one: controls: no VM has the name "two"'),
    ("kernel = <&bare>;", 'kernel = <&bare>; controls = "one";',
     "/vms/one: controls: names the VM itself"),
    ("kernel = <&bare>;", 'kernel = <&bare>; crash-exits = "64";',
     '/vms/one: crash-exits: is not "on" or "off"'),
    ("kernel = <&bare>;", 'kernel = <&bare>; boot = "later";',
     '/vms/one: boot: is not "now" or "defer"'),
    ("kernel = <&bare>;", 'kernel = <&bare>; boot = "defer";',
     '/vms: boot: is "defer" in every VM: none starts'),
    ("kernel = <&bare>;", "kernel = <&bare>; heartbeat-ms = <0>;",
     "/vms/one: heartbeat-ms: is 0: no guest rings so often"),
    ("kernel = <&bare>;", "kernel = <&bare>; heartbeat-ms = <3600001>;",
     "/vms/one: heartbeat-ms: 3600001 is more than 3600000 ms"),
    ("kernel = <&bare>;", "kernel = <&bare>; controls;",
     "/vms/one: controls: is not a list of strings"),
    ("kernel = <&bare>;", "kernel = <&bare>; load-offset = /bits/ 64 <1>;",
     "/vms/one: load-offset: 1 is not a multiple of 4096"),
    ("kernel = <&bare>;", "kernel = <&bare>; load-offset = /bits/ 64 <0x1f0000>;",
     "/vms/one: kernel: 100 bytes at offset 2031616 do not fit into the VM's memory"),
    ("kernel = <&bare>;",
     "kernel = <&bare>; initrd = <&bare>; load-offset = /bits/ 64 <0x1ef000>;",
     "/vms/one: initrd: 100 bytes do not fit behind the kernel, which ends at offset 2027620"),
]


@pytest.fixture(scope="module", autouse=True)
def built():
    """The program that vm-check runs."""
    subprocess.run(["make", "-s", "-C", ROOT, "vm-check"], check=True)


@pytest.fixture
def tree(tmp_path):
    """write(TEXT) -> path of a tree, beside an image of 100 bytes."""
    (tmp_path / "hundred-zeros.bin").write_bytes(bytes(100))

    def write(text):
        path = tmp_path / "vms.dts"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def check(*arguments, **environment):
    """Runs tools/vm-check from another folder than the repository's."""
    return subprocess.run([VM_CHECK, *map(str, arguments)], capture_output=True, text=True,
                          check=False, cwd="/", env={**os.environ, **environment})


def spoilt(old, new):
    """The good tree with a mistake."""
    assert TREE.count(old) == 1
    return TREE.replace(old, new)


def test_summary(tree):
    done = check(tree(TREE))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "one",
        "  memory    2 MiB",
        "  vcpu0     hart 0",
        "  kernel    raw at 0x80000000: 100 bytes, 100 bytes once running",
        "  dtb       at 0x801f0000",
        "  console   on",
        "  restart   never; limit 5; bad access: fault",
        "  pmu       counters 0,2-18; reads direct",
        "1 VM, 2 MiB of the 990 MiB there are for VMs",
    ]


def test_summary_of_pmu_policy(tree):
    policy = ('pmu-snapshot = "on"; pmu-freeze = "vcpu"; pmu-idle-cycles = "on"; '
              "pmu-overflow-limit = <9>; pmu-events = <2 0x10019 0xf0100>; kernel =")
    text = spoilt("kernel =", policy)
    assert check(tree(text)).stdout.splitlines()[7:9] == [
        "  pmu       counters 0,2-18; reads direct; snapshot; freeze vcpu; idle cycles; "
        "no overflow interrupts; at most 9 overflow interrupts in 10 ms",
        "  events    0x2 0x10019 0xf0100",
    ]
    pmu = json.loads(check(tree(text), "--json").stdout)["vms"][0]["pmu"]
    assert pmu["events"] == [2, 0x10019, 0xf0100]
    assert (pmu["snapshot"], pmu["freeze"], pmu["idle_cycles"], pmu["overflow"]) == (
        True, "vcpu", True, False)
    text = spoilt("kernel =", "pmu-events; kernel =")
    assert check(tree(text)).stdout.splitlines()[8] == "  events    none"
    assert json.loads(check(tree(text), "--json").stdout)["vms"][0]["pmu"]["events"] == []


def test_summary_of_turns(tree):
    text = spoilt("kernel =", 'look = "off"; share = <3>; kernel =')
    assert check(tree(text)).stdout.splitlines()[6:8] == ["  turns     6000 us; share 3",
                                                          "  look      off"]
    text = spoilt("kernel =", 'budget = <2 5000 100>; kernel =')
    assert check(tree(text)).stdout.splitlines()[6] == (
        "  budget    5000 of event 0x2 a vcpu in 100 us")
    assert json.loads(check(tree(text), "--json").stdout)["vms"][0]["budget"] == {
        "event": 2, "count": 5000, "period_us": 100}


def test_summary_of_schedules(tree):
    """Who has how much of each frame, and which guards suffice."""
    text = spoilt("vms {", '''schedules { hart0 { major-frame-us = <2000>; slack = "one";
        a { vm = "one"; start-us = <200>; length-us = <500>; guard-us = <10>; };
        b { vm = "one"; vcpu = <0>; start-us = <900>; length-us = <1000>; guard-us = <32>; };
        }; }; vms {''')
    assert check(tree(text)).stdout.splitlines()[8:-1] == [
        "hart 0",
        "  frame        2000 us",
        "  window        200 to     700 us  25.0 %  one vcpu0; guard 10 us; may begin 21 us late: "
        "least guard 31 us",
        "  window        900 to    1900 us  50.0 %  one vcpu0; guard 32 us",
        "  use          1500 us  75.0 %  windows of one",
        "  use            42 us   2.1 %  guards",
        "  use           458 us  22.9 %  slack to one",
    ]
    assert json.loads(check(tree(text), "--json").stdout)["schedules"] == [{
        "hart": 0, "frame_us": 2000, "longest_stay": 20000, "least_guard_us": 31,
        "guards_us": 42, "slack_us": 458,
        "slack": ["one"], "windows": [
            {"vm": "one", "vcpus": [0], "start_us": 200, "length_us": 500, "guard_us": 10},
            {"vm": "one", "vcpus": [0], "start_us": 900, "length_us": 1000, "guard_us": 32}]}]
    text = text.replace('slack = "one";', "")
    assert "  use           458 us  22.9 %  slack, nobody's" in check(tree(text)).stdout


def test_json(tree):
    text = TREE.replace("kernel =", 'bootargs = "say \\"hi\\"\\\\"; initrd = <&bare>; pmu-reads = '
                        '"trap"; console = "off"; pmu-counters = <3 0>; restart = "on-failure"; '
                        'restart-limit = <7>; heartbeat-ms = <250>; crash-exits = "on"; '
                        'bad-access = "stop"; look = "off"; share = <5>; kernel =').replace(
                            "vms {", "vms { turn-us = <700>;")
    done = check(tree(text), "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout) == {
        "vms": [{
            "name": "one", "memory": 2097152, "ram_base": 0x80000000,
            "host_memory": [[0x82000000, 0x200000]], "shared": [],
            "vcpus": [{"harts": [0], "first": 0}],
            "kernel": {"image": False, "offset": 0, "size": 100, "span": 100},
            "initrd": {"offset": 0x1ef000, "size": 100}, "dtb_offset": 0x1f0000,
            "bootargs": 'say "hi"\\', "console": False, "interrupts": "plic",
            "restart": "on-failure", "restart_limit": 7, "boot": "now",
            "heartbeat_ms": 250,
            "crash_exits": True, "bad_access": "stop",
            "look": False, "share": 5, "turn_us": 3500, "budget": None,
            "controls": [],
            "pmu": {"counters": [0, 3], "reads": "trap", "snapshot": False,
                    "freeze": "guest", "idle_cycles": False, "overflow": True, "overflow_limit": 0,
                    "at_boot": None,
                    "events": None, "raw_events": []},
            "devices": [],
        }],
        "schedules": [],
        "guest_memory": 990 << 20,
    }


def test_memory_at(tree):
    """Where it is; and the one without has what is left, which is told in JSON alone."""
    text = TREE.replace("vms {", "vms {" + TREE[TREE.index("one {"):TREE.index("\t};\n};")].replace(
        "one", "two").replace("memory = /bits/ 64 <0x200000>",
                              "memory-at = /bits/ 64 <0xb0000000 0x400000 0x82000000 0x200000>"))
    assert check(tree(text)).stdout.splitlines()[:6] == [
        "two", "  memory    6 MiB", "  memory-at 0x82000000: 2 MiB",
        "  memory-at 0xb0000000: 4 MiB", "  vcpu0     hart 0",
        "  kernel    raw at 0x82000000: 100 bytes, 100 bytes once running"]
    two, one = json.loads(check(tree(text), "--json").stdout)["vms"]
    assert (two["ram_base"], two["host_memory"], two["dtb_offset"]) == (
        0x82000000, [[0x82000000, 0x200000], [0xb0000000, 0x400000]], 0x1f0000)
    assert (one["ram_base"], one["host_memory"]) == (0x80000000, [[0x82200000, 0x200000]])


@pytest.mark.parametrize("old,new,words", REFUSALS, ids=[case[2][:40] for case in REFUSALS])
def test_refusal(tree, old, new, words):
    done = check(tree(spoilt(old, new)))
    told = [line for line in done.stderr.splitlines() if not line.startswith("vm-check: ")]
    assert (done.returncode, done.stdout, told) == (1, "", [words])


@pytest.mark.parametrize("pack,program", (
    (gzip.compress, "gzip"), (lzma.compress, "xz"), (bz2.compress, "bzip2"),
    (lambda data: lzma.compress(data, lzma.FORMAT_ALONE), "lzma")),
    ids=("gzip", "xz", "bzip2", "lzma"))
def test_a_packed_kernel(tree, tmp_path, pack, program):
    """As a packer writes it."""
    file = tree(TREE)
    (tmp_path / "hundred-zeros.bin").write_bytes(pack(bytes(range(256)) * 100))
    done = check(file)
    assert (done.returncode, done.stdout, done.stderr.splitlines()[0]) == (
        1, "", f"/vms/one: kernel: is packed by {program}: unpack it first, with {program} -d")


def test_an_elf_file(tree):
    """Of a guest whose other file is accepted."""
    subprocess.run(["make", "-s", "-C", ROOT, "build/guests/bare.bin"], check=True)
    large = TREE.replace("<0x200000>", "<0x1000000>")
    done = check(tree(large.replace("hundred-zeros.bin", "bare.elf")))
    assert (done.returncode, done.stdout, done.stderr.splitlines()[0]) == (
        1, "", "/vms/one: kernel: is an ELF file: a VM runs an Image, or raw code (objcopy -O "
        "binary)")
    done = check(tree(large.replace("hundred-zeros.bin", "bare.bin")))
    assert "kernel    Image" in done.stdout, done.stderr


def test_refusal_as_json(tree):
    done = check(tree(spoilt("harts = <0>", "harts = <1>")), "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout) == {"refusal": {
        "node": "/vms/one/vcpu0", "property": "harts", "reason": "this machine has no hart 1"},
        "refusals": ["/vms/one/vcpu0: harts: this machine has no hart 1"]}


def mistakes(number):
    """A tree with so many, and the words of their refusals."""
    names = [f"unknown-{n}" for n in range(1, number)]
    text = TREE.replace("harts = <0>", "harts = <7>").replace(
        "memory =", " ".join(f"{name};" for name in names) + " memory =")
    words = [f"/vms/one: {name}: is not a property of this node" for name in names]
    words.append("/vms/one/vcpu0: harts: this machine has no hart 7")
    return text, words if number <= 20 else words[:20] + [f"and {number - 20} more"]


NAMES = """data phandle|turn-us|harts|host pci dma dma-unchecked interrupt-numbers force|
size|at access bell bell-identity|major-frame-us slack|vm vcpu start-us length-us guard-us|
core selector event-fields operator-fields operators events sbi-events sbi-stimuli|
memory memory-at kernel load-offset initrd bootargs console interrupts budget restart restart-limit
bad-access controls heartbeat-ms crash-exits boot share look pmu pmu-reads pmu-counters pmu-events
pmu-raw-events pmu-snapshot pmu-overflow pmu-freeze pmu-idle-cycles pmu-overflow-limit"""
NODES = ["images { bare: bare {", "vms {", "vcpu0 {", "vms { one { devices { it {",
         "shared { it {", "shared { it { size = /bits/ 64 <0x1000>; one {", "schedules { hart0 {",
         "schedules { hart0 { major-frame-us = <1000>; it {",
         "pmu {", "vms { one {"]


def slips(name, known):
    """Ways to write a property wrong which are no other one, nor nearer to another."""
    long = {name[:-3], name.replace("-", "", 1)} if len(name) > 6 else set()
    for wrong in sorted({name[1:], name[:-1], name + "x", name[1] + name[0] + name[2:]} | long):
        if wrong not in known and (wrong == name or not any(
                wrong in other or other in wrong for other in known if other != name)):
            yield wrong


@pytest.mark.parametrize("place,names", zip(NODES, NAMES.split("|")), ids=NODES)
def test_did_you_mean(tree, place, names):
    """Each property of each node is found behind its slips."""
    known, asked = names.split(), 0
    for name in known:
        for wrong in slips(name, known):
            text = TREE.replace("vcpu0 {", f"vcpu0 {{ {wrong};")
            if place != "vcpu0 {":
                text = TREE + f"/ {{ {place} {wrong}; {'};' * place.count('{')} }};"
            lines = check(tree(text)).stderr
            assert (f": {wrong}: is not a property of this node; did you mean {name}?"
                    in lines), lines
            asked += 1
    assert asked >= 2 * len(known)


@pytest.mark.parametrize("number", (2, 20, 25))
def test_all_refusals(tree, tmp_path, number):
    """In one run, by vm-check with the line of each, and by boot in the same words."""
    text, words = mistakes(number)
    file = tree(text)
    done = check(file)
    places = [f"vm-check: that is in vms.dts:{'7' if 'unknown' in line else '9'}"
              for line in words[:20]]
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        line for pair in zip(words, places) for line in pair] + words[20:]
    done = check(file, "--json")
    assert json.loads(done.stdout)["refusals"] == words
    run = harness.run(file, timeout=harness.GUARD)
    assert run.status == harness.REFUSED, str(run)
    assert run.own[-len(words):] == ["refused: " + line for line in words]
    assert not run.own[-len(words) - 1].startswith("refused: ")


def test_machine_of_another_size(tree):
    two_harts = tree(spoilt("harts = <0>", "harts = <1>"))
    assert check(two_harts, "--harts", 2).returncode == 0
    counter = tree(spoilt("kernel =", "pmu-counters = <31>; kernel ="))
    assert check(counter, "--counters", "0x80000000").returncode == 0
    assert check(counter, "--counters", "0").returncode == 0
    assert check(counter).returncode == 1
    small = tree(TREE)
    assert check(small, "--memory", "36M").returncode == 0
    assert check(small, "--memory", "35M").returncode == 1
    assert check(small, "--memory", 36 << 10 << 10).returncode == 0
    done = check(small, "--board-ram", "0x100000000", "--json")
    assert json.loads(done.stdout)["vms"][0]["host_memory"] == [[0x102000000, 0x200000]]


def test_cannot_be_checked(tree, tmp_path):
    done = check(tmp_path / "none.dts")
    assert (done.returncode, done.stderr) == (2, f"vm-check: no such file: {tmp_path}/none.dts\n")
    done = check(tree(TREE + "nonsense"))
    assert done.returncode == 2
    assert "syntax error" in done.stderr
    assert done.stderr.startswith(f"vm-check: dtc cannot compile {tmp_path}/vms.dts:\n")
    done = check(tree(TREE), DTC="/nowhere/dtc")
    assert (done.returncode, done.stderr) == (
        2, "vm-check: dtc is missing; install it with: apt-get install device-tree-compiler\n")
    assert check(tree(TREE), "--harts", "0").returncode == 2
    assert check(tree(TREE), "--memory", "1T").returncode == 2
    assert check(tree(TREE), "--memory", "-1").returncode == 2
    assert check(tree(TREE), "--memory", "17179869184G").returncode == 2
    assert check(tree(TREE), "--board-ram", "0x80100000").returncode == 2
    assert check(tree(TREE), "--nonsense").returncode == 2
    assert check().returncode == 2


def test_blob_that_is_cut(tree, tmp_path):
    blob = tmp_path / "vms.dtb"
    assert check(tree(TREE), "-o", blob).returncode == 0
    assert check(blob).returncode == 0
    blob.write_bytes(blob.read_bytes()[:-1])
    done = check(blob)
    assert (done.returncode, done.stderr) == (1, "/: is cut short\n")
    blob.write_bytes(b"")
    assert check(blob).stderr == "/: is cut short\n"


def test_a_blob_is_kept_if_it_is_accepted(tree, tmp_path):
    """Whether dtc makes it or the user gives it. What was there before stays there."""
    blob, copy = tmp_path / "vms.dtb", tmp_path / "copy.dtb"
    bad = tree(spoilt("harts = <0>", "harts = <1>"))
    assert check(bad, "-o", blob).returncode == 1
    assert not blob.exists()
    assert check(bad, "--harts", "2", "-o", blob).returncode == 0
    kept = blob.read_bytes()
    assert check(blob, "-o", copy).returncode == 1 and not copy.exists()
    assert check(blob, "--harts", "2", "-o", copy).returncode == 0
    assert copy.read_bytes() == kept
    assert check(bad, "-o", blob).returncode == 1
    assert blob.read_bytes() == kept
    done = check(tree(TREE), "-o", tmp_path)
    assert (done.returncode, done.stderr) == (
        2, f"vm-check: {tmp_path} cannot be written: Is a directory\n")


def test_images_elsewhere(tree, tmp_path):
    path = tree(TREE)
    other = tmp_path / "images"
    other.mkdir()
    (tmp_path / "hundred-zeros.bin").rename(other / "hundred-zeros.bin")
    assert check(path).returncode == 2
    assert check(path, "-i", other).returncode == 0
    assert check(path, "--include", other).returncode == 0


def test_example_in_the_documentation(tmp_path):
    text = (ROOT / "dts/README.md").read_text(encoding="utf-8")
    example = re.search(r"```dts\n(.*?)```", text, re.S).group(1)
    for name in re.findall(r'/incbin/\("([^"]+)"\)', example):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(bytes(5000))
    (tmp_path / "vms.dts").write_text(example, encoding="utf-8")
    done = check(tmp_path / "vms.dts", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert [vm["name"] for vm in json.loads(done.stdout)["vms"]] == ["linux", "bare"]


def test_every_property_is_documented():
    def names(file, after):
        return (ROOT / "core/config" / file).read_text(encoding="utf-8").split(after)[1]

    source = (names("vm_config.c", "vm_props[VM_PROPS]").split(";")[0] +
              names("vm_pmu_config.h", "#define VM_PMU_PROP_NAMES") +
              names("vm_memory_config.h", "#define VM_MEMORY_PROP_NAMES").split("\n")[0] +
              names("vm_life_config.h", "#define VM_LIFE_PROP_NAMES").split("\n\n")[0] +
              names("vm_turns.h", "#define VM_TURN_PROP_NAMES").split("\n")[0])
    text = (ROOT / "dts/README.md").read_text(encoding="utf-8")
    properties = re.findall(r'"([a-z-]+)"', source)
    assert len(properties) == 28
    properties += re.findall(r'"([a-z-]+)"', names("pmu_node.c", "names[PROPS]").split(";")[0])
    assert len(properties) == 36
    devices = re.findall(r'"([a-z-]+)"', names("vm_devices.c", "props[DEVICE_PROPS]").split(";")[0])
    assert len(devices) == 6
    shared = sum((re.findall(r'"([a-z-]+)"', names("vm_shared.c", f"{which}_props[").split(";")[0])
                  for which in ("shared", "user")), [])
    shared += re.findall(r'"([a-z-]+)"',
                         names("vm_bell.h", "#define VM_BELL_PROP_NAMES").split("\n")[0])
    assert shared == ["size", "at", "access", "bell", "bell-identity"]
    schedules = sum((re.findall(r'"([a-z-]+)"', names("vm_schedule.c", f"{which}_props[").split(
        ";")[0]) for which in ("hart", "window")), [])
    assert schedules == ["major-frame-us", "slack", "vm", "vcpu", "start-us", "length-us",
                         "guard-us"]
    documented = properties + devices + shared + schedules
    for name in documented + ["compatible", "data", "phandle", "harts", "turn-us",
                              "inexact-counts"]:
        assert f"\n| `{name}` |" in text, name


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "dts").glob("*.dts")))
def test_trees_of_the_repository(name):
    done = check(ROOT / "dts" / name, "--harts", 2)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("old,new,words", REFUSALS, ids=[case[2][:40] for case in REFUSALS])
def test_same_words_at_boot(tree, old, new, words):
    run = harness.run(tree(spoilt(old, new)), timeout=harness.GUARD)
    assert run.status == harness.REFUSED, str(run)
    assert [line for line in run.own if line.startswith("refused: ")] == ["refused: " + words]


def test_cut_blob_at_boot(tree, tmp_path):
    blob = tmp_path / "vms.dtb"
    assert check(tree(TREE), "-o", blob).returncode == 0
    blob.write_bytes(blob.read_bytes()[:-1])
    run = harness.run(blob, timeout=harness.GUARD)
    assert run.status == harness.REFUSED, str(run)
    assert run.own[-1] == "refused: /: is cut short"


def test_a_refusal_has_a_line(tmp_path):
    """Of the file that the property is written in, whatever includes what."""
    (tmp_path / "hundred-zeros.bin").write_bytes(bytes(100))
    (tmp_path / "more.dtsi").write_text('/ { vms { one {\n\tpmu-raeds = "trap"; }; }; };\n',
                                        encoding="ascii")
    for text, words in (
            (TREE.replace("harts", "hart"), [
                "/vms/one/vcpu0: hart: is not a property of this node; did you mean harts?",
                "vm-check: that is in vms.dts:9"]),
            (TREE.replace("vcpu0", "vcpu1"), [
                "/vms/one/vcpu1: vcpus are vcpu0, vcpu1 and so on: vcpu0 belongs here",
                "vm-check: that is in vms.dts:9"]),
            (TREE + '/include/ "more.dtsi"\n', [
                "/vms/one: pmu-raeds: is not a property of this node; did you mean pmu-reads?",
                "vm-check: that is in more.dtsi:2"])):
        (tmp_path / "vms.dts").write_text(text, encoding="ascii")
        assert check(tmp_path / "vms.dts").stderr.splitlines() == words
