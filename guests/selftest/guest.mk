# SPDX-License-Identifier: Apache-2.0
include guests/lib/lib.mk
$(eval $(call bare_guest,selftest,$(sort $(wildcard guests/selftest/*.c guests/selftest/*.S))))
