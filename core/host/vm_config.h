/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The VM tree: a flattened device tree that says which VMs to run. It is read in place. Tally and
 * tools/vm-check share this code, so both refuse the same trees in the same words. dts/README.md
 * documents every property.
 *
 * This code allocates nothing, has no global state, and uses standard C and libfdt only. The blob
 * is untrusted input: nothing is read from it before it has passed fdt_check_full().
 */
#ifndef CORE_HOST_VM_CONFIG_H
#define CORE_HOST_VM_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vpmu/selector.h"

#define VM_TREE_COMPATIBLE "tally,vm-tree-1"

#define VM_MAX_VMS          16U
#define VM_MAX_VCPUS        8U
#define VM_MAX_ALL_VCPUS    64U /* of all VMs together, because they may all be on one hart */
#define VM_MAX_HARTS        64U /* of a machine that run guests: masks have 64 bits */
#define VM_MAX_IMAGES       32U
#define VM_MAX_EVENTS       64U
#define VM_MAX_RAW_EVENTS   64U
#define VM_NAME_MAX         15U      /* characters */
#define VM_BOOTARGS_MAX     1023U    /* bytes without the NUL */
#define VM_RESTARTS_MAX     1000U    /* the highest restart-limit */
#define VM_HEARTBEAT_MS_MAX 3600000U /* an hour */

#define VM_TURN_US_DEFAULT 2000U /* without turn-us and share */

/* The guest's fixed addresses, and the interrupt source of its UART. */
#define GUEST_PLIC_BASE    UINT64_C(0x0c000000)
#define GUEST_PLIC_SIZE    UINT64_C(0x400000)
#define GUEST_PLIC_SOURCES 31U
#define GUEST_UART_BASE    UINT64_C(0x10000000)
#define GUEST_UART_SIZE    UINT64_C(0x1000) /* a page; the registers are fewer */
#define GUEST_UART_IRQ     10U
/* Its RTC, and the interrupt source of that, if no device has it. */
#define GUEST_RTC_BASE UINT64_C(0x101000)
#define GUEST_RTC_SIZE UINT64_C(0x1000)
#define GUEST_RTC_IRQ  11U
/* The virtio-mmio slots of a VM with machine = "virt". Slot n has the source n + 1. */
#define GUEST_SLOT_BASE UINT64_C(0x10001000)
#define GUEST_SLOT_STEP UINT64_C(0x1000)
#define GUEST_SLOTS     8U
/* The configuration space of the VM's own PCI bus, one page for each function. */
#define GUEST_ECAM_BASE UINT64_C(0x30000000)
#define GUEST_ECAM_SIZE UINT64_C(0x100000)
/* After it: the pages of its bells, one for each shared memory that the VM has. */
#define GUEST_BELL_BASE (GUEST_ECAM_BASE + GUEST_ECAM_SIZE)
#define GUEST_BELL_STEP UINT64_C(0x1000)
#define GUEST_BELL_SIZE (VM_MAX_SHARED * GUEST_BELL_STEP)
/* After these: the registers and the memory of an operator's function, see docs/operator.md. */
#define GUEST_OPERATOR_BASE (GUEST_BELL_BASE + GUEST_BELL_SIZE)
#define GUEST_OPERATOR_SIZE UINT64_C(0x1000)
#define GUEST_KEY_BASE      (GUEST_OPERATOR_BASE + GUEST_OPERATOR_SIZE)
#define GUEST_KEY_SIZE      UINT64_C(0x1000)
/* A page for each of its ports that is a PCI function (docs/networks.md). */
#define GUEST_PORT_BASE       (GUEST_KEY_BASE + GUEST_KEY_SIZE)
#define GUEST_PORT_STEP       UINT64_C(0x1000)
#define GUEST_PORT_SIZE       (VM_MAX_PORTS * GUEST_PORT_STEP)
#define GUEST_OPERATOR_MEMORY UINT64_C(0x30400000) /* a multiple of its size */
#define GUEST_OPERATOR_BYTES  UINT64_C(0x400000)
/* A guest with interrupts = "aia": the IMSIC of vcpu n is n pages after the first one. */
#define GUEST_APLIC_BASE UINT64_C(0x0d000000)
#define GUEST_APLIC_SIZE UINT64_C(0x4000)
#define GUEST_IMSIC_BASE UINT64_C(0x28000000)
#define GUEST_IMSIC_STEP UINT64_C(0x1000)
#define GUEST_IMSIC_SIZE (VM_MAX_VCPUS * GUEST_IMSIC_STEP)
/* Emulated devices at most (core/dispatch/mmio.c). */
#define VM_EMULATED 11U
/* First address that the G-stage, Sv39x4, cannot map. */
#define GUEST_ADDRESS_END (UINT64_C(1) << 41)

