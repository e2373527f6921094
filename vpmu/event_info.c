/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries whether events can be counted: SBI 3.0 section 11.14. The guest writes one entry for each
 * event to memory (table 47):
 *
 *      offset   0           4           8                       16
 *               +-----------+-----------+-----------------------+
 *               | event_idx | output    | event_data            |
 *               +-----------+-----------+-----------------------+
 *               read        written     read
 *
 * The output is 1 if config_matching would succeed on a vcpu without configured counters, otherwise
 * 0. It depends only on the VM's policy and the hart.
 *
 * A guest may ask for more entries than HS may handle at one exit. So each call handles a slice,
 * and the caller repeats it, with all arguments checked again, until all entries are done. Other
 * vcpus run in between; for the guest it is one instruction. The caller keeps the progress.
 */
#include "vpmu/internal.h"

#define ENTRY_SIZE    16U
#define OUTPUT_OFFSET 4U

struct entry {
	uint32_t event_idx;
	uint32_t output;
	uint64_t event_data;
};

_Static_assert(sizeof(struct entry) == ENTRY_SIZE, "the format of table 47");

/* *raw: whether it was a raw event. */
static long answer(struct vpmu *v, uint64_t gpa, bool *raw)
{
	struct hw_event event;
	struct entry entry;
	uint32_t output;
	uint64_t hctrs;

	if (!vpmu_port_guest_read(gpa, &entry, sizeof(entry)))
		return SBI_ERR_INVALID_ADDRESS;
	if ((entry.event_idx & ~(uint32_t)SBI_PMU_EVENT_IDX_MASK) != 0)
		return SBI_ERR_INVALID_PARAM;
	*raw = hw_event_is_raw(entry.event_idx);
	output = vpmu_event_parse(v, entry.event_idx, entry.event_data, 0, &event, &hctrs);
	if (!vpmu_port_guest_write(gpa + OUTPUT_OFFSET, &output, sizeof(output)))
		return SBI_ERR_INVALID_ADDRESS;
	return SBI_SUCCESS;
}

static bool is_ram(unsigned long lo, unsigned long hi, unsigned long n)
{
	if (hi != 0)
		return false;
	/* Divides, so that no product can wrap. An empty range needs no check. */
	return n == 0 || (n <= (UINT64_MAX - lo) / ENTRY_SIZE &&
	                  vpmu_port_guest_ram(lo, (uint64_t)n * ENTRY_SIZE));
}

struct sbi_ret vpmu_event_get_info(struct vpmu *v, unsigned long shmem_phys_lo,
                                   unsigned long shmem_phys_hi, unsigned long num_entries,
                                   unsigned long flags, uint64_t *next)
{
	uint64_t first = *next, i;
	bool raw = false;

	*next = 0;
	if (flags != 0 || shmem_phys_lo % ENTRY_SIZE != 0)
		return vpmu_result(SBI_ERR_INVALID_PARAM, 0);
	if (!is_ram(shmem_phys_lo, shmem_phys_hi, num_entries))
		return vpmu_result(SBI_ERR_INVALID_ADDRESS, 0);

	for (i = first; i < num_entries && i - first < VPMU_INFO_SLICE && !raw; i++) {
		long error = answer(v, shmem_phys_lo + i * ENTRY_SIZE, &raw);

		if (error != SBI_SUCCESS)
			return vpmu_result(error, 0);
	}
	if (i < num_entries)
		*next = i;
	return vpmu_result(SBI_SUCCESS, 0);
}
