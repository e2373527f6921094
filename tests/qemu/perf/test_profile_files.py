# SPDX-License-Identifier: Apache-2.0
"""Files of samples that tools/perf-vms html and speedscope refuse; times of a speedscope file."""
import io
import json
import os
import signal
import subprocess
import sys
import threading

import pytest

import flames
import harness
from perflib import samples
from tallylib import progress


def test_a_file_without_samples(tmp_path):
    file = flames.write(tmp_path / "none", [flames.HEAD, flames.end(*flames.ENDS[2])])
    for words in (("html", file, "-o", tmp_path / "page"), ("speedscope", file)):
        done = flames.call(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (f"tools/perf-vms: {file}: has no sample; beta/0: no cycles: "
                               "the guest needed that counter\n")
    assert not (tmp_path / "page").exists()


class Terminal(io.StringIO):
    """A standard error that a person looks at."""

    def isatty(self):
        return True


def test_progress(tmp_path, monkeypatch):
    """What takes long to read is told meanwhile, on a terminal, and no line of it stays."""
    file = flames.write(tmp_path / "many", [flames.HEAD] + [GOOD] * 9 + [END])
    for terminal, after, told in ((Terminal(), -1, "\r4 lines read\r8 lines read\r\x1b[K"),
                                  (Terminal(), 1000, ""), (io.StringIO(), -1, "")):
        monkeypatch.setattr(progress, "EVERY", 4)
        monkeypatch.setattr(progress, "AFTER_S", after)
        monkeypatch.setattr(sys, "stderr", terminal)
        assert len(samples.load(file)) == 11
        assert terminal.getvalue() == told


GOOD, END = flames.sample(*flames.STACKS[0][:-1]), flames.end(*flames.ENDS[0])
NO_LINE = "line 2 is no line of a file of samples"


def test_exits_are_no_samples(tmp_path):
    """A file of -e hs-instructions has none."""
    who = {"vm": "alpha", "vcpu": 0, "event": "hs-instructions"}
    file = flames.write(tmp_path / "exits", [
        {"tally-samples": 1, "vms": ["alpha"], "events": ["hs-instructions"], "period": "1"},
        {"type": "exits", **who, "cause": "ecall", "what": "time", "exits": 3, "instructions": 900},
        {"type": "end", **who, "count": 900, "ns": 5, "unsampled_ns": 0, "reasons": []}])
    done = flames.call("html", file, "-o", tmp_path / "page")
    why = f"{file}: has exits instead of samples: tools/perf-vms folded reads it"
    assert (done.returncode, done.stderr) == (2, f"tools/perf-vms: {why}\n")
    done = flames.call("folded", file)
    assert done.returncode == 0 and done.stdout.endswith(" 900\n"), done


@pytest.mark.parametrize("wrong, why", [
    ({"type": "sample"}, NO_LINE), ({"type": "other"}, NO_LINE), ([], NO_LINE), (5, NO_LINE),
    (GOOD | {"period": -1}, NO_LINE), (GOOD | {"vm": "other"}, NO_LINE),
    (GOOD | {"mode": "other"}, NO_LINE), (GOOD | {"ip": "main"}, NO_LINE),
    (GOOD | {"callchain": [5]}, NO_LINE), (GOOD | {"callchain": [["0x1"]]}, NO_LINE),
    (GOOD | {"callchain": "01"}, NO_LINE), (GOOD | {"ip": "0x" + "1" * 17}, NO_LINE),
    (GOOD | {"vcpu": True}, "line 2: sample without a proper \"vcpu\""),
    (GOOD | {"masked": 1}, "line 2: sample without a proper \"masked\""),
    (END | {"late": -1}, "line 2: end without a proper \"late\""),
    (END | {"reasons": [None]}, "line 2: a reason that is no text"),
])
def test_a_file_that_is_wrong(tmp_path, wrong, why):
    file = flames.write(tmp_path / "wrong", [flames.HEAD, wrong])
    done = flames.call("html", file, "-o", tmp_path / "page")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"tools/perf-vms: {file}: ") and why in done.stderr
    assert not (tmp_path / "page").exists()


def test_no_file_of_samples(tmp_path):
    for content in (b"", b"{}\n", b"\xff\n", b"[[[\n", b'{"tally-samples": 1}\n'):
        (tmp_path / "file").write_bytes(content)
        done = flames.call("html", tmp_path / "file", "-o", tmp_path / "page")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done
    done = flames.call("html", tmp_path / "not there", "-o", tmp_path / "page")
    assert done.returncode == 2 and "No such file" in done.stderr


NAMELESS = "give --symbols [VM=]FILE, its Image, vmlinux or System.map"