#define VM_RAM_BASE        UINT64_C(0x80000000) /* of a VM without memory-at */
#define VM_MEMORY_STEP     UINT64_C(0x200000)   /* a VM's memory is a multiple of this, in bytes */
#define VM_DTB_SIZE        UINT64_C(0x10000)    /* the end of a VM's RAM, for guest_dt_build() */
#define VM_ALL_COUNTERS    UINT64_C(0xfffffffd) /* bit 1 is time, which is no counter */
#define VM_RESERVED_MEMORY UINT64_C(0x2000000)  /* RAM kept for firmware, Tally and page tables */

#define VM_MAX_BANKS          16U /* of the machine's RAM */
#define VM_MAX_PIECES         4U  /* of a VM's memory */
#define VM_MAX_DEVICES        16U /* of a VM */
#define VM_DEVICE_MAX_REGIONS 4U
#define VM_FUNCTION_MAX_BARS  6U /* regions of a PCI function */
#define VM_MAX_DEVICE_PAGES   (VM_MAX_DEVICES * VM_FUNCTION_MAX_BARS) /* ranges, of a VM */
#define VM_DEVICE_MAX_REGS    8U /* entries of reg, several of which may be in a region */
#define VM_DEVICE_MAX_IRQS    4U
/* Of all VMs: an IMSIC has 63 identities, and one is the console's. */
#define VM_MAX_ALL_IRQS  62U
#define VM_MAX_FUNCTIONS 32U /* PCI functions of all VMs together */
#define VM_MAX_WINDOWS   2U  /* of a VM's PCI bus */
#define VM_MAX_SHARED    8U  /* shared memories of all VMs together */
#define VM_MAX_BELLS     32U /* bells of all VMs together */
#define VM_MAX_NETWORKS  8U
#define VM_MAX_PORTS     4U /* ports of a VM, each on another network */
#define VM_MAC_BYTES     6U
/* Of the limits of a port: each frame fits, and more than any hart copies in 1 ms. */
#define VM_MAX_PORT_FRAMES 100000U
#define VM_MIN_PORT_BYTES  1518U
#define VM_MIN_LARGE_BYTES 65550U /* on a network with offloads */
#define VM_MAX_PORT_BYTES  100000000U

#define VM_MAX_SCHEDULES    8U       /* harts with a schedule */
#define VM_MAX_HART_WINDOWS 16U      /* of a schedule */
#define VM_FRAME_US_MIN     200U     /* of a major frame */
#define VM_FRAME_US_MAX     1000000U /* longest time between looks at a VM that shares its hart */
#define VM_WINDOW_US_MIN    100U     /* of a window, and of one piece of slack */
/* Longest stay in HS that a guest can cause, in instructions, without those of the firmware. Only
 * on harts with a schedule may it be longer: core/tree/vm_stay.h. */
#define VM_LONGEST_STAY 5000U

/* Bytes in the blob, valid as long as the blob is. */
struct vm_image {
	const void *data; /* NULL if there are none */
	uint64_t size;    /* bytes */
};

/* The ends after which a VM starts again by itself. After a reboot by the guest it always does. */
enum vm_restart {
	VM_RESTART_NEVER,
	VM_RESTART_ON_FAILURE,
	VM_RESTART_ALWAYS,
};

