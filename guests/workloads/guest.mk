# SPDX-License-Identifier: Apache-2.0
# What tools/bench runs in Debian guests: a Linux process, so it wants a C library.
$(B)/guests/workloads/workload: $(sort $(wildcard guests/workloads/*.[ch])) \
		Makefile guests/workloads/guest.mk | setup
	@mkdir -p $(@D)
	@echo "  GUEST   $@"
	$(Q)$(LINUX_CROSS)gcc -march=rv64gc -mabi=lp64d -O2 -std=gnu11 $(WARN) -static -fno-pic \
		-no-pie $(REPEATABLE) -I. $(filter %.c,$^) -o $@

GUESTS += $(B)/guests/workloads/workload
