# SPDX-License-Identifier: Apache-2.0
# What a Debian guest with a disk boots: drivers and a first process, which goes on with the disk's.
$(B)/guest/disk.cpio: tools/initramfs guests/debian/init guests/debian/pack $(B)/guest/linux.stamp
	@mkdir -p $(@D)
	@echo "  CPIO    $@"
	$(Q)guests/debian/pack tools/initramfs $(B)/guest $@

GUESTS += $(B)/guest/disk.cpio
