# SPDX-License-Identifier: Apache-2.0
"""A port of a network, checked by a guest that knows VIRTIO 1.2 only (guests/netcheck)."""

import re

import pytest

import harness
from networks import network, vm
from operator_trees import operator
import operators
import peers
import plain
from shared_memory import TREE

PASSED, LINK = 197, 9
MESSAGES, LINK_MESSAGES = 38, 10
QEMUS = "disable-legacy=on,romfile=,mq=off,host_mtu=1500"
IMAGES = """
/ { images { netcheck: netcheck { data = /incbin/("netcheck.bin"); }; }; };
"""


def run(tmp_path, args="", more=(), properties="", options=(), **others):
    """The guest beside one that sends frames back."""
    for name in ("bare", "netcheck"):
        plain.make(f"build/guests/{name}.bin")
    checked = vm("alpha", args, properties=properties).replace("<&bare>", "<&netcheck>")
    text = TREE.format(vms="".join((checked, vm("beta", "role=echo"), *more)), shared="")
    text = text.replace("shared {", "networks {" + network("alpha", "beta")) + IMAGES
    file = tmp_path / "vms.dts"
    file.write_text(text, encoding="utf-8")
    return harness.run(file, options=["--include", harness.BUILD / "guests", *options], **others)


def verdicts(lines):
    """{check: verdict}; a check that is there several times has its number, too."""
    found = {}
    for verdict, name in (match.groups() for match in map(
            re.compile(r"(PASS|FAIL|SKIP) ([^|]*[^| ])(?: \|.*)?").fullmatch, lines) if match):
        n = sum(key.split(" #")[0] == name for key in found)
        found[f"{name} #{n + 1}" if n else name] = verdict
    return found


def assert_all_pass(result, skipped, passed):
    lines = result.vm("alpha")
    assert set(verdicts(lines).values()) <= {"PASS", "SKIP"}, "\n".join(lines)
    assert lines[-2:] == [f"{skipped} skipped", f"{passed} passed, 0 failed"], "\n".join(lines)
    assert result.status == harness.OK, str(result)


@harness.both_backends
def test_every_check_passes(tmp_path, backend):
    assert_all_pass(run(tmp_path, backend=backend), 1, PASSED)


@pytest.mark.long
def test_the_queue_that_receives_wraps(tmp_path):
    assert_all_pass(run(tmp_path, "long=1"), 0, PASSED + 1)


def test_the_link(tmp_path):
    """It changes twice, by an operator."""
    asked = [(1000000, "link alpha down"), ("+200000", "link alpha up")]
    result = run(tmp_path, "link=1", [operator(asked, access="control", vms='"alpha"')])
    assert [status for _, status in operators.answers(result)] == [0, 0]
    assert_all_pass(result, 0, LINK)


def with_messages(tmp_path, args="", more=()):
    """The guest has an AIA."""
    return run(tmp_path, "messages=1 " + args, more, 'interrupts = "aia";',
               ["--aia", "aplic-imsic", "--aia-guests", 2])


def test_messages(tmp_path):
    """MSI-X, also with addresses of others in the table, such as those of the machine's files."""
    assert_all_pass(with_messages(tmp_path, "forge=1"), 0, MESSAGES)


def test_messages_of_the_link(tmp_path):
    asked = [(1000000, "link alpha down"), ("+200000", "link alpha up")]
    result = with_messages(tmp_path, "link=1", [operator(asked, access="control", vms='"alpha"')])
    assert [status for _, status in operators.answers(result)] == [0, 0]
    assert_all_pass(result, 0, LINK_MESSAGES)


def qemus(vectors):
    """Options of QEMU for two devices that get each other's frames."""
    options = []
    for n in (1, 2):
        options += ["-netdev", f"hubport,id=port{n},hubid=0", "-device",
                    f"virtio-net-pci,netdev=port{n},addr={n},mac=02:00:00:00:00:0{n},"
                    f"vectors={vectors},{QEMUS}"]
    return options


@pytest.mark.peer
def test_another_device():
    """The same guest with QEMU's own device, whose frames a second one sends back: the checks are
    no more than what another device does as well, except for those in tests/peers.toml."""
    options = qemus(0)
    # A window access ends QEMU's process there; behind an index that jumps no frame comes any more.
    console = plain.run(plain.make("build/guests/netcheck.bin"),
                        "source=33 context=1 window=0 ahead=0", options=options)
    peers.check("network device", peers.machine(), verdicts(console.splitlines()))


@pytest.mark.peer
def test_messages_of_another_device():
    """The same for MSI-X, but for addresses of others, which QEMU's device does write."""
    console = plain.run(plain.make("build/guests/netcheck.bin"), "messages=1",
                        cpu="rv64,sscofpmf=on,smcntrpmf=on,smaia=on,ssaia=on,ssccfg=on",
                        options=["-machine", "aia=aplic-imsic", *qemus(3)])
    peers.check("MSI-X", peers.machine(), verdicts(console.splitlines()))
