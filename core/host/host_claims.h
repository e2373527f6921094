/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages and interrupts that each node of the host's tree has, in the order of the tree: whether
 * a device is apart from all other nodes is then asked of this list, and not of the whole tree
 * again for each device. Pure, like host_tree.h.
 */
#ifndef CORE_HOST_HOST_CLAIMS_H
#define CORE_HOST_HOST_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

/* Boot lists at most as many. */
#define HOST_CLAIMS 4096U

/* Either some pages, of registers or of a window to a PCI bus, or one interrupt. */
struct host_claim {
	uint64_t from, to; /* from the start of a page; both 0 for an interrupt */
	uint32_t source;   /* at the harts' controller; 0 for pages */
	int node;
};

enum host_claims_state { HOST_CLAIMS_UNKNOWN, HOST_CLAIMS_LISTED, HOST_CLAIMS_TOO_MANY };

struct host_claims {
	enum host_claims_state state;
	uint32_t room; /* of list[] */
	uint32_t n;
	int node; /* the one whose claims are being listed */
	struct host_claim list[];
};

/* Lists all claims of a tree, if that was not done before. Returns false if there is not enough
 * room, or if the tree is not flat. */
bool host_claims_make(const void *tree, struct host_claims *claims);

#endif
