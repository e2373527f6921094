/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the SBI 3.0 specification, except for the PMU chapter (vpmu/sbi_pmu.h). */
#ifndef ARCH_RISCV_HART_SBI_SPEC_H
#define ARCH_RISCV_HART_SBI_SPEC_H

#define SBI_EXT_BASE              0x10UL
#define SBI_BASE_GET_SPEC_VERSION 0UL
#define SBI_BASE_GET_IMP_ID       1UL
#define SBI_BASE_GET_IMP_VERSION  2UL
#define SBI_BASE_PROBE_EXTENSION  3UL
#define SBI_BASE_GET_MVENDORID    4UL
#define SBI_BASE_GET_MARCHID      5UL
#define SBI_BASE_GET_MIMPID       6UL

#define SBI_EXT_TIME       0x54494D45UL
#define SBI_TIME_SET_TIMER 0UL

#define SBI_EXT_IPI      0x735049UL
#define SBI_IPI_SEND_IPI 0UL

#define SBI_EXT_RFENCE              0x52464E43UL
#define SBI_RFENCE_FENCE_I          0UL
#define SBI_RFENCE_SFENCE_VMA       1UL
#define SBI_RFENCE_SFENCE_VMA_ASID  2UL
#define SBI_RFENCE_HFENCE_GVMA_VMID 3UL
#define SBI_RFENCE_HFENCE_VVMA      6UL

#define SBI_EXT_HSM             0x48534DUL
#define SBI_HSM_HART_START      0UL
#define SBI_HSM_HART_STOP       1UL
#define SBI_HSM_HART_GET_STATUS 2UL
#define SBI_HSM_HART_SUSPEND    3UL

#define SBI_HSM_STATE_STARTED       0UL
#define SBI_HSM_STATE_STOPPED       1UL
#define SBI_HSM_STATE_START_PENDING 2UL
#define SBI_HSM_STATE_SUSPENDED     4UL

#define SBI_HSM_SUSPEND_RETENTIVE     0x00000000UL
#define SBI_HSM_SUSPEND_NON_RETENTIVE 0x80000000UL

#define SBI_EXT_SRST            0x53525354UL
#define SBI_SRST_RESET          0UL
#define SBI_SRST_SHUTDOWN       0UL
#define SBI_SRST_COLD_REBOOT    1UL
#define SBI_SRST_WARM_REBOOT    2UL
#define SBI_SRST_REASON_NONE    0UL
#define SBI_SRST_REASON_SYSFAIL 1UL

#define SBI_EXT_DBCN           0x4442434EUL
#define SBI_DBCN_CONSOLE_WRITE 0UL
#define SBI_DBCN_CONSOLE_READ  1UL
#define SBI_DBCN_WRITE_BYTE    2UL

/* Tally's own implementation id, "TAL". It is not in the specification's registry. */
#define TALLY_SBI_IMP_ID      0x54414CUL
#define TALLY_SBI_IMP_VERSION 0x00000100UL
#define TALLY_SBI_SPEC        (3UL << 24)

/* Tally's own extension (docs/sbi-tally.md). The low bits of a vendor extension's id are those of
 * mvendorid; 0x7f in the low seven bits is no vendor. */
#define SBI_EXT_TALLY      0x0954417FUL
#define SBI_TALLY_RING     0UL
#define SBI_TALLY_VM_STATE 1UL
#define SBI_TALLY_START    2UL
#define SBI_TALLY_STOP     3UL
#define SBI_TALLY_RESTART  4UL
#define SBI_TALLY_SHUTDOWN 5UL

#endif
