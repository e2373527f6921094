/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of boot, most in a file of their own, in the order of main.c. */
#ifndef CORE_BOOT_STEPS_H
#define CORE_BOOT_STEPS_H

#include "core/hart/pcpu.h"
#include "core/host/vm_config.h"

/* --- host_dt.c: the host device tree */

/*
 * Reads the host device tree into `platform`, and removes the seed from it. `image` is Tally's own
 * range. Panics with one line if the machine lacks something that Tally needs. Boot hart only,
 * once.
 */
void host_dt_read(void *dtb, uint64_t boot_hartid, struct vm_range image);

/* Returns why Tally does not use a hart with this id, or NULL if the machine has none. After
 * harts_start(). */
const char *hart_why_unused(uint64_t hartid);

/* --- ram.c: whether HS can access the RAM */

/*
 * Tests the first and the last steps of each bank for VMs; `dtb` is the host's tree. Removes RAM
 * that HS cannot access from platform.ram, and logs it; without Tally's own bank the machine is
 * refused. HS runs without translation.
 */
void ram_try(const void *dtb);

/* Logs unused RAM, and why it is unused. */
void ram_report_unused(void);

/* Logs the use of each bank, if there are several. */
void ram_report_use(const struct vm_tree *tree, const struct vm_limits *limits);

/* --- hart_init.c, harts.c: this hart, then the others */

/* Sets up CSRs, counters and interrupts of the calling hart. Its pcpu is zero except for `listed`.
 * Returns the reason why no guest can run on it, or NULL. */
const char *pcpu_init(struct pcpu *pcpu, uint64_t hartid, uint32_t index);

/*
 * Starts the harts that can run guests, one after the other, waits for each, and sets n_pcpus to
 * the number of harts in use, including the boot hart: at most `most`. The boot report names each
 * hart that cannot be used, and Tally continues without it. Boot hart only, once.
 */
void harts_start(uint64_t boot_hartid, uint32_t most);

/* Called by a started hart, after its own probes: takes part in the probes that need two harts;
 * then it is online. Once, before it runs anything else. */
void harts_join(struct pcpu *pcpu);

/* Stops the calling hart, which no longer uses its stack once *state is `value`. In entry.S. */
_Noreturn void hart_stop_self(atomic_uint *state, uint32_t value);

/* Starts another hart at the image's entry in place of the boot hart, which calls this before it
 * has started any, and stops the caller (SBI 3.0, HSM). Returns if the firmware does not start it.
 * In entry.S. */
void boot_on_other_hart(uint64_t hartid, void *dtb);

/* --- boot_report.c, hart_usable.c, hart_table.c: a few lines about the machine */

/* Returns why a hart with this id and these extensions cannot run guests, or NULL if it can. */
const char *hart_unusable(uint64_t hartid, uint64_t isa);

/* If the boot hart cannot run guests, restarts the image on a hart that can, with the same host
 * tree: some firmware chooses the boot hart at random. Panics with the missing features if there is
 * none. */
void boot_report_require(const struct platform_hart *own, void *dtb);
#define BOOT_HART_UNFIT "no guest can run on boot hart %lu: %s"

/* Logs each extension in the host's tree that the hart does not have. After pcpu_init(), whatever
 * it returned. */
void boot_report_missing(const struct pcpu *pcpu);

/* Compares the hart with this index with the node /pmu of the VM tree, in words, after the harts'
 * boot; for vm_limits.contradicts. The text is valid until the next call. */
const char *hart_contradiction(uint32_t hart);

/* Logs which events of the table the hart has. Nothing, if there is no table or no counter. */
void hart_table_report(const struct pcpu *pcpu);

void boot_report_machine(void);

/* --- pci_assign.c: the PCI functions of the VMs */

/*
 * If the tree names functions: turns off all functions of the host's bus, whether or not firmware
 * used them, and finds those that the tree names. Returns false if a VM cannot have one; each of
 * these is reported as a refusal of the tree.
 */
bool pci_assign(struct vm_tree *tree, void (*tell)(const char *line));

/* --- operator_create.c: VMs that are operators */

struct vm;

/* Makes the VM's function, and maps its rings. */
void operator_create(struct vm *vm);

/* Its line of the boot report. */
void operator_report(const struct vm *vm);

/* --- clock.c */

/* Sets the machine's time of day, from its RTC and from the VM tree, and logs it. Boot hart only,
 * before guests run. */
void clock_init(const struct vm_tree *tree);

#endif
