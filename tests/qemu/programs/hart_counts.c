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
 *
 * Debian has no package with QEMU's header, so what is used of it is declared here
 * (include/qemu/qemu-plugin.h).
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MARK_BEGINS 0x5a002013U /* slti zero, zero, 0x5a0 */
#define MARK_ENDS   0x5a102013U /* slti zero, zero, 0x5a1 */
#define HARTS       64U

typedef uint64_t plugin_id;
struct scoreboard;
struct block;
struct insn;
struct entry {
	struct scoreboard *score;
	size_t offset;
};

extern int qemu_plugin_version;
int qemu_plugin_version = 4;
int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv);
struct scoreboard *qemu_plugin_scoreboard_new(size_t size);
uint64_t qemu_plugin_u64_get(struct entry entry, unsigned int hart);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, void (*cb)(plugin_id, struct block *));
size_t qemu_plugin_tb_n_insns(const struct block *block);
struct insn *qemu_plugin_tb_get_insn(const struct block *block, size_t i);
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

static void translate(plugin_id id, struct block *block)
{
	size_t n = qemu_plugin_tb_n_insns(block);

	(void)id;
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

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4) != 0)
		return -1;
	out = fopen(argv[0] + 4, "w");
	executed.score = qemu_plugin_scoreboard_new(sizeof(uint64_t));
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	return out && executed.score ? 0 : -1;
}
