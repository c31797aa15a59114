#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""one_line.py PRINTED: what `kymo print -n` prints, from what `kymo print` prints.

An event's arguments stand below it, indented; with -n they stand on its line, after the event's
name, which is padded to 13 columns unless it is a kernel call's."""
import re
import sys


def one_line(text):
    head, _, events = text.partition(" -- KERNEL EVENTS --\n")
    lines = []
    for line in events.splitlines():
        if not line.startswith(" "):
            lines.append(line)
            continue
        name = re.fullmatch(r"(t:\S+ CPU:\d+ (?!KER_)[^:]*:)(\S+)", lines[-1])
        if name:
            lines[-1] = f"{name[1]}{name[2]:<13}"
        lines[-1] += " " + line.lstrip()
    return head + " -- KERNEL EVENTS --\n" + "\n".join(lines) + "\n"


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as f:
        sys.stdout.write(one_line(f.read()))
