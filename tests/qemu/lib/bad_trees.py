# SPDX-License-Identifier: Apache-2.0
"""Trees that would let one VM into what another one has, or that promise more than the machine has:
what is wrong with each, and the refusal. test_bad_trees.py has them refused, and docs/refusals.md
is made of them. Mistakes in single properties are in bad_properties.py."""

from vm_nodes import MIB, Bad, at, device, devices, function, many, memory

RTC, VIRTIO, FLASH = "/soc/rtc@101000", "/soc/virtio_mmio@10001000", "/flash@20000000"
HERE, THERE, DEVICE = "/shared/log/one: at: ", "/vms/two: ", "/vms/one/devices/it: "
# The smallest that a VM can have, at a place that nobody keeps.
PLACE = at((0x90000000, 2 * MIB))


def one(what, words, lines, machine="one hart", harts="0", given=" = /bits/ 64 <0x200000>"):
    """A tree of one VM."""
    return Bad(what, words, (("one", lines, harts, given),), machine=machine)


def two(what, words, first="", second="", harts=("0", "0"), given=None, machine="one hart"):
    """A tree of two."""
    given = given or [" = /bits/ 64 <0x200000>"] * 2
    return Bad(what, words, (("one", first, harts[0], given[0]), ("two", second, harts[1],
                                                                  given[1])), machine=machine)


def shares(what, words, shared, lines="", machine="one hart", given=" = /bits/ 64 <0x200000>"):
    """A tree of one VM that has shared memory."""
    return Bad(what, words, (("one", lines, "0", given),), shared, machine=machine)


def refused_device(what, why, host, prop="host", **how):
    """A tree of one VM that wants what no VM can have."""
    return one(what, f"{DEVICE}{prop}: {why}", devices(device(host, **how)), "devices")


OVERLAPS = [
    two("The same memory is given to two VMs.",
        THERE + "memory-at: the memory at 0x90000000 overlaps that of one", given=[PLACE] * 2),
    two("A VM's memory begins inside another's.",
        THERE + "memory-at: the memory at 0x90200000 overlaps that of one",
        given=[at((0x90000000, 4 * MIB)), at((0x90200000, 4 * MIB))]),
    two("A VM's memory lies wholly inside another's.",
        THERE + "memory-at: the memory at 0x90200000 overlaps that of one",
        given=[at((0x90000000, 16 * MIB)), at((0x90200000, 2 * MIB))]),
    two("The second piece of a VM's memory is another's.",
        THERE + "memory-at: the memory at 0x90000000 overlaps that of one",
        given=[PLACE, at((0xa0000000, 2 * MIB), (0x90000000, 2 * MIB))]),
    one("A piece of memory lies inside another one of the VM.",
        "/vms/one: memory-at: the pieces at 0x90200000 and 0x90000000 overlap", "",
        given=at((0x90200000, 2 * MIB), (0x90000000, 8 * MIB))),
    one("A VM is given Tally's memory.", "/vms/one: memory-at: the memory at 0x80200000 begins in "
        "what Tally keeps of RAM, up to 0x82000000", "", given=at((0x80200000, 64 * MIB))),
    shares("Shared memory covers the VM's own.", HERE + "the memory at 0x80000000 covers the VM's "
           "own memory, at 0x80000000", memory("log", 0x80000000)),
    shares("Shared memory covers a piece of the VM's own.", HERE + "the memory at 0x90000000 "
           "covers the VM's own memory, at 0x90000000", memory("log", 0x90000000), given=PLACE),
    shares("Shared memory covers the VM's interrupt controller.", HERE + "the memory at "
           "0xc000000 covers the VM's own interrupt controller, at 0xc000000",
           memory("log", 0xc000000)),
    shares("Shared memory covers the VM's UART.", HERE + "the memory at 0x10000000 covers the "
           "VM's own UART, at 0x10000000", memory("log", 0x10000000)),
    shares("Shared memory covers the virtio slots of a VM like virt.", HERE + "the memory at "
           "0x10000000 covers the VM's own virtio slots, at 0x10001000",
           memory("log", 0x10000000, size=8192), 'console = "off"; machine = "virt";'),
    shares("Two shared memories are at one place.", "/shared/more/one: at: the memory at "
           "0x90000000 covers other shared memory, at 0x90000000",
           memory("log", 0x90000000) + memory("more", 0x90000000)),
    shares("Shared memory ends in another one.", "/shared/more/one: at: the memory at 0x90000000 "
           "covers other shared memory, at 0x90200000",
           memory("log", 0x90200000) + memory("more", 0x90000000, size=4 * MIB)),
    shares("Shared memory covers the registers of a device.", HERE + "the memory at 0x0 covers "
           "registers of a device of the VM, at 0x101000", memory("log", 0, size=2 * MIB),
           devices(device(RTC)), "devices"),
    shares("Shared memory covers the VM's PCI bus.", HERE + "the memory at 0x30000000 covers the "
           "VM's own PCI bus, at 0x30000000", memory("log", 0x30000000),
           devices(function("00:01.0")), "functions"),
    shares("Shared memory covers the window of a PCI bus.", HERE + "the memory at 0x40000000 "
           "covers a window of the PCI bus, at 0x40000000", memory("log", 0x40000000),
           devices(function("00:01.0")), "functions"),
    shares("Shared memory lies where no VM has addresses.", HERE + "the memory at 0x20000000000 "
           "goes on behind all that a VM can address, 0x20000000000", memory("log", 1 << 41)),
    shares("Shared memory is at no multiple of 2 MiB.",
           HERE + "0x90001000 is not a multiple of 2 MiB", memory("log", 0x90001000)),
]

