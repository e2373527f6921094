# SPDX-License-Identifier: Apache-2.0
"""tools/run tells once a life that a guest's SSH server answers. The guest is a socket of this
test, at the port that QEMU would forward."""

import os
import selectors
import socket
import subprocess
import types

import pytest

import harness
from runlib import ready
from tool_run import fake

BANNER = b"SSH-2.0-test\r\n"
TOLD = "alpha: ssh ready"
TREE = """/dts-v1/;
/ { compatible = "tally,vm-tree-1"; images { x { data = [00]; }; };
	vms { alpha { devices { net0 { host = "/soc/virtio_mmio@10001000"; }; }; }; }; };
"""


def net(port, address="127.0.0.1"):
    return f"alpha=user,hostfwd=tcp:{address}:{port}-:22"


@pytest.fixture(name="server")
def a_guest_that_listens():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(harness.GUARD)
        yield server


@pytest.fixture(name="relay")
def a_relay():
    relay = types.SimpleNamespace(flow=types.SimpleNamespace(listeners=[]),
                                  wait=selectors.DefaultSelector())
    yield relay
    relay.wait.close()


def begin(server, data=b""):
    """The next connection, of which there is one at a time, with the first bytes of the guest."""
    guest = server.accept()[0]
    guest.settimeout(harness.GUARD)
    server.setblocking(False)
    with pytest.raises(BlockingIOError):
        server.accept()
    server.settimeout(harness.GUARD)
    guest.sendall(data)
    return guest


def serve(relay):
    (found,) = relay.wait.select(harness.GUARD)
    found[0].data()


def test_once_a_life(server, relay, monkeypatch):
    monkeypatch.setattr(ready, "PAUSE_S", 0)
    told = []
    with ready.watched([net(server.getsockname()[1]), "beta=user"], relay, told.append):
        (listener,) = relay.flow.listeners
        for no_server in (b"", b"SS", b"HTTP"):
            begin(server, no_server).close()
        with begin(server, BANNER[:2]) as guest:
            assert not relay.wait.select(0)
            guest.sendall(BANNER[2:])
            serve(relay)
            assert told == [TOLD]
        listener.own("vm beta: ended")
        listener.own("vm alpha: asked for a restart")
        with begin(server) as guest:
            listener.own("vm alpha: failed: a reason")
            assert guest.recv(1) == b""
        with begin(server, BANNER):
            serve(relay)
        assert told == [TOLD] * 2
        listener.own("vm alpha: stopped")
        last = begin(server)
    with last:
        assert last.recv(1) == b""
    assert told == [TOLD] * 2 and not any(guest.thread.is_alive() for guest in listener.guests)


def test_it_waits_longer_each_time(server, relay, monkeypatch):
    """A guest that is too slow for the first connection is asked again."""
    monkeypatch.setattr(ready, "PAUSE_S", 0)
    monkeypatch.setattr(ready, "PATIENCE_S", 0.01)
    monkeypatch.setattr(ready, "MORE_S", harness.GUARD)
    told = []
    with ready.watched([net(server.getsockname()[1])], relay, told.append):
        with server.accept()[0] as guest:
            guest.settimeout(harness.GUARD)
            assert guest.recv(1) == b""
        with begin(server, BANNER):
            serve(relay)
    assert told == [TOLD]


def test_which_ports():
    assert ready.forwarded([
        "alpha=user,hostfwd=udp:127.0.0.1:1-:22,hostfwd=tcp:127.0.0.1:2-:2222",
        "beta=user,hostfwd=tcp::3-:80,hostfwd=tcp::4-10.0.2.15:22", "gamma=user"]
    ) == {"beta": ("127.0.0.1", 4)}


def test_tools_run_tells(tmp_path):
    """The machine prints, so QEMU has had its port checked; then the guest listens. The address is
    this process's, so that no program that runs beside takes the port in between."""
    command = fake(tmp_path, "\x1e+\n\x1e:A alpha\n\x1eAhere%0A\n", ends=False)
    (tmp_path / "vms.dts").write_text(TREE, encoding="ascii")
    address = f"127.1.{os.getpid() >> 8 & 0xff}.{os.getpid() & 0xff}"
    with socket.socket() as probe:
        probe.bind((address, 0))
        port = probe.getsockname()[1]
    with subprocess.Popen([*command, "--profile", "smp", "--net", net(port, address)], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        assert "here" in process.stdout.readline()
        with socket.create_server((address, port)) as server:
            server.settimeout(harness.GUARD)
            with begin(server, BANNER):
                lines = iter(process.stderr.readline, "")
                assert f"tools/run: {TOLD}\n" in lines
        process.terminate()
        assert process.wait(harness.GUARD) == harness.INTERRUPTED
