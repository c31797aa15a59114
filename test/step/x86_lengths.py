#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What abi/x86_step.h takes an instruction for, against objdump: x86_lengths.py READER.

The text of all programs of the board pc, the C library of this machine, and random bytes
(KYMO_SEED=n repeats them). Each instruction is of objdump's length, or refused. In the programs
each one is known; what can't be displaced there is told. An instruction that objdump shows to count
from its own address is one that is rewritten or emulated, or refused.
"""
import collections
import glob
import os
import random
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SEED = int(os.environ.get("KYMO_SEED", "1"))
LINE = re.compile(r"(?m)^ +([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t?(.*)$")
PREFIXES = bytes([0x26, 0x2e, 0x36, 0x3e, *range(0x40, 0x50), *range(0x64, 0x68), 0xf0, 0xf2, 0xf3])
UNKNOWN, REFUSED, MOVED, EMULATED = range(4)


def readings(reader, code):
    out = subprocess.run([reader], input=code, capture_output=True, check=True).stdout
    return [tuple(map(int, line.split())) for line in out.splitlines()]


def sections(path):
    """Address, file offset and size of each section of code."""
    out = subprocess.run(["objdump", "-hw", path], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        words = line.split()
        if len(words) > 7 and "CODE" in line:
            yield words[1], int(words[3], 16), int(words[5], 16), int(words[2], 16)


def compare(reader, name, code, base, listing, strict):
    """The first differences, and how many instructions there were of each kind."""
    wrong, kinds = [], collections.Counter()
    read = readings(reader, code)
    for m in LINE.finditer(listing):
        at, size, text = int(m[1], 16) - base, len(m[2].split()), m[3].split("#")[0].strip()
        if not 0 <= at < len(read) or at + 15 > len(read):
            continue
        length, kind, near = read[at]
        kinds[kind] += 1
        if kind == UNKNOWN:
            if strict:
                wrong.append(f"{name}+{at:x}: {text}: not known")
            continue
        if "(bad)" in text:
            continue  # undefined: step_x86_test shows that it does the same elsewhere
        behind = code[at:at + 15].lstrip(PREFIXES)
        if behind[:1] == b"\x9b":  # FWAIT: objdump shows it as a part of what follows
            size = 15 - len(behind) + 1
        if length != size:
            wrong.append(f"{name}+{at:x}: {m[2]}{text}: of {length} bytes")
        elif "(%rip)" in text and kind == MOVED and not near:
            wrong.append(f"{name}+{at:x}: {text}: is not rewritten")
        elif re.match(r"(?:bnd |notrack |data16 |cs |ds )*(?:j|call|ret|loop)", text) and \
                kind == MOVED:
            wrong.append(f"{name}+{at:x}: {text}: is not emulated")
    return wrong, kinds


def of_file(reader, path, strict):
    wrong, kinds = [], collections.Counter()
    with open(path, "rb") as f:
        content = f.read()
    for section, base, offset, size in sections(path):
        listing = subprocess.run(["objdump", "-dwj", section, path], capture_output=True,
                                 text=True, check=True).stdout
        some, counts = compare(reader, f"{os.path.basename(path)}:{section}",
                               content[offset:offset + size], base, listing, strict)
        wrong += some
        kinds += counts
    return wrong, kinds


def of_random(reader, path):
    code = random.Random(SEED).randbytes(1 << 20)
    with open(path, "wb") as f:
        f.write(code)
    listing = subprocess.run(["objdump", "-Dwb", "binary", "-m", "i386:x86-64", path],
                             capture_output=True, text=True, check=True).stdout
    return compare(reader, "random", code, 0, listing, False)


def main():
    reader = sys.argv[1]
    print(f"KYMO_SEED={SEED}")
    libc = subprocess.run(["gcc", "-print-file-name=libc.so.6"], capture_output=True, text=True,
                          check=True).stdout.strip()
    programs = [p for p in sorted(glob.glob(f"{ROOT}/build/pc/programs/*"))
                if os.path.isfile(p) and open(p, "rb").read(4) == b"\x7fELF"]
    total = []
    for what, found in [("programs", [of_file(reader, p, True) for p in programs]),
                        ("C library", [of_file(reader, os.path.realpath(libc), False)]),
                        ("random", [of_random(reader, f"{reader}.random")])]:
        kinds = sum((k for _, k in found), collections.Counter())
        wrong = sum((w for w, _ in found), [])
        total += wrong
        print(f"{what}: {kinds[MOVED]} moved, {kinds[EMULATED]} emulated, {kinds[REFUSED]} refused, "
              f"{kinds[UNKNOWN]} not known; {len(wrong)} wrong")
        print("\n".join(wrong[:20]))
    return bool(total) or not programs


if __name__ == "__main__":
    sys.exit(main())
