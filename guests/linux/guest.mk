# SPDX-License-Identifier: Apache-2.0
# The Linux guests' initramfs: busybox, perf, our init and our programs of known length.
LINUX_GUEST_DIR := $(B)/guests/linux

# Each source has an object with a name of its own: the linker takes over those of temporary files.
LINUX_GUEST_OBJ := $(LINUX_GUEST_DIR)/obj
LINUX_GUEST_FLAGS := -march=rv64gc -mabi=lp64d -O2 -std=gnu11 -Wall -Wextra -Werror \
	-fno-pic -no-pie -static -I. $(REPEATABLE)

$(LINUX_GUEST_OBJ)/%.o: % Makefile guests/linux/guest.mk | setup
	@mkdir -p $(@D)
	$(Q)$(CROSS_COMPILE)gcc $(LINUX_GUEST_FLAGS) -MMD -MP -c $< -o $@

$(LINUX_GUEST_DIR)/%: $(LINUX_GUEST_OBJ)/guests/linux/%.S.o
	@echo "  GUEST   $@"
	$(Q)$(CROSS_COMPILE)gcc $(LINUX_GUEST_FLAGS) -nostdlib \
		-Wl,--build-id=none -Wl,-z,noseparate-code $^ -o $@

# Programs of tests, which put them into the initramfs themselves.
$(LINUX_GUEST_DIR)/mmap_reads: $(addprefix $(LINUX_GUEST_OBJ)/guests/,linux/pair.S.o lib/count.S.o)
$(LINUX_GUEST_DIR)/%: $(LINUX_GUEST_OBJ)/guests/linux/%.c.o
	@echo "  GUEST   $@"
	$(Q)$(CROSS_COMPILE)gcc $(LINUX_GUEST_FLAGS) $^ -o $@

-include $(wildcard $(LINUX_GUEST_OBJ)/guests/*/*.d)

$(B)/guest/initramfs.cpio: tools/initramfs guests/linux/init guests/linux/profile \
		$(LINUX_GUEST_DIR)/work $(B)/guest/linux.stamp
	@echo "  CPIO    $@"
	$(Q)tools/initramfs -o $@ --dev $(B)/guest/root= guests/linux/init=init \
		guests/linux/profile=etc/profile $(LINUX_GUEST_DIR)/work=usr/bin/work \
		'bin->usr/bin' 'sbin->usr/bin' 'lib->usr/lib'

# What the Debian guest of dts/partitions.dts boots.
$(B)/guest/partitions.cpio: tools/initramfs guests/linux/init guests/linux/pace.sh \
		$(LINUX_GUEST_DIR)/pace $(B)/guest/linux.stamp
	@echo "  CPIO    $@"
	$(Q)tools/initramfs -o $@ --dev $(B)/guest/root/usr/bin/busybox=usr/bin/busybox \
		guests/linux/init=init guests/linux/pace.sh=test/pace \
		$(B)/guest/bell-modules=modules $(LINUX_GUEST_DIR)/pace=usr/bin/pace \
		'bin->usr/bin' 'sbin->usr/bin'

GUESTS += $(B)/guest/initramfs.cpio $(B)/guest/partitions.cpio
