/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/boot/hs_memory.h"
#include "core/boot/steps.h"
#include "core/hart/platform.h"
#include "core/io/dma.h"
#include "core/io/functions.h"
#include "core/panic.h"
#include "core/vcpu/vm.h"
#include "tests/host/board.h"
#include "tests/host/fake_pci.h"
#include "tests/host/vm_tree.h"

uint64_t host_csrs[4096];
struct platform platform;
static struct vm all_vms[VM_MAX_VMS];
struct vm *vms = all_vms;

struct model bus[PCI_FUNCTIONS];
bool there[PCI_FUNCTIONS];
uint64_t tick = 1000; /* passes with each look at the time */
uint32_t cleared;     /* entries of MSI-X tables */
bool unfenced;        /* it was written to a function, and no fence came since */
const char *no_dma;
struct vm_tree tree;
static char text[4 * VM_REFUSAL_TEXT];

/* --- the model ---------------------------------------------------------------------------- */

void host_wfi(void)
{
	fail();
}

uint64_t host_csr_read(uint32_t csr)
{
	assert_int_equal(csr, CSR_TIME);
	assert_false(unfenced);
	return host_csrs[csr] += tick;
}

void host_fence_devices(void)
{
	unfenced = false;
}

struct pcpu *this_pcpu(void)
{
	return NULL;
}

void host_fence(void)
{
}

void platform_lacks(const char *format, ...)
{
	fail_msg("%s", format);
	for (;;)
		;
}

void hs_memory_add_pages(uint64_t at, uint64_t size, const char *whose)
{
	(void)size;
	assert_non_null(whose);
	assert_true((at >= ECAM && at < ECAM + (1 << 20)) || (at >= WINDOW && at < WINDOW_END));
}

void hs_memory_call_unmapped(void (*what)(void *), void *with)
{
	what(with);
}

const char *dma_refusal(void)
{
	return no_dma;
}

const char *dma_add(uint32_t device_id, struct vm *vm, const char *name)
{
	(void)device_id, (void)vm;
	assert_non_null(name);
	return NULL;
}

bool files;
bool dma_has_files(void)
{
	return files;
}

uint32_t n_files;
void dma_add_file(struct vm *vm, uint64_t base, uint32_t n, hpa_t file)
{
	assert_int_equal(base, GUEST_IMSIC_BASE);
	assert_int_equal(n, n_files++);
	assert_int_equal(file.a, vm->vcpus[n]->guest_file_at.a);
}

/* The function at an address of configuration space. NULL: nothing, or none there. */
static struct model *at_config(uint64_t at)
{
	uint64_t n = (at - ECAM) / PCI_PAGE;

	return at >= ECAM && n < PCI_FUNCTIONS && there[n] ? &bus[n] : NULL;
}

uint64_t place(const struct model *m, uint32_t bar)
{
	return m->words[PCI_BAR / 4 + bar] & ~15U;
}

/* The virtio function that decodes an address in BAR 4, or in BAR 1, whose MSI-X table is there. */
static struct model *at_bar(uint64_t at, uint32_t bar, uint64_t size)
{
	for (uint32_t n = 0; n < PCI_FUNCTIONS; n++) {
		struct model *m = &bus[n];

		if (there[n] && m->words[1] & PCI_COMMAND_MEMORY && place(m, bar) &&
		    at >= place(m, bar) && at < place(m, bar) + size)
			return m;
	}
	return NULL;
}

uint32_t pci_read32(uint64_t page, uint32_t offset)
{
	struct model *m = at_config(page);

	if (m) {
		if (offset == 0x88 && m->busy)
			return 0x00200000;
		return offset || !m->dead || !m->resets ? m->words[offset / 4] : ~0U;
	}
	m = at_bar(page + offset, 4, 0x4000);
	if (!m)
		return ~0U;
	return offset == 4 ? (m->select ? m->features : 0) : 0;
}

uint16_t pci_read16(uint64_t page, uint32_t offset)
{
	return (uint16_t)(pci_read32(page, offset & ~3U) >> offset % 4 * 8);
}

uint8_t pci_read8(uint64_t page, uint32_t offset)
{
	struct model *m = at_config(page) ? NULL : at_bar(page + offset, 4, 0x4000);

	if (m && offset == 20)
		return (uint8_t)m->status;
	return (uint8_t)(pci_read32(page, offset & ~3U) >> offset % 4 * 8);
}

/* A function level reset takes all that was written. */
static void reset(struct model *m)
{
	m->resets++;
	m->words[1] &= 0xffff0000;
	for (uint32_t n = PCI_BAR / 4; n < PCI_BAR / 4 + PCI_BARS; n++)
		m->words[n] &= ~m->writable[n];
}

void pci_write32(uint64_t page, uint32_t offset, uint32_t value)
{
	struct model *m = at_config(page);

	unfenced |= m != NULL;
	if (m) {
		m->words[offset / 4] = (m->words[offset / 4] & ~m->writable[offset / 4]) |
		                       (value & m->writable[offset / 4]);
		return;
	}
	/* What configuration space was told of the BARs is done. */
	assert_false(unfenced);
	if (at_bar(page + offset, 1, 0x1000)) {
		cleared += offset % 16 == 12 && value == 1;
		return;
	}
	m = at_bar(page + offset, 4, 0x4000);
	if (m && offset == 0)
		m->select = value;
}

