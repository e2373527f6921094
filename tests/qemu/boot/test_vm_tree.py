# SPDX-License-Identifier: Apache-2.0
"""tools/vm-check, and that the hypervisor refuses what it refuses, in the same words."""

import bz2
import gzip
import json
import lzma
import re

import pytest

from bad_properties import REFUSALS, TREE, spoilt
import harness
from harness import ROOT
import hosts
import plain
from vm_check import check, refusals

pytestmark = pytest.mark.usefixtures("vm_check_built")


def size_of(tree_file):
    """The bytes of the compiled tree."""
    file = tree_file(TREE)
    assert check(file, "-o", file.with_suffix(".dtb")).returncode == 0
    return file.with_suffix(".dtb").stat().st_size


def test_summary(tree_file):
    done = check(tree_file(TREE))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "one",
        "  memory    2 MiB",
        "  vcpu0     hart 0",
        "  kernel    raw at 0x80000000: 100 bytes, 100 bytes once running",
        "  dtb       at 0x801f0000",
        "  console   on",
        "  clock     its own; alarms by source 11",
        "  restart   never; limit 5; bad access: fault",
        "  pmu       counters 0, 2 to 18; reads direct",
        f"the VM tree lies at 0xa0200000 to {0xa0200000 + size_of(tree_file) - 1:#x}; one more VM "
        "could have 508 MiB, more if the tree were at an end of RAM",
        "1 VM, 2 MiB of the 990 MiB there are for VMs",
    ]


def test_summary_of_pmu_policy(tree_file):
    policy = ('pmu-snapshot = "on"; pmu-freeze = "vcpu"; pmu-idle-cycles = "on"; '
              "pmu-overflow-limit = <9>; pmu-events = <2 0x10019 0xf0100>; kernel =")
    text = spoilt("kernel =", policy)
    assert check(tree_file(text)).stdout.splitlines()[8:10] == [
        "  pmu       counters 0, 2 to 18; reads direct; snapshot; freeze vcpu; idle cycles; "
        "no overflow interrupts; at most 9 overflow interrupts in 10 ms",
        "  events    0x2 0x10019 0xf0100",
    ]
    pmu = json.loads(check(tree_file(text), "--json").stdout)["vms"][0]["pmu"]
    assert pmu["events"] == [2, 0x10019, 0xf0100]
    assert (pmu["snapshot"], pmu["freeze"], pmu["idle_cycles"], pmu["overflow"]) == (
        True, "vcpu", True, False)
    text = spoilt("kernel =", "pmu-events; kernel =")
    assert check(tree_file(text)).stdout.splitlines()[9] == "  events    none"
    assert json.loads(check(tree_file(text), "--json").stdout)["vms"][0]["pmu"]["events"] == []


def test_summary_of_a_machine(tree_file):
    text = spoilt("kernel =", 'machine = "virt"; kernel =')
    assert check(tree_file(text)).stdout.splitlines()[7] == "  machine   virt"
    assert json.loads(check(tree_file(text), "--json").stdout)["vms"][0]["machine"] == "virt"


def test_summary_of_turns(tree_file):
    text = spoilt("kernel =", 'look = "off"; share = <3>; kernel =')
    assert check(tree_file(text)).stdout.splitlines()[7:9] == ["  turns     6000 us; share 3",
                                                               "  look      off"]
    text = spoilt("kernel =", 'budget = <2 5000 100>; kernel =')
    assert check(tree_file(text)).stdout.splitlines()[7] == (
        "  budget    5000 of event 0x2 a vcpu in 100 us")
    assert json.loads(check(tree_file(text), "--json").stdout)["vms"][0]["budget"] == {
        "event": 2, "count": 5000, "period_us": 100}


