# SPDX-License-Identifier: Apache-2.0
"""A Linux guest whose VM is an operator asks by tally-operator, which Tally's tools run there."""

import json
import shutil

import harness
import plain
from operator_trees import answered, samples_hz, vm
from perflib import samples
from tracelib import records

LENGTH, PERIOD = 200000, 5003
# The jump to the work, two instructions a round and the return, and the ecall.
USER_WORK = 2 * LENGTH + 3
# The observer begins where nothing is executed, and ends when alpha has.
ASKS = f"""
ask() {{ tr + '\\n' | /test/tally-operator; }}
off() {{
	until echo 'vms --json' | /test/tally-operator | grep -q '"alpha","state":"off"'; do :; done
}}
echo vms+stop alpha | ask
off
echo 'sample alpha 0x2:u {PERIOD}+start alpha' | ask
sleep 1
off
# In the middle of a command somebody kills it; what is left of the answer is not the next one's.
(echo help; sleep 1) | /test/tally-operator >/dev/null & sleep 0; kill $! 2>/dev/null
echo 'samples+samples+unobserve --json' | ask
echo 'frames on+no such command' | ask
echo 'stays on alpha+start alpha' | ask
sleep 1
off
echo 'stays off+samples+samples' | ask
/test/tally-operator </dev/null && echo nothing asked
"""


def tree(folder, script, operator):
    """Debian as "linux" beside the bare guest "alpha", which works again and again."""
    program = plain.make("build/guests/linux/tally-operator")
    plain.make("build/guests/bare.bin")
    (folder / "test").mkdir()
    shutil.copy(program, folder / "test")
    file = harness.linux_tree(folder, {"linux": script}, properties=operator)
    text = file.read_text(encoding="utf-8")
    alpha = vm("alpha", f"kind=waits filter=u rounds=4 length={LENGTH} every=1000000")
    text = text.replace("\tvms {", "\tvms {" + alpha, 1).replace(
        "images {", 'images { bare: bare { data = /incbin/("bare.bin"); };', 1)
    file.write_text(text, encoding="utf-8")
    return file


def check_trace(lines):
    """What has come of a life of alpha, which is VM 0: its beginning and its end, if stays between
    them were lost too."""
    found = [records.record(*one) for one in samples.records(lines)]
    of_kind = {kind: {record.index: record for record in found if record.kind == kind}
               for kind in (records.BEGIN, records.END)}
    assert [set(each) for each in of_kind.values()] == [{0, 1}, {0, 1}]
    accounted = of_kind[records.END][0].words[2] - of_kind[records.BEGIN][0].words[2]
    stays = [record for record in found if record.kind == records.STAY]
    assert {record.index for record in stays} == {0}
    lost = found[-1].number - found[0].number + 1 - len(found)
    instructions = sum(record.instructions for record in stays)
    assert (instructions == accounted) if not lost else (0 < instructions < accounted)


def run(folder, script, operator):
    """The answers that the guest got."""
    result = harness.run(tree(folder, script, operator),
                         options=["--include", harness.BUILD / "guests"])
    assert result.status == harness.OK, str(result)
    return result.guest_output("linux", "linux")


def test_linux_asks(tmp_path):
    """Each round of work has its samples, to the last one."""
    lines = run(tmp_path, ASKS,
                'operator = "control"; operator-vms = "alpha", "linux"; operator-interrupt = <5>; '
                "operator-requests-hz = <10000>; " + samples_hz())
    assert lines[-2:] == ["ready", "nothing asked"]
    (vms, stopped, begun, started, first, second, end, refused, unknown,
     *traced) = answered(lines)
    assert [line.split()[1].rstrip(",") for line in vms[0]] == ["alpha", "linux"]
    assert stopped[1] == begun[1] == started[1] == 0
    found = samples.told(first[0]) + samples.told(second[0])
    (line,) = map(json.loads, end[0])
    assert line["lost"] == line["late"] == 0
    assert line["value"] == 4 * USER_WORK
    assert len(found) == line["samples"] == line["value"] // PERIOD
    assert [sample.number for sample in found] == list(range(1, len(found) + 1))
    assert refused == (["frames: only the serial line may"], 1), refused
    assert unknown[1] == 2, unknown
    assert [status for _, status in traced] == [0] * 5
    check_trace(traced[3][0] + traced[4][0])


def test_no_operator(tmp_path):
    """And without the property it says so."""
    lines = run(tmp_path, "/test/tally-operator 2>&1 </dev/null; echo status $?", "")
    assert lines == ["tally-operator: this guest's VM is no operator: no PCI function 1af4:10f1",
                     "status 4"]
