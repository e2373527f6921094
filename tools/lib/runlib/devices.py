# SPDX-License-Identifier: Apache-2.0
"""Disks and networks of VMs: what QEMU gets for --disk and --net, by the devices of the VM tree."""
import re

from runlib.backing import Backing
from runlib.verdict import USAGE, Stop
from tallylib.vm_tree import vm_devices

# virtio-mmio of QEMU's machine `virt`: eight registers, a page each.
VIRTIO_MMIO = re.compile(r"/soc/virtio_mmio@1000([1-8])000")
FUNCTION = re.compile(r"([0-9A-Fa-f]{2}):([0-9A-Fa-f]{2})\.([0-7])")
SLOTS = 32
# vendor:device of the functions that QEMU makes for them.
VIRTIO_PCI = {"disk": "1af4:1042", "net": "1af4:1041"}
# ACCESS_PLATFORM: or the function would go past the IOMMU. Its interface before that has no such
# feature.
ISOLATED = "disable-legacy=on,iommu_platform=on"


def split(option, text):
    """VM and value of VM=VALUE."""
    vm, equals, value = text.partition("=")
    if not equals or not vm or not value:
        raise Stop(USAGE, "--%s %s: is not VM=%s" % (option, text,
                                                     "FILE" if option == "disk" else "user,..."))
    return vm, value


class Slots:
    """Which devices of the VM tree have a disk or a network behind them already."""

    def __init__(self, devices):
        self.free = {vm: list(found) for vm, found in devices.items()}
        named = [FUNCTION.fullmatch(device.place) for found in devices.values() for device in found
                 if device.kind == "pci"]
        self.used = {0} | {int(found[2], 16) for found in named if found}

    def take(self, option, vm, text):
        """How QEMU calls the next device `disk...` or `net...` of a VM: ("device" or "pci",
        options)."""
        mine = [device for device in self.free.get(vm, []) if device.name.startswith(option)]
        if not mine:
            raise Stop(USAGE, "--%s %s: the VM tree gives %s no (other) device whose name begins "
                       "with %s" % (option, text, vm, option))
        self.free[vm].remove(mine[0])
        found = self.mmio(mine[0]) or self.function(option, mine[0])
        if not found:
            raise Stop(USAGE, "--%s %s: %s of %s is %s, which is no virtio %s of this machine"
                       % (option, text, mine[0].name, vm, mine[0].place, option))
        return found

    @staticmethod
    def mmio(device):
        """One of the machine's eight, None: it is no such one."""
        found = device.kind == "host" and VIRTIO_MMIO.fullmatch(device.place)
        return ("device", "bus=virtio-mmio-bus.%d" % (int(found[1]) - 1)) if found else None

    def function(self, option, device):
        """A PCI function, None: this machine cannot have it there."""
        if device.kind != "pci":
            return None
        if device.place.lower() == VIRTIO_PCI[option]:
            # Wherever there is room.
            slot = min(set(range(SLOTS)) - self.used, default=SLOTS)
        else:
            found = FUNCTION.fullmatch(device.place)
            slot = SLOTS if not found or (int(found[1], 16), found[3]) != (0, "0") else \
                int(found[2], 16)
        self.used.add(slot)
        return ("pci", "addr=%02x.0,%s" % (slot, ISOLATED)) if 0 < slot < SLOTS else None


def has_functions(blob):
    """Does the VM tree give PCI functions to VMs?"""
    return any(device.kind == "pci" for found in vm_devices(blob).values() for device in found)


def options(args, blob):
    """QEMU's arguments for --disk, --net and --device; blob: path of the VM tree's."""
    if not args.disk and not args.net:
        return device_options(args.device)
    slots, backing = Slots(vm_devices(blob)), Backing()
    found = ["-global", "virtio-mmio.force-legacy=false"]
    for number, text in enumerate(args.disk):
        vm, file = split("disk", text)
        bus, place = slots.take("disk", vm, text)
        found += backing.drive("--disk " + text, file, number)
        found += ["-device", "virtio-blk-%s,drive=disk%d,%s" % (bus, number, place)]
    for number, text in enumerate(args.net):
        vm, net = split("net", text)
        bus, place = slots.take("net", vm, text)
        found += backing.netdev("--net " + text, net, number)
        found += ["-device", "virtio-net-%s,netdev=net%d,%s%s" % (
            bus, number, place, ",romfile=" if bus == "pci" else "")]
    return found + device_options(args.device)


def device_options(texts):
    """QEMU's arguments for --device."""
    return [word for text in texts for word in ("-device", text)]
