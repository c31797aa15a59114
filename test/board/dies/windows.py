# SPDX-License-Identifier: BSD-2-Clause
"""Boots of a kernel that finds something in its retained memory: what a crash left, and what no
kernel ever wrote, random or with right CRCs. Whatever it is: the kernel boots, tracelogger
--recover ends, --discard gives it up, and then there is place for a new recording. For dies.py,
with a dump of a machine that has died."""
import os
import random
import re
import struct
import subprocess

import captures
from damage import crc32c, with_header
from guest import emulator, image_elf, patience
from machine import ROOT, WINDOWS

KYMO = os.path.join(ROOT, "build/kymo")
MAGIC = 0x5254594b
PANIC, PANIC_BYTES, BOOTS, FROZEN, LIVE = 0x1000, 1024, 0x1800, 0x2000, 0x8000
FROZEN_BYTES = 172  # of the header: areas.frozen.bytes
REASON = 40  # of struct kymo_panic
NOTHING = "tracelogger: no earlier boot has left a recording\n"


def put(data, at, piece):
    return data[:at] + piece + data[at + len(piece):]


def as_it_was(_rng, data):
    return data


def noise(rng, data):
    return rng.randbytes(len(data))


def noise_behind_the_header(rng, data):
    return data[:0x1000] + rng.randbytes(len(data) - 0x1000)


def hostile_header(rng, data):
    """Any of its fields are wrong, and its CRC is right."""
    def change(header):
        for _ in range(rng.randrange(1, 6)):
            value = rng.choice((0, 1, 0xffffffff, 0x80000000, rng.randrange(1 << 32)))
            struct.pack_into("<I", header, rng.randrange(6, len(header) // 4) * 4, value)
    return with_header(data, change, True)


def hostile_panic(rng, data):
    record = bytearray(rng.randbytes(PANIC_BYTES - 8))
    record[REASON:REASON + 192] = rng.randbytes(192).replace(b"\0", b"%")  # no end
    record = bytes(record)
    return put(data, PANIC, struct.pack("<II", MAGIC, crc32c(record)) + record)


def hostile_counts(rng, data):
    """The last boot there can be; cursors and losses that are none."""
    boots = struct.pack("<I", 0xffffffff)
    frozen = rng.randbytes(struct.unpack_from("<I", data, FROZEN_BYTES)[0] - 16)
    owner, = struct.unpack_from("<I", data, 16)
    data = put(data, BOOTS, struct.pack("<I", MAGIC) + boots + struct.pack("<I", crc32c(boots)))
    return put(data, FROZEN, struct.pack("<4I", MAGIC, owner, crc32c(frozen), 0) + frozen)


WINDOWS_OF = [as_it_was, noise, noise_behind_the_header, hostile_header, hostile_header,
              hostile_header, hostile_panic, hostile_counts]


def boot(board, folder, data):
    """What it prints."""
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    with open(os.path.join(folder, "window"), "wb") as f:
        f.write(data)
    build = os.path.join(ROOT, "build", board)
    with open(os.path.join(build, "qemu.args"), encoding="utf-8") as f:
        command = f.read().splitlines()
    taken = captures.Captures(board, folder)
    command += ["-icount", f"shift=2,sleep={'on' if taken.image else 'off'}", *taken.arguments(),
                "-device", f"loader,file=window,addr={WINDOWS[board][0]:#x},force-raw=on",
                "-kernel", image_elf(build, "discard")]
    qemu = emulator.begin(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        out, _ = qemu.communicate(timeout=patience.seconds(120))
    finally:
        qemu.kill()
        qemu.wait()
    text = out.decode(errors="replace").replace("\r\n", "\n")
    if qemu.returncode != 0:
        raise AssertionError(f"status {qemu.returncode}: {text[-500:]}")
    taken.take("late.kev")
    return text


def judge(text, folder, wanted):
    found = re.search(r"^boot \d+: boot \d+ ended with: ", text, re.M)
    before, discards = text.split("hello from hello\n  argument 1: discards\n")
    discards, records = discards.split("hello from hello\n  argument 1: records\n")
    if found and "save it with --recover, or free it with --discard\n" not in before:
        raise AssertionError(f"it was no obstacle: {before}")
    if wanted and (not found or wanted not in before):
        raise AssertionError(f"it isn't found: {before}")
    if discards != NOTHING * (2 if found else 3):
        raise AssertionError(f"discarding says {discards}")
    if not re.search(r"^tracelogger: [1-9]\d* events, 0 lost", records, re.M) or \
            "argument 1: end\n" not in records:
        raise AssertionError(f"recording says {records}")
    done = subprocess.run([KYMO, "print", os.path.join(folder, "late.kev")], capture_output=True)
    if done.returncode != 0:
        raise AssertionError(f"kymo print: {done.returncode}: {done.stderr[:300]}")


def run(board, folder, dump, seed, report):
    rng = random.Random(seed)
    with open(dump, "rb") as f:
        data = f.read()
    for make in WINDOWS_OF:
        name = make.__name__.replace("_", " ")
        wanted = "panic() of a D program" if make is as_it_was else None
        try:
            judge(boot(board, folder, make(rng, data)), folder, wanted)
            report(f"a window {name}", None)
        except (AssertionError, OSError, ValueError, subprocess.TimeoutExpired) as e:
            report(f"a window {name}", str(e))
