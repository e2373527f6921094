# SPDX-License-Identifier: Apache-2.0
# The VM tree's parser on this machine: build/host/vm-check and what its unit test needs.
# Included by the top-level Makefile after tests/host/host.mk.
VM_TREE_SRC := $(addprefix core/config/,vm_config.c pmu_node.c vm_layout.c \
	vm_life_config.c vm_pmu_config.c vm_props.c \
	vm_refusal.c) core/lib/text.c core/lib/printf.c vpmu/selector.c
VM_TREE_TEST := tests/host/vm_tree.c $(VM_TREE_SRC)
HOST_SRC_vm_config := tests/host/test_vm_config.c $(VM_TREE_TEST)

HOST_TESTS += vm_refusals
HOST_SRC_vm_refusals := $(addprefix tests/host/,test_vm_refusals.c test_vm_pmu.c \
	test_vm_life.c test_pmu_node.c) $(VM_TREE_TEST)
HOST_LIBS_vm_refusals := -lfdt

HOST_TESTS += vm_fuzz
HOST_SRC_vm_fuzz := tests/host/test_vm_fuzz.c tests/fuzz/fuzz_vm_config.c $(VM_TREE_TEST)
HOST_LIBS_vm_fuzz := -lfdt

VM_CHECK_OBJ := $(patsubst %,$(B)/host/vm-check.obj/%.o,tools/vm_check.c $(VM_TREE_SRC))

# Without the sanitizers, which would make a check of large images slow to start.
$(B)/host/vm-check.obj/%.c.o: %.c | setup
	@mkdir -p $(@D)
	@echo "  HOSTCC  $<"
	$(Q)$(HOSTCC) -std=c11 -g -O2 $(WARN) -I. -MMD -MP -c $< -o $@

$(B)/host/vm-check: $(VM_CHECK_OBJ)
	@echo "  HOSTLD  $@"
	$(Q)$(HOSTCC) $^ -lfdt -o $@

.PHONY: vm-check
vm-check: $(B)/host/vm-check

-include $(VM_CHECK_OBJ:.o=.d)
