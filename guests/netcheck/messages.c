/* SPDX-License-Identifier: Apache-2.0 */
/* MSI-X: the capability, its table and pending bits, the vectors of the configuration and of
 * queues, and messages (VIRTIO 1.2, 4.1.5.1.2, 4.1.5.3, 4.1.5.4; PCI Express 5.0, 6.1.4, 7.7.2). */
#include "guests/bare/io/aia.h"
#include "guests/netcheck/netcheck.h"

#define MSIX      0x11U
#define CAPS_MOST 48U
#define CONTROL   2U /* in the capability: of 16 bits, before two words with BAR and offset */
#define TABLE     4U
#define PENDING   8U
#define ENABLE    0x8000U
#define MASK_ALL  0x4000U
#define ENTRY     16U /* bytes; its words: */
#define ADDRESS   0U
#define DATA      8U
#define VECTOR    12U /* control */
#define MASKED    1U

enum { CONFIG_ENTRY, RECEIVES_ENTRY, SENDS_ENTRY, VECTORS };
#define IDENTITY   10U /* of the first vector; the others follow */
#define IS(vector) (1UL << (IDENTITY + (vector)))

static uint64_t cap, table, pending;

/* --- the driver ------------------------------------------------------------------------------ */

void messages_open(void)
{
	aia_write(AIA_EIDELIVERY, 1);
	aia_write(AIA_EITHRESHOLD, 0);
	aia_write(AIA_EIE0, ~1UL);
}

/* Takes an interrupt. Returns its identity; 0: there is none. */
static uint32_t take(void)
{
	uint64_t topei;

	__asm__ volatile("csrrw %0, " XSTR(CSR_STOPEI) ", zero" : "=r"(topei)::"memory");
	return (uint32_t)(topei >> 16);
}

/* Takes all that there are. Returns a mask of the identities; each comes once, as otherwise the
 * loop would take it twice. *count: how many were taken. */
static uint64_t take_all(uint32_t *count)
{
	uint64_t mask = 0;
	uint32_t identity;

	*count = 0;
	while (*count < 100 && (identity = take())) {
		mask |= 1UL << (identity & 63);
		++*count;
	}
	return mask;
}

static uint64_t taken(void)
{
	uint32_t count;

	return take_all(&count);
}

static void set_control(uint32_t bits)
{
	out16(cap + CONTROL, (uint16_t)bits);
}

static uint64_t entry(uint32_t vector, uint32_t offset)
{
	return table + (uint64_t)ENTRY * vector + offset;
}

static void set_entry(uint32_t vector, uint64_t address, uint32_t data, uint32_t masked)
{
	out32(entry(vector, ADDRESS), (uint32_t)address);
	out32(entry(vector, ADDRESS + 4), (uint32_t)(address >> 32));
	out32(entry(vector, DATA), data);
	out32(entry(vector, VECTOR), masked);
}

static uint32_t map(const struct nic *n, uint32_t queue, uint32_t vector)
{
	nic_select(n, queue);
	out16(n->common + QUEUE_MSIX_VECTOR, (uint16_t)vector);
	return in16(n->common + QUEUE_MSIX_VECTOR);
}

static uint32_t map_config(const struct nic *n, uint32_t vector)
{
	out16(n->common + CONFIG_MSIX_VECTOR, (uint16_t)vector);
	return in16(n->common + CONFIG_MSIX_VECTOR);
}

/* Sets up the device, and has it send a message for each vector. */
static bool start(struct nic *n)
{
	bool good = nic_start(n, 0, SLOTS);

	for (uint32_t i = 0; i < VECTORS; i++)
		set_entry(i, AIA_IMSIC, IDENTITY + i, 0);
	set_control(ENABLE);
	good &= map_config(n, CONFIG_ENTRY) == CONFIG_ENTRY;
	good &= map(n, RECEIVES, RECEIVES_ENTRY) == RECEIVES_ENTRY;
	good &= map(n, SENDS, SENDS_ENTRY) == SENDS_ENTRY;
	nic_quiet(n);
	(void)taken();
	return good;
}

/* --- registers ------------------------------------------------------------------------------- */

