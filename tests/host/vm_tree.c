/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/vm_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libfdt.h>

#include "core/host/host_reserved.h"
#include "core/host/host_claims.h"
#include "core/tree/parse.h"
#include "core/tree/vm_machine.h"
#include "core/tree/vm_memory.h"
#include "core/tree/vm_refusals.h"

/* Harts 2 and 63 are of different kinds: the second and the third. */
static const char *differ(uint32_t hart, uint32_t other)
{
	return hart + other == 1 + 2 ? "harts # and # have different counters" : NULL;
}

uint32_t contradicting_hart = UINT32_MAX;

static const char *contradicts(uint32_t hart)
{
	return hart == contradicting_hart ? "hart 2 contradicts it: it has no counter 19" : NULL;
}

const struct vm_limits test_limits = {
    .harts = {3, {0, 2, 63}},
    .ram = {.n = 1, .banks = {{0x80000000, 0x8a200000}}, .tally = 0x80000000},
    .guests = {1, {{0x82000000, 0x8a000000}}, {0x80000000, 0x82000000}, {0x8a000000, 0x8a200000}},
    .hctrs = 0x3d,
    .differ = differ,
    .contradicts = contradicts,
};

void tree_at_the_end(const struct vm_ram *ram, uint64_t tree_size, struct vm_guests *guests)
{
	const struct vm_range *own = vm_bank_of(ram, ram->tally);
	uint64_t to = own ? own->to / VM_MEMORY_STEP * VM_MEMORY_STEP : 0;
	uint64_t from = to - tree_size < to ? to - tree_size : to;
	struct vm_range blob = {from / VM_MEMORY_STEP * VM_MEMORY_STEP, to};

	vm_guest_ranges(ram, &blob, guests);
}

const void *test_host;

/* With a list of the claims of the host's nodes, or with too little room for it, the parser says
 * the same as without. */
static void parse_with_claims(const struct vm_limits *machine, const void *tree,
                              const struct vm_tree *expected, bool good,
                              const struct vm_refusal *expected_why)
{
	static const uint32_t rooms[] = {HOST_CLAIMS, 1, 0};
	static union {
		struct host_claims claims;
		uint8_t bytes[sizeof(struct host_claims) + HOST_CLAIMS * sizeof(struct host_claim)];
	} u;
	static struct vm_tree out;
	struct vm_limits limits = *machine;
	struct vm_refusal why = {0};

	limits.claims = &u.claims;
	for (uint32_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
		u.claims.state = HOST_CLAIMS_UNKNOWN;
		u.claims.room = rooms[i];
		assert_int_equal(vm_config_parse(tree, fdt_totalsize(tree), &limits, &out, &why),
		                 good);
		if (!good) {
			assert_int_equal(why.code, expected_why->code);
			assert_string_equal(why.node, expected_why->node);
			assert_string_equal(why.reason, expected_why->reason);
			continue;
		}
		for (uint32_t n = 0; n < out.n_vms; n++)
			assert_memory_equal(out.vms[n].devices, expected->vms[n].devices,
			                    out.vms[n].n_devices * sizeof(out.vms[n].devices[0]));
	}
}

static bool parse(const struct vm_limits *machine, const void *tree, struct vm_tree *out,
                  struct vm_refusal *why)
{
	struct vm_limits limits = *machine;
	bool good;

	limits.host_tree = test_host;
	good = vm_config_parse(tree, fdt_totalsize(tree), &limits, out, why);
	check_promises(good, &limits, out, why, tree, fdt_totalsize(tree));
	if (test_host)
		parse_with_claims(&limits, tree, out, good, why);
	return good;
}

static _Alignas(8) uint8_t buffer[TREE_BUFFER];
static bool seen[VM_REFUSAL_CODES];

static void ok(int error)
{
	assert_int_equal(error, 0);
}

static void write_image(void *t, const char *name, const void *data, uint32_t size,
                        uint32_t phandle)
{
	ok(fdt_begin_node(t, name));
	ok(fdt_property(t, "data", data, (int)size));
	ok(fdt_property_u32(t, "phandle", phandle));
	ok(fdt_end_node(t));
}

