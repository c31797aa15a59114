# SPDX-License-Identifier: BSD-2-Clause
"""What programs told of their events (test/boot/programs/truth.h), compared with the capture's
print, value for value."""
import re
import subprocess

import kev

KYMO = kev.ROOT + "/build/kymo"
MARK = r"USREVENT:EVENT:999, d0:(0x\w+)"


def steps(path):
    """The lines behind each mark, without their heads, one blank for many."""
    done = subprocess.run([KYMO, "print", "-n", path], capture_output=True, text=True, check=True,
                          errors="replace")
    found, lines = {}, None
    for line in done.stdout.splitlines():
        body = re.match(r"t:0x\w+ CPU:\d+ +(.*)$", line)
        if not body:
            continue
        text = " ".join(body[1].split())
        mark = re.match(MARK, text)
        if mark:
            lines = found.setdefault(int(mark[1], 16), [])
        elif lines is not None:
            lines.append(text)
    return found


def is_word(told, seen):
    """One word of a line: `name:within:first:bytes` is a range."""
    within = re.match(r"(\w+):within:(\w+):(\d+)$", told)
    if not within:
        return told == seen
    name, first, size = within[1], int(within[2], 0), int(within[3])
    value = re.match(name + r":(0x\w+)$", seen)
    return bool(value) and (size == 0 or first <= int(value[1], 16) < first + size)


def is_line(told, seen):
    many = re.match(r"(.*STR:)(\d+) times (.)$", told)
    if many:
        return seen == f'{many[1]}"{many[3] * int(many[2])}"'
    told, seen = told.split(), seen.split()
    return len(told) == len(seen) and all(map(is_word, told, seen))


def what_programs_told_is_there(boot):
    """Each step's lines, in their order; others may stand between."""
    seen, told, bad = steps(boot.trace), {}, []
    for number, line in re.findall(r"^TRUTH (\d+) (.*)$", boot.console, re.M):
        told.setdefault(int(number), []).append(" ".join(line.split()))
    for number, lines in told.items():
        rest = iter(seen.get(number, []))
        for line in lines:
            if not any(is_line(line, other) for other in rest):
                bad.append(f"step {number}: {line!r} is not in {seen.get(number, [])[:8]}")
                break
    if len(told) < 10:
        return f"only {len(told)} steps"
    return "; ".join(bad[:3]) or None
