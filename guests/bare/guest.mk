# SPDX-License-Identifier: Apache-2.0
include guests/lib/lib.mk
# In the order of their names, so that the folder of a file changes nothing in the binary.
BARE_SRC := $(wildcard $(addprefix guests/bare/,*.c */*.c */*.S))
$(eval $(call bare_guest,bare,\
	$(foreach f,$(sort $(notdir $(BARE_SRC))),$(filter %/$f,$(BARE_SRC)))))
