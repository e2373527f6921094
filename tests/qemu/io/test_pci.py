# SPDX-License-Identifier: Apache-2.0
"""PCI functions that VMs have: the bus that a guest sees, DMA and interrupts of a virtio function,
lives, and what is refused."""

import re

import pytest

import bare_guests
import harness
import hosts
from hosts import CHIPS, ISOLATED, RNG, functions
from measured import EXPECTED, MEASURE
from pci_functions import BUS, FILLS, MSIX, STARTED, boot, devices, filled
import plain
from vm_check import check

ONE_LIFE = 'restart = "never"; restart-limit = <0>;'


@pytest.mark.parametrize("aia", CHIPS)
def test_a_bus_of_its_own(tmp_path, aia):
    """Two more functions are on the host's bus; one of them nobody has."""
    result = boot(tmp_path, {"alpha": (f"kind=pci fills={FILLS}", devices(rng="00:01.0")),
                             "beta": ("kind=pci", ONE_LIFE + devices(edu="1234:11e8"))},
                  *functions(RNG, "edu,addr=02.0", f"virtio-rng-pci,addr=03.0,{ISOLATED}"),
                  aia=aia)
    assert result.vm("alpha") == BUS + STARTED + [filled(FILLS)]
    assert result.vm("beta") == ["pci: 2.0 is 1234:11e8, class ff00, pin 1",
                                 "pci:   BAR 0: 1048576 bytes at 0x40100000, flags 0",
                                 "pci: 1 functions"]
    assert ("vm alpha: rng is 00:01.0: registers 40000000 to 40000fff, 40004000 to 40007fff; "
            "interrupt 33 as 1") in result.own
    assert "vm beta: edu, 1234:11e8, is 00:02.0" in result.own
    # An exit or two each. QEMU's function works beside the hart, as fast as the host lets it: an
    # interrupt that comes while the hart is in HS is no exit, and one that has gone before it is
    # claimed is an exit more, and none of the guest's.
    each = 2 if aia == "aplic" else 1
    assert bare_guests.exits(result, "alpha")["irq"] <= 2 * each * FILLS


def test_messages_without_exits(tmp_path):
    """Guests with an AIA have MSI-X, and their interrupts need no exit. The two functions are on
    one INTx line, which neither VM could have otherwise; each life finds an empty table."""
    lives = 3
    alpha = {"alpha": (f"kind=pci fills={FILLS} msix=5 left=busy",
                       'interrupts = "aia"; restart-limit = <2>;' + devices(rng="00:01.0"))}
    beta = {"beta": (f"kind=pci fills={FILLS} msix=6 at=40",
                     'interrupts = "aia";' + devices(rng="00:05.0"))}
    result = boot(tmp_path, alpha | beta, *functions(RNG, f"virtio-rng-pci,addr=05.0,{ISOLATED}"),
                  aia="aplic-imsic", options=["--aia-guests", 2], status=harness.VM_FAILED)
    assert result.vm("alpha") == (MSIX + [filled(FILLS)]) * lives
    assert result.vm("beta")[-1] == filled(FILLS)
    assert result.vm("beta")[0] == "pci: 5.0 is 1af4:1044, class ff00, pin 0"
    # A message to a neighbour that sleeps is an exit of whoever has the hart.
    result = boot(tmp_path, alpha, *functions(RNG), aia="aplic-imsic",
                  options=["--aia-guests", 2], status=harness.VM_FAILED)
    assert result.vm("alpha") == (MSIX + [filled(FILLS)]) * lives
    assert bare_guests.exits(result, "alpha")["irq"] == 0


OWN_FILE = 0x28000000
FORGED = [OWN_FILE + n * 4096 for n in (2, 1, 3, 7, 8, 63, 64, 0x1000)] + [0x24000000]


