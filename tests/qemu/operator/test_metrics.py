# SPDX-License-Identifier: Apache-2.0
"""tools/tally-ctl metrics, read by Prometheus' own parser: each number that the prompt has told is
there, and is the same."""

import os
import re
import signal
import socket
import stat
import subprocess

from prometheus_client.parser import text_string_to_metric_families
import pytest

from bare_guests import FOREVER
import budgets
import fakes
import harness
from platforms import want_instret
import schemas
from tallylib import exposition, tally_ctl

TOOL = harness.ROOT / "tools/tally-ctl"
CAUSES = fakes.CAUSES
# Of each number that the prompt tells: its metric, and how many of it are one of the metric's.
VMS = {"uptime_ms": ("tally_vm_uptime_seconds", 1000), "vcpus": ("tally_vm_virtual_cpus", 1),
       "memory": ("tally_vm_memory_bytes", 1)}
EXITS = {"cpu_us": ("tally_vcpu_cpu_seconds_total", 10**6),
         "steal_us": ("tally_vcpu_steal_seconds_total", 10**6),
         "longest_stay": ("tally_vcpu_longest_stay_instructions", 1)}
BUDGET = {"count": ("tally_vcpu_budget_events", 1),
          "period_us": ("tally_vcpu_budget_period_seconds", 10**6),
          "spent": ("tally_vcpu_budget_periods_spent_total", 1),
          "exceeded_by": ("tally_vcpu_budget_exceeded_events", 1),
          "throttled_us": ("tally_vcpu_budget_throttled_seconds_total", 10**6)}
WINDOWS = {"late": ("tally_vcpu_windows_late_total", 1),
           "latest_ns": ("tally_vcpu_windows_latest_seconds", 10**9),
           "missed": ("tally_vcpu_windows_missed_total", 1)}
PMU = {"counters": ("tally_vcpu_guest_counters", 1),
       "overflows": ("tally_vcpu_overflow_interrupts_total", 1),
       "held_back": ("tally_vcpu_overflow_interrupts_held_total", 1),
       "refusals": ("tally_vcpu_pmu_refusals_total", 1)}
OBSERVED = {"value": ("tally_observed_events_total", 1),
            "ns": ("tally_observed_seconds_total", 10**9),
            "samples": ("tally_observed_samples_total", 1),
            "lost": ("tally_observed_samples_lost_total", 1),
            "late": ("tally_observed_samples_late_total", 1)}
TIME = {"seconds": ("tally_time_of_day_seconds", 1)}
PORTS = {key: (f"tally_port_{name}_total", 1) for key, name in (
    ("sent", "sent_frames"), ("sent_bytes", "sent_bytes"), ("refused", "refused_frames"),
    ("received", "received_frames"), ("received_bytes", "received_bytes"),
    ("lost", "lost_frames"))}
TABLES = {"time": TIME, "vms": {**VMS, **PORTS}, "exits": {**EXITS, **BUDGET, **WINDOWS},
          "pmu": PMU, "observed": OBSERVED, "crash": {}}
