/* SPDX-License-Identifier: Apache-2.0 */
/* The AIA of a guest: the IMSIC of each vcpu, and its APLIC. */
#ifndef GUESTS_AIA_H
#define GUESTS_AIA_H

#include "guests/bare/bare.h"

#define AIA_APLIC 0x0d000000UL
#define AIA_IMSIC 0x28000000UL /* of vcpu 0; the others follow, a page each */

#define CSR_SISELECT 0x150
#define CSR_SIREG    0x151
#define CSR_STOPEI   0x15c
#define CSR_STOPI    0xdb0

#define AIA_EIDELIVERY  0x70UL
#define AIA_EITHRESHOLD 0x72UL
#define AIA_EIP0        0x80UL
#define AIA_EIE0        0xc0UL

#define APLIC_DOMAINCFG 0x0000UL
#define APLIC_SOURCECFG 0x0000UL /* + 4 times the source */
#define APLIC_SETIP     0x1c00UL
#define APLIC_SETIPNUM  0x1cdcUL
#define APLIC_INPUT     0x1d00UL
#define APLIC_CLRIPNUM  0x1ddcUL
#define APLIC_SETIE     0x1e00UL
#define APLIC_SETIENUM  0x1edcUL
#define APLIC_CLRIENUM  0x1fdcUL
#define APLIC_GENMSI    0x3000UL
#define APLIC_TARGET    0x3000UL /* + 4 times the source */
#define APLIC_RISING    4U
#define APLIC_HIGH      6U

static inline volatile uint32_t *aplic(uint64_t offset)
{
	return (volatile uint32_t *)(AIA_APLIC + offset);
}

/* Sends a message. */
static inline void aia_send(uint64_t vcpu, uint32_t identity)
{
	__asm__ volatile("fence w, o" ::: "memory");
	*(volatile uint32_t *)(AIA_IMSIC + 0x1000 * vcpu) = identity;
}

/* A register of this vcpu's IMSIC. */
static inline uint64_t aia_read(uint64_t select)
{
	csr_write(CSR_SISELECT, select);
	return csr_read(CSR_SIREG);
}

static inline void aia_write(uint64_t select, uint64_t value)
{
	csr_write(CSR_SISELECT, select);
	csr_write(CSR_SIREG, value);
}

/* Takes identities 1 to 63, and interrupts of all kinds in `sie`. */
void aia_on(uint64_t sie);

/* What a vcpu has taken, as stopi said; with those that stopi did not tell of. */
struct aia_taken {
	volatile uint64_t soft, timer, external, lcofi, nothing;
	volatile uint64_t identity[64];
};
extern struct aia_taken aia_taken[8];

/* Interrupts of the calling vcpu are taken in the order of stopi. */
void aia_handle(void);

/* Called for each identity, LCOFI, if not NULL. */
extern void (*aia_on_message)(uint64_t identity);
extern void (*aia_on_lcofi)(void);

/* Parts of kind `aia`. */
int aia_alarm(uint64_t n);
int aia_masked(uint64_t n);
int aia_late(uint64_t n);
int aia_two(uint64_t n);
int aia_stopped(void);
int aia_nothing(uint64_t n);
int aia_words(void);
int aia_hostile(uint64_t n);

/* Waits for a count, for a minute at most; and how often it did not come. */
void aia_await(const volatile uint64_t *count, uint64_t n);
extern uint64_t aia_lost;

/* Aims a source of the APLIC at a vcpu. */
void aia_route(uint32_t source, uint32_t mode, uint64_t vcpu, uint32_t identity);

#endif
