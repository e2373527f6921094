/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_memory.h"

#include "core/host/host_reserved.h"
#include "core/lib/types.h"

struct vm_piece vm_piece(const struct vm_config *vm, uint32_t number)
{
	if (number < vm->n_pieces)
		return (struct vm_piece){vm->pieces[number].base, vm->pieces[number].base,
		                         vm->pieces[number].size};
	if (!vm->n_pieces && number == 0)
		return (struct vm_piece){vm->ram_base, vm->host_base, vm->memory};
	return (struct vm_piece){0};
}

struct vm_piece vm_piece_at(const struct vm_config *vm, uint64_t base, uint64_t size)
{
	struct vm_piece piece = vm_piece(vm, 0);

	for (uint32_t i = 1; piece.size && !vm_ranges_overlap(base, size, piece.guest, piece.size);
	     i++)
		piece = vm_piece(vm, i);
	return piece;
}

const struct vm_device *vm_device_at(const struct vm_config *vm, uint64_t base, uint64_t size,
                                     uint64_t *at)
{
	for (const struct vm_device *d = vm->devices; d < vm->devices + vm->n_devices; d++) {
		for (uint32_t i = 0; i < d->n_regions; i++) {
			*at = d->regions[i].base;
			if (vm_ranges_overlap(base, size, *at, d->regions[i].size))
				return d;
		}
	}
	return NULL;
}

uint64_t vm_guard(const struct vm_config *vm)
{
	for (uint32_t i = 0; i < vm->n_devices; i++) {
		if (vm->devices[i].pci.given)
			return VM_MEMORY_STEP;
	}
	return 0;
}

uint64_t vm_shared_room(const struct vm_shared *shared)
{
	return ALIGN_UP(shared->size, VM_MEMORY_STEP);
}

/* Like vm_guard(), for shared memory: needed if a VM that has it has functions. */
static uint64_t shared_guard(const struct vm_tree *tree, uint32_t number)
{
	for (uint32_t i = 0; i < tree->n_vms; i++) {
		const struct vm_config *vm = &tree->vms[i];

		for (uint32_t k = 0; k < vm->n_shared; k++) {
			if (vm->shared[k].number == number && vm_guard(vm))
				return vm_guard(vm);
		}
	}
	return 0;
}

/* The memory for VMs, and the state of placing them in it. */
struct room {
	const struct vm_tree *tree;
	const struct vm_limits *limits;
	uint32_t placed; /* VMs below this index have their memory */
	uint32_t shared; /* shared memory below this index has its memory */
	uint64_t guard;  /* bytes after the piece being placed that must stay free */
};

/* Returns `from`, or where the search continues after a piece that overlaps and that needs `guard`
 * free bytes after it. */
static uint64_t taken_by(const struct room *room, uint64_t from, uint64_t size,
                         const struct vm_range *taken, uint64_t guard)
{
	uint64_t bytes = taken->to - taken->from;

	if (vm_ranges_overlap(from, size + room->guard, taken->from, bytes) ||
	    vm_ranges_overlap(from, size, taken->from, bytes + guard))
		return taken->to + guard;
	return from;
}

/* Returns where to continue the search: after pieces that overlap [from, from + size), and those
 * that overlap as much from there on. 0 if there is none. */
static uint64_t taken_until(const struct room *room, uint64_t from, uint64_t size)
{
	const struct vm_tree *tree = room->tree;
	struct host_reserved kept;
	uint64_t at = from, end;

	for (uint32_t i = 0; i < tree->n_vms; i++) {
		const struct vm_config *vm = &tree->vms[i];

		for (uint32_t k = 0; vm->n_pieces || i < room->placed; k++) {
			struct vm_piece piece = vm_piece(vm, k);
			struct vm_range taken = {piece.host, piece.host + piece.size};

			if (!piece.size)
				break;
			at = taken_by(room, at, size, &taken, vm_guard(vm));
		}
	}
	for (uint32_t i = 0; i < room->shared; i++) {
		const struct vm_shared *shared = &tree->shared[i];
		struct vm_range taken = {shared->host_base,
		                         shared->host_base + vm_shared_room(shared)};

		at = taken_by(room, at, size, &taken, shared_guard(tree, i));
	}
	/* Last, because it costs most. */
	if (at != from)
		return at;
	if (!host_reserved_find(room->limits->host_tree, from, size + room->guard, &kept))
		return 0;
	/* The last step of the address space has no end: it wraps to 0. */
	end = ALIGN_UP(kept.range.to, VM_MEMORY_STEP);
	return end ? end : UINT64_MAX;
}

/* Finds the lowest free *at with room for this size. Returns false if there is none. */
static bool find_free(const struct room *room, uint64_t size, uint64_t *at)
{
	const struct vm_guests *guests = &room->limits->guests;

	for (uint32_t i = 0; i < guests->n; i++) {
		uint64_t to = guests->ranges[i].to, next;

		/* Each iteration passes pieces, and none is passed twice. */
		for (*at = guests->ranges[i].from; *at <= to && size + room->guard <= to - *at;
		     *at = next) {
			next = taken_until(room, *at, size);
			if (!next)
				return true;
		}
	}
	return false;
}