def test_forged_messages(tmp_path):
    """The table is the guest's own. A message to the machine's address of its file, of its
    neighbour's, of a hart's, or to no file at all reaches nobody; the function goes on."""
    forge = ",".join(map(str, FORGED))
    result = boot(tmp_path, {"alpha": (f"kind=pci fills={FILLS} msix=5 forge={forge}",
                                       'interrupts = "aia";' + devices(rng="00:01.0")),
                             "beta": (f"kind=pci fills={FILLS} msix=5 at=40",
                                      'interrupts = "aia";' + devices(rng="00:05.0"))},
                  *functions(RNG, f"virtio-rng-pci,addr=05.0,{ISOLATED}"), aia="aplic-imsic",
                  options=["--aia-guests", 2])
    n = len(FORGED) + 1
    assert result.vm("alpha")[-2:] == [
        filled(FILLS), f"pci: rng: {n} messages forged, {n} fills, 0 interrupts"]
    assert result.vm("beta")[-1] == filled(FILLS)
    # One line a second at most. QEMU does not say to where a message was.
    told = [re.fullmatch(r"vm alpha: DMA of rng \(00:01\.0\): (interrupt to 0x0: no interrupt file "
                         r"of its VM \(cause 262\)|write to 0x[0-9a-f]+: outside its memory "
                         r"\(cause 23\))(?:; (\d+) before it)?", line)
            for line in result.own if "DMA of" in line]
    assert told[0][1] == told[-1][1] == "interrupt to 0x0: no interrupt file of its VM (cause 262)"
    assert len(told) + sum(int(line[2] or 0) for line in told) == n, str(result)


@harness.both_backends
def test_lives(tmp_path, backend):
    """Each of 101 lives finds the function as after reset, and leaves it with buffers that it may
    still fill. Beside it, another VM counts exactly."""
    lives = 101
    result = boot(tmp_path, {"alpha": ("kind=pci fills=3 left=busy",
                                       f"restart-limit = <{lives - 1}>;" + devices(rng="00:01.0")),
                             "beta": (MEASURE, "")},
                  *functions(RNG), status=harness.VM_FAILED, backend=backend)
    assert result.vm("alpha") == (BUS + STARTED + [filled(3)]) * lives
    assert result.vm("beta") == EXPECTED
    assert not [line for line in result.own if "rng" in line and "reaches" in line]


@pytest.mark.long
def test_function_level_resets(tmp_path):
    """Of functions that have one: each life finds them where they were, and they answer."""
    lives = 3
    result = boot(tmp_path, {"alpha": ("kind=pci", 'restart = "always"; restart-limit = <2>;' +
                                       devices(nvme="00:02.0", net="00:04.0"))},
                  *functions("nvme,serial=1,addr=02.0", "igb,romfile=,addr=04.0"))
    life = ["pci: 2.0 is 1b36:10, class 10802, pin 1",
            "pci:   BAR 0: 16384 bytes at 0x40000000, flags 4",
            "pci:   capability 10 at 0x80",
            "pci: 4.0 is 8086:10c9, class 20000, pin 1",
            "pci:   BAR 0: 131072 bytes at 0x40020000, flags 0",
            "pci:   BAR 1: 131072 bytes at 0x40040000, flags 0",
            "pci:   BAR 3: 16384 bytes at 0x40060000, flags 4",
            "pci:   capability 10 at 0xa0",
            "pci: 2 functions"]
    assert result.vm("alpha") == life * lives
    assert not [line for line in result.own if "come to rest" in line]


SEES = """
for d in /sys/bus/pci/devices/*; do
	echo ${d##*/} $(cat $d/vendor $d/device $d/class) $(readlink $d/driver | grep -o '[^/]*$')
done
grep -v '^0x0\\{16\\} 0x0\\{16\\}' /sys/bus/pci/devices/*/resource
echo %s >/dev/hvc0
grep -c 'PLIC.*virtio0' /proc/interrupts
"""


