/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration space that a guest sees, in front of a model of a function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arch/riscv/hart/fence.h"
#include "core/io/vpci.h"
#include "core/vcpu/vm.h"
#include "tests/host/chance.h"

#define BDF   0x0008U /* 00:01.0 */
#define AT    (BDF * (uint32_t)PCI_PAGE)
#define PLACE UINT64_C(0x400000000)

/* A function as the specification has it: which bits of each word can be written, and which a 1
 * clears. */
static struct model {
	uint32_t words[PCI_PAGE / 4], writable[PCI_PAGE / 4], cleared[PCI_PAGE / 4];
	unsigned int writes;
} model;

static uint64_t page(void)
{
	return (uint64_t)(uintptr_t)&model;
}

static struct model *model_at(uint64_t at)
{
	assert_int_equal(at, page());
	return &model;
}

uint32_t pci_read32(uint64_t at, uint32_t offset)
{
	assert_true(offset % 4 == 0 && offset < PCI_HEADER_END);
	return model_at(at)->words[offset / 4];
}

uint16_t pci_read16(uint64_t at, uint32_t offset)
{
	assert_int_equal(offset % 2, 0);
	return (uint16_t)(pci_read32(at, offset & ~3U) >> offset % 4 * 8);
}

uint8_t pci_read8(uint64_t at, uint32_t offset)
{
	return (uint8_t)(pci_read32(at, offset & ~3U) >> offset % 4 * 8);
}

void host_fence_devices(void)
{
}

void host_fence(void)
{
}

static void write_model(uint64_t at, uint32_t offset, uint32_t value, uint32_t mask)
{
	struct model *m = model_at(at);
	uint32_t n = offset / 4, can = m->writable[n] & mask;

	m->words[n] = ((m->words[n] & ~can) | (value & can)) & ~(value & mask & m->cleared[n]);
	m->writes++;
}

void pci_write32(uint64_t at, uint32_t offset, uint32_t value)
{
	assert_int_equal(offset % 4, 0);
	write_model(at, offset, value, ~0U);
}

void pci_write16(uint64_t at, uint32_t offset, uint16_t value)
{
	assert_int_equal(offset % 2, 0);
	write_model(at, offset, (uint32_t)value << offset % 4 * 8, 0xffffU << offset % 4 * 8);
}

static void put(uint32_t offset, uint32_t value, uint32_t writable)
{
	model.words[offset / 4] = value;
	model.writable[offset / 4] = writable;
}

/* A virtio function with all that there is: I/O and memory BARs, MSI, MSI-X, PCI Express. */
static void make_model(void)
{
	memset(&model, 0, sizeof(model));
	put(PCI_ID, 0x10441af4, 0);
	put(PCI_COMMAND, 0xf9180007, 0x0547); /* left on by somebody; errors, INTx, capabilities */
	model.cleared[1] = 0xf9000000;
	put(PCI_CLASS, 0x00ff0001, 0);
	put(0x0c, 0x80000000, 0xffff); /* BIST; cache line size and latency timer */
	put(0x10, 1, 0xffffffe0);      /* I/O */
	put(0x14, 0, 0xfffff000);
	put(0x18, 0, 0);
	put(0x1c, 0, 0);
	put(0x20, 0xc, 0xffffc000); /* 64 bits, can be prefetched */
	put(0x24, 0, 0xffffffff);
	put(PCI_SUBSYSTEM, 0x11001af4, 0);
	put(0x30, 0, 0xfffff801); /* ROM */
	put(PCI_CAPABILITIES, 0x40, 0);
	put(PCI_LINE, 0x0000010b, 0xff);
	/* Virtio: common configuration in BAR 4; then the window into BARs. */
	put(0x40, 0x01105009, 0);
	put(0x44, 4, 0);
	put(0x48, 0x100, 0);
	put(0x4c, 56, 0);
	put(0x50, 0x05146409, 0);
	put(0x54, 0, 0xffffffff);
	put(0x60, 0xdeadbeef, 0xffffffff);
	/* MSI; MSI-X of 4 vectors; PCI Express with FLR; power management. */
	put(0x64, 0x00807005, 0x00710000);
	put(0x70, 0x00038011, 0xc0000000);
	put(0x74, 1, 0);
	put(0x78, 0x801, 0);
	put(0x80, 0x00920010 | 0xc000, 0);
	put(0x84, 0x10008000, 0);
	put(0x88, 0x00002810, 0xffff);
	put(0xc0, 0x00030001, 0);
	put(0xc4, 8, 3);
	put(0x100, 0x12345678, 0xffffffff);
}

static struct pci_function host;
static struct vpci_function shown;
static struct vm vm;

