/* SPDX-License-Identifier: Apache-2.0 */
#include "core/devices/vplic.h"

/* RISC-V PLIC specification 1.0.0, "Memory Map". */
#define PENDING_BASE   0x001000u
#define ENABLE_BASE    0x002000u
#define ENABLE_STRIDE  0x80u
#define CONTEXT_BASE   0x200000u
#define CONTEXT_STRIDE 0x1000u
#define CONTEXT_CLAIM  4u /* threshold is at 0 */

#define ALL_SOURCES 0xfffffffeu /* source 0 means "none" */

void vplic_init(struct vplic *p, unsigned int n_contexts)
{
	*p = (struct vplic){0};
	p->n_contexts = n_contexts < VPLIC_MAX_CONTEXTS ? n_contexts : VPLIC_MAX_CONTEXTS;
}

/* The gateways: each forwards a request if its source is high or was requested, unless a request is
 * in progress. */
static void forward(struct vplic *p)
{
	uint32_t before = p->pending;

	p->pending |= (p->level | p->asked) & ~p->claimed;
	p->asked &= p->claimed;
	if (p->pending != before)
		p->changed |= VPLIC_OUTPUTS;
}

/* Returns 0 if there is no such source, so that nothing is done for it. */
static uint32_t bit_of(unsigned int source)
{
	return source <= VPLIC_SOURCES ? 1u << source & ALL_SOURCES : 0;
}

void vplic_set_level(struct vplic *p, unsigned int source, bool level)
{
	p->level = level ? p->level | bit_of(source) : p->level & ~bit_of(source);
	forward(p);
}

void vplic_request(struct vplic *p, unsigned int source)
{
	p->asked |= bit_of(source);
	forward(p);
}

int vplic_context(const struct vplic *p, unsigned int source)
{
	for (unsigned int ctx = 0; ctx < p->n_contexts; ctx++) {
		if (p->enable[ctx] & bit_of(source))
			return (int)ctx;
	}
	return -1;
}

/* Returns the pending source with the highest priority above min among those that ctx has enabled;
 * if several have it, the lowest number. 0 if there is none. */
static unsigned int best_source(const struct vplic *p, unsigned int ctx, unsigned int min)
{
	uint32_t left = (p->pending & p->enable[ctx]) >> 1;
	unsigned int best = 0;

	for (unsigned int s = 1; left != 0; s++, left >>= 1) {
		if ((left & 1) && p->priority[s] > min) {
			min = p->priority[s];
			best = s;
		}
	}
	return best;
}

bool vplic_output(const struct vplic *p, unsigned int context)
{
	return context < p->n_contexts && best_source(p, context, p->threshold[context]) != 0;
}

static uint32_t claim(struct vplic *p, unsigned int ctx)
{
	unsigned int s = best_source(p, ctx, 0);

	if (s != 0) {
		p->pending &= ~(1u << s);
		p->claimed |= 1u << s;
		p->changed |= VPLIC_OUTPUTS;
	}
	return s;
}

/* Does nothing if the source was not claimed or may not be completed here. */
static void complete(struct vplic *p, unsigned int ctx, uint32_t source)
{
	uint32_t bit = p->enable[ctx] & p->claimed & bit_of(source);

	if (!bit)
		return;
	p->claimed &= ~bit;
	p->completed |= bit;
	p->changed |= VPLIC_COMPLETED;
	forward(p);
}

enum reg { REG_NONE, REG_PRIORITY, REG_PENDING, REG_ENABLE, REG_THRESHOLD, REG_CLAIM };

/* Returns the kind of register at offset, and sets *index to its source or context, which
 * exists. */
static enum reg find_reg(const struct vplic *p, uint32_t offset, unsigned int *index)
{
	uint32_t rest;

	*index = 0;
	if (offset % 4 != 0 || offset >= VPLIC_SIZE)
		return REG_NONE;
	if (offset < PENDING_BASE) {
		*index = offset / 4;
		return *index != 0 && *index <= VPLIC_SOURCES ? REG_PRIORITY : REG_NONE;
	}
	if (offset < ENABLE_BASE)
		return offset == PENDING_BASE ? REG_PENDING : REG_NONE;
	if (offset < CONTEXT_BASE) {
		*index = (offset - ENABLE_BASE) / ENABLE_STRIDE;
		rest = (offset - ENABLE_BASE) % ENABLE_STRIDE;
		return *index < p->n_contexts && rest == 0 ? REG_ENABLE : REG_NONE;
	}
	*index = (offset - CONTEXT_BASE) / CONTEXT_STRIDE;
	rest = (offset - CONTEXT_BASE) % CONTEXT_STRIDE;
	if (*index >= p->n_contexts || rest > CONTEXT_CLAIM)
		return REG_NONE;
	return rest == CONTEXT_CLAIM ? REG_CLAIM : REG_THRESHOLD;
}

uint32_t vplic_read(struct vplic *p, uint32_t offset)
{
	unsigned int i;

	switch (find_reg(p, offset, &i)) {
	case REG_PRIORITY:
		return p->priority[i];
	case REG_PENDING:
		return p->pending;
	case REG_ENABLE:
		return p->enable[i];
	case REG_THRESHOLD:
		return p->threshold[i];
	case REG_CLAIM:
		return claim(p, i);
	case REG_NONE:
		break;
	}
	return 0;
}

void vplic_write(struct vplic *p, uint32_t offset, uint32_t value)
{
	unsigned int i;

	switch (find_reg(p, offset, &i)) {
	case REG_PRIORITY:
		p->priority[i] = (uint8_t)(value & VPLIC_MAX_PRIORITY);
		p->changed |= VPLIC_OUTPUTS;
		break;
	case REG_ENABLE:
		if (p->enable[i] != (value & ALL_SOURCES))
			p->changed |= VPLIC_OUTPUTS | VPLIC_ENABLES;
		p->enable[i] = value & ALL_SOURCES;
		break;
	case REG_THRESHOLD:
		p->threshold[i] = (uint8_t)(value & VPLIC_MAX_PRIORITY);
		p->changed |= VPLIC_OUTPUTS;
		break;
	case REG_CLAIM:
		complete(p, i, value);
		break;
	case REG_PENDING: /* read-only */
	case REG_NONE:
		break;
	}
}

uint32_t vplic_unpaired(uint32_t offset)
{
	bool enables = offset < CONTEXT_BASE;
	uint32_t base = enables ? ENABLE_BASE : CONTEXT_BASE;
	uint32_t stride = enables ? ENABLE_STRIDE : CONTEXT_STRIDE;
	uint32_t context = (offset - base) / stride;

	if (offset < ENABLE_BASE)
		return offset;
	return context & 1 ? offset - (context / 2 + 1) * stride : VPLIC_SIZE;
}
