#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The flight recorder in 128 KB of RAM: flight.py [ROUNDS]

Boots image `recorder` of stm32f4 again and again, and resets it at any time while its ring of 16 KB
is written. What the memory had when it stopped is what `kymo extract --core` finds in its image,
and what the next boot's tracelogger --recover sends to the host: each slot, without a gap or loss.
"""
import os
import random
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path[1:1] = [os.path.join(ROOT, "test/board"), os.path.join(ROOT, "test/tool")]
import kev  # noqa: E402
from dies import check_slots  # noqa: E402
from machine import WINDOWS, Host, Machine  # noqa: E402
from window import Window  # noqa: E402

BOARD = "stm32f4"
KYMO = os.path.join(ROOT, "build/kymo")
BUFFERS = 8
SAVED = (r"boot \d+ ended with: a reset without a panic; (\d+) buffers with (\d+) slots in "
         r"link:crash.kev\n")


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def begin(folder):
    with open(os.path.join(ROOT, "build", BOARD, "qemu.link"), encoding="utf-8") as f:
        link = f.read().split()
    return Machine(BOARD, "recorder", folder,
                   ["-chardev", "socket,id=link,path=link,server=on,wait=off", *link], multi=True)


def read_window(machine):
    with open(machine.save(*WINDOWS[BOARD], "window"), "rb") as f:
        return Window(f.read())


def sequences(window):
    places = (window.words + i * window.word_step for i in range(BUFFERS))
    words = [int.from_bytes(window.data[at:at + 4], "little") for at in places]
    return sorted(word >> 2 for word in words if word & 3)


def stop_at_random(machine, rng):
    """Once the ring has wrapped: the oldest of its buffers is not the first one that there was."""
    until = time.monotonic() + machine.deadline
    while True:
        window = read_window(machine)
        if window.per_cpu == BUFFERS and min(sequences(window), default=0) > BUFFERS:
            break
        expect(time.monotonic() < until, "the ring never wraps")
        time.sleep(0.1)
    time.sleep(rng.random() / 5)
    machine.ask("stop")
    window = read_window(machine)
    found = sequences(window)
    expect(window.buffer_bytes == 2048 and window.ncpu == 1, "another ring")
    expect(found == list(range(found[0], found[0] + len(found))), f"buffers {found}")
    return window


def kymo(machine, *arguments):
    done = subprocess.run([KYMO, *arguments], cwd=machine.dir, capture_output=True, text=True,
                          errors="replace")
    expect(done.returncode == 0, f"kymo {arguments[0]}: {done.returncode}: {done.stderr[:300]}")
    return done.stdout


def check(machine, crash):
    """The window's slots are in both captures, and both have the same slots."""
    core = os.path.join(machine.dir, "core.kev")
    done = subprocess.run([KYMO, "extract", "--core", "window", "-o", "core.kev"], cwd=machine.dir,
                          capture_output=True, text=True, errors="replace")
    expect(done.returncode == 1 and "too small for a copy of the system page" in done.stderr,
           f"without the system page: {done.returncode}: {done.stderr}")
    kymo(machine, "extract", "--force", "--core", "window", "--page", crash, "-o", "core.kev")
    slots = check_slots(crash, os.path.join(machine.dir, "window"))
    expect(list(kev.raw_slots(core)) == list(kev.raw_slots(crash)),
           "kymo extract finds other slots")
    stat, lines = kymo(machine, "stat", crash), kymo(machine, "print", crash)
    expect("no event was lost" in stat, f"a loss: {stat[-300:]}")
    for what in ("SND_MESSAGE", "REC_MESSAGE", "REPLY_MESSAGE", "THCONDVAR", "name:sensor",
                 "name:filter", "name:sink"):
        expect(what in lines, f"no {what}")
    return slots


def round_of(machine, host, rng, begun):
    """A boot whose recording outlives it; returns its slots, and the next boot's host."""
    stop_at_random(machine, rng)
    host.end()
    machine.reset()
    host = Host(machine.qemu, machine.dir)
    said = machine.wait_for(SAVED, begun)
    crash = os.path.join(host.captures, "crash.kev")
    until = time.monotonic() + machine.deadline
    while not os.path.exists(crash):
        expect(time.monotonic() < until, "the host has no capture")
        time.sleep(0.05)
    slots = check(machine, crash)
    expect(int(said[1]) == BUFFERS, f"{said[1]} buffers are saved")
    os.unlink(os.path.join(machine.dir, "core.kev"))
    return slots, host


def main(rounds="3"):
    seed = int(os.environ.get("KYMO_SEED") or random.randrange(1 << 32))
    rng, passed = random.Random(seed), 0
    machine = begin(os.path.join(ROOT, "build/check/boot/flight-stm32f4"))
    host = Host(machine.qemu, machine.dir)
    try:
        begun = machine.wait_for("no earlier boot has left a recording").end()
        for _ in range(int(rounds)):
            slots, host = round_of(machine, host, rng, begun)
            begun = len(machine.printed())
            passed += 1
            print(f"boot {passed}: {slots} slots, without a gap", flush=True)
    except AssertionError as e:
        print(f"FAIL boot {passed + 1}, seed {seed}: {e}; console: {machine.console.name}")
    finally:
        host.end()
        machine.close()
    print(f"{passed} passed, {int(passed < int(rounds))} failed")
    return passed != int(rounds)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
