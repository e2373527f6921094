/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of the SBI 3.0 PMU extension (chapter 11), named as in its tables. It is the one header
 * of vpmu/ that every folder may include, because SBI calls to the firmware and from guests use the
 * same numbers.
 */
#ifndef VPMU_SBI_PMU_H
#define VPMU_SBI_PMU_H

#define SBI_EXT_PMU 0x504D55UL

/* The return value of an SBI call, in a0 and a1. */
struct sbi_ret {
	long error;
	unsigned long value;
};

/* Function ids, table 49. */
#define SBI_PMU_NUM_COUNTERS            0UL
#define SBI_PMU_COUNTER_GET_INFO        1UL
#define SBI_PMU_COUNTER_CONFIG_MATCHING 2UL
#define SBI_PMU_COUNTER_START           3UL
#define SBI_PMU_COUNTER_STOP            4UL
#define SBI_PMU_COUNTER_FW_READ         5UL
#define SBI_PMU_COUNTER_FW_READ_HI      6UL
#define SBI_PMU_SNAPSHOT_SET_SHMEM      7UL
#define SBI_PMU_EVENT_GET_INFO          8UL

/* Errors, SBI 3.0 chapter 3. */
#define SBI_SUCCESS               0L
#define SBI_ERR_FAILED            (-1L)
#define SBI_ERR_NOT_SUPPORTED     (-2L)
#define SBI_ERR_INVALID_PARAM     (-3L)
#define SBI_ERR_DENIED            (-4L)
#define SBI_ERR_INVALID_ADDRESS   (-5L)
#define SBI_ERR_ALREADY_AVAILABLE (-6L)
#define SBI_ERR_ALREADY_STARTED   (-7L)
#define SBI_ERR_ALREADY_STOPPED   (-8L)
#define SBI_ERR_NO_SHMEM          (-9L)
#define SBI_ERR_INVALID_STATE     (-10L)

/* event_idx[19:16], table 30. */
#define SBI_PMU_EVENT_TYPE(event_idx) (((event_idx) >> 16) & 0xfU)
#define SBI_PMU_EVENT_CODE(event_idx) ((event_idx)&0xffffU)
#define SBI_PMU_EVENT_IDX_MASK        0xfffffUL
#define SBI_PMU_TYPE_HW               0x0U
#define SBI_PMU_TYPE_CACHE            0x1U
#define SBI_PMU_TYPE_RAW              0x2U
#define SBI_PMU_TYPE_RAW_V2           0x3U
#define SBI_PMU_TYPE_FW               0xfU

/* Hardware general events, table 31. */
#define SBI_PMU_HW_NO_EVENT     0U
#define SBI_PMU_HW_CPU_CYCLES   1U
#define SBI_PMU_HW_INSTRUCTIONS 2U
#define SBI_PMU_HW_EVENT_LAST   10U

/* Hardware cache events, tables 32 to 34: code = cache_id << 3 | op_id << 1 | result_id. */
#define SBI_PMU_CACHE_ID_LAST 6U
#define SBI_PMU_CACHE_OP_LAST 2U

/* Firmware events, table 35. */
#define SBI_PMU_FW_MISALIGNED_LOAD          0U
#define SBI_PMU_FW_MISALIGNED_STORE         1U
#define SBI_PMU_FW_ACCESS_LOAD              2U
#define SBI_PMU_FW_ACCESS_STORE             3U
#define SBI_PMU_FW_ILLEGAL_INSN             4U
#define SBI_PMU_FW_SET_TIMER                5U
#define SBI_PMU_FW_IPI_SENT                 6U
#define SBI_PMU_FW_IPI_RECEIVED             7U
#define SBI_PMU_FW_FENCE_I_SENT             8U
#define SBI_PMU_FW_FENCE_I_RECEIVED         9U
#define SBI_PMU_FW_SFENCE_VMA_SENT          10U
#define SBI_PMU_FW_SFENCE_VMA_RECEIVED      11U
#define SBI_PMU_FW_SFENCE_VMA_ASID_SENT     12U
#define SBI_PMU_FW_SFENCE_VMA_ASID_RECEIVED 13U
#define SBI_PMU_FW_EVENT_LAST               21U
#define SBI_PMU_FW_IMPL_FIRST               256U /* implementation-specific events */
#define SBI_PMU_FW_PLATFORM                 65535U

/* counter_info, section 11.7. */
#define SBI_PMU_INFO_WIDTH_SHIFT 12
#define SBI_PMU_INFO_TYPE_FW     (1UL << 63)

/* config_flags, table 37. */
#define SBI_PMU_CFG_FLAG_SKIP_MATCH  (1UL << 0)
#define SBI_PMU_CFG_FLAG_CLEAR_VALUE (1UL << 1)
#define SBI_PMU_CFG_FLAG_AUTO_START  (1UL << 2)
#define SBI_PMU_CFG_FLAG_SET_VUINH   (1UL << 3)
#define SBI_PMU_CFG_FLAG_SET_VSINH   (1UL << 4)
#define SBI_PMU_CFG_FLAG_SET_UINH    (1UL << 5)
#define SBI_PMU_CFG_FLAG_SET_SINH    (1UL << 6)
#define SBI_PMU_CFG_FLAG_SET_MINH    (1UL << 7)
#define SBI_PMU_CFG_FLAG_ALL         0xffUL
#define SBI_PMU_CFG_FILTERS          0xf8UL /* the flags that inhibit modes */

/* start_flags, table 39. */
#define SBI_PMU_START_SET_INIT_VALUE     (1UL << 0)
#define SBI_PMU_START_FLAG_INIT_SNAPSHOT (1UL << 1)
#define SBI_PMU_START_FLAG_ALL           0x3UL

/* stop_flags, table 41. */
#define SBI_PMU_STOP_FLAG_RESET         (1UL << 0)
#define SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT (1UL << 1)
#define SBI_PMU_STOP_FLAG_ALL           0x3UL

#endif
