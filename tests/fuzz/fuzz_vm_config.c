/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz_vm_config.h"

#include "tests/host/vm_tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct vm_tree tree;
	struct vm_refusal why;
	bool accepted = vm_config_parse(data, size, &test_limits, &tree, &why);

	check_promises(accepted, &test_limits, &tree, &why, data, size);
	return 0;
}
