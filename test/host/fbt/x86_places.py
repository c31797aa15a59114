#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What fbt would patch on x86-64, against objdump's reading of the same kernel.

x86_places.py [BOARD]

Each place of the table in the linked image is where objdump sees an instruction: a function's
first, a return, or a jump to another function's start. No two places share a byte, none is a trace
site, and a function with a return probe has one at each return that objdump sees in it.

And isa/x86_64/insn.h reads each instruction of the kernel's functions as long as objdump does, or
refuses it; few are refused.
"""
import ctypes
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from places import ROOT, Elf, table  # noqa: E402
from guest import image_elf  # noqa: E402

LEAST = 600  # entries, and functions with returns
INSN = re.compile(r"^ *([0-9a-f]+):\t(?:[0-9a-f]{2} )+ *\t(.*?) *$")
RETURN = re.compile(r"^((repz|bnd) )?ret$")
JUMP = re.compile(r"^jmp +([0-9a-f]+) <|^jmp +\*")


READER = """
#include "isa/x86_64/insn.h"
unsigned length(const uint8_t *bytes, size_t room) { return x86_insn_read(bytes, room).length; }
"""
REFUSED_MOST = 0.001  # of all instructions


def lengths(elf, insns):
    """Whether isa/x86_64/insn.h is right about all instructions of the functions."""
    library = os.path.join(ROOT, "build/tmp/x86_insn.so")
    os.makedirs(os.path.dirname(library), exist_ok=True)
    subprocess.run(["cc", "-std=gnu11", "-O1", "-I", ROOT, "-shared", "-fPIC", "-x", "c", "-", "-o",
                    library], input=READER, text=True, check=True)
    length = ctypes.CDLL(library).length
    length.argtypes = ctypes.c_char_p, ctypes.c_size_t
    wrong, refused, n = [], 0, 0
    for at, size, name in elf.functions:
        code = elf.at(at, size)
        starts = [a for a in range(at, at + size) if a in insns] + [at + size]
        for a, end in zip(starts, starts[1:]):
            got = length(code[a - at:], size - (a - at))
            n, refused = n + 1, refused + (got == 0)
            if got not in (0, end - a):
                wrong.append(f"{name} at {a:#x}: {insns[a]}: {got} bytes, not {end - a}")
    print(f"{n} instructions, {refused} refused")
    for line in wrong:
        print("FAIL", line)
    return not wrong and n > 50000 and refused < REFUSED_MOST * n


def check(board):
    path = image_elf(os.path.join(ROOT, "build", board), "test")
    elf = Elf(path)
    out = subprocess.run(["x86_64-linux-gnu-objdump", "-d", "-w", path], check=True,
                         capture_output=True, text=True).stdout
    insns = {int(m[1], 16): m[2] for m in map(INSN.match, out.splitlines()) if m}
    start, end = elf.symbols["__trace_sites_start"], elf.symbols["__trace_sites_end"]
    raw = elf.at(start, end - start)
    sites = {int.from_bytes(raw[i:i + 8], "little") for i in range(0, len(raw) - 31, 32)}
    sizes = {(at, name): size for at, size, name in elf.functions}
    bad, taken, returns, entries = [], set(), {}, 0
    for p in table(elf, 1):
        at, text = p["insn"], insns.get(p["insn"], "")
        jump = JUMP.match(text)
        good = {"entry": text and (at, p["name"]) in sizes and not jump or text,
                "return": RETURN.match(text) and not p["tail"] or jump and p["tail"]}[p["kind"]]
        if not good or at in sites or at in taken:
            bad.append(f"{p['name']}:{p['kind']} at {at:#x}: {text or 'no instruction there'}")
        taken.add(at)
        entries += p["kind"] == "entry"
        if p["kind"] == "return":
            returns.setdefault((p["function"], p["name"]), set()).add(at)
    for (at, name), have in returns.items():
        end = at + sizes.get((at, name), 0)
        seen = {a for a in range(at, end) if RETURN.match(insns.get(a, ""))}
        bad += [f"{name} returns at {a:#x}, too" for a in seen - have]
    print(f"{board}: {len(taken)} places, {entries} entries, {len(returns)} functions with returns")
    for line in bad:
        print("FAIL", line)
    return not bad and min(entries, len(returns)) > LEAST and lengths(elf, insns)


if __name__ == "__main__":
    GOOD = check((sys.argv[1:] or ["pc"])[0])
    print(f"{int(GOOD)} passed, {int(not GOOD)} failed")
    sys.exit(not GOOD)
