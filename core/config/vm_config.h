/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The VM tree: a flattened device tree that says which VMs to run. It is read in place. Tally and
 * tools/vm-check share this code, so both refuse the same trees in the same words. dts/README.md
 * documents every property.
 *
 * This code allocates nothing, has no global state, and uses standard C and libfdt only. The blob
 * is untrusted input: nothing is read from it before it has passed fdt_check_full().
 */
#ifndef CORE_CONFIG_VM_CONFIG_H
#define CORE_CONFIG_VM_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vpmu/selector.h"

#define VM_TREE_COMPATIBLE "tally,vm-tree-1"

#define VM_MAX_VMS        16U
#define VM_MAX_VCPUS      8U
#define VM_MAX_ALL_VCPUS  64U /* of all VMs together, because they may all be on one hart */
#define VM_MAX_HARTS      64U /* hart ids 0..63 */
#define VM_MAX_IMAGES     32U
#define VM_MAX_COUNTERS   32U
#define VM_MAX_EVENTS     64U
#define VM_MAX_RAW_EVENTS 64U
#define VM_NAME_MAX       15U   /* characters */
#define VM_BOOTARGS_MAX   1023U /* bytes without the NUL */
#define VM_RESTARTS_MAX   1000U /* the highest restart-limit */

#define VM_RAM_BASE        UINT64_C(0x80000000)
#define VM_MEMORY_STEP     UINT64_C(0x200000)   /* a VM's memory is a multiple of this, in bytes */
#define VM_DTB_SIZE        UINT64_C(0x10000)    /* the end of a VM's RAM, for guest_dt_build() */
#define VM_ALL_COUNTERS    UINT64_C(0xfffffffd) /* bit 1 is time, which is no counter */
#define VM_RESERVED_MEMORY UINT64_C(0x2000000)  /* RAM kept for firmware, Tally and page tables */

/* Bytes in the blob. They are valid as long as the blob is. */
struct vm_image {
	const void *data; /* NULL: none */
	uint64_t size;    /* bytes */
};

/* The ends after which a VM starts again by itself. After a reboot by the guest it always does. */
enum vm_restart {
	VM_RESTART_NEVER,
	VM_RESTART_ON_FAILURE,
	VM_RESTART_ALWAYS,
};

