# SPDX-License-Identifier: BSD-2-Clause
"""Images of memory as they come to a desk: cut short, damaged, of another format, hostile. Whatever
they are, kymo extract --core ends with 0 or 1, says what is wrong and what to do, and what it
writes kymo print accepts. Under ASan and UBSan. For dies.py, with a dump of a machine that has just
died."""
import os
import random
import re
import struct
import subprocess
import time
import zlib

import kev
from guest import patience
from machine import ROOT
from window import HEADER, RING

KYMO = os.path.join(ROOT, "build/kymo-asan")
CRC_FROM = 16  # of the header: from `boots` on
PAGE = 0x10000
KB = 1024


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


class Desk:
    """A folder with a dump, and what is done to it."""

    def __init__(self, folder, dump, physical):
        self.folder, self.physical = folder, physical
        with open(dump, "rb") as f:
            self.data = f.read()
        self.image = os.path.join(folder, "image")
        self.capture = os.path.join(folder, "image.kev")

    def extract(self, data, *options):
        """(status, standard error) of an image with these bytes; a capture is checked."""
        if data is not None:
            with open(self.image, "wb") as f:
                f.write(data)
        if os.path.exists(self.capture):
            os.unlink(self.capture)
        done = subprocess.run([KYMO, "extract", "--core", self.image, "-o", self.capture, *options],
                              capture_output=True, text=True, errors="replace",
                              timeout=patience.seconds(60))
        if done.returncode not in (0, 1) or "Sanitizer" in done.stderr or \
                "runtime error" in done.stderr:
            raise AssertionError(f"status {done.returncode}: {done.stderr[-600:]}")
        if done.returncode == 1 and not done.stderr.startswith("kymo: "):
            raise AssertionError(f"status 1, and says {done.stderr!r}")
        if os.path.exists(self.capture):
            self.check_capture("INCOMPLETE" in done.stderr)
        return done.returncode, done.stderr

    def check_capture(self, incomplete):
        """A buffer of which nobody knows what it had is missing in the capture, too."""
        done = subprocess.run([KYMO, "print", self.capture], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, errors="replace",
                              timeout=patience.seconds(60))
        misses = incomplete and re.fullmatch(r"kymo: .*buffers? .* missing, and no DROPPED .*\n",
                                             done.stderr)
        if (done.returncode != 0 or done.stderr) and not misses:
            raise AssertionError(f"kymo print of it: {done.returncode}: {done.stderr[-600:]}")

    def good(self, data, *options):
        status, said = self.extract(data, *options)
        if status != 0 or not os.path.exists(self.capture):
            raise AssertionError(f"status {status}: {said[:300]}")
        with open(self.capture, "rb") as f:
            text = kev.unchecked(f.read())
        # Before it there is the date, which the sums cover.
        return text[text.index(b"TRACE_HEADER_END::"):]

    def bad(self, data, words, *options):
        status, said = self.extract(data, *options)
        if status != 1 or words not in said or self.image not in said:
            raise AssertionError(f"status {status}, not {words!r}: {said[:300]}")
        return said


def elf(data, physical, wide):
    """A core with a segment without anything in front of the one with the data."""
    head = 64 if wide else 52
    entry = 56 if wide else 32
    start = head + 2 * entry
    ident = b"\x7fELF" + bytes([2 if wide else 1, 1, 1]) + bytes(9)
    layout = "<HHIQQQIHHHHHH" if wide else "<HHIIIIIHHHHHH"
    header = ident + struct.pack(layout, 4, 183 if wide else 40, 1, 0, head, 0, 0, head, entry, 2,
                                 0, 0, 0)
    size = len(data)
    if wide:
        note = struct.pack("<IIQQQQQQ", 4, 0, start, 0, 0, 0, 0, 0)
        load = struct.pack("<IIQQQQQQ", 1, 7, start, 0, physical, size, size, 0)
    else:
        note = struct.pack("<IIIIIIII", 4, start, 0, 0, 0, 0, 0, 0)
        load = struct.pack("<IIIIIIII", 1, start, 0, physical, size, size, 7, 0)
    return header + note + load + data


