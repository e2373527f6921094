/* SPDX-License-Identifier: Apache-2.0 */
#include "core/devices/vaplic.h"

/* Advanced Interrupt Architecture 1.0, table 4.1. */
#define DOMAINCFG  0x0000u
#define SOURCECFG  0x0004u /* of source 1 */
#define SETIP      0x1c00u
#define SETIPNUM   0x1cdcu
#define CLRIP      0x1d00u /* read: the rectified inputs */
#define CLRIPNUM   0x1ddcu
#define SETIE      0x1e00u
#define SETIENUM   0x1edcu
#define CLRIE      0x1f00u
#define CLRIENUM   0x1fdcu
#define SETIPNUMLE 0x2000u
#define SETIPNUMBE 0x2004u
#define GENMSI     0x3000u
#define TARGET     0x3004u /* of source 1 */

#define DOMAINCFG_FIXED 0x80000004u /* and DM */
#define DOMAINCFG_IE    0x100u
#define SOURCECFG_SM    7u
#define HART_SHIFT      18 /* target, genmsi */
#define IDENTITY        0x7ffu
#define ALL_SOURCES     0xfffffffeu /* there is no source 0 */

void vaplic_init(struct vaplic *a, unsigned int n_vcpus, uint32_t foreign)
{
	*a = (struct vaplic){.n_vcpus = n_vcpus, .foreign = foreign & ALL_SOURCES};
}

static bool is_source(uint32_t source)
{
	return source >= 1 && source <= VAPLIC_SOURCES;
}

/* Returns the rectified inputs; 0 for detached and inactive sources. */
static uint32_t inputs(const struct vaplic *a)
{
	return ((a->level & a->high) | (~a->level & a->low)) & ~a->foreign;
}

static void set_pending(struct vaplic *a, uint32_t bits, struct vaplic_change *change)
{
	bits &= a->active;
	change->set = bits & a->foreign;
	/* 4.7: in MSI delivery mode, a source whose level is low cannot be pending. */
	a->pending |= bits & ~a->foreign & (~a->levels | inputs(a));
}

static void clear_pending(struct vaplic *a, uint32_t bits, struct vaplic_change *change)
{
	change->clear = bits & a->foreign & a->active;
	a->pending &= ~bits;
}

static void enable(struct vaplic *a, uint32_t bits, bool on, struct vaplic_change *change)
{
	bits &= a->active & (on ? ~a->enabled : a->enabled);
	a->enabled ^= bits;
	change->routes = bits & a->foreign;
}

static uint32_t swapped(uint32_t value)
{
	return value << 24 | (value & 0xff00) << 8 | (value >> 8 & 0xff00) | value >> 24;
}

/* Returns 0 if there is no such source, so that a write of its number has no effect. */
static uint32_t bit_of(uint32_t source)
{
	return is_source(source) ? 1u << source : 0;
}

static void set_bit(uint32_t *word, uint32_t bit, bool on)
{
	*word = on ? *word | bit : *word & ~bit;
}

static void configure(struct vaplic *a, unsigned int source, uint32_t value,
                      struct vaplic_change *change)
{
	uint32_t bit = 1u << source;
	uint8_t mode = value & SOURCECFG_SM;

	if (!source)
		return;
	if (mode != VAPLIC_DETACHED && mode < VAPLIC_RISING)
		mode = VAPLIC_INACTIVE; /* reserved ones too */
	a->mode[source] = mode;
	set_bit(&a->active, bit, mode != VAPLIC_INACTIVE);
	set_bit(&a->levels, bit, mode == VAPLIC_HIGH || mode == VAPLIC_LOW);
	set_bit(&a->high, bit, mode == VAPLIC_RISING || mode == VAPLIC_HIGH);
	set_bit(&a->low, bit, mode == VAPLIC_FALLING || mode == VAPLIC_LOW);
	change->routes = bit & a->foreign;
	if (mode == VAPLIC_INACTIVE) {
		a->enabled &= ~bit;
		a->pending &= ~bit;
		a->vcpu[source] = 0;
		a->identity[source] = 0;
	} else if (a->levels & bit & ~a->foreign) {
		set_bit(&a->pending, bit, inputs(a) & bit);
	}
}

/* Returns the vcpu of a hart index in target or genmsi: vcpu 0 if there is none with it. */
static unsigned int vcpu_of(const struct vaplic *a, uint32_t value)
{
	return value >> HART_SHIFT < a->n_vcpus ? value >> HART_SHIFT : 0;
}

