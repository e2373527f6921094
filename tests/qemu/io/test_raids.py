# SPDX-License-Identifier: Apache-2.0
"""A guest that has a virtio function write and read outside of its memory, life after life, while
it restarts itself and the operator restarts it (docs/dma.md): nothing that is not its own changes,
each attempt is told, a neighbour counts exactly, and nothing is written after its end."""

import contextlib
import hashlib
import re
import threading

import pytest

import bare_guests
import harness
import hosts
from hosts import Monitor
from isolation import CHIPS, END, FILE, MEMORY, SIZE, TALLY, chips, targets
from measured import rounds
from prompts import check_rounds
from tallylib import tally_ctl

# The others differ in how interrupts come only.
MACHINES = [pytest.param(aia, marks=() if aia in ("none", "aia") else pytest.mark.long)
            for aia in CHIPS]
LENGTH = 100000
BELOW = MEMORY - SIZE  # guests that sleep, as near as they may be
ABOVE = END + (2 << 20)
# It looks at its rings in the store that notifies it, and not when a thread of QEMU comes to it.
RAIDER = f"{hosts.RNG},ioeventfd=off"
SLOW = f"virtio-rng-pci,addr=02.0,max-bytes=64,period=100,{hosts.ISOLATED}"
OTHER = f"virtio-rng-pci,addr=03.0,{hosts.ISOLATED}"
ASLEEP = "kind=idle ticks=1000000000000000 period=1000000000000000"
# Eight bytes each: below its memory, across its first byte, its last, and the one behind.
EDGES = (MEMORY - 4096, MEMORY - 8, MEMORY - 7, MEMORY - 4, MEMORY - 1, END - 7, END - 4, END - 1,
         END, END + 1, END + 4096)
OTHER_BAR = 0x40010000  # of beta's function
OTHERS = (0x1000, OTHER_BAR, OTHER_BAR + 0x4000, 0x100000, 0x3010000, 0xc000000, 0xd000000,
          0x10000000, 0x24000000, 0x30000000, 0x80000000, 0x80020000, TALLY.get("_image_start", 0),
          TALLY.get("_rodata_start", 0), TALLY.get("_data_start", 0), BELOW, ABOVE + SIZE - 8,
          1 << 41, MEMORY | 1 << 41)


def at(base):
    """The line of a VM whose memory is there."""
    return f"memory-at = /bits/ 64 <{base:#x} {SIZE:#x}>;\n"


def raid(folder, bootargs, aia, limit, beta, **arguments):
    """Boots alpha, which raids, beside beta, which measures, and two guests that sleep."""
    names = {"rng": "00:01.0", "slow": "00:02.0"}
    devices = " ".join(f'{name} {{ pci = "{bdf}"; dma = "isolated"; }};'
                       for name, bdf in names.items())
    own = {"alpha": at(MEMORY) + ('interrupts = "aia";' if aia == "aia" else "") +
           f"restart-limit = <{limit}>; devices {{ {devices} }};",
           "beta": 'devices { other { pci = "00:03.0"; dma = "isolated"; }; };',
           "below": at(BELOW), "above": at(ABOVE)}
    guests = {"alpha": f"kind=raid slow=16 {bootargs}", "beta": beta,
              "below": ASLEEP, "above": ASLEEP}
    qemu = hosts.qemu(folder, "-machine", "iommu-sys=on", "-qmp",
                      f"unix:{folder}/qmp,server=on,wait=off",
                      *hosts.functions(RAIDER, SLOW, OTHER))
    return bare_guests.boot(folder, guests, own=own, options=[
        *chips(aia), "--qemu", qemu, *arguments.pop("options", ())], **arguments)


class Watch:
    """Looks at the machine's memory, by QEMU."""

    def __init__(self, folder):
        self.file = folder / "bytes"
        self.monitor = Monitor(folder / "qmp")

    def read(self, start, size):
        self.monitor.ask("pmemsave", val=start, size=size, filename=str(self.file))
        return self.file.read_bytes()

    def hashes(self):
        """Of what must stay as it is."""
        parts = {"firmware": (0x80000000, 0x40000),
                 "text": (TALLY["_image_start"], TALLY["_rodata_start"] - TALLY["_image_start"]),
                 "rodata": (TALLY["_rodata_start"], TALLY["_data_start"] - TALLY["_rodata_start"]),
                 "below": (BELOW, SIZE), "above": (ABOVE, SIZE)}
        self.monitor.ask("stop")
        found = {name: hashlib.sha256(self.read(*part)).hexdigest()
                 for name, part in parts.items()}
        self.monitor.ask("cont")
        return found


def tried(result):
    """{(target, way): addresses of the faults} of a guest that tells of each attempt."""
    found, now = {}, None
    for line in result.lines:
        attempt = re.fullmatch(r"\[alpha\] raid: at 0x([0-9a-f]+) by (\d)", line)
        fault = re.fullmatch(r"tally: vm alpha: DMA of rng \(00:01\.0\): (?:read from|write to) "
                             r"0x([0-9a-f]+): .*", line)
        if attempt:
            now = (int(attempt[1], 16), int(attempt[2]))
            found[now] = []
        elif fault and now:
            found[now].append(int(fault[1], 16))
    return found


BUFFER, WAYS = 0, 4
RING = 16  # bytes of the largest access to a ring