# All else that the prompt tells: in which metric it is, or why in none.
WHO = {"vm": "a label", "vcpu": "a label"}
WHAT = {"event": "a label", "data": "behind the event in its label", "filter": "the label mode"}
CAUSE = "tally_vcpu_exits_total, tally_vcpu_hs_instructions_total"
ELSEWHERE = {
    "vms": {**WHO, "port": "a label", "network": "a label", "link": "tally_port_up",
            "state": "tally_vm_state", "dma": "tally_vm_dma_trusted",
            "operator": "told to operator VMs alone, about themselves",
            "waits_for_first_start": "tally_vm_first_start_awaited",
            "shutdown": "tally_vm_shutdown_late", "asleep": "tally_vm_asleep",
            "harts": "tally_vcpu_info has each vcpu's",
            "memory_at": "addresses, which do not change; tally_vm_memory_bytes has their sum"},
    "exits": {**WHO, "event": "a label",
              **dict.fromkeys((*CAUSES, "hs_instructions_by"), CAUSE),
              "hs_instructions": "the sum of what tally_vcpu_hs_instructions_total has",
              "loading": "tally_vcpu_hs_instructions_total, reason loading",
              "time_us": "tally_time_seconds_total", "budget": "tally_vcpu_budget_*",
              "windows": "tally_vcpu_windows_*"},
    "pmu": {**WHO, **WHAT, "hart": "a label of tally_vcpu_info", "counter": "a label",
            "state": "a label", "value": "tally_vcpu_guest_events",
            "read": "how its guest reads it, which is no number",
            "hctr": "which counter of the hart it has just now, for who debugs Tally",
            "shared": "changes as others come and go, and no value with it",
            "of": "a bit that the guest clears when it likes; overflows has how many came"},
    "observed": {**WHO, **WHAT, "observation": "a label", "shared": "tally_observed_shared",
                 "ended": "tally_observed_running, tally_observed_end_info",
                 "at_ns": "when it ended, or was looked at: scrapes have a time",
                 "looked_ns": "when it was looked at: scrapes have a time",
                 "lcofi_hs": "tally_vcpu_hs_instructions_total, reason lcofi",
                 "timebase": "only in the answer to `sample`"},
    "time": {"time": "the same as text"},
    "crash": {"crash": "tally_vm_crashes_total", "time_us": "tally_vm_last_crash_seconds",
              **dict.fromkeys(("vm", "vcpu", "failure", "life", "uptime_us", "uptime_ticks",
                               "printed", "exits_noted"), "what crash tells of one failure")},
}
EVENTS = {"0x1": "cycles", "0x2": "instructions", "0xf0100": "exits"}


def parsed(text):
    """{(name, frozenset of labels): value}, by the parser of Prometheus' client."""
    found = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation and family.type in ("counter", "gauge"), family
        for sample in family.samples:
            assert re.fullmatch("tally_[a-z_]+", sample.name)
            assert sample.name.endswith("_total") == (family.type == "counter"), sample
            assert not re.search("_(ms|us|ns|ticks)(_|$)", sample.name)
            key = sample.name, frozenset(sample.labels.items())
            assert key not in found, "twice: %s" % (key,)
            found[key] = sample.value
    return found