/* The memory that a device may reach by DMA, as the VM tree says. */
enum vm_dma {
	VM_DMA_NONE,     /* it has none */
	VM_DMA_ISOLATED, /* an IOMMU keeps it within the VM's memory */
	VM_DMA_TRUSTED,  /* it may reach all memory: the VM's drivers are trusted */
};

/* How the user can ask a guest to shut down. */
enum vm_shutdown_by {
	VM_SHUTDOWN_NONE,
	VM_SHUTDOWN_SYSRQ, /* its kernel, by its console: to sync and power off */
	VM_SHUTDOWN_KEY,   /* by a power key */
};

/* What a VM may ask as an operator. */
enum vm_operator_access {
	VM_OPERATOR_NONE,
	VM_OPERATOR_WATCH,
	VM_OPERATOR_CONTROL, /* it may also change the state of VMs */
};

/* How a device is brought to rest at the end of a life of its VM. */
enum vm_device_reset {
	VM_RESET_UNKNOWN, /* none is known, so its VM has one life */
	VM_RESET_GOLDFISH_RTC,
	VM_RESET_NS16550,
	VM_RESET_VIRTIO_MMIO,
	VM_RESET_PCI, /* a PCI function, see arch/riscv/devices/pci_reset.h */
};

/* When a source of the host's controller interrupts: sourcecfg.SM of an APLIC. */
enum vm_irq_mode {
	VM_IRQ_UNKNOWN, /* the source of a PLIC: the host's tree does not have its mode */
	VM_IRQ_RISING = 4,
	VM_IRQ_FALLING,
	VM_IRQ_HIGH,
	VM_IRQ_LOW,
};

/* A function of the host's PCI bus. Members marked "boot" are set by boot, not by the parser. */
struct vm_pci {
	bool given;      /* false: the device is not a PCI function */
	bool by_id;      /* it was named by vendor and device */
	bool forced;     /* the tree consents to the effects that pci_acts.h lists */
	uint32_t name;   /* bus << 8 | device << 3 | function; by_id: vendor << 16 | device */
	uint32_t bdf;    /* boot */
	uint32_t pin;    /* boot; 1 to 4: the INTx that is irqs[0]; 0 if there is none */
	uint32_t number; /* boot; of struct function, see core/io/functions.h */
};

/*
 * A device of the host that a VM has for itself. Its registers are at the same addresses in the VM.
 * Without a host's tree, and before boot for a PCI function, only name, host, pci, dma and
 * dma_unchecked are set.
 */
struct vm_device {
	const char *name; /* of its node in the VM tree; in the blob */
	/* Path or alias of its node in the host's device tree, or the `pci` of a PCI function; in
	 * the blob. */
	const char *host;
	struct vm_pci pci;
	int node;            /* its offset in the host's tree */
	enum vm_dma dma : 8; /* a bit-field, as a VM has room for 16 devices */
	enum vm_device_reset reset : 8;
	bool host_numbers;  /* its interrupts have the host's numbers in the VM */
	bool dma_unchecked; /* dma is not looked up by compatible */
	uint8_t reg_shift;  /* if it has a reset */
	uint8_t n_regions;
	uint8_t n_irqs;
	/* The first entry of reg, which lies in one of the regions. */
	uint64_t registers, registers_size;
	struct {
		uint64_t base, size; /* whole pages */
	} regions[VM_FUNCTION_MAX_BARS];
	struct {
		uint32_t source; /* of the host's interrupt controller */
		uint32_t guest;  /* source of the VM's own PLIC; the same for the same source */
		enum vm_irq_mode mode : 8;
		bool edge; /* mode is an edge; false for a PLIC, whose tree has no modes */
	} irqs[VM_DEVICE_MAX_IRQS];
};

/* Offsets are in bytes from ram_base, and below first_size. Kernel, initrd and dtb do not overlap.
 * No two VMs have the same memory. */
