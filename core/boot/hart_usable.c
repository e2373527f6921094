/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/isa.h"
#include "core/boot/boot_report.h"
#include "core/boot/harts.h"
#include "core/hart/platform.h"
#include "core/log.h"
#include "core/panic.h"

const char *hart_unusable(uint64_t hartid, uint64_t isa)
{
	if (!(isa & BIT(ISA_H)))
		return "it has no H extension";
	if (hartid > UINT32_MAX)
		return "a VM tree cannot name an id of more than 32 bits";
	return NULL;
}

void boot_report_require(uint64_t hartid, uint64_t isa, void *dtb)
{
	const char *why = hart_unusable(hartid, isa);

	for (uint32_t i = 0; why && i < platform.n_harts; i++) {
		if (!hart_unusable(platform.harts[i].hartid, platform.harts[i].isa))
			boot_on_other_hart(platform.harts[i].hartid, dtb);
	}
	if (why)
		platform_lacks("no guest can run on boot hart %lu: %s", hartid, why);
}

void boot_report_unused(uint32_t i, const char *why)
{
	platform.harts[i].unused = why;
	log_line("hart %lu: not used: %s", platform.harts[i].hartid, why);
}

bool boot_report_usable(uint32_t i)
{
	const char *why = hart_unusable(platform.harts[i].hartid, platform.harts[i].isa);

	if (why)
		boot_report_unused(i, why);
	return !why;
}
