/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts of a guest with an AIA. */
#include "guests/bare/io/aia.h"

struct aia_taken aia_taken[8];
void (*aia_on_message)(uint64_t identity);
void (*aia_on_lcofi)(void);

uint64_t aia_lost;

void aia_await(const volatile uint64_t *count, uint64_t n)
{
	uint64_t until = csr_read(time) + 6000000UL;

	while (*count < n && csr_read(time) < until)
		;
	aia_lost += *count < n;
}

/* Each vcpu has its stack in what smp_prepare() gave it, so the number is asked for: tp. */
static uint64_t self(void)
{
	uint64_t tp;

	__asm__ volatile("mv %0, tp" : "=r"(tp));
	return tp & 7;
}

static void external(struct aia_taken *t)
{
	uint64_t topei;

	__asm__ volatile("csrrw %0, " XSTR(CSR_STOPEI) ", zero" : "=r"(topei)::"memory");
	if (!topei) {
		t->nothing++;
		return;
	}
	t->external++;
	t->identity[topei >> 16 & 63]++;
	if (aia_on_message)
		aia_on_message(topei >> 16);
}

static void on_interrupt(struct trap_frame *frame)
{
	struct aia_taken *t = &aia_taken[self()];
	uint64_t topi = csr_read(CSR_STOPI);

	(void)frame;
	t->nothing += !topi;
	for (; topi; topi = csr_read(CSR_STOPI)) {
		switch (topi >> 16) {
		case 1:
			csr_clear(sip, IRQ_SOFT);
			t->soft++;
			break;
		case 5:
			csr_write(CSR_STIMECMP, ~0UL);
			t->timer++;
			break;
		case 9:
			external(t);
			break;
		case 13:
			csr_clear(sip, IRQ_LCOFI);
			t->lcofi++;
			if (aia_on_lcofi)
				aia_on_lcofi();
			break;
		default:
			t->nothing++;
			csr_clear(sie, 1UL << (topi >> 16 & 63));
		}
	}
}

void aia_handle(void)
{
	irq_handle_by(on_interrupt);
}

void aia_on(uint64_t sie)
{
	aia_handle();
	aia_write(AIA_EITHRESHOLD, 0);
	aia_write(AIA_EIE0, ~1UL);
	aia_write(AIA_EIDELIVERY, 1);
	csr_set(sie, sie);
	csr_set(sstatus, SSTATUS_SIE);
}

void aia_route(uint32_t source, uint32_t mode, uint64_t vcpu, uint32_t identity)
{
	*aplic(APLIC_SOURCECFG + 4 * source) = mode;
	*aplic(APLIC_TARGET + 4 * source) = (uint32_t)vcpu << 18 | identity;
	*aplic(APLIC_DOMAINCFG) = 0x100;
	*aplic(APLIC_SETIENUM) = source;
}
