# SPDX-License-Identifier: Apache-2.0
# What the guests of dts/one-disk.dts boot: the one that has the disk, and those that have it over
# the network.
$(B)/guest/one-disk-client.cpio: $(LINUX_GUEST_DIR)/attach
$(B)/guest/one-disk-%.cpio: tools/initramfs guests/one-disk/% guests/one-disk/common \
		$(B)/guest/linux.stamp
	@echo "  CPIO    $@"
	$(Q)tools/initramfs -o $@ --dev $(B)/guest/root/usr/bin/busybox=usr/bin/busybox \
		guests/one-disk/$*=init guests/one-disk/common=usr/lib/one-disk \
		$(ONE_DISK_$*) \
		'bin->usr/bin' 'sbin->usr/bin' 'lib->usr/lib'

ONE_DISK_io := $(B)/guest/nbd-root= $(B)/guest/io-modules=modules
ONE_DISK_client := $(B)/guest/nbd-modules=modules $(LINUX_GUEST_DIR)/attach=usr/bin/attach

GUESTS += $(B)/guest/one-disk-io.cpio $(B)/guest/one-disk-client.cpio

# What the guests write to it stays there, until this is newer.
$(B)/debian/one-disk.img: tools/make/one-disk guests/one-disk/init $(B)/guest/linux.stamp
	@mkdir -p $(@D)
	@echo "  DISK    $@"
	$(Q)tools/make/one-disk $@ alpha beta