struct vm_config {
	char name[VM_NAME_MAX + 1];
	uint64_t memory;     /* bytes, all pieces together */
	uint64_t ram_base;   /* guest physical address of its first byte */
	uint64_t host_base;  /* host physical address of the same byte */
	uint64_t first_size; /* bytes from ram_base on: all of the memory, or the first piece */
	uint32_t n_pieces;   /* given by memory-at; 0: one piece, anywhere */
	struct {
		uint64_t base, size; /* host physical and guest physical address, which are equal */
	} pieces[VM_MAX_PIECES];     /* ascending, none touches another; see vm_memory.h */
	uint32_t n_devices;
	struct vm_device devices[VM_MAX_DEVICES];
	/* The parts of the host's PCI windows with the BARs of this VM's functions. Set at boot. */
	uint32_t n_windows;
	struct vm_window {
		uint64_t bus, base, size; /* the address on the bus, and that of the harts */
		bool wide;                /* for 64-bit BARs */
	} windows[VM_MAX_WINDOWS];
	/* Memory shared with other VMs; not part of its other memory. */
	uint32_t n_shared;
	struct {
		uint64_t at;     /* guest physical, a multiple of VM_MEMORY_STEP */
		uint32_t number; /* in vm_tree.shared */
		bool writes;     /* false: it only reads */
		/* The bell's interrupt: the source of the VM's PLIC or APLIC, and the identity of
		 * an interrupt file, 0 if it has none. Both are 0 without a bell. */
		uint32_t bell, identity;
	} shared[VM_MAX_SHARED];
	/* Its ports, in the order of their networks. */
	uint32_t n_ports;
	struct vm_port {
		uint32_t network; /* in vm_tree.networks */
		uint32_t source;  /* its interrupt, of the VM's PLIC or APLIC */
		uint8_t mac[VM_MAC_BYTES];
		bool uplink; /* it has all addresses that no other port of the network has */
		/* The most that it may send in a period of 1 ms (ports_parts.h); 0: no limit. */
		uint32_t frames_per_ms, bytes_per_ms;
	} ports[VM_MAX_PORTS];
	uint32_t n_vcpus;
	struct {
		uint64_t harts;      /* bit n: it may run on hart n of vm_harts; never 0 */
		uint32_t first_hart; /* index in vm_harts of its first home, one of these */
	} vcpus[VM_MAX_VCPUS];
	struct vm_image kernel;
	struct vm_image initrd;
	bool kernel_is_image;   /* the kernel has a RISC-V Image header */
	uint64_t kernel_offset; /* where it is loaded, and its entry point */
	uint64_t kernel_span;   /* bytes that it occupies when it runs; at least kernel.size */
	uint64_t initrd_offset; /* 4 KiB aligned; 0 without an initrd */
	uint64_t dtb_offset;    /* 64 KiB aligned, VM_DTB_SIZE bytes */
	const char *bootargs;   /* in the blob; NULL: none */
	bool console;
	bool rtc;            /* it has a clock of its own */
	uint32_t rtc_source; /* its interrupt; 0: it has no alarms */
	bool aia;            /* it has an IMSIC for each vcpu and an APLIC; false: a PLIC */
	bool virt;           /* it looks like QEMU's machine "virt", see core/tree/vm_machine.h */
	enum vm_restart restart;
	uint32_t restart_limit; /* restarts in a row; those by the user do not count */
	uint32_t heartbeat_ms;  /* a guest that does not ring for this long has failed; 0: none */
	bool deferred;          /* boot does not start it */
	enum vm_shutdown_by shutdown;
	uint32_t key_source;   /* the interrupt of its power key; 0: it has none */
	bool suspend;          /* its kernel is told how a vcpu sleeps in a suspended system */
	bool crash_exits;      /* its exits are recorded for its last words */
	bool bad_access_stops; /* an access outside its memory and devices ends it */
	uint32_t share;        /* its vcpus' turns are this many times tree.turn_us long */
	uint32_t turn_us;      /* length of a turn of its vcpus, at most a second */
	bool no_look;          /* no looks while a vcpu computes; no other vcpu runs on its hart */
	uint32_t controls;     /* bit n: it may start, stop and restart VM n of the tree */
	/* Of an operator; all others 0 without access. */
	struct vm_operator {
		enum vm_operator_access access;
		uint32_t vms;              /* bit n: it may ask about VM n of the tree */
		uint32_t requests_hz;      /* so many requests begin a second */
		uint32_t samples_hz;       /* so many samples a second and hart; 0: none */
		uint32_t source, identity; /* its interrupt, like that of a bell */
	} operator;
	/* Budget of each of its vcpus: the maximum number of events, of type 0 or 1, in each
	 * period. count 0 if there is none. */
	struct vm_budget {
		uint32_t event_idx, count, period_us;
	} budget;
	bool pmu;
	uint64_t pmu_counters; /* bit n: the VM has counter n; 0 without a PMU */
	bool pmu_trap_reads;
	bool pmu_snapshot;    /* the VM has the snapshot area */
	bool pmu_freeze_vcpu; /* HS counts as VS; no other VM runs on its harts */
	bool pmu_idle_cycles; /* idle time counts as cycles; no other vcpu runs on its harts */
	bool pmu_overflow;    /* overflow interrupts, if the harts have them */
	uint32_t pmu_overflow_limit; /* overflow interrupts per vcpu and 10 ms; 0: no limit */
	bool pmu_events_given;       /* only the events listed below can be counted; false: all */
	uint32_t n_pmu_events;
	uint32_t pmu_events[VM_MAX_EVENTS]; /* event_idx */
	/* Raw events that may be counted as well; 0 without pmu_events_given. */
	uint32_t n_pmu_raw_events;
	struct selector_allowed pmu_raw_events[VM_MAX_RAW_EVENTS];
};

