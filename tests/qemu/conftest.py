# SPDX-License-Identifier: Apache-2.0
"""Fixtures for tests on QEMU. README.md shows how to use them."""

import collections
import contextlib
import io
import os
from pathlib import Path
import re
import subprocess
import sys
import zlib

import pexpect
import pytest

# Helper modules, for tests of all folders.
sys.path.insert(0, str(Path(__file__).parent / "lib"))

import bare_guests
import browser
import fakes
import harness
import ledger
import peers
import plain
import prompts
import raw_events
import sessions
import tool_run


# Lines "SECONDS FILE", as a session leaves them in build/test.
DURATIONS = Path(__file__).parent / "durations.txt"
SLOWEST = 5  # files that are named
BACK_END = re.compile(r"(?<=[\[-])(%s)(?=[\]-])" % "|".join(harness.BACKENDS))
CLOCK = re.compile(r"\b(time|monotonic|perf_counter)(_ns)?\(\)")


def pytest_configure(config):
    config.addinivalue_line("markers", "long: left to `make test-long`")
    config.addinivalue_line("markers", "peer: records what a peer does (`make peers`)")
    if hasattr(config, "workerinput"):
        sessions.own()


def leave_one_back_end(items):
    """Of a test that is there with both back ends, one is long, by the test's name; not in `pmu`,
    where what they do is tested."""
    pairs = collections.defaultdict(list)
    for item in items:
        name = BACK_END.sub("", item.nodeid)
        if name != item.nodeid and item.path.parent.name != "pmu":
            pairs[name].append(item)
    for name, both in pairs.items():
        if len(both) == 2 and not any(item.get_closest_marker("long") for item in both):
            both[zlib.crc32(name.encode()) % 2].add_marker(pytest.mark.long)


@pytest.hookimpl(tryfirst=True)  # before marks select
def pytest_collection_modifyitems(items):
    """Files that take long begin first, or one would be left when all else is done. One that nobody
    knows yet may be long, too."""
    rows = (line.split() for line in DURATIONS.read_text(encoding="ascii").splitlines())
    seconds = {name: float(time) for time, name in rows}
    items.sort(key=lambda item: -seconds.get(item.path.name, 1e9))
    leave_one_back_end(items)


@pytest.fixture
def tally(tmp_path):
    """boot(VMS, ...) -> harness.Result: boots a VM tree and waits for its end. VMS is the path of
    a .dts or its text; other arguments as for harness.command()."""

    def boot(vms, **arguments):
        if isinstance(vms, str) and "/dts-v1/" in vms:
            tree = tmp_path / "text.dts"
            tree.write_text(vms, encoding="utf-8")
            vms = tree
        options = [*arguments.pop("options", ()), "--include", harness.ROOT / "dts"]
        return harness.run(vms, options=options, **arguments)

    return boot


@pytest.fixture
def linux(tmp_path):
    """boot({NAME: SCRIPT}, ...) -> harness.Result: a Debian guest for each shell script, all on
    hart 0. tree={...}: arguments for harness.linux_tree()."""

    def boot(scripts, tree=None, **arguments):
        return harness.run(harness.linux_tree(tmp_path, scripts, **(tree or {})), **arguments)

    return boot


@pytest.fixture
def bare(tmp_path):
    """run(SCRIPT) -> lines: the same Debian guest without Tally, as the reference."""
    return lambda script, **arguments: harness.bare_linux(tmp_path, script, **arguments)


@pytest.fixture(scope="session", name="debug_image")
def made_with_debug():
    """The path of the hypervisor of `make DEBUG=1`, which has what only tests need (core/debug)."""
    return plain.make("build/debug/tally.bin", variables=("DEBUG=1",))


@pytest.fixture(scope="session")
def debug_build(debug_image):
    """The options of tools/run that boot it."""
    return ["--kernel", debug_image]


@pytest.fixture(scope="session")
def roaming(debug_image):
    """The options of tools/run with which each vcpu goes to another one of its harts after every
    turn and whenever it waits."""
    return ["--kernel", debug_image, "--append", "tally.roam"]


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """A browser.Browser, or a skipped test where none can be installed."""
    one = browser.Browser(tmp_path_factory.mktemp("profile"))
    yield one
    one.close()


