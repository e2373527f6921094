/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guest interrupt files: the IMSIC of a vcpu is a guest file in the IMSIC of its hart. A message to
 * the page of a file interrupts the guest while hstatus.VGEIN is the file, and HS (SGEI) while its
 * bit in hgeie is set.
 */
#ifndef ARCH_RISCV_DEVICES_IMSIC_H
#define ARCH_RISCV_DEVICES_IMSIC_H

#include "core/lib/types.h"

#define IMSIC_GUEST_FILES 7U    /* files 1 to 7 of a hart are used */
#define IMSIC_MAX_IDS     2047U /* identities of a file */

/* Registers of a file. */
#define IMSIC_EIDELIVERY  0x70UL
#define IMSIC_EITHRESHOLD 0x72UL
#define IMSIC_EIE0        0xc0UL

/* The IMSICs of all harts. */
struct imsic {
	uint64_t base;
	uint32_t file_bits; /* a hart has 2^file_bits pages: its own file, then the guests' */
	uint32_t ids;       /* the highest identity; 0: no IMSIC has guest files */
	/* For harts in groups (AIA 1.0, 3.6): the low hart_bits bits of a hart's place are its
	 * number in the group. The others are the group's number, which starts at bit group_shift
	 * of the address. group_shift 0: there are no groups. */
	uint32_t hart_bits, group_shift;
};

/* Returns the address of the page of a guest file. `place` is that of the hart (irqchip.h). */
hpa_t imsic_file_at(const struct imsic *imsic, uint32_t place, uint32_t file);

/*
 * Returns how many guest files of the calling hart have registers that a guest can reach. *words is
 * the number of 64-identity words in each, which may be more than the host's tree says. *why is the
 * reason if there are none. At boot, after vs_state_init_hart().
 */
uint32_t imsic_probe(const struct imsic *imsic, uint32_t *words, const char **why);

/* Whether a message to the page reaches this guest file of the calling hart. The file is in its
 * reset state. */
bool imsic_file_is_at(hpa_t page, uint32_t file);

/* Clears all registers of a guest file of the calling hart, as after reset. */
void imsic_file_clear(uint32_t words, uint32_t file);

/* Sends a message to a guest file. Any hart may call it. */
void imsic_send(hpa_t file, uint32_t identity);

#endif
