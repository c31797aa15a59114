#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The conformance suite of D on a booted board, over the link.

board.py BOARD [--every N] [--jobs N] [NAME...]

Boots the image `live` and has run.py put its rows to it: what they print must be what self prints.
A board's smaller defaults are set to those that the rows count on. The last line is run.py's.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "test"))
import temporary  # noqa: E402,F401
# What the rows need.
BOARDS = {
    "virt-a64": [],
    "mps2-an386": ["--bits", "32", "--set", "strsize=256", "--set", "bufsize=64k",
                   "--set", "dynvarsize=16k"],
}


def boot(board, folder):
    build = os.path.join(ROOT, "build", board)
    with open(build + "/qemu.args", encoding="utf-8") as args, \
            open(build + "/qemu.link", encoding="utf-8") as link:
        command = args.read().split()
        command += ["-chardev", f"socket,id=link,path={folder}/link,server=on,wait=off"]
        command += link.read().split() + ["-kernel", build + "/live.elf"]
    qemu = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    ask = [os.path.join(ROOT, "build", "kymo"), "link", "-t", f"unix:{folder}/link"]
    while subprocess.run(ask, capture_output=True, check=False).returncode:
        if time.monotonic() > until:
            sys.exit("the board doesn't answer")
        time.sleep(0.1)
    return qemu


def main():
    parser = argparse.ArgumentParser(description="The conformance suite of D on a board.")
    parser.add_argument("board", choices=sorted(BOARDS))
    options, rest = parser.parse_known_args()
    with tempfile.TemporaryDirectory(prefix="kymo-d-") as place:
        # Sockets have short paths, wherever the tree is.
        os.chdir(place)
        folder = f"/proc/{os.getpid()}/cwd"
        os.environ["XDG_RUNTIME_DIR"] = folder  # a link's broker of its own
        qemu = boot(options.board, folder)
        try:
            return subprocess.run([os.path.join(HERE, "run.py"), "--target", f"unix:{folder}/link",
                                   *BOARDS[options.board], *rest], check=False).returncode
        finally:
            qemu.kill()
            qemu.wait()


if __name__ == "__main__":
    sys.exit(main())
