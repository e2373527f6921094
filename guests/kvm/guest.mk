# SPDX-License-Identifier: Apache-2.0
# A small VMM, so that bare guests run under Linux's KVM as well. It is a Linux process, so it
# wants a C library, which CROSS_COMPILE need not have.
LINUX_CROSS ?= riscv64-linux-gnu-
KVM_GUEST_DIR := $(B)/guests/kvm
KVM_GUEST_SRC := $(sort $(wildcard guests/kvm/*.c))

$(KVM_GUEST_DIR)/vmm: $(KVM_GUEST_SRC) $(wildcard guests/kvm/*.h) $(B)/guest/fdt.stamp \
		Makefile guests/kvm/guest.mk | setup
	@mkdir -p $(@D)
	@echo "  GUEST   $@"
	$(Q)$(LINUX_CROSS)gcc -std=c11 -O2 -g $(WARN) $(REPEATABLE) -static -I. \
		-isystem $(B)/guest/include \
		$(KVM_GUEST_SRC) $(B)/guest/libfdt.a -o $@

GUESTS += $(KVM_GUEST_DIR)/vmm