def test_linux_sees_its_functions_only(tmp_path):
    """Debian's kernel writes to a virtio console of its own; each guest to another one."""
    lines = {name: SEES % ("text from " + name) for name in ("alpha", "beta")}
    tree = harness.linux_tree(tmp_path, lines)
    text = tree.read_text(encoding="utf-8")
    for name, place in (("alpha", "00:01.0"), ("beta", "00:02.0")):
        before, after = text.split(f"\t\t{name} {{", 1)
        text = (before + f"\t\t{name} {{" +
                after.replace("vcpu0 {", devices(console=place) + "vcpu0 {", 1))
    tree.write_text(text, encoding="utf-8")
    options = functions("e1000e,addr=03.0,romfile=")
    for n, name in enumerate(lines, 1):
        options += ["-device", f"virtio-serial-pci,id=bus{n},addr=0{n}.0,{ISOLATED}",
                    "-chardev", f"file,id=to{n},path={tmp_path}/{name}",
                    "-device", f"virtconsole,chardev=to{n},bus=bus{n}.0"]
    result = harness.run(tree, options=[
        "--iommu", "on", "--qemu", hosts.qemu(tmp_path, *options)])
    assert result.status == harness.OK, str(result)
    for n, name in enumerate(lines, 1):
        low = 0x40000000 + (n - 1) * 0x8000
        assert result.guest_output(name, name) == [
            f"0000:00:0{n}.0 0x1af4 0x1043 0x078000 virtio-pci",
            f"0x{low:016x} 0x{low + 0xfff:016x} 0x0000000000040200",
            f"0x{low + 0x4000:016x} 0x{low + 0x7fff:016x} 0x000000000014220c",
            "1"]
        assert (tmp_path / name).read_text(encoding="ascii") == f"text from {name}\n"