static void make(bool intx, bool msix)
{
	make_model();
	assert_true(pci_find(&host, page(), BDF));
	pci_read_function(&host);
	host.bars[1].value = host.bars[1].at = 0x40000000;
	host.bars[4].value = host.bars[4].at = PLACE;
	vpci_init(&shown, &host, intx, msix);
	vm.pci = (struct vpci){.n = 1, .functions = {&shown}};
	vpci_join(&vm.pci);
	vpci_reset(&shown);
}

static uint32_t in(uint32_t offset)
{
	return vpci_read(&vm, AT + offset, 4);
}

static void out(uint32_t offset, uint32_t value)
{
	vpci_write(&vm, AT + offset, value, 4);
}

static void what_boot_finds(void **state)
{
	(void)state;
	make(true, false);
	assert_int_equal(host.id, 0x10441af4);
	assert_int_equal(host.class, 0x00ff00);
	assert_int_equal(host.pin, 1);
	assert_int_equal(host.bars[0].size, 32);
	assert_int_equal(host.bars[0].flags, PCI_BAR_IO);
	assert_int_equal(host.bars[1].size, 4096);
	assert_int_equal(host.bars[2].size, 0);
	assert_int_equal(host.bars[4].size, 16384);
	assert_int_equal(host.bars[4].flags, PCI_BAR_WIDE | PCI_BAR_PREFETCH);
	assert_int_equal(host.bars[5].size, 0);
	assert_int_equal(host.n_caps, 6);
	assert_true(host.virtio);
	assert_int_equal(host.common_bar, 4);
	assert_int_equal(host.common_offset, 0x100);
	assert_int_equal(host.msix, 0x70);
	assert_int_equal(host.msix_vectors, 4);
	assert_int_equal(host.msix_bar, 1);
	assert_int_equal(host.msix_offset, 0);
	assert_int_equal(host.reset, PCI_RESET_VIRTIO);
	/* Registers of a BAR, and beyond. */
	assert_int_equal(pci_bar_address(&host, 4, 0x100, 56), PLACE + 0x100);
	assert_int_equal(pci_bar_address(&host, 4, 16384 - 56, 56), PLACE + 16384 - 56);
	assert_int_equal(pci_bar_address(&host, 4, 16384 - 55, 56), 0);
	assert_int_equal(pci_bar_address(&host, 4, UINT64_MAX, 56), 0);
	assert_int_equal(pci_bar_address(&host, 0, 0, 4), 0);
	assert_int_equal(pci_bar_address(&host, 5, 0, 1), 0);
	assert_int_equal(pci_bar_address(&host, 6, 0, 1), 0);
}

static void what_is_left_on_goes_off(void **state)
{
	struct pci_function f;

	(void)state;
	make_model();
	assert_true(pci_find(&f, page(), BDF));
	assert_int_equal(model.words[1] & 0xffff, PCI_COMMAND_INTX_DISABLE);
	/* But the way to the bus itself. */
	make_model();
	put(PCI_CLASS, 0x06000000, 0);
	assert_true(pci_find(&f, page(), BDF));
	assert_int_equal(model.words[1] & 0xffff, 7);
	put(PCI_ID, ~0U, 0);
	assert_false(pci_find(&f, page(), BDF));
}

/* Capabilities that lead back, into the header, or on for ever. */
static void walks_end(void **state)
{
	struct pci_function f;

	(void)state;
	make_model();
	put(0xc0, 0x00034001, 0);
	assert_true(pci_find(&f, page(), BDF));
	pci_read_function(&f);
	assert_int_equal(f.n_caps, 6);
	put(0xc0, 0x00033c01, 0);
	assert_true(pci_find(&f, page(), BDF));
	pci_read_function(&f);
	assert_int_equal(f.n_caps, 6);
	for (uint32_t at = 0x40; at < 0x100; at += 4)
		put(at, (at + 4) << 8 | 0xff, 0);
	assert_true(pci_find(&f, page(), BDF));
	pci_read_function(&f);
	assert_int_equal(f.n_caps, PCI_CAPS);
	assert_int_equal(f.reset, PCI_RESET_NONE);
}

static void the_header(void **state)
{
	(void)state;
	make(true, false);
	assert_int_equal(in(0x00), 0x10441af4);
	assert_int_equal(in(0x04), 0xf9180000);
	assert_int_equal(in(0x08), 0x00ff0001);
	assert_int_equal(in(0x0c), 0);
	assert_int_equal(in(0x10), 0);
	assert_int_equal(in(0x14), 0x40000000);
	assert_int_equal(in(0x20), 0xc);
	assert_int_equal(in(0x24), 4);
	assert_int_equal(in(0x2c), 0x11001af4);
	assert_int_equal(in(0x30), 0);
	assert_int_equal(in(0x34), 0x40);
	assert_int_equal(in(0x3c), 0x100);
	for (uint32_t at = PCI_HEADER_END; at < PCI_PAGE; at += 4)
		assert_int_equal(in(at), 0);
	make(false, false);
	assert_int_equal(in(0x3c), 0);
}

