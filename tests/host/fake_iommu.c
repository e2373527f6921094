/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/fake_iommu.h"

#include <string.h>

#include "tests/host/fake_iommu_parts.h"

struct fake_iommu fake_iommu;

struct fake_registers r;
struct fake_context contexts[FAKE_KEPT];
struct fake_translation translations[FAKE_KEPT];

void fake_iommu_reset(void)
{
	memset(&r, 0, sizeof(r));
	/* What the firmware has left. */
	r.cqt = 3;
	r.fqh = 5;
	r.pqcsr = QCSR_ON_REQUEST | QCSR_INTERRUPT | QCSR_ON;
	memset(contexts, 0, sizeof(contexts));
	memset(translations, 0, sizeof(translations));
	fake_iommu = (struct fake_iommu){.caps = FAKE_IOMMU_CAPS};
}

uint64_t *fake_memory(uint64_t entry)
{
	return (uint64_t *)(entry >> 10 << 12 & 0x3ffffffffff000);
}

/* --- translation ------------------------------------------------------------------------- */

static uint32_t fetch_context(uint32_t id, uint64_t words[8])
{
	bool wide = fake_iommu.caps & CAP_MSI_FLAT;
	uint32_t leaf = wide ? 6 : 7, size = wide ? 8 : 4;
	uint64_t mode = r.ddtp & DDTP_MODE, *table = fake_memory(r.ddtp);

	if (mode == DDTP_OFF)
		return FAKE_OFF;
	for (uint32_t level = (uint32_t)mode - 2; level; level--) {
		uint64_t entry = table[id >> (leaf + 9 * (level - 1)) & 511];

		if (!(entry & 1))
			return FAKE_NO_CONTEXT;
		table = fake_memory(entry);
	}
	if (id >> (leaf + 9 * (mode - 2)))
		return 260;
	memset(words, 0, 64);
	memcpy(words, &table[size * (id & ((1U << leaf) - 1))], 8 * size);
	if (!(words[CONTEXT_TC] & CONTEXT_V))
		return FAKE_NO_CONTEXT;
	if (words[CONTEXT_TC] != CONTEXT_V || words[CONTEXT_FSC] || words[CONTEXT_TA] || words[7] ||
	    words[CONTEXT_IOHGATP] >> 60 != 8 || words[CONTEXT_IOHGATP] & 3)
		return FAKE_BAD_CONTEXT;
	return 0;
}

static uint32_t context_of(uint32_t id, uint64_t words[8], bool keep)
{
	uint32_t cause;

	for (uint32_t i = 0; i < FAKE_KEPT && keep; i++) {
		if (contexts[i].used && contexts[i].id == id) {
			memcpy(words, contexts[i].words, 64);
			return 0;
		}
	}
	cause = fetch_context(id, words);
	for (uint32_t i = 0; i < FAKE_KEPT && keep && !cause; i++) {
		if (contexts[i].used)
			continue;
		contexts[i].used = true;
		contexts[i].id = id;
		memcpy(contexts[i].words, words, 64);
		break;
	}
	return cause;
}

static bool walk(uint64_t iohgatp, uint64_t address, bool write, uint64_t *to)
{
	const uint64_t *table = (const uint64_t *)(iohgatp << 20 >> 20 << 12);

	if (address >> 41)
		return false;
	for (int level = 2; level >= 0; level--) {
		int shift = 12 + 9 * level;
		uint64_t entry = table[address >> shift & (level == 2 ? 2047 : 511)];

		if (!(entry & 1))
			return false;
		if (!(entry & 0xe)) {
			table = fake_memory(entry);
			continue;
		}
		/* V, R, U, A, and to write W and D. */
		if ((entry & 0x53) != 0x53 || (write && (entry & 0x84) != 0x84))
			return false;
		*to = ((uint64_t)fake_memory(entry) & ~((1UL << shift) - 1)) |
		      (address & ((1UL << shift) - 1));
		return true;
	}
	return false;
}

uint32_t fake_translate(uint32_t id, uint64_t address, bool write, uint64_t *to, bool keep)
{
	uint64_t words[8], mask, *files;
	uint32_t gscid, cause = context_of(id, words, keep);

	if (cause)
		return cause;
	*to = address;
	if (fake_iommu.translates_all)
		return 0;
	gscid = (uint32_t)(words[CONTEXT_IOHGATP] >> IOHGATP_GSCID & 0xffff);
	mask = words[CONTEXT_MASK];
	if (words[CONTEXT_MSIPTP] >> 60 && !((address >> 12 ^ words[CONTEXT_PATTERN]) & ~mask)) {
		files = (uint64_t *)(words[CONTEXT_MSIPTP] << 20 >> 20 << 12);
		files += 2 * (address >> 12 & mask); /* the mask has no holes */
		if (!write || (*files & 7) != 7)
			return FAKE_NO_FILE;
		*to = (uint64_t)fake_memory(*files) | (address & 4095);
		return 0;
	}
	for (uint32_t i = 0; i < FAKE_KEPT && keep; i++) {
		if (translations[i].used && translations[i].gscid == gscid &&
		    translations[i].page == address >> 12 && translations[i].write == write) {
			*to = translations[i].to | (address & 4095);
			return 0;
		}
	}
	if (!walk(words[CONTEXT_IOHGATP], address, write, to))
		return write ? 23 : 21;
	for (uint32_t i = 0; i < FAKE_KEPT && keep; i++) {
		if (translations[i].used)
			continue;
		translations[i].used = translations[i].first = translations[i].second = true;
		translations[i].gscid = gscid;
		translations[i].write = write;
		translations[i].page = address >> 12;
		translations[i].to = *to & ~4095UL;
		break;
	}
	return 0;
}

void fake_record(uint32_t id, uint64_t address, bool write, uint32_t cause)
{
	uint32_t n = 2U << (r.fqb & 31);
	uint64_t *at = fake_memory(r.fqb) + 4 * (r.fqt % n);

	if (!(r.fqcsr & QCSR_ON) || r.fqcsr & (FQCSR_FQMF | FQCSR_FQOF))
		return;
	if ((r.fqt + 1) % n == r.fqh) {
		r.fqcsr |= FQCSR_FQOF;
	} else {
		at[0] = cause | (write ? 3UL : 2UL) << 34 | (uint64_t)id << 40;
		at[2] = address;
		at[3] = 0;
		r.fqt = (r.fqt + 1) % n;
	}
	fake_iommu.interrupts |= r.fqcsr & QCSR_INTERRUPT;
}

bool fake_iommu_remembers_any(void)
{
	bool any = false;

	for (uint32_t i = 0; i < FAKE_KEPT; i++)
		any |= contexts[i].used || (translations[i].used && translations[i].second);
	return any;
}

uint32_t fake_iommu_faults(void)
{
	uint32_t n = 2U << (r.fqb & 31);

	return (r.fqt + n - r.fqh) % n;
}

bool fake_iommu_remembers(uint32_t id, uint32_t gscid)
{
	for (uint32_t i = 0; i < FAKE_KEPT; i++) {
		if ((contexts[i].used && contexts[i].id == id) ||
		    (translations[i].used && translations[i].gscid == gscid))
			return true;
	}
	return false;
}

uint32_t fake_iommu_access(uint32_t id, uint64_t address, bool write, uint64_t *to)
{
	uint32_t cause = fake_translate(id, address, write, to, true);

	if (cause)
		fake_record(id, address, write, cause);
	return cause;
}
