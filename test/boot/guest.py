# SPDX-License-Identifier: BSD-2-Clause
"""A booted board that is typed at."""
import os
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Guest:
    def __init__(self, board, image, extra, folder, console="console.txt", inherited=()):
        self.board, self.dir = board, folder
        build = os.path.join(ROOT, "build", board)
        with open(f"{build}/qemu.args") as args:
            command = args.read().split() + list(extra) + ["-kernel", f"{build}/{image}.elf"]
        os.makedirs(folder, exist_ok=True)
        self.console = open(os.path.join(folder, console), "wb")
        self.qemu = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE,
                                     stdout=self.console, stderr=subprocess.STDOUT,
                                     pass_fds=inherited)
        self.wait_for(lambda: "`help` lists" in self.printed(), "the board boots")

    def wait_for(self, condition, what, seconds=60):
        until = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > until:
                raise AssertionError(f"never: {what}")
            time.sleep(0.05)

    def printed(self):
        with open(self.console.name, errors="replace", newline="") as f:
            return f.read().replace("\r\n", "\n")

    def type(self, text):
        self.qemu.stdin.write(text.encode())
        self.qemu.stdin.flush()

    def close(self):
        self.qemu.kill()
        self.qemu.wait()
        self.qemu.stdin.close()
        self.console.close()


def expect(condition, what):
    if not condition:
        raise AssertionError(what)
