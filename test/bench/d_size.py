#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The D machine on a small board: its text for Cortex-M4 at -Os, and the memory of its consumers.

d_text_m4       what every board has: trace/dtrace with subr_none.c, without the control call, the
                log, and what retained memory needs
d_text_m4_full  with all subroutines and destructive actions

Host's own files (the static cost, texts of refusals) don't count. Run by `make size` and `make
bench`; objects are in build/size/d.
"""
import glob
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLAGS = ["-std=gnu11", "-Os", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=soft", "-ffreestanding",
         "-ffunction-sections", "-I.", '-DDTRACE_PORT_OPS_H="test/bench/d_size_ops.h"']
LIMITS = {"d_text_m4": 25088, "d_text_m4_full": 32768}
FULL = {"destructive", "inet", "json", "strtoll", "subr_extra", "subr_path", "subr_search"}
LEAST = {"subr_none"}
HOST = {"cost", "reason"}
CONTROL = {"control", "control_answer", "control_boot", "control_log", "log", "retained",
           "retained_make"}


def run(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def compiled(source):
    to = os.path.join(ROOT, "build/size/d", os.path.basename(source)[:-2] + ".o")
    os.makedirs(os.path.dirname(to), exist_ok=True)
    run("arm-none-eabi-gcc", *FLAGS, "-c", "-o", to, source)
    return to


def text_of(source):
    return int(run("arm-none-eabi-size", compiled(source)).splitlines()[1].split()[0])


def measure():
    """{figure: bytes}"""
    sources = sorted(glob.glob("trace/dtrace/*.c", root_dir=ROOT))
    sizes = {os.path.basename(s)[:-2]: text_of(s) for s in sources}
    missing = (FULL | LEAST | HOST) - sizes.keys()
    assert not missing, missing
    total = lambda without: sum(n for name, n in sizes.items() if name not in without)
    return {"d_text_m4": total(FULL | HOST | CONTROL),
            "d_text_m4_full": total(LEAST | HOST | CONTROL)}


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
    for name, value in measure().items():
        print(f"{name:20}{value:8} bytes of text, limit {LIMITS[name]}")
    s = structures()
    print(f"{'d consumer, least':20}{consumer(64):8} bytes: trace(arg0), bufsize 64, one CPU")
    print(f"{'':20}{s['ecb'] + s['shape']:8} more for a clause on a probe, "
          f"{s['action'] + s['object']} for an action, {s['insn']} for an instruction,")
    print(f"{'':20}{s['chunk'] + s['chain']:8} more for a dynamic variable, without key and value")


if __name__ == "__main__":
    main()
