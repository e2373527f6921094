/* SPDX-License-Identifier: Apache-2.0 */
/* ISA strings of the host device tree -> a bitmap; later code asks the bitmap. */
#ifndef ARCH_ISA_H
#define ARCH_ISA_H

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
	/* Those that a guest may have as they are: no state, no CSR, nothing for Tally to do. Left
	 * out are Zcb, whose loads and stores insn.c does not know, and Zkr, whose CSR is the
	 * firmware's. */
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

/* Room for the longest string that isa_guest() writes. */
#define ISA_TEXT_BYTES 512U

const char *isa_name(enum isa_ext ext);

/* One extension name of a host tree, any case; 0 for those we do not know. */
uint64_t isa_bit(const char *name, size_t len);

/* Extensions in a riscv,isa string ("rv64imafdch_zicntr_..."), of at most len bytes. */
uint64_t isa_parse(const char *isa, size_t len);

/*
 * The riscv,isa string of a guest, and its list of extension names (pointers into buf's memory
 * or constants). Extensions of the host that guests have to do without are not in it; V is, if it
 * is in host. names has room for ISA_EXTENSIONS + 8; returns how many.
 */
size_t isa_guest(uint64_t host, bool sscofpmf, char *buf, size_t size, const char **names);

#endif
