/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/isa.h"
#include "core/boot/steps.h"
#include "core/hart/platform.h"
#include "core/panic.h"

const char *hart_unusable(uint64_t hartid, uint64_t isa)
{
	if (!(isa & BIT(ISA_H)))
		return "it has no H extension";
	if (hartid > UINT32_MAX)
		return "a VM tree cannot name an id of more than 32 bits";
	return NULL;
}

void boot_report_require(const struct platform_hart *own, void *dtb)
{
	const char *why = hart_unusable(own->hartid, own->isa);

	for (uint32_t i = 0; why && i < platform.n_harts; i++) {
		if (!hart_unusable(platform.harts[i].hartid, platform.harts[i].isa))
			boot_on_other_hart(platform.harts[i].hartid, dtb);
	}
	if (why)
		platform_lacks(BOOT_HART_UNFIT, own->hartid, why);
}
