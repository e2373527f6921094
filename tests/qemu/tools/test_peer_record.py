# SPDX-License-Identifier: Apache-2.0
"""tests/peers.toml: a known version that does something else fails, an unknown one is named in one
line and fails nothing, and the pages say the versions that the file knows. Without QEMU."""

import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys
import tomllib

import pytest

import harness
import peers
from tallylib import peer_record

TEST, KNOWN, OTHER = "self test", "Linux 6.12.117, QEMU 10.0.2", "Linux 7.2.12, QEMU 10.0.2"
SEEN = {"11.8 a": "PASS", "11.8 b": "PASS", "11.9 c": "KNOWN: the index is not looked at",
        "says counters": "41"}
# Each differs from SEEN in one case: what is said of it.
CHANGES = {
    "11.8 a: PASS, now FAIL: not known before": {**SEEN, "11.8 a": "FAIL: not known before"},
    "11.9 c: KNOWN: the index is not looked at, now PASS": {**SEEN, "11.9 c": "PASS"},
    "11.9 c: KNOWN: the index is not looked at, now SKIP: no need": {
        **SEEN, "11.9 c": "SKIP: no need"},
    "11.9 c: KNOWN: the index is not looked at, now not there": {
        case: verdict for case, verdict in SEEN.items() if case != "11.9 c"},
    "says counters: 41, now 42": {**SEEN, "says counters": "42"},
    "cases with PASS that are not listed: 2, now 1": {
        case: verdict for case, verdict in SEEN.items() if case != "11.8 b"},
    "cases with PASS that are not listed: 2, now 3": {**SEEN, "11.8 d": "PASS"},
}
change = pytest.mark.parametrize("said, seen", CHANGES.items())


@pytest.fixture(name="record")
def a_record():
    other = {**SEEN, "11.8 a": "KNOWN: another"}
    return {(TEST, KNOWN): peer_record.entry_of(TEST, SEEN),
            (TEST, OTHER): peer_record.entry_of(TEST, other)}


@pytest.fixture(name="asked")
def checked_by_tests(record, monkeypatch):
    """check() of peers.py as tests call it, with that record; and its notes."""
    monkeypatch.setattr(peers, "RECORD", record)
    monkeypatch.setattr(peers, "notes", [])
    monkeypatch.setattr(peer_record, "keep", lambda *_: None)
    return lambda version, seen: peers.check(TEST, version, seen)


def test_a_known_version_that_matches(asked):
    asked(KNOWN, SEEN)
    assert not peers.notes


@change
def test_a_known_version_that_differs(asked, said, seen):
    with pytest.raises(AssertionError) as failure:
        asked(KNOWN, seen)
    line = str(failure.value).split("\nassert")[0]
    assert line == (f"self test on {KNOWN}: 1 cases are not as in tests/peers.toml (make peers): "
                    + said)
    assert not peers.notes


@change
def test_an_unknown_version_that_differs(asked, said, seen):
    """It is compared with the nearest, and several cases stand in one line, too."""
    version = "Linux 6.12.130, QEMU 10.0.2"
    asked(version, seen)
    (note,) = peers.notes
    assert note == (f"self test on {version}, which tests/peers.toml does not know (make peers): "
                    f"1 cases differ from {KNOWN}: {said}")
    asked("Linux 7.3, QEMU 10.0.2", seen)
    assert len(peers.notes) == 2 and "\n" not in peers.notes[1]
    assert f" differ from {OTHER}: 11.8 a: KNOWN: another, now " in peers.notes[1]


def test_an_unknown_version_that_does_not_differ(asked):
    asked("Linux 6.12.118, QEMU 10.0.2", SEEN)
    assert peers.notes == ["self test on Linux 6.12.118, QEMU 10.0.2, which tests/peers.toml does "
                           f"not know (make peers): as {KNOWN}"]


def test_a_test_without_a_record(asked):
    peers.check("another test", "perf 6.12", {"1": "Ok"})
    assert peers.notes == ["another test on perf 6.12, which tests/peers.toml does not know "
                           "(make peers): nothing to compare it with"]
    del asked


@pytest.mark.parametrize("version, nearest", [
    ("Linux 6.12.118, QEMU 10.0.2", "Linux 6.12.117, QEMU 10.0.2"),
    ("Linux 6.12.109, QEMU 10.0.2", "Linux 6.12.107, QEMU 10.0.2"),
    ("Linux 6.18, QEMU 10.0.2", "Linux 6.12.107, QEMU 10.0.2"),
    ("Linux 8.0, QEMU 10.0.2", "Linux 7.2.12, QEMU 10.0.2"),
    ("Linux 6.12.117, QEMU 10.0.3", "Linux 6.12.117, QEMU 10.0.2"),
    ("Linux 6.12.117, QEMU 11.1.4", "Linux 6.12.117, QEMU 11.1.3"),
    ("OpenSBI 1.10, QEMU 10.0.2", "OpenSBI 1.9, QEMU 10.0.2"),
])
def test_nearest(version, nearest):
    known = ["Linux 6.12.107, QEMU 10.0.2", "Linux 6.12.117, QEMU 10.0.2",
             "Linux 6.12.117, QEMU 11.1.3", "Linux 7.2.12, QEMU 10.0.2",
             "OpenSBI 1.5.1, QEMU 10.0.2", "OpenSBI 1.9, QEMU 10.0.2"]
    record = {(TEST, one): {} for one in known} | {("perf test", version): {}}
    assert peer_record.nearest(record, TEST, version) == nearest


