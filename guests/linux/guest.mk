# SPDX-License-Identifier: Apache-2.0
# The Linux guests' initramfs: busybox, perf, our init and our programs of known length.
LINUX_GUEST_DIR := $(B)/guests/linux

$(LINUX_GUEST_DIR)/%: guests/linux/%.S | setup
	@mkdir -p $(@D)
	@echo "  GUEST   $@"
	$(Q)$(CROSS_COMPILE)gcc -march=rv64gc -mabi=lp64d -static -nostdlib -no-pie \
		-Wl,--build-id=none -Wl,-z,noseparate-code $< -o $@

# Programs of tests, which put them into the initramfs themselves.
$(LINUX_GUEST_DIR)/mmap_reads: guests/linux/pair.S guests/linux/pair.h guests/lib/count.S
$(LINUX_GUEST_DIR)/%: guests/linux/%.c | setup
	@mkdir -p $(@D)
	@echo "  GUEST   $@"
	$(Q)$(CROSS_COMPILE)gcc -march=rv64gc -mabi=lp64d -O2 -std=gnu11 -Wall -Wextra -Werror \
		-static -fno-pic -no-pie -I. $(filter %.c %.S,$^) -o $@

$(B)/guest/initramfs.cpio: tools/initramfs guests/linux/init guests/linux/profile \
		$(LINUX_GUEST_DIR)/work $(B)/guest/linux.stamp
	@echo "  CPIO    $@"
	$(Q)tools/initramfs -o $@ --dev $(B)/guest/root= guests/linux/init=init \
		guests/linux/profile=etc/profile $(LINUX_GUEST_DIR)/work=usr/bin/work \
		'bin->usr/bin' 'sbin->usr/bin' 'lib->usr/lib'

GUESTS += $(B)/guest/initramfs.cpio
