# SPDX-License-Identifier: Apache-2.0
"""The hart's mhpmevent registers beside what a guest asked for: guests/bare/pmu/readback.c asks,
and a debugger of QEMU's tells it what, and reads."""

import concurrent.futures
import contextlib
import os
import struct
import subprocess
import tempfile
import time

import bare_guests
import debugger
from event_tables import tool
import harness
import plain

CPU = "rv64,sscofpmf=on,smcntrpmf=on,ssaia=on,ssccfg=on,pmu-mask=0xfffffff8"
COUNTERS = range(3, 32)

# guests/bare/pmu/readback.c
STOP_AT = 0x80a00000
MOST = 128
REQUEST = struct.Struct("<4Q3q")

RAW, RAW_V2 = 0x20000, 0x30000
NOT_SUPPORTED = -2
# config_flags of SBI, and bits of mhpmevent.
VUINH, VSINH, UINH, SINH, MINH = (1 << n for n in range(3, 8))
EVENT_OF, EVENT_MINH, EVENT_SINH, EVENT_UINH, EVENT_VSINH, EVENT_VUINH = (
    1 << n for n in range(63, 57, -1))
# QEMU takes a selector with these low 20 bits for an event of its own (docs/platform-counters.md).
OWN = (0x1, 0x2, 0x10019, 0x1001b, 0x10021)


class Request:
    """What the guest asks for; `error`, `counter` and `started` are answers. selector: where it is
    not the event's data."""

    def __init__(self, event_data, event_idx=RAW, flags=0, counters=0xfffffff8, selector=None):
        self.event_data, self.event_idx = event_data, event_idx
        self.selector = event_data if selector is None else selector
        self.flags, self.counters = flags, counters
        self.error = self.counter = self.started = None

    def packed(self):
        return REQUEST.pack(self.event_idx, self.event_data, self.flags, self.counters, 0, 0, 0)

    def answered(self, data):
        self.error, self.counter, self.started = REQUEST.unpack(data)[4:]

    def filters(self):
        """The bits of mhpmevent above the selector: of a guest's modes S is VS and U is VU; nothing
        counts outside of guests; the flags for VS and VU of a guest's own guests mean nothing."""
        return (EVENT_MINH | EVENT_SINH | EVENT_UINH | (self.flags & SINH and EVENT_VSINH) |
                (self.flags & UINH and EVENT_VUINH))

    def __repr__(self):
        return (f"event 0x{self.event_idx:x} data 0x{self.event_data:x} flags 0x{self.flags:x}: "
                f"error {self.error} counter {self.counter} started {self.started}")


def taken_for_own(selector):
    """Whether QEMU would count something else."""
    return selector & 0xfffff in OWN


def machine(folder, node, gdb=None):
    """The path of a QEMU whose device tree has that node, too. gdb: a socket, on which it waits for
    a debugger."""
    subprocess.run([plain.QEMU, "-machine", f"virt,dumpdtb={folder}/virt.dtb", "-cpu", CPU,
                    "-smp", "1", "-m", "1G", "-nographic", "-bios", "none"],
                   check=True, capture_output=True)
    text = subprocess.run(["dtc", "-q", "-O", "dts", folder / "virt.dtb"], check=True,
                          capture_output=True, text=True).stdout
    subprocess.run(["dtc", "-q", "-O", "dtb", "-o", folder / "core.dtb"], check=True, text=True,
                   input=text + node)
    script = folder / "qemu"
    waits = f"-gdb unix:{gdb},server=on,wait=off -S" if gdb else ""
    script.write_text(f'#!/bin/sh\nexec {plain.QEMU} "$@" -dtb {folder}/core.dtb {waits}\n',
                      encoding="utf-8")
    script.chmod(0o755)
    return script


def boot(folder, nodes, backend, gdb=None, options=(), kind="readback"):
    """A guest on that machine. nodes: of the machine's tree and of the VM tree."""
    plain.make("build/guests/bare.bin")
    tree = folder / "core.dts"
    tree.write_text(bare_guests.tree({"alpha": f"kind={kind}"}) + nodes[1], encoding="ascii")
    return harness.run(tree, backend=backend, options=[
        "--include", harness.BUILD / "guests", "--qemu", machine(folder, nodes[0], gdb),
        "--cpu", CPU, *options])


def attached(path, running):
    """A debugger of the machine, as soon as there is one."""
    while not running.done():
        with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
            return debugger.Debugger(path)
        time.sleep(0.05)
    raise AssertionError(f"the machine did not wait for a debugger:\n{running.result()}")


class Readback:
    """The guest, of which one asks."""

    def __init__(self, hart):
        self.hart = hart
        hart.break_at(STOP_AT)
        hart.go_on()
        self.shared = hart.register("a0")

    def ask(self, requests, initial_value=0):
        """Lets the guest ask, and fills in the answers; then its counters run. The hart's
        registers can be read until it asks for something else."""
        assert len(requests) <= MOST
        self.hart.write(self.shared, struct.pack("<2Q", len(requests), initial_value) +
                        b"".join(request.packed() for request in requests))
        self.hart.set_register("pc", self.hart.register("ra"))
        self.hart.go_on()
        answers = self.hart.read(self.shared + 16, REQUEST.size * len(requests))
        for n, request in enumerate(requests):
            request.answered(answers[n * REQUEST.size:(n + 1) * REQUEST.size])

    def events(self):
        """{counter: mhpmevent} of those that run."""
        inhibited = self.hart.register("mcountinhibit")
        return {n: self.hart.register(f"mhpmevent{n}") for n in COUNTERS if not inhibited >> n & 1}

    def end(self):
        """Lets the guest end."""
        self.hart.write(self.shared, bytes(8))
        self.hart.set_register("pc", self.hart.register("ra"))
        self.hart.leave()


def of_core(core):
    """The nodes of a core, as they are made."""
    return tool(core, "node").stdout, tool(core, "vm-node").stdout


def session(folder, nodes, backend, drive, options=()):
    """drive(Readback), while the guest runs; the run's result."""
    with tempfile.TemporaryDirectory() as short, \
            concurrent.futures.ThreadPoolExecutor(1) as beside:
        path = os.path.join(short, "gdb")
        running = beside.submit(boot, folder, nodes, backend, path, options)
        hart = attached(path, running)
        try:
            guest = Readback(hart)
            drive(guest)
            guest.end()
        except BaseException:
            with contextlib.suppress(EOFError, OSError):
                hart.ask("k")
            raise
        finally:
            hart.close()
        return running.result()


def batches(pairs, homes):
    """Lists of (group, request) that all fit on the hart at a time. homes: selectors of events that
    want a counter of their own, which nothing else may have taken before."""
    left = {}
    for pair in pairs:
        left.setdefault(pair[0], []).append(pair)
    while any(left.values()):
        batch = []
        for group, waiting in left.items():
            fits = {}
            for pair in waiting:
                fits.setdefault(pair[1].selector, pair)
                if len(fits) == group.counters.bit_count():
                    break
            batch += fits.values()
            left[group] = [pair for pair in waiting if pair not in fits.values()]
        yield sorted(batch, key=lambda pair: pair[1].selector not in homes)
