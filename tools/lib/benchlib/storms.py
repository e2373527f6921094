# SPDX-License-Identifier: Apache-2.0
"""What a neighbour can do without a pause (guests/bare/hostile/tempest.c), by name."""

# {name: (what it does, how many gusts a victim waits for: they take long)}
STORMS = {
    "calls": ("SBI calls, right and wrong", 1000),
    "ipi": ("IPIs to itself, each taken", 1000),
    "fence": ("remote fences to itself", 1000),
    "timer": ("a timer that is due at once, by SBI", 1000),
    "console": ("text to the debug console", 200),
    "mmio": ("registers of its UART and PLIC", 1000),
    "outside": ("loads and stores where it has nothing", 500),
    "illegal": ("illegal instructions, and CSRs of HS", 500),
    "pmu": ("counters configured, started, stopped, reset", 1000),
    "overflow": ("a counter that overflows every 100 instructions", 200),
    "wakes": ("sleeps of 2 microseconds", 200),
    "starts": ("a second vcpu that starts and stops itself", 5),
    "restart": ("its own restart, at its first instruction", 5),
    "device": ("interrupts of a device of its own", 200),
    "dma": ("DMA of a device of its own, reset each time", 50),
    "frames": ("frames to it and malformed queues, by a port of a network", 1000),
    "messages": ("MSI-X messages of its port, masked and unmasked", 1000),
}
CALM = "nothing"
CALM_WORDS = "one that only computes"

# What storms with a device need: in the VM's node, and of QEMU.
CLOCK = 'clock { host = "/soc/rtc@101000"; dma = "none"; };'
FUNCTION = 'rng { pci = "00:01.0"; dma = "isolated"; };'
RNG = "virtio-rng-pci,addr=01.0,disable-legacy=on,iommu_platform=on"
# What "frames" and "messages" need: of the tree.
NETWORK = "networks { lan { storm { }; victim { }; }; };"
# What "messages" needs: of its VM, and of a machine with IMSICs.
AIA = 'interrupts = "aia";'