def end(child):
    """Ends a program on a terminal. pexpect gives one that it has killed a tenth of a second to go;
    here it gets as long as it takes."""
    child.terminate()
    try:
        child.close()
    except pexpect.ExceptionPexpect:
        child.wait()


@pytest.fixture
def console():
    """open(VMS, ...) -> pexpect child: Tally in the interactive profile, on a terminal. It is
    ended after the test."""
    with contextlib.ExitStack() as stack:

        def start(vms, timeout=harness.GUARD, colours=False, **arguments):
            arguments.setdefault("profile", "interactive")
            words = harness.command(vms, timeout=timeout, **arguments)
            child = pexpect.spawn(words[0], words[1:], timeout=timeout, encoding="utf-8",
                                  codec_errors="replace", dimensions=(24, 200), echo=False,
                                  env={**os.environ, "TERM": "xterm",
                                       "NO_COLOR": "" if colours else "1"})
            stack.callback(end, child)
            return child

        yield start


@pytest.fixture
def running(tmp_path):
    """(guests, or a tree's path) -> tool_run.Run, when its guests are about to start."""
    with contextlib.ExitStack() as stack:

        def start(guests, vcpus=("0",), options=(), properties="", memory=16, folder=tmp_path,
                  **arguments):
            plain.make("build/guests/bare.bin")
            tree = guests
            if isinstance(guests, dict):
                tree = tmp_path / "bare.dts"
                tree.write_text(bare_guests.tree(guests, vcpus, properties, memory),
                                encoding="utf-8")
            path = folder / "control"
            process = stack.enter_context(subprocess.Popen(
                harness.command(tree, timeout=harness.GUARD, options=[
                    "--include", harness.BUILD / "guests", "--control", path, *options
                ], **arguments),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE))
            stack.callback(process.terminate)
            run = tool_run.Run(process, path)
            run.read_until("OpenSBI")
            return run

        yield start


@pytest.fixture(scope="module")
def two_functions(tmp_path_factory):
    program = tmp_path_factory.mktemp("program") / "two_functions"
    subprocess.run([os.environ.get("CROSS_COMPILE", "riscv64-linux-gnu-") + "gcc", "-static",
                    "-nostdlib", "-no-pie", "-Wl,--build-id=none",
                    harness.ROOT / "tests/qemu/programs/two_functions.S", "-o", program],
                    check=True)
    return program


@pytest.fixture(scope="module")
def two_harts(tmp_path_factory):
    """The options for a machine of two harts where counts are exact."""
    return harness.several_harts(tmp_path_factory.mktemp("machine"), 2)


@pytest.fixture
def at_prompt(console, tmp_path):
    """(backend) -> the terminal of prompts.ENDLESS, when both have begun."""

    def start(backend, guests=None, text=None, options=(), **arguments):
        plain.make("build/guests/bare.bin")
        tree = tmp_path / "bare.dts"
        tree.write_text(text or bare_guests.tree(guests or prompts.ENDLESS), encoding="utf-8")
        screen = console(tree, timeout=harness.GUARD, backend=backend, **arguments,
                         options=["--include", harness.BUILD / "guests", *options])
        screen.logfile_read = io.StringIO()
        screen.expect("busy: begins")
        return screen

    return start


@pytest.fixture(scope="module")
def raw_machine(tmp_path_factory):
    """machine(CPU) -> the path of a QEMU whose pmu node maps raw events."""
    return lambda *cpu: raw_events.machine(tmp_path_factory.mktemp("machine"), *cpu)


@pytest.fixture
def fake_run(tmp_path):
    """(console, names, ends) -> the words of a command: tools/run with a machine that prints that,
    and ends or reads what is typed for ever."""
    (tmp_path / "temporary").mkdir()
    return lambda *arguments, **named: tool_run.fake(tmp_path, *arguments, **named)


