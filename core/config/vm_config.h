/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The VM tree: one flattened device tree that says which VMs to run, read in place. The
 * microvisor and tools/vm-check share this code, so both refuse the same trees in the same
 * words. Every property is documented in dts/README.md.
 *
 * No allocation, no globals, standard C and libfdt only. The blob is input: nothing in it is
 * trusted, and nothing of it is read before fdt_check_full() has passed it.
 */
#ifndef CORE_CONFIG_VM_CONFIG_H
#define CORE_CONFIG_VM_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VM_TREE_COMPATIBLE "tally,vm-tree-1"

#define VM_MAX_VMS       16U
#define VM_MAX_VCPUS     8U
#define VM_MAX_ALL_VCPUS 64U /* of all VMs together: they may all be on one hart */
#define VM_MAX_HARTS     64U /* hart ids 0..63 can be named */
#define VM_MAX_IMAGES    32U
#define VM_MAX_COUNTERS  32U
#define VM_MAX_EVENTS    64U
#define VM_NAME_MAX      15U   /* characters */
#define VM_BOOTARGS_MAX  1023U /* bytes without the NUL */
#define VM_RESTARTS_MAX  1000U /* the highest restart-limit */

#define VM_RAM_BASE        UINT64_C(0x80000000)
#define VM_MEMORY_STEP     UINT64_C(0x200000)   /* a VM's memory is a multiple of this, in bytes */
#define VM_DTB_SIZE        UINT64_C(0x10000)    /* the end of a VM's RAM, for guest_dt_build() */
#define VM_ALL_COUNTERS    UINT64_C(0xfffffffd) /* bit 1 is time, which is no counter */
#define VM_RESERVED_MEMORY UINT64_C(0x2000000)  /* RAM kept for firmware, Tally and page tables */

/* Bytes inside the blob: valid as long as the blob is. */
struct vm_image {
	const void *data; /* NULL: none */
	uint64_t size;    /* bytes */
};

/* Ends after which a VM starts again by itself. A guest's own reboot is none of them: it always
 * restarts. */
enum vm_restart {
	VM_RESTART_NEVER,
	VM_RESTART_ON_FAILURE,
	VM_RESTART_ALWAYS,
};

/* The offsets count bytes from VM_RAM_BASE. Kernel, initrd and dtb do not overlap. */
struct vm_config {
	char name[VM_NAME_MAX + 1];
	uint64_t memory; /* bytes */
	uint32_t n_vcpus;
	struct {
		uint64_t harts;      /* bit n: may run on the hart with id n; never 0 */
		uint32_t first_hart; /* of these; where it begins */
	} vcpus[VM_MAX_VCPUS];
	struct vm_image kernel;
	struct vm_image initrd;
	bool kernel_is_image;   /* carries a RISC-V Image header */
	uint64_t kernel_offset; /* where its bytes go, and where its first instruction is */
	uint64_t kernel_span;   /* bytes it occupies once running; at least kernel.size */
	uint64_t initrd_offset; /* 4 KiB aligned; 0 without an initrd */
	uint64_t dtb_offset;    /* 64 KiB aligned, VM_DTB_SIZE bytes */
	const char *bootargs;   /* NULL: none; inside the blob */
	bool console;
	enum vm_restart restart;
	uint32_t restart_limit; /* restarts in a row, not counting the user's */
	bool bad_access_stops;  /* an access outside its memory and devices ends it */
	bool pmu;
	uint64_t pmu_counters; /* bit n: counter n is granted; 0 without a PMU */
	bool pmu_trap_reads;
	bool pmu_snapshot;    /* the snapshot page is offered */
	bool pmu_freeze_vcpu; /* HS counts as VS; no other VM runs on its harts */
	bool pmu_idle_cycles; /* idle time is cycles; no other vcpu runs on its vcpus' harts */
	bool pmu_overflow;    /* overflow interrupts are offered where the harts have them */
	uint32_t pmu_overflow_limit; /* overflow interrupts a vcpu in 10 ms; 0: no limit */
	bool pmu_events_given;       /* only pmu_events may be counted; false: all may */
	uint32_t n_pmu_events;
	uint32_t pmu_events[VM_MAX_EVENTS]; /* event_idx */
};

struct vm_tree {
	uint32_t n_vms;
	struct vm_config vms[VM_MAX_VMS];
};

