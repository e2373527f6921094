/* SPDX-License-Identifier: Apache-2.0 */
/* Start and end of a bare guest, and access to its device tree. */
#include "guests/lib/guest.h"

#include <stddef.h>

#include "guests/lib/csr.h"
#include "guests/lib/print.h"
#include "guests/lib/sbi.h"

#define FDT_MAGIC      0xd00dfeedU
#define FDT_BEGIN_NODE 1U
#define FDT_END_NODE   2U
#define FDT_PROP       3U
#define FDT_NOP        4U

static const char *bootargs;
static const uint8_t *tree; /* NULL: there is none */

/* The compiler calls these for large copies and initialisers. */
void *memset(void *dst, int c, size_t n);
void *memset(void *dst, int c, size_t n)
{
	for (volatile unsigned char *p = dst; n; n--)
		*p++ = (unsigned char)c;
	return dst;
}

void *memcpy(void *restrict dst, const void *restrict src, size_t n);
void *memcpy(void *restrict dst, const void *restrict src, size_t n)
{
	const unsigned char *from = src;

	for (volatile unsigned char *p = dst; n; n--)
		*p++ = *from++;
	return dst;
}

static uint32_t be32(const void *p)
{
	const uint8_t *b = p;

	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static bool str_eq(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* Whether a node has this name, without its unit address. */
static bool is_named(const char *node, const char *name)
{
	while (*name && *node == *name) {
		node++;
		name++;
	}
	return !*name && (!*node || *node == '@');
}

/*
 * Returns a property of the node of this name below the root, or of the next ones after so many.
 * The device tree comes from the firmware or Tally, so it is well-formed, or there is none.
 */
static const void *property(const char *node, uint32_t skip, const char *name, uint32_t *size)
{
	if (!tree)
		return NULL;

	const uint8_t *p = tree + be32(tree + 8), *end = tree + be32(tree + 4);
	const char *strings = (const char *)tree + be32(tree + 12);
	unsigned depth = 0;
	bool here = false;

	while (p < end) {
		uint32_t token = be32(p);

		p += 4;
		if (token == FDT_BEGIN_NODE) {
			depth++;
			if (depth == 2)
				here = is_named((const char *)p, node) && skip-- == 0;
			p += (str_len((const char *)p) + 4) & ~3UL;
		} else if (token == FDT_END_NODE) {
			depth--;
		} else if (token == FDT_PROP) {
			uint32_t len = be32(p);

			if (depth == 2 && here && len && str_eq(strings + be32(p + 4), name)) {
				*size = len;
				return p + 8;
			}
			p += 8 + ((len + 3) & ~3U);
		} else if (token != FDT_NOP) {
			break;
		}
	}
	return NULL;
}

const void *chosen_property(const char *name, uint32_t *size)
{
	return property("chosen", 0, name, size);
}

static bool range_of(const char *node, uint32_t n, uint64_t *base, uint64_t *size)
{
	uint32_t bytes;
	const uint8_t *reg = property(node, n, "reg", &bytes);

	if (!reg || bytes != 16)
		return false;
	*base = (uint64_t)be32(reg) << 32 | be32(reg + 4);
	*size = (uint64_t)be32(reg + 8) << 32 | be32(reg + 12);
	return true;
}

bool memory_node(uint32_t n, uint64_t *base, uint64_t *size)
{
	return range_of("memory", n, base, size);
}

bool shared_node(uint32_t n, struct shared_memory *shared)
{
	uint32_t bytes;
	const char *access = property("shared", n, "tally,access", &bytes);

	shared->name = property("shared", n, "label", &bytes);
	if (!access || !shared->name)
		return false;
	shared->writable = str_eq(access, "read-write");
	return range_of("shared", n, &shared->base, &shared->size);
}

bool tree_has(const char *word)
{
	const char *start = (const char *)tree;
	size_t n = str_len(word) + 1, size = tree ? be32(tree + 4) : 0;

	/* With the zero before it, which ends another string or is of a number. */
	for (size_t i = 1; i + n <= size; i++) {
		if (!start[i - 1] && str_eq(&start[i], word))
			return true;
	}
	return false;
}

const char *bootarg(const char *name)
{
	size_t n = str_len(name);

	for (const char *p = bootargs; *p;) {
		size_t i = 0;

		while (i < n && p[i] == name[i])
			i++;
		if (i == n && p[i] == '=')
			return p + n + 1;
		while (*p && *p != ' ')
			p++;
		while (*p == ' ')
			p++;
	}
	return NULL;
}

bool bootarg_is(const char *name, const char *value)
{
	const char *p = bootarg(name);

	if (!p)
		return false;
	while (*value && *p == *value) {
		p++;
		value++;
	}
	return !*value && (!*p || *p == ' ');
}

uint64_t bootarg_num(const char *name, uint64_t otherwise)
{
	const char *p = bootarg(name);
	uint64_t n = 0;

	if (!p || *p < '0' || *p > '9')
		return otherwise;
	for (; *p >= '0' && *p <= '9'; p++)
		n = n * 10 + (uint64_t)(*p - '0');
	return n;
}

uint64_t insn_run(uint32_t insn, uint64_t arg)
{
	static uint32_t code[2] __attribute__((aligned(8)));
	register uint64_t a0 __asm__("a0") = arg;

	code[0] = insn;
	code[1] = 0x00008067; /* ret */
	__asm__ volatile("fence.i\n\tjalr ra, %1" : "+r"(a0) : "r"(code) : "ra", "memory");
	return a0;
}

void sbi_shutdown(unsigned long reason)
{
	sbi_call(SBI_EXT_SRST, SBI_SRST_RESET, SBI_SRST_SHUTDOWN, reason, 0, 0, 0, 0);
	csr_write(sie, 0);
	for (;;)
		__asm__ volatile("wfi");
}

void guest_start(uint64_t hartid, const void *dtb)
{
	uint32_t size;

	print_init();
	if (dtb && be32(dtb) == FDT_MAGIC)
		tree = dtb;
	bootargs = chosen_property("bootargs", &size);
	if (!bootargs)
		bootargs = "";
	sbi_shutdown(guest_main(hartid) ? SBI_SRST_REASON_SYSFAIL : SBI_SRST_REASON_NONE);
}
