# SPDX-License-Identifier: Apache-2.0
"""tools/lib/runlib/programs.py beside a machine that is a function here: programs are served in
turn."""

import os
import re
import socket
import stat
import threading

import pytest

import harness  # pylint: disable=unused-import  # finds the tools
from runlib import console_relay, flow, programs

READY = b"tally: 1 instructions from entry to the first guest\n"


class Machine:
    """Answers each request with one line, in the order in which they come, when it is told to."""

    def __init__(self, folder):
        self.input, self.to_machine = os.pipe()
        self.from_machine, self.output = os.pipe()
        self.path = str(folder / "control")
        self.relay = console_relay.Relay(self.to_machine, self.input, self.from_machine,
                                         flow.Flow(),
                                         path=self.path)
        self.received = b""
        self.served = []  # the commands
        self.thread = threading.Thread(target=self.relay.run)
        self.thread.start()
        os.write(self.output, READY)

    def serve(self, n):
        """Answers the next n requests."""
        for _ in range(n):
            while b"\r" not in self.received:
                self.received += os.read(self.input, 4096)
            request, self.received = self.received.split(b"\r", 1)
            name, command = re.fullmatch(rb"\x14=(\w+) (.*)", request).groups()
            self.served.append(command.decode())
            os.write(self.output, b"\x1e=%s %s\n\x1e.%s 0\n" % (name, command, name))

    def request(self):
        """The id of the next request, which is not answered here."""
        while b"\r" not in self.received:
            self.received += os.read(self.input, 4096)
        request, self.received = self.received.split(b"\r", 1)
        return re.fullmatch(rb"\x14=(\w+) .*", request)[1]

    def connect(self, data=b""):
        """A program that has sent that."""
        program = socket.socket(socket.AF_UNIX)
        program.connect(self.path)
        if data:
            program.sendall(data)
        return program

    def end(self):
        """The machine goes off."""
        os.close(self.output)
        self.thread.join()
        self.relay.close()


@pytest.fixture
def machine(tmp_path):
    made = Machine(tmp_path)
    yield made
    made.end()


def answers(program, n):
    """The next n answers."""
    got = b""
    while got.count(b". 0\n") < n:
        data = program.recv(65536)
        assert data, got[-100:]
        got += data
    return got


def send_as_much_as_goes(program, command):
    """Without waiting; returns how many bytes."""
    program.setblocking(False)
    sent = 0
    try:
        while sent < 10000000:
            sent += program.send(command * 1000)
    except BlockingIOError:
        pass
    program.setblocking(True)
    return sent


def test_who_asks_much_waits_with_it(machine):
    """The others are served in turn, and it is read no further."""
    hog = machine.connect()
    sent = send_as_much_as_goes(hog, b"vms\n")
    assert 100000 < sent < 10000000
    other = machine.connect(b"exits\n")
    while "exits" not in machine.served:
        machine.serve(1)
    assert machine.served.index("exits") < 3
    assert answers(other, 1) == b"= exits\n. 0\n"
    # All of its own are answered, if it stays.
    machine.serve(500)
    assert answers(hog, 500).startswith(b"= vms\n. 0\n" * 500)


def test_what_was_asked_goes_with_who_asked(machine):
    hog = machine.connect()
    send_as_much_as_goes(hog, b"vms\n")
    machine.serve(1)
    hog.close()
    other = machine.connect(b"exits\n" * 3)
    while machine.served.count("exits") < 3:
        machine.serve(1)
    # What the machine had got of it already.
    assert machine.served.count("vms") <= 2
    assert answers(other, 3) == b"= exits\n. 0\n" * 3


def test_samples_are_told_to_all_who_ask_for_them(machine):
    """In the order in which they come, from a program's first answer on; who has gone, and who
    asks for something else, gets nothing."""
    one, two, other = (machine.connect() for _ in range(3))
    for program in (one, two, other):
        program.sendall(b"samples\n" if program is not other else b"vms\n")
        machine.serve(1)
        assert answers(program, 1).endswith(b". 0\n")
    # While the second one waits for its own: behind those it had, before its own.
    one.sendall(b"samples\n")
    names = [machine.request()]
    os.write(machine.output, b"\x1e=%s a\n" % names[0])
    while b"= a\n" not in one.recv(100, socket.MSG_PEEK):
        pass
    two.sendall(b"samples\n")
    names.append(machine.request())
    os.write(machine.output, b"\x1e=%s b\n\x1e.%s 0\n" % (names[0], names[0]))
    os.write(machine.output, b"\x1e=%s c\n\x1e.%s 0\n" % (names[1], names[1]))
    assert answers(one, 1) == b"= samples\n= a\n= b\n. 0\n"  # the first: what two got
    assert answers(two, 1) == b"= a\n= b\n= c\n. 0\n"
    one.sendall(b"samples\n")
    machine.serve(1)
    assert answers(one, 1) == b"= c\n= samples\n. 0\n"
    # One that does not ask any more loses all, and begins anew.
    for _ in range(5):
        one.sendall(b"samples\n")
        name = machine.request()
        os.write(machine.output, b"\x1e=%s %s\n" % (name, b"x" * 900) * 40 +
                 b"\x1e.%s 0\n" % name)
        assert answers(one, 1).count(b"= x") == 40
    two.sendall(b"samples\n")
    machine.serve(1)
    assert answers(two, 1) == b"= samples\n. 0\n"
    two.close()
    one.sendall(b"samples\n")
    machine.serve(1)
    assert answers(one, 1) == b"= samples\n= samples\n. 0\n"
    while len(machine.relay.programs.clients) > 2:
        pass
    assert len(machine.relay.shared.kept) == 1
    other.sendall(b"vms\n")
    machine.serve(1)
    assert answers(other, 1) == b"= vms\n. 0\n"


