/* SPDX-License-Identifier: Apache-2.0 */
/* legacy: reads cycle and instret by itself, twice each with known instructions between, and
 * prints the differences. Without an open event the first read is an illegal instruction. */
#include <inttypes.h>
#include <stdio.h>

/* 100 instructions between the reads, and the second read itself. */
#define BETWEEN "\n.rept 100\nnop\n.endr\n"

int main(void)
{
	uint64_t cycles[2];
	uint64_t instructions[2];

	__asm__ volatile("rdcycle %0" BETWEEN "rdcycle %1" : "=&r"(cycles[0]), "=r"(cycles[1]));
	__asm__ volatile("rdinstret %0" BETWEEN "rdinstret %1"
	                 : "=&r"(instructions[0]), "=r"(instructions[1]));
	printf("legacy: %" PRIu64 " cycles, %" PRIu64 " instructions\n", cycles[1] - cycles[0],
	       instructions[1] - instructions[0]);
	return 0;
}
