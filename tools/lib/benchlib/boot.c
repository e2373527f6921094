/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin of QEMU's translator that counts what harts execute from one address to another: from
 * Tally's entry to its first entry into a guest, or until as many harts as guests= says have
 * entered one. In the file that out= names it leaves a line "HART ADDRESS COUNT" for each
 * instruction of Tally that was executed; address 0 is all that a hart executed below Tally, which
 * is the firmware. Of a hart that has entered a guest nothing more is counted. For
 * tools/bench-boot.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/lib/benchlib/plugin.h"

#define EXPORT __attribute__((visibility("default")))

#define FIRMWARE  0x80000000U
#define MAX_HARTS 8

struct qemu_plugin_insn;
struct qemu_info;
enum { QEMU_PLUGIN_CB_NO_REGS };

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
                                            void (*cb)(unsigned int, void *), int flags,
                                            void *data);

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
                               char **argv);

/* Of each hart: a counter for each two bytes from `from` to `to`, behind the firmware's. With
 * -icount harts take turns in one thread, and QEMU names any of them: only sums over all harts are
 * right. Counters in the emulator's own scoreboards would be quicker, but QEMU 10.0
 * crashes if those have more than one hart. */
static uint64_t *counted[MAX_HARTS];
static uint64_t from, to, first, last;
static bool begun, ended, entered[MAX_HARTS];
static _Atomic unsigned long guests = 1;
static FILE *out;

static void begins(unsigned int hart, void *data)
{
	(void)hart, (void)data;
	begun = true;
}

static void executed(unsigned int hart, void *index)
{
	if (begun && hart < MAX_HARTS && !entered[hart])
		counted[hart][(uintptr_t)index]++;
}

static void ends(unsigned int hart, void *data)
{
	(void)data;
	if (!begun || ended || hart >= MAX_HARTS || entered[hart])
		return;
	entered[hart] = true;
	if (--guests)
		return;
	ended = true;
	for (int i = 0; i < MAX_HARTS; i++) {
		for (uint64_t n = 0; n <= (to - from) / 2; n++) {
			if (counted[i][n])
				fprintf(out, "%d %" PRIx64 " %" PRIu64 "\n", i,
				        n ? from + 2 * (n - 1) : 0, counted[i][n]);
		}
	}
	fclose(out);
}

static void translated(struct qemu_plugin_tb *tb)
{
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb) && !ended; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t at = qemu_plugin_insn_vaddr(insn);
		uint64_t index = at < from ? 0 : 1 + (at - from) / 2;

		if (at == first)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, begins, QEMU_PLUGIN_CB_NO_REGS,
			                                       NULL);
		if (at >= FIRMWARE && at < to)
			qemu_plugin_register_vcpu_insn_exec_cb(
			    insn, executed, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)index);
		if (at == last)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, ends, QEMU_PLUGIN_CB_NO_REGS,
			                                       NULL);
	}
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		const char *value = strchr(argv[i], '=');

		if (!value)
			continue;
		value++;
		if (!strncmp(argv[i], "out=", 4))
			out = fopen(value, "w");
		else if (!strncmp(argv[i], "from=", 5))
			from = strtoull(value, NULL, 16);
		else if (!strncmp(argv[i], "to=", 3))
			to = strtoull(value, NULL, 16);
		else if (!strncmp(argv[i], "first=", 6))
			first = strtoull(value, NULL, 16);
		else if (!strncmp(argv[i], "last=", 5))
			last = strtoull(value, NULL, 16);
		else if (!strncmp(argv[i], "guests=", 7))
			guests = strtoul(value, NULL, 10);
	}
	if (!out || from < FIRMWARE || to <= from || to - from > 1 << 24 || !first || !last ||
	    !guests) {
		fprintf(stderr, "boot: wants out=FILE, which it can write, and the addresses "
		                "from, to, first, last; guests=N is of harts\n");
		return 1;
	}
	for (int i = 0; i < MAX_HARTS; i++) {
		counted[i] = calloc(1 + (to - from) / 2, sizeof(uint64_t));
		if (!counted[i])
			return 1;
	}
	call_translated(id);
	return 0;
}
