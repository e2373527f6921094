# SPDX-License-Identifier: Apache-2.0
include guests/lib/lib.mk
$(eval $(call bare_guest,bench,$(sort $(wildcard guests/bench/*.c))))
