/* SPDX-License-Identifier: Apache-2.0 */
/* Types and small helpers that every folder except vpmu/ may use. */
#ifndef CORE_LIB_TYPES_H
#define CORE_LIB_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BIT(n)           (1UL << (n))
#define ARRAY_SIZE(a)    (sizeof(a) / sizeof((a)[0]))
#define ALIGN_DOWN(x, a) ((x) & ~((a)-1UL))
#define ALIGN_UP(x, a)   ALIGN_DOWN((x) + (a)-1UL, a)

#define KIB(n) ((uint64_t)(n) << 10)
#define MIB(n) ((uint64_t)(n) << 20)
#define GIB(n) ((uint64_t)(n) << 30)

#define PAGE_SIZE 4096UL

/* Guest-physical and host-physical addresses are different types, so the compiler refuses to mix
 * them. */
typedef struct {
	uint64_t a;
} gpa_t;

typedef struct {
	uint64_t a;
} hpa_t;

#endif
