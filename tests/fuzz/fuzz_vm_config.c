/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz_vm_config.h"

#include <stdlib.h>
#include <string.h>

#include "core/tree/parse.h"
#include "core/tree/vm_refusals.h"
#include "tests/fuzz/guest_tree.h"
#include "tests/host/vm_tree.h"

/* Of all bytes: what is chosen by it is the same whenever an input runs again. */
static uint64_t sum_of(const uint8_t *data, size_t size)
{
	uint64_t sum = size;

	for (size_t i = 0; i < size; i++)
		sum = sum * 31 + data[i];
	return sum;
}

/* Guest interrupt files: two of each hart, and none of the last. */
static uint32_t guest_files(uint32_t hart)
{
	return hart == 63 ? 0 : 2;
}

static const struct vm_refusal *first;
static uint32_t n_told;

static void note(const char *line)
{
	char text[VM_REFUSAL_TEXT];

	vm_refusal_text(first, text, sizeof(text));
	if (!n_told++ && strcmp(line, text) != 0)
		abort();
}

/* All that is refused is found in a bounded time, and the first is what the parser has refused. */
static void check_refusals(const uint8_t *data, size_t size, const struct vm_limits *limits,
                           struct vm_tree *tree, const struct vm_refusal *why)
{
	uint8_t *copy = malloc(size + 1);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	first = why;
	n_told = 0;
	vm_config_refusals(copy, size, limits, tree, note);
	if (n_told < 1 || n_told > VM_REFUSALS_SHOWN + 1)
		abort();
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct vm_tree tree;
	struct vm_limits limits = test_limits;
	struct vm_refusal why;
	bool accepted;

	limits.guest_files = guest_files;
	accepted = vm_config_parse(data, size, &limits, &tree, &why);
	check_promises(accepted, &limits, &tree, &why, data, size);
	if (accepted)
		check_guest_trees(&tree, sum_of(data, size));
	else
		check_refusals(data, size, &limits, &tree, &why);
	return 0;
}
