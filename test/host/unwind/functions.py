#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The indexes of functions that mkunwind -f makes, against the symbols of the linked programs.

Every program of the boot images, as readelf prints its symbols: each function's address stands in
the stripped program's index once, in ascending order, by a symbol of its name. The last line is
`N passed, N failed`.
"""
import glob
import os
import re
import struct
import subprocess
import sys

LEAST, FUNCTIONS = 20, 2000  # programs, and functions in all, in a whole build of one board
MAGIC = 0x31664e4b


def readelf(option, path):
    done = subprocess.run(["readelf", "-W", option, path], capture_output=True, text=True,
                          check=True)
    return done.stdout


def section(path, name):
    """The bytes of a section; None: there is none."""
    found = re.search(rf" {re.escape(name)} +\w+ +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+) ",
                      readelf("-S", path))
    if not found:
        return None
    with open(path, "rb") as f:
        f.seek(int(found[1], 16))
        return f.read(int(found[2], 16))


def symbols(path):
    """[(address, name, whether it is a function)] by number"""
    thumb = int("ARM" in readelf("-h", path).split("Machine:")[1].split("\n")[0].split())
    found = re.findall(r"^ *\d+: ([0-9a-f]+) +\w+ (\w+) +\w+ +\w+ +(\w+) ?(\S*)$",
                       readelf("-s", path), re.M)
    return [(int(at, 16) & ~thumb, name, kind == "FUNC" and where != "UND")
            for at, kind, where, name in found]


def functions(path):
    """address -> names"""
    found = {}
    for at, name, function in symbols(path):
        if function:
            found.setdefault(at, set()).add(name)
    return found


def wrong(path):
    """What is wrong with a stripped program's index, or None; and its functions."""
    data = section(path, ".kymo_functions")
    if data is None:
        return "it has no index", 0
    magic, *numbers = struct.unpack(f"<{len(data) // 4}I", data)
    if magic != MAGIC:
        return f"magic {magic:#x}", 0
    named, want = symbols(path), functions(path.replace("/stripped/", "/programs/"))
    ats = [named[n][0] for n in numbers]
    if ats != sorted(want):
        return f"addresses differ, the first: {sorted(set(ats) ^ set(want))[:3]}", len(numbers)
    for at, name, function in (named[n] for n in numbers):
        if not function or name not in want[at]:
            return f"{at:#x} is {want[at]}, not {name}", len(numbers)
    return None, len(numbers)


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
    compared = bad = total = 0
    for path in sorted(glob.glob("build/*/stripped/*")):
        with open(path, "rb") as f:
            if f.read(4) != b"\x7fELF":
                continue
        what, count = wrong(path)
        if what:
            print(f"{path}: {what}")
            bad += 1
        compared += 1
        total += count
    if compared < LEAST or total < FUNCTIONS:
        print(f"too few: {compared} programs, {total} functions")
        bad += 1
    print(f"{compared} programs, {total} functions")
    print(f"{compared - bad} passed, {bad} failed")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