static void write_vcpu(void *t, const char *name, const uint32_t *harts, unsigned int n)
{
	fdt32_t cells[8];

	for (unsigned int i = 0; i < n; i++)
		cells[i] = cpu_to_fdt32(harts[i]);
	ok(fdt_begin_node(t, name));
	ok(fdt_property(t, "harts", cells, (int)(n * sizeof(cells[0]))));
	ok(fdt_end_node(t));
}

static void write_images(void *t)
{
	static const uint8_t zero[8192];
	uint8_t linux_image[LINUX_SIZE] = {0};

	/* Little-endian, by hand: text_offset, image_size, flags, magic2. */
	linux_image[10] = LINUX_TEXT_OFFSET >> 16;
	linux_image[18] = LINUX_SPAN >> 16;
	memcpy(&linux_image[56], "RSC\x05", 4);
	ok(fdt_begin_node(t, "images"));
	write_image(t, "raw", zero, RAW_SIZE, RAW_PHANDLE);
	write_image(t, "linux", linux_image, LINUX_SIZE, LINUX_HANDLE);
	write_image(t, "cpio", zero, CPIO_SIZE, CPIO_PHANDLE);
	ok(fdt_end_node(t));
}

static void write_vms(void *t)
{
	ok(fdt_begin_node(t, "vms"));
	ok(fdt_begin_node(t, "alpha"));
	ok(fdt_property_u64(t, "memory", 64 << 20));
	ok(fdt_property_u32(t, "kernel", LINUX_HANDLE));
	ok(fdt_property_u32(t, "initrd", CPIO_PHANDLE));
	ok(fdt_property_string(t, "bootargs", "console=ttyS0 quiet"));
	write_vcpu(t, "vcpu0", (const uint32_t[]){0, 63}, 2);
	write_vcpu(t, "vcpu1", (const uint32_t[]){2}, 1);
	ok(fdt_end_node(t));
	ok(fdt_begin_node(t, "beta"));
	ok(fdt_property_u64(t, "memory", 2 << 20));
	ok(fdt_property_u32(t, "kernel", RAW_PHANDLE));
	write_vcpu(t, "vcpu0", (const uint32_t[]){0}, 1);
	ok(fdt_end_node(t));
	ok(fdt_end_node(t));
}

void *good_tree(void)
{
	void *t = buffer;

	ok(fdt_create(t, sizeof(buffer)));
	ok(fdt_finish_reservemap(t));
	ok(fdt_begin_node(t, ""));
	ok(fdt_property_string(t, "compatible", "tally,vm-tree-1"));
	write_images(t);
	write_vms(t);
	ok(fdt_end_node(t));
	ok(fdt_finish(t));
	ok(fdt_open_into(t, t, sizeof(buffer)));
	return t;
}

int node(void *tree, const char *path)
{
	int offset = fdt_path_offset(tree, path);

	if (offset == -FDT_ERR_NOTFOUND) {
		const char *name = strrchr(path, '/') + 1;
		int parent = name - path == 1
		                 ? 0
		                 : fdt_path_offset_namelen(tree, path, (int)(name - path) - 1);

		assert_true(parent >= 0);
		offset = fdt_add_subnode(tree, parent, name);
	}
	assert_true(offset >= 0);
	return offset;
}

void set_u32(void *tree, const char *path, const char *name, uint32_t value)
{
	ok(fdt_setprop_u32(tree, node(tree, path), name, value));
}

void set_u64(void *tree, const char *path, const char *name, uint64_t value)
{
	ok(fdt_setprop_u64(tree, node(tree, path), name, value));
}

void set_bytes(void *tree, const char *path, const char *name, const void *data, int size)
{
	ok(fdt_setprop(tree, node(tree, path), name, data, size));
}

void set_string(void *tree, const char *path, const char *name, const char *value)
{
	ok(fdt_setprop_string(tree, node(tree, path), name, value));
}

void delete_prop(void *tree, const char *path, const char *name)
{
	ok(fdt_delprop(tree, fdt_path_offset(tree, path), name));
}

void delete_node(void *tree, const char *path)
{
	ok(fdt_del_node(tree, fdt_path_offset(tree, path)));
}

void set_image_field(void *tree, const char *field, uint64_t value)
{
	uint8_t *header = fdt_getprop_w(tree, node(tree, "/images/linux"), "data", NULL);
	size_t at = field[0] == 't' ? 8 : field[0] == 'i' ? 16 : 24;

	for (unsigned int i = 0; i < 8; i++)
		header[at + i] = (uint8_t)(value >> 8 * i);
}

