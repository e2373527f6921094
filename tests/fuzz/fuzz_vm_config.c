/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz_vm_config.h"

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
	return 0;
}