/* What the machine has. */
struct vm_limits {
	uint64_t harts;        /* bit n: a hart with id n exists */
	uint64_t guest_memory; /* bytes for all VMs together, see vm_guest_memory() */
	uint64_t hctrs;        /* bit n: the harts have counter n; 0: unknown, do not check */
	/*
	 * Why a vcpu cannot move between two harts, as the reason of a refusal ('#' for each hart
	 * in turn); NULL: it can. The function itself may be NULL: all harts are alike.
	 */
	const char *(*differ)(uint32_t hart, uint32_t other);
};

/* One code per kind of refusal. Values are not stable; names are. */
enum vm_refusal_code {
	VM_ACCEPTED,
	VM_REFUSED_BLOB,             /* not a sound device tree */
	VM_REFUSED_COMPATIBLE,       /* a device tree, but not a VM tree of this version */
	VM_REFUSED_UNKNOWN_NODE,     /* also: a node where none belongs */
	VM_REFUSED_UNKNOWN_PROPERTY, /* also: a property that does not belong there */
	VM_REFUSED_DUPLICATE,        /* node, property, VM name, phandle or list member twice */
	VM_REFUSED_MISSING_NODE,
	VM_REFUSED_MISSING_PROPERTY,
	VM_REFUSED_SIZE,     /* the property has the wrong number of bytes */
	VM_REFUSED_STRING,   /* not one NUL-terminated string, or too long */
	VM_REFUSED_VALUE,    /* a word or number that is not one of those possible */
	VM_REFUSED_NAME,     /* of a VM or a vcpu */
	VM_REFUSED_NO_VM,    /* no VM in the tree */
	VM_REFUSED_NO_VCPU,  /* no vcpu in a VM */
	VM_REFUSED_TOO_MANY, /* VMs, vcpus or images */
	VM_REFUSED_MEMORY,   /* zero, or not a multiple of VM_MEMORY_STEP */
	VM_REFUSED_MEMORY_SUM,
	VM_REFUSED_HART,    /* not on this machine */
	VM_REFUSED_HARTS,   /* of one vcpu, too different to move between them */
	VM_REFUSED_COUNTER, /* not on this machine, or no counter at all */
	VM_REFUSED_EVENT,   /* an event_idx that SBI 3.0 does not know */
	VM_REFUSED_SHARED,  /* what is for those alone on their harts, and others may run there */
	VM_REFUSED_PHANDLE, /* does not lead to a child of /images */
	VM_REFUSED_EMPTY_IMAGE,
	VM_REFUSED_IMAGE_HEADER, /* a RISC-V Image that contradicts itself */
	VM_REFUSED_RESTARTS,     /* more than VM_RESTARTS_MAX */
	VM_REFUSED_LOAD_OFFSET,  /* misaligned, or given for an Image */
	VM_REFUSED_KERNEL_FIT,   /* kernel and dtb do not fit into the VM's memory */
	VM_REFUSED_INITRD_FIT,   /* nor does the initrd between them */
	VM_REFUSAL_CODES
};

/* All three are NUL-terminated printable ASCII, whatever the blob holds. */
struct vm_refusal {
	enum vm_refusal_code code;
	char node[64];     /* path */
	char property[32]; /* empty: the node itself */
	char reason[128];
};

/* Enough for any refusal as text. */
#define VM_REFUSAL_TEXT 256U

/*
 * Reads a VM tree of at most blob_size bytes; blob is 8-byte aligned. true: *out is complete
 * and every promise in the comments above holds. false: *why says what was refused, *out must
 * not be used. The time taken is linear in the blob's structure, whatever the images' size.
 */
bool vm_config_parse(const void *blob, uint64_t blob_size, const struct vm_limits *limits,
                     struct vm_tree *out, struct vm_refusal *why);

/* "node: property: reason", one line without a newline, cut at size bytes. */
void vm_refusal_text(const struct vm_refusal *why, char *text, size_t size);

/*
 * Bytes for all VMs together on a machine with ram_size bytes of RAM, of which the VM tree
 * takes tree_size: what vm_limits.guest_memory must be. A multiple of VM_MEMORY_STEP, or 0.
 */
uint64_t vm_guest_memory(uint64_t ram_size, uint64_t tree_size);

#endif