/* Returns the size of the largest free piece, in bytes. */
static uint64_t largest_free(const struct room *room)
{
	uint64_t low = 0,
	         high = vm_ranges_sum(room->limits->guests.ranges, room->limits->guests.n) /
	                VM_MEMORY_STEP,
	         at;

	/* If one size fits, each smaller size fits. */
	while (low < high) {
		uint64_t steps = low + (high - low + 1) / 2;

		if (find_free(room, steps * VM_MEMORY_STEP, &at))
			low = steps;
		else
			high = steps - 1;
	}
	return low * VM_MEMORY_STEP;
}

/* Finds memory for a child of a node. Refuses its property if there is none. */
static bool place(const struct vm_node *n, const char *child, const char *property,
                  const struct room *room, uint64_t size, uint64_t *at)
{
	struct vm_node refused;

	if (find_free(room, size, at))
		return true;
	refused = vm_child(n, child);
	return vm_refuse(&refused, VM_REFUSED_MEMORY_ROOM, property,
	                 "no %lu MiB in one piece are left %s; at most %lu", size >> 20,
	                 n->limits->ram.n > 1 ? "in a bank of RAM"
	                                      : "beside the memory of the VMs, "
	                                        "/reserved-memory and the VM tree",
	                 largest_free(room) >> 20);
}

bool vm_place_memory(const struct vm_node *vms)
{
	for (uint32_t i = 0; i < vms->tree->n_vms; i++) {
		struct vm_config *vm = &vms->tree->vms[i];
		struct room room = {vms->tree, vms->limits, i, 0, vm_guard(vm)};

		if (!vm->n_pieces &&
		    !place(vms, vm->name, "memory", &room, vm->memory, &vm->host_base))
			return false;
	}
	return true;
}

bool vm_place_shared(const struct vm_node *n)
{
	for (uint32_t i = 0; i < n->tree->n_shared; i++) {
		struct vm_shared *shared = &n->tree->shared[i];
		struct room room = {n->tree, n->limits, n->tree->n_vms, i,
		                    shared_guard(n->tree, i)};

		if (!place(n, shared->name, "size", &room, vm_shared_room(shared),
		           &shared->host_base))
			return false;
	}
	return true;
}

uint64_t vm_largest_free(const struct vm_tree *tree, const struct vm_limits *limits)
{
	struct room room = {tree, limits, tree->n_vms, tree->n_shared, 0};

	return largest_free(&room);
}

static void end_at(uint64_t from, uint64_t *to, uint64_t taken, uint64_t taken_to)
{
	if (taken_to > from && taken < *to)
		*to = taken > from ? ALIGN_DOWN(taken, VM_MEMORY_STEP) : from;
}

/* Returns how many bytes from an address on are free. */
static uint64_t free_from(const struct room *room, uint64_t from, uint64_t to)
{
	const struct vm_tree *tree = room->tree;
	struct host_reserved kept;

	for (uint32_t i = 0; i < tree->n_vms; i++) {
		const struct vm_config *vm = &tree->vms[i];
		struct vm_piece piece;

		for (uint32_t k = 0; (piece = vm_piece(vm, k)).size; k++)
			end_at(from, &to, piece.host, piece.host + piece.size + vm_guard(vm));
	}
	for (uint32_t i = 0; i < tree->n_shared; i++)
		end_at(from, &to, tree->shared[i].host_base,
		       tree->shared[i].host_base + vm_shared_room(&tree->shared[i]) +
		           shared_guard(tree, i));
	/* Each iteration reduces `to`. */
	while (from < to && host_reserved_find(room->limits->host_tree, from, to - from, &kept))
		end_at(from, &to, kept.range.from, kept.range.to);
	return to - from;
}

/* Returns how many bytes of a range for VMs are free. */
static uint64_t free_in(const struct room *room, const struct vm_range *range)
{
	uint64_t sum = 0, size;

	/* Each iteration passes a free range, or a piece. */
	for (uint64_t at = range->from; at < range->to;) {
		size = free_from(room, at, range->to);
		sum += size;
		at = size ? at + size : taken_until(room, at, VM_MEMORY_STEP);
	}
	return sum;
}

static bool lies_in(const struct vm_range *bank, uint64_t at)
{
	return at >= bank->from && at < bank->to;
}

struct vm_bank_use vm_bank_use(const struct vm_tree *tree, const struct vm_limits *limits,
                               const struct vm_range *bank)
{
	struct room room = {tree, limits, tree->n_vms, tree->n_shared, 0};
	const struct vm_guests *guests = &limits->guests;
	struct vm_bank_use use = {.tally = lies_in(bank, limits->ram.tally)};

	for (uint32_t i = 0; i < tree->n_vms; i++) {
		bool here = false;

		for (uint32_t k = 0; vm_piece(&tree->vms[i], k).size; k++)
			here |= lies_in(bank, vm_piece(&tree->vms[i], k).host);
		use.vms += here;
	}
	for (uint32_t i = 0; i < tree->n_shared; i++)
		use.shared += lies_in(bank, tree->shared[i].host_base);
	for (uint32_t i = 0; i < guests->n; i++) {
		if (lies_in(bank, guests->ranges[i].from))
			use.free += free_in(&room, &guests->ranges[i]);
	}
	return use;
}
