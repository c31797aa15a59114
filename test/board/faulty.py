# SPDX-License-Identifier: BSD-2-Clause
"""A line between a host and a board that does what lines do.

A unix socket to connect to, and after it the emulator's: another, or a TCP address. Bytes are
dropped, flipped, doubled, inserted, held back, at random from a seed; or paced like a UART; or the
host stops reading; or the plug is pulled.
"""
import os
import random
import select
import socket
import threading
import time


class Line:
    def __init__(self, path, target, seed=0, chance=0.0, pace=0):
        """chance: of a fault, for each byte; pace: bytes a second each way, 0: any."""
        self.path, self.target, self.pace = path, target, pace
        self.random, self.chance = random.Random(seed), chance
        self.faults, self.bytes = 0, {"up": 0, "down": 0}
        self.stop = self.cut = self.held = False
        if os.path.exists(path):
            os.unlink(path)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(1)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def close(self):
        self.stop = True
        self.thread.join(10)
        self.listener.close()

    def pull(self):
        """The plug: both ends see their connection end. It can be plugged in again."""
        self.cut = True

    def hold(self):
        """Nothing of what the board says is read any more."""
        self.held = True

    def to_board(self):
        if isinstance(self.target, str):
            board = socket.socket(socket.AF_UNIX)
        else:
            board = socket.socket()
            board.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        return board

    def serve(self):
        while not self.stop:
            if select.select([self.listener], [], [], 0.05)[0]:
                host, _ = self.listener.accept()
                board = self.to_board()
                try:
                    board.connect(self.target)
                    self.cut = False
                    self.carry(host, board)
                except OSError:
                    pass
                host.close()
                board.close()

    def carry(self, host, board):
        host.setblocking(False)
        board.setblocking(False)
        ways = [("down", host, board), ("up", board, host)]
        waiting = {"down": b"", "up": b""}
        due = {"down": time.monotonic(), "up": time.monotonic()}
        while not (self.stop or self.cut):
            now = time.monotonic()
            sources = [f for name, f, _ in ways if not waiting[name] and due[name] <= now
                       and not (self.held and name == "up")]
            sinks = [t for name, _, t in ways if waiting[name]]
            readable, writable, _ = select.select(sources, sinks, [], 0.002 if self.pace else 0.02)
            for name, source, sink in ways:
                if source in readable:
                    data = source.recv(min(65536, max(1, self.pace // 200)) if self.pace else 65536)
                    if not data:
                        return
                    self.bytes[name] += len(data)
                    waiting[name] = self.spoil(data)
                    if self.pace:
                        due[name] = max(due[name], now - 0.05) + len(data) / self.pace
                if waiting[name] and (sink in writable or source in readable):
                    try:
                        sent = sink.send(waiting[name])
                        waiting[name] = waiting[name][sent:]
                    except BlockingIOError:
                        pass

    def spoil(self, data):
        if not self.chance:
            return data
        out, at = bytearray(), 0
        while at < len(data):
            # To the next byte that something happens to.
            step = int(self.random.expovariate(self.chance)) if self.chance else len(data)
            out += data[at:at + step]
            at += step
            if at < len(data):
                at += self.fault(data, at, out)
        return bytes(out)

    def fault(self, data, at, out):
        """Does one to byte `at`; how many bytes of the data it has taken."""
        self.faults += 1
        kind, n = self.random.randrange(5), 1 + self.random.randrange(40)
        if kind == 0:
            return n
        if kind == 1:
            out.append(data[at] ^ (1 + self.random.randrange(255)))
            return 1
        if kind == 2:
            out += data[at:at + n] * 2
            return n
        if kind == 3:
            out += self.random.randbytes(n)
            return 0
        time.sleep(self.random.random() / 20)
        return 0
