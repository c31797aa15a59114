#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""kymo cut of damaged captures: cut_damage.py KYMO MKCAPTURE FOLDER [ROUNDS]

Random captures, damaged at random: changed bits, words and bytes, cut off, parts missing, doubled
or moved; each kind of slot that holds the file together, each attribute, and the system page. With
and without --recover: cut neither crashes nor hangs (KYMO is the one with the sanitizers); print
and stat find nothing wrong with what it writes.
Prints the seed; SEED=n repeats."""
import os
import random
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from cuts import check_quiet  # cuts.py finds the others
from kev_file import Capture
from selections import Failed
import patience

WORDS = [0, 1, 0xffffffff, 0x80000000, 0x402, 0x401, 0x408, 0x404, 0x410, 0x411, 0x10010c0]


def damage_slots(rng, capture, data):
    """Words, bits, or stamps of a few slots."""
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        at = capture.slots + 16 * rng.randrange((len(data) - capture.slots) // 16)
        word = at + 4 * rng.randrange(4)
        kind = rng.randrange(4)
        if kind == 0:
            data[rng.randrange(at, at + 16)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            order = "big" if capture.order == ">" else "little"
            data[word:word + 4] = rng.choice(WORDS).to_bytes(4, order)
        elif kind == 2:  # like another slot
            other = capture.slots + 16 * rng.randrange((len(data) - capture.slots) // 16)
            data[word:word + 4] = data[other + word % 16:other + word % 16 + 4]
        else:
            data[at:at + 16] = rng.randbytes(16)
    return data


def damage_buffers(rng, capture, data):
    """A group of slots missing, doubled, elsewhere."""
    at, end, _, _ = rng.choice(capture.groups)
    to = rng.choice(capture.groups)[0]
    part = data[at:end]
    if rng.random() < 0.5:
        return data[:at] + data[end:]
    return data[:to] + part + data[to:] if rng.random() < 0.5 else data[:at] + part + data[at:]


def damage_head(rng, capture, data):
    at = rng.randrange(capture.slots)
    data[at] = rng.choice([data[at] ^ 1 << rng.randrange(8), 0, 0x30 + rng.randrange(10), 0x5f])
    return data


def damage_bytes(rng, capture, data):
    """Bytes missing or added: slots are not where they should be."""
    at = rng.randrange(len(data))
    n = rng.choice([1, 3, 16, 32, rng.randrange(5000)])
    if rng.random() < 0.5:
        return data[:at] + data[at + n:]
    return data[:at] + rng.randbytes(n) + data[at:]


def damage_end(rng, capture, data):
    return data[:rng.randrange(len(data))]


def damage_control(rng, capture, data):
    """A word of a slot of class CONTROL, each kind as often as the other: there are few of some."""
    controls = capture.controls()
    word = rng.choice(controls[rng.choice(sorted(controls))]) + 4 * rng.randrange(4)
    if word + 4 <= len(data):
        order = "big" if capture.order == ">" else "little"
        value = int.from_bytes(data[word:word + 4], order)
        value = rng.choice([*WORDS, value ^ 1 << rng.randrange(32), value + 1, value - 1,
                            2 * value])
        data[word:word + 4] = (value & 0xffffffff).to_bytes(4, order)
    return data


def damage_attribute(rng, capture, data):
    """One of the head's attributes is away, there twice, or has a value as long as its own."""
    ends = [*(found.start() for found in re.finditer(rb"TRACE_\w+::", data[:capture.slots])),
            capture.slots]
    n = rng.randrange(len(ends) - 1)
    at, end = ends[n], ends[n + 1]
    kind = rng.randrange(3)
    if kind == 0:
        return data[:at] + data[end:]
    if kind == 1:
        return data[:end] + data[at:end] + data[end:]
    value = data.index(b"::", at) + 2
    data[value:end] = bytes(rng.choice(b"0019-xX \0\xff") for _ in range(end - value))
    return data


DAMAGES = [damage_slots, damage_slots, damage_slots, damage_buffers, damage_head, damage_bytes,
           damage_end, damage_control, damage_control, damage_attribute]


def selection(rng):
    options = []
    if rng.random() < 0.4:
        options += ["--from", f"{rng.randrange(9000)}us"]
    if rng.random() < 0.4:
        options += ["--to", f"{rng.randrange(9000, 20000)}us"]
    options += rng.choice([[], [], ["--cpu", "0"], ["--pid", "10,11"], ["--class", "thread,comm"]])
    return options


def one(kymo, rng, capture, bad, out):
    """Returns whether a cut was written."""
    data = bytearray(capture.data)
    for damage in rng.sample(DAMAGES, rng.choice([1, 1, 2])):
        data = damage(rng, capture, data) if len(data) > capture.slots + 64 else data
    with open(bad, "wb") as file:
        file.write(data)
    if os.path.exists(out):
        os.unlink(out)
    options = selection(rng) + (["--recover"] if rng.random() < 0.8 else [])
    done = subprocess.run([kymo, "cut", *options, bad, "-o", out], capture_output=True,
                          timeout=patience.seconds(60),
                          check=False)
    if done.returncode not in (0, 1, 2) or b"Sanitizer" in done.stderr or \
            b"runtime error" in done.stderr or (done.returncode == 1 and not done.stderr):
        raise Failed(f"cut {' '.join(options)}: status {done.returncode}: "
                     f"{done.stderr.decode(errors='replace')[:2000]}")
    if not os.path.exists(out):
        return False
    check_quiet(kymo, out, f"cut {' '.join(options)} {bad}")
    return True


def main(kymo, mkcapture, folder, rounds="60"):
    seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
    rng = random.Random(seed)
    print(f"SEED={seed}")
    os.makedirs(folder, exist_ok=True)
    path, bad, out = (os.path.join(folder, name)
                      for name in ("sound.kev", "bad.kev", "bad-cut.kev"))
    written = 0
    for i in range(int(rounds)):
        if i % 10 == 0:
            kinds = [kind for kind in ("old", "swapped", "lossy") if rng.random() < 0.4]
            arguments = [str(rng.randint(1, 4)), "1500", str(rng.randrange(1 << 30)), *kinds]
            subprocess.run([mkcapture, path, *arguments], check=True, timeout=patience.seconds(60))
            capture = Capture(path)
        try:
            written += one(kymo, rng, capture, bad, out)
        except Failed as why:
            print(f"FAILED: {why}; round {i}, mkcapture {' '.join(arguments)}; {bad} stays")
            return 1
    if written < int(rounds) // 4:
        print(f"FAILED: only {written} cuts were written")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