OVER = [
    two("Two VMs need more memory than there is.", THERE + "memory: the VMs up to this one need "
        "1024 MiB, this machine has 990 MiB",
        given=[" = /bits/ 64 <0x1e000000>", " = /bits/ 64 <0x22000000>"]),
    two("One that chose its memory leaves no room for the other.", THERE + "memory: the VMs up to "
        "this one need 992 MiB, this machine has 990 MiB",
        given=[at((0x82000000, 480 * MIB)), " = /bits/ 64 <0x20000000>"]),
    two("What is left would do, but not in one piece.", THERE + "memory: no 512 MiB in one piece "
        "are left beside the memory of the VMs, /reserved-memory and the VM tree; at most 508",
        given=[at((0xa0000000, 2 * MIB)), " = /bits/ 64 <0x20000000>"]),
    shares("Shared memory is more than the VMs leave.", "/shared/log: size: all VMs and shared "
           "memory up to this one need 1050624 KiB, this machine has 1013760",
           memory("log", 1 << 38, size=1024 * MIB)),
    shares("The second shared memory is too much.", "/shared/more: size: all VMs and shared "
           "memory up to this one need 1050624 KiB, this machine has 1013760",
           memory("log", 1 << 38, size=480 * MIB) + memory("more", 1 << 39, size=544 * MIB)),
    shares("Shared memory would have to be in two pieces.", "/shared/log: size: no 600 MiB in one "
           "piece are left beside the memory of the VMs, /reserved-memory and the VM tree; at "
           "most 508",
           memory("log", 1 << 38, size=600 * MIB), given=at((0xa0000000, 2 * MIB))),
    shares("Nobody may write shared memory.", "/shared/log: no VM may write it: one needs access "
           "= \"read-write\"", memory("log", 0x90000000, "read")),
    shares("Shared memory is for a VM that there is not.", "/shared/log/two: no VM has this name",
           memory("log", 0x90000000, vm="two")),
    shares("There are nine shared memories.", "/shared/m8: is one shared memory more than 8",
           " ".join(memory(f"m{n}", 0x100000000 + 2 * MIB * n) for n in range(9))),
    Bad("There are 17 VMs.", "/vms/vm16: is one VM more than 16",
        tuple((f"vm{n}", "") for n in range(17))),
    one("A VM has nine vcpus.", "/vms/one/vcpu8: is one vcpu more than 8", "",
        harts=",".join("0" * 9)),
    Bad("All VMs have 65 vcpus.", "/vms/vm8/vcpu0: is one vcpu more than 64 in all VMs together",
        tuple((f"vm{n}", "", ",".join("0" * (8 if n < 8 else 1))) for n in range(9))),
    Bad("There are 33 images.", "/images/i32: is one image more than 32",
        images=" ".join(f"i{n} {{ data = [00]; }};" for n in range(1, 33))),
    one("A VM has 17 devices.", "/vms/one/devices/d16: is one device more than 16",
        devices(*(function(f"00:{n + 1:02x}.0", name=f"d{n}") for n in range(17))), "functions"),
    Bad("The VMs have 33 PCI functions.", "/vms/vm2/devices/it: pci: the VMs have more than 32 "
        "PCI functions together", (("vm0", devices(*many(0))), ("vm1", devices(*many(2))),
                                   ("vm2", devices(function("00:1f.0")))), machine="functions"),
    one("A VM with an AIA is for a machine without one.", "/vms/one: interrupts: \"aia\": hart 0 "
        "has no guest interrupt files", 'interrupts = "aia";', "devices"),
    one("A hart has no guest interrupt file for the second vcpu.", "/vms/one: interrupts: \"aia\": "
        "hart 0 has 1 guest interrupt file, and vcpu1 would be number 2 there",
        'interrupts = "aia";', "one file", "0,0"),
    two("A hart has no guest interrupt file for the second VM.", THERE + "interrupts: \"aia\": "
        "hart 0 has 1 guest interrupt file, and vcpu0 would be number 2 there",
        *['interrupts = "aia";'] * 2, machine="one file"),
    one("A vcpu with an AIA may move.", "/vms/one: interrupts: \"aia\" keeps each vcpu on one "
        "hart, and vcpu0 may be on several", 'interrupts = "aia";', "two harts", "0 1"),
    one("A VM with an AIA is to be like QEMU's virt.", "/vms/one: machine: \"virt\" has a PLIC, "
        "and interrupts is \"aia\"", 'interrupts = "aia"; machine = "virt";', "one file"),
]

