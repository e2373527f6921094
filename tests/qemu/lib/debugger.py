# SPDX-License-Identifier: Apache-2.0
"""A debugger of QEMU's, as far as tests want one: breakpoints, memory, and registers by their
names, CSRs included. It speaks GDB's remote protocol over a UNIX socket (-gdb unix:PATH)."""

import re
import socket

PART = 0xc00  # bytes of memory, or of a description, in one packet


class Debugger:
    """Of a machine with one hart, which stops when this begins."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        self.answers = self.socket.makefile("rb")
        self.ask("qSupported:xmlRegisters=riscv")
        self.numbers, number = {}, 0
        for annex in re.findall(r'xi:include href="([^"]+)"', self.description("target.xml")):
            for name, words in re.findall(r'<reg name="([^"]+)"([^>]*)', self.description(annex)):
                told = re.search(r'regnum="(\d+)"', words)
                number = int(told[1]) if told else number
                self.numbers[name] = number
                number += 1

    def close(self):
        self.answers.close()
        self.socket.close()

    def ask(self, packet):
        """The answer to a packet."""
        # The next packet says, too, that the last answer has come.
        data = packet.encode("ascii")
        self.socket.sendall(b"$%s#%02x" % (data, sum(data) & 0xff))
        return self.answer()

    def answer(self):
        """The next answer. EOFError: the machine has ended."""
        while (byte := self.answers.read(1)) != b"$":
            if not byte:
                raise EOFError
        text = b""
        while (byte := self.answers.read(1)) != b"#":
            if not byte:
                raise EOFError
            text += byte
        self.answers.read(2)
        return text.decode("ascii")

    def agreed(self, packet):
        assert (answer := self.ask(packet)) == "OK", (packet, answer)

    def description(self, annex):
        """One of QEMU's descriptions of its registers."""
        text, last = "", False
        while not last:
            part = self.ask(f"qXfer:features:read:{annex}:{len(text):x},{PART:x}")
            text, last = text + part[1:], part[0] == "l"
        return text

    def register(self, name):
        """Its value; 64 bits."""
        return int.from_bytes(bytes.fromhex(self.ask(f"p{self.numbers[name]:x}")), "little")

    def set_register(self, name, value):
        self.agreed(f"P{self.numbers[name]:x}={value.to_bytes(8, 'little').hex()}")

    def read(self, address, size):
        """Memory, by the addresses of the mode in which the hart is."""
        data = b""
        while len(data) < size:
            n = min(PART // 2, size - len(data))
            part = bytes.fromhex(self.ask(f"m{address + len(data):x},{n:x}"))
            assert len(part) == n
            data += part
        return data

    def write(self, address, data):
        for n in range(0, len(data), PART // 2):
            part = data[n:n + PART // 2]
            self.agreed(f"M{address + n:x},{len(part):x}:{part.hex()}")

    def break_at(self, address):
        self.agreed(f"Z0,{address:x},4")

    def go_on(self):
        """Until the machine stops. EOFError: it has ended."""
        answer = self.ask("c")
        if answer[0] in "WX":
            raise EOFError
        assert answer[0] == "T", answer

    def leave(self):
        """Lets the machine go on without a debugger."""
        self.agreed("D")
