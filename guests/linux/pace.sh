# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=dash
# A test of a Linux guest (see init): answers pace.messages= messages of guests/bare/io/pace.c,
# through the bell that uio_pci_generic serves.
while read -r module; do
	insmod "/modules/$module.ko" || exit 1
done </modules/order
driver=/sys/bus/pci/drivers/uio_pci_generic
echo 1af4 10f0 >"$driver/new_id"
for uio in "$driver"/0000:*/uio/uio*; do
	# shellcheck disable=SC2013
	for messages in $(sed -n 's/.*pace\.messages=\([0-9]*\).*/\1/p' /proc/cmdline); do
		pace "${uio%/uio/*}" "/dev/${uio##*/}" "$messages" || exit 1
	done
done
