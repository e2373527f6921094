/* SPDX-License-Identifier: Apache-2.0 */
/* Turns ISA strings of the host device tree into a bitmap. */
#ifndef ARCH_RISCV_HART_ISA_H
#define ARCH_RISCV_HART_ISA_H

#include "core/lib/types.h"

/* Extensions that need work of Tally. The others, from ISA_GUEST_FIRST on, are names only: guests
 * have them unchanged. */
enum isa_ext {
	ISA_H,
	ISA_V,
	ISA_SSCOFPMF,
	ISA_SSAIA,
	ISA_SSTC,
	ISA_SMCNTRPMF,
	ISA_SSCCFG,
	ISA_SVADU,
	ISA_SVPBMT,
	ISA_ZICBOM,
	ISA_ZICBOZ,
	ISA_ZICBOP,
	ISA_GUEST_FIRST,
	ISA_EXTENSIONS = ISA_GUEST_FIRST + 40
};

extern const char *const isa_names[ISA_EXTENSIONS];

#define ISA_CBO (BIT(ISA_ZICBOM) | BIT(ISA_ZICBOZ) | BIT(ISA_ZICBOP))

/* Maximum size of a string that isa_guest() writes, in bytes. */
#define ISA_TEXT_BYTES 512U

/* Returns the bits of an extension name in the host tree, in upper or lower case: one bit, or
 * several if the name stands for several extensions; 0: unknown name. */
uint64_t isa_bits(const char *name, size_t len);

/* Returns the extensions in the strings of riscv,isa-extensions: `len` bytes with their NULs. */
uint64_t isa_list(const char *list, size_t len);

/* Returns the extensions in a riscv,isa string ("rv64imafdch_zicntr_...") of at most len bytes. */
uint64_t isa_parse(const char *isa, size_t len);

/*
 * Writes the riscv,isa string of a guest and its list of extension names, which are pointers into
 * buf or to constants. Both contain the extensions of `host` that guests can have, including V.
 * `names` has room for ISA_EXTENSIONS + 8 pointers. Returns the number of names.
 */
size_t isa_guest(uint64_t host, bool sscofpmf, char *buf, size_t size, const char **names);

#endif