static void capabilities(void **state)
{
	(void)state;
	make(true, false);
	/* Common configuration, then PCI Express without FLR, and no more. */
	assert_int_equal(in(0x40), 0x01108009);
	assert_int_equal(in(0x44), 4);
	assert_int_equal(in(0x48), 0x100);
	assert_int_equal(in(0x4c), 56);
	for (uint32_t at = 0x50; at < 0x80; at += 4)
		assert_int_equal(in(at), 0);
	assert_int_equal(in(0x80), 0x00920010);
	assert_int_equal(in(0x84), 0x00008000);
	assert_int_equal(in(0x88), 0x00002810);
	assert_int_equal(in(0xc0), 0);
	assert_int_equal(in(0xc4), 0);
	make(true, true);
	assert_int_equal(in(0x40), 0x01107009);
	assert_int_equal(in(0x70), 0x00038011);
	assert_int_equal(in(0x78), 0x801);
	assert_int_equal(in(0x80), 0x00920010);
}

static void sizes(void **state)
{
	(void)state;
	make(true, false);
	for (uint32_t at = 0x10; at < 0x28; at += 4)
		out(at, ~0U);
	assert_int_equal(in(0x10), 0);
	assert_int_equal(in(0x14), 0xfffff000);
	assert_int_equal(in(0x18), 0);
	assert_int_equal(in(0x1c), 0);
	assert_int_equal(in(0x20), 0xffffc00c);
	assert_int_equal(in(0x24), 0xffffffff);
	/* The place is kept, whatever comes next. */
	out(0x14, 0x12345000);
	assert_int_equal(in(0x14), 0x40000000);
	out(0x20, 0xfffffff0);
	assert_int_equal(in(0x20), 0xffffc00c);
	vpci_write(&vm, AT + 0x20, 0xffff, 2);
	assert_int_equal(in(0x20), 0xc);
	out(0x24, 0);
	assert_int_equal(in(0x24), 4);
	/* The ROM has no size. */
	out(0x30, 0xfffff800);
	assert_int_equal(in(0x30), 0);
	assert_int_equal(model.words[5], 0x40000000);
	assert_int_equal(model.words[9], 4);
}

static void the_command(void **state)
{
	(void)state;
	make(true, false);
	/* It decodes memory from the beginning, and its INTx is on. */
	assert_int_equal(model.words[1] & 0xffff, PCI_COMMAND_MEMORY);
	out(0x04, 0x0000ffff);
	assert_int_equal(in(0x04) & 0xffff, 0x0406);
	assert_int_equal(model.words[1] & 0xffff, 0x0406);
	vpci_write(&vm, AT + 4, 0, 1);
	assert_int_equal(in(0x04) & 0xffff, 0x0400);
	assert_int_equal(model.words[1] & 0xffff, 0x0402);
	vpci_write(&vm, AT + 5, 0, 1);
	assert_int_equal(model.words[1] & 0xffff, 0x0002);
	/* Errors stay where no 1 was written. */
	assert_int_equal(model.words[1] >> 16, 0xf918);
	vpci_write(&vm, AT + 6, 0x8018, 2);
	assert_int_equal(model.words[1] >> 16, 0x7918);
	out(0x04, 0x70000004);
	assert_int_equal(model.words[1], 0x09180006);
	assert_int_equal(in(0x04), 0x09180004);
}

static void without_intx(void **state)
{
	(void)state;
	make(false, true);
	assert_int_equal(model.words[1] & 0xffff, 0x0402);
	out(0x04, 6);
	assert_int_equal(model.words[1] & 0xffff, 0x0406);
	assert_int_equal(in(0x04) & 0xffff, 6);
}

static void master_blocked(void **state)
{
	(void)state;
	make(true, false);
	out(0x04, 6);
	vpci_block_master(&shown);
	assert_int_equal(model.words[1] & 0xffff, 2);
	out(0x04, 2);
	out(0x04, 6);
	assert_int_equal(model.words[1] & 0xffff, 2);
	assert_int_equal(in(0x04) & 0xffff, 6);
	/* The next life. */
	vpci_reset(&shown);
	assert_int_equal(in(0x04) & 0xffff, 0);
	out(0x04, 6);
	assert_int_equal(model.words[1] & 0xffff, 6);
	/* Nothing masters that was not asked to. */
	out(0x04, 0);
	assert_int_equal(model.words[1] & 0xffff, 2);
}

