/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of other privilege modes, of extensions that a guest does not have, and undefined
 * ones. */
#include "guests/bare/bare.h"

static const uint32_t insns[] = {
    0x30200073, /* mret */
    0x7b200073, /* dret */
    0x00200073, /* uret */
    0x70200073, /* mnret */
    0x62000073, /* hfence.gvma */
    0x22000073, /* hfence.vvma */
    0x66000073, /* hinval.gvma */
    0x26000073, /* hinval.vvma */
    0x16000073, /* sinval.vma */
    0x18000073, /* sfence.w.inval */
    0x60054573, /* hlv.b a0, (a0) */
    0x6c054573, /* hlv.d a0, (a0) */
    0x64354573, /* hlvx.hu a0, (a0) */
    0x62a54073, /* hsv.b a0, (a0) */
    0x6ea54073, /* hsv.d a0, (a0) */
    0x00100073, /* ebreak */
    0x00000000, /* illegal */
    0xffffffff, /* illegal */
    0xc0001073, /* unimp */
    0x0000000b, /* custom-0 */
    0x0000002b, /* custom-1 */
    0x0000005b, /* custom-2 */
    0x0000007b, /* custom-3 */
    0x00052023, /* sw zero, 0(a0) */
    0x0005200f, /* cbo.inval (a0) */
    0x0015200f, /* cbo.clean (a0) */
    0x0025200f, /* cbo.flush (a0) */
    0x0045200f, /* cbo.zero (a0) */
    0x0100000f, /* pause */
    0x00d00073, /* wrs.nto */
    0x01d00073, /* wrs.sto */
    0x0c0572d7, /* vsetvli */
    0x02056507, /* vle32.v */
    0x12000073, /* sfence.vma */
    0x0000100f, /* fence.i */
    0x0ff0000f, /* fence */
};

uint64_t hostile_instructions(void)
{
	uint64_t passed = 0;

	for (unsigned i = 0; i < sizeof(insns) / sizeof(insns[0]); i++) {
		passed += insn_passes(insns[i], 0x40000000);
		passed += insn_passes_in_user(insns[i], 0x40000000);
	}
	/* In U: supervisor instructions. */
	passed += insn_passes_in_user(0x10200073, 0); /* sret */
	return passed;
}
