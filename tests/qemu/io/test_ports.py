# SPDX-License-Identifier: Apache-2.0
"""What the operator is told of ports of networks, and does to them."""

import json
import threading

import harness
from networks import network, run, vm
from operator_trees import operator
import operators
import schemas
import shared_memory
from tallylib import exposition, metrics, tally_ctl, told
from toplib import looks, table
from vm_check import check

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
    assert status == 0 and text[1] == ("vm alpha, port 0, network lan, link up, sent 4, "
                                       "sent_bytes 1692, refused 2, received 0, "
                                       "received_bytes 0, lost 0")
    result = run(tmp_path, [*VMS, operator([(500000, "vms --json")], vms='"beta"')],
                 network("alpha", "beta"))
    ((lines, _),) = operators.answers(result)
    assert [row["vm"] for row in map(json.loads, lines)] == ["beta", "beta"]


def test_a_new_life_begins_to_count(tmp_path):
    """Counts are kept while a VM is off."""
    asked = [(500000, "vms --json"), ("+0", "start alpha"), ("+20000", "vms --json")]
    vms = [VMS[0], vm("beta", "role=listen deaf=1 ticks=700000"),
           operator(asked, access="control", vms='"alpha", "beta"')]
    result = run(tmp_path, vms, network("alpha", "beta"))
    (before, _), (_, status), (after, _) = operators.answers(result)
    before, after = (ports(map(json.loads, lines)) for lines in (before, after))
    assert status == 0 and before["alpha"] == ALPHA
    assert set(after["alpha"].values()) == {0} and after["beta"] == before["beta"]


def links(answer):
    """{(VM, network): state of the link} of an answer to `vms --json`."""
    return {(row["vm"], row["network"]): row["link"]
            for row in map(json.loads, answer[0]) if "port" in row}


# The guest runs between two commands.
SOON = "+20000"


def test_a_link_goes_down_and_up(tmp_path):
    """The guest gets an interrupt for each change and none otherwise, and reads STATUS and the
    generation. What a port sends meanwhile is lost there; what is for it, too."""
    asked = [(300000, "link alpha down"), (SOON, "link alpha down"), (SOON, "link alpha up"),
             (SOON, "link beta down lan"), (SOON, "link alpha down"), (SOON, "vms --json"),
             ("+0", "link alpha up"), (SOON, "vms --json"), ("+0", "stop beta")]
    vms = [vm("alpha", "role=link changes=4 to=2"),
           vm("beta", "role=listen deaf=1 ticks=30000000"),
           operator(asked, access="control", vms='"alpha", "beta"')]
    result = run(tmp_path, vms, network("alpha", "beta"), until=operators.ENDED)
    answers = operators.answers(result)
    assert [(lines, status) for lines, status in answers if "link" in lines[0][:20]] == [
        ([f"{name}: 1 link is {state}"], 0) for name, state in (
            ("alpha", "down"), ("alpha", "down"), ("alpha", "up"), ("beta", "down"),
            ("alpha", "down"), ("alpha", "up"))]
    assert result.vm("alpha") == [f"net: link {state}, generation {n}" for n, state in enumerate(
        ("up", "down", "up", "down", "up"))], str(result)
    assert links(answers[5]) == {("alpha", "lan"): "down", ("beta", "lan"): "down"}
    assert links(answers[7]) == {("alpha", "lan"): "up", ("beta", "lan"): "down"}
    found = ports(map(json.loads, answers[7][0]))
    assert found["alpha"] == {**dict.fromkeys(KEYS, 0), "sent": 4, "sent_bytes": 240, "lost": 2}
    assert found["beta"] == {**dict.fromkeys(KEYS, 0), "received": 1, "received_bytes": 60,
                             "lost": 1}


def test_lives_do_not_change_a_link(tmp_path):
    """A guest cannot plug its cable again by restarting; one that is off finds it as it was left.
    """
    asked = [(300000, "link alpha down"), (SOON, "restart alpha"), ("+400000", "link alpha up"),
             ("+100000", "stop beta")]
    vms = [vm("alpha", "role=link changes=2 to=2"), vm("beta", "role=listen"),
           operator(asked, access="control", vms='"alpha", "beta"')]
    result = run(tmp_path, vms, network("alpha", "beta"), until=operators.ENDED)
    said = [line for line in result.vm("alpha") if line.startswith("net: ")]
    assert said[-2:] == ["net: link down, generation 0", "net: link up, generation 1"], str(result)


def test_several_ports(tmp_path):
    """The network chooses a port; without it all of the VM's are meant."""
    asked = [(1, "link alpha down other"), ("+0", "vms --json"), ("+0", "link alpha down"),
             ("+0", "vms --json"), ("+0", "link alpha up"), ("+0", "vms --json")]
    vms = [vm("alpha", "role=listen deaf=1 ticks=1000"),
           vm("beta", "role=listen deaf=1 ticks=1000"),
           operator(asked, access="control", vms='"alpha"')]
    result = run(tmp_path, vms, network("alpha", "beta") + network("alpha", "beta", name="other"))
    answers = operators.answers(result)
    assert [lines for lines, _ in answers[::2]] == [
        ["alpha: 1 link is down"], ["alpha: 2 links are down"], ["alpha: 2 links are up"]]
    assert [tuple(links(answer).values()) for answer in answers[1::2]] == [
        ("up", "down"), ("down", "down"), ("up", "up")]


