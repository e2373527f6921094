# SPDX-License-Identifier: Apache-2.0
"""heartbeat-ms: a guest that does not ring in time has failed, and no other one."""

import bare_guests
import harness
from test_warden import told


def test_silent(tmp_path):
    """One never rings, one stops to, one goes on; and one need not."""
    result = bare_guests.boot(
        tmp_path, {"alpha": "kind=heart then=sleep",
                   "beta": "kind=heart rings=10 every=300000 then=spin",
                   "gamma": "kind=heart rings=20 every=300000 then=end",
                   "delta": "kind=busy ticks=10000000"},
        status=harness.VM_FAILED,
        own={name: "heartbeat-ms = <50>;" for name in ("alpha", "beta", "gamma")})
    assert told(result, "alpha") == ["failed: did not ring for 50 ms"]
    assert told(result, "beta") == ["failed: did not ring for 50 ms"]
    assert told(result, "gamma") == ["ended"]
    assert told(result, "delta") == ["ended"]
    assert result.vm("alpha") == ["heart: begins", "heart: has rung 0 times, last behind 0"]
    assert result.vm("beta")[1].startswith("heart: has rung 10 times, last behind ")
    assert result.vm("gamma")[-1] == "heart: ends, 40 checks, 0 failed"
