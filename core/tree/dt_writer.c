/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/dt_writer.h"

#include <libfdt.h>
#include <string.h>

void dt_begin(struct dt_writer *w, const char *node)
{
	if (!w->error)
		w->error = fdt_begin_node(w->fdt, node);
}

void dt_end(struct dt_writer *w)
{
	if (!w->error)
		w->error = fdt_end_node(w->fdt);
}

void dt_put(struct dt_writer *w, const char *name, const void *value, size_t size)
{
	if (!w->error)
		w->error = fdt_property(w->fdt, name, value, (int)size);
}

void dt_put_string(struct dt_writer *w, const char *name, const char *value)
{
	dt_put(w, name, value, strlen(value) + 1);
}

void dt_put_u32(struct dt_writer *w, const char *name, uint32_t value)
{
	fdt32_t cell = cpu_to_fdt32(value);

	dt_put(w, name, &cell, sizeof(cell));
}

void dt_put_flag(struct dt_writer *w, const char *name)
{
	dt_put(w, name, "", 0);
}
