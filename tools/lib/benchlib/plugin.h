/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What plugins of QEMU's translator need of its interface to begin; Debian does not package its
 * header. From version 7 on, which is QEMU 11.1's and the only one that it takes, a callback gets
 * other arguments; versions 3 to 6 do not differ in what is used here. For one file of C each.
 */
#ifndef BENCHLIB_PLUGIN_H
#define BENCHLIB_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;

/* Up to version 6 it takes no third argument, and does not notice one. */
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, void (*cb)(void), void *data);
/* Only to be looked at: QEMU 10 does not have it. */
bool qemu_plugin_set_pc(uint64_t pc) __attribute__((weak));

extern int qemu_plugin_version;
__attribute__((visibility("default"))) int qemu_plugin_version = 3;

/* QEMU reads the version before it calls the plugin. */
__attribute__((constructor)) static void find_version(void)
{
	if (qemu_plugin_set_pc)
		qemu_plugin_version = 7;
}

/* The plugin's: called for each block that QEMU translates. */
static void translated(struct qemu_plugin_tb *tb);

static void translated_3(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	translated(tb);
}

static void translated_7(struct qemu_plugin_tb *tb, void *data)
{
	(void)data;
	translated(tb);
}

/* In qemu_plugin_install(): has translated() called. */
static void call_translated(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(
	    id,
	    qemu_plugin_version < 7 ? (void (*)(void))translated_3 : (void (*)(void))translated_7,
	    NULL);
}

#endif
