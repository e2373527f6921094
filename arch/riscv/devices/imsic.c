/* SPDX-License-Identifier: Apache-2.0 */
/* Registers: Advanced Interrupt Architecture 1.0, chapters 3 and 6. */
#include "arch/riscv/devices/imsic.h"

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/fence.h"
#include "arch/riscv/hart/trap.h"
#include "arch/riscv/hart/vs_state.h"

#define EIP0       0x80UL
#define IDS_A_WORD 64U
#define MOST_WORDS 32U
#define PATIENCE   500U /* reads before a message counts as lost */
#define WORD_STEP  2UL  /* on RV64 only every second register exists */

hpa_t imsic_file_at(const struct imsic *imsic, uint32_t place, uint32_t file)
{
	uint64_t group = imsic->group_shift ? place >> imsic->hart_bits : 0;
	uint64_t hart = place - (group << imsic->hart_bits);

	return (hpa_t){imsic->base + ((hart << imsic->file_bits) + file) * PAGE_SIZE +
	               (group << imsic->group_shift)};
}

static void write_file(uint64_t select, uint64_t value)
{
	csr_write(CSR_VSISELECT, select);
	csr_write(CSR_VSIREG, value);
}

/* Selects the file that vsireg accesses. Returns the old hstatus. */
static uint64_t choose(uint32_t file)
{
	uint64_t hstatus = csr_read(CSR_HSTATUS);

	csr_write(CSR_HSTATUS, (hstatus & ~HSTATUS_VGEIN) | (uint64_t)file << HSTATUS_VGEIN_SHIFT);
	return hstatus;
}

void imsic_file_clear(uint32_t words, uint32_t file)
{
	/* vsiselect and hstatus are those of the resident vcpu. */
	uint64_t select = csr_read(CSR_VSISELECT), hstatus = choose(file);

	write_file(IMSIC_EIDELIVERY, 0);
	write_file(IMSIC_EITHRESHOLD, 0);
	for (uint32_t word = 0; word < words; word++) {
		write_file(IMSIC_EIE0 + WORD_STEP * word, 0);
		write_file(EIP0 + WORD_STEP * word, 0);
	}
	csr_write(CSR_HSTATUS, hstatus);
	csr_write(CSR_VSISELECT, select);
}

/* Whether a register of a file can be read and written. Under a guard: a trapping instruction has
 * no effect. */
static bool works(uint32_t file)
{
	uint64_t hstatus = choose(file), read;
	struct trap_guard guard = trap_guard_begin();

	write_file(IMSIC_EITHRESHOLD, 1);
	read = csr_read_guarded(CSR_VSIREG);
	csr_write(CSR_VSIREG, 0);
	bool trapped = trap_guard_end(&guard) != ~0UL;

	csr_write(CSR_HSTATUS, hstatus);
	if (!trapped)
		csr_write(CSR_VSISELECT, 0);
	return !trapped && read == 1;
}

/* Returns the number of identity words of each file. Access to a missing register traps. */
static uint32_t count_words(void)
{
	uint64_t select = csr_read(CSR_VSISELECT), hstatus = choose(1);
	uint32_t n;

	for (n = 0; n < MOST_WORDS; n++) {
		csr_write(CSR_VSISELECT, IMSIC_EIE0 + WORD_STEP * n);
		if (!hs_can(csr_write(CSR_VSIREG, 0)))
			break;
	}
	csr_write(CSR_HSTATUS, hstatus);
	csr_write(CSR_VSISELECT, select);
	return n;
}

/* Returns the bits that hgeie can hold: the files that the hart implements. */
static uint64_t probe_hgeie(void)
{
	struct trap_guard guard = trap_guard_begin();
	uint64_t files;

	csr_write(CSR_HGEIE, ~0UL);
	files = csr_read_guarded(CSR_HGEIE);
	if (trap_guard_end(&guard) != ~0UL)
		return 0;
	csr_write(CSR_HGEIE, 0);
	return files;
}

uint32_t imsic_probe(const struct imsic *imsic, uint32_t *words, const char **why)
{
	uint64_t files;
	uint32_t n = 0;

	*why = "the host's tree has no IMSIC with guest interrupt files";
	if (!imsic->ids)
		return 0;
	*why = "mstateen0 of the hart keeps the IMSIC from guests";
	if (!vs_state_opens_aia())
		return 0;
	*why = "hgeie of the hart has no bits: it has no guest interrupt files";
	files = probe_hgeie();
	while (n < IMSIC_GUEST_FILES && n + 1 < 1U << imsic->file_bits && files & 2UL << n)
		n++;
	if (!n)
		return 0;
	*why = "a register of a guest interrupt file did not keep what was written";
	if (!works(1))
		return 0;
	*words = count_words();
	for (uint32_t file = 1; file <= n; file++) {
		if (!works(file))
			return 0;
		imsic_file_clear(*words, file);
	}
	*why = "guest interrupt files of the hart have fewer identities than the host's tree says";
	if (imsic->ids >= *words * IDS_A_WORD)
		return 0;
	*why = NULL;
	return n;
}

bool imsic_file_is_at(hpa_t page, uint32_t file)
{
	uint64_t select = csr_read(CSR_VSISELECT), hstatus = choose(file), found = 0;

	csr_write(CSR_VSISELECT, EIP0);
	imsic_send(page, 1);
	for (uint32_t i = 0; i < PATIENCE && !found; i++) /* WAITS */
		found = csr_read(CSR_VSIREG) & 2;
	csr_write(CSR_VSIREG, 0);
	csr_write(CSR_HSTATUS, hstatus);
	csr_write(CSR_VSISELECT, select);
	return found;
}

void imsic_send(hpa_t file, uint32_t identity)
{
	fence_memory_then_output(); /* the guest must see earlier stores when it is interrupted */
	*(volatile uint32_t *)file.a = identity;
}