def test_summary_of_schedules(tree_file):
    """Who has how much of each frame, and which guards suffice."""
    text = spoilt("vms {", '''schedules { hart0 { major-frame-us = <2000>; slack = "one";
        a { vm = "one"; start-us = <200>; length-us = <500>; guard-us = <10>; };
        b { vm = "one"; vcpu = <0>; start-us = <900>; length-us = <1000>; guard-us = <32>; };
        }; }; vms {''')
    assert check(tree_file(text)).stdout.splitlines()[9:-2] == [
        "hart 0",
        "  frame        2000 us",
        "  guard          31 us at least; with Ssccfg 8 us",
        "  window        200 to     700 us  25.0 %  one vcpu0; guard 10 us; may begin 21 us late: "
        "least guard 31 us",
        "  window        900 to    1900 us  50.0 %  one vcpu0; guard 32 us",
        "  use          1500 us  75.0 %  windows of one",
        "  use            42 us   2.1 %  guards",
        "  use           458 us  22.9 %  slack to one",
    ]
    assert json.loads(check(tree_file(text), "--json").stdout)["schedules"] == [{
        "hart": 0, "frame_us": 2000, "longest_stay": 16650, "least_guard_us": 31,
        "least_guard_ssccfg_us": 8, "guards_us": 42, "slack_us": 458,
        "slack": ["one"], "windows": [
            {"vm": "one", "vcpus": [0], "start_us": 200, "length_us": 500, "guard_us": 10},
            {"vm": "one", "vcpus": [0], "start_us": 900, "length_us": 1000, "guard_us": 32}]}]
    text = text.replace('slack = "one";', "")
    assert "  use           458 us  22.9 %  slack, nobody's" in check(tree_file(text)).stdout


def test_json(tree_file):
    text = TREE.replace("kernel =", 'bootargs = "say \\"hi\\"\\\\"; initrd = <&bare>; pmu-reads = '
                        '"trap"; console = "off"; pmu-counters = <3 0>; restart = "on-failure"; '
                        'restart-limit = <7>; heartbeat-ms = <250>; crash-exits = "on"; '
                        'bad-access = "stop"; look = "off"; share = <5>; kernel =').replace(
                            "vms {", "vms { turn-us = <700>;")
    done = check(tree_file(text), "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout) == {
        "vms": [{
            "name": "one", "memory": 2097152, "ram_base": 0x80000000,
            "host_memory": [[0x82000000, 0x200000]], "shared": [],
            "ports": [],
            "vcpus": [{"harts": [0], "first": 0}],
            "kernel": {"image": False, "offset": 0, "size": 100, "span": 100},
            "initrd": {"offset": 0x1ef000, "size": 100}, "dtb_offset": 0x1f0000,
            "bootargs": 'say "hi"\\', "clock": {"device": None, "alarm_source": 11},
            "console": False, "interrupts": "plic",
            "machine": "tally", "restart": "on-failure", "restart_limit": 7, "boot": "now",
            "heartbeat_ms": 250,
            "shutdown": "none", "suspend": False,
            "crash_exits": True, "bad_access": "stop",
            "look": False, "share": 5, "turn_us": 3500, "budget": None,
            "controls": [], "operator": None,
            "pmu": {"counters": [0, 3], "reads": "trap", "snapshot": False,
                    "freeze": "guest", "idle_cycles": False, "overflow": True, "overflow_limit": 0,
                    "at_boot": None,
                    "events": None, "raw_events": []},
            "devices": [],
        }],
        "schedules": [],
        "tree_at": 0xa0200000, "largest": 508 << 20, "guest_memory": 990 << 20,
    }


def test_shutdown(tree_file):
    text = TREE.replace("kernel =", 'shutdown = "sysrq"; suspend = "on"; kernel =')
    lines = check(tree_file(text)).stdout.splitlines()
    assert "  shutdown  sysrq: its kernel is asked by its console" in lines
    (one,) = json.loads(check(tree_file(text), "--json").stdout)["vms"]
    assert (one["shutdown"], one["suspend"]) == ("sysrq", True)
    assert "  suspend   on: vms tells when it sleeps" in lines
    text = text.replace("sysrq", "key")
    assert "  shutdown  key: by its power key, interrupt 31" in check(
        tree_file(text)).stdout.splitlines()
    (one,) = json.loads(check(tree_file(text), "--json").stdout)["vms"]
    assert one["shutdown"] == "key"


