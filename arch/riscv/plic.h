/* SPDX-License-Identifier: Apache-2.0 */
/* The host's PLIC, for one source (the console's) and one context: the boot hart's S-mode. */
#ifndef ARCH_PLIC_H
#define ARCH_PLIC_H

#include "core/types.h"

struct plic {
	uint64_t base; /* 0: none */
	uint32_t context;
};

void plic_enable(const struct plic *plic, uint32_t source);

/* The source to serve, or 0; it must be completed. */
uint32_t plic_claim(const struct plic *plic);
void plic_complete(const struct plic *plic, uint32_t source);

#endif
