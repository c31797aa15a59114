#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The conformance suite of D on a booted board, over the link.

board.py BOARD [--keep] [--every N] [--jobs N] [NAME...]

Boots the image `live` and has run.py put its rows to it: what they print must be what self prints.
A board's smaller defaults are set to those that the rows count on. The last line is run.py's.
--keep: if rows fail, QEMU is left running, to look into, and where its monitor is is said.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(ROOT, "test/tool"), os.path.join(ROOT, "test/board")]
import emulator  # noqa: E402
import patience  # noqa: E402
import temporary  # noqa: E402,F401
from guest import image_elf  # noqa: E402
# What the rows need.
BOARDS = {
    "virt-a64": ["--kind", "board", "--kind", "uchar"],
    "pc": ["--kind", "board"],
    "mps2-an386": ["--kind", "board", "--kind", "uchar", "--kind", "ilp32", "--set", "strsize=256",
                   "--set", "bufsize=64k", "--set", "dynvarsize=16k"],
}


class Booted:
    """A board with an image and its link: `with Booted(board, image) as spec`."""

    def __init__(self, board, image):
        self.board, self.image = board, image
        self.keep = False
        self.place = tempfile.mkdtemp(prefix="kymo-d-")
        # Sockets have short paths, wherever the tree is.
        os.chdir(self.place)
        self.folder = f"/proc/{os.getpid()}/cwd"
        self.spec = f"unix:{self.folder}/link"
        os.environ["XDG_RUNTIME_DIR"] = self.folder  # a link's broker of its own
        self.qemu = None

    def command(self):
        build = os.path.join(ROOT, "build", self.board)
        with open(build + "/qemu.args", encoding="utf-8") as args, \
                open(build + "/qemu.link", encoding="utf-8") as link:
            return [*args.read().split(), *emulator.cpu_arguments(),
                    "-chardev", f"socket,id=link,path={self.folder}/link,server=on,wait=off",
                    *link.read().split(), "-kernel", image_elf(build, self.image),
                    "-qmp", f"unix:{self.folder}/qmp,server=on,wait=off"]

    def __enter__(self):
        self.qemu = emulator.begin(self.command(), cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + patience.seconds(60)
        ask = [os.path.join(ROOT, "build", "kymo"), "link", "-t", self.spec]
        while subprocess.run(ask, capture_output=True, check=False).returncode:
            if time.monotonic() > until:
                self.__exit__()
                sys.exit("the board doesn't answer")
            time.sleep(0.1)
        return self.spec

    def __exit__(self, *_):
        if self.keep:
            print(f"QEMU {self.qemu.pid} is kept: {self.place}/qmp")
            return
        self.qemu.kill()
        self.qemu.wait()
        os.chdir(ROOT)
        shutil.rmtree(self.place, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description="The conformance suite of D on a board.")
    parser.add_argument("board", choices=sorted(BOARDS))
    parser.add_argument("--keep", action="store_true", help="leave QEMU there if rows fail")
    options, rest = parser.parse_known_args()
    board = Booted(options.board, "live")
    with board as spec:
        status = subprocess.run([os.path.join(HERE, "run.py"), "--target", spec,
                                 *BOARDS[options.board], *rest], check=False).returncode
        board.keep = options.keep and status != 0
    return status


if __name__ == "__main__":
    sys.exit(main())
