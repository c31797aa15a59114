#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every reason for which the D machine refuses a program has a test: one of the machine's tests
names it, or expects a text that only this reason has. Run by `make check`."""
import glob
import os
import re

os.chdir(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
LEAST = 7  # letters of a text that tell


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def main():
    table = read("trace/dtrace/reasons.def")
    reasons = re.findall(r'^DTRACE_REASON\((\w+), \d+, "(.*)"\)', table, re.M)
    tests = "".join(map(read, glob.glob("test/d_machine/*_test.c") +
                            glob.glob("test/d_fire/*_test.c")))
    expected = {t for t in re.findall(r'"((?:[^"\\\n]|\\.)*)"', tests) if len(t) >= LEAST}
    failed = 0
    for name, text in reasons:
        tells = text in expected or any(
            t in text and sum(t in other for _, other in reasons) == 1 for t in expected)
        if not tells and not re.search(rf"\bDTRACE_REASON_{name}\b", tests):
            print(f"FAILED: no test expects DTRACE_REASON_{name}: {text}")
            failed += 1
    print(f"{len(reasons) - failed} passed, {failed} failed")
    return failed > 0 or len(reasons) < 60


if __name__ == "__main__":
    raise SystemExit(main())