def clock_of(tree_file, lines, *options):
    """What is told of a VM's clock, in words and in JSON; lines: further ones of its node."""
    text = TREE.replace("vcpu0", lines + " vcpu0")
    (words,) = re.findall("^  clock     (.*)$", check(tree_file(text), *options).stdout, re.M)
    return words, json.loads(check(tree_file(text), "--json", *options).stdout)["vms"][0]["clock"]


def test_clock(tree_file, tmp_path):
    """Its own, with the source of its alarms, or the machine's; what a device may change is told
    with the machine's tree only."""
    host = "--host", hosts.tree(tmp_path / "host.dtb")
    rtc = 'devices { clock { host = "/soc/rtc@101000"; dma = "none"; }; };'
    assert clock_of(tree_file, rtc, *host) == (
        "the machine's, /soc/rtc@101000",
        {"device": "/soc/rtc@101000", "alarm_source": None})
    assert clock_of(tree_file, rtc) == (
        "depends on its devices; the host's tree, by --host, tells", None)
    taken = 'operator = "watch"; operator-interrupt = <11>;'
    assert clock_of(tree_file, taken) == (
        "its own; alarms by source 31", {"device": None, "alarm_source": 31})


def test_memory_at(tree_file):
    """Where it is; and the one without has what is left, which is told in JSON alone."""
    text = TREE.replace("vms {", "vms {" + TREE[TREE.index("one {"):TREE.index("\t};\n};")].replace(
        "one", "two").replace("memory = /bits/ 64 <0x200000>",
                              "memory-at = /bits/ 64 <0xb0000000 0x400000 0x82000000 0x200000>"))
    assert check(tree_file(text)).stdout.splitlines()[:6] == [
        "two", "  memory    6 MiB", "  memory-at 0x82000000: 2 MiB",
        "  memory-at 0xb0000000: 4 MiB", "  vcpu0     hart 0",
        "  kernel    raw at 0x82000000: 100 bytes, 100 bytes once running"]
    two, one = json.loads(check(tree_file(text), "--json").stdout)["vms"]
    assert (two["ram_base"], two["host_memory"], two["dtb_offset"]) == (
        0x82000000, [[0x82000000, 0x200000], [0xb0000000, 0x400000]], 0x1f0000)
    assert (one["ram_base"], one["host_memory"]) == (0x80000000, [[0x82200000, 0x200000]])


@pytest.mark.parametrize("old,new,words", REFUSALS, ids=[case[2][:40] for case in REFUSALS])
def test_refusal(tree_file, old, new, words):
    assert refusals(tree_file(spoilt(old, new))) == (1, "", [words])


@pytest.mark.parametrize("pack,program", (
    (gzip.compress, "gzip"), (lzma.compress, "xz"), (bz2.compress, "bzip2"),
    (lambda data: lzma.compress(data, lzma.FORMAT_ALONE), "lzma")),
    ids=("gzip", "xz", "bzip2", "lzma"))
def test_a_packed_kernel(tree_file, tmp_path, pack, program):
    """As a packer writes it."""
    file = tree_file(TREE)
    (tmp_path / "hundred-zeros.bin").write_bytes(pack(bytes(range(256)) * 100))
    done = check(file)
    assert (done.returncode, done.stdout, done.stderr.splitlines()[0]) == (
        1, "", f"/vms/one: kernel: is packed by {program}: unpack it first, with {program} -d")


