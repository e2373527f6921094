# SPDX-License-Identifier: Apache-2.0
# make coverage: lines and branches of vpmu/ that the host tests of the vPMU reach. Fails under
# COVERAGE_LINES percent of the lines, and for each line that is neither reached nor explained in
# tests/host/uncovered.md. make core-coverage: of core/, and only the percentage is checked, because
# chance decides which of the rare lines are reached; tests/host/uncovered-core.md has the reasons.
COVERAGE_TESTS := vpmu vpmu_model selftest vm_refusals
COVERAGE_LINES ?= 95
# The random test meets what it can meet within so many steps, or fails.
COVERAGE_STEPS ?= 600000

COV := $(B)/cov
# cmocka's longjmp() out of a failed test loses no counts: the programs end with exit().
COV_CFLAGS = -std=c11 -g -O0 --coverage $(WARN) -I.
COV_OBJ    := $(sort $(foreach t,$(COVERAGE_TESTS),$(HOST_SRC_$(t):%=$(COV)/%.o)))
COV_BIN    := $(COVERAGE_TESTS:%=$(COV)/bin/%)

$(COV)/%.c.o: %.c | setup-test
	@mkdir -p $(@D)
	@echo "  COVCC   $<"
	$(Q)rm -f $(@:.o=.gcda)
	$(Q)$(HOSTCC) $(COV_CFLAGS) -MMD -MP -c $< -o $@

define coverage_program
$(COV)/bin/$(1): $(HOST_SRC_$(1):%=$(COV)/%.o)
	@mkdir -p $$(@D)
	$$(Q)$$(HOSTCC) $$(COV_CFLAGS) $$^ -lcmocka $(HOST_LIBS_$(1)) -o $$@
endef
$(foreach t,$(COVERAGE_TESTS),$(eval $(call coverage_program,$(t))))
-include $(COV_OBJ:.o=.d)

.PHONY: coverage
coverage: $(COV_BIN)
	$(Q)find $(COV) -name '*.gcda' -delete
	$(Q)for program in $(COV_BIN); do \
		VPMU_MODEL_STEPS=$(COVERAGE_STEPS) $$program >$$program.log 2>&1 || { \
			tail -n 40 $$program.log; exit 1; }; done
	$(Q)$(PYTHON) tests/host/coverage.py --lines $(COVERAGE_LINES) \
		--explained tests/host/uncovered.md $(COV) vpmu

# The machine of several harts reaches most of core/; what it never boots with is in unit tests.
CORE_COVERAGE_TESTS := vm_config vm_refusals guest_dt dt_path seed vuart vplic console \
	console_live console_edit console_frames console_request console_random printf \
	words vpci pci_assign vaplic device_node dma iommu vm_quiet power_key ports \
	ports_queues port_limits port_messages $(PORTS_LARGE_TESTS) virtio_mmio
CORE_COVERAGE_LINES ?= 90
CORE_COVERAGE_STEPS ?= 600000
CORE_COV := $(B)/core-cov
CORE_COV_BIN := $(CORE_COVERAGE_TESTS:%=$(CORE_COV)/bin/%)
CORE_COV_OBJ := $(sort $(foreach t,$(CORE_COVERAGE_TESTS),$(HOST_SRC_$(t):%=$(CORE_COV)/%.o))) \
	$(CORE_SRC:%=$(CORE_COV)/machine/%.o) $(CORE_MACHINE_SRC:%=$(CORE_COV)/machine/%.o)

$(CORE_COV)/machine/%.c.o: %.c | setup-test
	@mkdir -p $(@D)
	@echo "  COVCC   $<"
	$(Q)rm -f $(@:.o=.gcda)
	$(Q)$(HOSTCC) $(COV_CFLAGS) $(CORE_CFLAGS) -MMD -MP -c $< -o $@

$(CORE_COV)/%.c.o: %.c | setup-test
	@mkdir -p $(@D)
	@echo "  COVCC   $<"
	$(Q)rm -f $(@:.o=.gcda)
	$(Q)$(HOSTCC) $(COV_CFLAGS) -MMD -MP -c $< -o $@

CORE_COV_TIMED := $(sort $(PCI_ASSIGN_SRC) $(HOST_SRC_vpci) $(HOST_SRC_dma) $(HOST_SRC_iommu))
$(CORE_COV_TIMED:%=$(CORE_COV)/%.o): COV_CFLAGS += -iquote tests/host/hart \
	-iquote tests/host/device -DHOST_CSR_READS
$(HOST_SRC_vm_quiet:%=$(CORE_COV)/%.o): COV_CFLAGS += -iquote tests/host/hart
$(HOST_SRC_power_key:%=$(CORE_COV)/%.o): COV_CFLAGS += -iquote tests/host/hart
$(sort $(foreach t,$(PORTS_TESTS),$(HOST_SRC_$(t):%=$(CORE_COV)/%.o))): \
	COV_CFLAGS += -iquote tests/host/hart -DHOST_CSR_READS

define core_coverage_program
$(CORE_COV)/bin/$(1): $(HOST_SRC_$(1):%=$(CORE_COV)/%.o)
	@mkdir -p $$(@D)
	$$(Q)$$(HOSTCC) $$(COV_CFLAGS) $$^ -lcmocka $(HOST_LIBS_$(1)) -o $$@
endef
$(foreach t,$(CORE_COVERAGE_TESTS),$(eval $(call core_coverage_program,$(t))))

# The order of these objects is that of the machine's RAM, see machine.mk.
$(CORE_COV)/bin/core: $(CORE_SRC:%=$(CORE_COV)/machine/%.o) \
	$(CORE_MACHINE_SRC:%=$(CORE_COV)/machine/%.o)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) $(COV_CFLAGS) $^ $(CORE_LDFLAGS) -lcmocka -lfdt -o $@
-include $(CORE_COV_OBJ:.o=.d)

.PHONY: core-coverage
core-coverage: $(CORE_COV_BIN) $(CORE_COV)/bin/core
	$(Q)find $(CORE_COV) -name '*.gcda' -delete
	$(Q)for program in $(CORE_COV_BIN) $(CORE_COV)/bin/core; do \
		CORE_STEPS=$(CORE_COVERAGE_STEPS) $$program >$$program.log 2>&1 || { \
			tail -n 40 $$program.log; exit 1; }; done
	$(Q)$(PYTHON) tests/host/coverage.py --lines $(CORE_COVERAGE_LINES) \
		--explained tests/host/uncovered-core.md --by-chance $(CORE_COV) core
