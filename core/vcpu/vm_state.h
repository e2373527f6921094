/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of struct vm: the state of its life, and the record of a life that failed.
 * core/life/vm_life.h has the functions. */
#ifndef CORE_VCPU_VM_STATE_H
#define CORE_VCPU_VM_STATE_H

#include <stdatomic.h>

#include "arch/riscv/devices/pci.h"
#include "arch/riscv/hart/vs_state.h"
#include "core/host/vm_config.h"
#include "core/vcpu/exit_record.h"

enum vm_state {
	VM_CLEARING, /* the first state: devices are brought to rest, and memory is being cleared */
	VM_LOADING,  /* images are being copied */
	VM_RUNNING,
	VM_ENDING, /* vcpus leave their harts, and the end is logged */
	VM_OFF,    /* of the last life only vm->crash is left */
};

/* Why a life ends. */
enum vm_end {
	VM_END_SHUTDOWN,
	VM_END_ALL_STOPPED, /* the last vcpu stopped itself (HSM) */
	VM_END_REBOOT,
	VM_END_FAILED,
	VM_END_STOP, /* a command of the user */
	VM_END_RESTART,
	VM_END_POWER_OFF, /* a command of the user; the VM does not keep the machine on */
};

struct vm_failure {
	const char *text; /* one phrase */
	uint64_t value;   /* the value that explains it */
	const char *unit; /* unit of value; NULL: an address or the like, in hexadecimal */
	uint64_t at;      /* host time */
};

/* The vcpu that made its VM fail, at the VM's last failure. */
struct vm_crash {
	struct vm_failure failure;
	uint64_t age;  /* the VM's running time before the failure; host time */
	uint64_t life; /* life.number of the life that failed */
	uint32_t vcpu;
	uint64_t x[32];
	struct vs_state vs;
};

/* The last life that has ended. */
struct vm_ended {
	enum vm_end why;
	uint64_t life, at, age; /* life.number; host time of its end, and how long it was */
};

/* A shutdown that was asked for, see core/life/shutdown.h. */
struct vm_shutdown {
	/* 0: not in this life; else the seconds that the guest has, and SHUTDOWN_LATE when they
	 * are over. */
	atomic_uint asked;
	/* Private to the lead hart. In host time: the next step (~0: none), and when time is over.
	 */
	uint64_t at, deadline;
	uint32_t step; /* how many keys it has got */
};
#define SHUTDOWN_LATE (1U << 31)

/* Private to the lead hart. */
struct vm_life {
	bool will_restart;    /* another life follows this one */
	bool too_often;       /* the limit of restarts is reached */
	bool off_for_good;    /* it does not keep the machine on */
	uint32_t fault_stays; /* number of reports about devices that are not at rest */
	uint32_t restarts;    /* restarts in a row; a minute of running or a command ends the row */
	uint64_t begun;       /* host time of the last start */
	uint64_t number;      /* number of starts */
	uint64_t loaded;      /* number of lives loaded completely; each one has its seed */
	char line[256];       /* the line of the log that is printed next; "": none */
	uint32_t step; /* index of the line to log, the image to load, or the piece to clear */
	uint64_t done; /* bytes of that step done */
	/* See core/io/vm_quiet.h. Number of steps that are over: a reset of each device, then no
	 * device is translated any more, then no interrupt of the devices is left. */
	uint32_t quiet_steps;
	/* No step had an effect since `since`; one with an effect clears it. While the end is being
	 * logged, `since` is when that began. */
	bool waiting;
	uint64_t since;
	const struct vm_device *busy_device; /* it did not come to rest; NULL: none */
	bool never_quiet; /* an interrupt or the IOMMU never comes to rest, for whichever device */
};

/* For core/life/last_words.h. */
#define LAST_BYTES 4096U
#define LAST_EXITS 64U

struct last_exit {
	struct exit_record exit;
	uint64_t hs_insns; /* total of the vcpu that was accounted before this exit */
};

/* The last exits of one vcpu; one page. */
struct last_exits {
	uint64_t n;        /* number recorded in that life; entry i is at i % LAST_EXITS */
	uint64_t hs_insns; /* total of the vcpu at the end */
	struct last_exit entries[LAST_EXITS];
};

/* What one life printed. */
struct last_text {
	char *bytes;      /* constant after boot; NULL: the VM prints nothing */
	uint64_t printed; /* byte i is at i % LAST_BYTES */
};

struct last_words {
	/* Incremented by two at each crash, and at each end of a life; odd while that is being
	 * recorded. */
	atomic_ulong crashes, ends;
	/* Of the current life, of the last that has ended, and of the last that has crashed, which
	 * may be the same. */
	struct last_text texts[3], *now, *ended, *crashed;
	/* Constant after boot. NULL: its exits are not recorded. */
	struct last_exits *exits[2][VM_MAX_VCPUS];
	/* Index of the exits of the current life; the others are of the last crash. */
	uint32_t live;
};

/* For core/io/vpci.h. */
#define VPCI_WORDS (PCI_HEADER_END / 4)

/* State of a header, of one life. The lock of the VM's devices protects it. */
struct vpci_header {
	uint32_t sizing;  /* bit n: the last write to BAR n was all ones */
	uint16_t command; /* as written by the guest */
	uint8_t line;     /* interrupt line: guests may store a value here */
};

struct vpci_function {
	/* Constant after boot. */
	const struct vpci_kind *kind;
	/* values that the guest reads, unless other members change them */
	uint32_t words[VPCI_WORDS];
	uint32_t sizes[PCI_BARS]; /* value of each BAR after all ones were written; 0: no BAR */
	uint8_t devfn;            /* device << 3 | function */
	/* Of a function of the host only: its INTx is routed to the VM; the offset of MSI-X if the
	 * guest sees it, or 0. */
	bool intx;
	uint8_t msix;
	bool master_blocked; /* of one life: it cannot be bus master until the next */
	const struct pci_function *host;
	/* State of one life. */
	struct vpci_header header;
};

struct vpci {
	uint32_t n;
	/* 2: an operator's, and a power key */
	struct vpci_function *functions[VM_MAX_DEVICES + VM_MAX_SHARED + 2 + VM_MAX_PORTS];
};

#endif
