# SPDX-License-Identifier: Apache-2.0
"""Devices of the host that VMs have: what a guest reaches of them, what it does not, and refusals
in the words of tools/vm-check."""

import json
import re
import subprocess

import pytest

import bare_guests
import harness
from harness import ROOT
import hosts
from perf_runs import perf_vms
import plain
from vm_check import check

RTC = 'clock { host = "/soc/rtc@101000"; dma = "none"; };'
FLASH = 'flash { host = "/flash@20000000"; dma = "none"; dma-unchecked; };'
ONE_LIFE = 'restart = "never"; restart-limit = <0>;'
READS = ["device: 1000 reads, the clock goes on, year 2026"]
BESIDE = ["device: the page before: cause 5", "device: the page behind: cause 5"]


def devices(*nodes):
    """The node of a VM."""
    return "devices { %s };" % " ".join(nodes)


@pytest.fixture(scope="module", name="host_of")
def host_of_fixture(tmp_path_factory):
    """of(AIA) -> the path of what QEMU tells of its machine."""
    folder = tmp_path_factory.mktemp("hosts")
    return lambda aia: hosts.tree(folder / (aia + ".dtb"), aia=aia)


@pytest.fixture(scope="module", autouse=True)
def built():
    """The program that vm-check runs, and the guests."""
    plain.make("vm-check")
    plain.make("build/guests/bare.bin")


def year(lines):
    """Without the year of this computer's clock, from which QEMU's goes on."""
    return [re.sub(r"year 20\d\d$", "year 2026", line) for line in lines]


@pytest.mark.parametrize("aia", ("none", "aplic", "aplic-imsic"))
def test_a_guest_reads_its_clock_and_no_page_beside_it(tmp_path, aia):
    """2000 loads without one exit; the two of the pages beside it are all."""
    result = bare_guests.boot(tmp_path, {"alpha": "kind=device"}, properties=devices(RTC),
                              options=["--aia", aia])
    assert year(result.vm("alpha")) == READS + BESIDE
    assert bare_guests.exits(result, "alpha")["mmio"] == 2
    assert ("vm alpha: clock is /soc/rtc@101000: registers 101000 to 101fff; interrupt 11 as 1"
            in result.own)


def test_numbers_of_the_host(tmp_path, host_of):
    """A driver that expects its interrupt where the machine has it; the other device takes what is
    left."""
    words = RTC.replace("};", 'interrupt-numbers = "host"; };')
    tree = devices(words)
    result = bare_guests.boot(tmp_path, {"alpha": "kind=device"}, properties=tree,
                              options=["--aia", "none"])
    assert ("vm alpha: clock is /soc/rtc@101000: registers 101000 to 101fff; interrupt 11 as 11"
            in result.own)
    done = check("--host", host_of("none"), "--include", harness.BUILD / "guests",
                 tmp_path / "bare.dts")
    assert "            interrupt 11 of the host as 11" in done.stdout.splitlines(), done.stderr


def test_the_shipped_tree(host_of):
    """The neighbour's reads of the same page are exits: it has a clock of its own there."""
    tree = ROOT / "dts/rtc-to-bare.dts"
    done = check("--host", host_of("none"), tree)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    at = lines.index("  device    rtc: /soc/rtc@101000; dma none")
    assert lines[at + 1:at + 4] == [
        "            registers 0x101000 to 0x101fff",
        "            interrupt 11 of the host as 1",
        "            reset     goldfish-rtc"]
    result = harness.run(tree)
    assert result.status == harness.OK, str(result)
    assert year(result.vm("clock")) == READS + BESIDE
    assert year(result.vm("other")) == READS + BESIDE
    assert [bare_guests.exits(result, name)["mmio"] for name in ("clock", "other")] == [2, 2002]