HARTS = [
    two("A VM wants no look, and another one is on its hart.", "/vms/one: look: \"off\" is for "
        "vcpus alone on their harts, and two may run on hart 0", 'look = "off";'),
    two("The same, and the other one may come there.", "/vms/one: look: \"off\" is for vcpus "
        "alone on their harts, and two may run on hart 1", 'look = "off";',
        harts=("1", "0 1"), machine="two harts"),
    one("A VM wants no look, and may move.", "/vms/one: look: \"off\" is for vcpus of one hart, "
        "and vcpu0 has several", 'look = "off";', "two harts", "0 1"),
    two("What Tally does counts as the guest's, on a shared hart.", "/vms/one: pmu-freeze: "
        "\"vcpu\" is for a VM alone on its harts, and another may run on hart 0",
        'pmu-freeze = "vcpu";'),
    two("Sleep counts as cycles, on a shared hart.", "/vms/one: pmu-idle-cycles: \"on\" is for "
        "vcpus alone on their harts, and two may run on hart 0", 'pmu-idle-cycles = "on";'),
    one("The second vcpu is for a hart that there is not.",
        "/vms/one/vcpu1: harts: this machine has no hart 2", "", "two harts", "0,2"),
    one("One of the harts to move to is none.",
        "/vms/one/vcpu0: harts: this machine has no hart 63", "", "two harts", "0 1 63"),
    one("A vcpu has no hart.", "/vms/one/vcpu0: harts: names no hart", "", harts=""),
]

