/* SPDX-License-Identifier: Apache-2.0 */
/* Names of SBI extensions and functions, as in the specification. */
#include "arch/riscv/hart/sbi_spec.h"
#include "core/lib/words.h"
#include "vpmu/sbi_pmu.h"

#define FUNCTIONS 10U

static const struct {
	uint64_t eid;
	const char *name;
	const char *functions[FUNCTIONS];
} extensions[] = {
    {SBI_EXT_BASE,
     "BASE",
     {"get_spec_version", "get_impl_id", "get_impl_version", "probe_extension", "get_mvendorid",
      "get_marchid", "get_mimpid"}},
    {SBI_EXT_TIME, "TIME", {"set_timer"}},
    {SBI_EXT_IPI, "IPI", {"send_ipi"}},
    {SBI_EXT_RFENCE,
     "RFENCE",
     {"remote_fence_i", "remote_sfence_vma", "remote_sfence_vma_asid", "remote_hfence_gvma_vmid",
      "remote_hfence_gvma", "remote_hfence_vvma_asid", "remote_hfence_vvma"}},
    {SBI_EXT_HSM, "HSM", {"hart_start", "hart_stop", "hart_get_status", "hart_suspend"}},
    {SBI_EXT_SRST, "SRST", {"system_reset"}},
    {SBI_EXT_DBCN, "DBCN", {"console_write", "console_read", "console_write_byte"}},
    {SBI_EXT_PMU,
     "PMU",
     {"num_counters", "counter_get_info", "counter_config_matching", "counter_start",
      "counter_stop", "counter_fw_read", "counter_fw_read_hi", "snapshot_set_shmem",
      "event_get_info"}},
    {SBI_EXT_TALLY,
     "TALLY",
     {"ring", "vm_state", "vm_start", "vm_stop", "vm_restart", "vm_shutdown"}},
};
#define EXTENSIONS (sizeof(extensions) / sizeof(extensions[0]))

const char *sbi_extension_name(uint64_t eid)
{
	for (uint32_t i = 0; i < EXTENSIONS; i++) {
		if (extensions[i].eid == eid)
			return extensions[i].name;
	}
	return NULL;
}

const char *sbi_function_name(uint64_t eid, uint64_t fid)
{
	for (uint32_t i = 0; i < EXTENSIONS && fid < FUNCTIONS; i++) {
		if (extensions[i].eid == eid && extensions[i].functions[fid])
			return extensions[i].functions[fid];
	}
	return "";
}