/* Memory shared by several VMs. At least one of them writes it. */
struct vm_shared {
	char name[VM_NAME_MAX + 1];
	uint64_t size;      /* bytes, whole pages; the rest of its last step belongs to no VM */
	uint64_t host_base; /* a multiple of VM_MEMORY_STEP */
};

/* A network: it connects the VMs that have a port of it. */
struct vm_network {
	char name[VM_NAME_MAX + 1];
	bool offload; /* drivers leave checksums and segmentation to who gets a frame */
};

/* A window of a schedule: vcpus of one VM have the hart alone. In microseconds from the beginning
 * of each frame. */
struct vm_hart_window {
	uint32_t start_us, length_us;
	uint32_t guard_us; /* no VM has the hart for this long before start_us */
	uint32_t vm;       /* index in the tree */
	uint32_t vcpus;    /* bit n: its vcpu n */
};

/* The schedule of one hart. Windows ascend; they and their guards do not overlap. The guard of the
 * first one may lie at the end of the frame before. */
struct vm_schedule {
	uint32_t hart; /* index in vm_harts */
	uint32_t id;   /* id of the same hart, for messages */
	uint32_t frame_us;
	uint32_t slack; /* bit n: VM n of the tree has the hart outside windows and guards */
	uint32_t n_windows;
	struct vm_hart_window windows[VM_MAX_HART_WINDOWS];
	/* See core/tree/vm_stay.h. */
	uint32_t longest_stay;   /* instructions */
	uint32_t least_guard_us; /* the least guard with which a window begins at its tick */
};

struct vm_tree {
	bool has_selectors; /* the tree has a node /pmu */
	struct selectors selectors;
	uint32_t turn_us;     /* length of a turn of a vcpu with a share of 1 */
	uint32_t time_epoch;  /* seconds since 1970: the time of day is not before it */
	uint32_t n_irqs;      /* interrupt sources of the host that VMs have */
	uint32_t n_functions; /* PCI functions of all VMs */
	uint32_t n_images;
	uint32_t n_shared;
	struct vm_shared shared[VM_MAX_SHARED];
	uint32_t n_networks;
	struct vm_network networks[VM_MAX_NETWORKS];
	uint32_t n_schedules; /* a hart without one has turns */
	struct vm_schedule schedules[VM_MAX_SCHEDULES];
	uint32_t n_vms;
	struct vm_config vms[VM_MAX_VMS]; /* last, because Tally keeps memory for n_vms of them */
};

