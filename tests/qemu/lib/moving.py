# SPDX-License-Identifier: Apache-2.0
"""Vcpus that are moved from hart to hart."""

import threading

import harness
from tallylib import tally_ctl


def moves(result, name, vcpu=0):
    """How often a vcpu moved, by the last that is told of it."""
    for line in reversed(result.own):
        if line.startswith(f"vm {name}: vcpu {vcpu}: exits "):
            return harness.exit_counts(line).get("moves", 0)
    raise AssertionError(f"no exits of {name} in\n{result}")


class Operator(threading.Thread):
    """Carries alpha's first vcpu to hart 1 and back as fast as it arrives, until told to end; then
    the machine goes off."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        self.carried = 0
        self.enough = threading.Event()

    def run(self):
        with tally_ctl.Machine(str(self.path), timeout=harness.GUARD) as machine:
            while not self.enough.is_set():
                hart = (self.carried + 1) % 2
                assert machine.ask(f"move alpha 0 {hart}") == (
                    0, [f"alpha vcpu 0 moves to hart {hart}"])
                while machine.objects("vms")[0]["harts"][0] != hart:
                    pass
                self.carried += 1
            machine.ask("poweroff")

    def carries(self, run, least, enough):
        """From here to the end of the machine: until it has carried so often, and enough(console)
        has come. How both clocks go has no part in it."""
        self.start()
        while self.carried < least or not enough(run.console):
            assert self.is_alive(), run.console
            run.read_line()
        self.enough.set()
        run.read_until(None)
        self.join()
        assert run.process.wait() == harness.OK, run.console
        return harness.Result(harness.OK, run.console)
