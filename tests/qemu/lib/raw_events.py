# SPDX-License-Identifier: Apache-2.0
"""A machine whose pmu node maps raw events, and what a guest counts of them there."""

import subprocess

import bare_guests
import harness
import plain

CPU = "rv64,sscofpmf=on,smcntrpmf=on,ssaia=on,ssccfg=on"
# Selectors of up to 24 bits, on all programmable counters.
MAP = "riscv,raw-event-to-mhpmcounters = <0 0 0xffffffff 0xff000000 0x7fff8>;"
ONE = 2 * 100000 + 1
FILTERS = {"0x0": (ONE, ONE), "0x20": (ONE, 0), "0x40": (0, ONE), "0x60": (0, 0)}
COUNTS = [f"raw: event {event} data {data} flags {flags}: S {s}, U {u}"
          for flags, (s, u) in FILTERS.items()
          for data in ("0x1", "0x2")
          for event in ("0x20000", "0x30000")]


def boot(folder, qemu, guests, **arguments):
    """Tally on that machine."""
    return bare_guests.boot(folder, guests, options=["--qemu", qemu], timeout=harness.GUARD,
                            **arguments)


def machine(folder, cpu=CPU):
    """The path of a QEMU whose pmu node maps raw events."""
    subprocess.run([plain.QEMU, "-machine", f"virt,dumpdtb={folder}/virt.dtb", "-cpu", cpu,
                    "-smp", "1", "-m", "1G", "-nographic", "-bios", "none"],
                   check=True, capture_output=True)
    text = subprocess.run(["dtc", "-q", "-O", "dts", folder / "virt.dtb"], check=True,
                          capture_output=True, text=True).stdout
    pmu = 'compatible = "riscv,pmu";'
    assert text.count(pmu) == 1
    subprocess.run(["dtc", "-q", "-O", "dtb", "-o", folder / "raw.dtb"], check=True, text=True,
                   input=text.replace(pmu, pmu + MAP))
    script = folder / "qemu"
    script.write_text(f'#!/bin/sh\nexec {plain.QEMU} "$@" -dtb {folder}/raw.dtb\n',
                      encoding="utf-8")
    script.chmod(0o755)
    return script