def test_one_device_each(tmp_path):
    """Two VMs, each with a device: each reads its own and not the other's."""
    text = bare_guests.tree({"alpha": "kind=device", "beta": "kind=device at=0x20000000"})
    parts = text.split("\n\t\tbeta {")
    vcpu = "vcpu0 {"
    text = (parts[0].replace(vcpu, devices(RTC) + vcpu) + "\n\t\tbeta {" +
            parts[1].replace(vcpu, ONE_LIFE + devices(FLASH) + vcpu))
    file = tmp_path / "two.dts"
    file.write_text(text, encoding="ascii")
    result = harness.run(file, options=["--include", harness.BUILD / "guests"])
    assert result.status == harness.OK, str(result)
    assert year(result.vm("alpha")) == READS + BESIDE
    # Erased flash, whose words are all the same. The page behind is flash too.
    assert result.vm("beta")[0].startswith("device: 1000 reads, the clock goes on, year ")
    assert result.vm("beta")[1:] == ["device: the page before: cause 5",
                                     "device: the page behind can be read"]
    assert ("vm beta: flash is /flash@20000000: "
            "registers 20000000 to 21ffffff, 22000000 to 23ffffff" in result.own)


# One of each place where a refusal comes from: syntax, the host's tree, Tally's own, the guest's
# tree, two VMs.
REFUSALS = [
    (devices('clock { dma = "none"; };'), "/vms/alpha/devices/clock: host: is missing"),
    (devices('clock { host = "/soc/rtc@1"; dma = "none"; };'),
     "/vms/alpha/devices/clock: host: the host's tree has no such node"),
    (devices('uart { host = "serial0"; dma = "none"; };'),
     "/vms/alpha/devices/uart: host: is Tally's console"),
    (devices('disk { host = "/soc/virtio_mmio@10001000"; dma = "none"; };'),
     "/vms/alpha/devices/disk: dma: virtio,mmio has DMA: only \"trusted\" is true of it"),
    (devices('disk { host = "/soc/virtio_mmio@10001000"; dma = "isolated"; };'),
     "/vms/alpha/devices/disk: dma: nothing translates this device's DMA: only PCI functions "
     "behind an IOMMU can be isolated"),
    (devices('off { host = "/soc/test@100000"; dma = "none"; };'),
     "/vms/alpha/devices/off: host: switches the machine off"),
    (devices('fw { host = "/fw-cfg@10100000"; dma = "none"; };'),
     "/vms/alpha/devices/fw: host: can write all memory, by a register of its own"),
    (devices(FLASH),
     "/vms/alpha/devices/flash: host: Tally knows no reset of it: the VM has to have one life, by "
     "restart = \"never\" and restart-limit = <0>"),
]


@pytest.mark.parametrize("nodes,words", REFUSALS, ids=lambda value: value[:50])
def test_refusals_before_boot_and_at_boot(tmp_path, host_of, nodes, words):
    """The same words."""
    result = bare_guests.boot(tmp_path, {"alpha": "kind=device"}, status=harness.REFUSED,
                              properties=nodes)
    assert result.own[-1] == "refused: " + words
    done = check("--host", host_of("none"), "--include", harness.BUILD / "guests",
                 tmp_path / "bare.dts")
    assert (done.returncode, done.stderr.splitlines()[0]) == (1, words)


NODE = "/soc/rtc@101000"
# What fdtput makes of QEMU's tree, and the words.
TREES = (
    (["host.dtb", NODE, "interrupts", "96"], "interrupt 96 is none: the harts' controller has 95"),
    (["-t", "bx", "host.dtb", NODE, "interrupts", "1", "2"],
     "has interrupts of 2 bytes, which are no interrupts"),
    (["-d", "host.dtb", NODE, "interrupt-parent"],
     "has interrupts, and no interrupt-parent says where they go"),
    (["-c", "host.dtb", "/soc/rtc@102000"],
     "is rtc@102000 and rtc@101000: it has to be named with its address"),
    (["-cp", "host.dtb", "/reserved-memory/rtc"], "is memory that the host's tree keeps"),
)


