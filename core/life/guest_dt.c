/* SPDX-License-Identifier: Apache-2.0 */
#include "core/life/guest_dt.h"

#include <libfdt.h>
#include <string.h>

#include "core/devices/vaplic.h"
#include "core/devices/vplic.h"
#include "core/devices/vuart.h"
#include "core/lib/printf.h"
#include "core/tree/device_node.h"
#include "core/tree/pci_node.h"
#include "core/tree/vm_memory.h"

#define PLIC_NODE  "plic@c000000"
#define APLIC_NODE "interrupt-controller@d000000"
#define IMSIC_NODE "interrupt-controller@28000000"
#define UART_NODE  "serial@10000000"

#define PHANDLE_CHIP     1U /* the PLIC or APLIC */
#define PHANDLE_INTC(n)  (2U + (n))
#define PHANDLE_IMSIC    0xffU
#define PHANDLE_CLOCK(n) (0x100U + (n)*DEVICE_CLOCKS)
#define IRQ_S_EXT        9U /* local interrupt number: supervisor external */
#define LEVEL_HIGH       4U /* type of an interrupt of an APLIC */
#define STDOUT           "/soc/" UART_NODE
#define CPU_NAME_VHARTID 4U /* index of the digit in "cpu@0" */

_Static_assert(VPLIC_SIZE <= GUEST_PLIC_SIZE, "no RAM there");
_Static_assert(VUART_SIZE <= GUEST_UART_SIZE, "no RAM there");

/*
 * A tree that is being written. libfdt does not remember errors, and none of some fifty calls may
 * fail unnoticed. So the first error is kept, and later calls do nothing.
 */
struct writer {
	void *fdt;
	int error;
};

static void begin(struct writer *w, const char *node)
{
	if (!w->error)
		w->error = fdt_begin_node(w->fdt, node);
}

static void end(struct writer *w)
{
	if (!w->error)
		w->error = fdt_end_node(w->fdt);
}

static void put(struct writer *w, const char *name, const void *value, size_t size)
{
	if (!w->error)
		w->error = fdt_property(w->fdt, name, value, (int)size);
}

static void put_string(struct writer *w, const char *name, const char *value)
{
	put(w, name, value, strlen(value) + 1);
}

static void put_u32(struct writer *w, const char *name, uint32_t value)
{
	fdt32_t cell = cpu_to_fdt32(value);

	put(w, name, &cell, sizeof(cell));
}

static void put_u64(struct writer *w, const char *name, uint64_t value)
{
	fdt64_t cells = cpu_to_fdt64(value);

	put(w, name, &cells, sizeof(cells));
}

static void put_flag(struct writer *w, const char *name)
{
	put(w, name, "", 0);
}

static void put_address_cells(struct writer *w, uint32_t address, uint32_t size)
{
	put_u32(w, "#address-cells", address);
	put_u32(w, "#size-cells", size);
}

/* Assumes #address-cells = 2 and #size-cells = 2. */
static void put_reg(struct writer *w, uint64_t base, uint64_t size)
{
	fdt64_t reg[2] = {cpu_to_fdt64(base), cpu_to_fdt64(size)};

	put(w, "reg", reg, sizeof(reg));
}

static void put_strings(struct writer *w, const char *name, const char *const *strings, uint32_t n)
{
	size_t size = 0;
	void *room;

	for (uint32_t i = 0; i < n; i++)
		size += strlen(strings[i]) + 1;
	if (!w->error)
		w->error = fdt_property_placeholder(w->fdt, name, (int)size, &room);
	for (uint32_t i = 0; i < n && !w->error; i++) {
		size = strlen(strings[i]) + 1;
		memcpy(room, strings[i], size);
		room = (char *)room + size;
	}
}

static void write_chosen(struct writer *w, const struct vm_config *vm,
                         const struct guest_machine *machine)
{
	static const uint8_t no_seed[SEED_BYTES];
	uint64_t initrd = vm->ram_base + vm->initrd_offset;

	begin(w, "chosen");
	if (vm->bootargs)
		put_string(w, "bootargs", vm->bootargs);
	if (vm->console)
		put_string(w, "stdout-path", STDOUT);
	if (pci_node_is_there(vm))
		put_u32(w, "linux,pci-probe-only", 1);
	if (machine->seed)
		put(w, "rng-seed", no_seed, sizeof(no_seed));
	if (vm->initrd.data) {
		put_u64(w, "linux,initrd-start", initrd);
		put_u64(w, "linux,initrd-end", initrd + vm->initrd.size);
	}
	end(w);
}

/* The unit address must equal reg: hexadecimal without leading zeros. */
static void begin_at(struct writer *w, const char *what, uint64_t base)
{
	char name[32];

	(void)tally_snprintf(name, sizeof(name), "%s@%lx", what, base);
	begin(w, name);
}