/* No effect for source 0, whose mode is always inactive. */
static void aim(struct vaplic *a, unsigned int source, uint32_t value, struct vaplic_change *change)
{
	if (a->mode[source] == VAPLIC_INACTIVE)
		return;
	a->vcpu[source] = (uint8_t)vcpu_of(a, value);
	a->identity[source] = value & IDENTITY;
	change->routes = 1u << source & a->foreign;
}

/* Returns the source of an entry in a table that begins with source 1, or 0 if the offset is not in
 * the table. */
static unsigned int entry_of(uint32_t offset, uint32_t table)
{
	uint32_t source = (offset - table) / 4 + 1;

	return offset >= table && is_source(source) ? source : 0;
}

enum vaplic_needs vaplic_needs(uint32_t offset)
{
	return offset == SETIP   ? VAPLIC_NEEDS_PENDING
	       : offset == CLRIP ? VAPLIC_NEEDS_INPUT
	                         : VAPLIC_NEEDS_NOTHING;
}

uint32_t vaplic_read(const struct vaplic *a, uint32_t offset, uint32_t host)
{
	unsigned int source;

	if (offset % 4)
		return 0;
	switch (offset) {
	case DOMAINCFG:
		return DOMAINCFG_FIXED | (a->on ? DOMAINCFG_IE : 0);
	case SETIP:
		return a->pending | (host & a->foreign);
	case CLRIP:
		return inputs(a) | (host & a->foreign);
	case SETIE:
		return a->enabled;
	default:
		break;
	}
	source = entry_of(offset, SOURCECFG);
	if (source)
		return a->mode[source];
	source = entry_of(offset, TARGET);
	if (source)
		return (uint32_t)a->vcpu[source] << HART_SHIFT | a->identity[source];
	return 0; /* write-only, or of sources that do not exist */
}

void vaplic_write(struct vaplic *a, uint32_t offset, uint32_t value, struct vaplic_change *change)
{
	change->routes = change->set = change->clear = 0;
	change->extempore = false;
	if (offset % 4)
		return;
	if (offset >= TARGET) {
		aim(a, entry_of(offset, TARGET), value, change);
		return;
	}
	switch (offset) {
	case DOMAINCFG:
		a->on = value & DOMAINCFG_IE;
		change->routes = a->foreign;
		break;
	case SETIP:
		set_pending(a, value, change);
		break;
	case SETIPNUM:
	case SETIPNUMLE:
		set_pending(a, bit_of(value), change);
		break;
	case SETIPNUMBE:
		set_pending(a, bit_of(swapped(value)), change);
		break;
	case CLRIP:
		clear_pending(a, value, change);
		break;
	case CLRIPNUM:
		clear_pending(a, bit_of(value), change);
		break;
	case SETIE:
		enable(a, value, true, change);
		break;
	case SETIENUM:
		enable(a, bit_of(value), true, change);
		break;
	case CLRIE:
		enable(a, value, false, change);
		break;
	case CLRIENUM:
		enable(a, bit_of(value), false, change);
		break;
	case GENMSI:
		/* 4.5.15: sent whether or not the domain is on. */
		change->extempore = true;
		change->message = (struct vaplic_message){vcpu_of(a, value), value & IDENTITY};
		break;
	default:
		configure(a, entry_of(offset, SOURCECFG), value, change);
	}
}

void vaplic_set_level(struct vaplic *a, unsigned int source, bool level)
{
	uint32_t bit = bit_of(source) & ~a->foreign;
	uint32_t before = inputs(a);

	set_bit(&a->level, bit, level);
	a->pending |= inputs(a) & ~before;
	a->pending &= ~(a->levels & before & ~inputs(a));
}

bool vaplic_take(struct vaplic *a, struct vaplic_message *message)
{
	uint32_t ready = a->on ? a->pending & a->enabled : 0;
	unsigned int source = 0;

	if (!ready)
		return false;
	while (!(ready >> source & 1))
		source++;
	a->pending &= ~(1u << source);
	*message = (struct vaplic_message){a->vcpu[source], a->identity[source]};
	return true;
}

bool vaplic_sends(const struct vaplic *a, unsigned int source)
{
	return a->on && a->enabled >> source & 1;
}
