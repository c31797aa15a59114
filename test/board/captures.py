# SPDX-License-Identifier: BSD-2-Clause
"""Where the captures of a board go that a test boots: by semihosting into the emulator's folder; of
a board without it, to a disk, from which `kymo extract` takes them. A program on the board names
what named() returns, and diskd has to run there."""
import os
import re
import subprocess

import disk
from guest import ROOT, expect

WITHOUT_SEMIHOSTING = ("pc",)
MKDISK = os.path.join(ROOT, "build/tools/mkdisk")
FRAMES = 8000  # of 16 KB

# Of test/board/run.py's suites of such boards.
IMAGE = "captures.img"
DISK = ["-device", "virtio-blk-pci,drive=disk,disable-legacy=on",
        "-drive", f"if=none,id=disk,format=raw,file={IMAGE}"]


class Captures:
    def __init__(self, board, folder, on_disk=False):
        self.dir, self.build = folder, os.path.join(ROOT, "build", board)
        self.image = None  # of the disk
        if on_disk or board in WITHOUT_SEMIHOSTING:
            self.image = os.path.join(folder, IMAGE)
            make(self.image)

    def arguments(self):
        """The emulator's."""
        if not self.image:
            return []
        with open(os.path.join(self.build, "qemu.disk"), encoding="utf-8") as f:
            return [*f.read().split(), "-drive", f"if=none,id=disk,format=raw,file={self.image}"]

    def named(self, name):
        """What tracelogger's -f takes for it."""
        return f"block:{name}" if self.image else name

    def take(self, name):
        """Where the capture is. Of a disk: the newest one of this name, which is whole."""
        path = os.path.join(self.dir, name)
        if self.image:
            numbers = [n for n, one in enumerate(disk.listed(self.image), 1)
                       if one[3:] == ("whole", name)]
            expect(numbers, f"no whole {name} on the disk")
            done = disk.extract(self.image, numbers[-1], path)
            expect(done.returncode == 0, done.stderr)
        return path


def make(image):
    """An empty log."""
    if os.path.exists(image):
        os.unlink(image)
    subprocess.run([MKDISK, image, str(FRAMES)], check=True)


def prepare(boot):
    make(os.path.join(boot.dir, IMAGE))


def they_are_on_the_disk(boot):
    """Takes all into the boot's folder, where other boards' are; the newest of each name. What the
    loggers printed of them is then as there, too."""
    return _taken(boot, ("whole",))


def they_are_there_or_cut(boot):
    """The same where loggers are killed, one of them before it has written anything."""
    return _taken(boot, ("whole", "cut", "empty"))


def _taken(boot, good):
    image = os.path.join(boot.dir, IMAGE)
    found = disk.listed(image)
    for number, (_, _, _, how, name) in enumerate(found, 1):
        done = disk.extract(image, number, os.path.join(boot.dir, name))
        if how not in good or (done.returncode != 0) != (how == "empty"):
            return f"{name} is {how}: {done.stderr}"
    os.unlink(image)
    boot.console = re.sub(r"\bblock:(?=[\w-]+\.kev\b)", "", boot.console)
    return None if found else "nothing is on the disk"
