# SPDX-License-Identifier: Apache-2.0
# What tools/bench-disk runs in Debian guests: a Linux process, so it wants a C library.
$(B)/guests/blockreads/blockreads: guests/blockreads/blockreads.c Makefile \
		guests/blockreads/guest.mk | setup
	@mkdir -p $(@D)
	@echo "  GUEST   $@"
	$(Q)$(LINUX_CROSS)gcc -march=rv64gc -mabi=lp64d -O2 -std=gnu11 $(WARN) -static -fno-pic \
		-no-pie $(REPEATABLE) $< -o $@

# For QEMU, not for the guest.
$(B)/bench/insns.so: tools/lib/benchlib/insns.c tools/lib/benchlib/plugin.h Makefile | setup
	@mkdir -p $(@D)
	@echo "  HOSTCC  $@"
	$(Q)$(HOSTCC) -std=gnu11 -O2 $(WARN) -I. -fPIC -shared $< -o $@

GUESTS += $(B)/guests/blockreads/blockreads
