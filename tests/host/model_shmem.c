/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory shared with the guest: snapshots (section 11.13) and the entries of event_get_info
 * (section 11.14). Only words that the call names may be read or written, and none may be read
 * twice, because the guest could change it in between.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "tests/host/model_parts.h"

#define PAGE        4096U
#define PAGE_WORDS  (PAGE / 4)
#define SLOT_WORD   2U /* of the first slot; the bitmap is words 0 and 1 */
#define ENTRY_WORDS 4U

/* --- the snapshot page --------------------------------------------------------------- */

const char *model_set_shmem(struct model *m, unsigned long lo, unsigned long hi,
                            unsigned long flags, struct sbi_ret got)
{
	model_info_other_call(m);
	if (!m->policy.snapshot) {
		seen(shmem_not_offered);
		return model_expect(got, -2);
	}
	if (m->shmem_set && got.error)
		seen(shmem_fails_keeps);
	if (flags) {
		seen(shmem_invalid_flags);
		if (lo == ~0UL && hi == ~0UL)
			seen(shmem_invalid_flags_disable);
		return model_expect(got, -3);
	}
	if (lo == ~0UL && hi == ~0UL) {
		seen(shmem_disabled);
		m->shmem_set = false;
		return model_expect(got, 0);
	}
	if (lo % PAGE) {
		seen(shmem_misaligned);
		return model_expect(got, -3);
	}
	if (hi) {
		seen(shmem_invalid_hi);
		return model_expect(got, -5);
	}
	if (!fake_mem_is_ram(lo, PAGE)) {
		seen(shmem_not_ram);
		return model_expect(got, -5);
	}
	seen(shmem_set);
	if (m->shmem_set)
		seen(shmem_set_again);
	if (lo == FAKE_RAM_END - PAGE)
		seen(shmem_last_page);
	m->shmem_set = true;
	m->shmem = lo;
	return model_expect(got, 0);
}

static uint64_t slot_gpa(const struct model *m, unsigned long base, uint32_t idx)
{
	return m->shmem + 8 + 8 * (idx - base);
}

uint64_t model_slot(const struct model *m, unsigned long base, uint32_t idx)
{
	return fake_mem_peek64(m->vcpu, slot_gpa(m, base, idx));
}

/* If the hardware refused a start, the library may not have read the slot. */
const char *model_read_slots(const struct model *m, unsigned long base, uint64_t started)
{
	uint8_t reads[PAGE_WORDS], writes[PAGE_WORDS], want[PAGE_WORDS] = {0};

	if (!fake_mem_touched(m->shmem, PAGE_WORDS, reads, writes))
		return "START touched memory outside of the page";
	for (; started; started &= started - 1) {
		uint32_t word =
		    SLOT_WORD + 2 * ((uint32_t)__builtin_ctzll(started) - (uint32_t)base);

		want[word] = want[word + 1] = 1;
	}
	for (uint32_t w = 0; w < PAGE_WORDS; w++) {
		if (writes[w])
			return "START wrote to the page";
		if (reads[w] > want[w])
			return "START read a word too often, or one of no counter that it started";
		if (reads[w] < want[w] && !m->fault)
			return "START did not read the slot of a counter that it started";
	}
	return NULL;
}

static void see_snapshot(const struct model *m, unsigned long base, uint64_t set, uint64_t of)
{
	uint64_t valid = m->policy.hctrs | 0xffffULL << m->policy.fw_base;

	seen(stop_snapshot);
	if (set & (set - 1))
		seen(stop_snapshot_several);
	if (base)
		seen(stop_snapshot_base);
	if (base >= 64)
		seen(stop_snapshot_base_beyond);
	if (set == valid)
		seen(stop_snapshot_all);
	if (set >> m->policy.fw_base)
		seen(stop_snapshot_fw);
	if (of & set)
		seen(stop_snapshot_of);
	if (of & ~set)
		seen(stop_snapshot_of_other);
	if (!set)
		seen(stop_snapshot_empty);
}

