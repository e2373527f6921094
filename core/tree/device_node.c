/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/device_node.h"

#include <libfdt.h>
#include <string.h>

#include "core/host/host_tree.h"
#include "core/lib/text.h"
#include "core/lib/types.h"

#define PATH_BYTES     72U
#define NAME_BYTES     64U
#define NAME_BASE      31  /* characters of a node's name before the address */
#define UNKNOWN_BYTES  256 /* most bytes of an unknown property that are searched for phandles */
#define PROPERTY_BYTES 12U /* tag, length and name of a property in a blob */

/* How a property is treated. */
enum fate {
	COPIED,
	DROPPED, /* the guest has no use for it, or gets its own */
	CLOCKS,
	REFERENCE, /* it begins with a phandle */
	UNKNOWN,
};

static const char *const literal[] = {
    "compatible",      "reg-names",       "interrupt-names",
    "clock-names",     "model",           "label",
    "status",          "clock-frequency", "current-speed",
    "reg-shift",       "reg-io-width",    "reg-offset",
    "fifo-size",       "tx-threshold",    "no-loopback-test",
    "dma-coherent",    "dma-noncoherent", "big-endian",
    "little-endian",   "native-endian",   "bank-width",
    "device-width",    "device_type",     "#address-cells",
    "#size-cells",     "pinctrl-names",   "auto-flow-control",
    "uart-has-rtscts", "reset-names",     "dma-names",
};

static const char *const dropped[] = {
    "reg", "phandle", "linux,phandle", "interrupt-parent", "interrupts", "interrupts-extended",
};

/* Properties that hold phandles by the conventions of bindings. */
static const char *const references[] = {
    "assigned-clocks",
    "assigned-clock-parents",
    "dmas",
    "iommus",
    "iommu-map",
    "resets",
    "power-domains",
    "phys",
    "phy-handle",
    "mboxes",
    "memory-region",
    "nvmem",
    "nvmem-cells",
    "msi-parent",
    "msi-map",
    "regmap",
    "syscon",
    "interrupt-map",
    "gpios",
    "hwlocks",
    "interconnects",
    "io-channels",
    "pwms",
    "thermal-sensors",
    "remote-endpoint",
    "operating-points-v2",
    "sound-dai",
    "access-controllers",
};
static const char *const reference_ends[] = {"-gpios", "-gpio", "-supply"};

static bool is_among(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

static bool is_reference(const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(reference_ends); i++) {
		size_t end = strlen(reference_ends[i]);

		if (length > end && strcmp(name + length - end, reference_ends[i]) == 0)
			return true;
	}
	return strncmp(name, "pinctrl-", 8) == 0 ||
	       is_among(name, references, ARRAY_SIZE(references));
}

static enum fate fate_of(const char *name)
{
	if (is_among(name, literal, ARRAY_SIZE(literal)))
		return COPIED;
	if (is_among(name, dropped, ARRAY_SIZE(dropped)))
		return DROPPED;
	if (strcmp(name, "clocks") == 0)
		return CLOCKS;
	return is_reference(name) ? REFERENCE : UNKNOWN;
}

/* Whether a value is one string or more, in the encoding of device trees. */
static bool is_text(const char *value, int size)
{
	if (size < 2 || value[size - 1])
		return false;
	for (int i = 0; i < size; i++) {
		bool printable = value[i] >= ' ' && value[i] <= '~';

		if (!printable && (value[i] || !i || !value[i - 1]))
			return false;
	}
	return true;
}

const char *device_path(const void *host, int node, char *buffer, int size)
{
	const char *name;

	if (node >= 0 && fdt_get_path(host, node, buffer, size) == 0)
		return buffer;
	name = node < 0 ? NULL : fdt_get_name(host, node, NULL);
	return name ? name : "a node that is not there";
}

static bool refuse_reference(const struct vm_node *n, const char *name, int other)
{
	char path[PATH_BYTES];

	return vm_refuse(n, VM_REFUSED_REFERENCE, "host",
	                 "%s refers to %s, which the VM does not have", name,
	                 device_path(n->limits->host_tree, other, path, sizeof(path)));
}

