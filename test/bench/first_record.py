#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""make bench-host: how long `kymo dtrace -c PROGRAM` takes until its first record is printed.

first_record.py [BOARD...]

Boots the image `live` and asks for the entries of a program's functions: milliseconds from the
command's start to its first line, at a target that nobody has asked before, and the median of five
later times. Milliseconds of this machine, most of them the emulated board's: a figure, never a
test.
"""
import os
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "test/board"))
import dlog  # noqa: E402
AGAIN = 5
TEXT = 'pid$target:::entry { printf("first\\n"); exit(0); }'


def took(board):
    words = [dlog.KYMO, "dtrace", "-t", board.spec, "-x", "switchrate=100hz", "-qn", TEXT, "-c",
             "hello"]
    begun = time.perf_counter()
    with subprocess.Popen(words, env=board.env, cwd=board.dir, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as job:
        line = job.stdout.readline()
        seconds = time.perf_counter() - begun
        _, said = job.communicate(timeout=60)
    if line != "first\n" or job.returncode != 0:
        sys.exit(f"first_record: {board.spec}: status {job.returncode}: {line}{said}")
    return seconds * 1000


def main():
    print(f"{'ms to the first record':24}{'first':>8}{'later':>8}")
    for name in sys.argv[1:] or ("virt-a64", "mps2-an386", "pc"):
        with dlog.Board(name, "live", "first-record") as board:
            first = took(board)
            later = statistics.median(took(board) for _ in range(AGAIN))
        print(f"{name:24}{first:8.0f}{later:8.0f}")


if __name__ == "__main__":
    main()
