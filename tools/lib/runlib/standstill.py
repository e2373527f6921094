# SPDX-License-Identifier: Apache-2.0
"""Notices that a machine's virtual time stands still (docs/platform.md, Time).

Under -icount time is the instructions executed. While a guest executes none for ever, no timer
expires, and Tally never gets the hart; QEMU is as busy as ever. So a look is taken whenever QEMU
has used WINDOW_S of processor time, not of the host's clock: has it executed an instruction
meanwhile? If not, the console is knocked at: a request to Tally is an interrupt, which is taken all
the same, and Tally ends a guest that it finds in a loop of traps. If that did not help, the run
ends.
"""
import contextlib
import json
import os
import re
import socket
import threading
import time

from runlib.verdict import STANDSTILL, Stop

WINDOW_S = 0.5      # of processor time, used within LONGEST_S of the host's: else it is idle
LONGEST_S = 60.0
PERIOD_S = 0.25
KNOCK = b"vms"      # a command whose answer nobody reads
KNOCK_INSNS = 10000000  # much more than Tally's answer to a knock takes


def qemu_options(folder, args):
    """For QEMU's command line. Nothing to notice where time is the host's."""
    if args.profile == "smp":
        return []
    return ["-qmp", "unix:%s,server=on,wait=off" % socket_path(folder)]


def socket_path(folder):
    return os.path.join(folder, "qmp")


class Monitor:
    """QEMU's machine protocol."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.lines = self.socket.makefile("rw", encoding="utf-8")
        self.lines.readline()
        self.ask("qmp_capabilities")

    def ask(self, command, **arguments):
        """What a command returns; EOFError: the machine has ended."""
        self.lines.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self.lines.flush()
        for line in self.lines:
            answer = json.loads(line)
            if "error" in answer:
                raise ValueError(answer["error"]["desc"])
            if "return" in answer:
                return answer["return"]
        raise EOFError

    def runs(self):
        return self.ask("query-status")["running"]

    def executed(self):
        """Instructions, as they were known when the hart last looked at a timer or a device."""
        return self.ask("query-replay")["icount"]

    def registers(self):
        """{name: value} of hart 0, as far as QEMU prints them."""
        text = self.ask("human-monitor-command", **{"command-line": "info registers"})
        return dict(re.findall(r"(\w+)(?: +| += +)([0-9a-f]+)\b", text))

    def look(self):
        """Instructions, exactly, and the registers: the machine pauses for it."""
        self.ask("stop")
        seen = self.executed(), self.registers()
        self.ask("cont")
        return seen


def processor_seconds(pid):
    """What a process has used so far, of all processors."""
    with open("/proc/%d/stat" % pid, encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Judge:
    """What follows from looks: None, "knock", or "still"."""

    def __init__(self):
        self.executed = 0
        self.knocked = False

    def moved(self, executed):
        """Has the machine gone on since the last look?"""
        return executed - self.executed > (KNOCK_INSNS if self.knocked else 0)

    def judge(self, executed):
        """After a window of QEMU's processor time."""
        if self.moved(executed):
            self.knocked = False
        elif self.knocked:
            return "still"
        else:
            self.knocked = True
        self.executed = executed
        return "knock" if self.knocked else None


class Watch:
    """Looks at QEMU while a relay runs. told: called with a line for the user; suspects: names the
    VMs that have not ended."""

    def __init__(self, pid, folder, relay, told, suspects):
        self.pid, self.path = pid, socket_path(folder)
        self.relay, self.told, self.suspects = relay, told, suspects
        self.news, wake = os.pipe()
        self.end = threading.Event()
        self.registers = {}
        self.thread = threading.Thread(target=self.work, args=(wake,), daemon=True)

    def start(self):
        self.relay.wait.register(self.news, 1, self.serve)
        self.thread.start()

    def stop(self):
        self.end.set()
        # A signal may have come before the thread had begun: then there is nothing to wait for.
        with contextlib.suppress(RuntimeError):
            self.thread.join(PERIOD_S * 8)

    def work(self, wake):
        """The thread; what it finds goes through a pipe to who waits for the console."""
        try:
            while not os.path.exists(self.path):
                if self.end.wait(PERIOD_S):
                    return
            self.watch(Monitor(self.path), wake)
        except (OSError, EOFError, ValueError):
            pass  # the machine has ended
        finally:
            os.close(wake)

    def watch(self, monitor, wake):
        judge = Judge()
        used, since = processor_seconds(self.pid), time.monotonic()
        while not self.end.wait(PERIOD_S):
            now = processor_seconds(self.pid)
            if now - used < WINDOW_S:
                continue
            idle = time.monotonic() - since > LONGEST_S
            used, since = now, time.monotonic()
            if idle or not monitor.runs():
                continue
            executed = monitor.executed()
            if not judge.moved(executed):
                executed, self.registers = monitor.look()
            verdict = judge.judge(executed)
            if verdict:
                os.write(wake, verdict[:1].encode())

    def serve(self):
        """In the thread of the console."""
        news = os.read(self.news, 1)
        if not news:
            self.relay.wait.unregister(self.news)
        elif news == b"s":
            raise Stop(STANDSTILL, "virtual time stands still: " + self.where())
        elif self.relay.ready:
            self.told("virtual time stands still; Tally is asked to look for the guest that "
                      "executes nothing")
            self.relay.ask_for(Nobody(), KNOCK)

    def where(self):
        """What can be said of who does it."""
        names = self.suspects()
        text = "hart 0 executes nothing at %s" % self.registers.get("pc", "an unknown address")
        if self.registers.get("V") == "1":
            text += ", in " + ("vm " + names[0] if len(names) == 1 else
                               "one of the VMs " + ", ".join(names))
        return text


class Nobody:
    """Of a relay: a program that does not listen."""
    asked = False

    def send(self, *_line):
        pass
