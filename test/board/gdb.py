# SPDX-License-Identifier: BSD-2-Clause
"""The emulator's gdb stub: stops a machine at instructions of its choice."""
import random
import re
import select
import subprocess

import guest

TOOLS = {"mps2-an386": "arm-none-eabi-", "virt-a64": "aarch64-linux-gnu-", "pc": ""}
SIZES = {"mps2-an386": 2, "virt-a64": 4, "pc": 1}  # of what stops at an instruction
STUB = ["-gdb", "unix:gdb,server=on,wait=off"]
SLOW = guest.patience.seconds(20)  # a hang detector
# How long a search waits for one of its instructions before it tries others, and for a step.
REACH = guest.patience.seconds(0.1)


class Stub:
    def __init__(self, machine):
        self.socket = guest.connect(f"/proc/{machine.qemu.pid}/cwd/gdb")
        self.buffer = b""

    def send(self, text):
        data = text.encode()
        self.socket.sendall(b"$" + data + b"#%02x" % (sum(data) & 0xff))

    def packet(self, seconds):
        """The next one, or None: nothing came."""
        pattern = re.compile(rb"\$([^#]*)#..", re.S)
        while not pattern.search(self.buffer):
            if not select.select([self.socket], [], [], seconds)[0]:
                return None
            got = self.socket.recv(4096)
            if not got:
                raise AssertionError("the gdb stub is gone")
            self.buffer += got
        found = pattern.search(self.buffer)
        self.buffer = self.buffer[found.end():]
        self.socket.sendall(b"+")
        return found[1].decode()

    def ask(self, text):
        """The answer; a stop that was told late is none."""
        self.send(text)
        answer = self.packet(SLOW)
        while answer and answer[0] == "T" and text not in ("s", "?"):
            answer = self.packet(SLOW)
        if answer is None or answer.startswith("E"):
            raise AssertionError(f"the gdb stub says {answer} to {text}")
        return answer

    def stop(self):
        self.socket.sendall(b"\x03")
        if self.packet(SLOW) is None:
            raise AssertionError("the machine does not stop")

    def run_to(self, places, size, seconds):
        """To the first of these instructions that is reached; False: none is."""
        for at in places:
            self.ask(f"Z1,{at:x},{size}")
        self.send("c")
        hit = self.packet(seconds) is not None
        if not hit:
            self.stop()
        for at in places:
            self.ask(f"z1,{at:x},{size}")
        return hit

    def know_registers(self):
        """QEMU lets only those at registers who have asked what there are."""
        self.ask("qXfer:features:read:target.xml:0,ff")

    def set_register(self, number, value, size):
        self.know_registers()
        answer = self.ask(f"P{number:x}={value.to_bytes(size, 'little').hex()}")
        if answer != "OK":
            raise AssertionError(f"the gdb stub says {answer!r} to a register's value")

    def memory(self, at, size):
        return bytes.fromhex(self.ask(f"m{at:x},{size:x}"))

    def write(self, at, data):
        """Into memory that the running CPU can read; text, too."""
        answer = self.ask(f"M{at:x},{len(data):x}:{data.hex()}")
        if answer != "OK":
            raise AssertionError(f"the gdb stub says {answer!r} to a write at {at:#x}")

    def register(self, number, size):
        self.know_registers()
        return int.from_bytes(bytes.fromhex(self.ask(f"p{number:x}"))[:size], "little")

    def go_on(self):
        self.send("c")

    def step(self):
        """An instruction; a CPU that waits for an interrupt may not get to its next one."""
        self.send("s")
        if self.packet(REACH) is None:
            self.stop()


def instructions(board, elf, wanted):
    """function -> its instructions' addresses, of the functions whose name matches."""
    found, name = {}, None
    listing = subprocess.run([TOOLS[board] + "objdump", "-d", elf], check=True,
                             capture_output=True, text=True).stdout
    for line in listing.splitlines():
        head = re.match(r"[0-9a-f]+ <([\w.]+)>:$", line)
        code = re.match(r" *([0-9a-f]+):\t[0-9a-f ]{4,} *\t(?!\.)", line)
        if head:
            name = head[1] if wanted.match(head[1]) else None
        elif code and name:
            found.setdefault(name, []).append(int(code[1], 16))
    return found


class Places:
    """Random instructions of functions; of those that are never reached no more."""

    def __init__(self, functions, seed):
        self.functions, self.random, self.hits = functions, random.Random(seed), {}

    def choose(self):
        if not self.functions:
            raise AssertionError("none of these functions is ever reached")
        name = self.random.choice(sorted(self.functions))
        code = self.functions[name]
        return name, self.random.sample(code, min(4, len(code)))

    def reached(self, name, hit):
        if hit:
            self.hits[name] = self.hits.get(name, 0) + 1
        elif name not in self.hits:
            del self.functions[name]