const struct vm_tree *accepted_on(const struct vm_limits *limits, const void *tree)
{
	static struct vm_tree out;
	struct vm_refusal why;
	char text[VM_REFUSAL_TEXT] = "";
	bool good = parse(limits, tree, &out, &why);

	if (!good)
		vm_refusal_text(&why, text, sizeof(text));
	assert_string_equal(text, "");
	return &out;
}

const struct vm_tree *accepted(const void *tree)
{
	return accepted_on(&test_limits, tree);
}

static char lines[VM_REFUSALS_SHOWN + 2][VM_REFUSAL_TEXT];
static uint32_t n_lines;

static void note(const char *line)
{
	assert_true(n_lines < VM_REFUSALS_SHOWN + 1);
	snprintf(lines[n_lines++], VM_REFUSAL_TEXT, "%s", line);
}

uint32_t all_refused_on(const struct vm_limits *machine, const void *tree,
                        char (**them)[VM_REFUSAL_TEXT])
{
	static struct vm_tree out;
	struct vm_limits limits = *machine;
	uint32_t size = fdt_totalsize(tree);
	void *copy = malloc(size);

	assert_non_null(copy);
	memcpy(copy, tree, size);
	limits.host_tree = test_host;
	n_lines = 0;
	vm_config_refusals(copy, size, &limits, &out, note);
	free(copy);
	*them = lines;
	return n_lines;
}

/* A tree with one mistake has one refusal: what follows from it is not told. */
static void refused_alone(const struct vm_limits *limits, const void *tree, const char *text)
{
	char(*them)[VM_REFUSAL_TEXT];
	uint32_t n = all_refused_on(limits, tree, &them);

	for (uint32_t i = 1; i < n; i++)
		print_error("after \"%s\": \"%s\"\n", text, them[i]);
	assert_string_equal(them[0], text);
	assert_int_equal(n, 1);
}

void refused_first_on(const struct vm_limits *limits, const void *tree, enum vm_refusal_code code,
                      const char *text)
{
	static struct vm_tree out;
	struct vm_refusal why;
	char got[VM_REFUSAL_TEXT] = "accepted";
	bool good = parse(limits, tree, &out, &why);

	if (!good)
		vm_refusal_text(&why, got, sizeof(got));
	assert_string_equal(got, text);
	assert_int_equal(why.code, code);
	seen[code] = true;
}

void refused_first(const void *tree, enum vm_refusal_code code, const char *text)
{
	refused_first_on(&test_limits, tree, code, text);
}

void refused_on(const struct vm_limits *limits, const void *tree, enum vm_refusal_code code,
                const char *text)
{
	refused_first_on(limits, tree, code, text);
	refused_alone(limits, tree, text);
}

void refused(const void *tree, enum vm_refusal_code code, const char *text)
{
	refused_on(&test_limits, tree, code, text);
}

bool was_refused(enum vm_refusal_code code)
{
	return seen[code];
}

/* Only printable ASCII, with a NUL inside the buffer. */
static void check_text(const char *s, size_t size)
{
	size_t length = 0;

	while (length < size && s[length]) {
		assert_in_range((unsigned char)s[length], ' ', '~');
		length++;
	}
	assert_true(length < size);
}

static void check_inside(const void *data, uint64_t size, const void *blob, uint64_t blob_size)
{
	uintptr_t from = (uintptr_t)data - (uintptr_t)blob;

	assert_true(from <= blob_size && size <= blob_size - from);
}

/* In one bank of RAM, and in what is neither Tally's, nor the VM tree's, nor kept. */
static bool is_for_vms(const struct vm_limits *limits, uint64_t base, uint64_t size)
{
	const struct vm_range *kept = &limits->guests.kept, *tree = &limits->guests.tree;
	struct host_reserved found;
	bool inside = false;

	for (uint32_t i = 0; i < limits->ram.n; i++)
		inside |= base >= limits->ram.banks[i].from &&
		          base + size <= limits->ram.banks[i].to && base + size > base;
	return inside && (base + size <= kept->from || base >= kept->to) &&
	       (base + size <= tree->from || base >= tree->to) &&
	       !host_reserved_find(limits->host_tree, base, size, &found);
}

