# SPDX-License-Identifier: Apache-2.0
"""A guest whose trap handler makes a page fault with its first instruction executes none any more,
and virtual time stands still (docs/platform.md, Time): it ends, and its neighbour counts as ever.
"""

import pytest

import bare_guests
import harness
import lives
from measured import EXPECTED, MEASURE
from runlib.standstill import Watch


def test_a_watch_ends_before_it_has_begun(tmp_path):
    """As when a signal comes between."""
    Watch(0, tmp_path, None, None, None).stop()


@pytest.mark.parametrize("fault", ["load", "store", "amo", "load lcofi=yes"])
def test_such_a_guest_ends(tmp_path, fault):
    """tools/run notices, and the interrupt that it sends is enough for Tally."""
    guests = {"alpha": MEASURE, "beta": f"kind=crash how=standstill fault={fault}"}
    result = bare_guests.boot(tmp_path, guests, status=harness.VM_FAILED)
    assert result.vm("alpha") == EXPECTED
    state = lives.registers(result, "beta")
    told = f"its trap handler traps for ever at {state['stvec']:x}"
    assert lives.told(result, "beta") == [f"failed: {told}"]
    assert (state["scause"], state["stval"]) == (13 if "load" in fault else 15, 0x40000000)
    assert result.messages.splitlines() == [
        "tools/run: virtual time stands still; Tally is asked to look for the guest that executes "
        "nothing",
        f"tools/run: vm beta: failed: {told}"]


def test_one_that_nobody_ends(tmp_path):
    """The same on the machine itself, without Tally: a status of its own, after some processor
    time."""
    bare_guests.boot(tmp_path, {"alpha": "kind=idle ticks=0"})
    result = harness.run(tmp_path / "bare.dts", timeout=harness.GUARD, options=[
        "--include", harness.BUILD / "guests", "--kernel", harness.BUILD / "guests/bare.bin",
        "--append", "kind=crash how=standstill"])
    assert result.status == harness.STANDSTILL, str(result)
    assert result.messages.startswith(
        "tools/run: virtual time stands still: hart 0 executes nothing at 00000000802")