/* Offsets count bytes from VM_RAM_BASE. Kernel, initrd and dtb do not overlap. */
struct vm_config {
	char name[VM_NAME_MAX + 1];
	uint64_t memory; /* bytes */
	uint32_t n_vcpus;
	struct {
		uint64_t harts;      /* bit n: it may run on the hart with id n; never 0 */
		uint32_t first_hart; /* the one of these where it begins */
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
	enum vm_restart restart;
	uint32_t restart_limit; /* restarts in a row; those by the user do not count */
	bool bad_access_stops;  /* an access outside its memory and devices ends it */
	bool pmu;
	uint64_t pmu_counters; /* bit n: the VM has counter n; 0 without a PMU */
	bool pmu_trap_reads;
	bool pmu_snapshot;    /* the VM has the snapshot area */
	bool pmu_freeze_vcpu; /* HS counts as VS; no other VM runs on its harts */
	bool pmu_idle_cycles; /* idle time counts as cycles; no other vcpu runs on its harts */
	bool pmu_overflow;    /* overflow interrupts, if the harts have them */
	uint32_t pmu_overflow_limit; /* overflow interrupts per vcpu and 10 ms; 0: no limit */
	bool pmu_events_given;       /* only pmu_events can be counted; false: all events */
	uint32_t n_pmu_events;
	uint32_t pmu_events[VM_MAX_EVENTS]; /* event_idx */
	/* Raw events that may be counted besides; none without pmu_events_given. */
	uint32_t n_pmu_raw_events;
	struct selector_allowed pmu_raw_events[VM_MAX_RAW_EVENTS];
};

struct vm_tree {
	bool has_selectors; /* the tree has a node /pmu */
	struct selectors selectors;
	uint32_t n_vms;
	struct vm_config vms[VM_MAX_VMS];
};

/* What the machine has. */
struct vm_limits {
	uint64_t harts;        /* bit n: a hart with id n exists */
	uint64_t guest_memory; /* bytes for all VMs together, see vm_guest_memory() */
	uint64_t hctrs;        /* bit n: the harts have counter n; 0: unknown, no check */
	/*
	 * Returns why a vcpu cannot move between two harts, as the reason of a refusal, with '#'
	 * for each hart id. NULL: it can. The pointer itself may be NULL: all harts are alike.
	 */
	const char *(*differ)(uint32_t hart, uint32_t other);
	/*
	 * Returns in words what a hart answers otherwise than the node /pmu says. NULL: nothing.
	 * The pointer itself may be NULL: nothing is known of the harts.
	 */
	const char *(*contradicts)(uint32_t hart);
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
	VM_REFUSED_NO_VM,    /* no VM in the tree */
	VM_REFUSED_NO_VCPU,  /* no vcpu in a VM */
	VM_REFUSED_TOO_MANY, /* VMs, vcpus or images */
	VM_REFUSED_MEMORY,   /* zero, or not a multiple of VM_MEMORY_STEP */
	VM_REFUSED_MEMORY_SUM,
	VM_REFUSED_HART,         /* not on this machine */
	VM_REFUSED_HARTS,        /* the harts of one vcpu differ too much to move between them */
	VM_REFUSED_CONTRADICTED, /* a hart with a PMU for guests is not as /pmu says */
	VM_REFUSED_COUNTER,      /* not on this machine, or no counter at all */
	VM_REFUSED_EVENT,        /* SBI 3.0 does not define this event_idx */
	VM_REFUSED_SHARED,  /* the property needs harts of its own, but other vcpus may run there */
	VM_REFUSED_PHANDLE, /* does not refer to a child of /images */
	VM_REFUSED_EMPTY_IMAGE,
	VM_REFUSED_IMAGE_HEADER, /* a RISC-V Image header that contradicts itself */
	VM_REFUSED_RESTARTS,     /* more than VM_RESTARTS_MAX */
	VM_REFUSED_LOAD_OFFSET,  /* misaligned, or given for a RISC-V Image */
	VM_REFUSED_KERNEL_FIT,   /* kernel and dtb do not fit into the VM's memory */
	VM_REFUSED_INITRD_FIT,   /* the initrd does not fit between kernel and dtb */
	VM_REFUSAL_CODES
};

/* The strings are NUL-terminated printable ASCII, whatever the blob contains. */
struct vm_refusal {
	enum vm_refusal_code code;
	char node[64];     /* path */
	char property[32]; /* empty: the refusal concerns the node itself */
	char reason[128];
};

/* Enough bytes for every refusal as text. */
#define VM_REFUSAL_TEXT 256U

/*
 * Parses a VM tree of at most blob_size bytes; blob is 8-byte aligned. Returns true if *out is
 * complete and everything holds that the comments above say. Returns false if *why says what was
 * refused; *out must not be used then. The time is linear in the size of the blob's structure, and
 * does not depend on the size of the images.
 */
bool vm_config_parse(const void *blob, uint64_t blob_size, const struct vm_limits *limits,
                     struct vm_tree *out, struct vm_refusal *why);

/*
 * Parses nothing but the node /pmu of such a blob. Returns false if there is none, or if
 * vm_config_parse() will refuse it.
 */
bool vm_config_parse_table(const void *blob, uint64_t blob_size, struct selectors *out);

/* Writes "node: property: reason", one line without a newline, truncated to size bytes. */
void vm_refusal_text(const struct vm_refusal *why, char *text, size_t size);

/*
 * Returns the bytes for all VMs together, for vm_limits.guest_memory, on a machine with ram_size
 * bytes of RAM, of which the VM tree takes tree_size. A multiple of VM_MEMORY_STEP, or 0.
 */
uint64_t vm_guest_memory(uint64_t ram_size, uint64_t tree_size);

#endif
