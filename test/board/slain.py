# SPDX-License-Identifier: BSD-2-Clause
"""What a tracelogger that was killed, or got another signal, leaves: test/board/programs/t_slain.c
ends it and says so."""
import os
import re
import subprocess
import threading

import kev

KYMO = os.path.join(kev.ROOT, "build/kymo")
DRIVE = ["-drive", "if=none,id=disk,format=raw,file=slain.img"]
DISK = ["-device", "virtio-blk-device,drive=disk", *DRIVE]
DISK_PCI = ["-device", "virtio-blk-pci,drive=disk,disable-legacy=on", *DRIVE]
# What kymo extract adds to a name: board, date, log, record.
IDENTITY = re.compile(r"(-(mps2-an386|virt-a64|raspi3|pc))?(-\d{8}T\d{6}Z)?-[0-9a-f]{8}-\d+\.kev$")
SIGNALLED = re.compile(r"^SIGNALLED (\S+\.kev) status=(\d+)$", re.M)
LINE = re.compile(r"^SLAIN (\S+)\.kev given=(\d+) left=(\d+)$", re.M)


def prepare(boot):
    if boot.suite.qemu in (DISK, DISK_PCI):
        with open(os.path.join(boot.dir, "slain.img"), "wb") as f:
            f.truncate(100 * 33 * 512)  # 99 frames


def buffers(path):
    """How many there are, one after the other without a gap, each whole but perhaps the last; or
    what is wrong."""
    with open(path, "rb") as f:
        if os.path.getsize(path) == 0:
            return 0
        try:
            f.seek(kev.slots_offset(f))
        except ValueError:  # killed in the header
            return 0
        data = f.read()
    at, found, sequences = 0, 0, {}
    words = memoryview(data[:len(data) // 16 * 16]).cast("I")
    while at + 4 <= len(words):
        header, d1, d2 = words[at], words[at + 2], words[at + 3]
        if kev.is_framing(header):
            at += 4
            continue
        if header >> 10 & 0x1f != 1 or header & 0x3ff != 2:
            return found if header & 0x3ff == 8 else f"no buffer at slot {at // 4}"
        if at + 4 * d2 > len(words):
            return found
        cpu = header >> 24 & 0x3f
        if sequences.get(cpu, d1 - 1) != d1 - 1:
            return f"CPU {cpu}: buffer {d1} after {sequences[cpu]}"
        sequences[cpu] = d1
        at, found = at + 4 * d2, found + 1
    return found


def judge(boot, path_of, least=30):
    """Of those captures that are still there."""
    slain = LINE.findall(boot.console)
    if len(slain) < least:
        return f"only {len(slain)} were killed"
    wrong, most = [], 0
    for name, given, _ in slain:
        path = path_of(name)
        if path is None:
            continue
        there = buffers(path) if os.path.exists(path) else 0
        if not isinstance(there, int) or there < int(given):
            wrong.append(f"{name}: {given} given back, {there} there")
        most = max(most, int(given))
    if most < 4:
        wrong.append(f"at most {most} buffers were given back")
    return "; ".join(wrong[:5]) or None


def what_was_given_back_is_in_the_capture(boot):
    return judge(boot, lambda name: os.path.join(boot.dir, name + ".kev"))


def what_was_given_back_is_on_the_disk(boot):
    image = os.path.join(boot.dir, "slain.img")
    done = subprocess.run([KYMO, "extract", "-d", boot.dir, image], capture_output=True, text=True)
    os.unlink(image)
    if done.returncode != 0 or "INCOMPLETE" in done.stderr:
        return done.stderr[-300:]
    paths = {IDENTITY.sub("", n): os.path.join(boot.dir, n)
             for n in os.listdir(boot.dir)}
    return judge(boot, lambda name: paths.get(name.removeprefix("block:")))


def a_signal_leaves_nothing_or_a_whole_capture(boot):
    """At whichever call of its start it came."""
    lives = SIGNALLED.findall(boot.console)
    wrong, none = [], 0
    for name, status in lives:
        path = os.path.join(boot.dir, name.removeprefix("link:"))
        if status != "0":
            none += 1
            if os.path.exists(path):
                wrong.append(f"{name}: status {status}, {os.path.getsize(path)} bytes")
            continue
        done = subprocess.run([KYMO, "stat", path], capture_output=True, text=True)
        if done.returncode != 0 or done.stderr:
            wrong.append(f"{name}: {done.stderr[-200:]}")
        elif os.path.exists(path):
            os.unlink(path)
    if not 3 < none < len(lives) / 2:
        wrong.append(f"{none} of {len(lives)} died of it")
    return "; ".join(wrong[:5]) or None


def a_signal_never_leaves_a_begun_capture_on_the_host(boot):
    """Nor does the logger say that it waits while a host is there."""
    with open(os.path.join(boot.dir, "host.txt"), errors="replace") as f:
        begun = re.findall(r"^kymo: (term\d+\.kev: INCOMPLETE.*)$", f.read(), re.M)
    waits = boot.console.partition("SIGNALLED")[2].count("waiting for a host")
    return "; ".join(begun) or (f"waits for a host {waits} times" if waits else None)


class Host:
    """The link's other end, as long as the boot runs: each `kymo capture` ends with the logger that
    was killed, so another one follows. A short path for the socket, wherever the tree is."""

    def __init__(self, boot):
        self.dir, self.over, self.captures, self.one = boot.dir, False, 0, None
        self.folder = os.open(boot.dir, os.O_PATH)
        short = f"/proc/{os.getpid()}/fd/{self.folder}"
        self.env = dict(os.environ, XDG_RUNTIME_DIR=short)
        self.command = [KYMO, "capture", "-n", "0", "-t", f"unix:{short}/link"]
        self.thread = threading.Thread(target=self.work)

    def work(self):
        with open(os.path.join(self.dir, "host.txt"), "wb") as said:
            while not self.over:
                self.one = subprocess.Popen(self.command, cwd=self.dir, env=self.env, stdout=said,
                                            stderr=said, stdin=subprocess.DEVNULL)
                self.one.wait()
                self.captures += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over = True
        while self.thread.is_alive():
            if self.one:
                self.one.terminate()
            self.thread.join(0.2)
        os.close(self.folder)


def what_was_given_back_is_on_the_host(boot):
    return judge(boot, lambda name: os.path.join(boot.dir, name.removeprefix("link:") + ".kev"), 15)
