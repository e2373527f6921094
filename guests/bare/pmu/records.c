/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control transfer records (Ssctr), which guests are not told of. who=writer: switches them on, if
 * it can, and jumps. who=reader: checks again and again whether there are any, and makes none.
 */
#include "guests/bare/bare.h"

#define CSR_SCTRCTL    0x14e
#define CSR_SCTRSTATUS 0x14f
#define CSR_SISELECT   0x150
#define CSR_SIREG      0x151
#define CTR_ENTRY0     0x200
#define CTR_ENTRIES    32
#define SCTRCTL_S_U    3

/* *there: whether it can be read. */
static uint64_t get(uint32_t csr, bool *there)
{
	uint64_t value;

	trap_guard();
	value = insn_run(INSN_CSRR_A0(csr), 0);
	*there = trap_unguard().cause == ~0UL;
	return *there ? value : 0;
}

static void put(uint32_t csr, uint64_t value)
{
	trap_guard();
	insn_run(INSN_CSRW_A0(csr), value);
	trap_unguard();
}

static uint64_t look(bool *there)
{
	uint64_t found =
	    (get(CSR_SCTRCTL, there) & SCTRCTL_S_U) + (get(CSR_SCTRSTATUS, there) != 0);

	for (uint32_t i = 0; i < CTR_ENTRIES; i++) {
		put(CSR_SISELECT, CTR_ENTRY0 + i);
		found += get(CSR_SIREG, there) != 0;
	}
	return found;
}

int records(uint64_t hartid)
{
	bool writer = bootarg_is("who", "writer"), there = false;
	uint64_t found = 0;

	(void)hartid;
	while (!time_is_up()) {
		if (writer)
			put(CSR_SCTRCTL, SCTRCTL_S_U);
		for (volatile unsigned i = 0; i < 1000; i++)
			;
		found += look(&there);
	}
	print("records: %s, %s\n", there ? "there" : "none there",
	      found ? "found some" : "found none");
	return 0;
}