def test_names(tmp_path):
    """A System.map names functions; what no name is found for is said on the page, too."""
    names = tmp_path / "System.map"
    names.write_text("0000000000000100 T _text\n0000000000000100 T outer\n"
                     "0000000000000200 T inner\n0000000000000300 T _etext\n", encoding="ascii")
    file = flames.write(tmp_path / "file", flames.objects())
    done = flames.call("html", file, "--symbols", f"alpha={names}@0x100", "--symbols",
                       f"other={names}@0x100", "-o", tmp_path / "page")
    why = "VM other: a file is given for it, but it was not sampled"
    assert done.returncode == 0 and f"tools/perf-vms: {why}\n" in done.stderr, done.stderr
    page = (tmp_path / "page").read_text(encoding="ascii")
    found = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert found["complaints"] == [why, "no names of the kernel of beta: " + NAMELESS]
    assert {"outer", "inner", "0x400"} <= set(found["names"])


def test_speedscope(tmp_path):
    """Each vcpu's samples in the order of time, whatever that of the file is, with times as
    weights, in that program's format."""
    head, *others = flames.objects()
    taken = [each | {"timestamp": 1000 + 17 * (n * 101 % 1009)} for n, each in enumerate(others)
             if each["type"] == "sample"]
    file = flames.write(tmp_path / "file", [head, *taken])
    done = flames.call("speedscope", file)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    check_format(found)
    names = [frame["name"] for frame in found["shared"]["frames"]]
    assert [each["name"] for each in found["profiles"]] == [
        "alpha/0: cycles", "alpha/1: cycles", "alpha/1: instructions:u", "beta/0: cycles"]
    for each in found["profiles"]:
        mine = sorted((one for one in taken if each["name"] == f"{one['vm']}/{one['vcpu']}: "
                       f"{one['event']}"), key=lambda one: one["timestamp"])
        times = [one["timestamp"] for one in mine]
        assert [[names[n] for n in stack] for stack in each["samples"]] == [
            [f"[{one['mode']}]", *reversed(one["callchain"]), one["ip"]] for one in mine]
        assert each["weights"] == [0] + [b - a for a, b in zip(times, times[1:])]
        assert (each["startValue"], each["endValue"]) == (times[0], times[-1])


def check_format(found):
    """What the schema of speedscope's files has of a sampled profile: its fields, of these types,
    and no other ones; weights for all samples, which add up to its length."""
    assert set(found) == {"$schema", "name", "exporter", "shared", "profiles"}
    assert found["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert all(set(frame) == {"name"} for frame in found["shared"]["frames"])
    for each in found["profiles"]:
        assert {key: type(value) for key, value in each.items()} == {
            "type": str, "name": str, "unit": str, "startValue": int, "endValue": int,
            "samples": list, "weights": list}
        assert (each["type"], each["unit"]) == ("sampled", "nanoseconds")
        assert len(each["samples"]) == len(each["weights"])
        assert all(0 <= n < len(found["shared"]["frames"]) for stack in each["samples"]
                   for n in stack)
        assert sum(each["weights"]) == each["endValue"] - each["startValue"]


WRITERS = pytest.mark.parametrize("words", [["html"], ["export", "--buildid-dir", "cache"]])


def write_one(path):
    """Samples of one VM, so that all of them make one file."""
    flames.write(path, [o for o in flames.objects() if o.get("vm") != "beta"])


@WRITERS
def test_what_cannot_be_written(tmp_path, words):
    """The file is named as it was given; the old one stays, and nothing else."""
    write_one(tmp_path / "file")
    output = tmp_path / "output"
    output.write_text("old", encoding="ascii")
    for path, why, limit in ("output", "File too large", "--fsize=1000"), (
            "none/output", "No such file or directory", "--fsize=unlimited"):
        done = subprocess.run(["prlimit", limit, flames.TOOL, *words, "file", "-o", path],
                              cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr.splitlines()[1:]) == (
            2, [f"tools/perf-vms: {path}: {why}"])
    assert output.read_text(encoding="ascii") == "old"
    assert sorted(os.listdir(tmp_path)) == ["file", "output"]


@WRITERS
def test_a_pipe_stays_one(tmp_path, words):
    """As a device does, of which a file would take the place."""
    write_one(tmp_path / "file")
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    done = subprocess.run([flames.TOOL, *words, "file", "-o", "pipe"], cwd=tmp_path, check=False,
                          capture_output=True, text=True)
    assert done.returncode == 0 and pipe.is_fifo(), done
    reader.join(harness.GUARD)
    assert len(got[0]) > 1000


def test_ctrl_c(tmp_path):
    """While it reads."""
    os.mkfifo(tmp_path / "file")
    with subprocess.Popen([flames.TOOL, "html", "file", "-o", "page"], cwd=tmp_path, text=True,
                          stderr=subprocess.PIPE) as tool:
        with open(tmp_path / "file", "w", encoding="ascii"):  # waits until it reads
            tool.send_signal(signal.SIGINT)
            assert tool.communicate(timeout=harness.GUARD)[1] == ""
    assert tool.returncode == 128 + signal.SIGINT
    assert os.listdir(tmp_path) == ["file"]
