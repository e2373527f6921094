# SPDX-License-Identifier: Apache-2.0
"""Machines that are functions here, behind a UNIX socket as tools/run's: for tools that ask."""

import base64
import contextlib
import json
import os
import socket
import threading

import harness  # finds the tools  # pylint: disable=unused-import
from runlib import console_relay, flow, ptys
from tallylib import frames


class Asked:
    """answer(command) -> (status, lines), in the order of the requests. commands: what was asked.
    """

    def __init__(self, path, answer):
        self.path, self.answer, self.commands = str(path), answer, []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(4)
        self.connections = []
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        """One program after the other."""
        while True:
            try:
                connection = self.listener.accept()[0]
            except OSError:
                return
            self.connections.append(connection)
            with connection, connection.makefile("rb") as lines:
                for line in lines:
                    self.serve(connection, line.decode().rstrip("\n"))

    def serve(self, connection, command):
        """One request."""
        self.commands.append(command)
        status, lines = self.answer(command)
        text = "".join(f"= {line}\n" for line in lines) + f". {status}\n"
        with contextlib.suppress(OSError):  # it has ended meanwhile
            connection.sendall(text.encode())

    def end(self):
        """The machine goes off."""
        self.listener.close()
        for connection in self.connections:
            with contextlib.suppress(OSError):  # who asked has gone
                connection.shutdown(socket.SHUT_RDWR)


def told(objects):
    """The answer of a command with --json."""
    return 0, [json.dumps(line) for line in objects]


CAUSES = ["ecall", "timer", "irq", "lcofi", "mmio", "csr", "wfi", "other"]
# Observers that count guests' instructions and cycles, and those that sample.
NUMBERS = {"alpha": 7, "beta": 8}
CYCLES = {"alpha": 9, "beta": 10}
SAMPLING = {"alpha": 21, "beta": 22}
TAKEN = "the guest counts something else on that counter"


def looked(command, step):
    """What is told at look 0, 1, ...: 2 s of the machine's time between two, of which alpha has
    0.5 and beta 1.25; beta's vcpu 1 comes at look 1 only."""
    words = command.split()
    vcpus = [("alpha", 0), ("beta", 0)] + [("beta", 1)] * (step > 0)
    if words[0] == "vms":
        return [{"vm": vm, "state": state, "uptime_ms": 2000 * step, "vcpus": 1, "harts": [0],
                 "memory": 1 << 24} for vm, state in (("alpha", "running"), ("beta", "off"))]
    if words[0] == "exits":
        rates = {"alpha": 100, "beta": 3000}
        return [{"vm": vm, "vcpu": n, **{cause: rates[vm] * i * step for i, cause in
                                         enumerate(CAUSES)},
                 "hs_instructions": 100000 * step, "time_us": 5000000 + 2000000 * step,
                 "cpu_us": (500000 if vm == "alpha" else 1250000) * step,
                 "steal_us": 700000 * step} for vm, n in vcpus]
    if words[0] == "pmu":
        return [line for vm, n in vcpus for line in (
            {"vm": vm, "vcpu": n, "hart": 3, "counters": 1, "overflows": 5 * step, "held_back": 0,
             "refusals": 47},
            {"vm": vm, "vcpu": n, "counter": 4, "event": "0x2"})]
    if words[0] == "observe":
        numbers = CYCLES if words[2].startswith("0x1:") else NUMBERS
        return [{"vm": words[1], "vcpu": 0, "observation": numbers[words[1]], "ended": None}]
    if words[0] == "observed":
        return [line for line in observations(step)
                if words[1] in ("--json", str(line["observation"]))]
    if words[0] == "sample":
        return [{"vm": words[1], "vcpu": 0, "observation": SAMPLING[words[1]], "timebase": 10000000,
                 "looked_ns": 1, "ended": TAKEN if words[1] == "beta" else None}]
    return []


def observations(step):
    """What `observed` tells."""
    ns = 2000000000 * step
    return [*({"vm": "alpha", "vcpu": 0, "observation": number, "ended": None, "looked_ns": ns,
               "value": value * step} for number, value in ((7, 900000), (9, 1080000))),
            *({"vm": vm, "vcpu": 0, "observation": SAMPLING[vm], "ended": ended, "looked_ns": ns,
               "value": 0, "samples": 0, "lost": 0, "late": 0, "ns": 0, "lcofi_hs": 0}
              for vm, ended in (("alpha", None), ("beta", TAKEN)))]


def number(value):
    """As in packed samples (docs/samples.md)."""
    if value <= 247:
        return bytes([value])
    length = (value.bit_length() + 7) // 8
    return bytes([247 + length]) + value.to_bytes(length, "little")


def noted():
    """What `samples` tells: of alpha three samples in the kernel and one in a process, before which
    two are missing; the last line begins in the middle of a sample."""
    # A new place: whose, time, pc, and 100 events.
    data = bytes([0xe8]) + number(SAMPLING["alpha"]) + b"\0" + number(2 * 1000) + \
        number(2 * 0x80200010) + b"\2" + number(2 * 100)
    # As before, 1000 ticks later; with 100 events more; in a process, with 100 less, the third one.
    data += b"\0" + number(2 * 1000) + b"\0"
    data += b"\x08" + number(2 * 1000) + b"\0\2" + number(2 * 100)
    data += b"\x09" + number(2 * 3000) + number(2 * 0x1000) + b"\6" + number(2 * 100 - 1) + b"\4"
    return [f"3 {begin}" + base64.b64encode(part).decode()
            for begin, part in (("begin ", data[:18]), ("", data[18:]))]


READY = "1 instructions from entry to the first guest"


class Framed:
    """A machine that prints frames, behind a relay as tools/run's: its socket, pseudo-terminals."""

    def __init__(self, folder, names=("alpha", "beta")):
        self.input, self.to_machine = os.pipe()
        self.from_machine, self.output = os.pipe()
        self.path = str(folder / "machine.sock")
        self.flow = flow.Flow(list(names))
        self.relay = console_relay.Relay(self.to_machine, self.input, self.from_machine, self.flow,
                                         path=self.path)
        self.folder = ptys.folder_of(self.path)
        self.received = b""
        self.ptys = contextlib.ExitStack()
        self.ptys.enter_context(ptys.offered(self.relay, self.path))
        self.thread = threading.Thread(target=self.work)
        self.thread.start()
        self.prints(frames.Begun(True), *(frames.Name(n, name) for n, name in enumerate(names)),
                    frames.Own(READY))

    def work(self):
        """The thread."""
        self.relay.run()
        self.ptys.close()
        self.relay.close()

    def prints(self, *events):
        """What Tally prints."""
        os.write(self.output, b"".join(map(frames.framed, events)))

    def output_of(self, vm, data):
        """What the VM of that number prints."""
        self.prints(frames.Output(vm, data))

    def reads(self, wanted):
        """The machine reads until this was typed, and no more than this."""
        while len(self.received) < len(wanted):
            self.received += os.read(self.input, len(wanted) - len(self.received))
        got, self.received = self.received, b""
        assert got == wanted

    def end(self):
        """It goes off."""
        if self.output is not None:
            os.close(self.output)
            self.output = None
        self.thread.join()