static uint64_t structure(const struct nic *n, uint32_t offset)
{
	uint32_t where = in32(cap + offset);

	return (where & 7) < 6 && n->bars[where & 7] ? n->bars[where & 7] + (where & ~7U) : 0;
}

static bool find(const struct nic *n)
{
	uint32_t at = in8(n->page + PCI_CAPABILITIES);

	for (uint32_t i = 0; at && i < CAPS_MOST && in8(n->page + at) != MSIX; i++)
		at = in8(n->page + at + 1);
	if (!at)
		return false;
	cap = n->page + at;
	table = structure(n, TABLE);
	pending = structure(n, PENDING);
	return table && pending;
}

static bool keeps_control(void)
{
	static const uint16_t values[] = {MASK_ALL, ENABLE | MASK_ALL, ENABLE, 0};
	bool good = true;

	for (uint32_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		set_control(values[i] | 0x3fffU);
		good &= in16(cap + CONTROL) == (values[i] | (VECTORS - 1));
	}
	return good;
}

static bool are_masked(void)
{
	bool good = true;

	for (uint32_t i = 0; i < VECTORS; i++)
		good &= in32(entry(i, VECTOR)) == MASKED;
	return good;
}

static bool keeps_entries(void)
{
	bool good = true;

	for (uint32_t i = 0; i < VECTORS; i++)
		set_entry(i, 0x123456789abcd000UL + 4UL * i, 0xfedcba90U + i, i & 1);
	for (uint32_t i = 0; i < VECTORS; i++) {
		good &= in32(entry(i, ADDRESS)) == 0x9abcd000U + 4 * i;
		good &= in32(entry(i, ADDRESS + 4)) == 0x12345678U;
		good &= in32(entry(i, DATA)) == 0xfedcba90U + i;
		good &= in32(entry(i, VECTOR)) == (i & 1);
	}
	return good;
}

static bool has_wide_accesses(void)
{
	volatile uint64_t *words = (volatile uint64_t *)entry(1, 0);

	words[0] = 0x1122334455667788UL;
	words[1] = 0x0000000199aabbccUL;
	return in32(entry(1, ADDRESS)) == 0x55667788 && in32(entry(1, ADDRESS + 4)) == 0x11223344 &&
	       in32(entry(1, DATA)) == 0x99aabbcc && in32(entry(1, VECTOR)) == 1 &&
	       words[0] == 0x1122334455667788UL && words[1] == 0x0000000199aabbccUL;
}

static void check_capability(void)
{
	report_eq(in16(cap + CONTROL), VECTORS - 1, "4.1.5.1.2",
	          "MSI-X has a vector for the configuration and one for each queue, and is off");
	report(!(table & 7) && !(pending & 7) &&
	           (pending >= table + (uint64_t)ENTRY * VECTORS || pending + 8 <= table),
	       "PCI", "table and pending bits are aligned, and apart");
	report(are_masked(), "PCI", "all vectors are masked at first");
	report(keeps_control(), "PCI", "enable and mask of MSI-X are kept, and nothing else");
	report(keeps_entries(), "PCI", "entries of the table are kept");
	report(has_wide_accesses(), "PCI", "also by accesses of 64 bits");
	out32(pending, ~0U);
	report_eq(in32(pending), 0, "PCI", "pending bits cannot be written");
}

