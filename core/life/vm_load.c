/* SPDX-License-Identifier: Apache-2.0 */
#include "core/life/vm_load.h"

#include <string.h>

#include "arch/riscv/hart/cbo.h"
#include "arch/riscv/hart/isa.h"
#include "core/hart/pcpu.h"
#include "core/life/seed.h"
#include "core/tree/vm_memory.h"

/* A slice takes at most some 3,500 instructions; one that clears with Zicboz takes more of the
 * memory's time. */
#define CLEAR_SLICE       KIB(16)
#define CLEAR_BLOCK_SLICE KIB(96)
#define LOAD_SLICE        KIB(4) /* twice as much of an image that is aligned to 8 bytes */

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void vm_load_begin(struct vm *vm)
{
	vm->life.step = 0;
	vm->life.done = 0;
}

/* The seed is only in the guest's own copy of its device tree, so it ends with this life. */
static void put_seed(struct vm *vm)
{
	uint8_t *dtb = (uint8_t *)vm->memory.a + vm->config->dtb_offset;

	if (vm->seed_at)
		seed_of_life(vm->index, vm->life.loaded++, dtb + vm->seed_at);
}

bool vm_load_slice(struct vm *vm)
{
	const struct vm_config *config = vm->config;
	const struct {
		struct vm_image image;
		uint64_t offset;
	} pieces[] = {{config->kernel, config->kernel_offset},
	              {config->initrd, config->initrd_offset},
	              {vm->dtb, config->dtb_offset}};
	struct vm_life *life = &vm->life;
	const struct vm_image *image;
	uint64_t n;

	if (life->step > ARRAY_SIZE(pieces))
		return false;
	if (life->step == ARRAY_SIZE(pieces)) {
		life->step++;
		put_seed(vm);
		return true;
	}
	image = &pieces[life->step].image;
	n = (uintptr_t)image->data & 7 ? LOAD_SLICE : 2 * LOAD_SLICE;
	n = min(image->size - life->done, n);
	if (n) /* without an initrd data is NULL, which memcpy() forbids */
		memcpy((uint8_t *)vm->memory.a + pieces[life->step].offset + life->done,
		       (const uint8_t *)image->data + life->done, n);
	life->done += n;
	if (life->done < image->size)
		return true;
	life->done = 0;
	life->step++;
	return true;
}

/* Returns the size of the blocks that this hart clears by an instruction, or 0 if it has none. */
static uint64_t block_size(void)
{
	const struct pcpu *pcpu = this_pcpu();

	return pcpu->isa & BIT(ISA_ZICBOZ) ? pcpu->blocks.zicboz : 0;
}

void vm_clear_range(uint64_t from, uint64_t size)
{
	cbo_clear((void *)from, size, block_size());
}

bool vm_clear_slice(struct vm *vm)
{
	struct vm_life *life = &vm->life;
	struct vm_piece piece = vm_piece(vm->config, life->step);
	/* With smaller blocks a slice would take too many instructions. */
	uint64_t slice = block_size() >= 64 ? CLEAR_BLOCK_SLICE : CLEAR_SLICE;
	uint64_t n = min(piece.size - life->done, slice);

	vm_clear_range(piece.host + life->done, n);
	life->done += n;
	if (life->done < piece.size)
		return true;
	life->done = 0;
	return vm_piece(vm->config, ++life->step).size;
}
