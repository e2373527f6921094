/* SPDX-License-Identifier: Apache-2.0 */
/* RISC-V IOMMU Architecture Specification 1.0: registers, commands, fault records and contexts. */
#ifndef ARCH_RISCV_DEVICES_IOMMU_REGS_H
#define ARCH_RISCV_DEVICES_IOMMU_REGS_H

#define IOMMU_CAPABILITIES 0x000UL
#define IOMMU_FCTL         0x008UL
#define IOMMU_DDTP         0x010UL
#define IOMMU_CQB          0x018UL
#define IOMMU_CQH          0x020UL
#define IOMMU_CQT          0x024UL
#define IOMMU_FQB          0x028UL
#define IOMMU_FQH          0x030UL
#define IOMMU_FQT          0x034UL
#define IOMMU_CQCSR        0x048UL
#define IOMMU_FQCSR        0x04cUL
#define IOMMU_PQCSR        0x050UL
#define IOMMU_IPSR         0x054UL
#define IOMMU_IOCOUNTINH   0x05cUL
#define IOMMU_TR_REQ_IOVA  0x258UL
#define IOMMU_TR_REQ_CTL   0x260UL
#define IOMMU_TR_RESPONSE  0x268UL
#define IOMMU_ICVEC        0x2f8UL

#define CAP_MAJOR(caps)  ((caps) >> 4 & 0xf)
#define CAP_SV39X4       (1UL << 17)
#define CAP_MSI_FLAT     (1UL << 22)
#define CAP_ATS          (1UL << 25)
#define CAP_HPM          (1UL << 30)
#define CAP_IGS(caps)    ((caps) >> 28 & 3)
#define CAP_IGS_MSI_ONLY 0U
#define CAP_DBG          (1UL << 31)
#define CAP_PAS(caps)    ((caps) >> 32 & 0x3f)

#define FCTL_BE  (1U << 0)
#define FCTL_WSI (1U << 1)
#define FCTL_GXL (1U << 2)

/* For ddtp, base registers of queues, and non-leaf entries of directories. */
#define IOMMU_PPN(address) ((uint64_t)(address) >> 12 << 10)
#define DDTP_MODE          0xfUL
#define DDTP_OFF           0UL
#define DDTP_LEVELS(n)     ((n) + 1UL) /* one level is mode 2 */
#define DDTP_BUSY          (1UL << 4)

/* Common to cqcsr and fqcsr. */
#define QCSR_ON_REQUEST (1U << 0)
#define QCSR_INTERRUPT  (1U << 1)
#define QCSR_ERRORS     (0xfU << 8) /* cleared by writing 1 */
#define QCSR_ON         (1U << 16)
#define QCSR_BUSY       (1U << 17)
#define FQCSR_FQMF      (1U << 8)
#define FQCSR_FQOF      (1U << 9)

#define IPSR_FIP        (1U << 1)
#define IPSR_ALL        0xfU
#define ICVEC_FIV(wire) ((uint64_t)(wire) << 4)
#define ICVEC_FIV_OF(v) ((v) >> 4 & 0xf)

#define TR_REQ_GO          (1UL << 0)
#define TR_REQ_READ        (1UL << 3)
#define TR_REQ_DEVICE(id)  ((uint64_t)(id) << 40)
#define TR_RESPONSE_FAULT  (1UL << 0)
#define TR_RESPONSE_SUPER  (1UL << 9)
#define TR_RESPONSE_PPN(r) ((r) >> 10 & 0xfffffffffffUL)

/* Commands: two words. */
#define CMD_IOTINVAL_VMA    1UL
#define CMD_IOTINVAL_GVMA   (1UL | 1UL << 7)
#define CMD_GV_GSCID(gscid) (1UL << 33 | (uint64_t)(gscid) << 44)
#define CMD_IOFENCE_C       2UL
#define CMD_AV              (1UL << 10)
#define CMD_PR_PW           (3UL << 12)
#define CMD_DATA(data)      ((uint64_t)(data) << 32)
#define CMD_IODIR_INVAL_DDT 3UL
#define CMD_DEVICE(id)      (1UL << 33 | (uint64_t)(id) << 40)

/* Fault records: four words. */
#define RECORD_CAUSE(r)  ((uint32_t)(r)&0xfff)
#define RECORD_TYPE(r)   ((uint32_t)((r) >> 34) & 0x3f)
#define RECORD_DEVICE(r) ((uint32_t)((r) >> 40))

/* Contexts of devices: four words, or eight with CAP_MSI_FLAT. */
#define CONTEXT_TC      0U
#define CONTEXT_IOHGATP 1U
#define CONTEXT_TA      2U
#define CONTEXT_FSC     3U
#define CONTEXT_MSIPTP  4U
#define CONTEXT_MASK    5U
#define CONTEXT_PATTERN 6U
#define CONTEXT_V       1UL
#define IOHGATP_SV39X4  (8UL << 60)
#define IOHGATP_GSCID   44
#define MSIPTP_FLAT     (1UL << 60)
#define MSI_PTE_V       1UL
#define MSI_PTE_BASIC   (3UL << 1)

#endif