/* In order and apart, each where VMs may have memory; without memory-at it is one piece. */
static void check_memory(const struct vm_limits *limits, const struct vm_config *vm)
{
	uint64_t sum = 0, end = 0;
	uint32_t n = 0;

	for (struct vm_piece piece; (piece = vm_piece(vm, n)).size; n++) {
		assert_true(piece.host >= end + (n ? 2 << 20 : 0));
		assert_true(piece.host % (2 << 20) == 0 && piece.size % (2 << 20) == 0);
		assert_true(is_for_vms(limits, piece.host, piece.size));
		assert_true(piece.guest == (vm->n_pieces ? piece.host : 0x80000000));
		sum += piece.size;
		end = piece.host + piece.size;
	}
	assert_true(n == (vm->n_pieces ? vm->n_pieces : 1) && n <= 4);
	assert_true(sum == vm->memory && vm_piece(vm, n).size == 0);
	assert_true(vm->ram_base == vm_piece(vm, 0).guest && vm->host_base == vm_piece(vm, 0).host);
	assert_true(vm->first_size == vm_piece(vm, 0).size);
}

static void check_apart(const struct vm_config *a, const struct vm_config *b)
{
	for (uint32_t i = 0; vm_piece(a, i).size; i++) {
		for (uint32_t k = 0; vm_piece(b, k).size; k++) {
			struct vm_piece x = vm_piece(a, i), y = vm_piece(b, k);

			assert_true(x.host + x.size <= y.host || y.host + y.size <= x.host);
		}
	}
}

/* Registers that the VM has nothing else at, and sources of its own interrupt controller. */
static void check_device(const struct vm_config *vm, const struct vm_device *d)
{
	for (uint32_t i = 0; i < d->n_regions; i++) {
		uint64_t base = d->regions[i].base, size = d->regions[i].size;

		assert_true(size > 0 && base % 4096 == 0 && size % 4096 == 0);
		assert_true(base < 1ULL << 41 && size <= (1ULL << 41) - base);
		assert_true(vm->aia || base + size <= 0xc000000 || base >= 0xc400000);
		assert_true(!vm->aia || base + size <= 0xd000000 || base >= 0xd004000);
		assert_true(!vm->aia || base + size <= 0x28000000 || base >= 0x28008000);
		assert_true(!vm->console || base + size <= 0x10000000 || base >= 0x10001000);
		for (uint32_t k = 0; vm_piece(vm, k).size; k++) {
			struct vm_piece piece = vm_piece(vm, k);

			assert_true(base + size <= piece.guest || base >= piece.guest + piece.size);
		}
	}
	for (uint32_t i = 0; i < d->n_irqs; i++) {
		assert_in_range(d->irqs[i].source, 1, 1023);
		assert_in_range(d->irqs[i].guest, 1, 31);
		assert_true(d->irqs[i].guest != 10);
		assert_true(d->irqs[i].edge == (d->irqs[i].mode == VM_IRQ_RISING ||
		                                d->irqs[i].mode == VM_IRQ_FALLING));
	}
}

/* In a machine "virt", a source below 12 is that of a device where virt has one; others share it.
 */
static void check_virt_source(const struct vm_config *vm, uint32_t source)
{
	uint64_t base = source == 11 ? 0x101000 : 0x10000000 + 0x1000 * source;
	bool there = false;

	assert_true(source <= 8 || source == 11);
	for (uint32_t i = 0; i < vm->n_devices; i++)
		there |= vm->devices[i].n_regions && vm->devices[i].regions[0].base == base;
	assert_true(there);
}

