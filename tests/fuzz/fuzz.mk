# SPDX-License-Identifier: Apache-2.0
# Coverage-guided fuzzers (clang's libFuzzer) of what takes hostile input, and their kept corpus.
#   make fuzz            each for FUZZ_SECONDS, from the corpus on; then the corpus once more
#   make fuzz-NAME       one of them
#   make fuzz-replay     only the corpus, with any compiler; part of make test
#   make fuzz-merge      keeps of what was found since what reaches more code, in the corpus
# The corpus is an archive for each fuzzer, tests/fuzz/NAME.tar.xz, unpacked to
# build/fuzz/kept/NAME. Findings go to build/fuzz/NAME-*, new inputs to build/fuzz/corpus/NAME.
FUZZERS      := vpmu vpmu_combining vm_config host_dt insn console \
	operator devices ports
FUZZ_SECONDS ?= 60
CLANG        ?= clang

FUZZ_SRC_vpmu      := $(addprefix tests/fuzz/,fuzz_vpmu.c fuzz_emulated.c) $(EMULATED_SRC) \
	$(VPMU_SRC)
FUZZ_SRC_vpmu_combining := $(addprefix tests/fuzz/,fuzz_vpmu.c fuzz_combining.c) \
	$(COMBINING_SRC) $(VPMU_SRC)
FUZZ_SRC_vm_config := $(addprefix tests/fuzz/,fuzz_vm_config.c guest_tree.c) core/life/guest_dt.c \
	arch/riscv/hart/isa.c $(VM_TREE_TEST)
FUZZ_SRC_insn      := tests/fuzz/fuzz_insn.c arch/riscv/hart/insn.c
FUZZ_MUTATOR_vm_config := $(addprefix tests/fuzz/,mutate_fdt.c words_vm_tree.c)
FUZZ_SRC_host_dt   := tests/fuzz/fuzz_host_dt.c core/boot/bootargs.c core/boot/host_dt.c \
	core/boot/hart_usable.c core/hart/platform.c core/host/dt_path.c \
	core/lib/text.c core/lib/printf.c \
	$(addprefix core/host/,host_cpus.c host_iommu.c host_memory.c host_reserved.c \
	fdt_index.c host_tree.c vm_banks.c vm_props.c vm_refusal.c) \
	core/tree/vm_memory.c arch/riscv/hart/isa.c
FUZZ_MUTATOR_host_dt := $(addprefix tests/fuzz/,mutate_fdt.c words_host_tree.c)
FUZZ_LIBS_host_dt  := -lfdt
FUZZ_SRC_devices   := tests/fuzz/fuzz_devices.c core/life/guest_dt.c tools/vm_check/tree.c \
	$(VM_TREE_TEST)
FUZZ_MUTATOR_devices := $(addprefix tests/fuzz/,mutate_fdt.c words_board.c)
FUZZ_LIBS_devices  := -lfdt -lcmocka
FUZZ_OPTIONS_devices := -max_len=12000
FUZZ_SRC_ports     := $(addprefix tests/fuzz/,fuzz_ports.c fuzz_ports_driver.c \
	ports_model.c ports_model_offload.c) $(PORTS_SRC)