DOUBLED = [
    two("Two VMs have one device.", "/vms/two/devices/it: host: VM one has it already, as it",
        *[devices(device(RTC))] * 2, machine="devices"),
    one("A VM has a device twice.", "/vms/one/devices/again: host: VM one has it already, as it",
        devices(device(RTC), device(RTC, name="again")), "devices"),
    two("Two VMs have one PCI function.", "/vms/two/devices/it: pci: VM one has it already, as it",
        *[devices(function("00:01.0"))] * 2, machine="functions"),
    one("A VM has a PCI function twice.",
        "/vms/one/devices/again: pci: VM one has it already, as it",
        devices(function("00:01.0"), function("00:01.0", name="again")), "functions"),
    two("Two VMs may restart each other's, one twice.", "/vms/one: controls: names \"two\" twice",
        'controls = "two", "two";'),
    one("A counter is given twice.", "/vms/one: pmu-counters: names 3 twice",
        "pmu-counters = <3 4 3>;"),
    one("An event is given twice.", "/vms/one: pmu-events: names 1 twice", "pmu-events = <1 2 1>;"),
    refused_device("A VM is given Tally's console.", "is Tally's console", "serial0"),
    # An APLIC: the name of a PLIC's node depends on QEMU's version.
    one("A VM is given the interrupt controller.", "/vms/one/devices/it: host: is an interrupt "
        "controller, which Tally drives", devices(device("/soc/interrupt-controller@d000000")),
        "one file"),
    refused_device("A VM is given the firmware's timers.",
                   "is the firmware's: it has the timers and IPIs of all harts",
                   "/soc/clint@2000000"),
    refused_device("A VM is given the machine's switch.", "switches the machine off",
                   "/soc/test@100000"),
    refused_device("A VM is given the switch by another node.", "switches the machine off",
                   "/poweroff"),
    refused_device("A VM is given memory as a device.",
                   "is memory: a VM has memory by its own properties", "/memory@80000000"),
    refused_device("A VM is given a hart as a device.", "is a hart: a VM has harts by its vcpus",
                   "/cpus/cpu@0"),
    refused_device("A VM is given the whole machine.", "is the whole machine", "/"),
    refused_device("A VM is given a whole bus.", "has no registers", "/soc",
                   more="dma-unchecked;"),
    refused_device("A VM is given what there is not.", "the host's tree has no such node",
                   "/soc/rtc@1"),
]

