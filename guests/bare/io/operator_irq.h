/* SPDX-License-Identifier: Apache-2.0 */
/* The interrupt of an operator's function, as the guest `operator` takes it. */
#ifndef GUESTS_OPERATOR_IRQ_H
#define GUESTS_OPERATOR_IRQ_H

#include "guests/lib/operator.h"

struct operator_irqs {
	uint64_t came;
	uint64_t strange; /* without a reason in STATE, or of another source or identity */
	uint64_t leave;   /* so many of the next ones leave STATE as it is */
};
extern volatile struct operator_irqs operator_irqs;

/* Takes it from now on. By operator-identity, if there is one; else by the source: of an APLIC if
 * `aplic`, of a PLIC otherwise. */
void operator_listen(const struct operator_function *f, bool aplic);

#endif
