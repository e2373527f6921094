/* SPDX-License-Identifier: Apache-2.0 */
/* Part of struct vm: core/life/last_words.h. */
#ifndef CORE_VCPU_LAST_WORDS_STATE_H
#define CORE_VCPU_LAST_WORDS_STATE_H

#include <stdatomic.h>
#include "core/host/vm_config.h"
#include "core/vcpu/exit_record.h"

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

struct last_words {
	/* Incremented by two at each crash; odd while a crash is being recorded. */
	atomic_ulong changes;
	/* Constant after boot. NULL: the VM prints nothing, or its exits are not recorded. */
	char *text[2];
	struct last_exits *exits[2][VM_MAX_VCPUS];
	/* Index of the set of the current life; the other set is of the last crash. */
	uint32_t live;
	uint64_t printed[2]; /* bytes; byte i is at i % LAST_BYTES */
};

#endif
