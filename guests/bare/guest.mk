# SPDX-License-Identifier: Apache-2.0
include guests/lib/lib.mk
$(eval $(call bare_guest,bare,$(sort $(wildcard guests/bare/*.c guests/bare/*.S))))
