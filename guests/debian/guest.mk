# SPDX-License-Identifier: Apache-2.0
# What a Debian guest with a disk boots: drivers and a first process, which goes on with the disk's.
$(B)/guest/disk.cpio: tools/initramfs guests/debian/init $(B)/guest/linux.stamp
	@mkdir -p $(@D)
	@echo "  CPIO    $@"
	$(Q)tools/initramfs -o $@ --dev $(B)/guest/root/usr/bin/busybox=usr/bin/busybox \
		guests/debian/init=init $(B)/guest/disk-modules=modules \
		$(B)/guest/key-modules=key-modules \
		'bin->usr/bin' 'sbin->usr/bin'

GUESTS += $(B)/guest/disk.cpio