static void check_vectors(struct nic *n)
{
	bool good = true;

	(void)nic_agree(n, F_VERSION_1);
	for (uint32_t i = 0; i < VECTORS; i++)
		good &= map(n, RECEIVES, i) == i && map(n, SENDS, i) == i && map_config(n, i) == i;
	report(good, "4.1.5.1.2.1", "each vector is read back, where it was written");
	(void)map(n, RECEIVES, 1);
	(void)map(n, SENDS, 0);
	nic_select(n, RECEIVES);
	report_eq(in16(n->common + QUEUE_MSIX_VECTOR), 1, "4.1.4.3",
	          "each queue has a vector of its own");
	report(map(n, RECEIVES, VECTORS) == NO_VECTOR && map(n, SENDS, 0xfffe) == NO_VECTOR &&
	           map_config(n, VECTORS) == NO_VECTOR,
	       "4.1.5.1.2.1", "a vector that there is not reads as none");
	(void)map(n, SENDS, 2);
	(void)map_config(n, 2);
	report(map(n, SENDS, NO_VECTOR) == NO_VECTOR && map_config(n, NO_VECTOR) == NO_VECTOR,
	       "4.1.5.1.2.1", "NO_VECTOR ends a mapping");
	(void)map(n, SENDS, 2);
	(void)map_config(n, 2);
	(void)nic_reset(n);
	nic_select(n, SENDS);
	report(in16(n->common + QUEUE_MSIX_VECTOR) == NO_VECTOR &&
	           in16(n->common + CONFIG_MSIX_VECTOR) == NO_VECTOR,
	       "4.1.5.1.2.1", "and so does a reset");
}

/* --- messages -------------------------------------------------------------------------------- */

static bool has_intx(const struct nic *n)
{
	return in16(n->page + PCI_STATUS) & PCI_INTX;
}

static void check_sent(struct nic *n)
{
	uint32_t count;
	uint64_t which;

	report(start(n), "4.1.5.1.2", "the vectors are mapped");
	(void)send_away(n, 1);
	which = take_all(&count);
	report(which == IS(SENDS_ENTRY) && count == 1, "4.1.5.3",
	       "a buffer of the queue that sends: its message, once");
	report(!has_intx(n), "4.1.4.5.1", "and no INTx");
	report(nic_exchange(n, 600, 60), "5.1.6", "a frame comes and goes");
	which = take_all(&count);
	report(which == (IS(SENDS_ENTRY) | IS(RECEIVES_ENTRY)) && count == 2, "4.1.5.3",
	       "with a message of each queue, once");
	(void)map(n, SENDS, NO_VECTOR);
	report(nic_exchange(n, 601, 60) && taken() == IS(RECEIVES_ENTRY), "4.1.5.3",
	       "a received frame alone: the message of that queue");
	(void)send_away(n, 1);
	report(!taken() && !in32(pending), "4.1.5.1.2.1",
	       "a queue without a vector: no message, and none pends");
	(void)map(n, SENDS, RECEIVES_ENTRY);
	report(nic_exchange(n, 602, 60) && taken() == IS(RECEIVES_ENTRY), "4.1.5.1.2",
	       "both queues may have one vector");
	n->queues[SENDS].avail[0] = 1;
	(void)send_away(n, 1);
	report(!taken(), "2.7.7.2", "NO_INTERRUPT: no message");
	n->queues[SENDS].avail[0] = 0;
}

/* What pends is sent once, as the entry is then. */
static void check_masks(struct nic *n)
{
	(void)start(n);
	out32(entry(SENDS_ENTRY, VECTOR), MASKED);
	(void)send_away(n, 1);
	(void)send_away(n, 1);
	report(!taken(), "PCI", "a masked vector sends nothing");
	report_eq(in32(pending), 1U << SENDS_ENTRY, "PCI", "its message pends");
	report(nic_exchange(n, 610, 60) && taken() == IS(RECEIVES_ENTRY), "PCI",
	       "another one sends its own");
	out32(entry(SENDS_ENTRY, DATA), 40);
	out32(entry(SENDS_ENTRY, VECTOR), 0);
	report_eq(taken(), 1UL << 40, "PCI", "unmasked it sends what the entry has now");
	report(!taken() && !in32(pending), "PCI", "once");
	out32(entry(SENDS_ENTRY, VECTOR), MASKED);
	out32(entry(SENDS_ENTRY, VECTOR), 0);
	report(!taken(), "PCI", "and nothing if nothing pends");
	(void)start(n);
	set_control(ENABLE | MASK_ALL);
	report(nic_exchange(n, 611, 60) && !taken(), "PCI", "masked MSI-X sends nothing");
	report_eq(in32(pending), 1U << SENDS_ENTRY | 1U << RECEIVES_ENTRY, "PCI", "both pend");
	set_control(ENABLE);
	report(taken() == (IS(SENDS_ENTRY) | IS(RECEIVES_ENTRY)) && !in32(pending), "PCI",
	       "unmasked it sends both");
	out32(entry(SENDS_ENTRY, VECTOR), MASKED);
	(void)send_away(n, 1);
	(void)nic_reset(n);
	out32(entry(SENDS_ENTRY, VECTOR), 0);
	report(!taken() && !in32(pending), "2.4.1", "a reset of the device ends what pends");
}

