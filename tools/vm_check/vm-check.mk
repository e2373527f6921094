# SPDX-License-Identifier: Apache-2.0
# The VM tree's parser on this machine: build/host/vm-check and what its unit test needs.
# Included by the top-level Makefile after tests/host/host.mk.
VM_TREE_SRC := core/tree/parse.c $(addprefix core/host/,vm_banks.c vm_props.c pci_acts.c \
	host_parents.c host_cpus.c host_claims.c host_bridge.c host_memory.c host_reserved.c \
	fdt_index.c host_tree.c dt_path.c vm_refusal.c) \
	$(addprefix core/tree/,pmu_node.c vm_layout.c vm_life_config.c vm_memory.c \
	vm_memory_config.c vm_pmu_config.c vm_shared.c vm_bell.c vm_schedule.c \
	vm_schedule_check.c vm_stay.c vm_turns.c vm_devices.c vm_functions.c vm_names.c \
	vm_aia.c vm_machine.c vm_operator.c vm_rtc.c vm_key.c vm_networks.c host_devices.c \
	device_node.c dt_writer.c pci_node.c vm_refusals.c) \
	core/lib/text.c core/lib/printf.c vpmu/selector.c
VM_TREE_TEST := tests/host/vm_tree.c $(VM_TREE_SRC)
HOST_SRC_vm_config := tests/host/test_vm_config.c $(VM_TREE_TEST)

HOST_TESTS += vm_refusals
HOST_SRC_vm_refusals := $(addprefix tests/host/,test_vm_refusals.c test_vm_pmu.c \
	test_vm_life.c test_vm_aia.c test_vm_memory.c test_pmu_node.c test_vm_devices.c \
	test_vm_functions.c test_vm_shared.c test_vm_bell.c test_vm_networks.c test_vm_harts.c \
	test_vm_turns.c test_vm_budget.c test_vm_operator.c test_vm_schedule.c \
	test_vm_machine.c board.c) core/devices/vswitch.c core/host/host_iommu.c \
	tools/vm_check/tree.c $(VM_TREE_TEST)
HOST_LIBS_vm_refusals := -lfdt

HOST_TESTS += pci_assign
PCI_ASSIGN_SRC := $(addprefix tests/host/,test_pci_assign.c test_pci_resets.c fake_pci.c) \
	$(addprefix core/,boot/pci_assign.c boot/pci_place.c io/functions.c io/vpci.c) \
	arch/riscv/devices/pci.c arch/riscv/devices/pci_reset.c
HOST_SRC_pci_assign := $(PCI_ASSIGN_SRC) tests/host/board.c $(VM_TREE_TEST)
HOST_LIBS_pci_assign := -lfdt
# This test has its own time.
$(PCI_ASSIGN_SRC:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart -DHOST_CSR_READS

HOST_TESTS += device_node
HOST_SRC_device_node := tests/host/test_device_node.c tests/host/board.c core/life/guest_dt.c \
	$(VM_TREE_TEST)
HOST_LIBS_device_node := -lfdt

# What boot reads in the trees of boards.
HOST_TESTS += host_dt
HOST_DT_SRC := $(addprefix tests/host/,test_host_dt.c test_host_boards.c) \
	$(addprefix core/boot/,bootargs.c host_dt.c hart_usable.c) core/hart/platform.c
HOST_SRC_host_dt := $(HOST_DT_SRC) tests/host/board.c $(VM_TREE_TEST) arch/riscv/hart/isa.c \
	core/host/host_iommu.c tools/vm_check/tree.c
HOST_LIBS_host_dt := -lfdt
$(HOST_DT_SRC:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart

HOST_TESTS += banks
BANKS_SRC := tests/host/test_banks.c core/boot/ram.c
HOST_SRC_banks := $(BANKS_SRC) $(VM_TREE_TEST)
HOST_LIBS_banks := -lfdt
$(BANKS_SRC:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart

HOST_TESTS += vm_fuzz
HOST_SRC_vm_fuzz := tests/host/test_vm_fuzz.c tests/fuzz/fuzz_vm_config.c \
	tests/fuzz/guest_tree.c core/life/guest_dt.c arch/riscv/hart/isa.c $(VM_TREE_TEST)
HOST_LIBS_vm_fuzz := -lfdt

VM_CHECK_OBJ := $(patsubst %,$(B)/host/vm-check.obj/%.o,$(addprefix tools/vm_check/,harts.c host.c \
	limits.c main.c memory.c options.c pmu.c schedule.c text.c tree.c vm_json.c vm_text.c) \
	arch/riscv/hart/isa.c \
	core/pmu/budget_hart.c core/pmu/vm_overflow.c vpmu/bits.c $(VM_TREE_SRC))

# Without the sanitizers, which would make a check of large images slow to start.
$(B)/host/vm-check.obj/%.c.o: %.c | setup
	@mkdir -p $(@D)
	@echo "  HOSTCC  $<"
	$(Q)$(HOSTCC) -std=c11 -g -O2 $(WARN) -iquote tests/host/hart -I. $(REPEATABLE) \
		-MMD -MP -c $< -o $@

# Without an id of the build: strip takes the protection of relocations with it.
$(B)/host/vm-check: $(VM_CHECK_OBJ)
	@echo "  HOSTLD  $@"
	$(Q)$(HOSTCC) -Wl,-z,relro,-z,now,--build-id=none $^ -lfdt -o $@

.PHONY: vm-check
vm-check: $(B)/host/vm-check

-include $(VM_CHECK_OBJ:.o=.d)