def with_header(data, change, seal):
    """The header changed, its CRC made right again."""
    size, = struct.unpack_from("<I", data, 8)
    header = bytearray(data[:size])
    change(header)
    if seal:
        struct.pack_into("<I", header, 12, crc32c(header[CRC_FROM:]))
    return bytes(header) + data[size:]


def formats(desk):
    whole = desk.good(desk.data)
    expect_same = {
        "behind other memory": (b"KYTR" * 1000 + b"x" + desk.data,),
        "an ELF core": (elf(desk.data, desk.physical, True),),
        "an ELF core of 32 bits": (elf(desk.data, desk.physical, False),),
        "with its address": (bytes(4096) + desk.data, "--base", hex(desk.physical - 4096)),
    }
    for name, (data, *options) in expect_same.items():
        if desk.good(data, *options) != whole:
            raise AssertionError(f"{name}: another capture")
    said = desk.bad(bytes(4096) + desk.data, "--base 0x", "--base", hex(desk.physical))
    if desk.good(None, *said.strip().split()[-2:]) != whole:
        raise AssertionError(f"what it advises does not help: {said}")
    return whole


def refused(desk):
    desk.bad(b"", "it is empty")
    desk.bad(bytes(100000), "no retained memory in its 100000 bytes")
    desk.bad(zlib.compress(desk.data, wbits=31), "gunzip it first")
    desk.bad(b":020000042020BA\r\n" * 10, "dump it as binary")
    desk.bad(b"S00600004844521B\r\n" * 10, "dump it as binary")
    desk.bad(b"KDUMP   " + desk.data, "dump-guest-memory")
    desk.bad(elf(desk.data, desk.physical, True)[:80], "without memory")
    desk.bad(elf(desk.data, desk.physical, True)[:40], "cut off or damaged")
    desk.bad(desk.data[:100], "damaged or cut off")
    desk.bad(with_header(desk.data, lambda h: struct.pack_into("<I", h, 4, 99), True),
             "layout version 99")
    desk.bad(with_header(desk.data, lambda h: struct.pack_into("<I", h, 16, 77), False),
             "at byte 0x0: retained memory, but its header is damaged")
    os.unlink(desk.image)
    desk.bad(None, "No such file")


def damaged_page(desk, whole):
    with open(desk.capture, "rb") as f:
        good = f.read()
    path = os.path.join(desk.folder, "good.kev")
    with open(path, "wb") as f:
        f.write(good)
    data = bytearray(desk.data)
    data[PAGE + 50] ^= 1
    desk.bad(bytes(data), "--page CAPTURE")
    if desk.good(bytes(data), "--page", path) != whole:
        raise AssertionError("with the page of another capture it is another one")
    with open(path, "wb") as f:
        f.write(good[:3000])
    status, said = desk.extract(bytes(data), "--page", path)
    if status != 1 or "not that of the kernel" not in said:
        raise AssertionError(f"another page: {status}, {said}")


def not_onto_itself(desk):
    """The image is no output, under any of its names; and one that becomes shorter is told."""
    hard, soft = desk.image + ".hard", desk.image + ".soft"
    desk.good(desk.data)
    for path in (hard, soft):
        if os.path.lexists(path):
            os.unlink(path)
    os.link(desk.image, hard)
    os.symlink(hard, soft)
    for name in (desk.image, hard, soft):
        done = subprocess.run([KYMO, "extract", "--core", desk.image, "--force", "-o", name],
                              capture_output=True, text=True, timeout=patience.seconds(60))
        if done.returncode != 1 or "while it is read" not in done.stderr:
            raise AssertionError(f"-o {name}: {done.returncode}: {done.stderr[-300:]}")
        with open(desk.image, "rb") as f:
            if f.read() != desk.data:
                raise AssertionError(f"-o {name} has changed the image")
    done = subprocess.run([KYMO, "extract", "--core", desk.image, "-o", desk.capture],
                          capture_output=True, text=True, timeout=patience.seconds(60))
    if done.returncode != 1 or "--force" not in done.stderr:
        raise AssertionError(f"a capture is replaced: {done.returncode}: {done.stderr[-300:]}")
    os.unlink(hard)
    os.unlink(soft)
    into_a_pipe(desk)
    shorter(desk)


