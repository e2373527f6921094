/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guest interrupt files: the IMSIC of a vcpu, in the IMSIC of its hart. A message to the page of a
 * file interrupts the guest while hstatus.VGEIN names the file, and HS (SGEI) while hgeie has it.
 */
#ifndef ARCH_RISCV_DEVICES_IMSIC_H
#define ARCH_RISCV_DEVICES_IMSIC_H

#include "core/lib/types.h"

#define IMSIC_GUEST_FILES 7U    /* files 1 to 7 of a hart are used */
#define IMSIC_MAX_IDS     2047U /* identities of a file */

/* The IMSICs of all harts. */
struct imsic {
	uint64_t base;
	uint32_t file_bits; /* a hart has 2^file_bits pages: its own file, then the guests' */
	uint32_t ids;       /* the highest identity; 0: there is no IMSIC with guest files */
	/* If harts are in groups (AIA 1.0, 3.6): how many low bits of a hart's place are its number
	 * in the group. The others are the group's, which is from this bit of the address on.
	 * group_shift 0: there are no groups. */
	uint32_t hart_bits, group_shift;
};

/* Returns where the page of a guest file is. `place` is that of the hart (irqchip.h). */
hpa_t imsic_file_at(const struct imsic *imsic, uint32_t place, uint32_t file);

/*
 * Finds out how many guest files the calling hart has whose registers a guest can reach, and how
 * many words of 64 identities each has, which may be more than the host's tree says. *why is why
 * there are none. At boot; vs_state_init_hart() has been called.
 */
uint32_t imsic_probe(const struct imsic *imsic, uint32_t *words, const char **why);

/* Whether a message to the page reaches that guest file of the calling hart, which is as after
 * reset. */
bool imsic_file_is_at(hpa_t page, uint32_t file);

/* Clears all registers of a guest file of the calling hart, as after reset. */
void imsic_file_clear(uint32_t words, uint32_t file);

/* Sends a message to a guest file. Any hart may call it. */
void imsic_send(hpa_t file, uint32_t identity);

#endif