static void check_devices(const struct vm_limits *limits, const struct vm_config *vm,
                          const void *blob, uint64_t size)
{
	uint64_t used = 1ULL << GUEST_UART_IRQ, own = 0;

	assert_in_range(vm->n_devices, 0, 16);
	for (uint32_t i = 0; i < vm->n_devices; i++) {
		const struct vm_device *d = &vm->devices[i];

		check_inside(d->name, strlen(d->name) + 1, blob, size);
		check_inside(d->host, strlen(d->host) + 1, blob, size);
		assert_in_range(strlen(d->name), 1, 31);
		if (d->pci.given) {
			assert_true(d->dma == VM_DMA_ISOLATED && !d->dma_unchecked);
			assert_true(d->pci.by_id || d->pci.name <= 0xffff);
			assert_true(d->n_regions == 0 && d->n_irqs == 0);
			continue;
		}
		assert_true(d->dma == VM_DMA_NONE || (d->dma == VM_DMA_TRUSTED && vm->n_pieces));
		assert_true(d->dma == VM_DMA_NONE || !d->dma_unchecked);
		assert_in_range(d->n_regions, limits->host_tree ? 1 : 0, 4);
		assert_in_range(d->n_irqs, 0, 4);
		assert_true(limits->host_tree || d->n_regions + d->n_irqs == 0);
		check_device(vm, d);
		for (uint32_t k = 0; k < d->n_irqs; k++) {
			used |= 1ULL << d->irqs[k].guest;
			own |= d->host_numbers ? 0 : 1ULL << d->irqs[k].guest;
			if (d->host_numbers)
				assert_int_equal(d->irqs[k].guest, d->irqs[k].source);
			else if (vm->virt && d->irqs[k].guest < 12)
				check_virt_source(vm, d->irqs[k].guest);
		}
	}
	/* The VM's own are from 1 upwards what is free; in a machine "virt", from 12. */
	for (uint32_t n = vm->virt ? 12 : 1; own >> n; n++)
		assert_true(used >> n & 1);
	assert_true(!(used >> vm->rtc_source & 1));
	assert_true(!vm->rtc_source || vm->rtc);
	assert_true(!vm->key_source == (vm->shutdown != VM_SHUTDOWN_KEY));
	for (uint32_t i = 0; i < vm->n_ports; i++) {
		uint32_t source = vm->ports[i].source;

		assert_in_range(source, 1, GUEST_PLIC_SOURCES);
		assert_true(!vm->virt ||
		            (source <= GUEST_SLOTS && vm_empty_slots(vm) >> (source - 1) & 1));
		assert_true(!(used >> source & 1) && source != vm->rtc_source &&
		            source != vm->key_source);
		used |= 1ULL << source;
		assert_false(vm->ports[i].mac[0] & 1);
	}
	assert_true(!vm->key_source ||
	            (!(used >> vm->key_source & 1) && vm->key_source != vm->rtc_source));
}

/* Each vcpu with an interrupt file keeps its hart, which has so many. */
static void check_files(const struct vm_limits *limits, const struct vm_config *vm)
{
	for (uint32_t i = 0; i < vm->n_vcpus && vm->aia; i++) {
		uint32_t hart = vm->vcpus[i].first_hart;

		assert_true(vm->vcpus[i].harts == 1ULL << hart);
		if (limits->guest_files)
			assert_in_range(limits->guest_files(hart), 1, 7);
	}
}

static bool apart(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
	return a + a_size <= b || b + b_size <= a;
}

/* Where a VM has nothing else. */
static void check_place(const struct vm_tree *tree, const struct vm_config *vm, uint32_t n)
{
	uint64_t at = vm->shared[n].at, size = tree->shared[vm->shared[n].number].size;

	assert_true(at % (2 << 20) == 0 && at < 1ULL << 41 && size <= (1ULL << 41) - at);
	assert_true(vm->aia || apart(at, size, 0xc000000, 0x400000));
	assert_true(!vm->aia || apart(at, size, 0xd000000, 0x4000));
	assert_true(!vm->aia || apart(at, size, 0x28000000, 0x8000));
	assert_true(!vm->console || apart(at, size, 0x10000000, 0x1000));
	for (uint32_t i = 0; vm_piece(vm, i).size; i++)
		assert_true(apart(at, size, vm_piece(vm, i).guest, vm_piece(vm, i).size));
	for (uint32_t i = 0; i < vm->n_devices; i++) {
		assert_true(!vm->devices[i].pci.given || apart(at, size, 0x30000000, 0x100000));
		for (uint32_t k = 0; k < vm->devices[i].n_regions; k++)
			assert_true(apart(at, size, vm->devices[i].regions[k].base,
			                  vm->devices[i].regions[k].size));
	}
	for (uint32_t i = 0; i < n; i++) {
		assert_true(vm->shared[i].number < vm->shared[n].number);
		assert_true(
		    apart(at, size, vm->shared[i].at, tree->shared[vm->shared[i].number].size));
	}
}