@pytest.mark.parametrize("edit,words", TREES, ids=lambda value: value[:30])
def test_what_the_hosts_tree_says(tmp_path, edit, words):
    """Contradictions are refused at boot as before."""
    path = {"-c": "/soc/rtc", "-cp": "/reserved-memory/rtc"}.get(edit[0], NODE)
    clock = devices(f'clock {{ host = "{path}"; dma = "none"; dma-unchecked; }};')
    words = "/vms/alpha/devices/clock: host: " + words
    options = hosts.changed(tmp_path, [edit])
    result = bare_guests.boot(tmp_path, {"alpha": "kind=device"}, status=harness.REFUSED,
                              properties=clock,
                              options=["--qemu", hosts.qemu(tmp_path, *options)])
    assert result.own[-1] == "refused: " + words
    done = check("--host", tmp_path / "host.dtb", "--include", harness.BUILD / "guests",
                 tmp_path / "bare.dts")
    assert (done.returncode, done.stderr.splitlines()[0]) == (1, words)


def test_two_vms_cannot_have_one_device(tmp_path, host_of):
    words = "/vms/beta/devices/clock: host: VM alpha has it already, as clock"
    result = bare_guests.boot(tmp_path, {"alpha": "kind=device", "beta": "kind=device"},
                              status=harness.REFUSED, properties=devices(RTC))
    assert result.own[-1] == "refused: " + words
    for host in ((), ("--host", host_of("none"))):
        done = check(*host, "--include", harness.BUILD / "guests", tmp_path / "bare.dts")
        assert (done.returncode, done.stderr.splitlines()[0]) == (1, words)


def test_what_vm_check_tells(tmp_path, host_of):
    file = tmp_path / "one.dts"
    file.write_text(bare_guests.tree({"alpha": "kind=device"}, properties=devices(RTC)),
                    encoding="ascii")
    include = ("--include", harness.BUILD / "guests")
    told = json.loads(check("--json", *include, file).stdout)["vms"][0]["devices"]
    assert told == [{"name": "clock", "host": "/soc/rtc@101000", "pci": False, "node": None,
                     "dma": "none", "dma_unchecked": False, "registers": [],
                     "interrupts": [], "reset": None}]
    told = json.loads(check("--json", *include, "--host", host_of("aplic"), file).stdout)
    assert told["vms"][0]["devices"] == [
        {"name": "clock", "host": "/soc/rtc@101000", "pci": False, "node": "/soc/rtc@101000",
         "dma": "none", "dma_unchecked": False, "registers": [[0x101000, 0x1000]],
         "interrupts": [{"host": 11, "guest": 1, "type": "high level"}],
         "reset": "goldfish-rtc"}]
    assert check(*include, file).stdout.splitlines()[-4:-2] == [
        "  device    clock: /soc/rtc@101000; dma none",
        "            checked for syntax and doubles only; the host's tree, by --host, tells the "
        "rest"]


def test_a_wrong_host(tmp_path, host_of):
    """One sentence each, and the status of what could not be checked."""
    file = tmp_path / "one.dts"
    file.write_text(bare_guests.tree({"alpha": "kind=device"}, properties=devices(RTC)),
                    encoding="ascii")
    vm_tree = tmp_path / "vms.dtb"
    assert check("--include", harness.BUILD / "guests", "-o", vm_tree, file).returncode == 0
    cut, text = tmp_path / "cut.dtb", tmp_path / "host.dts"
    cut.write_bytes(host_of("none").read_bytes()[:-1])
    text.write_text("/dts-v1/;", encoding="ascii")
    for host, words in (
            (tmp_path, f"{tmp_path} is a folder; the host's tree is a file, .dtb"),
            (tmp_path / "none.dtb", f"no such file: {tmp_path}/none.dtb"),
            (text, f"{text}: is not a device tree blob"),
            (cut, f"{cut}: is a device tree blob that is cut short or broken inside"),
            (vm_tree, f"{vm_tree}: is a VM tree, not the host's device tree")):
        done = check("--host", host, "--include", harness.BUILD / "guests", file)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"vm-check: {words}\n")