/* Addresses of the host; `to` is the first one after the range. */
struct vm_range {
	uint64_t from, to;
};

/* The harts that run guests, in any order. Masks of harts have bit n for ids[n]; only messages and
 * trees have the ids themselves. */
struct vm_harts {
	uint32_t n; /* 1 to VM_MAX_HARTS */
	uint32_t ids[VM_MAX_HARTS];
};

/* The RAM that Tally uses. */
struct vm_ram {
	uint32_t n;
	struct vm_range banks[VM_MAX_BANKS]; /* ascending; none touches another */
	/* Start of Tally's VM_RESERVED_MEMORY, in one of the banks; a multiple of
	 * VM_MEMORY_STEP. */
	uint64_t tally;
	/* Bytes that are not used: before Tally in its bank, and in banks beyond VM_MAX_BANKS. */
	uint64_t before, beyond;
};

/* How RAM is divided. All addresses are multiples of VM_MEMORY_STEP. */
struct vm_guests {
	uint32_t n; /* 0: there is no memory for VMs */
	/* For VMs, in ascending order; none is empty or has address 0. */
	struct vm_range ranges[VM_MAX_BANKS + 2];
	struct vm_range kept; /* for the firmware, Tally and its tables */
	struct vm_range tree; /* the steps that have a byte of the VM tree */
};

struct host_claims; /* core/host/host_claims.h */

/* Limits of the machine. Functions get harts as indexes in `harts`, or as masks of these. */
struct vm_limits {
	struct vm_harts harts;
	uint64_t ad_ignores_gstage; /* mask of the harts on which no VM may have read-only memory */
	struct vm_ram ram;
	struct vm_guests guests; /* how vm_guest_ranges() divides `ram` */
	uint64_t hctrs;          /* bit n: the harts have counter n; 0: unknown, no check */
	/*
	 * Returns why a vcpu cannot move between two harts, for a refusal, with '#' for the id of
	 * each, or NULL if it can. If the pointer itself is NULL, all harts are alike.
	 */
	const char *(*differ)(uint32_t hart, uint32_t other);
	/*
	 * Returns why the machine's hart with an id that is not in `harts` cannot be used, or NULL
	 * if there is no such hart. If the pointer itself is NULL, nothing is known about other
	 * harts.
	 */
	const char *(*unusable)(uint64_t id);
	/*
	 * Returns in words how a hart contradicts the node /pmu, or NULL if it does not. If the
	 * pointer itself is NULL, nothing is known about the harts.
	 */
	const char *(*contradicts)(uint32_t hart);
	/*
	 * Returns the number of a hart's guest interrupt files. If the pointer itself is NULL, it
	 * is not known.
	 */
	uint32_t (*guest_files)(uint32_t hart);
	/*
	 * Returns why vcpus on these harts cannot have a budget of an event, or NULL if they can.
	 * If the pointer itself is NULL, nothing is known about the harts.
	 */
	const char *(*no_budget)(uint64_t harts, uint32_t event_idx);
	/* All harts drive their counters without the firmware; false if one does not, or if it is
	 * not known. */
	bool ssccfg;
	/* The host's device tree, which has passed fdt_check_full(). If it is NULL, devices are
	 * checked for syntax and duplicates only. */
	const void *host_tree;
	/* Room for the claims of its nodes. If it is NULL or too small, they are read from the tree
	 * again for each device. */
	struct host_claims *claims;
};

