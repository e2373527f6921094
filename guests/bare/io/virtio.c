/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells the status of the virtio device at 0x10001000, sets it as a driver would that has found the
 * device, and fails. So the next life tells whether the device was reset in between.
 */
#include "guests/bare/bare.h"

#define STATUS      ((volatile uint32_t *)0x10001070UL)
#define ACKNOWLEDGE 1U
#define DRIVER      2U

int virtio(uint64_t hartid)
{
	uint32_t before = *STATUS;

	(void)hartid;
	*STATUS = ACKNOWLEDGE | DRIVER;
	print("virtio: status %u, then %u\n", before, *STATUS);
	return 1;
}