/* Whole pages of memory that nobody else has, and that somebody may write. */
static void check_shared(const struct vm_limits *limits, const struct vm_tree *tree)
{
	uint32_t writers[VM_MAX_SHARED] = {0};

	assert_in_range(tree->n_shared, 0, 8);
	for (uint32_t i = 0; i < tree->n_vms; i++) {
		for (uint32_t k = 0; k < tree->vms[i].n_shared; k++) {
			assert_in_range(tree->vms[i].shared[k].number, 0, tree->n_shared - 1);
			writers[tree->vms[i].shared[k].number] += tree->vms[i].shared[k].writes;
			check_place(tree, &tree->vms[i], k);
		}
	}
	for (uint32_t i = 0; i < tree->n_shared; i++) {
		const struct vm_shared *s = &tree->shared[i];
		uint64_t room = vm_shared_room(s);

		check_text(s->name, sizeof(s->name));
		assert_in_range(strlen(s->name), 1, 15);
		assert_true(writers[i] > 0 && s->size > 0 && s->size % 4096 == 0);
		assert_true(room >= s->size && room - s->size < 2 << 20);
		assert_true(s->host_base % (2 << 20) == 0);
		assert_true(is_for_vms(limits, s->host_base, room));
		for (uint32_t k = 0; k < i; k++)
			assert_true(apart(s->host_base, room, tree->shared[k].host_base,
			                  vm_shared_room(&tree->shared[k])) &&
			            strcmp(s->name, tree->shared[k].name) != 0);
		for (uint32_t k = 0; k < tree->n_vms; k++)
			for (uint32_t n = 0; vm_piece(&tree->vms[k], n).size; n++)
				assert_true(apart(s->host_base, room,
				                  vm_piece(&tree->vms[k], n).host,
				                  vm_piece(&tree->vms[k], n).size));
	}
}

/* No hart has more vcpus with a file than files, and no function is given twice. */
static void check_together(const struct vm_limits *limits, const struct vm_tree *tree)
{
	const struct vm_device *functions[VM_MAX_FUNCTIONS];
	uint32_t files[64] = {0}, n = 0;

	for (uint32_t i = 0; i < tree->n_vms; i++) {
		const struct vm_config *vm = &tree->vms[i];

		for (uint32_t k = 0; k < vm->n_vcpus && vm->aia; k++)
			files[vm->vcpus[k].first_hart]++;
		for (uint32_t k = 0; k < vm->n_devices; k++) {
			const struct vm_device *d = &vm->devices[k];

			if (!d->pci.given)
				continue;
			assert_in_range(n, 0, VM_MAX_FUNCTIONS - 1);
			for (uint32_t j = 0; j < n; j++)
				assert_true(functions[j]->pci.by_id != d->pci.by_id ||
				            functions[j]->pci.name != d->pci.name);
			functions[n++] = d;
		}
	}
	check_shared(limits, tree);
	assert_int_equal(n, tree->n_functions);
	for (uint32_t hart = 0; hart < limits->harts.n && limits->guest_files; hart++)
		assert_true(files[hart] <= limits->guest_files(hart));
}