def test_an_elf_file(tree_file):
    """Of a guest whose other file is accepted."""
    plain.make("build/guests/bare.bin")
    large = TREE.replace("<0x200000>", "<0x1000000>")
    done = check(tree_file(large.replace("hundred-zeros.bin", "bare.elf")))
    assert (done.returncode, done.stdout, done.stderr.splitlines()[0]) == (
        1, "", "/vms/one: kernel: is an ELF file: a VM runs an Image, or raw code (objcopy -O "
        "binary)")
    done = check(tree_file(large.replace("hundred-zeros.bin", "bare.bin")))
    assert "kernel    Image" in done.stdout, done.stderr


def test_refusal_as_json(tree_file):
    done = check(tree_file(spoilt("harts = <0>", "harts = <1>")), "--json")
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


NAMES = """data phandle|turn-us time-epoch|harts|host pci dma dma-unchecked interrupt-numbers force|
size|at access bell bell-identity|major-frame-us slack|vm vcpu start-us length-us guard-us|
core selector event-fields operator-fields operators events sbi-events sbi-stimuli|
memory memory-at kernel load-offset initrd bootargs console interrupts machine budget restart
restart-limit bad-access controls heartbeat-ms crash-exits boot share look pmu pmu-reads
pmu-counters pmu-events pmu-raw-events pmu-snapshot pmu-overflow pmu-freeze pmu-idle-cycles
pmu-overflow-limit operator operator-vms operator-requests-hz operator-samples-hz operator-interrupt
operator-identity"""
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
def test_did_you_mean(tree_file, place, names):
    """Each property of each node is found behind its slips."""
    known, asked = names.split(), 0
    for name in known:
        for wrong in slips(name, known):
            text = TREE.replace("vcpu0 {", f"vcpu0 {{ {wrong};")
            if place != "vcpu0 {":
                text = TREE + f"/ {{ {place} {wrong}; {'};' * place.count('{')} }};"
            lines = check(tree_file(text)).stderr
            assert (f": {wrong}: is not a property of this node; did you mean {name}?"
                    in lines), lines
            asked += 1
    assert asked >= 2 * len(known)


@pytest.mark.parametrize("number", (2, 20, 25))
def test_all_refusals(tree_file, tmp_path, number):
    """In one run, by vm-check with the line of each, and by boot in the same words."""
    text, words = mistakes(number)
    file = tree_file(text)
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


def test_machine_of_another_size(tree_file):
    two_harts = tree_file(spoilt("harts = <0>", "harts = <1>"))
    assert check(two_harts, "--harts", 2).returncode == 0
    counter = tree_file(spoilt("kernel =", "pmu-counters = <31>; kernel ="))
    assert check(counter, "--counters", "0x80000000").returncode == 0
    assert check(counter, "--counters", "0").returncode == 0
    assert check(counter).returncode == 1
    small = tree_file(TREE)
    assert check(small, "--memory", "64M").returncode == 0
    assert check(small, "--memory", 36 << 10 << 10, "--tree-at", "0x82200000").returncode == 0
    done = check(small, "--memory", "34M", "--tree-at", "0x82000000")
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        1, "/vms/one: memory: the VMs up to this one need 2 MiB, this machine has 0 MiB")
    done = check(small, "--board-ram", "0x100000000", "--json")
    assert json.loads(done.stdout)["vms"][0]["host_memory"] == [[0x102000000, 0x200000]]


