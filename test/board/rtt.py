# SPDX-License-Identifier: BSD-2-Clause
"""A debug probe's RTT server, as openocd and J-Link have one: finds the control block in an
emulated board's RAM, and carries bytes between its channel 0 and whoever is connected to a socket.
It reads and writes memory through gdb's stub in the emulator, which stops the CPU for it.
"""
import os
import select
import socket
import struct
import threading
import time

ID = b"SEGGER RTT".ljust(16, b"\0")
RING = struct.Struct("<6I")  # name, bytes, size, written, read, flags
RINGS = 24  # offset of the first one in the block
CHUNK = 2000  # bytes of memory in a packet of gdb's


class Stub:
    """gdb's remote protocol: what stops the CPU, reads and writes memory, and lets it go on."""

    def __init__(self, sock):
        self.sock = sock
        self.kept = b""
        self.running = False  # the emulator stops when somebody connects

    def until(self, mark, more=0):
        """What comes up to this byte, and so many bytes after it."""
        while (at := self.kept.find(mark)) < 0 or len(self.kept) < at + 1 + more:
            data = self.sock.recv(65536)
            if not data:
                raise EOFError
            self.kept += data
        one, self.kept = self.kept[:at], self.kept[at + 1 + more:]
        return one

    def packet(self):
        """The next one, acknowledged. Two digits of a checksum follow it."""
        self.until(b"$")
        body = self.until(b"#", 2)
        self.sock.sendall(b"+")
        return body

    def say(self, text):
        self.sock.sendall(b"$%s#%02x" % (text, sum(text) & 0xff))

    def ask(self, text):
        self.say(text)
        while (answer := self.packet())[:1] in b"TS":
            pass  # the emulator says that it has stopped for who has connected
        if answer[:1] == b"E":
            raise ValueError(f"{text[:40]!r}: {answer!r}")
        return answer

    def stop(self):
        if self.running:
            self.sock.sendall(b"\x03")
            self.packet()
            self.running = False

    def go(self):
        self.say(b"c")
        self.running = True

    def read(self, at, count):
        out = b""
        while len(out) < count:
            n = min(CHUNK, count - len(out))
            out += bytes.fromhex(self.ask(b"m%x,%x" % (at + len(out), n)).decode())
        return out

    def write(self, at, data):
        for i in range(0, len(data), CHUNK):
            part = data[i:i + CHUNK]
            self.ask(b"M%x,%x:%s" % (at + i, len(part), part.hex().encode()))


def find(stub, ram):
    """The addresses at which a control block begins, in RAM: (first address, bytes)."""
    found = []
    for at, count in ram:
        memory, i = stub.read(at, count), -1
        while (i := memory.find(ID, i + 1)) >= 0:
            found.append(at + i)
    return found


class Probe:
    """sock: connected to gdb's stub. The server listens at `path`, for one at a time."""

    def __init__(self, sock, path, ram):
        self.stub = Stub(sock)
        # As a probe sees it: the MPU doesn't stand between.
        if self.stub.ask(b"Qqemu.PhyMemMode:1") != b"OK":
            raise AssertionError("the emulator knows no physical addresses")
        found = find(self.stub, ram)
        if len(found) != 1:
            raise AssertionError(f"RTT control blocks at {[hex(at) for at in found]}")
        self.block = found[0]
        ups, downs = struct.unpack("<2i", self.stub.read(self.block + 16, 8))
        if (ups, downs) != (1, 1):
            raise AssertionError(f"{ups} channels up, {downs} down")
        self.stub.go()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(1)
        self.over = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        client, down = None, b""
        try:
            while not self.over:
                ears = [self.listener] if client is None else [client] if len(down) < 4096 else []
                for one in select.select(ears, [], [], 0.002)[0]:
                    if one is self.listener:
                        client, _ = self.listener.accept()
                        down = b""
                    else:
                        try:
                            data = client.recv(4096)
                        except OSError:
                            data = b""
                        down += data
                        if not data:
                            client.close()
                            client = None
                down = self.carry(client, down)
        except (EOFError, OSError, ValueError):
            pass  # the emulator has ended
        if client:
            client.close()

    def carry(self, client, down):
        """Once either way. Returns what of `down` had no room."""
        stub = self.stub
        stub.stop()
        head = stub.read(self.block + RINGS, 2 * RING.size)
        _, at, size, written, read, _ = RING.unpack_from(head, 0)
        data = stub.read(at + read, (written if written >= read else size) - read)
        if written < read:
            data += stub.read(at, written)
        if client and data:
            client.setblocking(False)
            try:
                data = data[:client.send(data)]
            except BlockingIOError:
                data = b""
            except OSError:
                pass  # it has gone: what came for it is of no use
            client.setblocking(True)
        if data:  # without a client it is lost, as a line's would be
            stub.write(self.block + RINGS + 16, struct.pack("<I", (read + len(data)) % size))
        _, at, size, written, read, _ = RING.unpack_from(head, RING.size)
        n = min(len(down), (read - written - 1) % size)
        first = min(n, size - written)
        stub.write(at + written, down[:first])
        stub.write(at, down[first:n])
        if n:
            stub.write(self.block + RINGS + RING.size + 12,
                       struct.pack("<I", (written + n) % size))
        stub.go()
        return down[n:]

    def close(self):
        self.over = True
        self.thread.join()
        self.listener.close()