/* One code for each kind of refusal. The values may change; the names do not. */
enum vm_refusal_code {
	VM_ACCEPTED,
	VM_REFUSED_BLOB,             /* not a valid device tree */
	VM_REFUSED_COMPATIBLE,       /* a device tree, but not a VM tree of this version */
	VM_REFUSED_UNKNOWN_NODE,     /* or a node in the wrong place */
	VM_REFUSED_UNKNOWN_PROPERTY, /* or a property in the wrong node */
	/* A node, property, VM name, phandle or list entry occurs twice. */
	VM_REFUSED_DUPLICATE,
	VM_REFUSED_MISSING_NODE,
	VM_REFUSED_MISSING_PROPERTY,
	VM_REFUSED_SIZE,     /* the property has the wrong number of bytes */
	VM_REFUSED_STRING,   /* not exactly one NUL-terminated string, or too long */
	VM_REFUSED_VALUE,    /* not one of the allowed words or numbers */
	VM_REFUSED_NAME,     /* of a VM or a vcpu */
	VM_REFUSED_NO_VM,    /* no VM in the tree, none that boot starts, or none of this name */
	VM_REFUSED_NO_VCPU,  /* a VM without vcpus, or a vcpu out of order */
	VM_REFUSED_TOO_MANY, /* VMs, vcpus or images */
	VM_REFUSED_MEMORY,   /* zero, not a multiple of VM_MEMORY_STEP, or two that differ */
	VM_REFUSED_MEMORY_SUM,
	VM_REFUSED_MEMORY_RAM,   /* memory-at: not in RAM */
	VM_REFUSED_MEMORY_KEPT,  /* memory-at: memory that Tally keeps */
	VM_REFUSED_MEMORY_GUEST, /* memory-at: where a VM cannot have memory */
	VM_REFUSED_MEMORY_ROOM,  /* no free piece is large enough beside memory-at of others */
	VM_REFUSED_OVERLAP,      /* memory that is given twice, of the host or in a VM */
	VM_REFUSED_READ_ONLY,    /* a hart does not enforce read-only memory */
	VM_REFUSED_NO_WRITER,    /* shared memory that all may only read */
	VM_REFUSED_HART,         /* not on this machine */
	VM_REFUSED_HARTS,        /* the harts of one vcpu differ too much to move between them */
	VM_REFUSED_GUEST_FILES,  /* a vcpu cannot have a guest interrupt file */
	VM_REFUSED_CONTRADICTED, /* a hart with a PMU for guests contradicts /pmu */
	VM_REFUSED_COUNTER,      /* not on this machine, or no counter at all */
	VM_REFUSED_EVENT,        /* SBI 3.0 does not define this event_idx */
	VM_REFUSED_SHARED,  /* the property needs exclusive harts, but other vcpus may run there */
	VM_REFUSED_PHANDLE, /* does not refer to a child of /images */
	VM_REFUSED_EMPTY_IMAGE,
	VM_REFUSED_KERNEL_FILE,  /* a packed kernel, or one for something else */
	VM_REFUSED_IMAGE_HEADER, /* a RISC-V Image header that contradicts itself */
	VM_REFUSED_RESTARTS,     /* more than VM_RESTARTS_MAX */
	VM_REFUSED_LOAD_OFFSET,  /* misaligned, or given for a RISC-V Image */
	VM_REFUSED_KERNEL_FIT,   /* kernel and dtb do not fit into the VM's memory */
	VM_REFUSED_INITRD_FIT,   /* the initrd does not fit between kernel and dtb */
	VM_REFUSED_DEVICE,       /* no node of the host, or none that a VM can have */
	VM_REFUSED_DMA,          /* the tree is wrong about a device's DMA */
	VM_REFUSED_REGISTERS,    /* registers of a device that have another owner as well */
	VM_REFUSED_INTERRUPT,    /* an interrupt of another owner, or that no VM can have */
	VM_REFUSED_BELL,         /* memory that cannot have a bell, or no VM would ring it */
	VM_REFUSED_NETWORK,      /* it has one port, or two uplinks */
	VM_REFUSED_PCI,          /* no PCI function, or none that can be had */
	VM_REFUSED_REFERENCE, /* the VM, or another property, does not have the thing referred to */
	VM_REFUSAL_CODES
};

/* The strings are NUL-terminated printable ASCII, whatever the blob contains. */
struct vm_refusal {
	enum vm_refusal_code code;
	int at;            /* offset of the node; 0 for the blob as a whole */
	const char *name;  /* of the property, as the blob or the parser has it, or "" */
	char node[64];     /* path */
	char property[32]; /* empty: the refusal concerns the node itself */
	char reason[152];
};

