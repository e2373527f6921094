# SPDX-License-Identifier: Apache-2.0
"""QEMU's CPUs and versions, as they differ in what Tally uses, and compilers."""

import contextlib
import functools
import os
import re
import subprocess
import tempfile
from pathlib import Path

import pytest

import debugger
import firmwares
import peers
import plain

BASE = ("sscofpmf", "smcntrpmf", "ssaia", "ssccfg")
CHANCE = "sampling=chance clean=yes sharers=1 sequences=400"
AS_EVER = ["chance: ends after 400 sequences, 131 interrupts, 0 wrong"]

# What tests/bench has was measured on Debian 12. Its compiler decides whether figures are compared
# with that: where it is the same, a difference of firmware or emulator is noticed, too.
RECORDED = "12"
COMPILER = subprocess.run([os.environ.get("CROSS_COMPILE", "riscv64-linux-gnu-") + "gcc",
                           "-dumpversion"], text=True, check=True,
                          stdout=subprocess.PIPE).stdout.strip()
SAME_COMPILER = COMPILER.split(".", maxsplit=1)[0] == RECORDED
as_recorded = pytest.mark.skipif(
    not SAME_COMPILER,
    reason=f"tests/bench is of gcc {RECORDED}, and gcc is {COMPILER} here")


def cpu(without=(), more=""):
    """QEMU's -cpu without some of the extensions that Tally uses."""
    return "rv64" + "".join(f",{name}=on" for name in BASE if name not in without) + more


def on_qemu(suite, *options):
    """The same for QEMU."""
    return ["--qemu", peers.qemu(suite), "--any-qemu", *options]


@functools.lru_cache(None)
def has_lcofi(suite):
    """Whether bit 13 of sie can be set on that QEMU, as the self test finds on the firmware alone.
    """
    (found,) = (re.search(r"; sie bit 13: (yes|no)$", line)
                for line in firmwares.on_opensbi("", None, suite)
                if line.startswith("hart: ECALL counts"))
    return found[1] == "yes"


# The S-level APLIC and the clock of QEMU's virt, whose source is 11 and level-sensitive. Each write
# is an address and a value: the M-level one hands the source over, it is enabled for hart 0, and an
# alarm in the past makes the wire high.
APLIC, RTC, SOURCE = 0xd000000, 0x101000, 11
SETIP, CLAIMI = APLIC + 0x1c00, APLIC + 0x401c
RING = ((0xc00002c, 1 << 10), (APLIC, 1 << 8), (APLIC + 0x2c, 6), (APLIC + 0x302c, 1),
        (APLIC + 0x4000, 1), (APLIC + 0x1edc, SOURCE), (RTC + 0x10, 1), (RTC + 0xc, 0),
        (RTC + 8, 1))


@contextlib.contextmanager
def stopped(*options, suite=None):
    """A debugger of this computer's QEMU, or of that of a later Debian release. It has no firmware,
    and executes what it is told."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gdb"
        qemu = peers.qemu(suite) if suite else plain.QEMU
        subprocess.run([qemu, *options, "-bios", "none", "-display", "none", "-S",
                        "-daemonize", "-gdb", f"unix:{path},server=on,wait=off"], check=True)
        hart = debugger.Debugger(path)
        try:
            yield hart
        finally:
            with contextlib.suppress(EOFError):
                hart.ask("k")  # ends QEMU
            hart.close()


@functools.lru_cache(None)
def aplic_keeps_pending():
    """Whether the APLIC without IMSICs of this computer's QEMU has a level source pending although
    its wire is low again. Nothing is executed."""
    with stopped("-machine", "virt,aia=aplic") as hart:
        def word(address):
            return int.from_bytes(hart.read(address, 4), "little")

        for address, value in RING:
            hart.write(address, value.to_bytes(4, "little"))
        # A claim while the wire is high changes nothing.
        assert (word(SETIP), word(CLAIMI) >> 16, word(SETIP)) == (1 << SOURCE, SOURCE, 1 << SOURCE)
        hart.write(RTC + 0x1c, (1).to_bytes(4, "little"))
        kept = word(SETIP)
    assert kept in (0, 1 << SOURCE)
    return kept != 0


RAM = 0x80000000


def execute(hart, registers, *instructions):
    """From RAM, in M-mode until an instruction changes that."""
    hart.write(RAM, b"".join(word.to_bytes(4, "little") for word in instructions))
    for name, value in registers.items():
        hart.set_register(name, value)
    for _ in instructions:
        hart.ask("s")


@functools.lru_cache(None)
def hides_flags():
    """Whether a hart of this computer's QEMU hides from VS the OF bits of counters that hcounteren
    closes: of 3 and 4, whose OF is 1, it closes 3."""
    registers = {"mcounteren": 0x18, "hcounteren": 0x10, "mhpmevent3": 1 << 63,
                 "mhpmevent4": 1 << 63, "pmpaddr0": (1 << 54) - 1, "pmpcfg0": 0x1f,
                 "hstatus": 1 << 7, "mstatus": 1 << 8, "sepc": RAM + 4, "pc": RAM}
    with stopped("-machine", "virt", "-cpu", "rv64,sscofpmf=on") as hart:
        execute(hart, registers, 0x10200073, 0xda002573)  # sret to VS; csrr a0, scountovf
        seen = hart.register("a0")
    assert seen in (0x10, 0x18)
    return seen == 0x10


@functools.lru_cache(None)
def instret_is_alike(suite=None):
    """Whether instret of that QEMU counts ECALL as a programmable counter does: only then guests
    get it."""
    registers = {"mtvec": RAM + 12, "mhpmevent3": 2, "mcountinhibit": 0, "pc": RAM}
    with stopped("-machine", "virt", "-cpu", "rv64,sscofpmf=on", "-icount", "shift=0",
                 suite=suite) as hart:
        # csrr s2, minstret; csrr s3, mhpmcounter3; ecall; and again to s4 and s5
        execute(hart, registers, 0xb0202973, 0xb03029f3, 0x00000073, 0xb0202a73, 0xb0302af3)
        own, other = (hart.register(last) - hart.register(first)
                      for first, last in (("s2", "s4"), ("s3", "s5")))
    assert other == 3 and own in (2, 3), (own, other)
    return own == other


@functools.lru_cache(None)
def misa_closes_v():
    """Whether this computer's QEMU keeps mstatus.VS at 0 while misa does not name V: no instruction
    of V works then."""
    with stopped("-machine", "virt", "-cpu", "rv64,v=on,x-misa-w=on") as hart:
        # csrw misa, a0; csrs mstatus, a1
        execute(hart, {"a0": hart.register("misa") & ~(1 << 21), "a1": 1 << 9, "mstatus": 0,
                       "pc": RAM}, 0x30151073, 0x3005a073)
        assert not hart.register("misa") & 1 << 21
        return not hart.register("mstatus") & 1 << 9


@functools.lru_cache(None)
def closed_timers_compare():
    """Whether this computer's QEMU compares vstimecmp though menvcfg.STCE is 0."""
    with stopped("-machine", "virt", "-cpu", "rv64") as hart:
        # csrw vstimecmp, zero; csrr a0, mip
        execute(hart, {"menvcfg": 0, "pc": RAM}, 0x24d01073, 0x34402573)
        return bool(hart.register("a0") & 1 << 6)


