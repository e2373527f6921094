/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words for the decoder of trapped instructions: 4 bytes for an instruction, 8 bytes for htinst.
 * The decoder must say the same of an instruction and of its form in htinst.
 */
#include <stdbool.h>
#include <string.h>

#include "arch/riscv/hart/insn.h"
#include "tests/fuzz/fuzz.h"

static void check_fields(struct insn i)
{
	require(i.kind <= INSN_CSR);
	require(i.length == 2 || i.length == 4);
	require(i.reg < 32 && i.csr_src < 32 && i.addr_offset < 32 && i.csr < 0x1000);
	if (i.kind == INSN_LOAD || i.kind == INSN_STORE)
		require(i.width == 1 || i.width == 2 || i.width == 4 || i.width == 8);
	if (i.kind == INSN_CSR) {
		require(i.csr_op >= INSN_CSR_RW && i.csr_op <= INSN_CSR_RC);
		require(i.csr_writes || (i.csr_src == 0 && i.csr_op != INSN_CSR_RW));
	}
}

static bool same_access(struct insn a, struct insn b)
{
	return a.kind == b.kind && a.reg == b.reg && a.width == b.width && a.length == b.length &&
	       (a.kind == INSN_STORE || a.width == 8 || a.sign_extend == b.sign_extend);
}

/* Returns the transformed load or store, as the privileged manual defines it. */
static uint32_t transform(struct insn i, uint32_t addr_offset)
{
	uint32_t width = (uint32_t)__builtin_ctz(i.width);
	uint32_t word = addr_offset << 15 | 3;

	if (i.kind == INSN_STORE)
		word |= 0x20 | (uint32_t)i.reg << 20;
	else
		word |= (uint32_t)i.reg << 7;
	word |= (i.kind == INSN_LOAD && !i.sign_extend && i.width < 8 ? width | 4 : width) << 12;
	return i.length == 2 ? word & ~2U : word;
}

static void check_raw(uint32_t raw)
{
	struct insn i = insn_decode(raw);
	struct insn h;

	check_fields(i);
	require(i.length == ((raw & 3) == 3 ? 4 : 2));
	require(!i.implicit && !i.addr_offset);
	if (i.length == 2) {
		struct insn low = insn_decode(raw & 0xffff);

		require(i.kind != INSN_CSR);
		require(low.kind == i.kind && (i.kind == INSN_OTHER || same_access(i, low)));
	}
	if (i.kind != INSN_LOAD && i.kind != INSN_STORE)
		return;
	h = insn_decode_htinst(transform(i, raw >> 27));
	require(same_access(i, h) && h.addr_offset == raw >> 27);
}

static void check_htinst(uint64_t htinst)
{
	struct insn h = insn_decode_htinst(htinst);

	check_fields(h);
	require(h.kind == INSN_OTHER || h.kind == INSN_LOAD || h.kind == INSN_STORE);
	if (h.kind == INSN_OTHER)
		return;
	require(!h.implicit && htinst >> 32 == 0);
	require(same_access(h, insn_decode_htinst(transform(h, h.addr_offset))));
	/* Everything except offset, address and length is as in memory. */
	if (h.length == 4)
		require(same_access(h, insn_decode((uint32_t)htinst)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	while (size >= 12) {
		uint32_t raw;
		uint64_t htinst;

		memcpy(&raw, data, 4);
		memcpy(&htinst, data + 4, 8);
		check_raw(raw);
		check_htinst(htinst);
		check_htinst(raw);
		data += 12;
		size -= 12;
	}
	return 0;
}
