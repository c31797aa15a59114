#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What RAM the D machine takes on mps2-an386, beside its consumers' buffers.

d_ram.py [--check]

Static data is added up from D's objects; what D takes from the system's memory is weighed on the
booted board (test/board/programs/t_d.c): the probes that are always there, and the least consumer
with a clause that is enabled. Its buffers of 64 bytes are counted, too. The code and the slots of
function probes lie in the text. Run by `make size`; --check: `N passed, N failed`, against 64 KB.
"""
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BOARD = "mps2-an386"
LIMIT = 65536
FOLDERS = ["trace/dtrace", "kernel/dtrace", "kernel/arch/armv7m/probe"]


def static():
    """Bytes of .data and .bss, by the symbols: what the linker drops has none."""
    objects = [o for f in FOLDERS for o in glob.glob(f"{ROOT}/build/{BOARD}/{f}/*.o")]
    out = subprocess.run(["arm-none-eabi-nm", "-S", *objects], check=True, capture_output=True,
                         text=True).stdout
    return sum(int(m, 16) for m in re.findall(r"^\w+ (\w+) [bBdD] ", out, re.M))


def held():
    """{what: bytes}; the suite's console is what it printed."""
    # In a folder of its own: the suite boot-mps2-an386 may be at work meanwhile.
    subprocess.run([f"{ROOT}/test/board/run.py", "--into", "build/check/d-ram", BOARD, "d"],
                   check=True, capture_output=True)
    with open(f"{ROOT}/build/check/d-ram/{BOARD}.d/console.txt", encoding="utf-8",
              errors="replace") as f:
        m = re.search(r"D holds: probes (\d+), of functions (\d+), least consumer (\d+)", f.read())
    return dict(zip(("probes", "functions", "consumer"), map(int, m.groups())))


def main(check):
    parts = {"static": static(), **held()}
    total = parts["static"] + parts["probes"] + parts["consumer"]
    print(f"{'d_ram_m4':20}{total:8} bytes of RAM, limit {LIMIT}: static {parts['static']}, "
          f"probes {parts['probes']}, the least consumer {parts['consumer']}")
    print(f"{'':20}{parts['functions']:8} more once somebody has asked for every function's probe")
    good = 0 < total <= LIMIT
    if check:
        print(f"{int(good)} passed, {int(not good)} failed")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] == ["--check"]))
