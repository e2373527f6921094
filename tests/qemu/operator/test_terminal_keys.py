# SPDX-License-Identifier: Apache-2.0
"""What a person types at the terminal of tools/run: where it goes, and what the keys do."""
import pytest

from recorded import Bench

ERASE = b"\033[m\r\033[K"
VMS = ('{"vm":"alpha","state":"running","uptime_ms":1020,"vcpus":2,"harts":[0,3],'
       '"memory":268435456}')
VMS_TEXT = "alpha           running  up 1.020 s, vcpus 2, harts 0,3, memory 256 MiB"
SHOW = b"\033[K"


@pytest.fixture
def live():
    return Bench(interactive=True)


def says(text):
    return b"tally: " + text.encode() + b"\r\n"


def goes_to(name):
    return says(f"input goes to {name} (Ctrl-T ? for help)")


def test_input_follows_the_focus(live):
    """Each byte arrives as it is, but for the two keys."""
    plain = bytes(byte for byte in range(256) if byte not in (0x14, 0x01))
    assert live.type(plain) == b""
    assert b"".join(data for vm, data in live.relay.typed if vm == 0) == plain
    for key, vm, name in ((b"n", 1, "linux-b"), (b"n", 2, "c"), (b"n", 0, "linux-a"),
                          (b"p", 2, "c"), (b"2", 1, "linux-b")):
        assert live.type(b"\x14" + key) == goes_to(name)
        live.type(b"n")
        assert live.relay.typed == [(vm, b"n")]
    live.type(b"\x14")
    assert live.relay.typed == []
    live.type(b"\x14n\x01\x01")
    assert live.relay.typed == [(1, b"\x14"), (1, b"n"), (1, b"\x01")]
    assert live.emitted() == b""


def test_help_and_what_is_no_key(live):
    live.own("vm linux-b: ended")
    assert live.type(b"\x14?") == b"".join(says(line) for line in (
        "Ctrl-T, then 1..9: that VM gets the input; n, p: the next, the one before;",
        "  g, s, r: starts, stops, restarts it; :: the prompt; f: whole screen;",
        "  w: tells it the terminal's size; Ctrl-T: sends Ctrl-T; ?: this help;",
        "Ctrl-A, then x: ends the machine; c: QEMU's monitor; Ctrl-A: sends Ctrl-A",
        "* 1 linux-a", "  2 linux-b (ended)", "  3 c"))
    assert live.type(b"\x144") == says("there is no VM 4; there are 3")
    for key in (b"0", b"="):
        assert live.type(b"\x14" + key) == says(
            f"Ctrl-T {key.decode()} means nothing; Ctrl-T ? for help")
    for key in (b"\r", b"\xff"):
        assert live.type(b"\x14" + key) == says(
            "that key means nothing after Ctrl-T; Ctrl-T ? for help")
    live.type(b"x")
    assert live.relay.typed == [(0, b"x")]


def test_lives(live):
    """Of the VM in focus, ended or not; what Tally answers is shown."""
    live.type(b"\x14s")
    live.own("vm c: ended")
    live.type(b"\x143\x14g\x14r")
    assert [command for _, command in live.relay.asked] == ["stop linux-a", "start c", "restart c"]
    live.emitted()
    assert live.answer(0, "linux-a is being stopped") == "stop linux-a"
    assert live.emitted() == says("linux-a is being stopped")


def test_an_ended_vm_gets_nothing(live):
    live.put(0, b"bye")
    assert live.own("vm linux-a: ended") == b"\r\ntally: vm linux-a: ended\r\n"
    assert live.type(b"x") == says("linux-a has ended and reads nothing; Ctrl-T n goes to the next")
    assert live.type(b"y") == b"" and live.relay.typed == []
    live.own("vm linux-b: ended")
    assert live.type(b"\x14n") == goes_to("c")
    assert live.type(b"\x14n") == goes_to("c")
    assert live.type(b"\x141") == goes_to("linux-a") + b"linux-a| bye\r\n"
    assert live.type(b"x") == says("linux-a has ended and reads nothing; Ctrl-T n goes to the next")
    assert live.type(b"\x143") == goes_to("c")
    live.own("vm linux-a: starts again")
    assert live.type(b"\x14n") == goes_to("linux-a") + b"linux-a| bye\r\n"
    live.type(b"x")
    assert live.relay.typed == [(0, b"x")]


def test_no_vm_at_all():
    nobody = Bench(interactive=True, vms=())
    for data in (b"x", b"\x14", b"\x14", b"\x14n", b"\x14:"):
        assert nobody.type(data) == b""
    assert nobody.relay.typed == []


