# SPDX-License-Identifier: Apache-2.0
"""Programs that ask the hypervisor through tools/lib/tallylib/tally_ctl.py."""

import harness
from tallylib import tally_ctl


def ask_until(path, end, answers):
    """Asks by turns until the event is set or the machine ends: [(command, objects)]."""
    with tally_ctl.Machine(str(path), timeout=harness.GUARD) as machine:
        try:
            while not end.is_set():
                for command in ("vms", "exits", "pmu"):
                    answers.append((command, machine.objects(command)))
        except tally_ctl.NoAnswer as error:
            assert str(error) == "the machine has ended"
