# SPDX-License-Identifier: Apache-2.0
# What the guests of dts/one-disk.dts boot: the one that has the disk, and those that have it over
# the network.
$(B)/guest/one-disk-client.cpio: $(LINUX_GUEST_DIR)/attach guests/one-disk/shutdown
$(B)/guest/one-disk-%.cpio: tools/initramfs guests/one-disk/% guests/one-disk/common \
		guests/one-disk/lease $(B)/guest/linux.stamp
	@echo "  CPIO    $@"
	$(Q)rm -rf $(B)/guest/one-disk-$* && mkdir $(B)/guest/one-disk-$*
	$(Q)cp $(ONE_DISK_MODULES_$*)/order $(B)/guest/one-disk-$*
	$(Q)for module in $(ONE_DISK_MODULES_$*)/*.ko; do \
		$(CROSS_COMPILE)strip --strip-unneeded $$module \
			-o $(B)/guest/one-disk-$*/$${module##*/} || exit; done
	$(Q)tools/initramfs -o $@ --dev $(B)/guest/root/usr/bin/busybox=usr/bin/busybox \
		guests/one-disk/$*=init guests/one-disk/common=usr/lib/one-disk \
		guests/one-disk/lease=usr/lib/lease \
		$(B)/guest/one-disk-$*=modules \
		$(ONE_DISK_$*) \
		'bin->usr/bin' 'sbin->usr/bin' 'lib->usr/lib'

# Drivers are stripped of local symbols, of which Debian's have so many that Linux executes eight
# times as many instructions to load them. They lose their signatures, too: Linux says that it is
# tainted by them, and would refuse them in lockdown.
ONE_DISK_MODULES_io := $(B)/guest/io-modules
ONE_DISK_MODULES_client := $(B)/guest/nbd-modules
ONE_DISK_io := $(B)/guest/nbd-root= $(B)/guest/ssh-root=
ONE_DISK_client := $(LINUX_GUEST_DIR)/attach=usr/bin/attach guests/one-disk/shutdown=shutdown

GUESTS += $(B)/guest/one-disk-io.cpio $(B)/guest/one-disk-client.cpio

# What the guests write to these stays there, until this is newer. The second has Debian's root file
# systems, copies of that of `make debian-disk`.
$(B)/debian/one-disk/disk.img: tools/make/one-disk guests/one-disk/init $(B)/guest/linux.stamp
	@echo "  DISK    $@"
	$(Q)tools/make/one-disk $(@D) alpha beta

$(B)/debian/one-disk-debian/disk.img: tools/make/one-disk | debian-disk
	@echo "  DISK    $@"
	$(Q)tools/make/one-disk --debian $(B)/debian/disk.ext4 $(@D) alpha beta
