/* SPDX-License-Identifier: Apache-2.0 */
/* Turns ISA strings of the host device tree into a bitmap. */
#ifndef ARCH_RISCV_HART_ISA_H
#define ARCH_RISCV_HART_ISA_H

#include "core/lib/types.h"

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
	/* Guests have these unchanged: they have no state and no CSR, and need no work of Tally.
	 * Zcb is left out because insn.c does not know its loads and stores, and Zkr because the
	 * firmware controls its CSR. */
	ISA_GUEST_FIRST,
	ISA_ZICNTR = ISA_GUEST_FIRST,
	ISA_ZIFENCEI,
	ISA_ZIHINTPAUSE,
	ISA_ZIHPM,
	ISA_ZAWRS,
	ISA_ZFA,
	ISA_ZFH,
	ISA_ZFHMIN,
	ISA_ZBA,
	ISA_ZBB,
	ISA_ZBC,
	ISA_ZBS,
	ISA_SVINVAL,
	ISA_SVNAPOT,
	ISA_SVVPTC,
	ISA_ZIC64B,
	ISA_ZICCAMOA,
	ISA_ZICCIF,
	ISA_ZICCLSM,
	ISA_ZICCRSE,
	ISA_ZICOND,
	ISA_ZIHINTNTL,
	ISA_ZIMOP,
	ISA_ZMMUL,
	ISA_ZA64RS,
	ISA_ZAAMO,
	ISA_ZALRSC,
	ISA_ZABHA,
	ISA_ZACAS,
	ISA_ZCA,
	ISA_ZCD,
	ISA_ZBKB,
	ISA_ZBKC,
	ISA_ZBKX,
	ISA_ZKND,
	ISA_ZKNE,
	ISA_ZKNH,
	ISA_ZKSED,
	ISA_ZKSH,
	ISA_ZKT,
	ISA_EXTENSIONS
};

#define ISA_CBO (BIT(ISA_ZICBOM) | BIT(ISA_ZICBOZ) | BIT(ISA_ZICBOP))

/* Maximum size of a string that isa_guest() writes, in bytes. */
#define ISA_TEXT_BYTES 512U

const char *isa_name(enum isa_ext ext);

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