class Expected:
    """What has to be there, from what the prompt told."""

    def __init__(self):
        self.values = {}

    def put(self, name, value, **labels):
        self.values[name, frozenset((k, str(v)) for k, v in labels.items())] = float(value)

    def numbers(self, command, row, **labels):
        """Each field of a row has its metric, or is known to have none."""
        for key, value in row.items():
            if key in TABLES[command]:
                name, unit = TABLES[command][key]
                self.put(name, value / unit, **labels)
            else:
                assert key in ELSEWHERE[command], key

    def of(self, told):
        """told: {command: objects}"""
        for row in told["vms"]:
            if "port" in row:
                who = {key: row[key] for key in ("vm", "network", "port")}
                self.numbers("vms", row, **who)
                self.put("tally_port_up", row["link"] == "up", **who)
                continue
            self.numbers("vms", row, vm=row["vm"])
            for state in ("clearing", "loading", "running", "ending", "off"):
                self.put("tally_vm_state", state == row["state"], vm=row["vm"], state=state)
            self.put("tally_vm_dma_trusted", "dma" in row, vm=row["vm"])
            self.put("tally_vm_first_start_awaited", "waits_for_first_start" in row, vm=row["vm"])
            self.put("tally_vm_shutdown_late", row.get("shutdown") == "late", vm=row["vm"])
            self.put("tally_vm_asleep", "asleep" in row, vm=row["vm"])
            crash = told["crash " + row["vm"]][0]
            self.put("tally_vm_crashes_total", crash.get("crash", 0), vm=row["vm"])
            if crash["failure"]:
                self.put("tally_vm_last_crash_seconds", crash["time_us"] / 10**6, vm=row["vm"])
        for row in told["exits"]:
            who = {"vm": row["vm"], "vcpu": row["vcpu"]}
            self.numbers("exits", row, **who)
            self.numbers("exits", row.get("budget", {}), **who,
                         event=EVENTS.get(row.get("budget", {}).get("event")))
            self.numbers("exits", row.get("windows", {}), **who)
            by = row["hs_instructions_by"]
            assert sum(by.values()) == row["hs_instructions"]
            assert list(by) == [*CAUSES, "loading"]
            for cause, insns in by.items():
                self.put("tally_vcpu_hs_instructions_total", insns, **who, reason=cause)
            for cause in CAUSES:
                self.put("tally_vcpu_exits_total", row[cause], **who, reason=cause)
        self.put("tally_time_seconds_total", told["exits"][-1]["time_us"] / 10**6)
        self.numbers("time", told["time"][0])
        for row in told["pmu"]:
            who = {"vm": row["vm"], "vcpu": row["vcpu"]}
            if "counter" not in row:
                self.numbers("pmu", row, **who)
                self.put("tally_vcpu_info", 1, **who, hart=row["hart"])
                continue
            self.numbers("pmu", row)
            if row.get("value") is not None:
                self.put("tally_vcpu_guest_events", row["value"], **who, counter=row["counter"],
                         event=EVENTS.get(row["event"], row["event"]), mode=row["filter"],
                         state=row["state"])
        for row in told["observed"]:
            what = {"vm": row["vm"], "vcpu": row["vcpu"], "observation": row["observation"],
                    "event": EVENTS[row["event"]], "mode": row["filter"]}
            self.numbers("observed", row, **what)
            self.put("tally_observed_running", row["ended"] is None, **what)
            self.put("tally_observed_shared", row["shared"], **what)
            if row["ended"]:
                self.put("tally_observed_end_info", 1, **what, reason=row["ended"])
        return self.values


def metrics(path, *words, status=0):
    """What the tool prints and complains."""
    done = subprocess.run([TOOL, "metrics", *words, "--socket", path, "--timeout",
                           str(harness.GUARD)], capture_output=True, text=True, check=False,
                          timeout=harness.GUARD)
    assert done.returncode == status, done
    return done.stdout, done.stderr


SOURCES = {"vms": "prompt_vms.c", "exits": "prompt_vms.c", "pmu": "prompt_pmu.c",
           "observed": "prompt_observe.c"}


