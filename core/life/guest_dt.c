/* SPDX-License-Identifier: Apache-2.0 */
#include "core/life/guest_dt.h"

#include <libfdt.h>
#include <string.h>

#include "arch/riscv/hart/isa.h"
#include "arch/riscv/hart/sbi_spec.h"
#include "core/devices/vaplic.h"
#include "core/devices/vplic.h"
#include "core/devices/vrtc.h"
#include "core/devices/vuart.h"
#include "core/lib/printf.h"
#include "core/life/seed.h"
#include "core/tree/device_node.h"
#include "core/tree/dt_writer.h"
#include "core/tree/pci_node.h"
#include "core/tree/vm_machine.h"
#include "core/tree/vm_memory.h"

#define PLIC_NODE  "plic@c000000"
#define APLIC_NODE "interrupt-controller@d000000"
#define IMSIC_NODE "interrupt-controller@28000000"
#define UART_NODE  "serial@10000000"
#define RTC_NODE   "rtc@101000"

#define PHANDLE_CHIP     1U /* the PLIC or APLIC */
#define PHANDLE_INTC(n)  (2U + (n))
#define PHANDLE_SLEEP    0xfeU
#define PHANDLE_IMSIC    0xffU
#define PHANDLE_CLOCK(n) (0x100U + (n)*DEVICE_CLOCKS)
#define IRQ_S_EXT        9U          /* local interrupt number: supervisor external */
#define IRQ_NONE         0xffffffffU /* a context that interrupts no mode of the guest */
#define LEVEL_HIGH       4U          /* type of an interrupt of an APLIC */
#define LONGEST_US       0x7fffffffU
#define STDOUT           "/soc/" UART_NODE
#define CPU_NAME_VHARTID 4U /* index of the digit in "cpu@0" */

_Static_assert(VPLIC_SIZE <= GUEST_PLIC_SIZE, "no RAM there");
_Static_assert(VUART_SIZE <= GUEST_UART_SIZE, "no RAM there");
_Static_assert(VRTC_SIZE == GUEST_RTC_SIZE, "no RAM there");

static void put_u64(struct dt_writer *w, const char *name, uint64_t value)
{
	fdt64_t cells = cpu_to_fdt64(value);

	dt_put(w, name, &cells, sizeof(cells));
}

static void put_address_cells(struct dt_writer *w, uint32_t address, uint32_t size)
{
	dt_put_u32(w, "#address-cells", address);
	dt_put_u32(w, "#size-cells", size);
}

/* Assumes #address-cells = 2 and #size-cells = 2. */
static void put_reg(struct dt_writer *w, uint64_t base, uint64_t size)
{
	fdt64_t reg[2] = {cpu_to_fdt64(base), cpu_to_fdt64(size)};

	dt_put(w, "reg", reg, sizeof(reg));
}

/* At most so many strings: the names of a hart's extensions. */
#define MOST_STRINGS 64U
_Static_assert(ISA_EXTENSIONS + 8 <= MOST_STRINGS, "");

static void put_strings(struct dt_writer *w, const char *name, const char *const *strings,
                        uint32_t n)
{
	size_t lengths[MOST_STRINGS], size = 0;
	void *room;

	for (uint32_t i = 0; i < n; i++) {
		lengths[i] = strlen(strings[i]) + 1;
		size += lengths[i];
	}
	if (!w->error)
		w->error = fdt_property_placeholder(w->fdt, name, (int)size, &room);
	for (uint32_t i = 0; i < n && !w->error; i++) {
		memcpy(room, strings[i], lengths[i]);
		room = (char *)room + lengths[i];
	}
}

static void write_chosen(struct dt_writer *w, const struct vm_config *vm,
                         const struct guest_machine *machine)
{
	static const uint8_t no_seed[SEED_BYTES];
	uint64_t initrd = vm->ram_base + vm->initrd_offset;

	dt_begin(w, "chosen");
	if (vm->bootargs)
		dt_put_string(w, "bootargs", vm->bootargs);
	if (vm->console)
		dt_put_string(w, "stdout-path", STDOUT);
	if (pci_node_is_there(vm))
		dt_put_u32(w, "linux,pci-probe-only", 1);
	if (machine->seed)
		dt_put(w, "rng-seed", no_seed, sizeof(no_seed));
	if (vm->initrd.data) {
		put_u64(w, "linux,initrd-start", initrd);
		put_u64(w, "linux,initrd-end", initrd + vm->initrd.size);
	}
	dt_end(w);
}