static void write_memory(struct writer *w, uint64_t base, uint64_t size)
{
	begin_at(w, "memory", base);
	put_string(w, "device_type", "memory");
	put_reg(w, base, size);
	end(w);
}

/* Shared memory is not in a memory node: the guest's kernel would use it as its own RAM. */
static void write_shared(struct writer *w, const struct vm_config *vm,
                         const struct guest_machine *machine)
{
	for (uint32_t i = 0; i < vm->n_shared; i++) {
		const struct vm_shared *shared = &machine->shared[vm->shared[i].number];

		begin_at(w, "shared", vm->shared[i].at);
		put_string(w, "compatible", "tally,shared-memory");
		put_reg(w, vm->shared[i].at, shared->size);
		put_string(w, "label", shared->name);
		put_string(w, "tally,access", vm->shared[i].writes ? "read-write" : "read");
		end(w);
	}
}

static void write_cpu(struct writer *w, uint32_t vhartid, const struct guest_machine *machine)
{
	char name[] = "cpu@0";

	_Static_assert(VM_MAX_VCPUS <= 10, "one digit for the vhartid");
	name[CPU_NAME_VHARTID] = (char)('0' + vhartid);
	begin(w, name);
	put_string(w, "device_type", "cpu");
	put_u32(w, "reg", vhartid);
	put_string(w, "status", "okay");
	put_string(w, "compatible", "riscv");
	put_string(w, "riscv,isa", machine->isa);
	put_string(w, "riscv,isa-base", "rv64i");
	put_strings(w, "riscv,isa-extensions", machine->isa_extensions, machine->n_ext);
	put_string(w, "mmu-type", machine->mmu_type);
	if (machine->cbom_block)
		put_u32(w, "riscv,cbom-block-size", machine->cbom_block);
	if (machine->cboz_block)
		put_u32(w, "riscv,cboz-block-size", machine->cboz_block);
	if (machine->cbop_block)
		put_u32(w, "riscv,cbop-block-size", machine->cbop_block);

	begin(w, "interrupt-controller");
	put_string(w, "compatible", "riscv,cpu-intc");
	put_flag(w, "interrupt-controller");
	put_u32(w, "#address-cells", 0);
	put_u32(w, "#interrupt-cells", 1);
	put_u32(w, "phandle", PHANDLE_INTC(vhartid));
	end(w);
	end(w);
}

static void write_cpus(struct writer *w, const struct vm_config *vm,
                       const struct guest_machine *machine)
{
	begin(w, "cpus");
	put_address_cells(w, 1, 0);
	put_u32(w, "timebase-frequency", machine->timebase_frequency);
	for (uint32_t i = 0; i < vm->n_vcpus; i++)
		write_cpu(w, i, machine);
	end(w);
}

/* Writes the S-mode external interrupt of each vcpu, in the order of the vcpus. */
static void put_externals(struct writer *w, const struct vm_config *vm)
{
	fdt32_t cells[VM_MAX_VCPUS][2];

	for (uint32_t i = 0; i < vm->n_vcpus; i++) {
		cells[i][0] = cpu_to_fdt32(PHANDLE_INTC(i));
		cells[i][1] = cpu_to_fdt32(IRQ_S_EXT);
	}
	put(w, "interrupts-extended", cells, vm->n_vcpus * sizeof(cells[0]));
}

/* The PLIC has contexts for S-mode only, so context n belongs to vcpu n, as in vplic.h. */
static void write_plic(struct writer *w, const struct vm_config *vm)
{
	static const char *const compatible[] = {"sifive,plic-1.0.0", "riscv,plic0"};

	begin(w, PLIC_NODE);
	put_strings(w, "compatible", compatible, 2);
	put_reg(w, GUEST_PLIC_BASE, VPLIC_SIZE);
	put_flag(w, "interrupt-controller");
	put_u32(w, "#interrupt-cells", 1);
	put_u32(w, "#address-cells", 0);
	put_u32(w, "riscv,ndev", VPLIC_SOURCES);
	put_externals(w, vm);
	put_u32(w, "phandle", PHANDLE_CHIP);
	end(w);
}

static void write_imsics(struct writer *w, const struct vm_config *vm,
                         const struct guest_machine *machine)
{
	begin(w, IMSIC_NODE);
	put_string(w, "compatible", "riscv,imsics");
	put_reg(w, GUEST_IMSIC_BASE, vm->n_vcpus * GUEST_IMSIC_STEP);
	put_flag(w, "interrupt-controller");
	put_u32(w, "#interrupt-cells", 0);
	put_flag(w, "msi-controller");
	put_u32(w, "#msi-cells", 0);
	put_u32(w, "riscv,num-ids", machine->imsic_ids);
	put_externals(w, vm);
	put_u32(w, "phandle", PHANDLE_IMSIC);
	end(w);
}

