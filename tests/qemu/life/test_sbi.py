# SPDX-License-Identifier: Apache-2.0
"""SBI 3.0 as a guest meets it, but for the PMU (test_selftest_*.py) and HSM's states (test_smp.py).
"""

import pytest

import bare_guests
import harness

# guests/bare/vcpu/sbi_console.c: one call writes this.
TEXT = [f"DBCN {n:02} abcdefghijklmnopqrstuvwxyzabcde" for n in range(100)]


@pytest.mark.parametrize("cpu", ["", ",sstc=off"], ids=["sstc", "no-sstc"])
@harness.both_backends
def test_every_call(tmp_path, backend, cpu):
    """Each function of each extension, with right and wrong arguments; a neighbour runs meanwhile.
    """
    guests = {"alpha": "kind=sbi", "beta": "kind=busy ticks=100000"}
    result = bare_guests.boot(tmp_path, guests, backend=backend, options=[
        "--cpu", "rv64,sscofpmf=on,smcntrpmf=on,ssaia=on,ssccfg=on" + cpu])
    lines = result.vm("alpha")
    assert lines[-1] == "sbi: ends, 279 checks, 0 failed", str(result)
    assert lines[:-1] == ["DBCN bytes", *TEXT, TEXT[0], *TEXT]