@functools.lru_cache(None)
def sets_past_gstage():
    """Whether a hart of this computer's QEMU sets A in a page table that its G-stage maps
    read-only: of the page of a fetch in VS."""
    root, table, only_read = RAM + 0x10000, RAM + 0x20000, 1 << 32
    leaf, before = RAM >> 2, RAM >> 2 | 0xf  # V, R, W and X
    entries = {root + 8 * (RAM >> 30): leaf | 0xdf, root + 8 * (only_read >> 30): leaf | 0x53,
               table + 8 * (RAM >> 30): before}
    registers = {"menvcfg": 1 << 61, "henvcfg": 1 << 61, "medeleg": 0, "mtvec": RAM + 8,
                 "pmpaddr0": (1 << 54) - 1, "pmpcfg0": 0x1f, "hgatp": 8 << 60 | root >> 12,
                 "vsatp": 8 << 60 | (table - RAM + only_read) >> 12,
                 "hstatus": 1 << 7, "mstatus": 1 << 8, "sepc": RAM + 4, "pc": RAM}
    with stopped("-machine", "virt", "-cpu", "rv64") as hart:
        for address, entry in entries.items():
            hart.write(address, entry.to_bytes(8, "little"))
        execute(hart, registers, 0x10200073, 0x00000073)  # sret to VS; ecall back to M-mode
        cause = hart.register("mcause")
        after = int.from_bytes(hart.read(table + 8 * (RAM >> 30), 8), "little")
    # ECALL, if the fetch passed, or a guest-page fault.
    assert (cause, after) in ((10, before | 1 << 6), (20, before)), (cause, hex(after))
    return after != before


@functools.lru_cache(None)
def firmware_redirects():
    """Whether M-mode of this computer's QEMU can hand a trap of a guest to HS: it has to clear
    mstatus.MPV, which the hart has set. 11.1.3 keeps MPV as it is, so the guest itself continues at
    the trap vector of HS."""
    mpv = 1 << 39
    with stopped("-machine", "virt", "-cpu", "rv64") as hart:
        # csrs mstatus, a1; csrr a0, mstatus
        execute(hart, {"a1": mpv, "pc": RAM}, 0x3005a073, 0x30002573)
        return bool(hart.register("a0") & mpv)


@functools.lru_cache(None)
def takes_uxl_3():
    """Whether this computer's QEMU lets guests ask for users with registers of 128 bits."""
    with stopped("-machine", "virt", "-cpu", "rv64") as hart:
        # csrs vsstatus, a1; csrr a0, vsstatus
        execute(hart, {"a1": 3 << 32, "pc": RAM}, 0x2005a073, 0x20002573)
        uxl = hart.register("a0") >> 32 & 3
    assert uxl in (2, 3)
    return uxl == 3


def want_redirects():
    """Of a test with a guest of KVM, or without Tally, that executes illegal instructions."""
    if not firmware_redirects():
        pytest.skip("the firmware of this QEMU cannot hand a guest's traps to HS")


def want_instret():
    """Of a test whose guests have two filters of instructions at once."""
    if not instret_is_alike():
        pytest.skip("instret of this QEMU leaves ECALL out, so guests do not get it")


def without_ssccfg():
    """The guests to which boot offers overflow interrupts on a hart without Ssccfg."""
    return "to guests that read its OF bits" if hides_flags() else "to a vcpu alone on it"


def vector_cpu(bits):
    """The machine of the other tests, with vector registers of so many bits."""
    return f"rv64,v=on,vlen={bits},sscofpmf=on,smcntrpmf=on,ssaia=on,ssccfg=on"