# What QEMU gets, what VM alpha and VM beta get, and the words.
NODE = "/vms/alpha/devices/it: pci: "
AFTER = "/vms/beta/devices/it: pci: "
STOPS = ", which can stop the machine: needs force = \"it may stop the machine\""
REFUSALS = {
    "nothing": ([], "00:09.0", None, NODE + "there is no function 00:09.0 on the host's bus"),
    "none": ([], "1af4:1044", None, NODE + "there is no function 1af4:1044 on the host's bus"),
    "two": ([RNG, f"virtio-rng-pci,addr=02.0,{ISOLATED}"], "1af4:1044", None,
            NODE + "1af4:1044 is the vendor and device of 00:01.0 and 00:02.0: name it by one of "
            "these"),
    "bridge": (["pcie-root-port,addr=03.0"], "00:03.0", None, NODE + "00:03.0 is a bridge"),
    "host": ([], "00:00.0", None, NODE + "00:00.0 is the host bridge"),
    "iommu": (["riscv-iommu-pci,addr=04.0"], "1b36:0014", None,
              NODE + "the IOMMU of the host's tree is none that Tally drives: it is not "
              "riscv,iommu"),
    "bypasses": (["virtio-rng-pci,addr=01.0,disable-legacy=on"], "00:01.0", None,
                 NODE + "it does not offer VIRTIO_F_ACCESS_PLATFORM: its DMA would go past the "
                 "IOMMU"),
    "ports": (["ich9-usb-uhci1,addr=06.0"], "00:06.0", None,
              NODE + "its registers are in I/O space only, which VMs do not have"),
    "room": (["pci-testdev,addr=07.0,membar=4G"], "00:07.0", None,
             NODE + "there is no room for its BAR 2 of 4194304 KiB"),
    "reset": (["edu,addr=05.0"], "00:05.0", None,
              NODE + "Tally knows no reset of it: the VM has to have one life, by restart = "
              "\"never\" and restart-limit = <0>"),
    "by two names": ([RNG], "00:01.0", "1af4:1044",
                     AFTER + "VM alpha has 00:01.0 already, as it"),
    "one line": ([RNG, f"virtio-serial-pci,addr=05.0,{ISOLATED}"], "00:01.0", "00:05.0",
                 AFTER + "shares interrupt 33 with it of VM alpha, which is not this VM's"),
    "split": ([RNG + ",multifunction=on", f"virtio-rng-pci,addr=01.1,{ISOLATED}"], "00:01.0",
              "00:01.1", AFTER + "00:01.1 is a function of the same device as 00:01.0, which VM "
              "alpha has: nothing keeps the two apart"),
    "alone": ([RNG + ",multifunction=on", f"virtio-rng-pci,addr=01.1,{ISOLATED}"], "00:01.1", None,
              NODE + "00:01.1 is found by a guest that has 00:01.0 too, which has to come before "
              "it"),
    "stops": (["pvpanic-pci,addr=03.0"], "00:03.0", None, NODE + "1b36:0011 is a "
              "panic notifier" + STOPS),
    "watches": (["i6300esb,addr=03.0"], "00:03.0", None, NODE + "8086:25ab is a "
                "watchdog" + STOPS),
    "watches, by identity": (["i6300esb,addr=03.0"], "8086:25ab", None,
                             NODE + "8086:25ab is a watchdog" + STOPS),
    "balloon": ([f"virtio-balloon-pci,addr=03.0,{ISOLATED}"], "00:03.0", None, NODE + "1af4:1045 "
                "changes memory past the IOMMU"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals_at_boot(tmp_path, case):
    there, alpha, beta, words = REFUSALS[case]
    guests = {"alpha": ("kind=pci", devices(it=alpha))}
    if beta:
        guests["beta"] = ("kind=pci", devices(it=beta))
    result = boot(tmp_path, guests, *functions(*there), status=harness.REFUSED)
    assert result.own[-1] == "refused: " + words


def test_with_consent(tmp_path):
    """A function that can stop the machine is given to a VM whose tree says that it may."""
    node = ('devices { it { pci = "1b36:0011"; dma = "isolated"; '
            'force = "it may stop the machine"; }; };')
    result = boot(tmp_path, {"alpha": ("kind=pci", ONE_LIFE + node)},
                  *functions("pvpanic-pci,addr=03.0"))
    assert result.vm("alpha")[0].startswith("pci: 3.0 is 1b36:11, class 88000")
    assert "vm alpha: WARNING: it may stop the machine" in result.own


@pytest.mark.parametrize("node,iommu,words", (
    ('it { pci = "00:01.0"; dma = "isolated"; };', "off",
     NODE + "the host's tree has no IOMMU for it: nothing would keep its DMA in the VM's memory"),
    ('it { pci = "01:00.0"; dma = "isolated"; };', "on",
     NODE + "is not on bus 00: functions behind a bridge cannot be had"),
    ('it { pci = "00:01.0"; dma = "none"; };', "on",
     "/vms/alpha/devices/it: dma: a PCI function can master the bus: only \"isolated\" keeps it "
     "in the VM's memory"),
    ('it { pci = "0:1.0"; dma = "isolated"; };', "on",
     NODE + "is not \"BB:DD.F\", bus, device and function, nor \"VVVV:DDDD\", vendor and device, "
     "in hexadecimal"),
), ids=lambda value: value[:20])
def test_refusals_before_boot_and_at_boot(tmp_path, node, iommu, words):
    """The same words."""
    result = boot(tmp_path, {"alpha": ("kind=pci", "devices { %s };" % node)}, *functions(RNG),
                  iommu=iommu == "on", status=harness.REFUSED)
    assert result.own[-1] == "refused: " + words
    done = check("--host", hosts.tree(tmp_path / "host.dtb", iommu_sys=iommu),
                 "--include", harness.BUILD / "guests", tmp_path / "bare.dts")
    assert (done.returncode, done.stderr.splitlines()[0]) == (1, words)


def test_what_vm_check_tells(tmp_path):
    plain.make("vm-check")
    plain.make("build/guests/bare.bin")
    file = tmp_path / "pci.dts"
    file.write_text(bare_guests.tree({"alpha": "kind=pci"}, properties=devices(rng="1af4:1044")),
                    encoding="utf-8")
    for host in ((), ("--host", hosts.tree(tmp_path / "host.dtb", iommu_sys="on"))):
        done = check(*host, "--include", harness.BUILD / "guests", file)
        assert (done.returncode, done.stderr) == (0, "")
        lines = done.stdout.splitlines()
        at = lines.index("  device    rng: PCI function 1af4:1044; dma isolated")
        assert lines[at + 1] == (
            "            whether it is there, and can be had, is checked at boot")