/* A fixed clock is always on, so the guest can have a copy of its node. */
static bool is_fixed_clock(const void *host, int clock)
{
	int size;
	const fdt32_t *cells = fdt_getprop(host, clock, "#clock-cells", &size);
	const void *rate = cells && size == 4 && !fdt32_ld(cells)
	                       ? fdt_getprop(host, clock, "clock-frequency", &size)
	                       : NULL;

	return rate && size == 4 && host_tree_says(host, clock, "compatible", "fixed-clock");
}

static bool check_clocks(const struct vm_node *n, const fdt32_t *cells, int size, uint32_t *bytes)
{
	const void *host = n->limits->host_tree;

	if (size % 4 || size / 4 > (int)DEVICE_CLOCKS)
		return vm_refuse(n, VM_REFUSED_TOO_MANY, "host", "has more than %u clocks",
		                 DEVICE_CLOCKS);
	for (int i = 0; i < size / 4; i++) {
		int clock = fdt_node_offset_by_phandle(host, fdt32_ld(&cells[i]));

		if (clock < 0 || !is_fixed_clock(host, clock))
			return refuse_reference(n, "clocks", clock);
		*bytes += 256; /* its node, see write_clock() */
	}
	return true;
}

/* Refuses an unknown property that may hold a phandle. Text does not, nor do numbers that are no
 * phandle. */
static bool check_unknown(const struct vm_node *n, const char *name, const fdt32_t *cells, int size)
{
	const void *host = n->limits->host_tree;
	char path[PATH_BYTES];
	uint32_t last = 0;

	if (!size || size % 4 || is_text((const char *)cells, size))
		return true;
	if (size > UNKNOWN_BYTES)
		return vm_refuse(n, VM_REFUSED_REFERENCE, "host",
		                 "%s has %d bytes, too many to tell that none is a phandle", name,
		                 size);
	if (fdt_find_max_phandle(host, &last))
		last = UINT32_MAX;
	for (int i = 0; i < size / 4; i++) {
		uint32_t cell = fdt32_ld(&cells[i]);
		int other = cell && cell <= last ? fdt_node_offset_by_phandle(host, cell) : -1;

		if (other >= 0)
			return vm_refuse(
			    n, VM_REFUSED_REFERENCE, "host",
			    "%s may refer to %s, which the VM does not have: it has a %u", name,
			    device_path(host, other, path, sizeof(path)), cell);
	}
	return true;
}

static bool check_property(const struct vm_node *n, const char *name, const fdt32_t *cells,
                           int size, uint32_t *bytes)
{
	const void *host = n->limits->host_tree;

	*bytes += PROPERTY_BYTES + (uint32_t)strlen(name) + 1 + ((uint32_t)size + 3) / 4 * 4;
	switch (fate_of(name)) {
	case CLOCKS:
		return check_clocks(n, cells, size, bytes);
	case REFERENCE:
		return refuse_reference(
		    n, name, size >= 4 ? fdt_node_offset_by_phandle(host, fdt32_ld(cells)) : -1);
	case UNKNOWN:
		return check_unknown(n, name, cells, size);
	default:
		return true;
	}
}

bool device_node_check(const struct vm_node *n, const struct vm_device *device, uint32_t *bytes)
{
	const void *host = n->limits->host_tree;
	int offset, child = fdt_first_subnode(host, device->node);

	if (child >= 0)
		return vm_refuse(n, VM_REFUSED_REFERENCE, "host",
		                 "has a node of its own, %s: only devices without are given",
		                 fdt_get_name(host, child, NULL));
	/* Its name, tags, registers and interrupts. */
	*bytes += NAME_BYTES + 64 + 16 * VM_DEVICE_MAX_REGS + 4 * VM_DEVICE_MAX_IRQS;
	fdt_for_each_property_offset(offset, host, device->node)
	{
		const char *name;
		int size;
		const void *value = fdt_getprop_by_offset(host, offset, &name, &size);

		if (!value)
			return vm_refuse(n, VM_REFUSED_DEVICE, "host", "has a broken property");
		if (*bytes > DEVICE_NODES_BYTES)
			return true; /* the caller refuses it */
		if (!check_property(n, name, value, size, bytes))
			return false;
	}
	return true;
}

/* Writes a node's name: the name before the address, and the guest's address of its registers. */
static void name_node(char *buffer, const char *name, char before, uint64_t address)
{
	const char *end = strchr(name, '@');
	struct text text = text_begin(buffer, NAME_BYTES);
	int length = end ? (int)(end - name) : (int)strlen(name);

	text_add(&text, "%.*s%c%lx", length < NAME_BASE ? length : NAME_BASE, name, before,
	         address);
}

