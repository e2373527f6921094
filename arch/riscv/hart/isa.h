/* SPDX-License-Identifier: Apache-2.0 */
/* Turns ISA strings of the host device tree into a bitmap. */
#ifndef ARCH_RISCV_HART_ISA_H
#define ARCH_RISCV_HART_ISA_H

#include "core/lib/types.h"

/* Each extension with its name. First, those that need work of Tally. */
#define ISA_SPECIAL(X)                                                                             \
	X(ISA_H, "h")                                                                              \
	X(ISA_V, "v")                                                                              \
	X(ISA_SSCOFPMF, "sscofpmf")                                                                \
	X(ISA_SSAIA, "ssaia")                                                                      \
	X(ISA_SSTC, "sstc")                                                                        \
	X(ISA_SMCNTRPMF, "smcntrpmf")                                                              \
	X(ISA_SSCCFG, "ssccfg")                                                                    \
	X(ISA_SVADU, "svadu")                                                                      \
	X(ISA_SVPBMT, "svpbmt")                                                                    \
	X(ISA_ZICBOM, "zicbom")                                                                    \
	X(ISA_ZICBOZ, "zicboz")                                                                    \
	X(ISA_ZICBOP, "zicbop")
/* Guests have these unchanged: they have no state and no CSR, and need no work of Tally. Zcb is
 * left out because insn.c does not know its loads and stores, and Zkr because the firmware controls
 * its CSR. */
#define ISA_UNCHANGED(X)                                                                           \
	X(ISA_ZICNTR, "zicntr")                                                                    \
	X(ISA_ZIFENCEI, "zifencei")                                                                \
	X(ISA_ZIHINTPAUSE, "zihintpause")                                                          \
	X(ISA_ZIHPM, "zihpm")                                                                      \
	X(ISA_ZAWRS, "zawrs")                                                                      \
	X(ISA_ZFA, "zfa")                                                                          \
	X(ISA_ZFH, "zfh")                                                                          \
	X(ISA_ZFHMIN, "zfhmin")                                                                    \
	X(ISA_ZBA, "zba")                                                                          \
	X(ISA_ZBB, "zbb")                                                                          \
	X(ISA_ZBC, "zbc")                                                                          \
	X(ISA_ZBS, "zbs")                                                                          \
	X(ISA_SVINVAL, "svinval")                                                                  \
	X(ISA_SVNAPOT, "svnapot")                                                                  \
	X(ISA_SVVPTC, "svvptc")                                                                    \
	X(ISA_ZIC64B, "zic64b")                                                                    \
	X(ISA_ZICCAMOA, "ziccamoa")                                                                \
	X(ISA_ZICCIF, "ziccif")                                                                    \
	X(ISA_ZICCLSM, "zicclsm")                                                                  \
	X(ISA_ZICCRSE, "ziccrse")                                                                  \
	X(ISA_ZICOND, "zicond")                                                                    \
	X(ISA_ZIHINTNTL, "zihintntl")                                                              \
	X(ISA_ZIMOP, "zimop")                                                                      \
	X(ISA_ZMMUL, "zmmul")                                                                      \
	X(ISA_ZA64RS, "za64rs")                                                                    \
	X(ISA_ZAAMO, "zaamo")                                                                      \
	X(ISA_ZALRSC, "zalrsc")                                                                    \
	X(ISA_ZABHA, "zabha")                                                                      \
	X(ISA_ZACAS, "zacas")                                                                      \
	X(ISA_ZCA, "zca")                                                                          \
	X(ISA_ZCD, "zcd")                                                                          \
	X(ISA_ZBKB, "zbkb")                                                                        \
	X(ISA_ZBKC, "zbkc")                                                                        \
	X(ISA_ZBKX, "zbkx")                                                                        \
	X(ISA_ZKND, "zknd")                                                                        \
	X(ISA_ZKNE, "zkne")                                                                        \
	X(ISA_ZKNH, "zknh")                                                                        \
	X(ISA_ZKSED, "zksed")                                                                      \
	X(ISA_ZKSH, "zksh")                                                                        \
	X(ISA_ZKT, "zkt")

#define ISA_ENUMERATOR(ext, name) ext,
enum isa_ext {
	ISA_SPECIAL(ISA_ENUMERATOR) ISA_UNCHANGED(ISA_ENUMERATOR) ISA_EXTENSIONS,
	ISA_GUEST_FIRST = ISA_ZICNTR
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