def test_complaints_keep_the_order(machine):
    program = machine.connect(b"vms\n\x01\nexits\n")
    machine.serve(2)
    assert answers(program, 2) == (
        b"= vms\n. 0\n! a command is 1 to 64 characters of printable ASCII\n= exits\n. 0\n")


def test_a_new_program_takes_the_place_of_an_idle_one(machine):
    """Of the one that was served before all others, which is told so."""
    asking = []
    for _ in range(programs.CLIENTS):
        asking.append(machine.connect(b"vms\n"))
        machine.serve(1)
        assert answers(asking[-1], 1) == b"= vms\n. 0\n"
    asking[0].sendall(b"vms\n")
    machine.serve(1)
    assert answers(asking[0], 1) == b"= vms\n. 0\n"
    program = machine.connect(b"exits\n")
    machine.serve(1)
    assert answers(program, 1) == b"= exits\n. 0\n"
    assert asking[1].recv(4096) == (
        b"! the connection was idle, and another program needed its place\n")
    assert asking[1].recv(4096) == b""
    for other in (asking[0], *asking[2:]):
        other.sendall(b"vms\n")
        machine.serve(1)
        assert answers(other, 1) == b"= vms\n. 0\n"


def test_consoles_leave_places_to_others(machine):
    """Consoles are never idle, so they may not have all places."""
    consoles = [machine.connect(b"@frames\n") for _ in range(programs.CONSOLES)]
    for console in consoles:
        assert console.recv(4096)
    assert machine.connect(b"@frames\n").recv(4096) == (
        b"! 48 consoles are connected, and no more can be\n")
    asking = [machine.connect(b"vms\n") for _ in range(programs.CLIENTS - programs.CONSOLES)]
    assert machine.connect().recv(4096).startswith(b"! 64 programs are connected")
    machine.serve(len(asking))
    for program in asking:
        assert answers(program, 1) == b"= vms\n. 0\n"


def test_more_programs_than_there_is_room_for(machine):
    """If all wait for answers, the one too many is told so, and harms nobody."""
    asking = [machine.connect(b"vms\n") for _ in range(programs.CLIENTS)]
    assert machine.connect().recv(4096) == (
        b"! 64 programs are connected and wait for answers; no more can be\n")
    machine.serve(programs.CLIENTS)
    for program in asking:
        assert answers(program, 1) == b"= vms\n. 0\n"
    asking.pop().close()
    while len(machine.relay.programs.clients) == programs.CLIENTS:
        pass
    program = machine.connect(b"exits\n")
    machine.serve(1)
    assert answers(program, 1) == b"= exits\n. 0\n"


def test_one_long_answer_is_read_late(machine):
    """Samples of several full rings are more than a program may leave unread of many answers."""
    late, line = machine.connect(b"samples\n"), b"x" * 250
    name = machine.request()
    for _ in range(6000):
        os.write(machine.output, b"\x1e=%s %s\n" % (name, line))
    os.write(machine.output, b"\x1e.%s 0\n" % name)
    other = machine.connect(b"exits\n")
    machine.serve(1)
    assert answers(other, 1) == b"= exits\n. 0\n"
    assert answers(late, 1) == b"= %s\n" % line * 6000 + b". 0\n"


def typed_at(machine, n):
    """The next n bytes that the machine reads."""
    while len(machine.received) < n:
        machine.received += os.read(machine.input, 4096)
    got, machine.received = machine.received[:n], machine.received[n:]
    return got


def test_typing_at_two_vms(machine):
    """By turns, each byte to whom it is for, and no request inside of what is typed."""
    asked = machine.connect(b"vms\n")
    machine.serve(1)
    assert answers(asked, 1)
    machine.relay.type_to(0, b"a" * 100 + b"\x14")
    machine.relay.type_to(1, b"b")
    assert machine.relay.untyped(0) == 101
    asked.sendall(b"exits\n")
    want = b"\x14>A" + b"a" * 64 + b"\x14>Bb" + b"\x14>A" + b"a" * 36 + b"\x14\x14"
    got = typed_at(machine, len(want) + len(b"\x14=r2 exits\r"))
    assert got.replace(b"\x14=r2 exits\r", b"") == want
    machine.relay.type_to(0, b"x")
    os.write(machine.output, b"\x1e.r2 0\n")
    asked.sendall(b"pmu\n")
    got = typed_at(machine, len(b"x\x14=r3 pmu\r"))
    assert got.replace(b"\x14=r3 pmu\r", b"") == b"x"


def test_only_who_runs_the_machine_asks_it(machine):
    """Whoever may write to the socket may connect to it. The umask of the test's is no matter."""
    assert stat.S_IMODE(os.stat(machine.path).st_mode) == 0o600
