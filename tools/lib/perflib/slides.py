# SPDX-License-Identifier: Apache-2.0
"""Where a kernel that relocates itself is, by the samples of it.

Linux for RISC-V moves its virtual addresses by a multiple of 2 MiB, below 1 GiB, if it is given a
seed. With the right distance, what is returned to is behind a call in the kernel's own code, and
where the vcpu was is the beginning of an instruction. Addresses at a wrong distance are so by
chance only: rarely the former, often the latter. So a distance is taken if nearly all addresses
fit, no other one is near, and so many would not fit by chance. A kernel without relocations, as
Debian's, is where it was linked to unless its samples are against it.
"""
import math

STEP, SPAN = 2 << 20, 1 << 30
WINDOW = (0xffffffff80000000, 0xffffffffffffffff)
# How often a wrong distance fits, well above what is so in kernels (1 of 20 and 7 of 10).
CHANCE_CALL, CHANCE_BEGINS = 0.15, 0.8
FIT = 0.95  # of the addresses that are in the kernel: interrupts and switches return elsewhere too
SURE = 1e-9
MOST = 4000  # addresses that are looked at


class Unknown(Exception):
    """It cannot be told, for the reason that this says."""


class Code:
    """Where instructions of a kernel begin, by its file."""

    def __init__(self, known):
        self.known = known
        self.begins = {}  # {function: {where an instruction begins: whether it is behind a call}}

    def instructions(self, start):
        """All of a function, decoded by the lengths of them."""
        if start not in self.begins:
            found = self.begins[start] = {}
            first, end, _ = self.known.span(start)
            text = self.known.read(first, end) or b""
            i, call = 0, False
            while i + 2 <= len(text):
                found[first + i] = call
                half = text[i] | text[i + 1] << 8
                if half & 3 == 3:
                    call = half & 0xfff in (0x0ef, 0x0e7)  # jal ra, jalr ra
                    i += 4
                else:
                    call = half & 0xf07f == 0x9002 and half & 0xf80 != 0  # c.jalr
                    i += 2
            found[first + i] = call
        return self.begins[start]

    def fits(self, address, returned):
        """None: it is in no function."""
        found = self.known.find(address - returned)
        if found is None:
            return None
        behind_call = self.instructions(found[1]).get(address)
        return behind_call is not None and (behind_call or not returned)


def addresses(samples):
    """{(address, whether it is returned to)} of the kernel, in the part where it can be."""
    found = set()
    for sample in samples:
        if sample.get("type") != "sample" or sample["mode"] != "kernel" or \
                not int(sample["satp"], 16):
            continue
        found.add((int(sample["ip"], 16), False))
        found.update((int(address, 16), True) for address in sample.get("callchain", ()))
    return {each for each in found if WINDOW[0] <= each[0] <= WINDOW[1]}


def weigh(code, found, slide):
    """(how unlikely it is that so many fit by chance, as a logarithm; whether nearly all do)"""
    evidence, fit, inside = 0, 0, 0
    for address, returned in found:
        fits = code.fits(address - slide, returned)
        if fits is None:
            continue
        inside += 1
        if fits:
            fit += 1
            evidence -= math.log(CHANCE_CALL if returned else CHANCE_BEGINS)
        else:
            evidence += math.log(1 - (CHANCE_CALL if returned else CHANCE_BEGINS))
    return evidence, inside and fit >= FIT * inside and inside >= len(found) / 2


def find(known, samples):
    """By how much a kernel (symbols.Symbols, as its file has it) has moved; Unknown."""
    found = sorted(addresses(samples))
    if not found:
        return 0
    if not known.code and known.fixed:
        return 0
    if not known.code:
        raise Unknown(f"it may have relocated itself, and {known.path} has no code to tell where "
                      "it is")
    found = found[::len(found) // MOST + 1]
    code = Code(known)
    weights = sorted((weigh(code, found, slide) + (slide,) for slide in range(0, SPAN, STEP)),
                     reverse=True)
    (best, fit, slide), (second, *_) = weights[:2]
    need = -math.log(SURE * STEP / SPAN)
    sure = fit and best >= need and second <= best / 2
    if not sure and known.fixed and weigh(code, found, 0)[1]:
        return 0
    if not fit or best < need:
        raise Unknown(f"it may have relocated itself, and {len(found)} addresses of samples "
                      "are too few to tell where it is, or are of another kernel")
    if second > best / 2:
        raise Unknown("it may have relocated itself, and its samples fit to two places of it")
    return slide
