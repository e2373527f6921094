# SPDX-License-Identifier: Apache-2.0
# A firmware that can be told what to do wrong: README.md.
FIRMWARE_SRC   := $(sort $(wildcard tests/firmware/*.c)) tests/firmware/entry.S
FIRMWARE_OBJ   := $(FIRMWARE_SRC:%=$(B)/%.o)
FIRMWARE_FLAGS := -march=rv64gc -mabi=lp64d -mcmodel=medany -ffreestanding -fno-pic -nostdlib \
	-mno-relax -msmall-data-limit=0 -fno-stack-protector -std=c11 -O2 -g $(WARN) \
	-I. $(REPEATABLE)

$(FIRMWARE_OBJ): $(B)/tests/firmware/%.o: tests/firmware/% Makefile | setup
	@mkdir -p $(@D)
	@echo "  CC      $<"
	$(Q)$(CROSS_COMPILE)gcc $(FIRMWARE_FLAGS) -MMD -MP -c -o $@ $<

$(B)/tests/firmware.elf: $(FIRMWARE_OBJ) tests/firmware/firmware.ld
	$(Q)$(CROSS_COMPILE)gcc $(FIRMWARE_FLAGS) -static -no-pie \
		-Wl,--build-id=none,--no-warn-rwx-segments -Wl,-T,tests/firmware/firmware.ld \
		-o $@ $(FIRMWARE_OBJ)

$(B)/tests/firmware.bin: $(B)/tests/firmware.elf
	$(Q)$(CROSS_COMPILE)objcopy -O binary --set-section-flags .bss=alloc,load,contents $< $@

GUESTS += $(B)/tests/firmware.bin
-include $(FIRMWARE_OBJ:.o=.d)
