#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The states that mkunwind finds, against the compiler's call frame information.

cfi.py [MKUNWIND] [ELF...]

The compiler writes into .debug_frame where the CFA, the return address and the saved frame pointer
are at each instruction of what it has compiled; readelf prints it. mkunwind only reads the
instructions. For each instruction that both know they must agree: on the CFA, on the return
address, on the frame pointer. What mkunwind calls unknown would cut a stack short: it may be at
most UNKNOWN_MOST of the instructions. A register that is in its place and at home, because it has
been loaded again or not yet overwritten, counts as in either. An ELF without .debug_frame, or with
fewer than LEAST instructions compared, is an error: the test can't pass by comparing nothing.
"""
import glob
import os
import re
import subprocess
import sys

UNKNOWN_MOST = 0.001
LEAST = 300
FDE = re.compile(r"^[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)")
# Assembler whose call frame information is wrong: it forgets what a load with write-back, or the
# addition before the return, does to the stack pointer; or has none (sp_odd, flag_step). Between
# the two additions that end `large` the compiler's is behind by one instruction. The division and
# the multiplication of doubles call parts of themselves, which mkunwind takes for functions.
WRONG = ("__aeabi_ldivmod", "__aeabi_uldivmod", "strcmp", "sp_odd", "flag_step", "large",
         "__aeabi_dmul", "__muldf3", "__aeabi_ddiv", "__divdf3")
WILD = ("stepper", "t_armv7m", "t_x86_64")  # have unknown places on purpose
FP = {"r13": "r7", "sp": "x29", "r31": "x29", "rsp": "rbp"}


def compiler_rows(path):
    """{address of a row: (register, offset, {column: place})}, and the ranges that have rows."""
    text = subprocess.run(["readelf", "--debug-dump=frames-interp", "-W", path], check=True,
                          capture_output=True, encoding="utf-8").stdout
    functions, columns, current, rows = [], [], [], []
    for line in text.split("\n"):
        if " CIE " in line:  # its row is that of functions that have none
            current = rows = []
            continue
        found = FDE.match(line)
        if found:
            current = []
            start, end = int(found[1], 16), int(found[2], 16)
            functions.append((start, end, current, [(start, *row[1:]) for row in rows]))
            continue
        words = line.split()
        if words[:2] == ["LOC", "CFA"]:
            columns = words[2:]
        elif len(words) >= 2 and re.match(r"^[0-9a-f]{8,16}$", words[0]):
            current.append((int(words[0], 16), words[1], dict(zip(columns, words[2:]))))
    return [(start, end, own or common) for start, end, own, common in functions]


def states(mkunwind, path):
    """{address: (sp, fp, ra, saved fp)}, each an int, None if unknown, or "home"."""
    text = subprocess.run([mkunwind, "-d", path], check=True, capture_output=True,
                          encoding="utf-8").stdout

    def value(word):
        word = word.split("=")[-1] if "=" in word else word[2:]
        if word.startswith("?"):
            return None
        return word if word == "home" else int(word)

    found, name = {}, ""
    for line in text.split("\n"):
        words = line.split()
        if line.startswith(" ") and name not in WRONG:
            found[int(words[0], 16)] = tuple(value(w) for w in words[1:])
        elif words and not line.startswith(" "):
            name = words[0]
    return found


def place(text):
    return "home" if text in ("u", "s", None) else int(text[1:]) if text[0] == "c" else None


def compare(mkunwind, path):
    known, wrong, unknown, compared = states(mkunwind, path), [], 0, 0
    functions = compiler_rows(path)
    for start, end, rows in functions:
        stored = {}  # places that are written somewhere in the function
        said = {place(columns.get("ra")) for _, _, columns in rows}
        for i, (at, cfa, columns) in enumerate(rows):
            until = rows[i + 1][0] if i + 1 < len(rows) else end
            for address in range(at, until):
                if address not in known:
                    continue
                compared += 1
                sp, fp, ra, saved = known[address]
                register, offset = re.match(r"(\w+)\+(\d+)", cfa).groups()
                mine = sp if register in FP else fp
                want = place(columns.get("ra"))
                frame = place(columns.get("r7", columns.get("x29", columns.get("rbp"))))
                for what, at_stack in (("ra", ra), ("frame", saved)):
                    stored.setdefault(what, set()).add(at_stack)
                if mine is None or ra is None:
                    unknown += os.path.basename(path) not in WILD
                elif mine != int(offset):
                    wrong.append(f"{address:x}: CFA {register}+{mine}, by the compiler {cfa}")
                elif ra != want and not (ra == "home" and want in stored["ra"]) and \
                        not (want == "home" and ra in said):
                    wrong.append(f"{address:x}: return address {ra}, by the compiler {want}")
                elif saved not in (None, frame) and \
                        not (saved == "home" and frame in stored["frame"]):
                    wrong.append(f"{address:x}: frame pointer {saved}, by the compiler {frame}")
    return compared, unknown, wrong


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
    paths, mkunwind = sys.argv[1:], "build/tools/mkunwind"
    if paths and os.path.basename(paths[0]).startswith("mk"):
        mkunwind = paths.pop(0)
    bad = total = 0
    paths = paths or ["build/mps2-an386/kernel.elf", "build/virt-a64/kernel.elf",
                      "build/pc/kernel.elf", *sorted(glob.glob("build/mps2-an386/programs/*")),
                      *sorted(glob.glob("build/pc/programs/*"))]
    for path in paths:
        compared, unknown, wrong = compare(mkunwind, path)
        fails = wrong or compared < LEAST or unknown > UNKNOWN_MOST * compared + 1
        if fails or len(paths) < 10:
            print(f"{path}: {compared} instructions, {unknown} unknown, {len(wrong)} wrong")
        for line in wrong[:20]:
            print("  " + line)
        bad += bool(fails)
        total += compared
    print(f"{len(paths)} ELFs, {total} instructions")
    print(f"{len(paths) - bad} passed, {bad} failed")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
