# SPDX-License-Identifier: Apache-2.0
"""What the operator is told of ports of networks, and does to them."""

import threading

import harness
from networks import network, run, vm
from operator_trees import operator
import operators
import schemas
from tallylib import exposition, metrics, tally_ctl, told
from toplib import looks, table

KEYS = ("sent", "sent_bytes", "refused", "received", "received_bytes", "lost")
# Frames of alpha for beta, which has two buffers: two are received and one is lost, as is the one
# that ends the talk. One is forged, one too short.
SCRIPT = "2.0.60,2.3.60,2.0.1514,2.0.13,2.0.100"
ALPHA = {"sent": 4, "sent_bytes": 60 + 1514 + 100 + 18, "refused": 2, "received": 0,
         "received_bytes": 0, "lost": 0}
BETA = {"sent": 0, "sent_bytes": 0, "refused": 0, "received": 2, "received_bytes": 60 + 1514,
        "lost": 2}
VMS = [vm("alpha", "role=talk after=50000 script=" + SCRIPT),
       vm("beta", "role=listen deaf=1 buffers=2 ticks=600000")]


def ports(lines):
    """{VM: counts} of the lines of `vms` about ports."""
    return {row["vm"]: {key: row[key] for key in KEYS} for row in lines if "port" in row}


def test_counts_at_the_prompt(tmp_path):
    """Of a VM that is an operator: before a frame was sent, while beta runs, and when both have
    ended. Of VMs that are not in its list there is no port, and without a port no line."""
    asked = [(when, "vms --json") for when in (1, 500000, 900000)] + [("+0", "vms")]
    result = run(tmp_path, [*VMS, operator(asked, vms='"alpha", "beta", "ops"')],
                 network("alpha", "beta"))
    assert result.status == harness.OK, str(result)
    *looked, (text, status) = operators.answers(result)
    nothing, first, last = ([schemas.read("tally-ctl", line, "vms") for line in lines]
                            for lines, _ in looked)
    for lines in (nothing, first, last):
        assert [(row["vm"], row.get("network")) for row in lines] == [
            ("alpha", None), ("alpha", "lan"), ("beta", None), ("beta", "lan"), ("ops", None)]
    assert ports(nothing) == {name: dict.fromkeys(KEYS, 0) for name in ("alpha", "beta")}
    assert ports(first) == ports(last) == {"alpha": ALPHA, "beta": BETA}
    offered = SCRIPT.count(",") + 2
    assert offered == BETA["received"] + BETA["lost"] + ALPHA["refused"]
    assert status == 0 and text[1] == ("vm alpha, port 0, network lan, sent 4, sent_bytes 1692, "
                                       "refused 2, received 0, received_bytes 0, lost 0")
    result = run(tmp_path, [*VMS, operator([(500000, "vms --json")], vms='"beta"')],
                 network("alpha", "beta"))
    ((lines, _),) = operators.answers(result)
    assert [row["vm"] for row in map(schemas.json.loads, lines)] == ["beta", "beta"]


def test_a_new_life_begins_to_count(tmp_path):
    """Counts are kept while a VM is off."""
    asked = [(500000, "vms --json"), ("+0", "start alpha"), ("+20000", "vms --json")]
    vms = [VMS[0], vm("beta", "role=listen deaf=1 ticks=700000"),
           operator(asked, access="control", vms='"alpha", "beta"')]
    result = run(tmp_path, vms, network("alpha", "beta"))
    (before, _), (_, status), (after, _) = operators.answers(result)
    before, after = (ports(map(schemas.json.loads, lines)) for lines in (before, after))
    assert status == 0 and before["alpha"] == ALPHA
    assert set(after["alpha"].values()) == {0} and after["beta"] == before["beta"]


def test_tools_tell(tmp_path):
    """In the words of tally-ctl, as metrics, and below tally-top's table, of a machine that runs."""
    seen = {}

    def ask():
        with tally_ctl.Machine(f"{tmp_path}/control", timeout=harness.GUARD) as machine:
            while ports(machine.objects("vms")).get("beta") != BETA:
                pass
            seen["vms"] = machine.objects("vms")
            seen["named"] = [row["vm"] for row in tally_ctl.vms(machine)]
            seen["metrics"] = metrics.collect(machine)
            seen["look"] = looks.Machine(machine).look()
            machine.ask("poweroff")

    vms = [VMS[0], vm("beta", "role=listen deaf=1 buffers=2 ticks=30000000")]
    asking = threading.Thread(target=ask)
    result = run(tmp_path, vms, network("alpha", "beta"),
                 ["--control", tmp_path / "control"], meanwhile=asking)
    assert seen["named"] == ["alpha", "beta"], str(result)
    assert [text for row in seen["vms"] if "port" in row for text in told.vms(row)] == [
        "  network lan: sent 4, 1692 bytes, refused 2; received 0, 0 bytes, lost 0",
        "  network lan: sent 0, 0 bytes, refused 0; received 2, 1574 bytes, lost 2"]
    for name, counted in (("alpha", ALPHA), ("beta", BETA)):
        for key, number in counted.items():
            metric = key if key.endswith("bytes") else key + "_frames"
            assert f'tally_port_{metric}_total{{vm="{name}",network="lan",port="0"}} {number}\n' \
                in seen["metrics"]
    assert [vcpu.ports for vcpu in seen["look"]] == [
        [row] for row in seen["vms"] if "port" in row]


def looked(seconds, **sent):
    """A vcpu at a look, whose VM has two ports."""
    rows = [{"vm": "alpha", "port": n, "network": network, **dict.fromkeys(KEYS, 0), **sent}
            for n, network in enumerate(("lan", "other"))]
    return looks.Vcpu("alpha", 0, "running", 0, 0, seconds * 10**6, 0, 0,
                      dict.fromkeys(looks.CAUSES, 0), 0, 0, 0, {}, None, None, None, rows)


def test_rates():
    """Of two looks; a count that began anew has none, nor has a first look."""
    before, after = looked(1, lost=7), looked(3, sent=20, sent_bytes=3000000, refused=5)
    (row,) = looks.rows([before], [after])
    schemas.check("tally-top", row)
    assert row["ports"] == [{"network": network, "sent_per_s": 10, "sent_bytes_per_s": 1500000,
                             "received_per_s": 0, "received_bytes_per_s": 0, "refused_per_s": 2.5,
                             "lost_per_s": None} for network in ("lan", "other")]
    assert table.ports([row]) == [
        "",
        "VM              NETWORK         SENT/S BYTES/S RECV/S BYTES/S LOST/S REFUSED/S",
        "alpha           lan                 10   1500k      0       0      -         2",
        "alpha           other               10   1500k      0       0      -         2"]
    (row,) = looks.rows([], [after])
    schemas.check("tally-top", row)
    assert set(row["ports"][0].values()) == {"lan", None}
    (row,) = looks.rows([], [after._replace(ports=[])])
    assert "ports" not in row and table.ports([row]) == []


def test_labels():
    """A metric has the labels vm, network and port."""
    page = exposition.Families()
    metrics.add_port(page, {"vm": "a", "network": "n", "port": 1, **ALPHA})
    assert 'tally_port_refused_frames_total{vm="a",network="n",port="1"} 2\n' in page.text()
