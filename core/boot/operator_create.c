/* SPDX-License-Identifier: Apache-2.0 */
#include "core/boot/steps.h"

#include "core/boot/page_alloc.h"
#include "core/io/operator_function.h"
#include "core/lib/text.h"
#include "core/log.h"
#include "core/operator/prompt_server.h"
#include "core/vcpu/vm.h"
#include "core/watch/samples.h"

static void map(struct vm *vm, uint64_t offset, void *memory, uint64_t size, bool writable)
{
	gstage_map_data(&vm->gstage, (gpa_t){GUEST_OPERATOR_MEMORY + offset},
	                (hpa_t){(uint64_t)memory}, size, writable, page_alloc);
}

/* A ring of samples for each hart. */
static void make_samples(struct vm *vm, struct operator_memory *m)
{
	uint32_t client = prompt_client(vm);

	samples_make_rings(client, OPERATOR_RING_BYTES / sizeof(uint64_t),
	                   vm->config->operator.samples_hz, page_alloc_array);
	for (uint32_t i = 0; i < n_pcpus; i++) {
		uint64_t *words = page_alloc(OPERATOR_RING_BYTES);

		map(vm, OPERATOR_RINGS_AT + i * OPERATOR_RING_BYTES, words, OPERATOR_RING_BYTES,
		    false);
		samples_set_ring(client, i, words, &m->samples_written[i].words,
		                 &m->samples_taken[i].words);
	}
}

/* It may not write what Tally writes there. Tally does not read that again, so nothing depends on
 * harts that set A and D there all the same. */
void operator_create(struct vm *vm)
{
	/* From each of these offsets to the next one, or to the end. */
	static const struct {
		uint32_t offset;
		bool writable;
	} parts[] = {{offsetof(struct operator_memory, tally), false},
	             {offsetof(struct operator_memory, guest), true},
	             {offsetof(struct operator_memory, answers), false},
	             {offsetof(struct operator_memory, samples_taken), true},
	             {sizeof(struct operator_memory), false}};
	struct operator_memory *memory;

	if (!operator_is(vm))
		return;
	memory = page_alloc(vm->config->operator.samples_hz
	                        ? OPERATOR_RINGS_AT
	                        : offsetof(struct operator_memory, samples_written));
	for (uint32_t i = 0; parts[i].offset < operator_bytes(vm); i++) {
		uint32_t end = parts[i + 1].offset;

		if (end > operator_bytes(vm))
			end = operator_bytes(vm);
		map(vm, parts[i].offset, (uint8_t *)memory + parts[i].offset, end - parts[i].offset,
		    parts[i].writable);
	}
	if (vm->config->operator.samples_hz)
		make_samples(vm, memory);
	operator_function_make(vm, memory, page_alloc_array);
}

/* "vm beta: operator "watch" of alpha beta, at most 100 requests a second, 1000 samples a second
 * and hart" */
void operator_report(const struct vm *vm)
{
	const struct vm_operator *o = &vm->config->operator;
	char names[(VM_NAME_MAX + 1) * VM_MAX_VMS + 1];
	char samples[sizeof(", 4294967295 samples a second and hart")];
	struct text text = text_begin(names, sizeof(names));
	struct text more = text_begin(samples, sizeof(samples));

	if (!operator_is(vm))
		return;
	for (uint32_t i = 0; i < n_vms; i++) {
		if (o->vms >> i & 1)
			text_add(&text, " %s", vms[i].config->name);
	}
	if (o->samples_hz)
		text_add(&more, ", %u samples a second and hart", o->samples_hz);
	log_line("vm %s: operator \"%s\" of%s, at most %u requests a second%s", vm->config->name,
	         o->access == VM_OPERATOR_CONTROL ? "control" : "watch", names, o->requests_hz,
	         samples);
}
