/* SPDX-License-Identifier: Apache-2.0 */
/* Drivers of all VMs of ports_driver.h, and what they have sent and got: for test_ports.c and
 * test_ports_queues.c. */
#ifndef TESTS_HOST_PORTS_PLAIN_H
#define TESTS_HOST_PORTS_PLAIN_H

#include "tests/host/ports_driver.h"

#define STATUS 0x14U

extern struct driver plain_drivers[STATIONS];

/* All VMs have a driver; that of VM 0 is its first port's. */
void plain_start(uint64_t features, uint32_t buffers);

void plain_send(uint32_t from, const uint8_t to[6], uint32_t size);

/* The counts of this driver's port. */
void plain_assert_counts(uint32_t i, uint64_t sent, uint64_t refused, uint64_t received,
                         uint64_t lost);

/* Those of this mask have got n frames, all as they were sent, and the others none. */
void plain_assert_got(uint32_t mask, uint32_t n);

void plain_assert_status(uint32_t i, uint32_t status);

/* Runs tests with ports on a bus, all in slots, and some of each. Returns how many failed. */
#define plain_run(tests)                                                                           \
	({                                                                                         \
		static const uint32_t virt_[] = {0, 0xf, 0x5, 0xa};                                \
		int failed_ = 0;                                                                   \
		for (uint32_t i_ = 0; i_ < ARRAY_SIZE(virt_); i_++) {                              \
			stations_virt = virt_[i_];                                                 \
			failed_ += cmocka_run_group_tests(tests, NULL, NULL);                      \
		}                                                                                  \
		failed_;                                                                           \
	})

#endif
