/* SPDX-License-Identifier: Apache-2.0 */
/* Prints /chosen rng-seed in hexadecimal, waits ticks=, and resets. type=1: it is started again. */
#include "guests/bare/bare.h"

int seed(uint64_t hartid)
{
	uint32_t size = 0;
	const uint8_t *bytes = chosen_property("rng-seed", &size);

	(void)hartid;
	print("seed: ");
	for (uint32_t i = 0; bytes && i < size; i++)
		print("%x%x", (uint64_t)bytes[i] >> 4, (uint64_t)bytes[i] & 15);
	print("%s\n", bytes ? "" : "none");
	while (!time_is_up())
		;
	sbi_call(SBI_EXT_SRST, SBI_SRST_RESET, bootarg_num("type", 0), 0, 0, 0, 0, 0);
	return 1;
}
