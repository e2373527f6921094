# SPDX-License-Identifier: Apache-2.0
"""Callers of a sample as perf has to get them. A chain may hold words that are no return addresses:
of a function without a frame, or what a process had in its registers where the kernel was entered.
HS knows no text, so it drops only what cannot be an address of code at all.

A word is left out if it is known that there is no code. So the kernel or the program has to be
known, and that its text is all that may be there."""
from perflib import naming, perf_data, symbols

UPPER_HALF = 1 << 63
# Below the end of its kernel Linux loads modules and what BPF programs and probes are made into.
MODULES = 1 << 31


def in_text(known, word):
    """Whether that may be behind a call of it, or where one of its functions begins."""
    return any(first <= word <= end for first, end in known.parts) or \
        any(known.find(at) for at in (word - 1, word))


def beside_the_kernel(kernel, sample, word):
    """Whether it is known of a word outside the kernel that no text of the guest's is there. It is
    not of modules, before page tables, of a kernel that is not Linux, and of EFI's services, which
    run in the lower half."""
    if kernel.text < symbols.LINKED_AT or not int(sample["satp"], 16):
        return False
    if word < UPPER_HALF:
        return int(sample["ip"], 16) >= UPPER_HALF
    return not kernel.end - MODULES <= word < kernel.text


def is_no_code(named, sample, word):
    if word >= perf_data.MARKS:
        return True  # perf would drop the whole stack
    if sample["mode"] == "user":
        known = named.programs(sample["vm"], naming.value(sample["satp"]))
    else:
        known = [kernel for kernel in [named.kernel(sample["vm"])] if kernel]
    if any(in_text(each, word) for each in known):
        return False
    if any(each.text <= word < each.end for each in known):
        return True
    return sample["mode"] == "kernel" and any(
        beside_the_kernel(each, sample, word) for each in known)


def of(named, sample):
    """(callers, how many words were left out). perf names what is returned to by the function
    which that is in. Behind a call that does not come back this is the next one: there the call
    itself is told."""
    words = [int(address, 16) for address in sample.get("callchain", ())]
    kept = [word for word in words if not is_no_code(named, sample, word)]
    kernel = named.kernel(sample["vm"]) if sample["mode"] == "kernel" else None
    if kernel:
        callers = [at - 1 if (kernel.find(at) or (0, 0))[1] == at else at for at in kept]
    else:
        callers = kept
    return callers, len(words) - len(kept)
