/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells what is on the guest's PCI bus, and has a virtio entropy device fill buffers.
 *   fills=N       how many, one after the other; each is awaited by INTx
 *   irq=N         source of the guest's interrupt controller
 *   msix=N        by messages to the identity N of vcpu 0 instead
 *   at=DEVFN      the device's place on the bus, device * 8 + function
 *   count=N       counts 2 * N + 1 instructions while each is filled
 *   forge=A,B     then has it send messages to these addresses instead, and a second later to A
 *   left=busy     then makes buffers available once more, and asks for a restart
 */
#include "guests/bare/io/rng.h"
#include "guests/bare/io/aia.h"
#include "guests/bare/bare.h"

#define FUNCTIONS 256U
#define CLASS     0x08U
#define PIN       0x3dU

#define PLIC        0x0c000000UL
#define PLIC_ENABLE (PLIC + 0x2000UL)
#define PLIC_CLAIM  (PLIC + 0x200004UL)

#define BYTES    64U
#define PATIENCE 100000000UL /* ticks of `time` */
#define SECOND   (1100 * MS) /* and a bit */

static struct rng_rings rings;
static struct rng rng;
static uint8_t buffers[RNG_QUEUE][BYTES] __attribute__((aligned(64)));

static uint32_t irq, msix;
static uint64_t entry; /* of the table of messages */
static volatile uint64_t taken, nothing;

/* Sizes BARs, and checks that each keeps its place, whatever is written. */
static void tell_bars(uint64_t page)
{
	for (uint32_t n = 0; n < 6; n++) {
		uint64_t at = page + PCI_BAR + 4 * n;
		uint32_t before = in32(at), mask;

		out32(at, ~0U);
		mask = in32(at);
		out32(at, before ^ 0x100000);
		if (!mask)
			continue;
		print("pci:   BAR %u: %u bytes at 0x%x", n, (~(mask & ~15UL) + 1) & 0xffffffffUL,
		      before & ~15U);
		print(", flags %u%s\n", before & 15, in32(at) == before ? "" : ", which moves");
		if ((before & 7) == 4)
			n++;
	}
}

static uint64_t tell(void)
{
	uint64_t n = 0;

	for (uint32_t devfn = 0; devfn < FUNCTIONS; devfn++) {
		uint64_t page = pci_page(devfn);

		if (in32(page) == ~0U)
			continue;
		n++;
		print("pci: %u.%u is %x:%x", devfn / 8, devfn % 8, in16(page), in16(page + 2));
		print(", class %x, pin %u\n", (uint64_t)(in32(page + CLASS) >> 8), in8(page + PIN));
		tell_bars(page);
		for (uint32_t i = 0, at = in8(page + PCI_CAPABILITIES); at && i < PCI_CAPS_MAX;
		     i++) {
			print("pci:   capability %x at 0x%x\n", in8(page + at), at);
			at = in8(page + at + 1);
		}
	}
	return n;
}

/* Makes the function's first vector a message. */
static bool start_msix(uint64_t page)
{
	uint32_t vectors;

	entry = pci_messages(page, &vectors);
	if (!entry)
		return false;
	print("pci: rng: %u vectors, the first has %x %x %x %x\n", vectors, in32(entry),
	      in32(entry + 4), in32(entry + 8), in32(entry + 12));
	out64(entry, AIA_IMSIC);
	out32(entry + 8, msix);
	out32(entry + 12, 0);
	out16(page + pci_capability(page, PCI_CAP_MSIX) + 2, 0x8000);
	return true;
}

static void on_interrupt(struct trap_frame *frame)
{
	uint32_t source = in32(PLIC_CLAIM);

	(void)frame;
	if (source == irq && in8(rng.isr) & 1)
		taken++;
	else
		nothing++;
	out32(PLIC_CLAIM, source);
}

static void on_message(uint64_t identity)
{
	if (identity == msix)
		taken++;
	else
		nothing++;
}