@pytest.fixture
def fake_machine(tmp_path):
    """A machine whose looks are told by fakes.looked(): the next one begins with `vms`."""
    step, told = -1, None

    def answer(command):
        nonlocal step, told
        step += command.startswith("vms")
        if command.startswith("sample "):
            told = 0
        # At a look once, when they have been begun.
        if command == "samples" and told is not None and told < step:
            told = step
            return 0, fakes.noted()
        if command == "samples":
            return 0, []
        return fakes.told(fakes.looked(command, step))

    made = fakes.Asked(tmp_path / "control", answer)
    yield made
    made.end()


@pytest.fixture(scope="module")
def vm_check_built():
    """The program that tools/vm-check runs."""
    plain.make("vm-check")


@pytest.fixture
def tree_file(tmp_path):
    """write(TEXT) -> path of a tree, beside an image of 100 bytes."""
    (tmp_path / "hundred-zeros.bin").write_bytes(bytes(100))

    def write(text):
        path = tmp_path / "vms.dts"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture(autouse=True)
def nothing_of_another():
    """Checks the ledgers of the test's runs of a build with DEBUG=1, and of those of fixtures that
    it is the first to use. One that is empty is of a run that ended before Tally began, or of
    another build."""
    yield
    breaches = []
    while harness.ledgers:
        name = harness.ledgers.pop()
        breaches += ledger.check(ledger.read(name)).breaches
        os.unlink(name)
    assert not breaches, "\n".join(breaches[:20])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    peers.used.clear()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """On a version that tests/peers.toml does not know no test fails: it is noted, in one line."""
    report = (yield).get_result()
    if report.failed and peers.unknown():
        said = str(call.excinfo.value).strip().split("\n", maxsplit=1)[0]
        note = (f"{item.nodeid} on {', '.join(peers.unknown())}, which tests/peers.toml does not "
                f"know: {said}")
        peers.notes.append(note)
        report.outcome, report.wasxfail, report.longrepr = "skipped", note, note


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Takes what a worker process of pytest-xdist noted."""
    output = getattr(node, "workeroutput", {})
    harness.stays += output.get("stays", [])
    peers.notes += [note for note in output.get("peers", []) if note not in peers.notes]


def pytest_terminal_summary(terminalreporter):
    """What was left out, what peers did otherwise, and the longest stay in HS, of a session that
    passed and of one that did not."""
    for report in terminalreporter.stats.get("skipped", []):
        terminalreporter.write_line(f"left out: {report.nodeid}: {report.longrepr[2]}")
    for note in peers.notes:
        terminalreporter.write_line(f"peers: {note}")
    if harness.stays:
        stay, test, vcpu = max(harness.stays)
        terminalreporter.write_line(f"longest stay in HS: {stay} instructions, of "
                                    f"{len(harness.stays)} vcpus: vm {vcpu} in {test}")
    if terminalreporter.config.option.verbose > 0:
        slowest = seconds_of_files(terminalreporter).most_common(SLOWEST)
        terminalreporter.write_line("slowest files: " + ", ".join(
            f"{name} {time:.0f} s" for name, time in slowest))
        terminalreporter.write_line("tests that look at the host's clock: "
                                    + (", ".join(lookers()) or "none"))


def seconds_of_files(reporter):
    """How long the tests of each file took together."""
    seconds = collections.Counter()
    for report in (report for kind in reporter.stats.values() for report in kind):
        if isinstance(report, pytest.TestReport):
            seconds[Path(report.location[0]).name] += report.duration
    return seconds


def lookers():
    """The files of tests that could judge by the time that something takes here."""
    return [path.name for path in sorted(Path(__file__).parent.rglob("test_*.py"))
            if CLOCK.search(path.read_text(encoding="utf-8"))]


def pytest_sessionfinish(session):
    """Leaves the counts for the last line of `make test`; a worker hands over what it noted."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["stays"] = harness.stays
        session.config.workeroutput["peers"] = peers.notes
        return
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    folder = harness.BUILD / "test"
    if reporter and folder.is_dir():
        (folder / "durations.txt").write_text(
            "".join(f"{time:.0f} {name}\n"
                    for name, time in seconds_of_files(reporter).most_common()), encoding="ascii")
        count = {kind: len(reporter.stats.get(kind, [])) for kind in ("passed", "failed", "error")}
        (folder / "qemu.count").write_text(
            f"{count['passed']} {count['failed'] + count['error']}\n", encoding="ascii")