def into_a_pipe(desk):
    fifo = desk.image + ".fifo"
    os.mkfifo(fifo)
    reader = subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE)
    done = subprocess.run([KYMO, "extract", "--core", desk.image, "-o", fifo],
                          capture_output=True, text=True, timeout=patience.seconds(60))
    size = len(reader.communicate(timeout=patience.seconds(60))[0])
    os.unlink(fifo)
    if done.returncode != 0 or not done.stdout.startswith(f"{fifo}: {size} bytes,"):
        raise AssertionError(f"{size} bytes into a pipe: {done.returncode}: {done.stdout[:300]}")


def shorter(desk):
    """Once it is mapped. What is written waits for a reader of the FIFO, if it comes to that."""
    fifo = desk.image + ".fifo"
    if os.path.exists(fifo):
        os.unlink(fifo)
    os.mkfifo(fifo)
    job = subprocess.Popen([KYMO, "extract", "--core", desk.image, "-o", fifo],
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while job.poll() is None:
        with open(f"/proc/{job.pid}/maps") as maps:
            if desk.image in maps.read():
                break
    os.truncate(desk.image, 0)
    # Without waiting for a writer: the job may have ended before it opens the FIFO.
    with open(os.open(fifo, os.O_RDONLY | os.O_NONBLOCK), "rb") as f:
        until = time.monotonic() + patience.seconds(60)
        while job.poll() is None and time.monotonic() < until:
            f.read()
            time.sleep(0.005)
    job.kill()
    said = job.communicate()[1]
    os.unlink(fifo)
    if job.returncode != 1 or "has become shorter" not in said:
        raise AssertionError(f"an image that becomes shorter: {job.returncode}: {said[-300:]}")


def cut(desk, step):
    for size in range(step, len(desk.data), step):
        desk.extract(desk.data[:size])


def corrupted(desk, rounds, seed):
    dice = random.Random(seed)
    for _ in range(rounds):
        data = bytearray(desk.data)
        for _ in range(dice.choice((1, 3, 30, 300))):
            at = dice.randrange(dice.choice((0x400, 0x2000, 0x10000, 0x40000, len(data))))
            data[at] = dice.choice((0, 255, dice.randrange(256)))
        desk.extract(bytes(data))


def hostile(desk, rounds, seed):
    """Fields that an attacker has chosen, under a CRC that is right."""
    dice = random.Random(seed)
    ring = struct.calcsize(HEADER)

    def change(header):
        for _ in range(dice.choice((1, 1, 2, 5))):
            at = dice.choice((20, 48, 52, *range(ring, ring + struct.calcsize(RING) + 64, 4)))
            value = dice.choice((0, 1, 7, 64, 0x7fffffff, 0xffffffff, 0xfffffff0,
                                 dice.randrange(1 << dice.randrange(1, 33))))
            struct.pack_into("<I", header, at, value)

    for _ in range(rounds):
        desk.extract(with_header(desk.data, change, True))


def run(folder, dump, physical, many, seed, report):
    """many: also what takes long. Each check is reported by report(name, error)."""
    desk = Desk(folder, dump, physical)
    whole = []
    checks = (("formats of images", lambda: whole.append(formats(desk))),
              ("a damaged system page", lambda: damaged_page(desk, whole[0])),
              ("not onto itself", lambda: not_onto_itself(desk)),
              ("what is refused", lambda: refused(desk)),
              ("images cut short", lambda: cut(desk, KB if many else 96 * KB)),
              ("random damage", lambda: corrupted(desk, 3000 if many else 24, seed)),
              ("hostile headers", lambda: hostile(desk, 3000 if many else 24, seed)))
    for name, check in checks:
        try:
            check()
            report(name, None)
        except (AssertionError, OSError, subprocess.TimeoutExpired, IndexError) as e:
            report(name, str(e))
