# SPDX-License-Identifier: Apache-2.0
# Tally: build, tests and the first run. `make help` lists the targets.
# Everything that is made goes to build/; nothing is configured, every tool can be overridden.

CROSS_COMPILE ?= riscv64-linux-gnu-
HOSTCC        ?= cc
PYTHON        := /usr/bin/python3
DTC           ?= dtc
B             := build
# Where the hypervisor goes. DEBUG=1 makes one that checks its invariants (core/hart/check.h),
# beside it.
# Where RAM begins, if not at 0x80000000: Tally is built for one address.
BOARD_RAM     ?=
OUT           := $(B)$(if $(BOARD_RAM),/board-$(BOARD_RAM))$(if $(DEBUG),/debug)

# Compile in parallel when the caller did not say otherwise.
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 1)
endif
.DELETE_ON_ERROR:
# Nothing that was made on the way is removed. Without prerequisites, or it is for those alone.
.SECONDARY:
.SUFFIXES:
Q := $(if $(V),,@)

.PHONY: all
all: $(OUT)/tally.bin $(B)/host/vm-check $(B)/start.elf

include tests/host/host.mk

# The same bytes from any folder, or figures would tell where a guest was built. The compiler takes
# the folder's name from PWD, which may have come by a link.
REPEATABLE := -ffile-prefix-map=$(CURDIR)=.
export PWD := $(CURDIR)

# --- What the build needs -----------------------------------------------------------------
# tools/setup is quick and silent when nothing is missing, so it simply runs every time.
.PHONY: setup setup-test
setup:
	$(Q)tools/setup
# What only checks and tests need.
setup-test: setup
	$(Q)tools/setup test

# libfdt for the hypervisor; kernel, busybox and perf for the guests.
PARTS_SRC := tools/fetch/guest-parts tools/fetch/apt-private
$(B)/guest/fdt.stamp: $(PARTS_SRC) | setup
	$(Q)tools/fetch/guest-parts fdt
$(B)/guest/linux.stamp: $(PARTS_SRC) | setup $(B)/guest/fdt.stamp
	$(Q)tools/fetch/guest-parts linux
# What tests load a network with.
$(B)/guest/load/VERSIONS: tools/fetch/load-parts | setup
	$(Q)tools/fetch/load-parts

# --- The hypervisor -----------------------------------------------------------------------
WARN := -Wall -Wextra -Werror -Wshadow -Wundef -Wstrict-prototypes -Wmissing-prototypes \
	-Wold-style-definition -Wwrite-strings -Wpointer-arith -Wcast-qual -Wvla -Wredundant-decls

# medany and static: linked at one address, entered by a RISC-V Image header. No
# __global_pointer$ is defined, so the linker relaxes calls but never uses gp, which is the guest's.
TARGET_ARCH_FLAGS := -march=rv64gc -mabi=lp64d -mcmodel=medany -msmall-data-limit=0
TARGET_FLAGS := $(TARGET_ARCH_FLAGS) -ffreestanding -fno-pic -fno-pie -fno-common -fdata-sections \
	-O2 -g \
	-fno-strict-aliasing -fno-asynchronous-unwind-tables $(REPEATABLE) \
	-I. -I$(OUT)/gen -isystem $(B)/guest/include
# libfdt's headers want the C library's string.h; an -elf toolchain borrows the cross one.
ifneq ($(findstring -elf-,$(CROSS_COMPILE)),)
TARGET_FLAGS += -idirafter /usr/riscv64-linux-gnu/include
endif
TARGET_FLAGS += $(if $(DEBUG),-DTALLY_DEBUG)
# No C code of ours uses t2 to t6, so a short exit need not save them (switch.S). clang knows them
# by their numbers only.
TARGET_CFLAGS := -std=c11 -fstack-protector-strong $(WARN) $(TARGET_FLAGS) \
	-ffixed-x7 -ffixed-x28 -ffixed-x29 -ffixed-x30 -ffixed-x31

# The whole program at once: calls from core/ into vpmu/ and back through its port, and from there
# to the hart's registers, are inlined. Only switch.S knows symbols that nobody in C calls.
LTO := -flto -flto-partition=none

# vpmu/ has no array on any stack, and its structures' addresses are passed in every call.
$(OUT)/obj/vpmu/%.c.o: TARGET_CFLAGS += -fstack-protector