def test_no_field_is_forgotten():
    """What the prompt can tell at all, from where it is written: no machine of a test tells all.
    A field that is new is in a metric, or in ELSEWHERE with its reason."""
    for source in set(SOURCES.values()):
        commands = [command for command in SOURCES if SOURCES[command] == source]
        text = (harness.ROOT / "core/operator" / source).read_text(encoding="utf-8")
        told = {*re.findall("'([a-z_]+)':", text), *WHO}
        known = {key for command in commands for key in {**TABLES[command], **ELSEWHERE[command]}}
        assert told == known, f"{source}: {told ^ known}"
    page = (harness.ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    code = (harness.ROOT / "tools/lib/tallylib/metrics.py").read_text(encoding="utf-8")
    for command in TABLES:
        for name in {name for name, _ in TABLES[command].values()} | {
                name for why in ELSEWHERE[command].values()
                for name in re.findall(r"tally_\w+[a-z]\b(?!\*)", why)}:
            assert name in page, name
    # And what is made, is described.
    made = set(re.findall(r'"(tally_[a-z_]+)"', code))
    assert len(made) > 20
    assert {name for name in made if f"`{name}`" not in page} == set()


@pytest.fixture
def between(tmp_path):
    """machine -> a socket that passes on what is asked of it, and what was told there."""
    made = []

    def start(machine):
        told = {}

        def answer(command):
            status, lines = machine.ask(command)
            told[command.removesuffix(" --json")] = [
                schemas.read("tally-ctl", line, command.split()[0]) for line in lines]
            return status, lines

        made.append(fakes.Asked(tmp_path / "between", answer))
        return made[0].path, told

    yield start
    for each in made:
        each.end()


def change(machine, command, vm, wanted):
    """Stops or starts a VM. Its memory is cleared, or its image copied, before it is in that
    state."""
    assert machine.ask(f"{command} {vm}")[0] == 0
    while (vm, wanted) not in ((row["vm"], row.get("state")) for row in machine.objects("vms")):
        pass


@harness.both_backends
def test_each_number(running, between, backend):
    """Of a machine whose guests go on, one of them with a budget: what was told when the tool
    asked. Then one VM is off, and has been started again."""
    want_instret()  # alpha's filter is not that of its budget
    # Alpha's counter is configured all the time.
    run = running({"alpha": "kind=waits filter=u own=yes every=100000000000", "beta": FOREVER,
                   "gamma": "kind=crash how=breakpoint"}, backend=backend,
                  properties=budgets.budget(budgets.INSTRUCTIONS, 5000000, 10000))
    for text in ("vm gamma: failed", "waits: begins"):
        if text not in run.console:
            run.read_until(text)
    with tally_ctl.Machine(str(run.path), timeout=harness.GUARD) as machine:
        while not all(row["budget"]["spent"] for row in machine.objects("exits")[:2]):
            pass
        path, told = between(machine)
        for command in ("observe beta 0x2:uk", "observe beta 0xf0100", "sample beta 0x1:u 9999",
                        "observe alpha 0x2:k"):
            machine.objects(command)
        found = {}
        for state in ("running", "off", "running"):
            text = metrics(path)[0]
            before, found = found, parsed(text)
            # None has begun anew, whatever its VM did; what was once told is told on.
            for key in (key for key in before if key[0].endswith("_total")):
                assert found[key] >= before[key], key
            assert list(told) == ["vms", "crash alpha", "crash beta", "crash gamma", "exits",
                                  "time", "pmu", "observed"]
            assert [told["crash " + vm][0].get("crash") for vm in ("alpha", "beta", "gamma")] == [
                None, None, 1]
            assert told["vms"][1]["state"] == state
            assert found == Expected().of(told)
            assert len(told["observed"]) == 4
            # All digits, of which the parser keeps 53 bits.
            digits = {line.rsplit(" ", 1)[1] for line in text.splitlines()}
            assert digits >= {str(row["value"]) for row in told["pmu"] if row.get("value")}
            if state != "off":
                assert any("counter" in row and row["value"] for row in told["pmu"])
                change(machine, "stop", "beta", "off")
            else:
                assert {row["ended"] for row in told["observed"] if row["vm"] == "beta"} == {
                    "the vcpu stopped"}
                change(machine, "start", "beta", "running")
        spent = [row["budget"]["spent"] for row in told["exits"]]
        assert all(spent[:2]) and told["exits"][1]["ecall"] > 0


def test_escapes():
    """The parser reads what was meant."""
    for label in ('a"b', "back\\slash", "new\nline", 'all\\"\n\\n"', "", "{}=,#"):
        families = exposition.Families()
        families.counter("tally_x_total", "A \\ and\na line.").add("7", vm=label, vcpu=0)
        (family,) = text_string_to_metric_families(families.text())
        assert family.documentation == "A \\ and\na line."
        (sample,) = family.samples
        assert (sample.labels, sample.value) == ({"vm": label, "vcpu": "0"}, 7)
    assert [exposition.decimal(n, 1000) for n in (0, 7, 1007, 123456)] == [
        "0.000", "0.007", "1.007", "123.456"]
    assert exposition.Families().text() == ""


EXIT = {"vm": "alpha", "vcpu": 0, **dict.fromkeys(CAUSES, 1), "time_us": 1, "cpu_us": 1,
        "steal_us": 1, "hs_instructions": 8,
        "hs_instructions_by": {**dict.fromkeys(CAUSES, 1), "loading": 0}, "longest_stay": 1}


@pytest.fixture
def fake(tmp_path):
    """A machine that tells nothing but its VMs' states."""
    rows = [{"vm": "alpha", "state": "off", "uptime_ms": 0, "vcpus": 1, "harts": [0],
             "memory": 1 << 24}]
    made = fakes.Asked(tmp_path / "control", lambda command: fakes.told(
        {"vms": rows, "crash": [{"vm": "alpha", "failure": None}],
         "exits": [EXIT]}.get(command.split()[0], [])))
    yield made
    made.end()


def test_the_file(fake, tmp_path):
    """It is replaced as a whole, with the rights that others have; what cannot be asked or written
    leaves it as it was, and leaves nothing else."""
    folder = tmp_path / "collector"
    folder.mkdir()
    file = folder / "tally.prom"
    file.write_text("old", encoding="utf-8")
    with file.open(encoding="utf-8") as reader:
        assert metrics(fake.path, "-o", file) == ("", "")
        assert reader.read() == "old"
    assert file.read_text(encoding="utf-8") == metrics(fake.path)[0]
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(file.stat().st_mode) == 0o666 & ~umask
    before = file.read_bytes()
    assert metrics(tmp_path / "nobody", "-o", file, status=4)[1].startswith(
        "tools/tally-ctl: nobody listens at ")
    assert file.read_bytes() == before
    assert os.listdir(folder) == ["tally.prom"]
    assert metrics(fake.path, "-o", folder / "none/x.prom", status=2) == (
        "", f"tools/tally-ctl: {folder}/none/x.prom: No such file or directory\n")
    # A folder or a device is in its place.
    (folder / "x.prom").mkdir()
    for place in (folder / "x.prom", "/dev/null"):
        assert metrics(fake.path, "-o", place, status=2) == (
            "", f"tools/tally-ctl: {place}: is no file that can be replaced\n")
    # A link stays one.
    (folder / "link.prom").symlink_to("tally.prom")
    file.write_text("old", encoding="utf-8")
    assert metrics(fake.path, "-o", folder / "link.prom") == ("", "")
    assert (folder / "link.prom").is_symlink() and file.read_bytes() == before
    # There is no room for all of it.
    done = subprocess.run(["prlimit", "--fsize=1000", TOOL, "metrics", "--socket", fake.path, "-o",
                           file], capture_output=True, text=True, check=False,
                          timeout=harness.GUARD)
    assert (done.returncode, done.stderr) == (2, f"tools/tally-ctl: {file}: File too large\n")
    assert file.read_bytes() == before and len(before) > 1000
    assert sorted(os.listdir(folder)) == ["link.prom", "tally.prom", "x.prom"]


def test_wrong_use(fake):
    for words in (["--json"], ["alpha"]):
        assert "metrics takes -o FILE or nothing" in metrics(fake.path, *words, status=2)[1]
    done = subprocess.run([TOOL, "--socket", fake.path, "-o", "x", "vms"], capture_output=True,
                          text=True, check=False, timeout=harness.GUARD)
    assert done.returncode == 2 and "-o is of metrics" in done.stderr
    assert fake.commands == []


def test_ctrl_c(tmp_path):
    """While a machine does not answer."""
    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(str(tmp_path / "mute"))
        mute.listen()
        with subprocess.Popen([TOOL, "metrics", "--socket", tmp_path / "mute"], text=True,
                              stderr=subprocess.PIPE) as tool:
            connection, _ = mute.accept()
            with connection:
                assert connection.recv(4)
                tool.send_signal(signal.SIGINT)
                assert tool.communicate(timeout=harness.GUARD)[1] == ""
    assert tool.returncode == 128 + signal.SIGINT


def test_an_older_tally(tmp_path):
    old = fakes.Asked(tmp_path / "old", lambda command: fakes.told(
        [{"vm": "alpha", "state": "off"}] if command.startswith("vms") else []))
    assert metrics(old.path, status=6) == (
        "", "tools/tally-ctl: this Tally does not tell 'uptime_ms'\n")
    old.end()
