# SPDX-License-Identifier: Apache-2.0
"""A network under load while an operator moves its guests from hart to hart and starts them again:
each frame of all their lives is accounted for."""

import os
import threading
import time

import pytest

import harness
import loads
from moving import moves
from tallylib import tally_ctl

pytestmark = pytest.mark.long

# In each round a transfer ends, both guests move so often, and both start again.
ROUNDS, MOVES = int(os.environ.get("SOAK_ROUNDS", "2")), 8
HARTS = {"alpha": "0 1", "beta": "1 0"}
# A neighbour that is gone answers no more, so neither waits for it for long; what both run takes a
# small part of these times.
LOOPS = {
    "alpha": "iperf3 -c 10.0.0.2 -n 1M --connect-timeout 20000",
    "beta": "iperf3 -s -1 --rcv-timeout 20000"}
UNTIL_PULLED = """
until [ "$(cat $net/carrier)" = 1 ]; do sleep 0.1; done
while sleep 0.1; do
    if timeout -s KILL 120 {loop} >/tmp/out 2>&1; then echo transfer ends
    else tail -n 1 /tmp/out; fi
done &
until [ "$(cat $net/carrier)" = 0 ]; do sleep 0.1; done
kill $!; killall -q iperf3; sleep 1
""" + loads.STATISTICS


class Operator(threading.Thread):
    """Disturbs them for so many rounds, and pulls both cables."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.folder, self.seconds, self.carried = folder, 0, dict.fromkeys(loads.NAMES, 0)
        self.lives = []  # what the ports had counted in each, but for the last ones

    def transfers(self, least):
        """Waits until so many have ended."""
        log = self.folder / "logs/alpha.log"
        while not log.exists() or log.read_text().count("transfer ends") < least:
            time.sleep(0.1)
        return log.read_text().count("transfer ends")

    def carry(self, machine):
        """Moves both, and waits until they have arrived."""
        for name in loads.NAMES:
            [hart] = row(machine, name)["harts"]
            assert machine.ask(f"move {name} 0 {1 - hart}")[0] == 0
            while row(machine, name)["harts"] == [hart]:
                pass
            self.carried[name] += 1

    def again(self, machine, names):
        """Pulls the plug of one in the middle of a transfer, then that of the other, and begins new
        lives when both are off and nothing is sent any more. Nothing is until both have begun."""
        for name in names:
            assert machine.ask(f"stop {name}")[0] == 0
            until(machine, name, "off")
        self.lives.append([{key: row(machine, name)[key] for key in loads.KEYS}
                           for name in names])
        loads.pull(machine)
        for name in names:
            assert machine.ask(f"start {name}")[0] == 0
        for name in names:
            until(machine, name, "running")
        for name in names:
            assert machine.ask(f"link {name} up")[0] == 0

    def run(self):
        ended = self.transfers(1)
        with tally_ctl.Machine(str(self.folder / "control"), timeout=harness.GUARD) as machine:
            for number in range(ROUNDS):
                for _ in range(MOVES):
                    self.carry(machine)
                self.again(machine, loads.NAMES if number % 2 else loads.NAMES[::-1])
                ended = self.transfers(ended + 1)
            self.seconds = machine.objects("exits")[0]["time_us"] / 1e6
            loads.pull(machine)


def row(machine, name):
    """What `vms` tells of a VM and its port."""
    return {key: value for line in machine.objects("vms") if line["vm"] == name
            for key, value in line.items()}


def until(machine, name, state):
    """Waits for it."""
    while row(machine, name)["state"] != state:
        time.sleep(0.1)


@pytest.mark.parametrize("properties", ["", 'offload = "on";'])
def test_frames_of_all_lives(tmp_path, properties):
    """Profile smp, so that both run at once: what their ports have counted adds up, whatever a
    guest did when its plug was pulled."""
    tree = loads.tree(tmp_path, {name: UNTIL_PULLED.format(loop=loop)
                                 for name, loop in LOOPS.items()}, properties, perf=False)
    text = tree.read_text(encoding="utf-8")
    for harts in HARTS.values():
        text = text.replace("harts = <0>;", f"harts = <{harts}>;", 1)
    tree.write_text(text, encoding="utf-8")
    operator = Operator(tmp_path)
    result = harness.run(tree, profile="smp", meanwhile=operator, timeout=4 * harness.GUARD,
                         options=[*loads.options(tmp_path), "--harts", 2, "--memory", "1536M"])
    operator.join()
    assert result.status == harness.OK, str(result)
    for pair in operator.lives:
        assert sum(life["sent"] for life in pair) == sum(
            life["received"] + life["lost"] for life in pair), pair
    total = loads.accounted(result, [life for pair in operator.lives for life in pair])
    print(f"{ROUNDS} rounds in {operator.seconds:.0f} s of the machine's time: "
          f"{result.vm('alpha').count('transfer ends')} transfers, {total['sent']} frames, "
          f"{total['lost']} lost, {total['refused']} refused")
    for name in loads.NAMES:
        assert len(loads.ports(result, name)) == 1 + ROUNDS
        assert moves(result, name) >= operator.carried[name] == ROUNDS * MOVES
