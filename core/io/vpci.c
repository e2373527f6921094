/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/vpci.h"

#include "arch/riscv/hart/fence.h"
#include "core/vcpu/vm.h"

#define BAR_ADDRESS          0xfffffff0U
#define COMMAND_SEEN         (PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_INTX_DISABLE)
#define STATUS_READ          (PCI_STATUS_INTX | PCI_STATUS_ERRORS)
#define EXPRESS_CAN_RESET    0x10000000U /* hidden: a reset by the guest would clear the BARs */
#define MSIX_CONTROL_WRITTEN (PCI_MSIX_ENABLE | PCI_MSIX_MASK)

/* --- the space ----------------------------------------------------------------------------- */

void vpci_set_bar(struct vpci_function *f, uint32_t n, uint64_t size, uint64_t value,
                  uint32_t flags)
{
	size = ~(size - 1);
	f->words[PCI_BAR / 4 + n] = (uint32_t)value | flags;
	f->sizes[n] = ((uint32_t)size & BAR_ADDRESS) | flags;
	if (!(flags & PCI_BAR_WIDE) || ++n == PCI_BARS)
		return;
	f->words[PCI_BAR / 4 + n] = (uint32_t)(value >> 32);
	f->sizes[n] = (uint32_t)(size >> 32);
}

void vpci_join(struct vpci *v)
{
	for (uint32_t i = 0; i < v->n; i++) {
		for (uint32_t k = 0; k < v->n; k++) {
			if (i != k && v->functions[i]->devfn / 8 == v->functions[k]->devfn / 8)
				v->functions[i]->words[PCI_HEADER / 4] |= PCI_HEADER_MULTI << 16;
		}
	}
}

static uint32_t ones(uint32_t width)
{
	return width < 4 ? (1U << 8 * width) - 1 : ~0U;
}

/* Returns the function of an access. NULL: there is none, or the access is misaligned. */
static struct vpci_function *find(const struct vpci *v, uint32_t offset, uint32_t width)
{
	if (width > 4 || offset % width)
		return NULL;
	for (uint32_t i = 0; i < v->n; i++) {
		if (v->functions[i]->devfn == offset / PCI_PAGE)
			return v->functions[i];
	}
	return NULL;
}

/* Configuration space after VPCI_WORDS words is hidden: it reads 0. */
static uint32_t read_word(const struct vpci_function *f, uint32_t word)
{
	uint32_t bar = word - PCI_BAR / 4, value;

	if (word >= VPCI_WORDS)
		return 0;
	if (bar < PCI_BARS && f->header.sizing & 1U << bar)
		return f->sizes[bar];
	value = f->words[word] | f->kind->read(f, word);
	if (word == PCI_COMMAND / 4)
		value |= f->header.command;
	if (word == PCI_LINE / 4)
		value |= f->header.line;
	return value;
}

static void write_header(struct vpci_header *header, uint32_t word, uint32_t value, uint32_t mask)
{
	uint32_t bar = word - PCI_BAR / 4;

	if (word == PCI_COMMAND / 4)
		header->command =
		    (uint16_t)((header->command & ~mask) | (value & mask & COMMAND_SEEN));
	else if (word == PCI_LINE / 4 && mask & 0xff)
		header->line = (uint8_t)value;
	else if (bar < PCI_BARS && mask == ~0U && (value | 0xf) == ~0U)
		header->sizing |= 1U << bar;
	else if (bar < PCI_BARS)
		header->sizing &= ~(1U << bar);
}

uint64_t vpci_read(struct vm *vm, uint64_t offset, uint32_t width)
{
	const struct vpci_function *f = find(&vm->pci, (uint32_t)offset, width);
	uint32_t value;

	if (!f)
		return ~0U;
	spin_lock(&vm->devices);
	value = read_word(f, offset % PCI_PAGE / 4) >> offset % 4 * 8 & ones(width);
	spin_unlock(&vm->devices);
	return value;
}

void vpci_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width)
{
	struct vpci_function *f = find(&vm->pci, (uint32_t)offset, width);
	uint32_t word = offset % PCI_PAGE / 4, shift = offset % 4 * 8, mask = ones(width) << shift;

	if (!f)
		return;
	spin_lock(&vm->devices);
	write_header(&f->header, word, (uint32_t)value << shift, mask);
	f->kind->write(f, word, (uint32_t)value << shift & mask, mask);
	spin_unlock(&vm->devices);
}

/* --- functions of the host ----------------------------------------------------------------- */

/* Returns the number of words of a capability, or 0 if it is hidden. */
static uint32_t words_of(const struct vpci_function *f, uint32_t id, uint32_t at)
{
	uint64_t page = f->host->page;

	switch (id) {
	case PCI_CAP_EXPRESS:
		return 15;
	case PCI_CAP_MSIX:
		return f->msix == at ? 3 : 0;
	case PCI_CAP_VENDOR:
		if (!f->host->virtio || pci_read8(page, at + 3) == VIRTIO_CAP_CONFIG)
			return 0;
		return pci_read8(page, at + 2) / 4U;
	default:
		return 0;
	}
}

