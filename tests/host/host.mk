# SPDX-License-Identifier: Apache-2.0
# Host unit tests: one cmocka program a name, built natively under ASan and UBSan.
# To add one: a line in HOST_TESTS and the sources it is made of.
# HOST_LIBS_name: further libraries. The top-level Makefile includes this file.
VPMU_SRC := $(sort $(wildcard vpmu/*.c))

HOST_TESTS :=

HOST_TESTS += vpmu
HOST_SRC_vpmu := $(addprefix tests/host/,test_vpmu.c test_vpmu_config.c test_vpmu_choice.c \
	test_vpmu_start_stop.c test_vpmu_direct.c test_vpmu_share.c test_vpmu_overflow.c \
	test_vpmu_wrap.c test_vpmu_fw.c test_vpmu_switch.c test_vpmu_snapshot.c \
	test_vpmu_event_info.c test_vpmu_policy.c test_vpmu_retired.c test_vpmu_count_hs.c \
	test_vpmu_show.c test_vpmu_observe.c test_vpmu_sample.c test_vpmu_budget.c \
	test_vpmu_fixed.c test_vpmu_failed.c \
	test_vpmu_room.c test_vpmu_shown.c test_vpmu_shown_near.c test_vpmu_shown_made.c \
	vpmu_shown.c vpmu_stub.c) $(VPMU_SRC)

HOST_TESTS += vpmu_model
FAKE_PORT_SRC := $(addprefix tests/host/,fake_port.c fake_port_fixed.c fake_port_events.c \
	fake_port_notices.c fake_shown.c)
WORLD_SRC := $(FAKE_PORT_SRC) $(addprefix tests/host/,fake_hart.c fake_harts.c fake_mem.c model.c \
	model_event.c model_run.c model_shmem.c world.c world_check.c world_observe.c \
	world_budget.c world_text.c)
EMULATED_SRC := $(WORLD_SRC) tests/host/fake_emulated.c
RANDOM_SRC := $(addprefix tests/host/,test_vpmu_model.c epoch.c random_guest.c random_call.c \
	record.c)
HOST_SRC_vpmu_model := $(RANDOM_SRC) tests/host/test_fake_hart.c tests/host/random_emulated.c \
	$(EMULATED_SRC) $(VPMU_SRC)

# The same guests on harts that combine events, below the drivers of arch/riscv/.
HOST_TESTS += vpmu_model_combining
COMBINING_SRC := $(WORLD_SRC) core/lib/text.c core/lib/printf.c \
	$(addprefix core/host/,vm_props.c vm_refusal.c) core/tree/pmu_node.c core/tree/vm_names.c \
	$(addprefix tests/host/,fake_combining.c combining_events.c combining_hart.c \
	delegated_csrs.c opensbi_pmu.c) \
	$(addprefix arch/riscv/counters/,hpm.c hpm_sbi.c hpm_raw.c hpm_table.c)
HOST_SRC_vpmu_model_combining := $(RANDOM_SRC) $(addprefix tests/host/,test_combining_events.c \
	random_combining.c) $(COMBINING_SRC) $(VPMU_SRC)
HOST_LIBS_vpmu_model_combining := -lfdt
EVENT_TABLE := $(B)/host/gen/kunminghu_table.h
$(EVENT_TABLE): tests/host/event_table.py dts/pmu/kunminghu.yaml $(wildcard tools/lib/pmulib/*.py)
	$(Q)mkdir -p $(@D)
	$(Q)$(PYTHON) $< kunminghu $@
COMBINING_CFLAGS := -I $(B)/host/gen -iquote tests/host/hart -DHOST_FIRMWARE -DHOST_CSR_WRITES
COMBINING_EVENTS_OBJ := $(B)/host/obj/tests/host/combining_events.c.o
$(COMBINING_EVENTS_OBJ): $(EVENT_TABLE)
$(COMBINING_EVENTS_OBJ) $(B)/host/obj/tests/host/fake_combining.c.o: \
	HOST_CFLAGS += $(COMBINING_CFLAGS)

# Would the random test notice a defect of vpmu/? MUTANTS='--only emulation --seed 3'
.PHONY: mutants
mutants: $(EVENT_TABLE) | setup-test
	$(Q)mkdir -p $(B)/test
	$(Q)$(PYTHON) tests/host/mutants.py $(MUTANTS) --count $(B)/test/mutants.count \
		$(B)/mutants --harts emulated '' $(HOST_SRC_vpmu_model) \
		--harts combining '$(COMBINING_CFLAGS)' $(HOST_SRC_vpmu_model_combining)

HOST_TESTS += vm_config
HOST_SRC_vm_config := tests/host/test_vm_config.c core/tree/parse.c
HOST_LIBS_vm_config := -lfdt

HOST_TESTS += dt_path
HOST_SRC_dt_path := tests/host/test_dt_path.c core/host/dt_path.c
HOST_LIBS_dt_path := -lfdt

# What Tally has instead of two functions of libfdt, beside those.
HOST_TESTS += fdt_walk
HOST_SRC_fdt_walk := tests/host/test_fdt_walk.c
HOST_LIBS_fdt_walk := -lfdt

HOST_TESTS += guest_dt
GUEST_DT_SRC := $(addprefix core/host/,fdt_index.c host_reserved.c host_tree.c dt_path.c \
	vm_banks.c vm_props.c vm_refusal.c) core/lib/text.c core/lib/printf.c \
	$(addprefix core/tree/,device_node.c dt_writer.c pci_node.c vm_machine.c vm_memory.c)
HOST_SRC_guest_dt := tests/host/test_guest_dt.c core/life/guest_dt.c $(GUEST_DT_SRC)
HOST_LIBS_guest_dt := -lfdt

# The parser itself sees it through vm_schedule.c.
HOST_TESTS += vm_stay
HOST_SRC_vm_stay := tests/host/test_vm_stay.c $(addprefix core/host/,vm_props.c vm_refusal.c) \
	$(addprefix core/tree/,vm_stay.c vm_schedule_check.c) core/lib/text.c core/lib/printf.c
HOST_LIBS_vm_stay := -lfdt

HOST_TESTS += seed
HOST_SRC_seed := tests/host/test_seed.c core/life/seed.c

HOST_TESTS += vuart
HOST_SRC_vuart := tests/host/test_vuart.c core/devices/vuart.c

HOST_TESTS += vrtc
HOST_SRC_vrtc := tests/host/test_vrtc.c core/devices/vrtc.c core/hart/time_of_day.c \
	core/lib/date.c core/lib/printf.c
$(HOST_SRC_vrtc:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart

HOST_TESTS += vaplic
HOST_SRC_vaplic := tests/host/test_vaplic.c core/devices/vaplic.c

HOST_TESTS += vplic
HOST_SRC_vplic := tests/host/test_vplic.c core/devices/vplic.c

HOST_TESTS += vpci
HOST_SRC_vpci := tests/host/test_vpci.c core/io/vpci.c arch/riscv/devices/pci.c
$(HOST_SRC_vpci:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart

HOST_TESTS += power_key
HOST_SRC_power_key := tests/host/test_power_key.c core/devices/virtio.c core/devices/vinput.c \
	$(addprefix core/io/,power_key.c virtio_messages.c virtio_pci.c notifier.c \
	notifier_function.c virtqueue.c vpci.c)
$(HOST_SRC_power_key:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart

# Ports of networks, and drivers in front of them.
HOST_TESTS += ports
PORTS_SRC := tests/host/ports_driver.c $(addprefix core/io/,ports.c ports_send.c ports_offload.c \
	virtio_messages.c virtio_mmio.c virtio_pci.c vm_virt.c notifier.c notifier_function.c \
	virtqueue.c vpci.c) core/devices/virtio.c core/devices/vswitch.c
HOST_SRC_ports := tests/host/test_ports.c tests/host/ports_plain.c $(PORTS_SRC)
HOST_TESTS += ports_queues
HOST_SRC_ports_queues := tests/host/test_ports_queues.c tests/host/ports_plain.c $(PORTS_SRC)
HOST_TESTS += port_limits
HOST_SRC_port_limits := tests/host/test_port_limits.c $(PORTS_SRC)
HOST_TESTS += port_messages
HOST_SRC_port_messages := tests/host/test_port_messages.c $(PORTS_SRC)
PORTS_LARGE_TESTS := ports_offload ports_offload_stays ports_offload_hostile
HOST_TESTS += $(PORTS_LARGE_TESTS)
$(foreach t,$(PORTS_LARGE_TESTS),$(eval HOST_SRC_$(t) := tests/host/test_$(t).c \
	tests/host/ports_large.c $(PORTS_SRC)))
HOST_TESTS += virtio_mmio
HOST_SRC_virtio_mmio := tests/host/test_virtio_mmio.c $(PORTS_SRC)
PORTS_TESTS := ports ports_queues port_limits port_messages $(PORTS_LARGE_TESTS) virtio_mmio
$(sort $(foreach t,$(PORTS_TESTS),$(HOST_SRC_$(t):%=$(B)/host/obj/%.o))): \
	HOST_CFLAGS += -iquote tests/host/hart -DHOST_CSR_READS

HOST_TESTS += requests
HOST_SRC_requests := tests/host/test_requests.c

HOST_TESTS += wake_times
HOST_SRC_wake_times := tests/host/test_wake_times.c core/hart/wake_times.c

CONSOLE_SRC := core/console/console.c core/console/console_edit.c core/console/console_frame.c \
	core/console/console_keys.c core/console/console_line.c core/console/ring.c \
	core/lib/text.c core/lib/printf.c

HOST_TESTS += console
HOST_SRC_console := tests/host/test_console.c tests/host/console_log.c $(CONSOLE_SRC)

HOST_TESTS += ring
HOST_SRC_ring := tests/host/test_ring.c core/console/ring.c

HOST_TESTS += console_live
HOST_SRC_console_live := tests/host/test_console_live.c tests/host/console_log.c $(CONSOLE_SRC)

HOST_TESTS += console_edit
HOST_SRC_console_edit := tests/host/test_console_edit.c tests/host/console_log.c $(CONSOLE_SRC)

HOST_TESTS += console_frames
HOST_SRC_console_frames := tests/host/test_console_frames.c tests/host/console_log.c $(CONSOLE_SRC)

HOST_TESTS += console_request
HOST_SRC_console_request := tests/host/test_console_request.c tests/host/console_log.c \
	$(CONSOLE_SRC)

HOST_TESTS += console_random
HOST_SRC_console_random := tests/host/test_console_random.c tests/host/console_log.c $(CONSOLE_SRC)

HOST_TESTS += printf
HOST_SRC_printf := tests/host/test_printf.c core/lib/printf.c

HOST_TESTS += copy
HOST_SRC_copy := tests/host/test_copy.c

HOST_TESTS += words
HOST_SRC_words := tests/host/test_words.c $(addprefix core/lib/,words.c event_names.c sbi_names.c \
	text.c printf.c)

HOST_TESTS += insn
HOST_SRC_insn := tests/host/test_insn.c arch/riscv/hart/insn.c

# The guest's table on core/'s decoders. In these tests/host/hart stands in for what is assembly.
HOST_TESTS += selftest
SELFTEST_SRC := $(filter-out %/report.c %/known.c %/known_kvm.c,\
	$(sort $(wildcard guests/selftest/*.c))) guests/lib/print.c guests/lib/trap.c \
	$(addprefix core/vsbi/,vsbi.c vsbi_base.c vsbi_rfence.c vsbi_pmu.c vsbi_hart_flags.c) \
	core/dispatch/virtual_insn.c $(addprefix tests/host/,test_selftest.c selftest_hart.c \
	selftest_guest.c selftest_report.c)
HOST_SRC_selftest := $(SELFTEST_SRC) tests/host/fake_hart.c tests/host/fake_emulated.c \
	$(FAKE_PORT_SRC) \
	arch/riscv/hart/insn.c $(VPMU_SRC)
$(SELFTEST_SRC:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart
$(SELFTEST_SRC:%=$(B)/cov/%.o): COV_CFLAGS += -iquote tests/host/hart

HOST_TESTS += vm_commands
HOST_SRC_vm_commands := tests/host/test_vm_commands.c core/life/vm_life.c \
	core/life/last_words.c core/life/shutdown.c core/vcpu/vm_command.c core/vcpu/vm.c
$(HOST_SRC_vm_commands:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart

HOST_TESTS += guest_file
HOST_SRC_guest_file := tests/host/test_guest_file.c core/vcpu/guest_file.c \
	core/dispatch/guest_file_irq.c core/sched/sched_notified.c vpmu/bits.c
$(HOST_SRC_guest_file:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart

HOST_TESTS += irqchip
HOST_SRC_irqchip := tests/host/test_irqchip.c arch/riscv/devices/irqchip.c
$(HOST_SRC_irqchip:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart

# The driver of the console, on UARTs that are part of the test.
HOST_TESTS += uart
HOST_SRC_uart := tests/host/test_uart.c arch/riscv/devices/uart.c
$(HOST_SRC_uart:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart \
	-iquote tests/host/device

HOST_TESTS += terminal
TERMINAL_SRC := tests/host/test_terminal.c core/operator/terminal.c core/log.c core/life/vm_log.c
HOST_SRC_terminal := $(TERMINAL_SRC) $(CONSOLE_SRC) core/life/last_words.c
$(TERMINAL_SRC:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart

# Its writes of CSRs are seen.
HOST_TESTS += vmids
HOST_SRC_vmids := tests/host/test_vmids.c arch/riscv/hart/gstage.c arch/riscv/hart/pte.c
$(HOST_SRC_vmids:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart -DHOST_CSR_WRITES

HOST_TESTS += gstage
HOST_SRC_gstage := tests/host/test_gstage.c arch/riscv/hart/gstage.c arch/riscv/hart/pte.c
$(HOST_SRC_gstage:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart -DHOST_CSR_WRITES

# The driver of the IOMMU, on one that may have any defect.
HOST_TESTS += iommu
FAKE_IOMMU_SRC := tests/host/fake_iommu.c tests/host/fake_iommu_regs.c
IOMMU_SRC := $(addprefix arch/riscv/devices/,iommu.c iommu_queue.c iommu_try.c)
HOST_SRC_iommu := tests/host/test_iommu.c $(FAKE_IOMMU_SRC) $(IOMMU_SRC)
$(HOST_SRC_iommu:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart \
	-iquote tests/host/device -DHOST_CSR_READS

# Who serves faults of DMA, and what is told of them.
HOST_TESTS += dma
HOST_SRC_dma := tests/host/test_dma.c core/io/dma.c core/io/dma_faults.c core/io/dma_log.c \
	core/lib/printf.c $(FAKE_IOMMU_SRC) $(IOMMU_SRC)
DMA_SRC := tests/host/test_dma.c core/io/dma.c core/io/dma_faults.c core/io/dma_log.c
$(DMA_SRC:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart -DHOST_CSR_READS

# How long a VM waits for its devices.
HOST_TESTS += vm_quiet
HOST_SRC_vm_quiet := tests/host/test_vm_quiet.c core/io/vm_quiet.c
$(HOST_SRC_vm_quiet:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart

# A fence that another hart does not answer.
HOST_TESTS += remote_fence
HOST_SRC_remote_fence := tests/host/test_remote_fence.c core/vsbi/vsbi_rfence.c vpmu/bits.c
$(HOST_SRC_remote_fence:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart

# The moment at which several harts read.
HOST_TESTS += observe_moment
HOST_SRC_observe_moment := tests/host/test_observe_moment.c core/watch/observe_request.c vpmu/bits.c
$(HOST_SRC_observe_moment:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart

# The steps in which an MSI-X table is cleared.
HOST_TESTS += pci_msix
HOST_SRC_pci_msix := tests/host/test_pci_msix.c arch/riscv/devices/pci_reset.c \
	arch/riscv/devices/pci.c
$(HOST_SRC_pci_msix:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart

# The map of HS, beside a register that takes what the hart has.
HOST_TESTS += hs_map
HOST_SRC_hs_map := tests/host/test_hs_map.c arch/riscv/hart/hs_map.c arch/riscv/hart/pte.c
$(HOST_SRC_hs_map:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart -DHOST_CSR_WRITES

# Combined events, on the counters of another hart.
HOST_TESTS += combining_hart
COMBINING_HART_SRC := $(addprefix tests/host/,test_combining_hart.c combining_hart.c \
	delegated_csrs.c opensbi_pmu.c) $(addprefix arch/riscv/counters/,hpm.c hpm_sbi.c \
	hpm_raw.c)
HOST_SRC_combining_hart := $(COMBINING_HART_SRC) vpmu/bits.c vpmu/selector.c
$(COMBINING_HART_SRC:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart -DHOST_FIRMWARE \
	-DHOST_CSR_WRITES

# Two filters of one event on that hart, as boot tries them.
HOST_TESTS += selfcheck
SELFCHECK_SRC := tests/host/test_selfcheck.c arch/riscv/counters/hpm_selfcheck.c
HOST_SRC_selfcheck := $(SELFCHECK_SRC) $(filter-out %/test_combining_hart.c,\
	$(COMBINING_HART_SRC)) vpmu/bits.c vpmu/selector.c
$(SELFCHECK_SRC:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart -DHOST_FIRMWARE \
	-DHOST_CSR_WRITES

# What that hart shows of OF.
HOST_TESTS += flag_trials
FLAG_TRIALS_SRC := tests/host/test_flag_trials.c arch/riscv/counters/hpm_flag_trials.c
HOST_SRC_flag_trials := $(FLAG_TRIALS_SRC) $(filter-out %/test_combining_hart.c,\
	$(COMBINING_HART_SRC)) vpmu/bits.c vpmu/selector.c
$(FLAG_TRIALS_SRC:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart -DHOST_FIRMWARE \
	-DHOST_CSR_WRITES -DHOST_CSR_READS

# An event table beside that hart's answers.
HOST_TESTS += hpm_table
HPM_TABLE_SRC := tests/host/test_hpm_table.c arch/riscv/counters/hpm_table.c
HOST_SRC_hpm_table := $(HPM_TABLE_SRC) $(filter-out %/test_combining_hart.c,\
	$(COMBINING_HART_SRC)) vpmu/bits.c vpmu/selector.c
$(HPM_TABLE_SRC:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart -DHOST_FIRMWARE \
	-DHOST_CSR_WRITES

# vpmu/ on the sbi back end, above a firmware that fails.
HOST_TESTS += sbi_faults
SBI_FAULTS_SRC := tests/host/test_sbi_faults.c tests/host/fake_firmware.c core/pmu/vpmu_port.c \
	$(addprefix arch/riscv/counters/,hpm.c hpm_sbi.c hpm_fixed.c hpm_raw.c)
HOST_SRC_sbi_faults := $(SBI_FAULTS_SRC) $(VPMU_SRC)
$(SBI_FAULTS_SRC:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart -DHOST_FIRMWARE \
	-DHOST_CSR_WRITES

# Chains of callers, of a guest in the host's memory.
HOST_TESTS += unwind
HOST_SRC_unwind := tests/host/test_unwind.c core/vcpu/unwind.c
$(HOST_SRC_unwind:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart

# What the serial line has of them.
HOST_TESTS += sample_pack
HOST_SRC_sample_pack := tests/host/test_sample_pack.c core/operator/sample_pack.c

# Rings of samples, and periods at a rate.
HOST_TESTS += samples
HOST_SRC_samples := tests/host/test_samples.c core/watch/samples.c
$(HOST_SRC_samples:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart

# Rings of a VM that is an operator, with any contents.
HOST_TESTS += operator_rings
HOST_SRC_operator_rings := tests/host/test_operator_rings.c core/operator/operator_rings.c
$(HOST_SRC_operator_rings:%=$(B)/host/obj/%.o): HOST_CFLAGS += -iquote tests/host/hart

# Harts that are threads, under ThreadSanitizer: what one hands to another must be in order.
THREADS_SRC := $(addprefix tests/host/,test_threads.c threads.c) core/log.c core/console/ring.c \
	core/lib/printf.c core/dispatch/serve_requests.c \
	$(addprefix core/vcpu/,exit_record.c vcpu_requests.c vm_command.c) \
	$(addprefix core/watch/,observe_request.c trace.c) \
	core/vsbi/vsbi_hsm.c vpmu/bits.c
THREADS_CFLAGS = $(filter-out -fsanitize=%,$(HOST_CFLAGS)) -fsanitize=thread -Wno-tsan \
	-iquote tests/host/hart -DHOST_THREADS -DHOST_CSR_READS
$(B)/host/threads: $(THREADS_SRC) $(wildcard tests/host/threads.h core/*/*.h \
		tests/host/hart/*/*/*.h tests/host/hart/*/*/*/*.h)
	@mkdir -p $(@D)
	@echo "  HOSTCC  $@"
	$(Q)$(HOSTCC) $(THREADS_CFLAGS) $(filter %.c,$^) -lcmocka -lpthread -o $@
# And ports of networks on such harts.
PORTS_THREADS_SRC := tests/host/test_ports_threads.c $(PORTS_SRC)
$(B)/host/ports_threads: $(PORTS_THREADS_SRC) $(wildcard tests/host/ports_driver.h core/*/*.h \
		tests/host/hart/*/*/*.h tests/host/hart/*/*/*/*.h)
	@mkdir -p $(@D)
	@echo "  HOSTCC  $@"
	$(Q)$(HOSTCC) $(THREADS_CFLAGS) $(filter %.c,$^) -lcmocka -lpthread -o $@
.PHONY: host-threads
host-threads: $(B)/host/threads $(B)/host/ports_threads
	$(B)/host/threads
	$(B)/host/ports_threads
