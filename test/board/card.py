#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The image of a board's card: the kernel on it boots, captures go to its trace partition and to
nothing else there. card.py BOARD [TEST...]

For boards with a program mkimage (docs/guide/port.md). The last line is `N passed, N failed`.
"""
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from guest import ROOT, Guest, expect, image_elf, run_tests  # noqa: E402

KYMO = os.environ.get("KYMO", os.path.join(ROOT, "build/kymo"))
SECTOR = 512
os.environ["PATH"] += ":/usr/sbin:/sbin"


def done(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Card:
    """A new card, and what sfdisk says of its partitions: (first byte, bytes, type)."""

    def __init__(self, board, name):
        self.board, self.dir = board, os.path.join(ROOT, "build/check/card", board)
        os.makedirs(self.dir, exist_ok=True)
        self.path = os.path.join(self.dir, name + ".img")
        elf = image_elf(os.path.join(ROOT, "build", board), "shell")
        done(os.path.join(ROOT, "boards", board, "mkimage"), elf, self.path)
        self.parts = [(int(a) * SECTOR, int(n) * SECTOR, kind) for a, n, kind in
                      re.findall(r"start= *(\d+), size= *(\d+), type=(\w+)",
                                 done("sfdisk", "-d", self.path))]

    def bytes(self, start, count):
        with open(self.path, "rb") as f:
            f.seek(start)
            return f.read(count)

    def boot(self):
        """By the kernel on the card."""
        kernel = os.path.join(self.dir, "kernel8.img")
        done("mcopy", "-n", "-o", "-i", f"{self.path}@@{self.parts[0][0]}", "::kernel8.img", kernel)
        return Guest(self.board, "shell",
                     ["-drive", f"if=sd,format=raw,file={self.path}"], self.dir, "console.txt",
                     kernel=kernel)

    def trace_partition(self):
        start, count, _ = self.parts[1]
        path = os.path.join(self.dir, "trace.part")
        with open(path, "wb") as f:
            f.write(self.bytes(start, count))
        return path


def typed(guest, line, answer):
    before = len(guest.printed())
    guest.type(line + "\r")
    guest.wait_for(lambda: re.search(answer, guest.printed()[before:]), f"{line}: {answer}")


def captures_are_in_the_trace_partition(board):
    card = Card(board, "card")
    expect([kind for _, _, kind in card.parts] == ["e", "da"], str(card.parts))
    others = card.parts[1][0]  # all before it
    before = card.bytes(0, others)
    guest = card.boot()
    try:
        typed(guest, "diskd &", r"\[\d+\]")
        typed(guest, "tracelogger --format --force -s 1 -f block:first.kev", r"in block:first\.kev")
        typed(guest, "tracelogger -w -s 1 -f block:second.kev", r"in block:second\.kev")
        typed(guest, "tracelogger -v -f block:cut.kev &", r"recording to block:cut\.kev")
        typed(guest, "evstorm 4 3000", r"total 12000 of")
    finally:
        guest.close()  # as the power goes
    expect(card.bytes(0, others) == before, "something else of the card has changed")
    part = card.trace_partition()
    listed = done(KYMO, "extract", "--list", part)
    expect(re.findall(r"(whole|cut) +\S*?(\w+)\.kev", listed)[:2] ==
           [("whole", "first"), ("whole", "second")], listed)
    for number in "1", "2":
        capture = os.path.join(card.dir, number + ".kev")
        done(KYMO, "extract", "--force", "-n", number, "-o", capture, part)
        expect("THREAD" in done(KYMO, "print", "-n", capture), "a capture without threads")


def a_card_that_is_anothers_is_left_alone(board):
    card = Card(board, "others")
    done("sfdisk", "-q", "--part-type", card.path, "2", "83")
    before = card.bytes(0, os.path.getsize(card.path))
    guest = card.boot()
    try:
        typed(guest, "diskd", r"diskd: SD card: it has partitions, but none of type da")
        typed(guest, "tracelogger --format -f block:x.kev", "diskd is not running")
    finally:
        guest.close()
    expect(card.bytes(0, os.path.getsize(card.path)) == before, "the card has changed")


def no_card(board):
    folder = os.path.join(ROOT, "build/check/card", board)
    guest = Guest(board, "shell", [], folder, "none.txt")
    try:
        typed(guest, "diskd", r"diskd: SD card: no such device")
    finally:
        guest.close()


def firmware_that_is_missing_is_named(board):
    elf = image_elf(os.path.join(ROOT, "build", board), "shell")
    folder = os.path.join(ROOT, "build/check/card", board)
    made = subprocess.run([os.path.join(ROOT, "boards", board, "mkimage"), elf,
                           os.path.join(folder, "none.img")], capture_output=True, text=True,
                          env=dict(os.environ, PI_FIRMWARE=folder))
    expect(made.returncode == 1 and "no bootcode.bin in PI_FIRMWARE=" in made.stderr, made.stderr)
    left = [name for name in os.listdir(folder) if name.startswith("none.img")]
    expect(not left, f"it leaves {left}")


TESTS = (captures_are_in_the_trace_partition, a_card_that_is_anothers_is_left_alone, no_card,
         firmware_that_is_missing_is_named)

if __name__ == "__main__":
    sys.exit(run_tests(TESTS, sys.argv[2:], lambda test: test(sys.argv[1])))