/* Copies the capabilities that the guest sees, and links each to the next. */
static void copy_caps(struct vpci_function *f)
{
	const struct pci_function *host = f->host;
	uint32_t last = PCI_CAPABILITIES / 4, shift = 0;

	for (uint32_t i = 0; i < host->n_caps; i++) {
		uint32_t at = host->caps[i].at, n = words_of(f, host->caps[i].id, at);

		if (!n)
			continue;
		for (uint32_t k = 0; k < n && at / 4 + k < VPCI_WORDS; k++)
			f->words[at / 4 + k] = pci_read32(host->page, at + 4 * k);
		f->words[at / 4] &= ~0xff00U;
		if (host->caps[i].id == PCI_CAP_EXPRESS && at / 4 + 1 < VPCI_WORDS)
			f->words[at / 4 + 1] &= ~EXPRESS_CAN_RESET;
		if (host->caps[i].id == PCI_CAP_MSIX)
			f->words[at / 4] &= ~((uint32_t)MSIX_CONTROL_WRITTEN << 16);
		f->words[last] |= at << shift;
		last = at / 4;
		shift = 8;
		f->words[PCI_COMMAND / 4] |= (uint32_t)PCI_STATUS_CAPABILITIES << 16;
	}
}

/* Returns the function's command for the command that the guest has written. */
static uint16_t command_of(const struct vpci_function *f)
{
	uint16_t command = PCI_COMMAND_MEMORY;

	if (f->header.command & PCI_COMMAND_MASTER && !f->master_blocked)
		command |= PCI_COMMAND_MASTER;
	if (f->header.command & PCI_COMMAND_INTX_DISABLE || !f->intx)
		command |= PCI_COMMAND_INTX_DISABLE;
	return command;
}

static bool is_msix(const struct vpci_function *f, uint32_t word)
{
	return f->msix && word == f->msix / 4;
}

static uint32_t read_host(const struct vpci_function *f, uint32_t word)
{
	uint32_t high = 0;

	/* Their pages came into the map of HS after this hart had begun to use it. */
	sfence_vma_all();
	if (word == PCI_COMMAND / 4)
		high = pci_read16(f->host->page, PCI_STATUS) & STATUS_READ;
	else if (is_msix(f, word))
		high = pci_read16(f->host->page, f->msix + PCI_MSIX_CONTROL) & MSIX_CONTROL_WRITTEN;
	return high << 16;
}

static void write_host(struct vpci_function *f, uint32_t word, uint32_t value, uint32_t mask)
{
	uint32_t cleared = value >> 16 & PCI_STATUS_ERRORS;

	sfence_vma_all();
	if (word == PCI_COMMAND / 4 && mask & 0xffff)
		pci_write16(f->host->page, PCI_COMMAND, command_of(f));
	if (word == PCI_COMMAND / 4 && cleared)
		pci_write16(f->host->page, PCI_STATUS, (uint16_t)cleared);
	/* Enable and mask are in the highest byte. */
	if (is_msix(f, word) && mask >> 24)
		pci_write16(f->host->page, f->msix + PCI_MSIX_CONTROL,
		            (uint16_t)(value >> 16 & MSIX_CONTROL_WRITTEN));
}

void vpci_init(struct vpci_function *f, const struct pci_function *host, bool intx, bool msix)
{
	static const struct vpci_kind kind = {read_host, write_host};

	*f = (struct vpci_function){
	    .kind = &kind,
	    .devfn = (uint8_t)host->bdf,
	    .intx = intx,
	    .msix = msix ? (uint8_t)host->msix : 0,
	    .host = host,
	};
	f->words[PCI_ID / 4] = host->id;
	f->words[PCI_CLASS / 4] = pci_read32(host->page, PCI_CLASS);
	f->words[PCI_SUBSYSTEM / 4] = pci_read32(host->page, PCI_SUBSYSTEM);
	if (intx)
		f->words[PCI_LINE / 4] = host->pin << 8;
	for (uint32_t n = 0; n < PCI_BARS; n++) {
		const struct pci_bar *bar = &host->bars[n];

		if (bar->size && !(bar->flags & PCI_BAR_IO))
			vpci_set_bar(f, n, bar->size, bar->value, bar->flags);
	}
	copy_caps(f);
}

void vpci_reset(struct vpci_function *f)
{
	f->header = (struct vpci_header){0};
	f->master_blocked = false;
	pci_set_up(f->host, command_of(f));
}

void vpci_block_master(struct vpci_function *f)
{
	f->master_blocked = true;
	pci_write16(f->host->page, PCI_COMMAND, command_of(f));
}