def test_where_the_tree_is(tree_file):
    """Where QEMU puts it, or where the user says; the largest VM is beside it."""
    def said(*options):
        return check(tree_file(TREE), *options).stdout.splitlines()[-2]

    size = size_of(tree_file)
    words = "the VM tree lies at {:#x} to {:#x}; one more VM could have {} MiB{}"
    more = ", more if the tree were at an end of RAM"
    assert said() == words.format(0xa0200000, 0xa0200000 + size - 1, 508, more)
    assert said("--memory", "256M") == words.format(0x88200000, 0x88200000 + size - 1, 124, more)
    assert said("--tree-at", "0xbfe00008") == words.format(0xbfe00008, 0xbfe00008 + size - 1, 988,
                                                           "")
    assert said("--tree-at", "0x82000000") == words.format(0x82000000, 0x82000000 + size - 1, 988,
                                                           "")
    for at, reason in (
            (0x81000000, "puts the VM tree into Tally's 32 MiB"),
            (0x70000000, "is in RAM that Tally does not use"),
            (0xbfffff00, "puts the VM tree behind the end of RAM"),
            (0x90000004, "is not a multiple of 8")):
        done = check(tree_file(TREE), "--tree-at", hex(at), "--json")
        line = f"/chosen: linux,initrd-start: {at:#x} {reason}"
        assert (done.returncode, done.stderr) == (1, line + "\n")
        assert json.loads(done.stdout) == {
            "refusal": {"node": "/chosen", "property": "linux,initrd-start",
                        "reason": f"{at:#x} {reason}"}, "refusals": [line]}


def test_cannot_be_checked(tree_file, tmp_path):
    done = check(tmp_path / "none.dts")
    assert (done.returncode, done.stderr) == (2, f"vm-check: no such file: {tmp_path}/none.dts\n")
    done = check(tree_file(TREE + "nonsense"))
    assert done.returncode == 2
    assert "syntax error" in done.stderr
    assert done.stderr.startswith(f"vm-check: dtc cannot compile {tmp_path}/vms.dts:\n")
    done = check(tree_file(TREE), DTC="/nowhere/dtc")
    assert (done.returncode, done.stderr) == (
        2, "vm-check: dtc is missing; install it with: apt-get install device-tree-compiler\n")
    assert check(tree_file(TREE), "--harts", "0").returncode == 2
    assert check(tree_file(TREE), "--memory", "1T").returncode == 2
    assert check(tree_file(TREE), "--memory", "-1").returncode == 2
    assert check(tree_file(TREE), "--memory", "17179869184G").returncode == 2
    assert check(tree_file(TREE), "--board-ram", "0x80100000").returncode == 2
    assert check(tree_file(TREE), "--nonsense").returncode == 2
    assert check().returncode == 2


def test_blob_that_is_cut(tree_file, tmp_path):
    blob = tmp_path / "vms.dtb"
    assert check(tree_file(TREE), "-o", blob).returncode == 0
    assert check(blob).returncode == 0
    blob.write_bytes(blob.read_bytes()[:-1])
    done = check(blob)
    assert (done.returncode, done.stderr) == (1, "/: is cut short\n")
    blob.write_bytes(b"")
    assert check(blob).stderr == "/: is cut short\n"


def test_a_blob_is_kept_if_it_is_accepted(tree_file, tmp_path):
    """Whether dtc makes it or the user gives it. What was there before stays there."""
    blob, copy = tmp_path / "vms.dtb", tmp_path / "copy.dtb"
    bad = tree_file(spoilt("harts = <0>", "harts = <1>"))
    assert check(bad, "-o", blob).returncode == 1
    assert not blob.exists()
    assert check(bad, "--harts", "2", "-o", blob).returncode == 0
    kept = blob.read_bytes()
    assert check(blob, "-o", copy).returncode == 1 and not copy.exists()
    assert check(blob, "--harts", "2", "-o", copy).returncode == 0
    assert copy.read_bytes() == kept
    assert check(bad, "-o", blob).returncode == 1
    assert blob.read_bytes() == kept
    done = check(tree_file(TREE), "-o", tmp_path)
    assert (done.returncode, done.stderr) == (
        2, f"vm-check: {tmp_path} cannot be written: Is a directory\n")


