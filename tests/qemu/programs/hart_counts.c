/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin of QEMU's: counts the instructions of each hart, in all privilege modes, and writes a
 * line to the file that the argument out= names whenever a hart has gone from one mark to the next:
 * the hart's number, and the instructions from mark to mark, one of the marks included. A mark is
 * an instruction without an effect (guests/bare/hostile/steady.c), so nobody helps: what the
 * firmware and Tally do on the hart is counted as well.
 *
 * QEMU's harts have to run on threads of their own (profile smp). Where they take turns, as under
 * -icount, QEMU 10.0.2 takes code for that of the hart which executed it first.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tools/lib/benchlib/plugin.h"

#define MARK_BEGINS 0x5a002013U /* slti zero, zero, 0x5a0 */
#define MARK_ENDS   0x5a102013U /* slti zero, zero, 0x5a1 */
#define HARTS       64U

struct scoreboard;
struct insn;
struct entry {
	struct scoreboard *score;
	size_t offset;
};

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);
struct scoreboard *qemu_plugin_scoreboard_new(size_t size);
uint64_t qemu_plugin_u64_get(struct entry entry, unsigned int hart);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t i);
size_t qemu_plugin_insn_data(const struct insn *insn, void *data, size_t size);
#define INLINE_ADD 0
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct insn *insn, int op,
                                                         struct entry entry, uint64_t by);
void qemu_plugin_register_vcpu_insn_exec_cb(struct insn *insn, void (*cb)(unsigned int, void *),
                                            int flags, void *data);

static struct entry executed;
static uint64_t begun[HARTS];
static FILE *out;

static void begins(unsigned int hart, void *data)
{
	(void)data;
	begun[hart % HARTS] = qemu_plugin_u64_get(executed, hart);
}

/* A line at once: QEMU may be ended at any time. */
static void ends(unsigned int hart, void *data)
{
	(void)data;
	fprintf(out, "%u %" PRIu64 "\n", hart,
	        qemu_plugin_u64_get(executed, hart) - begun[hart % HARTS]);
	fflush(out);
}

static void translated(struct qemu_plugin_tb *block)
{
	size_t n = qemu_plugin_tb_n_insns(block);

	for (size_t i = 0; i < n; i++) {
		struct insn *insn = qemu_plugin_tb_get_insn(block, i);
		uint32_t word = 0;

		if (qemu_plugin_insn_data(insn, &word, sizeof(word)) == sizeof(word)) {
			if (word == MARK_BEGINS)
				qemu_plugin_register_vcpu_insn_exec_cb(insn, begins, 0, NULL);
			else if (word == MARK_ENDS)
				qemu_plugin_register_vcpu_insn_exec_cb(insn, ends, 0, NULL);
		}
		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, INLINE_ADD, executed, 1);
	}
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4) != 0)
		return -1;
	out = fopen(argv[0] + 4, "w");
	executed.score = qemu_plugin_scoreboard_new(sizeof(uint64_t));
	call_translated(id);
	return out && executed.score ? 0 : -1;
}