/* The unit address must equal reg: hexadecimal without leading zeros. */
static void begin_at(struct dt_writer *w, const char *what, uint64_t base)
{
	char name[32];

	(void)tally_snprintf(name, sizeof(name), "%s@%lx", what, base);
	dt_begin(w, name);
}

static void write_memory(struct dt_writer *w, uint64_t base, uint64_t size)
{
	begin_at(w, "memory", base);
	dt_put_string(w, "device_type", "memory");
	put_reg(w, base, size);
	dt_end(w);
}

/* Shared memory is not in a memory node: the guest's kernel would use it as its own RAM. */
static void write_shared(struct dt_writer *w, const struct vm_config *vm,
                         const struct guest_machine *machine)
{
	for (uint32_t i = 0; i < vm->n_shared; i++) {
		const struct vm_shared *shared = &machine->shared[vm->shared[i].number];

		begin_at(w, "shared", vm->shared[i].at);
		dt_put_string(w, "compatible", "tally,shared-memory");
		put_reg(w, vm->shared[i].at, shared->size);
		dt_put_string(w, "label", shared->name);
		dt_put_string(w, "tally,access", vm->shared[i].writes ? "read-write" : "read");
		dt_end(w);
	}
}

static void write_cpu(struct dt_writer *w, uint32_t vhartid, const struct vm_config *vm,
                      const struct guest_machine *machine)
{
	char name[] = "cpu@0";

	_Static_assert(VM_MAX_VCPUS <= 10, "one digit for the vhartid");
	name[CPU_NAME_VHARTID] = (char)('0' + vhartid);
	dt_begin(w, name);
	dt_put_string(w, "device_type", "cpu");
	dt_put_u32(w, "reg", vhartid);
	dt_put_string(w, "compatible", "riscv");
	dt_put_string(w, "riscv,isa", machine->isa);
	dt_put_string(w, "riscv,isa-base", "rv64i");
	put_strings(w, "riscv,isa-extensions", machine->isa_extensions, machine->n_ext);
	dt_put_string(w, "mmu-type", machine->mmu_type);
	if (machine->cbom_block)
		dt_put_u32(w, "riscv,cbom-block-size", machine->cbom_block);
	if (machine->cboz_block)
		dt_put_u32(w, "riscv,cboz-block-size", machine->cboz_block);
	if (machine->cbop_block)
		dt_put_u32(w, "riscv,cbop-block-size", machine->cbop_block);
	if (vm->suspend)
		dt_put_u32(w, "cpu-idle-states", PHANDLE_SLEEP);

	dt_begin(w, "interrupt-controller");
	dt_put_string(w, "compatible", "riscv,cpu-intc");
	dt_put_flag(w, "interrupt-controller");
	dt_put_u32(w, "#address-cells", 0);
	dt_put_u32(w, "#interrupt-cells", 1);
	dt_put_u32(w, "phandle", PHANDLE_INTC(vhartid));
	dt_end(w);
	dt_end(w);
}

/*
 * The state of a vcpu in a system that is suspended. Linux has a driver for it, and so stops its
 * clock and its timers then. It never chooses the state when it is only idle, because that takes
 * longer than it allows by default (2,000 s).
 */
static void write_sleep(struct dt_writer *w)
{
	dt_begin(w, "idle-states");
	dt_begin(w, "sleep");
	dt_put_string(w, "compatible", "riscv,idle-state");
	dt_put_u32(w, "riscv,sbi-suspend-param", SBI_HSM_SUSPEND_RETENTIVE);
	dt_put_u32(w, "entry-latency-us", 1);
	dt_put_u32(w, "exit-latency-us", LONGEST_US);
	dt_put_u32(w, "min-residency-us", LONGEST_US);
	dt_put_u32(w, "phandle", PHANDLE_SLEEP);
	dt_end(w);
	dt_end(w);
}

static void write_cpus(struct dt_writer *w, const struct vm_config *vm,
                       const struct guest_machine *machine)
{
	dt_begin(w, "cpus");
	put_address_cells(w, 1, 0);
	dt_put_u32(w, "timebase-frequency", machine->timebase_frequency);
	for (uint32_t i = 0; i < vm->n_vcpus; i++)
		write_cpu(w, i, vm, machine);
	if (vm->suspend)
		write_sleep(w);
	dt_end(w);
}

