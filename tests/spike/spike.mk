# SPDX-License-Identifier: Apache-2.0
# The spike: a stand-alone HS-mode program that drives the hart's counters by hand in both ways.
# It shares nothing with the hypervisor, so that it can show who is wrong.
CROSS_COMPILE ?= riscv64-linux-gnu-
SPIKE_BIN     := build/tests/spike.bin
SPIKE_SRC     := $(sort $(wildcard tests/spike/*.c)) tests/spike/entry.S
SPIKE_OBJ     := $(SPIKE_SRC:%=build/%.o)
SPIKE_FLAGS   := -march=rv64gc -mabi=lp64d -mcmodel=medany -ffreestanding -fno-pic -nostdlib \
		 -mno-relax -msmall-data-limit=0 -fno-stack-protector -std=c11 -O2 -g \
		 -Wall -Wextra -Werror -Wshadow -Wundef -Wstrict-prototypes -Wmissing-prototypes \
		 -I. $(REPEATABLE)

.PHONY: spike
spike: $(SPIKE_BIN)

$(SPIKE_OBJ): build/tests/spike/%.o: tests/spike/% Makefile
	@mkdir -p $(@D)
	$(Q)$(CROSS_COMPILE)gcc $(SPIKE_FLAGS) -MMD -MP -c -o $@ $<

build/tests/spike.elf: $(SPIKE_OBJ) tests/spike/spike.ld
	$(Q)$(CROSS_COMPILE)gcc $(SPIKE_FLAGS) -static -no-pie \
		-Wl,--build-id=none,--no-warn-rwx-segments \
		-Wl,-T,tests/spike/spike.ld -o $@ $(SPIKE_OBJ)

$(SPIKE_BIN): build/tests/spike.elf
	$(Q)$(CROSS_COMPILE)objcopy -O binary $< $@

-include $(SPIKE_OBJ:.o=.d)