/* Adopts the values of counters that this very call may have advanced. */
static const char *check_slot(struct model *m, unsigned long base, uint32_t idx)
{
	if (!m->c[idx].configured)
		seen(stop_snapshot_unconfigured);
	/* It has no value, and the slot may hold anything that the guest cannot take for one. */
	if (m->c[idx].lost) {
		seen(stop_snapshot_lost);
		return NULL;
	}
	return model_value(m, idx, model_slot(m, base, idx)) ? NULL : "value in the snapshot";
}

/* It is on a fixed counter, or counts a cache event. */
static bool may_be_polled(const struct model *m, uint32_t idx)
{
	uint32_t event_idx = m->c[idx].event_idx;

	return event_idx <= 2 || event_idx >> 16 == 1;
}

/* Returns OF bits that this very call may have set, or not found yet. */
static uint64_t unknown_flags(const struct model *m)
{
	uint64_t set = 0;

	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++)
		if (m->c[i].vague || (m->c[i].loose && m->c[i].near) ||
		    (m->poll_due && may_be_polled(m, i)))
			set |= 1ULL << i;
	return set | model_late(m);
}

const char *model_wrote_slots(struct model *m, unsigned long base, uint64_t set)
{
	uint8_t reads[PAGE_WORDS], writes[PAGE_WORDS], want[PAGE_WORDS] = {1, 1};
	uint8_t free[PAGE_WORDS] = {0};
	const char *what = NULL;
	uint64_t of, got, unknown;

	if (!fake_mem_touched(m->shmem, PAGE_WORDS, reads, writes))
		return "STOP touched memory outside of the page";
	for (uint64_t left = set; left; left &= left - 1) {
		uint32_t idx = (uint32_t)__builtin_ctzll(left);
		uint32_t word = SLOT_WORD + 2 * (idx - (uint32_t)base);

		want[word] = want[word + 1] = 1;
		free[word] = free[word + 1] = m->c[idx].lost;
		if (!what)
			what = check_slot(m, base, idx);
	}
	for (uint32_t w = 0; w < PAGE_WORDS; w++) {
		if (reads[w])
			return "STOP read from the page";
		if (writes[w] != want[w] && !(free[w] && !writes[w]))
			return writes[w] > want[w] ? "STOP wrote what it was not to"
			                           : "STOP did not write what it was to";
	}
	if (what)
		return what;
	of = model_scountovf(m);
	see_snapshot(m, base, set, of);
	got = fake_mem_peek64(m->vcpu, m->shmem);
	unknown = unknown_flags(m);
	if (base < 64)
		return (got ^ of >> base) & ~(unknown >> base) ? "overflow bitmap in the snapshot"
		                                               : NULL;
	return got ? "overflow bitmap of counters that there are not" : NULL;
}

/* --- event info ---------------------------------------------------------------------- */

void model_info_other_call(struct model *m)
{
	if (m->info.next)
		seen(info_over_others);
}

static void see_entry(const struct model *m, uint32_t event_idx, uint64_t event_data, bool good)
{
	if (!model_is_allowed(m, event_idx, event_data))
		seen(info_not_allowed);
	if (!good) {
		seen(info_no);
		return;
	}
	switch (event_idx >> 16) {
	case 0:
		seen(info_yes_hw);
		break;
	case 1:
		seen(info_yes_cache);
		break;
	case 15:
		seen(info_yes_fw);
		break;
	default:
		seen(info_yes_raw);
	}
}

/* Returns the error of a call that accesses no memory, or 0. */
static long info_error(unsigned long lo, unsigned long hi, unsigned long num, unsigned long flags)
{
	if (flags) {
		seen(info_invalid_flags);
		return -3;
	}
	if (lo % 16) {
		seen(info_misaligned);
		return -3;
	}
	if (hi) {
		seen(info_invalid_hi);
		return -5;
	}
	if (num > ~0UL / 16 || lo + 16 * num < lo) {
		seen(info_overflows);
		return -5;
	}
	if (num && !fake_mem_is_ram(lo, 16 * num)) {
		seen(info_not_ram);
		return -5;
	}
	return 0;
}

