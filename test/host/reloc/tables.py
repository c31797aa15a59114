#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Each program's relocation table (abi/reloc.h, host/reloc) against its relocations.

tables.py

For every program that is relocated when it is spawned: the words that the table in the boot image's
copy names are those of the linker's relocations in the linked program, as readelf lists them, each
once, and each with the segment that it points into. Words whose value is in no segment are in
neither. Fewer than LEAST programs or PLACES words are an error: the test can't pass by comparing
nothing.
"""
import glob
import os
import re
import struct
import subprocess
import sys

LEAST, PLACES = 60, 20000
MAGIC, NEAR, ROW, FAR = 0x3172554b, 0xbf, 0xfe, 0xff
ROW_OF_RELOC = re.compile(r"^([0-9a-f]{8})  [0-9a-f]{8} R_ARM_(ABS32|TARGET1) ", re.M)


def readelf(option, path):
    return subprocess.run(["readelf", "-W", option, path], check=True, capture_output=True,
                          encoding="utf-8").stdout


def sections(path):
    """{name: (offset, size)}"""
    return {m[1]: (int(m[2], 16), int(m[3], 16)) for m in re.finditer(
        r"^ +\[ *\d+\] (\S+) +\w+ +[0-9a-f]{8} ([0-9a-f]{6}) ([0-9a-f]{6}) ",
        readelf("-S", path), re.M)}


def segments(path):
    """[(linked address, offset in the file, bytes of the file, bytes of memory)]"""
    return [tuple(int(n, 16) for n in (m[2], m[1], m[3], m[4])) for m in re.finditer(
        r"^ +LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x(\w+) ", readelf("-l", path), re.M)]


def wanted(path):
    """{place: the segment that its word points into}, by the linker's relocations."""
    with open(path, "rb") as f:
        data = f.read()
    parts, found = segments(path), {}
    listed = readelf("-r", path)
    for piece in re.split(r"^Relocation section ", listed, flags=re.M)[1:]:
        if not piece.startswith(("'.rel.debug", "'.rel.note.stapsdt")):  # in the file only
            for place in (int(m[1], 16) for m in ROW_OF_RELOC.finditer(piece)):
                at, = (offset + place - start for start, offset, size, _ in parts
                       if start <= place < start + size)
                value, = struct.unpack_from("<I", data, at)
                into = [p[0] for p in parts if p[0] <= value < p[0] + p[3]] or \
                    [p[0] for p in parts if value == p[0] + p[3]]
                if into:
                    found[place] = into[-1]
    return found


def table(path):
    """[(place, segment that it points into)], as abi/reloc.h says."""
    with open(path, "rb") as f:
        data = f.read()
    offset, size = sections(path)[".kymo_reloc"]
    magic, = struct.unpack_from("<I", data, offset)
    at, end, found = offset + 4, offset + size, []
    if magic != MAGIC:
        raise ValueError("wrong magic number")
    while at < end:
        place, into, codes = struct.unpack_from("<III", data, at)
        at += 12
        last = at + codes
        while at < last:
            code = data[at]
            if code <= NEAR:
                place += 4 * code
                found += [(place - 4, into)] * (code > 0)
            elif code <= ROW:
                found += [(place + 4 * i, into) for i in range(code - NEAR)]
                place += 4 * (code - NEAR)
            else:
                place += int.from_bytes(data[at + 1:at + 4], "little")
            at += 4 if code == FAR else 1
    return found


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
    compared = bad = total = 0
    for path in sorted(glob.glob("build/*/stripped/*")):
        with open(path, "rb") as f:
            if f.read(4) != b"\x7fELF":
                continue
        found = sections(path)
        if ".kymo_reloc" not in found:
            continue
        relocations, named = wanted(path.replace("/stripped/", "/programs/")), table(path)
        wrong = set(relocations.items()) ^ set(named)
        left = [name for name in found if name.startswith(".rel")]
        if wrong or len(set(named)) != len(named) or left:
            print(f"{path}: {len(wrong)} words differ, the first: "
                  f"{[hex(place) for place, _ in sorted(wrong)[:5]]}; {left} remain")
            bad += 1
        compared += 1
        total += len(named)
    if compared < LEAST or total < PLACES:
        print(f"too few: {compared} programs, {total} words")
        bad += 1
    print(f"{compared} programs, {total} words")
    print(f"{compared - bad} passed, {bad} failed")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
