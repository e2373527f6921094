/* SPDX-License-Identifier: Apache-2.0 */
/*
 * what=hostile: what a guest must not do with an AIA: write to the interrupt files of others,
 * wherever these are; choose any number in siselect; use registers of the hypervisor. Prints how
 * many attempts of each kind did not trap. what=nothing: the same of a guest that has no AIA, on a
 * hart that has one. what=words: which words of its file there are, whatever the tree says, and
 * what a life before has left in them.
 */
#include "guests/bare/io/aia.h"

#define PAGES   64UL
#define HOST_M  0x24000000UL /* the IMSICs of M-mode */
#define SELECTS 0x400UL
#define WORDS   32UL /* the most that a file can have */

static uint64_t write_passes(uint64_t at)
{
	trap_guard();
	*(volatile uint32_t *)at = 1;
	return trap_unguard().count == 0;
}

static uint64_t csr_passes(uint32_t csr)
{
	uint64_t passes;

	trap_guard();
	insn_run(INSN_CSRR_A0(csr), 0);
	passes = trap_unguard().count == 0;
	trap_guard();
	insn_run(INSN_CSRW_A0(csr), ~0UL);
	return passes | (trap_unguard().count == 0);
}

/* Reads and writes sireg at each number that is no register of the file. */
static uint64_t wild_selects(void)
{
	uint64_t passes = 0;

	for (uint64_t i = 0; i < SELECTS; i++) {
		uint64_t select = i < 0x30 ? i : i + 0xd0; /* but 0x30 to 0xff */

		if (i & 1)
			select |= select << 40;
		csr_write(CSR_SISELECT, select);
		if (csr_read(CSR_SISELECT) != select)
			continue;
		trap_guard();
		csr_write(CSR_SIREG, ~0UL);
		passes += trap_unguard().count == 0;
		trap_guard();
		(void)csr_read(CSR_SIREG);
		passes += trap_unguard().count == 0;
	}
	return passes;
}

/* Registers of priorities: there, and 0. */
static uint64_t priorities(void)
{
	uint64_t wrong = 0;

	for (uint64_t select = 0x30; select < 0x40; select += 2) {
		aia_write(select, ~0UL);
		wrong += aia_read(select) != 0;
	}
	return wrong;
}

int aia_hostile(uint64_t n)
{
	/* vsiselect, vsireg, vstopei, vstopi, hstatus, hgeie, hgeip, hvien, hvictl, hviprio1. */
	static const uint32_t csrs[] = {0x250, 0x251, 0x25c, 0xeb0, 0x600,
	                                0x607, 0xe12, 0x608, 0x609, 0x646};
	uint64_t pages = 0, machine = 0, passes = 0, wild = 0, prio = 0;

	for (uint64_t round = 0; round < n; round++) {
		for (uint64_t i = 1; i < PAGES; i++)
			pages += write_passes(AIA_IMSIC + 0x1000 * i);
		for (uint64_t i = 0; i < PAGES; i++)
			machine += write_passes(HOST_M + 0x1000 * i);
		machine += write_passes(AIA_APLIC - 0x1000000) + write_passes(AIA_APLIC + 0x4000);
		for (unsigned i = 0; i < sizeof(csrs) / sizeof(csrs[0]); i++)
			passes += csr_passes(csrs[i]);
		wild += wild_selects();
		prio += priorities();
		/* Every word of the APLIC, but genmsi and what follows to the next source. */
		for (uint64_t at = 0; at < 0x4000; at += 4)
			*aplic(at) = ~0U;
		for (uint64_t at = 0; at < 0x4000; at += 4)
			(void)*aplic(at);
		for (uint64_t at = 4; at < 128; at += 4)
			*aplic(at) = 0;
	}
	print("aia: of others %u, of the machine %u, registers %u", pages, machine, passes);
	print(", siselect %u, priorities %u\n", wild, prio);
	return pages || machine || passes || wild || prio;
}

/* Of the kernel: siselect is its own register, and stopi tells of nothing. Of a process, and
 * through siselect: all of it traps. */
int aia_nothing(uint64_t n)
{
	/* sireg to sireg6, stopei. */
	static const uint32_t csrs[] = {0x151, 0x152, 0x153, 0x155, 0x156, 0x157, CSR_STOPEI};
	static const uint32_t user[] = {CSR_SISELECT, CSR_SIREG, CSR_STOPEI, CSR_STOPI};
	uint64_t passes = 0, of_user = 0, told = 0;

	for (uint64_t round = 0; round < n; round++) {
		for (uint64_t select = 0; select < SELECTS; select++) {
			csr_write(CSR_SISELECT, select & 1 ? select | select << 40 : select);
			for (unsigned i = 0; i < sizeof(csrs) / sizeof(csrs[0]); i++)
				passes += csr_passes(csrs[i]);
		}
		for (unsigned i = 0; i < sizeof(user) / sizeof(user[0]); i++) {
			of_user += insn_passes_in_user(INSN_CSRR_A0(user[i]), 0);
			of_user += insn_passes_in_user(INSN_CSRW_A0(user[i]), ~0UL);
		}
		told += csr_read(CSR_STOPI);
	}
	print("aia: nothing: registers %u, of a process %u, told %u\n", passes, of_user, told);
	return passes || of_user || told;
}

int aia_words(void)
{
	uint64_t there = 0, left = 0;

	for (uint64_t i = 0; i < 2 * WORDS; i++) {
		csr_write(CSR_SISELECT, (i < WORDS ? AIA_EIP0 : AIA_EIE0) + 2 * (i % WORDS));
		if (!insn_passes(INSN_CSRR_A0(CSR_SIREG), 0))
			continue;
		there++;
		left += csr_read(CSR_SIREG) != 0;
		csr_write(CSR_SIREG, ~0UL);
	}
	left += aia_read(AIA_EITHRESHOLD) + aia_read(AIA_EIDELIVERY);
	aia_write(AIA_EITHRESHOLD, 1);
	aia_write(AIA_EIDELIVERY, 1);
	print("aia: %u words, %u left\n", there, left);
	sbi_call(SBI_EXT_SRST, SBI_SRST_RESET, 1, 0, 0, 0, 0, 0);
	return 1;
}
