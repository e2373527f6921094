/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shutdown that the user has asked for. The VM tree says how the guest is asked:
 *
 * - shutdown = "sysrq": on the UART of its console it gets a break and a letter three times: `s`,
 *   `u` and `o`. Linux's 8250 driver takes them as SysRq: write everything to the disks, mount them
 *   read-only, power off. Programs are not ended.
 * - shutdown = "key": its power key is pressed (core/io/power_key.h). The guest decides; on Linux,
 *   systemd-logind ends all programs and powers off.
 *
 * The lead hart does this by its timer, as it does heartbeats (core/life/heart.h). If the guest
 * does not end in time, that is logged, and nothing else happens.
 */
#ifndef CORE_LIFE_SHUTDOWN_H
#define CORE_LIFE_SHUTDOWN_H

#include "core/vcpu/vm.h"

#define SHUTDOWN_S_MIN     5U
#define SHUTDOWN_S_DEFAULT 30U
#define SHUTDOWN_S_MAX     3600U

/* Asks the guest to end within so many seconds. Any hart may call it. */
enum vm_answer shutdown_ask(struct vm *vm, uint32_t seconds);

/* Takes up a request. Returns whether there is one: then heart_watch() must follow. The VM runs. */
bool shutdown_begin(struct vm *vm);

/* Makes the step whose time vm->shutdown.at has come, and sets the time of the next one. */
void shutdown_step(struct vm *vm, uint64_t now);

#endif