def test_refusals(tmp_path):
    """In words, and nothing is done."""
    usage = "usage: link VM up|down [NETWORK]"
    expected = {"link ops down": ("link: ops has no port", 1),
                "link alpha down wan": ("link: alpha has no port of network wan", 1),
                "link beta down": ('link: "beta" is not in operator-vms', 1),
                "link alpha": (usage, 2), "link alpha sideways": (usage, 2),
                "link alpha down lan lan": (usage, 2)}
    vms = [vm("alpha", "role=listen deaf=1 ticks=1000"),
           vm("beta", "role=listen deaf=1 ticks=1000")]
    asked = operators.at_once(*expected, "vms --json")
    result = run(tmp_path, [*vms, operator(asked, access="control", vms='"alpha", "ops"')],
                 network("alpha", "beta"))
    *answers, last = operators.answers(result)
    assert [(lines[0], status) for lines, status in answers] == list(expected.values())
    assert links(last) == {("alpha", "lan"): "up"}
    result = run(tmp_path, [*vms, operator(operators.at_once("link alpha down"))],
                 network("alpha", "beta"))
    assert operators.answers(result) == [(['link: needs operator = "control"'], 1)]


def test_tools_tell(tmp_path):
    """In the words of tally-ctl, as metrics, and below tally-top's table, of one that runs."""
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

    vms = [VMS[0], vm("beta", "role=listen deaf=1 buffers=2 ticks=100000000000")]
    asking = threading.Thread(target=ask)
    result = run(tmp_path, vms, network("alpha", "beta"),
                 ["--control", tmp_path / "control"], meanwhile=asking)
    assert seen["named"] == ["alpha", "beta"], str(result)
    assert [text for row in seen["vms"] if "port" in row for text in told.vms(row)] == [
        "  network lan: sent 4, 1692 bytes, refused 2; received 0, 0 bytes, lost 0",
        "  network lan: sent 0, 0 bytes, refused 0; received 2, 1574 bytes, lost 2"]
    down = {**[row for row in seen["vms"] if "port" in row][0], "link": "down"}
    assert told.vms(down)[0].endswith(", lost 0; link down")
    for name, counted in (("alpha", ALPHA), ("beta", BETA)):
        for key, number in counted.items():
            metric = key if key.endswith("bytes") else key + "_frames"
            assert f'tally_port_{metric}_total{{vm="{name}",network="lan",port="0"}} {number}\n' \
                in seen["metrics"]
    assert [vcpu.ports for vcpu in seen["look"]] == [
        [row] for row in seen["vms"] if "port" in row]


def looked(seconds, **sent):
    """A vcpu at a look, whose VM has two ports."""
    rows = [{"vm": "alpha", "port": n, "network": network, "link": "up",
             **dict.fromkeys(KEYS, 0), **sent} for n, network in enumerate(("lan", "other"))]
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
    for port, link in enumerate(("down", "up")):
        metrics.add_port(page, {"vm": "a", "network": "n", "port": port, "link": link, **ALPHA})
    assert 'tally_port_refused_frames_total{vm="a",network="n",port="1"} 2\n' in page.text()
    assert 'tally_port_up{vm="a",network="n",port="0"} 0\n' in page.text()
    assert 'tally_port_up{vm="a",network="n",port="1"} 1\n' in page.text()


def test_vm_check_says_what_there_is(tmp_path):
    """For a person, and for a program: as boot reports. A derived MAC, too; without a port nothing.
    """
    vms = [vm(name, "role=listen deaf=1 ticks=1000") for name in ("alpha", "beta")] + [
        shared_memory.vm("gamma", "kind=idle ticks=1000")]
    networks = network("alpha", "beta", uplink="beta") + "other { alpha { }; beta { }; };"
    result = run(tmp_path, vms, networks)
    assert result.status == harness.OK, str(result)
    file = tmp_path / "vms.dts"
    alpha, beta, gamma = json.loads(check(file, "--json").stdout)["vms"]
    assert [port["mac"] for port in (alpha["ports"][0], beta["ports"][0])] == [
        "02:00:00:00:00:01", "02:00:00:00:00:02"]
    lines, booted = [], []
    for one in (alpha, beta):
        assert [port["network"] for port in one["ports"]] == ["lan", "other"]
        assert [port["source"] for port in one["ports"]] == [31, 30]
        assert [port["uplink"] for port in one["ports"]] == [one is beta, False]
        for port in one["ports"]:
            uplink = ", the uplink" if port["uplink"] else ""
            lines.append(f"  port      of {port['network']}: {port['mac']}{uplink}; "
                         f"source {port['source']}; registers at {port['at']:#x}")
            booted.append(f"vm {one['name']}: has a port of network {port['network']}, "
                          f"{port['mac']}{uplink}")
    assert [line for line in check(file).stdout.splitlines() if "port " in line] == lines
    assert [line for line in result.own if "has a port of" in line] == booted
    assert gamma["ports"] == []
