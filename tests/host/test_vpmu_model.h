/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the program vpmu_model. */
#ifndef TESTS_HOST_TEST_VPMU_MODEL_H
#define TESTS_HOST_TEST_VPMU_MODEL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* test_fake_hart.c, test_combining_events.c: the kind of hart itself. */
int hart_test_group(void);

#endif
