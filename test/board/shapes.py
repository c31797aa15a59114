#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Whether the lines of `kymo print -n` are those that docs/reference/lines.md has: shapes.py
PRINTED...

Each line behind the header must have one of the shapes of its section 10."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PARTS = {"N": r"-?\d+", "H": r"0x[0-9a-f]+", "W": r"[^ ,:]+", "T": r".*",
         "ARGS": r"(?:\w+:.*)?"}


def shapes():
    """(as it is written, as a pattern)"""
    with open(os.path.join(ROOT, "docs/reference/lines.md"), encoding="utf-8") as f:
        section = f.read()
    lines = section.split("```\n")[1].splitlines()
    if len(lines) < 15:
        raise ValueError("docs/reference/lines.md has no shapes of lines")
    found = []
    for line in lines:
        parts = re.split(r"(\b(?:ARGS|[NHWT])\b|\[|\]| +)", line)
        text = "".join(PARTS.get(p, {"[": "(?:", "]": ")?"}.get(p, " *" if p.isspace() else
                                                                 re.escape(p))) for p in parts)
        found.append((line, re.compile(text + r" *$")))
    return found


def without_shape(printed, used=None):
    """The first lines that have none; `used` gets the shapes that some have."""
    known, bad = shapes(), []
    lines = printed.splitlines()
    for line in lines[lines.index(" -- KERNEL EVENTS --") + 1:]:
        match = next((shape for shape, pattern in known if pattern.match(line)), None)
        if match is None:
            bad.append(line)
        elif used is not None:
            used.add(match)
    return bad[:3]


def main(paths):
    failed = 0
    for path in paths:
        with open(path, errors="replace", encoding="utf-8") as f:
            bad = without_shape(f.read())
        if bad:
            print(f"FAIL {path}: no shape of docs/reference/lines.md: {bad}")
            failed += 1
    print(f"{len(paths) - failed} passed, {failed} failed")
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
