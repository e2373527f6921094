/* SPDX-License-Identifier: Apache-2.0 */
#include "core/boot/page_alloc.h"
#include "core/panic.h"
#include <string.h>

static uint64_t next, end;

void page_alloc_init(uint64_t tables_start, uint64_t tables_end)
{
	next = tables_start;
	end = tables_end;
}

void *page_alloc(size_t size)
{
	uint64_t at = ALIGN_UP(next, size);

	if (at + size > end)
		panic("page_alloc: no room for %zu bytes", size);
	next = at + size;
	return memset((void *)at, 0, size);
}