# What runs at boot, or from life to life of a VM, is small rather than quick. The
# compiler keeps this with each function, so it holds beyond LTO. tools/make/footprint shows what it
# is worth, tools/bench-calls and tools/bench-switch that no guest pays for it.
COLD := $(filter-out core/host/fdt_walk.c core/host/fdt_index.c core/host/fdt_nodes.c,\
		$(wildcard $(addsuffix /*.c,core/boot core/debug core/host core/life core/tree))) \
	core/panic.c $(addprefix core/lib/,event_names.c numbers.c sbi_names.c words.c) \
	$(addprefix vpmu/,config_moves.c room.c) \
	$(addprefix core/console/,console_edit.c console_keys.c ring.c) \
	$(wildcard core/operator/*.c) \
	$(addprefix arch/riscv/counters/,ad_trial.c fw_events.c hpm_exact.c hpm_fixed_probe.c \
		hpm_flag_trials.c hpm_probe.c hpm_raw.c hpm_selfcheck.c hpm_table.c \
		quirk_counters.c) \
	$(addprefix arch/riscv/devices/,device_reset.c iommu.c iommu_queue.c iommu_try.c pci.c \
		pci_access.c pci_reset.c) \
	$(addprefix arch/riscv/hart/,gstage.c hs_map.c pte.c isa.c isa_trial.c quirks.c touch.c) \
	core/hart/hart_kind.c $(addprefix core/dispatch/,account_class.c hs_faults.c) \
	core/devices/virtio.c $(addprefix core/io/,dma.c dma_faults.c dma_log.c functions.c \
		notifier_function.c operator_function.c ports.c power_key.c virtio_mmio.c \
		virtio_messages.c virtio_pci.c vm_quiet.c vm_virt.c vpci.c) \
	$(addprefix core/pmu/,budget_hart.c vm_overflow.c vm_pmu_policy.c) core/sched/vcpu_move.c \
	$(addprefix core/vcpu/,exit_record.c long_call.c vm.c vm_command.c) \
	$(addprefix core/vsbi/,vsbi_hsm.c vsbi_tally.c) \
	$(addprefix core/watch/,account.c observe.c observe_request.c stays.c trace.c)
$(COLD:%=$(OUT)/obj/%.o): TARGET_CFLAGS += -Os

# No other build has these.
DEBUG_SRC := $(sort $(wildcard arch/riscv/debug/*.S core/debug/*.c))
TALLY_SRC := $(sort $(wildcard arch/riscv/hart/*.S)) \
	$(filter-out arch/riscv/hart/asm_offsets.c $(DEBUG_SRC),$(sort $(wildcard \
		arch/riscv/*/*.c core/*.c core/*/*.c vpmu/*.c))) $(if $(DEBUG),$(DEBUG_SRC))
TALLY_OBJ := $(TALLY_SRC:%=$(OUT)/obj/%.o)
OFFSETS   := $(OUT)/gen/asm_offsets.h

# Before OpenSBI, on a machine of tools/run that has no device tree: tools/lib/runlib/machines.py.
# Without symbols, one of which is the random name of the compiler's temporary file.
$(B)/start.elf: tools/lib/runlib/start.S Makefile | setup
	@mkdir -p $(@D)
	@echo "  AS      $@"
	$(Q)$(CROSS_COMPILE)gcc $(TARGET_ARCH_FLAGS) -nostdlib -static -o $@ $< \
		-Wl,--build-id=none,-s,-N,-Ttext=0x81e00000,--no-warn-rwx-segments

# All objects must agree on the flags about registers: hence the dependency on this file.
$(OUT)/obj/%.c.o: %.c Makefile | setup $(B)/guest/fdt.stamp
	@mkdir -p $(@D)
	@echo "  CC      $<"
	$(Q)$(CROSS_COMPILE)gcc $(TARGET_CFLAGS) $(LTO) -MMD -MP -c $< -o $@

$(OUT)/obj/%.S.o: %.S $(OFFSETS) Makefile | setup
	@mkdir -p $(@D)
	@echo "  AS      $<"
	$(Q)$(CROSS_COMPILE)gcc $(TARGET_FLAGS) -MMD -MP -c $< -o $@

# Offsets of C structures for assembly: asm_offsets.c emits lines `->NAME VALUE`.
$(OFFSETS): arch/riscv/hart/asm_offsets.c | setup $(B)/guest/fdt.stamp
	@mkdir -p $(@D)
	@echo "  GEN     $@"
	$(Q)$(CROSS_COMPILE)gcc $(TARGET_CFLAGS) -MMD -MP -MT $@ -MF $(OUT)/gen/asm_offsets.h.d \
		-S $< -o $(OUT)/gen/asm_offsets.s
	$(Q){ echo "/* Generated from $<. */"; \
		sed -En 's/^.*->([A-Za-z_][A-Za-z0-9_]*) [$$#]*(-?[0-9]+).*/#define \1 \2/p' \
		$(OUT)/gen/asm_offsets.s; } > $@

# libfdt, but for what core/host/fdt_walk.c and fdt_nodes.c do in its place.
FDT_OWN := fdt_offset_ptr fdt_next_tag fdt_getprop fdt_getprop_namelen fdt_getprop_by_offset \
	fdt_check_full fdt_next_node fdt_node_offset_by_phandle \
	fdt_node_offset_by_compatible fdt_supernode_atdepth_offset
$(OUT)/obj/libfdt.a: Makefile | setup $(B)/guest/fdt.stamp
	@mkdir -p $(@D)
	@echo "  WEAKEN  $@"
	$(Q)$(CROSS_COMPILE)objcopy $(FDT_OWN:%=--weaken-symbol=%) $(B)/guest/libfdt.a $@

$(OUT)/tally.elf: $(TALLY_OBJ) arch/riscv/hart/link.ld tools/check/elf tools/check/calls \
		tools/check/stack tools/check/stacks.toml $(OUT)/obj/libfdt.a
	@echo "  LD      $@"
	@rm -f $(OUT)/tally.elf.*.ci
	$(Q)$(CROSS_COMPILE)gcc $(TARGET_CFLAGS) $(LTO) -static -nostdlib -nostartfiles -no-pie \
		-Wl,--fatal-warnings -Wl,--build-id=none \
		-Wl,-Map=$(OUT)/tally.map -Wl,--defsym=board_ram=$(or $(BOARD_RAM),0x80000000) \
		-T arch/riscv/hart/link.ld $(TALLY_OBJ) $(OUT)/obj/libfdt.a \
		-fcallgraph-info=su -o $@
	$(Q)mv -f $(OUT)/tally.elf.*.ci $(OUT)/tally.ci
	$(Q)tools/check/elf $(CROSS_COMPILE) $@
	$(Q)tools/check/calls $(CROSS_COMPILE) $(TALLY_OBJ)
	$(Q)tools/check/stack $(CROSS_COMPILE) $@ $(OUT)/tally.ci $(OFFSETS) >$(OUT)/stacks.txt

$(OUT)/tally.bin: $(OUT)/tally.elf
	@echo "  BIN     $@"
	$(Q)$(CROSS_COMPILE)objcopy -O binary $< $@

-include $(TALLY_OBJ:.o=.d) $(OUT)/gen/asm_offsets.h.d
-include $(wildcard guests/*/guest.mk)
-include tools/vm_check/vm-check.mk
-include tests/spike/spike.mk tests/firmware/firmware.mk

# --- Host unit tests ----------------------------------------------------------------------
HOST_CFLAGS := -std=c11 -g -O1 $(WARN) -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=all -I.
HOST_BIN := $(HOST_TESTS:%=$(B)/host/%)
HOST_OBJ := $(sort $(foreach t,$(HOST_TESTS),$(HOST_SRC_$(t):%=$(B)/host/obj/%.o)))

$(B)/host/obj/%.c.o: %.c | setup-test
	@mkdir -p $(@D)
	@echo "  HOSTCC  $<"
	$(Q)$(HOSTCC) $(HOST_CFLAGS) -MMD -MP -c $< -o $@

define host_program
$(B)/host/$(1): $(HOST_SRC_$(1):%=$(B)/host/obj/%.o)
	@echo "  HOSTLD  $$@"
	$$(Q)$(HOSTCC) $(HOST_CFLAGS) $$^ -lcmocka $(HOST_LIBS_$(1)) -o $$@

.PHONY: host-$(1)
host-$(1): $(B)/host/$(1)
	$(B)/host/$(1)
endef
$(foreach t,$(HOST_TESTS),$(eval $(call host_program,$(t))))
-include $(HOST_OBJ:.o=.d)
include tests/host/machine/machine.mk
-include tests/fuzz/fuzz.mk tests/host/coverage.mk

# --- Tests --------------------------------------------------------------------------------
GUESTS ?=
.PHONY: guests test test-host test-qemu test-long check check-clang
guests: $(GUESTS)

test-host: $(HOST_BIN) $(B)/host/threads $(B)/host/ports_threads setup-test
	$(Q)tools/make/host-tests $(HOST_BIN) $(B)/host/threads $(B)/host/ports_threads \
		tests/order/order.py

# The handshakes of docs/memory-order.md, judged by RISC-V's memory model.
.PHONY: host-order
host-order: setup-test
	tests/order/order.py

# T selects tests as pytest's -k does: make test-qemu T=two_linux. Tests of one file stay together:
# they share boots. TESTS takes files, MARKS what pytest's -m does: tests that are marked `long` are
# the same claims with more seeds, boots or time.
TESTS ?= tests/qemu
MARKS ?= not long
# TEST_STRESS=4 runs them beside so many busy loops.
TEST_STRESS ?=
BESIDE_LOAD := $(if $(TEST_STRESS),tools/make/beside-load $(TEST_STRESS))
TEST_JOBS ?= $(shell n=$$(nproc); echo $$((n < 4 ? n : 4)))
test-qemu: all guests setup-test
	$(Q)$(if $(DEBUG),$(MAKE) DEBUG= all)
	$(Q)mkdir -p $(B)/test
	$(Q)$(if $(DEBUG),TALLY_KERNEL=$(abspath $(OUT)/tally.bin)) \
		$(BESIDE_LOAD) $(PYTHON) -m pytest -p no:cacheprovider -v --durations=5 \
		-n $(TEST_JOBS) --dist loadscope -m '$(MARKS)' $(if $(T),-k '$(T)') $(TESTS)

# Would these notice a defect of the hart's own state? HOSTILE_MUTANTS='--only registers'
.PHONY: hostile-mutants
hostile-mutants: all guests setup-test
	$(Q)tests/qemu/life/hostile_mutants.py $(HOSTILE_MUTANTS) $(B)/mutants/hostile

# Everything longer than that, in parts that are left out once they passed: PART='fuzz debug/2'.
PART ?=
test-long: setup-test
	$(Q)tools/test-long $(PART)

# What SBI PMU calls cost. BENCH='--against tests/bench/calls.json' tells what differs.
.PHONY: bench-calls
bench-calls: all $(B)/guests/bench.bin $(B)/guests/bare.bin
	$(Q)tools/bench-calls $(BENCH)

# What world switches cost, likewise with tests/bench/switch.json.
.PHONY: bench-switch
bench-switch: all $(B)/guests/bench.bin
	$(Q)tools/bench-switch $(BENCH)

# What a boot costs, likewise with tests/bench/boot.json.
.PHONY: bench-boot
bench-boot: all $(B)/guests/bench.bin $(B)/bench/boot.so
	$(Q)tools/bench-boot $(BENCH)

# All three anew for the record, and what the documentation has of them: tools/pages/figures --help.
.PHONY: figures
figures: all $(B)/guests/bench.bin $(B)/guests/bare.bin $(B)/bench/boot.so
	$(Q)for kind in calls switch 'boot --runs 3'; do \
		tools/bench-$$kind --json >$(B)/bench/$${kind%% *}.json || exit; \
	done
	$(Q)for kind in calls switch boot; do \
		cp $(B)/bench/$$kind.json tests/bench/ || exit; \
	done
	$(Q)tools/pages/figures

# How late windows begin, as a histogram. BENCH=--all: beside every neighbour.
.PHONY: bench-windows
bench-windows: all $(B)/guests/bare.bin
	$(Q)tools/bench-windows $(BENCH)

# What it costs to sample sixteen VMs at once. BENCH='--seconds 1' is shorter.
.PHONY: bench-samples
bench-samples: all $(B)/guests/bare.bin
	$(Q)tools/bench-samples $(BENCH)

# What Tally takes of the machine's memory, by folder.
.PHONY: footprint
footprint: $(OUT)/tally.bin
	$(Q)tools/make/footprint $(OUT)/tally.elf

# For QEMU, not for a guest.
$(B)/bench/boot.so: tools/lib/benchlib/boot.c tools/lib/benchlib/plugin.h Makefile | setup
	@mkdir -p $(@D)
	@echo "  HOSTCC  $@"
	$(Q)$(HOSTCC) -std=gnu11 -O2 $(WARN) -I. -fPIC -shared $< -o $@

# What the virtual PMU costs, all in all: tools/bench --help. BENCH='--set full' is the long one.
# Then what reads of a disk cost, and how late windows begin.
.PHONY: bench
bench: all guests setup-test
	$(Q)tools/bench $(BENCH)
	$(Q)tools/bench-disk
	$(Q)tools/bench-windows

# What is said of KVM, OpenSBI, QEMU and perf, as Debian has them today. PEERS='--no-bench'.
PEERS ?=
.PHONY: peers
peers: all guests setup-test
	$(Q)tools/pages/peers $(PEERS)

check: setup-test $(B)/guest/fdt.stamp check-clang
	$(Q)tools/check/all

# A second compiler reads every C file of the hypervisor with the flags that it is built with.
TARGET_C := $(filter %.c,$(TALLY_SRC)) arch/riscv/hart/asm_offsets.c
check-clang: $(OFFSETS) setup-test
	$(Q)for file in $(TARGET_C) $(filter %.c,$(DEBUG_SRC)); do \
		case $$file in core/debug/*) define=-DTALLY_DEBUG;; *) define=;; esac; \
		$(CLANG) --target=riscv64-linux-gnu $(TARGET_CFLAGS) $$define \
			-isystem /usr/riscv64-linux-gnu/include -Wno-unknown-warning-option \
			-fsyntax-only $$file || exit 1; \
	done && echo "check: clang: ok"

# perf with the names and metrics of dts/pmu, for guests; TABLES='FILE.yaml...' adds others.
TABLES ?=
.PHONY: perf-events
perf-events: $(B)/guest/linux.stamp
	$(Q)tools/setup perf
	$(Q)tools/perf-events $(TABLES)

# A disk with Debian, to be copied for each guest that shall have one (docs/disks.md).
.PHONY: debian-disk
debian-disk: $(B)/guest/linux.stamp $(B)/guest/disk.cpio
	$(Q)tools/setup debian
	$(Q)tools/debian-disk

# The same with a kernel of its own, which a firmware finds (docs/own-firmware.md).
.PHONY: bootable-disk
bootable-disk: $(B)/guest/linux.stamp $(B)/guest/disk.cpio
	$(Q)tools/setup debian
	$(Q)tools/debian-disk --bootable

# The pictures of the documentation, which are committed: for who changes a docs/pictures/*.pikchr.
.PHONY: pictures
pictures:
	$(Q)tools/setup pictures
	$(Q)tools/pages/pictures

# Parts that need no guest run side by side, and what the others need is built beside them. Each
# part runs even if another failed; the last line adds up the counts.
TEST_PARTS := check test-host mutants fuzz-replay coverage core-coverage
PASSED := $(B)/test/passed
$(PASSED)-%: %
	$(Q)touch $@
test: setup-test
	$(Q)rm -rf $(B)/test; mkdir -p $(B)/test
	$(Q)part() { $(BESIDE_LOAD) $(MAKE) --no-print-directory TEST_STRESS= "$$@"; }; \
	part -k -j$(TEST_JOBS) $(TEST_PARTS:%=$(PASSED)-%) all guests; \
	part $(PASSED)-test-qemu; \
	failed=; for part in $(TEST_PARTS) test-qemu; do \
		[ -e $(PASSED)-$$part ] || failed="$$failed $$part"; \
	done; tools/make/test-summary $$failed

# --- The first run ------------------------------------------------------------------------
# With a terminal: a shell on each guest. Without: both report, and the exit status tells.
VMS       ?= dts/two-linux.dts
VMS_SHELL ?= dts/two-linux-shell.dts
# Trees of one's own may name any guest; those above are of two files.
RUN_OWN := $(filter-out dts/two-linux.dts dts/two-linux-shell.dts,$(VMS) $(VMS_SHELL))
.PHONY: run run-parts
run-parts: $(OUT)/tally.bin $(B)/guest/linux.stamp $(B)/guest/initramfs.cpio $(if $(RUN_OWN),guests)

# What it takes, one line a phase; then the guests. Leaving them by Ctrl-A x is no error.
run: setup
	$(Q)tools/make/phases "building Tally and its guests" \
		$(MAKE) --no-print-directory run-parts $(if $(V),V=1)
	$(Q)if [ -t 0 ]; then \
		tools/run --vms $(VMS_SHELL) --profile interactive --brief || [ $$? -eq 130 ]; \
	else \
		tools/run --vms $(VMS) --profile exact --timeout 600 --brief \
			--expect "report end 0"; \
	fi

# A Debian guest and a control loop, which exchange a million messages (docs/shared.md).
.PHONY: run-partitions run-partitions-parts
run-partitions-parts: $(OUT)/tally.bin $(B)/guest/partitions.cpio $(B)/guests/bare.bin

run-partitions: setup
	$(Q)tools/make/phases "building Tally and its guests" \
		$(MAKE) --no-print-directory run-partitions-parts $(if $(V),V=1)
	$(Q)tools/run --vms dts/partitions.dts --profile exact --timeout 1800 --brief \
		--expect "pace: 1000000 messages.* 0 wrong"

# Two Debian guests, each with its own disk, to log in to from here (docs/disks.md). DEBIAN takes
# options of tools/run-debian, as DEBIAN=--fresh.
DEBIAN ?=
.PHONY: run-debian run-debian-parts
run-debian-parts: $(OUT)/tally.bin debian-disk operator-tools $(B)/guest/partitions.cpio \
		$(B)/guests/bare.bin

run-debian: setup
	$(Q)tools/make/phases "building Tally and its guests" \
		$(MAKE) --no-print-directory run-debian-parts $(if $(V),V=1)
	$(Q)tools/run-debian $(DEBIAN) || [ $$? -eq 130 ]

# A Debian guest with a firmware of its own (docs/own-firmware.md).
.PHONY: run-own-firmware run-own-firmware-parts
run-own-firmware-parts: $(OUT)/tally.bin bootable-disk

run-own-firmware: setup
	$(Q)tools/make/phases "building Tally and its guest" \
		$(MAKE) --no-print-directory run-own-firmware-parts $(if $(V),V=1)
	$(Q)tools/run-debian --own-firmware $(DEBIAN) || [ $$? -eq 130 ]

# One disk and one network card for three guests: one has them, and serves them to the others
# (docs/one-disk.md). ONE_DISK takes options of tools/make/run-one-disk, as ONE_DISK=--debian. With
# small root file systems and a terminal: a shell on each. Without: they write, and end.
ONE_DISK ?=
.PHONY: run-one-disk run-one-disk-parts
run-one-disk-parts: $(OUT)/tally.bin $(B)/guest/one-disk-io.cpio $(B)/guest/one-disk-client.cpio \
		$(B)/debian/one-disk$(findstring -debian,$(ONE_DISK))/disk.img

run-one-disk: setup
	$(Q)tools/make/phases "building Tally and its guests" \
		$(MAKE) --no-print-directory run-one-disk-parts $(if $(V),V=1)
	$(Q)tools/make/run-one-disk $(ONE_DISK) || [ $$? -eq 130 ]

# What asks Tally in a guest whose VM is an operator (docs/operator.md).
.PHONY: operator-tools
operator-tools: $(LINUX_GUEST_DIR)/tally-operator
	$(Q)tools/make/operator-tools $(B)/operator $<

include tools/make/release.mk

# What was fetched stays, so that all can be built again without a network; so do the disks of
# Debian guests, with what these wrote.
FETCHED := guest platform debian
.PHONY: clean distclean help
clean:
	$(Q)[ ! -d $(B) ] || find $(B) -mindepth 1 -maxdepth 1 $(FETCHED:%=! -name %) \
		-exec rm -rf {} +
	rm -f $(B)/guest/initramfs.cpio

distclean:
	rm -rf $(B)

define HELP
Targets:
  run         boot two Debian guests that share a hart and run perf stat (VMS=FILE.dts)
  run-debian  boot two Debian guests, each with a disk and a network of its own, and tell how to
              log in to them (DEBIAN=--aia: with an AIA; DEBIAN=--fresh: with new disks; 5 minutes
              more the first time)
  run-own-firmware  boot a Debian guest by a U-Boot of its own, from what its disk holds (10 minutes
              more the first time)
  run-one-disk  boot three Debian guests on a machine with one disk and one network card: one has
              them, and serves them to the others over a network between VMs, and tell how to log in
              to all (ONE_DISK=--debian: with Debian's root file systems; 5 minutes more the first
              time)
  all         build/tally.bin, the hypervisor, and what tools/vm-check needs; DEBUG=1:
              build/debug/tally.bin, which checks its invariants (test-qemu runs on that)
  vm-check    what tools/vm-check needs: would Tally accept a VM tree?
  run-partitions  boot a Debian guest and a control loop that exchange a million messages
  guests      the guests' kernel, initramfs and test programs
  test        check, test-host and test-qemu (TEST_STRESS=4 runs 4 busy loops beside)
  test-host   unit tests on this machine, under ASan and UBSan; host-NAME runs one
  test-qemu   tests on QEMU (T=EXPRESSION selects, TEST_JOBS=2 at once)
  test-long   everything longer, in parts (PART='NAME...' selects): tools/test-long --help
  mutants     defects put into vpmu/ one by one: the random model test has to find each
  core-mutants  the same of core/, on a machine of several harts (host-core)
  hostile-mutants  of a world switch and the back ends, on QEMU: tests beside hostile guests
  fuzz        coverage-guided fuzzers, FUZZ_SECONDS=60 each; fuzz-replay: their corpus only
  coverage    lines and branches of vpmu/ that the host tests reach; core-coverage: of core/
  bench       what the virtual PMU costs, beside bare metal and KVM: answers and a report
              (90 seconds on two idle cores; BENCH='--set full' for all of it, 7 minutes), then
              reads of a disk (some minutes), and how late windows begin
  bench-calls what SBI PMU calls cost, on OpenSBI and on Tally (BENCH=OPTIONS)
  bench-switch what a world switch costs, against live counters and against VMs (BENCH=OPTIONS)
  bench-boot  instructions from Tally's entry to the first guest's, by phase (BENCH=OPTIONS)
  figures     measures these three for tests/bench, and writes the tables of docs/ made of them
  bench-windows  how late windows begin beside quiet and hostile neighbours (BENCH=OPTIONS)
  bench-samples  what it costs to sample sixteen VMs at once (BENCH=OPTIONS; some minutes)
  peers       run KVM, OpenSBI, QEMU and perf as Debian has them today, and write what they do into
              tests/peers.toml, docs/firmwares.md, docs/evaluation.md and README.md
              (PEERS=--no-bench leaves out the figures of docs/evaluation.md; some minutes)
  check       format, SPDX, include direction, links, static analysis
  perf-events perf for riscv64 that knows the events of dts/pmu by name: build/perf-events/perf
              (160 MB are fetched, once; TABLES=FILE.yaml adds a table)
  debian-disk  a disk with Debian, to be copied for guests, with OpenSSH, perf and sqlite3 (410 MB;
              5 minutes, once)
  bootable-disk  the same with a kernel of its own, for run-own-firmware
  operator-tools  what asks Tally from a Linux guest, as a package and as files (docs/operator.md)
  install     the tools for PREFIX=/usr, below DESTDIR if that is given (docs/install.md)
  release     sources, packages of Debian, SBOM and checksums, in build/release
  pictures    draw the pictures of the documentation anew, from docs/pictures/*.pikchr
  setup       install what building and running need and this computer lacks (as root; the other
              targets do it too); setup-test: what checks and tests need as well
  clean       remove what was built; what was fetched and disks stay (build/guest, build/platform,
              build/debian)
  distclean   remove build/, what was fetched included
Variables: CROSS_COMPILE, HOSTCC, VMS, VMS_SHELL, TABLES, T, V=1 (show commands), BOARD_RAM
(docs/boards.md).
tools/run --help tells how to boot a VM tree of your own.
endef
help:
	@: $(info $(HELP))