static const char *wrong_answer(uint32_t event_idx, uint64_t event_data, uint32_t output)
{
	static char text[100];

	snprintf(text, sizeof(text), "event info's answer for event %#x, data %#llx: %#x",
	         event_idx, (unsigned long long)event_data, output);
	return text;
}

/* Whether the entries [from, to) of a slice were answered and no others, and each was read once. */
static const char *check_answers(const struct model *m, unsigned long lo, unsigned long from,
                                 unsigned long to, unsigned long end)
{
	uint8_t reads[ENTRY_WORDS * VPMU_INFO_SLICE], writes[ENTRY_WORDS * VPMU_INFO_SLICE];
	uint32_t words = ENTRY_WORDS * (uint32_t)(end - from);

	if (!fake_mem_touched(lo + 16 * from, words, reads, writes))
		return "event info touched memory outside of the slice";
	for (uint32_t w = 0; w < words; w++) {
		bool answered = from + w / ENTRY_WORDS < to;

		if (reads[w] > 1)
			return "event info read a word twice";
		if (writes[w] != (answered && w % ENTRY_WORDS == 1))
			return "event info wrote something else than the output words";
	}
	for (unsigned long i = from; i < to; i++) {
		uint32_t entry[ENTRY_WORDS];
		uint64_t data;
		bool good;

		fake_mem_peek(m->vcpu, lo + 16 * i, entry, sizeof(entry));
		memcpy(&data, entry + 2, sizeof(data));
		good = model_event_is_good(m, entry[0], data);
		see_entry(m, entry[0], data, good);
		if (entry[1] != good)
			return wrong_answer(entry[0], data, entry[1]);
	}
	return NULL;
}

static uint32_t event_at(const struct model *m, unsigned long lo, unsigned long entry)
{
	uint32_t event_idx;

	fake_mem_peek(m->vcpu, lo + 16 * entry, &event_idx, sizeof(event_idx));
	return event_idx;
}

/* Returns the end of a slice: a fixed number of entries, or up to the first raw event. */
static unsigned long slice_end(const struct model *m, unsigned long lo, unsigned long from,
                               unsigned long num)
{
	unsigned long end = from;

	while (end < num && end - from < VPMU_INFO_SLICE) {
		uint32_t type = event_at(m, lo, end++) >> 16 & 0xf;

		if (type == 2 || type == 3)
			break;
	}
	return end;
}

/* Returns the first entry of the slice beginning with `from` that has a reserved bit set, or its
 * end. */
static unsigned long first_bad(const struct model *m, unsigned long lo, unsigned long from,
                               unsigned long end)
{
	while (from < end && !(event_at(m, lo, from) >> 20))
		from++;
	return from;
}

const char *model_event_info(struct model *m, unsigned long lo, unsigned long hi, unsigned long num,
                             unsigned long flags, unsigned long from, struct sbi_ret got,
                             unsigned long again)
{
	bool same = from != 0;
	long error = info_error(lo, hi, num, flags);
	unsigned long end, bad;
	const char *what;

	if (error)
		return again ? "a refused call must not be made again" : model_refused(got, error);
	if (m->info.next && !same)
		seen(info_dropped);
	if (!same && m->info.next && m->info.lo == lo && m->info.num == num)
		seen(info_begun_anew);
	m->info = (struct model_info){0};
	end = slice_end(m, lo, from, num);
	bad = first_bad(m, lo, from, end);
	what = check_answers(m, lo, from, bad, end);
	if (what)
		return what;
	if (bad < end) {
		seen(info_reserved_bits);
		if (from)
			seen(info_reserved_bits_later);
		return again ? "a failed call must not be made again" : model_expect(got, -3);
	}
	if (!again != (end == num))
		return again ? "nothing is left to do" : "the call is not done";
	if (again) {
		if (again != end)
			return "the call goes on with another entry";
		seen(info_slices);
		m->info.lo = lo;
		m->info.num = num;
		m->info.next = end;
		return NULL;
	}
	if (!num)
		seen(info_empty);
	else if (from)
		seen(info_last_of_many);
	else
		seen(info_one_slice);
	return model_expect(got, 0);
}
