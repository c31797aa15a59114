#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Memory order in the code that the compiler made: orders.list says which functions of the kernel
acquire, release or have a barrier on AArch64 and ARMv7-M, and how often at least.

    orders.py [--write] [BOARD]...

An emulator on an x86-64 host keeps stores in order, so a lost acquire, release or barrier shows in
no boot. A function with less than its row is red, and so is one without a row; --write writes the
rows anew from the kernels that are built (image smoke): `git diff` then shows what has changed. The
rows are those of the compilers that the list names. Others inline other functions: with them only
functions that both have are compared.
"""
import collections
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
LIST = os.path.join(HERE, "orders.list")
TOOLS = {"virt-a64": "aarch64-linux-gnu-", "mps2-an386": "arm-none-eabi-"}
# ISB orders no accesses to memory, and is not counted.
CHANGES = r"(cas|swp|ld(add|set|clr|eor))"
KINDS = {"acquire": re.compile(rf"((lda|ldar|ldax?r|ldaxp|ldaex|ldapr)[bhd]?|{CHANGES}al?[bhp]?)$"),
         "release": re.compile(rf"((stl|stlr|stlx?r|stlxp|stlex)[bhd]?|{CHANGES}a?l[bhp]?)$"),
         "barrier": re.compile(r"(dmb|dsb)$")}


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def compiler(board):
    return output(TOOLS[board] + "gcc", "-dumpfullversion").strip()


def plain(name):
    """The function that a clone was made of."""
    return re.sub(r"\.(constprop|isra|part|cold).*$", "", name)


def built(board):
    """The number of each kind in each function that has any, and the names of all functions."""
    found, names, name = collections.defaultdict(collections.Counter), set(), None
    elf = f"build/{board}/test-images/smoke.elf"
    for line in output(TOOLS[board] + "objdump", "-d", "--no-show-raw-insn", elf).splitlines():
        begins = re.match(r"[0-9a-f]+ <(.*)>:$", line)
        if begins:
            name = plain(begins[1])
            names.add(name)
        insn = re.match(r" *[0-9a-f]+:\s+(\S+)", line)
        for kind, pattern in KINDS.items() if insn else ():
            if pattern.match(insn[1]):
                found[name][kind] += 1
    return found, names


def read_list():
    """The compiler of each board, and its rows."""
    versions, rows = {}, collections.defaultdict(dict)
    with open(LIST, encoding="utf-8") as f:
        for line in f:
            words = line.split("#")[0].split()
            if words[:1] == ["compiler"]:
                versions[words[1]] = words[2]
            elif words:
                counts = {kind: int(n) for kind, n in (word.split("=") for word in words[2:])}
                rows[words[0]][words[1]] = collections.Counter(counts)
    return versions, rows


def write(boards):
    with open(LIST, encoding="utf-8") as f:
        head = [line for line in f if line.startswith("#")]
    text = "".join(head)
    for board in boards:
        text += f"\ncompiler {board} {compiler(board)}\n"
        for name, counts in sorted(built(board)[0].items()):
            had = [f"{kind}={counts[kind]}" for kind in KINDS if counts[kind]]
            text += " ".join([board, name, *had]) + "\n"
    with open(LIST, "w", encoding="utf-8") as f:
        f.write(text)


def compare(board, version, rows):
    """What is wrong with a board's kernel, and how many rows were compared."""
    found, names = built(board)
    same, wrong, compared = compiler(board) == version, [], 0
    for name, counts in rows.items():
        if name not in names:
            wrong += [f"{board}: no function {name}"] if same else []
            continue
        compared += 1
        for kind, n in counts.items():
            if found[name][kind] < n:
                wrong.append(f"{board}: {name} has {kind} {found[name][kind]} times, not {n}")
    wrong += [f"{board}: {name} orders memory and has no row" for name in sorted(found)
              if same and found[name] and name not in rows]
    return wrong, compared


def main():
    boards = [a for a in sys.argv[1:] if not a.startswith("-")] or list(TOOLS)
    if "--write" in sys.argv:
        write(boards)
    versions, rows = read_list()
    failed = passed = 0
    for board in boards:
        wrong, compared = compare(board, versions.get(board), rows[board])
        if compared < 30:
            wrong.append(f"{board}: only {compared} functions were compared")
        for line in wrong:
            print(f"FAILED: {line}; or {os.path.relpath(LIST, ROOT)} is old: --write")
        failed += len(wrong)
        passed += compared
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