FUZZ_LIBS_ports    := -lcmocka
FUZZ_OPTIONS_ports := -max_len=800
FUZZ_OPTIONS_host_dt   := -max_len=4096
FUZZ_LIBS_vm_config := -lfdt -lcmocka
FUZZ_LIBS_vpmu      := -lcmocka
FUZZ_LIBS_vpmu_combining := -lcmocka -lfdt
FUZZ_OPTIONS_vpmu      := -max_len=600
FUZZ_OPTIONS_vpmu_combining := -max_len=900
FUZZ_OPTIONS_vm_config := -max_len=4096 -dict=tests/fuzz/vm_config.dict
FUZZ_OPTIONS_insn      := -max_len=48
FUZZ_SRC_console   := tests/fuzz/fuzz_console.c $(CONSOLE_SRC)
FUZZ_OPTIONS_console   := -max_len=1500 -dict=tests/fuzz/console.dict
FUZZ_SRC_operator  := $(sort $(addprefix tests/fuzz/,fuzz_operator.c operator_model.c) \
	$(filter-out core/operator/operator_rings.c,$(wildcard core/operator/*.c)) \
	$(CONSOLE_SRC) core/log.c core/life/last_words.c core/hart/time_of_day.c \
	$(addprefix core/lib/,date.c event_names.c numbers.c sbi_names.c words.c) vpmu/bits.c \
	$(VM_TREE_SRC))
FUZZ_LIBS_operator := -lfdt
FUZZ_OPTIONS_operator  := -max_len=600 -dict=tests/fuzz/operator.dict

$(FUZZ_SRC_ports:%=$(B)/fuzz/obj/%.o) $(FUZZ_SRC_ports:%=$(B)/host/obj/%.o): \
	HOST_CFLAGS += -iquote tests/host/hart -DHOST_CSR_READS

FUZZ_CFLAGS = $(HOST_CFLAGS) -O2 -fsanitize=fuzzer
FUZZ_BIN    := $(FUZZERS:%=$(B)/fuzz/%)
REPLAY_BIN  := $(FUZZERS:%=$(B)/fuzz/replay-%)

$(B)/fuzz/obj/%.c.o: %.c | fuzz-tools
	@mkdir -p $(@D)
	@echo "  FUZZCC  $<"
	$(Q)$(CLANG) $(FUZZ_CFLAGS) -Wno-unknown-warning-option -MMD -MP -c $< -o $@

$(COMBINING_SRC:%=$(B)/fuzz/obj/%.o): HOST_CFLAGS += $(COMBINING_CFLAGS)
$(B)/fuzz/obj/tests/host/combining_events.c.o: $(EVENT_TABLE)
# In these tests/host/hart stands in for what is assembly.
FUZZ_ON_HART := $(FUZZ_SRC_host_dt) $(filter-out $(CONSOLE_SRC) $(VM_TREE_SRC),$(FUZZ_SRC_operator))
$(FUZZ_ON_HART:%=$(B)/fuzz/obj/%.o) $(FUZZ_ON_HART:%=$(B)/host/obj/%.o): \
	HOST_CFLAGS += -iquote tests/host/hart

$(B)/fuzz/kept/%: tests/fuzz/%.tar.xz
	$(Q)rm -rf $@; mkdir -p $@
	$(Q)tar -xJf $< -C $@ && touch $@

# Debian splits libFuzzer off: say so instead of a linker's hundred lines.
.PHONY: fuzz-tools
fuzz-tools:
	$(Q)command -v $(CLANG) >/dev/null && \
		[ -e "$$($(CLANG) -print-file-name=libclang_rt.fuzzer-$$(uname -m).a)" ] || { \
		echo "fuzz: libFuzzer is missing: install clang and libclang-rt-14-dev." >&2; \
		exit 1; }

define fuzzer
$(B)/fuzz/$(1): $(patsubst %,$(B)/fuzz/obj/%.o,$(FUZZ_SRC_$(1)) $(FUZZ_MUTATOR_$(1)))
	@echo "  FUZZLD  $$@"
	$$(Q)$$(CLANG) $$(FUZZ_CFLAGS) $$^ $(FUZZ_LIBS_$(1)) -o $$@

$(B)/fuzz/replay-$(1): $(patsubst %,$(B)/host/obj/%.o,$(FUZZ_SRC_$(1)) tests/fuzz/replay_main.c)
	@mkdir -p $$(@D)
	@echo "  HOSTLD  $$@"
	$$(Q)$$(HOSTCC) $$(HOST_CFLAGS) $$^ $(FUZZ_LIBS_$(1)) -o $$@

.PHONY: fuzz-$(1) fuzz-replay-$(1) fuzz-merge-$(1)
fuzz-$(1): $(B)/fuzz/$(1) fuzz-replay-$(1) $(B)/fuzz/kept/$(1)
	$$(Q)mkdir -p $(B)/fuzz/corpus/$(1)
	$$(Q)$(B)/fuzz/$(1) $(FUZZ_OPTIONS_$(1)) -max_total_time=$$(FUZZ_SECONDS) \
		-print_final_stats=1 -verbosity=0 -artifact_prefix=$(B)/fuzz/$(1)- \
		$(B)/fuzz/corpus/$(1) $(B)/fuzz/kept/$(1) >$(B)/fuzz/$(1).log 2>&1 || { \
		grep -m 1 -A 40 -e '^differs' -e 'ERROR: ' $(B)/fuzz/$(1).log; \
		tail -n 3 $(B)/fuzz/$(1).log; exit 1; }
	$$(Q)sed -n 's/^stat::number_of_executed_units: */$(1): inputs tried: /p; \
		s/^stat::new_units_added: */$(1): of them kept: /p' $(B)/fuzz/$(1).log

fuzz-replay-$(1): $(B)/fuzz/replay-$(1) $(B)/fuzz/kept/$(1)
	$$(Q)$(B)/fuzz/replay-$(1) $(B)/fuzz/kept/$(1)/* 2>$(B)/fuzz/replay-$(1).log || { \
		tail -n 60 $(B)/fuzz/replay-$(1).log; exit 1; }

# Packed so that the same inputs give the same bytes.
fuzz-merge-$(1): $(B)/fuzz/$(1) $(B)/fuzz/kept/$(1)
	$$(Q)rm -rf $(B)/fuzz/merged/$(1); mkdir -p $(B)/fuzz/merged/$(1) $(B)/fuzz/corpus/$(1)
	$$(Q)$(B)/fuzz/$(1) $(FUZZ_OPTIONS_$(1)) -merge=1 -use_counters=0 $(B)/fuzz/merged/$(1) \
		$(B)/fuzz/kept/$(1) $(B)/fuzz/corpus/$(1)
	$$(Q)tar --sort=name --format=ustar --mtime=@0 --owner=0 --group=0 --numeric-owner \
		--mode=644 -C $(B)/fuzz/merged/$(1) -cJf tests/fuzz/$(1).tar.xz \
		$$$$(ls $(B)/fuzz/merged/$(1))
endef
$(foreach f,$(FUZZERS),$(eval $(call fuzzer,$(f))))
-include $(wildcard $(B)/fuzz/obj/*/*.d $(B)/fuzz/obj/*/*/*.d) \
	$(patsubst %,$(B)/host/obj/%.d,$(sort $(foreach f,$(FUZZERS),$(FUZZ_SRC_$(f))) \
		tests/fuzz/replay_main.c))

.PHONY: fuzz fuzz-replay fuzz-merge
fuzz: $(FUZZERS:%=fuzz-%)
fuzz-replay: $(FUZZERS:%=fuzz-replay-%)
fuzz-merge: $(FUZZERS:%=fuzz-merge-%)