void pci_write16(uint64_t page, uint32_t offset, uint16_t value)
{
	uint32_t shift = offset % 4 * 8, at = offset & ~3U;
	struct model *m = at_config(page);

	assert_non_null(m);
	unfenced = true;
	if ((offset == 0x88 && value & 0x8000) || (offset == 0xa4 && value & 1)) {
		reset(m);
		return;
	}
	pci_write32(page, at, (m->words[at / 4] & ~(0xffffU << shift)) | (uint32_t)value << shift);
}

void pci_write8(uint64_t page, uint32_t offset, uint8_t value)
{
	struct model *m = at_bar(page + offset, 4, 0x4000);

	assert_true(m && offset == 20 && value == 0);
	unfenced = true;
	m->resets++;
	m->status = m->after_reset;
}

/* --- functions ---------------------------------------------------------------------------- */

void put(struct model *m, uint32_t offset, uint32_t value, uint32_t writable)
{
	m->words[offset / 4] = value;
	m->writable[offset / 4] = writable;
}

struct model *add(uint32_t devfn, uint32_t id, uint32_t class)
{
	struct model *m = &bus[devfn];

	*m = (struct model){.features = 3, .status = 7};
	there[devfn] = true;
	put(m, PCI_ID, id, 0);
	put(m, PCI_COMMAND, 0x00100007, 0x0407);
	put(m, PCI_CLASS, class << 8, 0);
	put(m, PCI_LINE, 0x100, 0xff);
	return m;
}

struct model *add_virtio(uint32_t devfn)
{
	struct model *m = add(devfn, 0x10441af4, 0x00ff00);

	put(m, 0x14, 0, 0xfffff000);
	put(m, 0x20, 0xc, 0xffffc000);
	put(m, 0x24, 0, 0xffffffff);
	put(m, PCI_CAPABILITIES, 0x40, 0);
	put(m, 0x40, 0x01106009, 0);
	put(m, 0x44, 4, 0);
	put(m, 0x48, COMMON, 0);
	put(m, 0x60, 0x00030011, 0xc0000000);
	put(m, 0x64, MSIX_OFFSET | 1, 0);
	return m;
}

struct model *add_plain(uint32_t devfn, bool express, bool af)
{
	struct model *m = add(devfn, 0x11e81234, 0x00ff00);

	put(m, 0x10, 0, 0xfff00000);
	put(m, PCI_CAPABILITIES, 0x80, 0);
	put(m, 0x80, 0x00920010 | 0xa000, 0);
	put(m, 0x84, express ? 0x10000000 : 0, 0);
	put(m, 0xa0, 0x03060013 | (af ? 0 : 0x03000000), 0);
	m->words[0xa0 / 4] = 0xb013 | 6U << 16 | (af ? 3U : 1U) << 24;
	put(m, 0xb0, 0x00810005, 0x00710000);
	return m;
}

/* --- VM trees ------------------------------------------------------------------------------ */

int setup(void **state)
{
	(void)state;
	use_board("plic");
	delete_node(board, "/soc/of-pci@21004000");
	memset(bus, 0, sizeof(bus));
	memset(there, 0, sizeof(there));
	memset(all_vms, 0, sizeof(all_vms));
	memset(functions, 0, sizeof(functions));
	n_functions = 0;
	no_dma = NULL;
	cleared = 0;
	platform =
	    (struct platform){.host_tree = board, .timebase = 10000000, .iommu.base = 0x3010000};
	tree = (struct vm_tree){.n_vms = 2};
	for (uint32_t i = 0; i < 2; i++) {
		snprintf(tree.vms[i].name, sizeof(tree.vms[i].name), "%s", i ? "beta" : "alpha");
		tree.vms[i].memory = tree.vms[i].first_size = 0x1000000;
		tree.vms[i].ram_base = VM_RAM_BASE;
		tree.vms[i].restart_limit = 5;
	}
	add(0, 0x00081b36, 0x060000);
	return 0;
}

struct vm_device *give_vm(uint32_t vm, const char *host, bool by_id, uint32_t name)
{
	struct vm_device *d = &tree.vms[vm].devices[tree.vms[vm].n_devices++];

	*d = (struct vm_device){.name = "it",
	                        .host = host,
	                        .dma = VM_DMA_ISOLATED,
	                        .node = -1,
	                        .pci = {.given = true, .by_id = by_id, .name = name}};
	return d;
}

/* Lines, with a newline before each but the first. */
static void note(const char *line)
{
	size_t length = strlen(text);

	snprintf(text + length, sizeof(text) - length, "%s%s", length ? "\n" : "", line);
}

void accept(void)
{
	text[0] = '\0';
	if (!pci_assign(&tree, note))
		fail_msg("%s", text);
}

void refuse(const char *words)
{
	text[0] = '\0';
	assert_false(pci_assign(&tree, note));
	assert_string_equal(text, words);
}
