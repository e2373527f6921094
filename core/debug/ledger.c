/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vcpu/ledger.h"

#include <stdatomic.h>

#include "arch/riscv/debug/semihosting.h"
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/fence.h"
#include "arch/riscv/hart/trap.h"
#include "core/debug/words.h"
#include "core/panic.h"
#include "core/vcpu/vcpu.h"
#include "core/vcpu/vcpu_registers.h"

/* The layout that tests/qemu/lib/ledger.py reads. */
struct entry {
	uint64_t number; /* in the order of all harts */
	uint64_t time;
	uint16_t what, unit, hart, vcpu; /* vcpu: its index + 1, 0: none */
	uint64_t value;
};

static uint64_t file; /* 0: there is no ledger. Constant after boot */
static atomic_ulong number;
static struct vec_image *vectors; /* [n_pcpus] */
static bool news[MAX_HARTS];      /* entries since the hart's last LEDGER_ENTERS; its own */

void ledger_open(void)
{
	static char name[512];
	const uint64_t line[] = {(uint64_t)name, sizeof(name)};
	uint64_t open[] = {(uint64_t)name, SEMIHOSTING_MODE_WB, 0};

	if (!debug_words.ledger)
		return;
	if (semihosting(SEMIHOSTING_CMDLINE, line))
		panic("ledger: the emulator does not say where");
	while (open[2] < sizeof(name) && name[open[2]])
		open[2]++;
	file = semihosting(SEMIHOSTING_OPEN, open);
	if (!file || file == ~0UL)
		panic("ledger: the emulator does not open %s", name);
}

void ledger_make(void *(*alloc)(size_t size))
{
	if (file)
		vectors = alloc(n_pcpus * sizeof(vectors[0]));
}

void ledger(enum ledger_what what, uint32_t unit, const struct vcpu *vcpu, uint64_t value)
{
	struct entry entry = {
	    .time = csr_read(CSR_TIME),
	    .what = (uint16_t)what,
	    .unit = (uint16_t)unit,
	    .vcpu = (uint16_t)(vcpu ? vcpu->index + 1 : 0),
	    .value = value,
	};
	const uint64_t write[] = {file, (uint64_t)&entry, sizeof(entry)};

	if (!file)
		return;
	entry.hart = (uint16_t)this_pcpu()->index;
	news[entry.hart] = what != LEDGER_ENTERS;
	entry.number = atomic_fetch_add(&number, 1);
	if (semihosting(SEMIHOSTING_WRITE, write))
		panic("ledger: the emulator does not write it");
}

#define VCSR_BITS 7UL /* vxrm, vxsat */

/* Returns a checksum; 0 for the state after reset. */
static uint64_t sum(uint64_t so_far, const uint64_t *words, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		so_far = ((so_far << 7 | so_far >> 57) ^ words[i]) * 0x9e3779b97f4a7c15UL;
	return so_far;
}

void ledger_resident(enum ledger_what what, const struct vcpu *vcpu)
{
	uint64_t status = csr_read(CSR_SSTATUS), fp[33];
	struct vec_image *vec;

	if (!file)
		return;
	ledger(what, 0, vcpu, csr_read(CSR_HGATP));
	csr_set(CSR_SSTATUS, SSTATUS_FS | (vcpu->vec ? SSTATUS_VS : 0));
	fp_save(fp);
	ledger(LEDGER_FP, 0, vcpu, sum(0, fp, ARRAY_SIZE(fp)));
	if (vcpu->vec) {
		vec = &vectors[this_pcpu()->index];
		vec_save(vec->v, vec->csrs);
		vec_restore(vec->v, vec->csrs);
		/* QEMU keeps bits of vxrm that do not exist, until vcsr is written. */
		vec->csrs[3] &= VCSR_BITS;
		ledger(LEDGER_VECTOR, 0, vcpu,
		       sum(sum(0, vec->csrs, 4), (const uint64_t *)vec->v,
		           32 * this_pcpu()->vec_bytes / 8));
	}
	csr_write(CSR_SSTATUS, status);
}

void ledger_enters(const struct vcpu *vcpu)
{
	if (news[this_pcpu()->index])
		ledger(LEDGER_ENTERS, 0, vcpu, csr_read(CSR_HCOUNTEREN));
}

void hfence_done(bool gstage)
{
	ledger(gstage ? LEDGER_GVMA : LEDGER_VVMA, 0, NULL, csr_read(CSR_HGATP));
}