NO_RESET = 'restart = "never"; restart-limit = <0>;'
DMA = [
    refused_device("It is said that virtio has no DMA.",
                   "virtio,mmio has DMA: only \"trusted\" is true of it", VIRTIO, "dma"),
    refused_device("DMA is to be isolated that nothing translates.", "nothing translates this "
                   "device's DMA: only PCI functions behind an IOMMU can be isolated", VIRTIO,
                   "dma", dma="isolated"),
    refused_device("DMA is trusted of a VM that has other addresses than the machine.",
                   "\"trusted\" needs memory-at: the device takes the VM's addresses for the "
                   "machine's", VIRTIO, "dma", dma="trusted"),
    refused_device("Nobody has said whether it has DMA.", "that cfi-flash has none is not known; "
                   "dma-unchecked says that you know it", FLASH, "dma"),
    refused_device("Unchecked, but not without DMA.",
                   "has no meaning but with dma = \"none\"", VIRTIO, "dma-unchecked",
                   dma="trusted", more="dma-unchecked;"),
    refused_device("What no reset is known of, in a VM of several lives.", "Tally knows no reset "
                   "of it: the VM has to have one life, by restart = \"never\" and restart-limit "
                   "= <0>", FLASH, more="dma-unchecked;"),
    refused_device("A register that writes all memory.",
                   "can write all memory, by a register of its own", "/fw-cfg@10100000"),
    refused_device("The host bridge, by its node.",
                   "is a PCI host bridge, with the functions of all VMs", "/soc/pci@30000000"),
    one("The IOMMU itself.", DEVICE + "host: is an IOMMU",
        devices(device("/soc/iommu@3010000")), "functions"),
    one("It is said that a PCI function has no DMA.", DEVICE + "dma: a PCI function can master the "
        "bus: only \"isolated\" keeps it in the VM's memory",
        devices(function("00:01.0", "none")), "functions"),
    one("DMA of a PCI function is trusted.",
        DEVICE + "dma: a PCI function is given behind an IOMMU only: it is \"isolated\"",
        devices(function("00:01.0", "trusted")), "functions", given=PLACE),
    one("A PCI function that stops the machine.", DEVICE + "pci: 1b36:0011 is a panic notifier, "
        "which can stop the machine: needs force = \"it may stop the machine\"",
        devices(function("1b36:0011")), "functions"),
    one("A balloon, which consent does not help.", DEVICE + "pci: 1af4:1045 changes "
        "memory past the IOMMU",
        devices(function("1af4:1045", more='force = "it may stop the machine";')), "functions"),
    one("Consent in other words.", DEVICE + "force: is not \"it may stop the machine\"",
        devices(function("00:01.0", more='force = "yes";')), "functions"),
    refused_device("Consent to a device that is no PCI function.", "has no meaning but for a PCI "
                   "function, by pci", RTC, "force", more='force = "it may stop the machine";'),
    refused_device("Interrupts are numbered in another way.", "is not \"own\" or \"host\"", RTC,
                   "interrupt-numbers", more='interrupt-numbers = "same";'),
    one("A PCI function keeps its interrupt's number.", DEVICE + "interrupt-numbers: has no "
        "meaning but for a node, by host",
        devices(function("00:01.0", more='interrupt-numbers = "host";')), "functions"),
    one("A PCI function is given without an IOMMU.", DEVICE + "pci: the host's tree has no IOMMU "
        "for it: nothing would keep its DMA in the VM's memory",
        devices(function("00:01.0")), "no IOMMU"),
    one("A PCI function behind a bridge.",
        DEVICE + "pci: is not on bus 00: functions behind a bridge cannot be had",
        devices(function("01:00.0")), "functions"),
    one("A device is a node and a PCI function.",
        DEVICE + "pci: a device is a node, by host, or a PCI function, not both",
        devices(function("00:01.0", more=f'host = "{RTC}";')), "functions"),
    two("Memory of another VM is right behind one with PCI functions.",
        "/vms/one: memory-at: 2 MiB behind 0x90200000 have to be free, where two is: the VM has "
        "PCI functions", devices(function("00:01.0")), machine="functions",
        given=[PLACE, at((0x90200000, 2 * MIB))]),
    one("Whether there is DMA is not said.", DEVICE + "dma: is missing",
        devices(f'it {{ host = "{RTC}"; }};'), "devices"),
    one("What DMA there is, is said in another word.",
        DEVICE + "dma: is not \"none\", \"isolated\" or \"trusted\"",
        devices(device(RTC, "safe")), "devices"),
]

NAME = "the name of a network is 1 to 15 characters of a-z, 0-9 and -"
STATION = "/one: mac-address: is no address of one station"


def connects(what, words, networks, count=2):
    """A tree of so many VMs, with networks."""
    return Bad(what, words, tuple((NUMBERS[n], "") for n in range(count)), networks=networks)


def lan(what, words, ports, first="", second=""):
    """A tree of two VMs on a network, of which these properties are."""
    return connects(what, "/networks/lan" + words,
                    f"lan {{ {ports} one {{ {first} }}; two {{ {second} }}; }};")


def nets(count, per):
    """So many networks, of which a VM has so many ports."""
    return " ".join(f"n{n} {{ {NUMBERS[n // per * 2]} {{ }}; {NUMBERS[n // per * 2 + 1]} {{ }}; }};"
                    for n in range(count))


