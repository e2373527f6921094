/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin of QEMU's translator that counts the instructions of all privilege levels between two
 * marks, which a guest makes (guests/blockreads): a line for each pair, in the file that out=
 * names, with their number and how many of them were below the guest, of firmware and Tally. These
 * are told by their addresses: neither Linux nor its programs execute anything from 2 to 4 GiB. A
 * hart that waits executes nothing, and counts nothing. An instruction that traps is counted, and
 * once more when it is executed again.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tools/lib/benchlib/plugin.h"

#define EXPORT __attribute__((visibility("default")))
#define MARK   0x7a102013U

#define LOW_BEGIN 0x80000000U
#define LOW_END   0x100000000UL

typedef struct {
	struct qemu_plugin_scoreboard *score;
	size_t offset;
} qemu_plugin_u64;
struct qemu_plugin_insn;
struct qemu_info;
enum { QEMU_PLUGIN_INLINE_ADD_U64 };
enum { QEMU_PLUGIN_CB_NO_REGS };

struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t element_size);
uint64_t qemu_plugin_u64_sum(qemu_plugin_u64 entry);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t size);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *insn, int op,
                                                         qemu_plugin_u64 entry, uint64_t imm);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
                                            void (*cb)(unsigned int, void *), int flags,
                                            void *data);

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
                               char **argv);

static qemu_plugin_u64 executed, below;
static uint64_t begin, begin_below;
static bool open;
static FILE *out;

static void marked(unsigned int hart, void *data)
{
	uint64_t now = qemu_plugin_u64_sum(executed), now_below = qemu_plugin_u64_sum(below);

	(void)hart, (void)data;
	if (open) {
		fprintf(out, "%" PRIu64 " %" PRIu64 "\n", now - begin, now_below - begin_below);
		fflush(out);
	}
	open = !open;
	begin = now;
	begin_below = now_below;
}

static void translated(struct qemu_plugin_tb *tb)
{
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t at = qemu_plugin_insn_vaddr(insn);
		uint32_t raw = 0;

		qemu_plugin_insn_data(insn, &raw, sizeof(raw));
		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
		    insn, QEMU_PLUGIN_INLINE_ADD_U64, executed, 1);
		if (at >= LOW_BEGIN && at < LOW_END)
			qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
			    insn, QEMU_PLUGIN_INLINE_ADD_U64, below, 1);
		if (raw == MARK)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, marked, QEMU_PLUGIN_CB_NO_REGS,
			                                       NULL);
	}
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4) != 0 || !(out = fopen(argv[0] + 4, "w"))) {
		fprintf(stderr, "insns: wants out=FILE, which it can write\n");
		return 1;
	}
	executed.score = qemu_plugin_scoreboard_new(sizeof(uint64_t));
	below.score = qemu_plugin_scoreboard_new(sizeof(uint64_t));
	call_translated(id);
	return 0;
}
