/* SPDX-License-Identifier: Apache-2.0 */
#include "core/host/host_claims.h"

#include "core/host/fdt_index.h"
#include "core/host/host_tree.h"

#define PAGE 4096U

/* Returns whether there is no room. */
static bool add(struct host_claims *claims, struct host_claim claim)
{
	if (claims->n == claims->room)
		return true;
	claim.node = claims->node;
	claims->list[claims->n++] = claim;
	return false;
}

static bool add_source(uint32_t source, void *claims)
{
	return add(claims, (struct host_claim){.source = source});
}

/* Adds registers, or windows. Returns whether there is no room. */
static bool add_pages(struct host_claims *claims, const struct host_place *place,
                      enum host_reg (*find)(const struct host_place *, uint32_t, uint64_t *,
                                            uint64_t *))
{
	uint64_t base = 0, size = 0;
	enum host_reg found = HOST_REG_OK;

	for (uint32_t i = 0; found == HOST_REG_OK || found == HOST_REG_ELSEWHERE; i++) {
		found = find(place, i, &base, &size);
		if (found == HOST_REG_OK && size &&
		    add(claims, (struct host_claim){.from = base - base % PAGE, .to = base + size}))
			return true;
	}
	return false;
}

/* Most nodes have neither windows nor interrupts. */
static bool is_listed(const void *tree, struct host_claims *claims)
{
	uint64_t windows = fdt_index_bit("ranges", 6);
	uint64_t sources = fdt_index_bit("interrupts", 10) | fdt_index_bit("interrupt-map", 13) |
	                   fdt_index_bit("interrupts-extended", 19);
	struct host_chip chip = host_tree_chip(tree);
	struct host_place place = host_place_root(tree);

	while (host_place_next(&place)) {
		claims->node = place.node[place.depth];
		if (add_pages(claims, &place, host_tree_reg) ||
		    (!fdt_index_lacks(tree, claims->node, windows) &&
		     add_pages(claims, &place, host_tree_window)) ||
		    (!fdt_index_lacks(tree, claims->node, sources) &&
		     host_tree_each_source(&place, &chip, add_source, claims)))
			return false;
	}
	return !place.passed;
}

bool host_claims_make(const void *tree, struct host_claims *claims)
{
	if (claims->state == HOST_CLAIMS_UNKNOWN) {
		claims->n = 0;
		claims->state = is_listed(tree, claims) ? HOST_CLAIMS_LISTED : HOST_CLAIMS_TOO_MANY;
	}
	return claims->state == HOST_CLAIMS_LISTED;
}