def edge(at):
    """How far it is to the next edge of the memory."""
    return min(edge - at for edge in (MEMORY, END, 1 << 64) if edge > at)


@pytest.mark.parametrize("aia", ("none", "aia"))
def test_each_attempt_is_told(tmp_path, aia):
    """Of each address by each way. Of a ring across an edge QEMU may access only what is inside; it
    (10.0) does not ask for what a ring has behind a page, so nobody tells of it: nothing of
    anybody is there (docs/dma.md)."""
    wanted = [at for at in (*EDGES, *OTHERS) if (aia, at) != ("aia", FILE)]
    result = raid(tmp_path, f"gap=24000000 tell=yes {targets(wanted)}", aia, 0,
                  beta="kind=idle ticks=1", status=harness.INTERRUPTED,
                  until="vm alpha: stays off")
    found = tried(result)
    assert set(found) == {(at, way) for at in wanted for way in range(WAYS)}
    for (at, way), faults in found.items():
        if way == BUFFER or not 0 < edge(at) < RING:
            assert faults and all(0 <= fault - at < RING for fault in faults), (hex(at), way)
    assert result.vm("alpha")[-1] == (
        f"raid: 0 bytes of a life before, {WAYS * len(wanted)} attempts, 0 without an answer, the "
        "device works")


def look_at(tally, name):
    """What the prompt says of a VM."""
    return next(vm for vm in tally.objects("vms") if vm["vm"] == name)


def wait(tally, name, ready):
    """Until what is told of a VM is so."""
    while not ready(look_at(tally, name)):
        pass


def wait_for_a_new_life(tally):
    """Until alpha has another one than it had."""
    last, now = 0, look_at(tally, "alpha")["uptime_ms"]
    while now >= last:
        last, now = now, look_at(tally, "alpha")["uptime_ms"]


ROUND = f"kind=measure rounds=1000000 length={LENGTH}"
OWN = (0x40000000, 0x40004000, 0x40008000, FILE, FILE + 0xffc, FILE + 0x1000)
# Two of each end; six in the long form.
NUMBERS = [pytest.param(aia, lives, id=f"{aia}-{lives}",
                        marks=() if (aia, lives) in (("none", 4), ("aia", 4)) else
                        pytest.mark.long)
           for aia in CHIPS for lives in (4, 6)]


@pytest.mark.parametrize("aia, number", NUMBERS)
def test_lives(tmp_path, aia, number):
    """Each second one is ended by the operator, in the middle of what it does; the others end
    themselves, with buffers that may still be filled. Registers of its own functions and where
    messages go are targets as well."""
    same = []

    def look():
        with tally_ctl.Machine(f"{tmp_path}/control", timeout=harness.GUARD) as tally:
            watch = Watch(tmp_path)
            wait(tally, "above", lambda vm: vm["uptime_ms"] > 200)  # all have fallen asleep
            same.append(watch.hashes())
            for life in range(number):
                if life % 2:
                    tally.ask("restart alpha")
                wait_for_a_new_life(tally)
                same.append(watch.hashes())
            with contextlib.suppress(tally_ctl.NoAnswer):
                tally.ask("poweroff")

    result = raid(tmp_path, f"gap=5000 {targets((*EDGES, *OTHERS, *OWN))}", aia, 1000, beta=ROUND,
                  options=["--control", tmp_path / "control"],
                  meanwhile=threading.Thread(target=look))
    assert len(same) == number + 1 and all(one == same[0] for one in same)
    check_rounds(result.vm("beta"), rounds(1, LENGTH))
    lines = result.vm("alpha")
    assert len(lines) >= number // 2
    assert set(lines) == {
        f"raid: 0 bytes of a life before, {WAYS * len((*EDGES, *OTHERS, *OWN))} attempts, "
        "0 without an answer, the device works"}
    assert [line for line in result.own if "DMA of rng (00:01.0)" in line]


@pytest.mark.parametrize("aia", MACHINES)
def test_nothing_is_written_after_the_end(tmp_path, aia):
    """The operator stops it while its device has seven buffers to fill: its memory is cleared, and
    stays so for longer than they would take."""
    seen = []

    def look():
        with tally_ctl.Machine(f"{tmp_path}/control", timeout=harness.GUARD) as tally:
            watch = Watch(tmp_path)
            wait(tally, "alpha", lambda vm: vm["uptime_ms"] > 300)
            seen.append(any(watch.read(MEMORY, SIZE)))
            tally.ask("stop alpha")
            wait(tally, "alpha", lambda vm: vm["state"] == "off")
            for _ in range(3):
                seen.append(any(watch.read(MEMORY, SIZE)))
                now = look_at(tally, "beta")["uptime_ms"]
                wait(tally, "beta", lambda vm, end=now + 400: vm["uptime_ms"] > end)
            seen.append(any(watch.read(MEMORY, SIZE)))
            with contextlib.suppress(tally_ctl.NoAnswer):
                tally.ask("poweroff")

    result = raid(tmp_path, "end=operator", aia, 1000, beta=ROUND,
                  options=["--control", tmp_path / "control"],
                  meanwhile=threading.Thread(target=look))
    assert seen == [True, False, False, False, False]
    check_rounds(result.vm("beta"), rounds(1, LENGTH))
