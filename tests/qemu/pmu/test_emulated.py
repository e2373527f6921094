# SPDX-License-Identifier: Apache-2.0
"""An access to an emulated device counts as one instruction in every running counter, with each
instruction at each register, on both ways that an exit can take."""

import bare_guests
import harness
import plain
from platforms import instret_is_alike
from prompts import Prompt

# What is sent is printed: four stores of different width, in S and in U, near a wrap and not.
SENT = 4 * 2 * 2 * 8
UNPRINTABLE = ""
ACCESSES, WITH_AIA = 20640 + SENT, 16832 + SENT
# Besides: a store before each eight of them; two that set the UART back; a store, then 32 loads,
# and 32 stores, each with a load.
MORE_ONCE = 2 + 1 + 32 + 2 * 32
MORE = ACCESSES // 8 + MORE_ONCE


def right(accesses=ACCESSES):
    """The guest's lines. The last counter has the second filter of instructions, which is refused
    where guests do not get instret."""
    alike = instret_is_alike()
    return [*([] if alike else ["emulated: event 0x2 flags 0x20: error -2"]), UNPRINTABLE,
            f"emulated: {7 + alike} counters, {accesses} accesses, 0 counts wrong, "
            "0 registers wrong"]


@harness.both_backends
def test_one_instruction_in_every_counter(tmp_path, backend):
    """The fast path, but for what the UART is sent and what has not the width of a register."""
    result = bare_guests.boot(tmp_path, {"alpha": "kind=emulated"}, backend=backend)
    assert result.vm("alpha") == right()
    assert bare_guests.exits(result, "alpha")["mmio"] == ACCESSES + MORE


FUNCTION = """
	interrupts = "aia";
	restart = "never"; restart-limit = <0>;
	devices { rng { pci = "00:01.0"; dma = "isolated"; }; };"""
RNG = "virtio-rng-pci,addr=01.0,disable-legacy=on,iommu_platform=on"


@harness.both_backends
def test_with_an_aia_and_functions(tmp_path, backend):
    """The APLIC, and configuration space of a PCI bus."""
    result = bare_guests.boot(
        tmp_path, {"alpha": "kind=emulated chip=aplic"}, properties=FUNCTION, backend=backend,
        options=["--aia", "aplic-imsic", "--aia-guests", 1, "--device", RNG])
    assert result.vm("alpha") == right(WITH_AIA)
    # One more for the source that gets a target.
    assert bare_guests.exits(result, "alpha")["mmio"] == WITH_AIA + WITH_AIA // 8 + MORE_ONCE + 1


def test_the_same_traced(console, tmp_path):
    """Exits that are noted take the slow path. The keys go to another VM, because a UART in
    loopback takes none."""
    plain.make("build/guests/bare.bin")
    tree = tmp_path / "emulated.dts"
    tree.write_text(bare_guests.tree({"alpha": "kind=idle ticks=100000000000",
                                      "beta": "kind=emulated rounds=1000"}), encoding="utf-8")
    screen = console(tree, options=["--include", harness.BUILD / "guests"])
    screen.expect("emulated: ")
    prompt = Prompt(screen)
    assert prompt.ask("trace on beta") == ["trace is on"]
    for _ in range(2):
        screen.expect(r"emulated: (\d+ counters[^\n]*)\r\n")
        assert "emulated: " + screen.match[1] == right()[-1]
    seen = set()
    while not {"load", "store"} <= seen:
        seen |= {entry["cause"] for entry in prompt.objects("trace")}
    screen.send("poweroff\r")
    screen.expect("tally: vm beta: stopped")
