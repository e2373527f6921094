/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a device tree. */
#ifndef CORE_TREE_DT_WRITER_H
#define CORE_TREE_DT_WRITER_H

#include <stddef.h>
#include <stdint.h>

/*
 * A tree that is being written. libfdt does not remember errors, and none of some fifty calls may
 * fail unnoticed. So the first error is kept, and later calls do nothing.
 */
struct dt_writer {
	void *fdt;
	int error; /* of libfdt; 0 if there was none */
};

void dt_begin(struct dt_writer *w, const char *node);
void dt_end(struct dt_writer *w);

/* Writes a property of the node that was begun last. size: bytes. */
void dt_put(struct dt_writer *w, const char *name, const void *value, size_t size);
void dt_put_string(struct dt_writer *w, const char *name, const char *value);
void dt_put_u32(struct dt_writer *w, const char *name, uint32_t value);
void dt_put_flag(struct dt_writer *w, const char *name);

#endif