/* Enough bytes for every refusal as text. */
#define VM_REFUSAL_TEXT 256U

/* Returns the first device without a known reset, because of which the VM has one life, or NULL. */
const struct vm_device *vm_device_without_reset(const struct vm_config *vm);

/* Returns the source of the VM's own interrupt controller for a source of the host that one of its
 * devices has already, or 0. */
uint32_t vm_known_irq(const struct vm_config *vm, uint32_t source);

/* Returns the address of the registers of the VM's n-th port: a slot with machine = "virt". */
static inline uint64_t vm_port_at(const struct vm_config *vm, uint32_t n)
{
	return vm->virt ? GUEST_SLOT_BASE + (vm->ports[n].source - 1) * GUEST_SLOT_STEP
	                : GUEST_PORT_BASE + n * GUEST_PORT_STEP;
}

/* Returns how many of the VM's ports are PCI functions: all or none. */
static inline uint32_t vm_pci_ports(const struct vm_config *vm)
{
	return vm->virt ? 0 : vm->n_ports;
}

/* Whether a source (1 or more) of the VM's own interrupt controller is that of its UART, of one of
 * its devices, bells or ports, or of its operator's function. */
bool vm_has_irq(const struct vm_config *vm, uint32_t number);

/* Returns the lowest source that is free for a device. With machine = "virt" those up to 11 are
 * kept for the devices that virt has there. More than GUEST_PLIC_SOURCES if none is free. */
uint32_t vm_free_irq(const struct vm_config *vm);

/* Lists the pages of registers of the VM's devices; those that overlap or follow each other are one
 * range. Returns the number of ranges. */
uint32_t vm_device_pages(const struct vm_config *vm, struct vm_range pages[VM_MAX_DEVICE_PAGES]);

/* Returns the index of the hart with this id, or VM_MAX_HARTS if there is none. */
uint32_t vm_hart(const struct vm_harts *harts, uint64_t id);

/* Returns the lowest id of a mask of harts, which is not 0. */
uint32_t vm_lowest_hart(const struct vm_harts *harts, uint64_t mask);

/* Returns a mask of the VM's vcpus that may run on the hart with this index. */
uint32_t vm_vcpus_on(const struct vm_config *vm, uint32_t hart);

/* Whether a device of the VM may write all memory (VM_DMA_TRUSTED). */
bool vm_has_trusted_dma(const struct vm_config *vm);

/* Writes "node: property: reason", one line without a newline, truncated to size bytes, which
 * is not 0. */
void vm_refusal_text(const struct vm_refusal *why, char *text, size_t size);

/*
 * Divides RAM. The VM tree stays where the boot loader put it (*blob, in bytes), so no VM has
 * memory there. If Tally's bank is too small, there is no memory for VMs.
 */
void vm_guest_ranges(const struct vm_ram *ram, const struct vm_range *blob,
                     struct vm_guests *guests);

/* Returns the bank that has this address, or NULL. */
const struct vm_range *vm_bank_of(const struct vm_ram *ram, uint64_t address);

/* Why RAM is not used (`before` and `beyond` of struct vm_ram), in words that follow "N MiB of
 * RAM". */
#define VM_RAM_BEFORE                                                                              \
	" before Tally are not used: the host's tree does not say where in them the firmware is"
#define VM_RAM_BEYOND " are not used: Tally uses 16 banks at most"
_Static_assert(VM_MAX_BANKS == 16, "the words above");

/* Takes the ranges that *range overlaps or touches out of a list of n, and extends *range by them.
 * No two of the list overlap or touch. */
void vm_ranges_join(struct vm_range *list, uint32_t *n, struct vm_range *range);

/* Returns the bytes of n ranges. */
uint64_t vm_ranges_sum(const struct vm_range *ranges, uint32_t n);

/* Whether two ranges, of an address and bytes each, have a byte in common. None of them wraps. */
bool vm_ranges_overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size);

#endif