def test_how_large_the_terminal_is(live):
    live.type(b"\x14w")
    assert live.relay.typed == [(0, b"stty rows 30 cols 100\r")]


def test_keys_for_qemu(live):
    """Leaving works whatever is waited for."""
    live.type(b"\x14:vms\r")
    live.type(b"exits\r")
    assert not live.relay.left
    live.type(b"\x01")
    live.type(b"x")
    assert live.relay.left


def test_a_vm_that_does_not_read(live):
    """What is typed waits, and then all of it goes where it was meant to."""
    live.relay.waits = 1 << 20
    live.type(b"a" * 70000 + b"\x142b")
    assert live.relay.typed == [] and live.keys.is_full()
    live.relay.waits = 0
    assert not live.keys.work() and not live.keys.is_full()
    assert live.relay.typed == [(0, b"a" * 70000), (1, b"b")]


# --- The prompt ----------------------------------------------------------------------------------


def test_the_prompt_edits_and_tells(live):
    live.put(0, b"~ # ")
    assert live.type(b"\x14:") == ERASE + goes_to("the prompt") + b"tally> " + SHOW
    assert live.type(b"\bvmx\x7fs") == b"vmx\b" + SHOW + b"s"
    # Others' lines leave it whole, that of the former focus too.
    assert live.put(1, b"x\n") == ERASE + b"[linux-b] x\r\ntally> vms"
    assert live.put(0, b"more") == b""
    assert live.type(b"\r") == b"\r\n"
    # What is typed ahead waits for the answer.
    assert live.type(b"x") == b""
    assert live.answer(0, VMS) == "vms --json"
    assert live.emitted() == says(VMS_TEXT) + b"tally> " + SHOW + b"x"
    assert live.type(b"\x03") == b"\r\ntally> " + SHOW
    assert live.type(b"\r") == b"\r\ntally> " + SHOW
    assert not live.relay.asked
    longest = b"y" * 64
    assert live.type(longest + b"zz") == longest
    live.type(b"\r")
    assert live.answer(2, "no such command") == longest.decode()
    assert live.relay.typed == []


@pytest.mark.parametrize("key", [b"\x1b[A", b"\x1b[1;5C", b"\x1b[3~", b"\x1bOP", b"\x1bx"])
def test_keys_that_add_nothing(live, key):
    """Keys that the prompt does not know, and arrows where there is nothing to go to."""
    live.type(b"\x14:")
    assert live.type(b"v" + key + b"ms") == b"vms"
    assert live.type(key[:-1] + b"\r") == b"\r\n"
    assert live.answer(0, VMS) == "vms --json"


def test_many_commands_at_once(live):
    """Each is asked when the one before has been answered."""
    live.type(b"\x14:" + b"".join(b"stop no%d\r" % n for n in range(40)) + b"\x142")
    for n in range(40):
        assert len(live.relay.asked) == 1
        assert live.answer(1, f"no{n}") == f"stop no{n}"
    assert live.emitted().endswith(goes_to("linux-b"))


@pytest.mark.parametrize("way", [b"exit\r", b"\x04", b"\x14\x14", b"vm\x14\x14", b"\x142"])
def test_the_prompt_is_left(live, way):
    live.type(b"\x142")
    live.put(1, b"# ")
    live.type(b"\x14:")
    assert live.type(way).endswith(goes_to("linux-b") + b"[linux-b] # ")
    assert not live.relay.asked
    live.type(b"x")
    assert live.relay.typed == [(1, b"x")]


def test_keys_at_the_prompt(live):
    """About the VM from which the person came."""
    live.type(b"\x142\x14:")
    live.type(b"\x14s")
    assert live.relay.asked.pop()[1] == "stop linux-b"
    assert live.type(b"\x14:") == b""
    # It did not become its own way back.
    assert live.type(b"\x04") == ERASE + goes_to("linux-b")
    live.type(b"\x14:")
    assert live.type(b"\x14n") == ERASE + goes_to("c")
    live.type(b"x")
    assert live.relay.typed == [(2, b"x")]


def test_the_machine_ends_at_the_prompt(live):
    live.type(b"\x14:vms\r")
    client, _ = live.relay.asked.popleft()
    client.send(b"!", b"the machine has ended")
    assert live.emitted().endswith(says("the machine has ended") + b"tally> " + SHOW)
    live.flow.end()
    assert live.emitted() == b"\r\n"