static void msix_control(void **state)
{
	(void)state;
	make(true, true);
	out(0x70, ~0U);
	assert_int_equal(model.words[0x70 / 4], 0xc0038011);
	assert_int_equal(in(0x70), 0xc0038011);
	vpci_write(&vm, AT + 0x73, 0x80, 1);
	assert_int_equal(model.words[0x70 / 4], 0x80038011);
	vpci_write(&vm, AT + 0x72, 0, 1);
	assert_int_equal(model.words[0x70 / 4], 0x80038011);
	vpci_reset(&shown);
	assert_int_equal(model.words[0x70 / 4], 0x00038011);
	/* Where it is not shown nobody can turn it on. */
	make(true, false);
	out(0x70, ~0U);
	assert_int_equal(model.words[0x70 / 4], 0x00038011);
}

/* Each width reads the same bytes; what is not aligned, or not there, is all ones. */
static void widths(void **state)
{
	(void)state;
	make(true, true);
	for (uint32_t at = 0; at < PCI_PAGE; at++) {
		uint32_t word = in(at & ~3U) >> at % 4 * 8;

		assert_int_equal(vpci_read(&vm, AT + at, 1), word & 0xff);
		assert_int_equal(vpci_read(&vm, AT + at, 2), at % 2 ? ~0U : word & 0xffff);
		assert_int_equal(vpci_read(&vm, AT + at, 4), at % 4 ? ~0U : word);
		assert_int_equal(vpci_read(&vm, AT + at, 8), ~0U);
	}
	for (uint32_t devfn = 0; devfn < PCI_FUNCTIONS; devfn++) {
		if (devfn != BDF)
			assert_int_equal(vpci_read(&vm, devfn * (uint32_t)PCI_PAGE, 4), ~0U);
	}
}

static void functions_of_one_device(void **state)
{
	static struct pci_function others[2];
	static struct vpci_function seen[2];

	(void)state;
	make(true, false);
	for (uint32_t i = 0; i < 2; i++) {
		others[i] = host;
		others[i].bdf = i ? BDF + 8 : BDF + 1;
		vpci_init(&seen[i], &others[i], true, false);
		vm.pci.functions[vm.pci.n++] = &seen[i];
	}
	vpci_join(&vm.pci);
	assert_int_equal(vpci_read(&vm, AT + PCI_HEADER, 1), PCI_HEADER_MULTI);
	assert_int_equal(vpci_read(&vm, AT + (uint32_t)PCI_PAGE + PCI_HEADER, 1), PCI_HEADER_MULTI);
	assert_int_equal(vpci_read(&vm, AT + 8 * (uint32_t)PCI_PAGE + PCI_HEADER, 1), 0);
}

/* Whatever a guest writes, of the function these bits change and no others. */
static void random_accesses(void **state)
{
	static struct model before;
	struct chance c = {1};

	(void)state;
	for (unsigned int i = 0; i < 400000; i++) {
		uint32_t width = 1U << below(&c, 4);
		uint32_t at = below(&c, below(&c, 8) ? 0x110 : 0x1000);
		uint32_t value = (uint32_t)chance(&c);

		if (i % 1000 == 0) {
			make(i % 2000, i % 3000);
			before = model;
		}
		if (below(&c, 4) == 0)
			value = ~0U;
		(void)vpci_read(&vm, AT + at, width);
		vpci_write(&vm, AT + at, value, width);
		for (uint32_t n = 0; n < PCI_PAGE / 4; n++) {
			uint32_t may = n == 1 ? 0xf9000404 : 0;

			if (shown.msix && n == shown.msix / 4)
				may = 0xc0000000;
			if (model.words[n] != before.words[n])
				assert_int_equal((model.words[n] ^ before.words[n]) & ~may, 0);
		}
		assert_true(model.words[1] & PCI_COMMAND_MEMORY);
		assert_int_equal(in(0x14) == 0xfffff000 || in(0x14) == 0x40000000, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_boot_finds), cmocka_unit_test(what_is_left_on_goes_off),
	    cmocka_unit_test(walks_end),       cmocka_unit_test(the_header),
	    cmocka_unit_test(capabilities),    cmocka_unit_test(sizes),
	    cmocka_unit_test(the_command),     cmocka_unit_test(without_intx),
	    cmocka_unit_test(master_blocked),  cmocka_unit_test(msix_control),
	    cmocka_unit_test(widths),          cmocka_unit_test(functions_of_one_device),
	    cmocka_unit_test(random_accesses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
