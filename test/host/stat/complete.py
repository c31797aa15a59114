#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""complete.py: `kymo stat --json` says that a capture is complete if and only if `kymo export
--jsonl` knows of no loss but those that the capture counts itself: of golden and fabricated
captures, cut at the ends of buffers and anywhere else, and with damaged bytes, with --recover and
without."""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "test/tool"))
import temporary  # noqa: E402

KYMO, MKCAPTURE = "build/kymo", "build/tools/mkcapture"
SEED = int(os.environ.get("KYMO_SEED", "0")) or random.SystemRandom().randrange(1 << 32)
BUFFER = 1 << 10 | 2  # class and number in a slot's header
failed = []


def kymo(*arguments):
    return subprocess.run([KYMO, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False).stdout.decode(errors="replace")


def boundaries(data):
    """Where buffers begin: a slot has 16 bytes."""
    at = range(len(data) % 16, len(data) - 15, 16)
    return [n for n in at if struct.unpack_from("<I", data, n)[0] & 0x7fff == BUFFER]


def variants(data, dice):
    yield "whole", data
    starts = boundaries(data)
    for at in starts[1:4] + starts[-1:]:
        yield f"cut at {at}", data[:at]
    for at in (dice.randrange(len(data) // 2, len(data)) for _ in range(2)):
        yield f"cut at {at}", data[:at]
    for _ in range(2):
        spoilt = bytearray(data)
        at = dice.randrange(starts[0] + 16, len(data))
        spoilt[at] ^= 0xff
        yield f"spoilt at {at}", bytes(spoilt)


def compare(path, what):
    compared = 0
    for options in (), ("--recover",):
        stat = kymo("stat", "--json", *options, path)
        exported = kymo("export", "--jsonl", *options, path).splitlines()
        lines = [json.loads(line) for line in exported]
        if not stat or not lines or lines[-1]["kind"] != "end":
            continue
        compared += 1
        lost = [x["text"] for x in lines if x["kind"] == "loss" and x["what"] != "counted"]
        if json.loads(stat)["complete"] == bool(lost):
            failed.append(f"KYMO_SEED={SEED} {what} {' '.join(options)}: stat says "
                          f"complete {bool(lost)}: {lost[:1]}")
    return compared


def captures(folder):
    yield "test/host/golden/virt-a64.kev"
    for n, kinds in enumerate((["lossy"], [], ["old"], ["old", "lossy"])):
        path = f"{folder}/made{n}.kev"
        subprocess.run([MKCAPTURE, path, "2", "2000", str(SEED + n), *kinds], check=True)
        yield path


def main():
    dice, compared = random.Random(SEED), 0
    with tempfile.TemporaryDirectory(dir=temporary.PLACE) as folder:
        for capture in captures(folder):
            with open(capture, "rb") as f:
                data = f.read()
            for what, variant in variants(data, dice):
                with open(f"{folder}/variant.kev", "wb") as f:
                    f.write(variant)
                compared += compare(f"{folder}/variant.kev", f"{capture}, {what}")
    for line in failed[:20]:
        print("FAIL", line)
    print(f"{compared - len(failed)} passed, {len(failed)} failed")
    return 1 if failed or compared < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
