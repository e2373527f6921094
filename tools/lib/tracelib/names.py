# SPDX-License-Identifier: Apache-2.0
"""Names of exits, as the prompt's trace has them, and of SBI calls (core/lib/sbi_names.c)."""
from tracelib import records

KINDS = ("ecall", "timer", "irq", "lcofi", "mmio", "csr", "wfi", "other", "loading")
# Parts of a stay that no exit begins: work that another vcpu's exit brought, or the hart's own.
PARTS = {"ecall": "SBI call goes on", "irq": "requests served", "other": "next life prepared"}
INTERRUPTS = {2: "software interrupt", 6: "timer interrupt", 10: "external interrupt",
              13: "overflow interrupt (LCOFI)"}

ECALL, VIRTUAL_INSTRUCTION = 10, 22
ADDRESSES = {20: "fetch", 21: "load", 23: "store"}
# The other exceptions, by the names of the privileged specification.
EXCEPTIONS = {0: "instruction address misaligned", 1: "instruction access fault",
              2: "illegal instruction", 3: "breakpoint", 4: "load address misaligned",
              5: "load access fault", 6: "store address misaligned", 7: "store access fault",
              8: "ecall from U-mode", 9: "ecall from HS-mode", 11: "ecall from M-mode",
              12: "instruction page fault", 13: "load page fault", 15: "store page fault",
              16: "double trap", 18: "software check", 19: "hardware error"}
ASYNCHRONOUS = {1: "ipi", 5: "timer", 9: "irq", 12: "irq", 13: "overflow"}
INSTRUCTIONS = {0x10500073: "wfi", 0x00d00073: "wrs.nto", 0x01d00073: "wrs.sto"}

# {extension: (name, functions)}
SBI = {
    0x10: ("BASE", ("get_spec_version", "get_impl_id", "get_impl_version", "probe_extension",
                    "get_mvendorid", "get_marchid", "get_mimpid")),
    0x54494d45: ("TIME", ("set_timer",)),
    0x735049: ("IPI", ("send_ipi",)),
    0x52464e43: ("RFENCE", ("remote_fence_i", "remote_sfence_vma", "remote_sfence_vma_asid",
                            "remote_hfence_gvma_vmid", "remote_hfence_gvma",
                            "remote_hfence_vvma_asid", "remote_hfence_vvma")),
    0x48534d: ("HSM", ("hart_start", "hart_stop", "hart_get_status", "hart_suspend")),
    0x53525354: ("SRST", ("system_reset",)),
    0x4442434e: ("DBCN", ("console_write", "console_read", "console_write_byte")),
    0x504d55: ("PMU", ("num_counters", "counter_get_info", "counter_config_matching",
                       "counter_start", "counter_stop", "counter_fw_read", "counter_fw_read_hi",
                       "snapshot_set_shmem", "event_get_info")),
    0x954417f: ("TALLY", ("ring", "vm_state", "vm_start", "vm_stop", "vm_restart",
                          "vm_shutdown")),
}


def call(extension, function):
    """The name of an SBI call; numbers where there is none."""
    name, functions = SBI.get(extension, (None, ()))
    if name is None:
        return f"ecall {extension:#x} {function}"
    return f"{name} {functions[function] if function < len(functions) else function}"


def is_csr(instruction):
    return instruction & 0x7f == 0x73 and bool(instruction >> 12 & 3)


def of_exit(stay):
    """(name, {further fields}) of a STAY."""
    fields = {"instructions": stay.instructions}
    if stay.cause == records.GOES_ON:
        kind = KINDS[stay.why] if stay.why < len(KINDS) else "other"
        return PARTS.get(kind, f"{kind} goes on"), fields
    fields["pc"] = f"{stay.pc():#x}"
    if stay.cause & records.INTERRUPT:
        code = stay.cause & ~records.INTERRUPT
        return ASYNCHRONOUS.get(code, f"interrupt {code}"), fields
    first, second = stay.values()
    if stay.cause == ECALL:
        return call(first, second), fields
    if stay.cause in ADDRESSES:
        return ADDRESSES[stay.cause], {**fields, "address": f"{second | first & 3:#x}"}
    if stay.cause == VIRTUAL_INSTRUCTION:
        name = INSTRUCTIONS.get(first, "csr" if is_csr(first) else "virtual-instruction")
        if name == "csr":
            fields["csr"] = f"{first >> 20:#x}"
        return name, {**fields, "instruction": f"{first:#x}"}
    name = EXCEPTIONS.get(stay.cause, f"exception {stay.cause}")
    return name, {**fields, "stval": f"{first:#x}"}


def of_interrupts(hvip):
    """Names of the bits."""
    return [INTERRUPTS.get(bit, f"interrupt {bit}") for bit in range(16) if hvip >> bit & 1]