static void listen(void)
{
	if (msix) {
		aia_on_message = on_message;
		aia_on(IRQ_EXTERNAL);
		return;
	}
	irq_handle_by(on_interrupt);
	out32(PLIC + 4UL * irq, 1);
	out32(PLIC_ENABLE, 1U << irq);
	csr_set(sie, IRQ_EXTERNAL);
	csr_set(sstatus, SSTATUS_SIE);
}

static bool start(uint64_t page)
{
	if (!rng_find(&rng, page))
		return false;
	print("pci: rng: status %u at first\n", rng_status(&rng));
	if (!rng_reset(&rng))
		return false;
	print("pci: rng: offers 0x%x above\n", rng.offers);
	if (msix && !start_msix(page))
		return false;
	rng_start(&rng, (uint64_t)rings.descriptors, (uint64_t)&rings.available,
	          (uint64_t)&rings.used, msix ? 0 : RNG_NO_VECTOR);
	return true;
}

static void offer(uint32_t n)
{
	uint8_t *buffer = buffers[n % RNG_QUEUE];

	for (uint32_t i = 0; i < BYTES; i++)
		buffer[i] = 0;
	rng_offer(&rng, &rings, n, (uint64_t)buffer, BYTES);
}

/* Whether a buffer has something in it. */
static bool filled(uint32_t n)
{
	volatile uint8_t *bytes = buffers[n % RNG_QUEUE];
	uint32_t sum = 0;

	for (uint32_t i = 0; i < BYTES; i++)
		sum |= bytes[i];
	return sum;
}

static void leave(uint32_t n)
{
	for (uint32_t i = 0; i < RNG_QUEUE; i++)
		offer(n + i);
	sbi_call(SBI_EXT_SRST, SBI_SRST_RESET, 1, 0, 0, 0, 0, 0);
}

/* Fills one more buffer, whose message goes to that address. Returns whether it was filled. */
static bool send_to(uint64_t address, uint32_t n)
{
	uint64_t end = csr_read(time) + PATIENCE;

	out64(entry, address);
	offer(n);
	while (rng_used(&rings) != (uint16_t)(n + 1) && csr_read(time) < end)
		;
	return rng_used(&rings) == (uint16_t)(n + 1);
}

static void forge_all(const char *text, uint32_t n)
{
	uint64_t before = taken, first = 0, filled = 0, forged = 0, address;

	while (next_number(&text, &address)) {
		first = forged++ ? first : address;
		filled += send_to(address, n++);
	}
	sleep_for(SECOND);
	filled += send_to(first, n);
	sleep_for(SECOND); /* Tally tells of faults once a second */
	print("pci: rng: %u messages forged, %u fills, %u interrupts\n", forged + 1, filled,
	      taken - before);
}

int pci(uint64_t hartid)
{
	uint64_t n = tell(), fills = bootarg_num("fills", 0), full = 0, done = 0, wrong = 0;
	uint64_t length = bootarg_num("count", 0);
	uint64_t page = pci_page((uint32_t)bootarg_num("at", 8));

	(void)hartid;
	print("pci: %u functions\n", n);
	if (!fills)
		return n ? 0 : 1;
	irq = (uint32_t)bootarg_num("irq", 1);
	msix = (uint32_t)bootarg_num("msix", 0);
	listen();
	if (!start(page)) {
		print("pci: no rng that works\n");
		return 1;
	}
	for (uint32_t i = 0; i < fills; i++) {
		uint64_t end = csr_read(time) + PATIENCE, before = taken;

		offer(i);
		if (length)
			wrong += counted_wrong(length);
		while (taken == before && csr_read(time) < end)
			;
		done += taken == before + 1;
		full += rng_used(&rings) == (uint16_t)(i + 1) && filled(i);
	}
	print("pci: rng: %u fills, %u interrupts, %u of nothing", fills, done, nothing);
	print(", %u full\n", full);
	if (length)
		print("pci: rng: %u counts beside it, %u wrong\n", 2 * fills, wrong);
	if (bootarg("forge"))
		forge_all(bootarg("forge"), (uint32_t)fills);
	if (bootarg("left"))
		leave((uint32_t)fills);
	return done == fills && full == fills && !nothing && !wrong ? 0 : 1;
}
