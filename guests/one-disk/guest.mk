# SPDX-License-Identifier: Apache-2.0
# What the guests of dts/one-disk.dts boot: the one that has the disk, and those that have it over
# the network.
$(B)/guest/one-disk-client.cpio: $(LINUX_GUEST_DIR)/attach guests/one-disk/shutdown
$(B)/guest/one-disk-io.cpio: guests/one-disk/lease
$(B)/guest/one-disk-%.cpio: tools/initramfs guests/one-disk/% guests/one-disk/common \
		$(B)/guest/linux.stamp
	@echo "  CPIO    $@"
	$(Q)tools/initramfs -o $@ --dev $(B)/guest/root/usr/bin/busybox=usr/bin/busybox \
		guests/one-disk/$*=init guests/one-disk/common=usr/lib/one-disk \
		$(ONE_DISK_$*) \
		'bin->usr/bin' 'sbin->usr/bin' 'lib->usr/lib'

ONE_DISK_io := $(B)/guest/nbd-root= $(B)/guest/ssh-root= $(B)/guest/io-modules=modules \
	guests/one-disk/lease=usr/lib/lease
ONE_DISK_client := $(B)/guest/nbd-modules=modules $(LINUX_GUEST_DIR)/attach=usr/bin/attach \
	guests/one-disk/shutdown=shutdown

GUESTS += $(B)/guest/one-disk-io.cpio $(B)/guest/one-disk-client.cpio

# What the guests write to these stays there, until this is newer. The second has Debian's root file
# systems, copies of that of `make debian-disk`.
$(B)/debian/one-disk/disk.img: tools/make/one-disk guests/one-disk/init $(B)/guest/linux.stamp
	@echo "  DISK    $@"
	$(Q)tools/make/one-disk $(@D) alpha beta

$(B)/debian/one-disk-debian/disk.img: tools/make/one-disk | debian-disk
	@echo "  DISK    $@"
	$(Q)tools/make/one-disk --debian $(B)/debian/disk.ext4 $(@D) alpha beta