/* Writes the S-mode external interrupt of each vcpu, in the order of the vcpus; with machine =
 * "virt" a context of M-mode before each. */
static void put_externals(struct dt_writer *w, const struct vm_config *vm)
{
	fdt32_t cells[2 * VM_MAX_VCPUS][2];
	uint32_t n = 0;

	for (uint32_t i = 0; i < vm->n_vcpus; i++) {
		if (vm->virt) {
			cells[n][0] = cpu_to_fdt32(PHANDLE_INTC(i));
			cells[n++][1] = cpu_to_fdt32(IRQ_NONE);
		}
		cells[n][0] = cpu_to_fdt32(PHANDLE_INTC(i));
		cells[n++][1] = cpu_to_fdt32(IRQ_S_EXT);
	}
	dt_put(w, "interrupts-extended", cells, n * sizeof(cells[0]));
}

/* Without machine = "virt", context n belongs to vcpu n, as in vplic.h. */
static void write_plic(struct dt_writer *w, const struct vm_config *vm)
{
	static const char *const compatible[] = {"sifive,plic-1.0.0", "riscv,plic0"};

	dt_begin(w, PLIC_NODE);
	put_strings(w, "compatible", compatible, 2);
	put_reg(w, GUEST_PLIC_BASE, VPLIC_SIZE);
	dt_put_flag(w, "interrupt-controller");
	dt_put_u32(w, "#interrupt-cells", 1);
	dt_put_u32(w, "#address-cells", 0);
	dt_put_u32(w, "riscv,ndev", VPLIC_SOURCES);
	put_externals(w, vm);
	dt_put_u32(w, "phandle", PHANDLE_CHIP);
	dt_end(w);
}

static void write_imsics(struct dt_writer *w, const struct vm_config *vm,
                         const struct guest_machine *machine)
{
	dt_begin(w, IMSIC_NODE);
	dt_put_string(w, "compatible", "riscv,imsics");
	put_reg(w, GUEST_IMSIC_BASE, vm->n_vcpus * GUEST_IMSIC_STEP);
	dt_put_flag(w, "interrupt-controller");
	dt_put_u32(w, "#interrupt-cells", 0);
	dt_put_flag(w, "msi-controller");
	dt_put_u32(w, "#msi-cells", 0);
	dt_put_u32(w, "riscv,num-ids", machine->imsic_ids);
	put_externals(w, vm);
	dt_put_u32(w, "phandle", PHANDLE_IMSIC);
	dt_end(w);
}

static void write_aplic(struct dt_writer *w)
{
	dt_begin(w, APLIC_NODE);
	dt_put_string(w, "compatible", "riscv,aplic");
	put_reg(w, GUEST_APLIC_BASE, VAPLIC_SIZE);
	dt_put_flag(w, "interrupt-controller");
	dt_put_u32(w, "#interrupt-cells", 2);
	dt_put_u32(w, "#address-cells", 0);
	dt_put_u32(w, "riscv,num-sources", VAPLIC_SOURCES);
	dt_put_u32(w, "msi-parent", PHANDLE_IMSIC);
	dt_put_u32(w, "phandle", PHANDLE_CHIP);
	dt_end(w);
}

/* An interrupt of an APLIC has a second cell, its type. */
static void put_irq(struct dt_writer *w, const struct vm_config *vm, uint32_t source)
{
	fdt32_t cells[] = {cpu_to_fdt32(source), cpu_to_fdt32(LEVEL_HIGH)};

	dt_put(w, "interrupts", cells, (vm->aia ? 2 : 1) * sizeof(cells[0]));
}

static void write_uart(struct dt_writer *w, const struct vm_config *vm)
{
	dt_begin(w, UART_NODE);
	dt_put_string(w, "compatible", "ns16550a");
	put_reg(w, GUEST_UART_BASE, VUART_SIZE);
	dt_put_u32(w, "clock-frequency", VUART_CLOCK_HZ);
	put_irq(w, vm, GUEST_UART_IRQ);
	dt_end(w);
}

