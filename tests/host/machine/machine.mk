# SPDX-License-Identifier: Apache-2.0
# make host-core: all of core/ and vpmu/ on a machine of several harts. Its objects are its own:
# tests/host/machine/hart stands in for headers of arch/riscv. Strings are those of the host. Its
# harts translate nothing in HS.
CORE_SRC := $(filter-out core/lib/copy.c core/lib/string.c core/boot/hs_% core/debug/trips.c, \
	$(sort $(wildcard core/*.c core/*/*.c))) $(VPMU_SRC) \
	$(addprefix arch/riscv/counters/,hpm.c hpm_sbi.c hpm_raw.c hpm_fixed.c hpm_flags.c \
	fw_events.c) $(addprefix arch/riscv/devices/,pci.c pci_reset.c) \
	$(addprefix arch/riscv/hart/,vs_state.c gstage.c pte.c insn.c isa.c) $(IOMMU_SRC)
# machine_ram.c comes last.
CORE_MACHINE_SRC := $(addprefix tests/host/machine/,test_core.c machine.c machine_csr.c \
	machine_firmware.c machine_arch.c machine_chip.c machine_aia.c machine_dma.c \
	machine_pci.c machine_tree.c guest.c guest_acts.c guest_aia.c guest_rtc.c \
	guest_ports.c 	guest_calls.c operator.c \
	model.c model_see.c model_own.c model_sent.c model_wake.c model_mail.c model_pay.c \
	model_count.c model_heart.c model_output.c model_ports.c) \
	$(FAKE_IOMMU_SRC) tests/host/machine/machine_ram.c
CORE_CFLAGS := -iquote tests/host/machine/hart -iquote tests/host/device -DTALLY_DEBUG \
	-D_DEFAULT_SOURCE -include tests/host/machine/interleave.h
# Its RAM is where a VM can have RAM at the same address: above the VM's own devices, and in reach
# of Sv39x4. Where ASan runs, static data can be below 2^31 only. Tally's image is in front of it.
CORE_LDFLAGS := -no-pie -Wl,-Ttext-segment=0x20000000 -Wl,--defsym=_image_start=platform \
	-Wl,--wrap=vpmu_port_read -Wl,--wrap=sched_wait_for_output \
	-Wl,--wrap=sched_has_output -Wl,--wrap=sched_off
CORE_OBJ := $(CORE_SRC:%=$(B)/host/machine/%.o) $(CORE_MACHINE_SRC:%=$(B)/host/machine/%.o)

$(B)/host/machine/%.c.o: %.c | setup-test
	@mkdir -p $(@D)
	@echo "  HOSTCC  $<"
	$(Q)$(HOSTCC) $(HOST_CFLAGS) $(CORE_CFLAGS) -MMD -MP -c $< -o $@

$(B)/host/core: $(CORE_OBJ)
	@echo "  HOSTLD  $@"
	$(Q)$(HOSTCC) $(HOST_CFLAGS) $^ $(CORE_LDFLAGS) -lcmocka -lfdt -o $@

.PHONY: host-core
host-core: $(B)/host/core
	$(B)/host/core
-include $(CORE_OBJ:.o=.d)
HOST_BIN += $(B)/host/core

# Would it notice a defect of core/? CORE_MUTANTS='--only registers --seed 3'. Some show only where
# harts meet by chance: the rarest one has taken 1,067,108 steps.
.PHONY: core-mutants
core-mutants: | setup-test
	$(Q)mkdir -p $(B)/test
	$(Q)$(PYTHON) tests/host/mutants.py --table tests/host/core_mutants.toml \
		--steps 2000000 $(CORE_MUTANTS) \
		--count $(B)/test/core-mutants.count $(B)/core-mutants \
		--harts machine '$(CORE_CFLAGS) $(CORE_LDFLAGS)' $(CORE_SRC) $(CORE_MACHINE_SRC)