static void write_aplic(struct writer *w)
{
	begin(w, APLIC_NODE);
	put_string(w, "compatible", "riscv,aplic");
	put_reg(w, GUEST_APLIC_BASE, VAPLIC_SIZE);
	put_flag(w, "interrupt-controller");
	put_u32(w, "#interrupt-cells", 2);
	put_u32(w, "#address-cells", 0);
	put_u32(w, "riscv,num-sources", VAPLIC_SOURCES);
	put_u32(w, "msi-parent", PHANDLE_IMSIC);
	put_u32(w, "phandle", PHANDLE_CHIP);
	end(w);
}

/* An interrupt of an APLIC has a second cell, its type. */
static void put_uart_irq(struct writer *w, const struct vm_config *vm)
{
	fdt32_t cells[] = {cpu_to_fdt32(GUEST_UART_IRQ), cpu_to_fdt32(LEVEL_HIGH)};

	put(w, "interrupts", cells, (vm->aia ? 2 : 1) * sizeof(cells[0]));
}

static void write_uart(struct writer *w, const struct vm_config *vm)
{
	begin(w, UART_NODE);
	put_string(w, "compatible", "ns16550a");
	put_reg(w, GUEST_UART_BASE, VUART_SIZE);
	put_u32(w, "clock-frequency", VUART_CLOCK_HZ);
	put_u32(w, "reg-shift", 0);
	put_u32(w, "reg-io-width", 1);
	put_u32(w, "interrupt-parent", PHANDLE_CHIP);
	put_uart_irq(w, vm);
	end(w);
}

static void write_devices(struct writer *w, const struct vm_config *vm,
                          const struct guest_machine *machine)
{
	const struct device_chip chip = {PHANDLE_CHIP, vm->aia};
	const struct pci_node_chip bus = {PHANDLE_CHIP, vm->aia, vm->aia ? PHANDLE_IMSIC : 0};

	for (uint32_t i = 0; machine->host_tree && i < vm->n_devices && !w->error; i++) {
		if (!vm->devices[i].pci.given)
			w->error = device_node_write(w->fdt, machine->host_tree, &vm->devices[i],
			                             &chip, PHANDLE_CLOCK(i));
	}
	if (!w->error && pci_node_is_there(vm))
		w->error = pci_node_write(w->fdt, vm, machine->shared, &bus);
}

static void write_soc(struct writer *w, const struct vm_config *vm,
                      const struct guest_machine *machine)
{
	_Static_assert(GUEST_PLIC_SIZE == VPLIC_SIZE && GUEST_PLIC_SOURCES == VPLIC_SOURCES,
	               "the parser keeps devices out of it");
	_Static_assert(GUEST_APLIC_SIZE == VAPLIC_SIZE && GUEST_PLIC_SOURCES == VAPLIC_SOURCES,
	               "and out of this");

	begin(w, "soc");
	put_string(w, "compatible", "simple-bus");
	put_address_cells(w, 2, 2);
	put_flag(w, "ranges");
	if (vm->aia) {
		write_imsics(w, vm, machine);
		write_aplic(w);
	} else {
		write_plic(w, vm);
	}
	if (vm->console)
		write_uart(w, vm);
	write_devices(w, vm, machine);
	end(w);
}

int guest_dt_build(void *buf, size_t size, const struct vm_config *vm,
                   const struct guest_machine *machine)
{
	struct writer w = {.fdt = buf};

	/* libfdt takes sizes as int. Without the flag it would search all names that it has written
	 * for each new one, byte by byte, to save a few hundred bytes. */
	w.error = fdt_create_with_flags(buf, size < VM_DTB_SIZE ? (int)size : (int)VM_DTB_SIZE,
	                                FDT_CREATE_FLAG_NO_NAME_DEDUP);
	if (!w.error)
		w.error = fdt_finish_reservemap(buf);
	begin(&w, "");
	put_address_cells(&w, 2, 2);
	put_string(&w, "compatible", "tally,vm");
	put_string(&w, "model", "Tally VM");
	write_chosen(&w, vm, machine);
	for (uint32_t i = 0; vm_piece(vm, i).size; i++)
		write_memory(&w, vm_piece(vm, i).guest, vm_piece(vm, i).size);
	write_shared(&w, vm, machine);
	write_cpus(&w, vm, machine);
	write_soc(&w, vm, machine);
	end(&w);
	if (!w.error)
		w.error = fdt_finish(buf);
	return w.error;
}

size_t guest_dt_seed_at(const void *dtb)
{
	const char *seed = fdt_getprop(dtb, fdt_subnode_offset(dtb, 0, "chosen"), "rng-seed", NULL);

	return seed ? (size_t)(seed - (const char *)dtb) : 0;
}