# Tally on a QEMU, by version: what such a test does.
ON_QEMU = """
import peers

def test_tally():
    peers.used.add("QEMU {version}")
    assert "sampling is refused" == "samples are exact"

def test_of_this_machine():
    assert {machine}
"""


def session(folder, version, machine=True):
    """The exit status and the last lines of a session of such tests with conftest.py."""
    test = folder / "test_tally.py"
    test.write_text(ON_QEMU.format(version=version, machine=machine), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir",
         folder, "-p", "conftest", test], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(harness.ROOT / "tests/qemu"),
             "PYTHONDONTWRITEBYTECODE": "1"})
    return done.returncode, done.stdout


def known_qemu():
    """A version that the file knows."""
    return next(part.split()[1] for part in peer_record.components(peers.RECORD)
                if part.startswith("QEMU "))


def test_tally_on_a_qemu_that_is_not_known(tmp_path):
    status, said = session(tmp_path, "99.1")
    assert (status, "1 passed, 1 xfailed" in said) == (0, True), said
    (line,) = re.findall(r"^peers: .*", said, re.M)
    assert line.startswith("peers: test_tally.py::test_tally on QEMU 99.1, which tests/peers.toml "
                           "does not know: ")
    assert "sampling is refused" in line


def test_tally_on_a_qemu_that_is_known(tmp_path):
    status, said = session(tmp_path, known_qemu())
    assert (status, "1 failed, 1 passed" in said) == (1, True), said
    assert "peers: " not in said


def test_another_failure_beside_one_that_is_not_known(tmp_path):
    status, said = session(tmp_path, "99.1", machine=False)
    assert (status, "1 failed, 1 xfailed" in said) == (1, True), said


def test_what_is_written_is_read_again(record, tmp_path):
    record["perf test", 'a "name", QEMU 1'] = peer_record.entry_of(
        "perf test", {'1: "x" \\ – é': "Skip", "2": "Ok"})
    path = tmp_path / "peers.toml"
    peer_record.save(record, path)
    assert peer_record.load(path) == record


def test_the_file():
    """It is as the tool writes it, so a hand's change is found where it breaks that."""
    text = (harness.ROOT / "tests/peers.toml").read_text(encoding="utf-8")
    assert text == peer_record.text_of(peers.RECORD)
    assert len(tomllib.loads(text)["peer"]) == len(peers.RECORD)


def tool():
    """tools/pages/peers as a module."""
    loader = importlib.machinery.SourceFileLoader(
        "tools_peers", str(harness.ROOT / "tools/pages/peers"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tools_peers", loader))
    loader.exec_module(module)
    return module


def test_pages_speak_of_versions_that_are_known():
    """docs/firmwares.md, docs/evaluation-figures.md and README.md say theirs."""
    page = (harness.ROOT / "docs/firmwares.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (?:KVM, )?((?:Linux|OpenSBI) [\d.]+) \(SBI", page, re.M)
    assert len(versions) == 4
    known = peer_record.components(peers.RECORD)
    assert [version for version in versions if version not in known] == []
    readme = (harness.ROOT / "README.md").read_text(encoding="utf-8")
    (kernel,) = re.findall(r"\| KVM \(Linux ([\d.]+)\) \|", readme)
    assert f"Linux {kernel}" in versions
    figures = (harness.ROOT / "docs/evaluation-figures.md").read_text(encoding="utf-8")
    verdict = (harness.ROOT / "docs/evaluation.md").read_text(encoding="utf-8")
    (measured,) = re.findall(r"^\| host of linux/kvm-6.12 \| Linux ([\d.]+)", figures, re.M)
    assert tool().HEAD + measured + " |" in verdict


def test_the_tool_writes_the_readme(monkeypatch):
    """Rows of it that say something else are as they were."""
    module = tool()
    readme = module.read("README.md")
    other = re.sub(r"(\d+) of (\d+) right|1,\d+ instructions", "none", readme)
    assert other.count("none") - readme.count("none") == 3
    written = {}
    monkeypatch.setattr(module, "write", written.__setitem__)
    monkeypatch.setattr(module, "read", lambda path: other if path == "README.md" else
                        (harness.ROOT / path).read_text(encoding="utf-8"))
    module.update_readme()
    assert written == {"README.md": readme}


def test_the_tool_takes_what_was_seen(monkeypatch, tmp_path, capsys):
    """New versions come in beside old ones, and what has changed is said."""
    module = tool()
    written = {}
    monkeypatch.setattr(peer_record, "SEEN", str(tmp_path))
    monkeypatch.setattr(peer_record, "load",
                        lambda: {(TEST, KNOWN): peer_record.entry_of(TEST, SEEN)})
    monkeypatch.setattr(module, "write", written.__setitem__)
    peer_record.keep(TEST, OTHER, SEEN)
    peer_record.keep(TEST, KNOWN, {**SEEN, "11.8 a": "FAIL"})
    module.update_record()
    made = tomllib.loads(written["tests/peers.toml"])["peer"]
    assert [(one["version"], one["usual"]) for one in made] == [(KNOWN, 1), (OTHER, 2)]
    assert capsys.readouterr().out.splitlines() == [
        f"peers: self test on {KNOWN}: 11.8 a: PASS, now FAIL", f"peers: self test on {OTHER}: new"]
