#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What isa/x86_64/step.h takes an instruction for, against objdump.

The text of all programs of the board pc, the C library of this machine, and random bytes
(KYMO_SEED=n repeats them). Each instruction that objdump knows is of its length, or refused, and in
the programs each one is known. What counts from its own address by objdump is rewritten, emulated
or refused. What objdump does not know does the same elsewhere: test/isa/x86_test.c.
"""
import collections
import glob
import os
import random
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
READER = os.path.join(ROOT, "build/tools/x86_lengths")
SEED = int(os.environ.get("KYMO_SEED", "1"))
LINE = re.compile(r"(?m)^ +([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t?(.*)$")
PREFIXES = bytes([0x26, 0x2e, 0x36, 0x3e, *range(0x40, 0x50), *range(0x64, 0x68), 0xf0, 0xf2, 0xf3])
UNKNOWN, REFUSED, MOVED, EMULATED = range(4)


def readings(code):
    out = subprocess.run([READER], input=code, capture_output=True, check=True).stdout
    return [tuple(map(int, line.split())) for line in out.splitlines()]


def sections(path):
    """Address, file offset and size of each section of code."""
    out = subprocess.run(["objdump", "-hw", path], capture_output=True, text=True,
                         check=True).stdout
    for line in out.splitlines():
        words = line.split()
        if len(words) > 7 and "CODE" in line:
            yield words[1], int(words[3], 16), int(words[5], 16), int(words[2], 16)


def compare(name, code, base, listing, strict):
    """The first differences, and how many instructions there were of each kind."""
    wrong, kinds = [], collections.Counter()
    read = readings(code)
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
            continue
        behind = code[at:at + 15].lstrip(PREFIXES)
        if behind[:1] == b"\x9b":  # FWAIT: objdump shows it as a part of what follows
            size = 15 - len(behind) + 1
        if length != size:
            wrong.append(f"{name}+{at:x}: {m[2]}{text}: of {length} bytes")
        elif "(%rip)" in text and kind == MOVED and not near and behind[:1] != b"\x9b":
            wrong.append(f"{name}+{at:x}: {text}: is not rewritten")
        elif re.match(r"(?:bnd |notrack |data16 |cs |ds )*(?:j|call|ret|loop)", text) and \
                kind == MOVED:
            wrong.append(f"{name}+{at:x}: {text}: is not emulated")
    return wrong, kinds


def of_file(path, strict):
    wrong, kinds = [], collections.Counter()
    with open(path, "rb") as f:
        content = f.read()
    for section, base, offset, size in sections(path):
        listing = subprocess.run(["objdump", "-dwj", section, path], capture_output=True,
                                 text=True, check=True).stdout
        some, counts = compare(f"{os.path.basename(path)}:{section}",
                               content[offset:offset + size], base, listing, strict)
        wrong += some
        kinds += counts
    return wrong, kinds


def of_random(path):
    code = random.Random(SEED).randbytes(1 << 20)
    with open(path, "wb") as f:
        f.write(code)
    listing = subprocess.run(["objdump", "-Dwb", "binary", "-m", "i386:x86-64", path],
                             capture_output=True, text=True, check=True).stdout
    return compare("random", code, 0, listing, False)


def main():
    print(f"KYMO_SEED={SEED}")
    libc = subprocess.run(["gcc", "-print-file-name=libc.so.6"], capture_output=True, text=True,
                          check=True).stdout.strip()
    programs = [p for p in sorted(glob.glob(f"{ROOT}/build/pc/programs/*"))
                if os.path.isfile(p) and open(p, "rb").read(4) == b"\x7fELF"]
    total = []
    for what, found in [("programs", [of_file(p, True) for p in programs]),
                        ("C library", [of_file(os.path.realpath(libc), False)]),
                        ("random", [of_random(f"{READER}.random")])]:
        kinds = sum((k for _, k in found), collections.Counter())
        wrong = sum((w for w, _ in found), [])
        total += wrong
        print(f"{what}: {kinds[MOVED]} moved, {kinds[EMULATED]} emulated, {kinds[REFUSED]} "
              f"refused, {kinds[UNKNOWN]} not known; {len(wrong)} wrong")
        print("\n".join(wrong[:20]))
    return bool(total) or not programs


if __name__ == "__main__":
    sys.exit(main())