def test_images_elsewhere(tree_file, tmp_path):
    path = tree_file(TREE)
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
        return (ROOT / "core/tree" / file).read_text(encoding="utf-8").split(after)[1]

    source = (names("parse.c", "vm_props[VM_PROPS]").split(";")[0] +
              names("vm_groups.h", "#define VM_PMU_PROP_NAMES").split("\n\n")[0] +
              names("vm_groups.h", "#define VM_MEMORY_PROP_NAMES").split("\n")[0] +
              names("vm_life_config.h", "#define VM_LIFE_PROP_NAMES").split("\n\n")[0] +
              names("vm_groups.h", "#define VM_TURN_PROP_NAMES").split("\n")[0])
    text = (ROOT / "dts/README.md").read_text(encoding="utf-8")
    properties = re.findall(r'"([a-z-]+)"', source)
    assert len(properties) == 31
    properties += re.findall(r'"([a-z-]+)"', names("pmu_node.c", "names[PROPS]").split(";")[0])
    assert len(properties) == 39
    devices = re.findall(r'"([a-z-]+)"', names("vm_devices.c", "props[DEVICE_PROPS]").split(";")[0])
    assert len(devices) == 6
    shared = sum((re.findall(r'"([a-z-]+)"', names("vm_shared.c", f"{which}_props[").split(";")[0])
                  for which in ("shared", "user")), [])
    shared += re.findall(r'"([a-z-]+)"',
                         names("vm_groups.h", "#define VM_BELL_PROP_NAMES").split("\n")[0])
    assert shared == ["size", "at", "access", "bell", "bell-identity"]
    schedules = sum((re.findall(r'"([a-z-]+)"', names("vm_schedule.c", f"{which}_props[").split(
        ";")[0]) for which in ("hart", "window")), [])
    assert schedules == ["major-frame-us", "slack", "vm", "vcpu", "start-us", "length-us",
                         "guard-us"]
    documented = properties + devices + shared + schedules
    for name in documented + ["compatible", "data", "phandle", "harts", "turn-us",
                              "inexact-counts", "time-epoch"]:
        assert f"\n| `{name}` |" in text, name


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "dts").glob("*.dts")))
def test_trees_of_the_repository(name):
    """On the least machine that its tool makes for it."""
    memory = "1536M" if name.startswith("one-disk") else "1G"
    done = check(ROOT / "dts" / name, "--harts", 2, "--memory", memory)
    assert (done.returncode, done.stderr) == (0, "")


# One of each kind: of the tree alone, and of all that boot finds out itself, which vm-check takes
# for granted: the machine's memory, where the tree lies in it, its harts and its counters.
AT_BOOT = {
    '/: compatible: is not "tally,vm-tree-1"',
    "/vms/one/vcpu0: hart: is not a property of this node; did you mean harts?",
    "/vms/one: memory: the VMs up to this one need 1024 MiB, this machine has 990 MiB",
    "/vms/one: memory-at: the memory at 0xa0000000 reaches the VM tree, which begins at 0xa0200000",
    "/vms/one: memory-at: the memory at 0x81e00000 begins in what Tally keeps of RAM, up to "
    "0x82000000",
    "/vms/one: kernel: is packed by gzip: unpack it first, with gzip -d",
    "/vms/one/vcpu0: harts: this machine has no hart 1",
    "/vms/one: pmu-counters: this machine has no counter 19",
    "/schedules/hart1: this machine has no hart 1",
    "/vms: boot: is \"defer\" in every VM: none starts",
}
BOOTED = [case for case in REFUSALS if case[2] in AT_BOOT]


@pytest.mark.parametrize("old,new,words", BOOTED, ids=[case[2][:40] for case in BOOTED])
def test_same_words_at_boot(tree_file, old, new, words):
    """Boot has the same parser, so a few show that it asks it about its own machine."""
    assert len(BOOTED) == len(AT_BOOT)
    run = harness.run(tree_file(spoilt(old, new)), timeout=harness.GUARD)
    assert run.status == harness.REFUSED, str(run)
    assert [line for line in run.own if line.startswith("refused: ")] == ["refused: " + words]


def test_cut_blob_at_boot(tree_file, tmp_path):
    blob = tmp_path / "vms.dtb"
    assert check(tree_file(TREE), "-o", blob).returncode == 0
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
