# SPDX-License-Identifier: Apache-2.0
"""What `make run-debian DEBIAN=--operator` boots: Debian, logged in to over SSH, watches and
profiles two VMs that work, with Tally's tools, perf and python3 of its own."""

import contextlib
import json

import pytest

from debian_machine import Machine
import harness
import plain

pytestmark = pytest.mark.long

TREE = harness.ROOT / "dts/operator.dts"


def objects(text):
    return [json.loads(line) for line in text.split("\n") if line]


def test_from_login_to_report(tmp_path):
    """Counts and samples of the others, in the guest; the same as from outside."""
    for target in ("debian-disk", "operator-tools", "build/guest/partitions.cpio",
                   "build/guests/bare.bin"):
        plain.make(target)
    with contextlib.closing(Machine(tmp_path, TREE)) as machine:
        machine.boot_id("ops")
        told = objects(machine.ssh("ops", "tally-ctl --operator vms --json"))
        assert [(vm["vm"], vm["state"]) for vm in told] == [
            ("linux", "running"), ("control", "running"), ("ops", "running")]
        stat = machine.ssh("ops", "perf-vms --operator --vm control -e instructions:u -x, "
                                  "--duration 2 2>&1")
        assert ",instructions:u," in stat, stat
        said = machine.ssh("ops", "perf-vms record --operator --vm linux -e instructions "
                                  "-o /root/linux.samples -- sleep 5 2>&1")
        assert " 0 lost" in said or "lost" not in said, said
        report = machine.ssh("ops", "cd /root && perf-vms export linux.samples -o linux.data && "
                                    "perf report --stdio -i linux.data 2>/dev/null")
        assert "linux" in report and "%" in report, report
        page = machine.ssh("ops", "cd /root && perf-vms html linux.samples -o linux.html "
                                  ">/dev/null 2>&1 && head -c 15 linux.html")
        assert page.lower() == "<!doctype html>", page
        traced = machine.ssh("ops", "cd /root && tally-trace --operator --vm control --duration 2 "
                                    "-o exits.json >/dev/null 2>&1 && python3 -c 'import json; "
                                    "print(len(json.load(open(\"exits.json\"))[\"traceEvents\"]))'")
        assert int(traced) > 100, traced
        machine.ssh("ops", "perf-vms record --operator --vm control -e hs-instructions "
                           "-o /root/exits --duration 2 >/dev/null 2>&1")
        (end,) = (line for line in objects(machine.ssh("ops", "cat /root/exits"))
                  if line.get("type") == "end")
        folded = [line.rsplit(" ", 1) for line in machine.ssh(
            "ops", "perf-vms folded /root/exits").splitlines()]
        assert all(stack.startswith("control;hs;") for stack, _ in folded), folded
        assert sum(int(n) for _, n in folded) == end["count"] > 0
        machine.ssh("ops", "tally-ctl --operator stop linux && tally-ctl --operator stop control")
        told = objects(machine.ssh("ops", "tally-ctl --operator vms --json"))
        assert {vm["state"] for vm in told if vm["vm"] != "ops"} <= {"off", "stopping"}, told