def test_the_hosts_harts_and_memory_are_known(tmp_path, host_of):
    file = tmp_path / "two.dts"
    file.write_text(bare_guests.tree({"alpha": "kind=device"}, vcpus=("1",)), encoding="ascii")
    arguments = ("--include", harness.BUILD / "guests", "--host", host_of("none"))
    done = check(*arguments, file)
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        1, "/vms/alpha/vcpu0: harts: this machine has no hart 1")
    assert check(*arguments, "--harts", "2", file).returncode == 0
    assert check(*arguments, "--harts", "2", "--memory", "64M", file).stdout.splitlines()[-1] == (
        "1 VM, 16 MiB of the 30 MiB there are for VMs")


def test_a_host_tree_that_is_too_large(tmp_path, host_of):
    """It cannot be kept, so no VM has devices; without devices nobody misses it."""
    host = tmp_path / "large.dtb"
    text = subprocess.run(["dtc", "-q", "-I", "dtb", "-O", "dts", host_of("none")],
                          capture_output=True, check=True).stdout
    (tmp_path / "zeros").write_bytes(bytes(1 << 20))
    subprocess.run(["dtc", "-q", "-I", "dts", "-O", "dtb", "-i", tmp_path, "-o", host], check=True,
                   input=text + b'/ { large = /incbin/("zeros"); };')
    options = ["--qemu", hosts.qemu(tmp_path, "-dtb", host)]
    result = bare_guests.boot(tmp_path, {"alpha": "kind=device"}, status=harness.REFUSED,
                              properties=devices(RTC), options=options)
    assert result.own[-1] == ("refused: /vms: the host's device tree is larger than 1 "
                              "MiB")
    result = bare_guests.boot(tmp_path, {"alpha": "kind=device"}, options=options)
    assert result.vm("alpha") == [READS[0].replace("2026", "1970")] + BESIDE


TRUSTED = ("memory-at = /bits/ 64 <0x90000000 0x1000000>; " +
           devices('disk { host = "/soc/virtio_mmio@10001000"; dma = "trusted"; };'))


def test_on_whose_drivers_counts_rest(running, tmp_path, host_of):
    """The boot report, vm-check, the prompt and perf-vms say it."""
    words = "the counts of every VM rest on the drivers of VM alpha"
    run = running({"alpha": "kind=idle ticks=100000000000"}, properties=TRUSTED)
    run.read_until("from entry to the first guest")
    assert f"vm alpha: WARNING: disk may write all memory: {words}" in run.console
    done = check("--include", harness.BUILD / "guests", "--host", host_of("none"),
                 tmp_path / "bare.dts")
    assert f"            WARNING: it may write all memory: {words}" in done.stdout.splitlines()
    status, lines, _ = run.ctl("vms")
    assert status == 0 and lines[0].endswith(", dma trusted")
    assert json.loads(run.ctl("vms", "--json")[1][0])["dma"] == "trusted"
    _, complaints = perf_vms(run, "-e", "exits", "--", "true")
    assert complaints == [f"tools/perf-vms: {words}: a device of its may write all memory"]


def test_a_vm_with_one_life_is_not_started_again(running):
    """The operator is told why."""
    run = running({"alpha": "kind=idle ticks=100000000000"},
                  properties=ONE_LIFE + devices(FLASH))
    for command in ("start", "restart"):
        assert run.ctl(command, "alpha")[0] != 0
        assert f"{command}: alpha has one life: no reset of its device flash is known" in str(
            run.ctl(command, "alpha"))
    assert run.ctl("stop", "alpha")[0] == 0


def test_nor_by_another_vm(tmp_path):
    """A VM that controls one with one life is refused its restart, and that one runs on."""
    result = bare_guests.boot(
        tmp_path, {"alpha": "kind=once-more", "beta": "kind=busy ticks=30000000"},
        own={"alpha": 'controls = "beta";', "beta": ONE_LIFE + devices(FLASH)})
    assert result.vm("alpha") == ["once-more: error -1, state 2"], str(result)
    assert "vm beta: ended" in result.own
