/* SPDX-License-Identifier: Apache-2.0 */
#include "core/boot/page_alloc.h"
#include "core/life/vm_load.h"
#include "core/panic.h"

#define LINE 64U /* bytes of a cache line, which two harts do not share */

static uint64_t start, next, end;

/* The largest gap left by alignment, used for allocations that fit into it. */
static struct {
	uint64_t from, to;
} gap;

void page_alloc_init(uint64_t tables_start, uint64_t tables_end)
{
	start = tables_start;
	next = tables_start;
	end = tables_end;
}

static void *take(size_t size, uint64_t alignment)
{
	uint64_t at = ALIGN_UP(gap.from, alignment);

	if (at + size <= gap.to) {
		gap.from = at + size;
		return (void *)at;
	}
	at = ALIGN_UP(next, alignment);
	if (at + size > end)
		panic("page_alloc: no room for %zu bytes", size);
	if (at - next > gap.to - gap.from) {
		gap.from = next;
		gap.to = at;
	}
	next = at + size;
	return (void *)at;
}

static void *cleared(void *memory, size_t size)
{
	vm_clear_range((uint64_t)memory, size);
	return memory;
}

void *page_alloc(size_t size)
{
	return cleared(take(size, size), size);
}

void *page_alloc_uncleared(size_t size)
{
	return take(ALIGN_UP(size, LINE), LINE);
}

void *page_alloc_array(size_t size)
{
	return cleared(page_alloc_uncleared(size), size);
}

void page_alloc_trim(const void *last, size_t size, size_t used)
{
	uint64_t *behind = (uint64_t)last < gap.from ? &gap.from : &next;

	if ((uint64_t)last + ALIGN_UP(size, LINE) == *behind)
		*behind = ALIGN_UP((uint64_t)last + used, LINE);
}

uint64_t page_alloc_used(void)
{
	return next - start - (gap.to - gap.from);
}
