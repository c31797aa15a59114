#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What D costs in memory: by how much a board's kernel grows, and what a consumer takes.

d_text_m4    code, constants and initialised data of the kernel of mps2-an386 without the provider
             pid (USER_PROBES=no), helpers (HELPERS=no) and counters of the CPU (COUNTERS=no), minus
             those of the same kernel without D (make D=0): the machine, its other providers, the
             control call, the tables of function probes, what grows elsewhere because of them, and
             kernel functions that only D calls, which a kernel without D leaves out
             (scripts/board.mk)
pid_text_m4  what a kernel that has the provider pid, but no helpers and counters, has more than the
             first of these
helpers_text_m4
             what a kernel that has helpers, but no counters, has more than that
counters_text_m4
             what the shipped kernel, which has all, has more than that

All have the table of stacks, which panics use, too. Run by `make size` and `make bench`, which
build these kernels; objects of structures are in build/size/d.
"""
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLAGS = ["-std=gnu11", "-Os", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=soft", "-ffreestanding",
         "-ffunction-sections", "-I.", '-DDTRACE_PORT_OPS_H="test/bench/d_size_ops.h"']
LIMITS = {"d_text_m4": 65536, "pid_text_m4": 9856, "helpers_text_m4": 1600,
          "counters_text_m4": 1344}
BOARDS = ("mps2-an386", "virt-a64")
LOADED = {".text", ".rodata", ".data"}


def run(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def compiled(source):
    to = os.path.join(ROOT, "build/size/d", os.path.basename(source)[:-2] + ".o")
    os.makedirs(os.path.dirname(to), exist_ok=True)
    run("arm-none-eabi-gcc", *FLAGS, "-c", "-o", to, source)
    return to


def loaded(kernel):
    """Bytes of an ELF's code, constants and initialised data."""
    rows = (line.split() for line in run("size", "-A", "-d", kernel).splitlines())
    return sum(int(row[1]) for row in rows if len(row) == 3 and row[0] in LOADED)


def kernels(board):
    """(shipped, without counters, without helpers too, without pid too, without D): bytes"""
    return tuple(loaded(f"build/{board}{variant}/kernel.elf")
                 for variant in ("", "-without-counters", "-without-helpers", "-without-pid",
                                 "-without-d"))


def ram(kernel):
    """Bytes of an ELF's memory that is cleared at its start."""
    rows = (line.split() for line in run("size", "-A", "-d", kernel).splitlines())
    return sum(int(row[1]) for row in rows if len(row) == 3 and row[0] == ".bss")


def measure():
    """{figure: bytes}"""
    shipped, with_helpers, with_pid, with_d, without = kernels("mps2-an386")
    return {"d_text_m4": with_d - without, "pid_text_m4": with_pid - with_d,
            "helpers_text_m4": with_helpers - with_pid,
            "counters_text_m4": shipped - with_helpers}


def structures():
    """{name: bytes}, of test/bench/d_size.c"""
    found = run("arm-none-eabi-nm", "-S", compiled("test/bench/d_size.c"))
    return {m[2]: int(m[1], 16) for m in re.finditer(r"(\w+) \w size_(\w+)", found)}


def consumer(bufsize):
    """Bytes that `{ trace(arg0); }` takes on one CPU: its clause, the one of faults, whose
    five actions have an object of two instructions each, a pair of buffers, one speculation."""
    s = structures()
    actions = 1 + 5
    tables = 2 * (s["ecb"] + s["shape"]) + actions * s["action"]
    code = 8 + actions * (s["object"] + 2 * s["insn"])
    speculation = s["speculation"] + s["buffer"] + 1
    return s["consumer"] + s["cpu"] + tables + code + speculation + 2 * bufsize


def main():
    for board in BOARDS:
        shipped, with_helpers, with_pid, with_d, without = kernels(board)
        more = ram(f"build/{board}-without-helpers/kernel.elf") - \
            ram(f"build/{board}-without-pid/kernel.elf")
        print(f"{'D: ' + board:20}{with_d - without:8} bytes of the kernel's {shipped}: code, "
              "constants, data, without the provider pid, helpers, counters")
        print(f"{'pid: ' + board:20}{with_pid - with_d:8} bytes more for that, and {more} of RAM")
        print(f"{'helpers: ' + board:20}{with_helpers - with_pid:8} bytes more for these")
        print(f"{'counters: ' + board:20}{shipped - with_helpers:8} bytes more for these")
    for name, value in measure().items():
        print(f"{name:20}{value:8} bytes, limit {LIMITS[name]}")
    s = structures()
    print(f"{'d consumer, least':20}{consumer(64):8} bytes: trace(arg0), bufsize 64, one CPU")
    print(f"{'':20}{s['ecb'] + s['shape']:8} more for a clause on a probe, "
          f"{s['action'] + s['object']} for an action, {s['insn']} for an instruction,")
    print(f"{'':20}{s['chunk'] + s['chain']:8} more for a dynamic variable, without key and value")


if __name__ == "__main__":
    main()
