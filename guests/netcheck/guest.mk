# SPDX-License-Identifier: Apache-2.0
include guests/lib/lib.mk
$(eval $(call bare_guest,netcheck,$(sort $(wildcard guests/netcheck/*.c))))
