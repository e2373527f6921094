# SPDX-License-Identifier: Apache-2.0
# make install, make release (docs/install.md).
PREFIX  ?= /usr
DESTDIR ?=
OPERATOR_TOOLS := $(B)/operator/tally-operator-tools
# Where RAM begins on the boards that an installed Tally is for, beside 0x80000000.
BOARDS  := $(foreach ram,0x0 0x100000000,$(B)/board-$(ram)/tally.bin)

ifeq ($(BOARD_RAM)$(DEBUG),)
.PHONY: FORCE
# One after the other: each build fetches what is missing.
$(BOARDS): $(B)/board-%/tally.bin: FORCE $(B)/tally.bin
	$(Q)$(MAKE) --no-print-directory BOARD_RAM=$* $@

.PHONY: install install-parts release release-tools
release-tools: setup
	$(Q)tools/setup release

install-parts: all operator-tools $(BOARDS) release-tools

install: install-parts
	$(Q)tools/make/install '$(DESTDIR)' '$(PREFIX)' $(OPERATOR_TOOLS).tar.gz

release: install-parts
	$(Q)tools/make/release $(B)/release $(OPERATOR_TOOLS).deb $(OPERATOR_TOOLS).tar.gz
endif
