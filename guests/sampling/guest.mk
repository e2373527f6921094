# SPDX-License-Identifier: Apache-2.0
include guests/lib/lib.mk
$(eval $(call bare_guest,sampling,$(sort $(wildcard guests/sampling/*.c guests/sampling/*.S))))
