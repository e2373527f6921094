/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared memory of a guest and its PMU: SBI 3.0 section 11.13, table 45. Indices in it are
 * relative to the counter_idx_base of the call that uses it.
 *
 *      offset
 *       0x000   +------------------------------+
 *               | counter_overflow_bitmap      |  bit n: OF of counter base + n
 *       0x008   +------------------------------+
 *               | counter_values[0]            |  of counter base
 *       0x010   +------------------------------+
 *               |  ...                         |
 *       0x200   +------------------------------+
 *               | counter_values[63]           |  of counter base + 63
 *       0x208   +------------------------------+
 *               | reserved                     |
 *      0x1000   +------------------------------+
 *
 *                                   bitmap     slots of the set    other slots    reserved
 *      start with INIT_SNAPSHOT     -          read once, if       -              -
 *                                              started
 *      stop with TAKE_SNAPSHOT      written    written             -              -
 *      any other time               -          -                   -              -
 *
 * Only the address is kept. It is checked when it is set: it must be RAM of this VM. A VM's RAM
 * never changes, so later reads and writes cannot fail.
 */
#include "vpmu/internal.h"

#define PAGE_SIZE     4096U
#define BITMAP_OFFSET 0x0U
#define VALUES_OFFSET 0x8U
#define ALL_ONES      (~0UL)

struct sbi_ret vpmu_snapshot_set_shmem(struct vpmu *v, unsigned long shmem_phys_lo,
                                       unsigned long shmem_phys_hi, unsigned long flags)
{
	if (!v->policy.snapshot)
		return vpmu_result(SBI_ERR_NOT_SUPPORTED, 0);
	if (flags != 0)
		return vpmu_result(SBI_ERR_INVALID_PARAM, 0);
	if (shmem_phys_lo == ALL_ONES && shmem_phys_hi == ALL_ONES) {
		v->snapshot_set = false;
		return vpmu_result(SBI_SUCCESS, 0);
	}
	if (shmem_phys_lo % PAGE_SIZE != 0)
		return vpmu_result(SBI_ERR_INVALID_PARAM, 0);
	if (shmem_phys_hi != 0 || !vpmu_port_guest_ram(shmem_phys_lo, PAGE_SIZE))
		return vpmu_result(SBI_ERR_INVALID_ADDRESS, 0);
	v->snapshot_set = true;
	v->snapshot_gpa = shmem_phys_lo;
	return vpmu_result(SBI_SUCCESS, 0);
}

static uint64_t slot_gpa(const struct vpmu *v, uint32_t slot)
{
	return v->snapshot_gpa + VALUES_OFFSET + slot * sizeof(uint64_t);
}

uint64_t vpmu_snapshot_value(const struct vpmu *v, uint32_t slot)
{
	uint64_t value = 0;

	(void)vpmu_port_guest_read(slot_gpa(v, slot), &value, sizeof(value));
	return value;
}

void vpmu_snapshot_take(const struct vpmu *v, uint64_t set, unsigned long base)
{
	/* With an empty set, base was not checked and may be any number. A base beyond the last
	 * counter gives an empty bitmap. */
	uint64_t bitmap = base < VPMU_COUNTERS ? v->overflow >> base : 0;
	uint32_t i;

	for_each_bit (i, set) {
		uint64_t value = vpmu_value(v, (lctr_t){i});

		(void)vpmu_port_guest_write(slot_gpa(v, i - (uint32_t)base), &value, sizeof(value));
	}
	(void)vpmu_port_guest_write(v->snapshot_gpa + BITMAP_OFFSET, &bitmap, sizeof(bitmap));
}
