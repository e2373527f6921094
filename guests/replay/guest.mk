# SPDX-License-Identifier: Apache-2.0
# One program for each sequence: build/guests/replay-SEED.bin, with the sequence that
#   build/host/vpmu_model --record $(REPLAY_STEPS) SEED build/guests/replay/SEED.seq
# writes. A file of one's own at that place is taken as well.
include guests/lib/lib.mk
REPLAY_STEPS ?= 1500
REPLAY_OBJ := $(patsubst %,$(B)/guests/obj/%.o,$(BARE_LIB_SRC) guests/replay/main.c \
	guests/replay/engine.S)
-include $(REPLAY_OBJ:.o=.d)

$(B)/guests/replay/%.seq: $(B)/host/vpmu_model
	@mkdir -p $(@D)
	$(Q)$(B)/host/vpmu_model --record $(REPLAY_STEPS) $* $@

# Where guests do not get instret: the shorter stem is chosen.
$(B)/guests/replay/%-no-instret.seq: $(B)/host/vpmu_model
	@mkdir -p $(@D)
	$(Q)$(B)/host/vpmu_model --record-no-instret $(REPLAY_STEPS) $* $@

$(B)/guests/replay/%.seq.o: $(B)/guests/replay/%.seq
	$(Q)printf '%s\n' '.section .rodata.sequence,"a"' '.balign 8' '.globl sequence' \
		'sequence:' '.incbin "$<"' | \
		$(CROSS_COMPILE)gcc $(BARE_GUEST_FLAGS) -x assembler -c - -o $@

$(B)/guests/replay-%.elf: $(REPLAY_OBJ) $(B)/guests/replay/%.seq.o guests/lib/link.ld
	@echo "  GUESTLD $@"
	$(Q)$(CROSS_COMPILE)gcc $(BARE_GUEST_FLAGS) -static -no-pie -Wl,--build-id=none \
		-Wl,--no-warn-rwx-segments -Wl,-T,guests/lib/link.ld \
		$(filter %.o,$^) -o $@

$(B)/guests/replay-%.bin: $(B)/guests/replay-%.elf
	$(Q)$(CROSS_COMPILE)objcopy -O binary $< $@