static void check_off(struct nic *n)
{
	(void)start(n);
	set_control(0);
	(void)send_away(n, 1);
	report(!taken() && has_intx(n), "4.1.5.3", "without MSI-X it is INTx again");
	report_eq(in8(n->isr), 1, "4.1.4.5.1", "with the ISR status");
	set_control(ENABLE);
	(void)send_away(n, 1);
	report(taken() == IS(SENDS_ENTRY) && !has_intx(n), "4.1.5.3", "and with it a message");
}

/* --- addresses of others --------------------------------------------------------------------- */

/* A word at each of them is no file of this VM, so nothing is sent. `word` is one of memory. */
static bool goes_nowhere(struct nic *n, uint64_t address, const volatile uint32_t *word)
{
	uint32_t before = *word;

	set_entry(SENDS_ENTRY, address, IDENTITY + SENDS_ENTRY, 0);
	return send_away(n, 1) && !taken() && !in32(pending) && *word == before;
}

static void check_addresses(struct nic *n)
{
	static volatile uint32_t word = 0x5a5a5a5a;
	const uint64_t others[] = {
	    0,
	    (uint64_t)&word,
	    AIA_IMSIC - 0x1000,
	    AIA_IMSIC + 1,
	    AIA_IMSIC + 4,
	    AIA_IMSIC + 0xffc,
	    AIA_IMSIC + 0x1000, /* of no vcpu; of the machine: the file of a guest */
	    AIA_IMSIC + 0x2000,
	    AIA_IMSIC + 0x8000,
	    AIA_IMSIC + (1UL << 32),
	    AIA_IMSIC | 1UL << 63,
	    0x24000000, /* of the machine: the file of its firmware */
	    0x10000000, /* and its UART */
	    n->common,
	    ~0UL,
	    ~3UL,
	};
	bool good = true;

	(void)start(n);
	for (uint32_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		good &= goes_nowhere(n, others[i], &word);
	report(good, "PCI", "messages to other addresses than this VM's files reach nothing");
	set_entry(SENDS_ENTRY, AIA_IMSIC, 0, 0);
	(void)send_away(n, 1);
	set_entry(SENDS_ENTRY, AIA_IMSIC, ~0U, 0);
	(void)send_away(n, 1);
	report(!taken() && !aia_read(AIA_EIP0), "PCI", "and identities that a file does not have");
	set_entry(SENDS_ENTRY, AIA_IMSIC, IDENTITY, 0);
	(void)send_away(n, 1);
	report(taken() == IS(0), "PCI", "and after them a message comes again");
}

void check_messages(struct nic *n)
{
	report(find(n), "4.1.5.1.2", "there is MSI-X");
	if (!table || !pending)
		return;
	check_capability();
	check_vectors(n);
	check_sent(n);
	check_masks(n);
	check_off(n);
	if (bootarg_num("forge", 0))
		check_addresses(n);
	set_control(0);
}

void check_link_messages(struct nic *n)
{
	uint32_t count;

	report(find(n) && start(n), "4.1.5.1.2", "there is MSI-X, and the vectors are mapped");
	for (uint32_t up = 0; up < 2; up++) {
		report(await_link(n, up), "5.1.4", "the link changes");
		report(take_all(&count) == IS(CONFIG_ENTRY) && count == 1, "4.1.5.4",
		       "with the message of the configuration, once");
		report_eq(in8(n->isr), 2, "4.1.4.5.1", "and its bit in the ISR status");
		report(!has_intx(n), "4.1.4.5.1", "without INTx");
	}
	report(nic_exchange(n, 620, 60) && taken() == (IS(SENDS_ENTRY) | IS(RECEIVES_ENTRY)),
	       "4.1.5.3", "then frames have their messages");
	set_control(0);
}