static void check_vm(const struct vm_limits *limits, const struct vm_config *vm, const void *blob,
                     uint64_t size)
{
	uint64_t end = vm->kernel_offset + vm->kernel_span;

	check_text(vm->name, sizeof(vm->name));
	assert_in_range(strlen(vm->name), 1, 15);
	check_memory(limits, vm);
	assert_in_range(vm->n_vcpus, 1, 8);
	check_files(limits, vm);
	for (uint32_t i = 0; i < vm->n_vcpus; i++) {
		assert_true(vm->vcpus[i].harts != 0);
		assert_true(limits->harts.n == 64 || !(vm->vcpus[i].harts >> limits->harts.n));
		assert_true(vm->vcpus[i].harts >> vm->vcpus[i].first_hart & 1);
	}
	assert_true(vm->kernel.data && vm->kernel.size > 0);
	check_inside(vm->kernel.data, vm->kernel.size, blob, size);
	assert_true(vm->kernel_offset % 4096 == 0);
	assert_true(vm->kernel_span >= vm->kernel.size && end >= vm->kernel_span);
	assert_true(vm->dtb_offset == vm->first_size - 65536);
	assert_true(end <= vm->dtb_offset);
	if (vm->initrd.data) {
		check_inside(vm->initrd.data, vm->initrd.size, blob, size);
		assert_true(vm->initrd.size > 0 && vm->initrd_offset % 4096 == 0);
		assert_true(vm->initrd_offset >= end);
		assert_true(vm->initrd_offset + vm->initrd.size <= vm->dtb_offset);
	}
	if (vm->bootargs) {
		check_inside(vm->bootargs, 1, blob, size);
		assert_true(strlen(vm->bootargs) <= 1023);
		check_inside(vm->bootargs, strlen(vm->bootargs) + 1, blob, size);
	}
	assert_in_range(vm->restart, VM_RESTART_NEVER, VM_RESTART_ALWAYS);
	assert_in_range(vm->restart_limit, 0, 1000);
	assert_true((vm->pmu_counters & ~0xfffffffdULL) == 0);
	assert_true(!limits->hctrs || (vm->pmu_counters & ~limits->hctrs) == 0);
	assert_true(vm->pmu || vm->pmu_counters == 0);
	assert_true(vm->pmu || (!vm->pmu_freeze_vcpu && !vm->pmu_idle_cycles));
	assert_true(vm->pmu_events_given || vm->n_pmu_events == 0);
	assert_in_range(vm->n_pmu_events, 0, 64);
	for (uint32_t i = 0; i < vm->n_pmu_events; i++)
		assert_true(vm->pmu_events[i] != 0 && vm->pmu_events[i] <= 0xfffff);
	assert_true(vm->pmu_events_given || vm->n_pmu_raw_events == 0);
	assert_in_range(vm->n_pmu_raw_events, 0, 64);
	check_devices(limits, vm, blob, size);
}

/* A selector with one event of each run, and what the table says of the standard events. */
static void check_selectors(const struct selectors *s)
{
	uint64_t operators = 0;

	assert_in_range(strlen(s->core), 1, 15);
	for (uint32_t i = 0; i < s->n_joins; i++)
		operators |= (uint64_t)s->operators[0] << s->joins[i].low;
	for (uint32_t i = 0; i < s->n_runs; i++) {
		const struct selector_run *run = &s->runs[i];
		uint64_t event =
		    s->numbers ? (uint64_t)run->last << s->fields[0].low : UINT64_C(1) << run->last;
		uint64_t rest = s->numbers ? run->base & ~selector_bits(&s->fields[0]) : run->base;

		assert_true(run->hctrs != 0 && (run->hctrs & 2) == 0);
		assert_int_equal(selector_hctrs(s, rest | event | operators), run->hctrs);
		assert_int_equal(selector_hctrs(s, run->base | operators), 0);
	}
	for (uint32_t i = 0; i < s->n_standard; i++) {
		const struct selector_standard *event = &s->standard[i];

		assert_ptr_equal(selector_of_standard(s, event->event_idx), event);
		assert_true(event->hctrs != 0);
		assert_true(event->selector == 0 || selector_hctrs(s, event->selector) != 0);
	}
}

void check_promises(bool good, const struct vm_limits *limits, const struct vm_tree *tree,
                    const struct vm_refusal *why, const void *blob, uint64_t size)
{
	uint32_t vcpus = 0;
	char text[VM_REFUSAL_TEXT];

	if (!good) {
		assert_in_range(why->code, VM_ACCEPTED + 1, VM_REFUSAL_CODES - 1);
		check_text(why->node, sizeof(why->node));
		check_text(why->property, sizeof(why->property));
		check_text(why->reason, sizeof(why->reason));
		assert_true(why->node[0] && why->reason[0]);
		vm_refusal_text(why, text, sizeof(text));
		assert_true(strlen(text) >= strlen(why->node) + strlen(why->reason) + 2);
		return;
	}
	assert_in_range(tree->n_vms, 1, 16);
	if (tree->has_selectors)
		check_selectors(&tree->selectors);
	for (uint32_t i = 0; i < tree->n_vms; i++) {
		check_vm(limits, &tree->vms[i], blob, size);
		vcpus += tree->vms[i].n_vcpus;
		for (uint32_t j = 0; j < i; j++) {
			assert_string_not_equal(tree->vms[i].name, tree->vms[j].name);
			check_apart(&tree->vms[i], &tree->vms[j]);
		}
	}
	assert_true(vcpus <= 64);
	check_together(limits, tree);
}