NUMBERS = ["one", "two", "three", "four", "five", "six"]
MAC = "mac-address = [02 00 00 00 00 01];"
NETWORKS = [
    connects("A network is for a VM that there is not.",
             "/networks/lan/three: no VM has this name", "lan { one { }; three { }; };"),
    connects("A port's VM has an address.", "/networks/lan/one@1: no VM has this name",
             "lan { one@1 { }; two { }; };"),
    connects("A network has one port.",
             "/networks/lan: one VM has a port of it: a network connects two VMs at least",
             "lan { one { }; };"),
    connects("A network has no port.",
             "/networks/lan: no VM has a port of it: a network connects two VMs at least",
             "lan { };"),
    connects("A VM has five ports.", "/networks/n4/one: is one port more than 4 of the VM",
             nets(4, 4) + " n4 { one { }; three { }; };", 3),
    connects("There are nine networks.", "/networks/n8: is one network more than 8", nets(9, 4),
             6),
    connects("A network's name is in capitals.", "/networks/LAN: " + NAME,
             "LAN { one { }; two { }; };"),
    connects("A network's name is too long.", "/networks/the-long-distance: " + NAME,
             "the-long-distance { one { }; two { }; };"),
    connects("A network has an address.", "/networks/lan@1: " + NAME,
             "lan@1 { one { }; two { }; };"),
    lan("Two ports of a network have one MAC.",
        "/two: mac-address: is that of VM one on this network", "", MAC, MAC),
    lan("A MAC has five bytes.", "/one: mac-address: is 5 bytes long, not 6", "",
        "mac-address = [02 00 00 00 01];"),
    lan("A MAC is a number.", "/one: mac-address: is 4 bytes long, not 6", "",
        "mac-address = <1>;"),
    lan("A MAC is that of a group.", STATION, "", "mac-address = [01 00 5e 00 00 01];"),
    lan("A MAC is that of all stations.", STATION, "", "mac-address = [ff ff ff ff ff ff];"),
    lan("A MAC is 0.", STATION, "", "mac-address = [00 00 00 00 00 00];"),
    lan("A network has two uplinks.", "/two: uplink: VM one has the uplink of this network", "",
        'uplink = "on";', 'uplink = "on";'),
    lan("An uplink in another word.", '/one: uplink: is not "on" or "off"', "",
        'uplink = "yes";'),
    lan("An uplink without a word.", "/one: uplink: is not one string", "", "uplink;"),
    lan("A port may send no frame.", "/one: frames-per-ms: 0 is not 1 to 100000", "",
        "frames-per-ms = <0>;"),
    lan("A port may send more frames than a hart copies.",
        "/one: frames-per-ms: 100001 is not 1 to 100000", "", "frames-per-ms = <100001>;"),
    lan("A number of frames in 64 bits.",
        "/one: frames-per-ms: is 8 bytes long, not 4: one cell", "",
        "frames-per-ms = /bits/ 64 <20>;"),
    lan("The longest frame is over the limit of its port.",
        "/one: bytes-per-ms: 1517 is not 1518 to 100000000", "", "bytes-per-ms = <1517>;"),
    lan("A port may send more bytes than a hart copies.",
        "/one: bytes-per-ms: 100000001 is not 1518 to 100000000", "",
        "bytes-per-ms = <100000001>;"),
    lan("A number of bytes in words.",
        "/one: bytes-per-ms: is 8 bytes long, not 4: one cell", "", 'bytes-per-ms = "125 000";'),
    lan("Offloads in another word.", ': offload: is not "on" or "off"', 'offload = "yes";'),
    lan("Offloads without a word.", ": offload: is not one string", "offload;"),
    lan("Offloads of a port.", "/one: offload: is not a property of this node", "",
        'offload = "on";'),
    lan("The longest frame of a network with offloads is over the limit of its port.",
        "/one: bytes-per-ms: 65549 is not 65550 to 100000000", 'offload = "on";',
        "bytes-per-ms = <65549>;"),
    lan("A port has what no port has.", "/one: vlan: is not a property of this node", "",
        "vlan = <2>;"),
    lan("A network has what no network has.", ": mtu: is not a property of this node",
        "mtu = <9000>;"),
    lan("A port has a node.", "/one/queue: no node belongs here", "", "queue { };"),
]

GROUPS = {
    "Memory and addresses that overlap": OVERLAPS,
    "More than the machine has": OVER,
    "Harts": HARTS,
    "What another one has": DOUBLED,
    "Unsafe DMA": DMA,
    "Networks": NETWORKS,
}