static void write_rtc(struct dt_writer *w, const struct vm_config *vm)
{
	dt_begin(w, RTC_NODE);
	dt_put_string(w, "compatible", "google,goldfish-rtc");
	put_reg(w, GUEST_RTC_BASE, VRTC_SIZE);
	if (vm->rtc_source)
		put_irq(w, vm, vm->rtc_source);
	dt_end(w);
}

/* A VM with slots has no APLIC, so an interrupt has one cell. */
static void write_slots(struct dt_writer *w, const struct vm_config *vm)
{
	uint32_t empty = vm_empty_slots(vm);

	for (uint32_t i = 0; i < GUEST_SLOTS; i++) {
		if (!(empty >> i & 1))
			continue;
		begin_at(w, "virtio_mmio", GUEST_SLOT_BASE + i * GUEST_SLOT_STEP);
		dt_put_string(w, "compatible", "virtio,mmio");
		put_reg(w, GUEST_SLOT_BASE + i * GUEST_SLOT_STEP, GUEST_SLOT_STEP);
		dt_put_u32(w, "interrupts", i + 1);
		dt_end(w);
	}
}

static void write_devices(struct dt_writer *w, const struct vm_config *vm,
                          const struct guest_machine *machine)
{
	const struct device_chip chip = {PHANDLE_CHIP, vm->aia};
	const struct pci_node_chip bus = {PHANDLE_CHIP, vm->aia, vm->aia ? PHANDLE_IMSIC : 0};

	for (uint32_t i = 0; machine->host_tree && i < vm->n_devices; i++) {
		if (!vm->devices[i].pci.given)
			device_node_write(w, machine->host_tree, &vm->devices[i], &chip,
			                  PHANDLE_CLOCK(i));
	}
	if (pci_node_is_there(vm))
		pci_node_write(w, vm, machine->shared, &bus);
}

static void write_soc(struct dt_writer *w, const struct vm_config *vm,
                      const struct guest_machine *machine)
{
	_Static_assert(GUEST_PLIC_SIZE == VPLIC_SIZE && GUEST_PLIC_SOURCES == VPLIC_SOURCES,
	               "the parser keeps devices out of it");
	_Static_assert(GUEST_APLIC_SIZE == VAPLIC_SIZE && GUEST_PLIC_SOURCES == VAPLIC_SOURCES,
	               "and out of this");

	dt_begin(w, "soc");
	dt_put_string(w, "compatible", "simple-bus");
	put_address_cells(w, 2, 2);
	dt_put_flag(w, "ranges");
	dt_put_u32(w, "interrupt-parent", PHANDLE_CHIP);
	if (vm->aia) {
		write_imsics(w, vm, machine);
		write_aplic(w);
	} else {
		write_plic(w, vm);
	}
	if (vm->console)
		write_uart(w, vm);
	if (vm->rtc)
		write_rtc(w, vm);
	write_slots(w, vm);
	write_devices(w, vm, machine);
	dt_end(w);
}

int guest_dt_build(void *buf, size_t size, const struct vm_config *vm,
                   const struct guest_machine *machine)
{
	struct dt_writer w = {.fdt = buf};

	/* libfdt takes sizes as int. Without the flag it would search all names that it has written
	 * for each new one, byte by byte, to save a few hundred bytes. */
	w.error = fdt_create_with_flags(buf, size < VM_DTB_SIZE ? (int)size : (int)VM_DTB_SIZE,
	                                FDT_CREATE_FLAG_NO_NAME_DEDUP);
	if (!w.error)
		w.error = fdt_finish_reservemap(buf);
	dt_begin(&w, "");
	put_address_cells(&w, 2, 2);
	dt_put_string(&w, "compatible", "tally,vm");
	dt_put_string(&w, "model", "Tally VM");
	write_chosen(&w, vm, machine);
	for (uint32_t i = 0; vm_piece(vm, i).size; i++)
		write_memory(&w, vm_piece(vm, i).guest, vm_piece(vm, i).size);
	write_shared(&w, vm, machine);
	write_cpus(&w, vm, machine);
	write_soc(&w, vm, machine);
	dt_end(&w);
	if (!w.error)
		w.error = fdt_finish(buf);
	return w.error;
}

size_t guest_dt_seed_at(const void *dtb)
{
	const char *seed = fdt_getprop(dtb, fdt_subnode_offset(dtb, 0, "chosen"), "rng-seed", NULL);

	return seed ? (size_t)(seed - (const char *)dtb) : 0;
}
