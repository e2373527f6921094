/* SPDX-License-Identifier: Apache-2.0 */
#include "core/boot/page_alloc.h"
#include "core/panic.h"
#include <string.h>

static struct {
	uint64_t next, end;
} tables, guests;

void page_alloc_init(uint64_t tables_start, uint64_t tables_end, uint64_t guests_start,
                     uint64_t guests_end)
{
	tables.next = tables_start;
	tables.end = tables_end;
	guests.next = guests_start;
	guests.end = guests_end;
}

void *page_alloc(size_t size)
{
	uint64_t at = ALIGN_UP(tables.next, size);

	if (at + size > tables.end)
		panic("page_alloc: no room for %zu bytes", size);
	tables.next = at + size;
	return memset((void *)at, 0, size);
}

hpa_t guest_memory_alloc(uint64_t size)
{
	hpa_t at = {guests.next};

	if (size > guests.end - guests.next)
		panic("guest_memory_alloc: no room for %lu bytes", size);
	guests.next += size;
	memset((void *)at.a, 0, size);
	return at;
}