/* In the guest's tree, the clock's node is named after the phandle that it gets there. */
static void write_clock(struct dt_writer *w, const void *host, int clock, uint32_t phandle)
{
	static const char *const wanted[] = {"clock-frequency", "clock-output-names",
	                                     "clock-accuracy"};
	char name[NAME_BYTES];
	int size;

	name_node(name, "clock", '-', phandle);
	dt_begin(w, name);
	dt_put_string(w, "compatible", "fixed-clock");
	dt_put_u32(w, "#clock-cells", 0);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		const void *value = fdt_getprop(host, clock, wanted[i], &size);

		if (value && size <= 64)
			dt_put(w, wanted[i], value, (size_t)size);
	}
	dt_put_u32(w, "phandle", phandle);
	dt_end(w);
}

static void write_clocks(struct dt_writer *w, const void *host, const struct vm_device *device,
                         uint32_t first)
{
	int size;
	const fdt32_t *cells = fdt_getprop(host, device->node, "clocks", &size);

	for (int i = 0; cells && i < size / 4 && i < (int)DEVICE_CLOCKS; i++)
		write_clock(w, host, fdt_node_offset_by_phandle(host, fdt32_ld(&cells[i])),
		            first + (uint32_t)i);
}

static void write_reg(struct dt_writer *w, const struct host_place *place)
{
	fdt64_t cells[2 * VM_DEVICE_MAX_REGS];
	uint64_t base, size;
	uint32_t n = 0;

	while (n < VM_DEVICE_MAX_REGS && host_tree_reg(place, n, &base, &size) == HOST_REG_OK) {
		cells[2UL * n] = cpu_to_fdt64(base);
		cells[2UL * n + 1] = cpu_to_fdt64(size);
		n++;
	}
	dt_put(w, "reg", cells, 2UL * n * sizeof(cells[0]));
}

const uint8_t device_irq_types[] = {
    [VM_IRQ_UNKNOWN] = 4, [VM_IRQ_RISING] = 1, [VM_IRQ_FALLING] = 2,
    [VM_IRQ_HIGH] = 4,    [VM_IRQ_LOW] = 8,
};

static void write_interrupts(struct dt_writer *w, const struct vm_device *device,
                             const struct device_chip *chip)
{
	fdt32_t cells[2 * VM_DEVICE_MAX_IRQS];
	uint32_t n = 0;

	if (!device->n_irqs)
		return;
	for (uint32_t i = 0; i < device->n_irqs; i++) {
		cells[n++] = cpu_to_fdt32(device->irqs[i].guest);
		if (chip->types)
			cells[n++] = cpu_to_fdt32(device_irq_types[device->irqs[i].mode]);
	}
	dt_put_u32(w, "interrupt-parent", chip->phandle);
	dt_put(w, "interrupts", cells, n * sizeof(cells[0]));
}

static void write_property(struct dt_writer *w, const char *name, const void *value, size_t size,
                           uint32_t clocks)
{
	enum fate fate = fate_of(name);
	fdt32_t cells[DEVICE_CLOCKS];

	for (uint32_t i = 0; fate == CLOCKS && i < size / 4 && i < DEVICE_CLOCKS; i++)
		cells[i] = cpu_to_fdt32(clocks + i);
	if (fate != DROPPED)
		dt_put(w, name, fate == CLOCKS ? cells : value, size);
}

void device_node_write(struct dt_writer *w, const void *host, const struct vm_device *device,
                       const struct device_chip *chip, uint32_t clocks)
{
	struct host_place place = host_place_of(host, device->node);
	uint64_t base = 0, size = 0;
	char name[NAME_BYTES];
	int offset;

	write_clocks(w, host, device, clocks);
	host_tree_reg(&place, 0, &base, &size);
	name_node(name, fdt_get_name(host, device->node, NULL), '@', base);
	dt_begin(w, name);
	fdt_for_each_property_offset(offset, host, device->node)
	{
		const char *property;
		int bytes;
		const void *value = fdt_getprop_by_offset(host, offset, &property, &bytes);

		if (value)
			write_property(w, property, value, (size_t)bytes, clocks);
	}
	write_reg(w, &place);
	write_interrupts(w, device, chip);
	dt_end(w);
}
