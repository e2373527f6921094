# SPDX-License-Identifier: Apache-2.0
# How a bare guest is built. A guest.mk includes this and says
#   $(eval $(call bare_guest,NAME,SOURCES))
# which makes $(B)/guests/NAME.bin and adds it to GUESTS.
ifndef BARE_GUEST_FLAGS
BARE_GUEST_FLAGS := -march=rv64gc -mabi=lp64d -mcmodel=medany -ffreestanding -fno-pic -fno-pie \
	-fno-stack-protector -fno-strict-aliasing -fno-asynchronous-unwind-tables -fno-common \
	-mno-relax -msmall-data-limit=0 -nostdlib -O2 -g -std=c11 $(WARN) -I. $(REPEATABLE)
BARE_LIB_SRC := $(sort $(wildcard guests/lib/*.S guests/lib/*.c))

$(B)/guests/obj/%.o: % Makefile guests/lib/lib.mk | setup
	@mkdir -p $(@D)
	@echo "  GUEST   $<"
	$(Q)$(CROSS_COMPILE)gcc $(BARE_GUEST_FLAGS) -MMD -MP -c $< -o $@

define bare_guest
BARE_OBJ_$(1) := $$(patsubst %,$$(B)/guests/obj/%.o,$$(BARE_LIB_SRC) $(2))
$$(B)/guests/$(1).elf: $$(BARE_OBJ_$(1)) guests/lib/link.ld
	@echo "  GUESTLD $$@"
	$$(Q)$$(CROSS_COMPILE)gcc $$(BARE_GUEST_FLAGS) -static-pie -Wl,--build-id=none \
		-Wl,--no-dynamic-linker,-z,notext \
		-Wl,--no-warn-rwx-segments -Wl,-T,guests/lib/link.ld $$(BARE_OBJ_$(1)) -o $$@
$$(B)/guests/$(1).bin: $$(B)/guests/$(1).elf
	$$(Q)$$(CROSS_COMPILE)objcopy -O binary $$< $$@
-include $$(BARE_OBJ_$(1):.o=.d)
GUESTS += $$(B)/guests/$(1).bin
endef
endif
