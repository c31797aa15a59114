# SPDX-License-Identifier: BSD-2-Clause
"""Captures in memory objects: test/board/images/memory.start runs the cases, each after a line
`hello NAME`; what is saved goes to NAME.kev."""
import os
import re
import struct
import subprocess

import kev
import logger

COUNT = os.path.join(kev.ROOT, "build/tools/count_user_events")

# What it says, and its status.
REFUSED = {
    "no-size": ("a capture in memory needs -S SIZE, the size of its memory object", 2),
    "no-size-f": ("a capture in memory needs -S SIZE, the size of its memory object", 2),
    "two-places": ("-M and -f name two destinations of the capture: leave out one of them", 2),
    "not-able": ("memory:tracebuffer.kev: Not owner", 1),
    "too-large": ("memory:tracebuffer.kev: Not enough space", 1),
    "too-small": ("-S 20480 is too small for the header, a buffer and the account of losses: "
                  "give at least ", 1),
    "tiny": ("-S 1024 is too small for the header, a buffer and the account of losses: "
             "give at least ", 1),
    "too-long": ("memory:123456789012345678901234567890123456789012345678: "
                 "File or path name too long", 1),
    "save-cut": ("-S 100 is too small for tracebuffer.kev: give at least ", 1),
    "nothing": ("nothing: No such file or directory", 1),
    "nothing-to-remove": ("nothing: No such file or directory", 1),
    "none-kept": ("-R: there is no /ktrace.buffers: make one with -P", 1),
    "reuse-gone": ("-R: there is no /ktrace.buffers: make one with -P", 1),
    "not-able-to-keep": ("/ktrace.buffers: this program needs the abilities trace and memory", 1),
    "not-yours": ("tracebuffer.kev: Permission denied: a process that has ended created it "
                  "with mode 640\na program with its creator's abilities may remove it", 1),
    "small-reuse": ("-R: /ktrace.buffers has 10000 bytes, too few for buffers of each CPU: make a "
                    "new one with -P", 1),
    "foreign-reuse": ("ktrace.buffers: Permission denied: a process that has ended created it "
                      "with mode 600\n", 1),
    "foreign-keep": ("ktrace.buffers: Permission denied: a process that has ended created it "
                     "with mode 600\n", 1),
}


def what_cannot_be_is_refused(boot):
    said = logger.cases(boot)
    wrong = [f"{name}: {said[name][:200]!r}" for name, (message, status) in REFUSED.items()
             if f"tracelogger: {message}" not in said[name] or
             f"exited with status {status}\n" not in said[name]]
    if "this program needs the ability memory" not in said["not-able"]:
        wrong.append("not-able: doesn't say which")
    if os.path.exists(os.path.join(boot.dir, "stolen.kev")):
        wrong.append("who isn't able has a file")
    return "; ".join(wrong) or None


def saved_is_what_was_recorded(boot):
    """To the byte as many as the logger said, and every event of the storm is there once."""
    said, wrong = logger.cases(boot), []
    for name in "whole", "again", "cut", "ring":
        found = logger.SUMMARY.search(said[name])
        path = os.path.join(boot.dir, name + ".kev")
        _, lost, _, written, slots, size, _ = found.groups()
        there = len(kev.slot_bytes(path))
        capture = logger.Capture(path)
        saved = f": {size} bytes saved to {name}.kev\n"
        if (os.path.getsize(path) != int(size) or capture.buffers != int(written) or
                saved not in said[name + "-saved"]):
            wrong.append(f"{name}: {found[0]}, {os.path.getsize(path)} bytes")
        if name != "cut" and there != 16 * int(slots):
            wrong.append(f"{name}: {there} bytes for {slots} slots")
        if int(lost) != 0:
            wrong.append(f"{name}: {lost} lost")
        told = subprocess.run([logger.KYMO, "print", "-v", path], capture_output=True, text=True)
        if told.returncode != 0:
            wrong.append(f"{name}: {told.stderr[:200]}")
    with open(os.path.join(boot.dir, "whole.kev"), "rb") as one, \
            open(os.path.join(boot.dir, "copy.kev"), "rb") as other:
        if one.read() != other.read():
            wrong.append("a copy from memory to memory differs")
    return "; ".join(wrong) or None


def counted(boot, name):
    made = re.findall(r"evstorm: producer (\d+) made (\d+)", logger.cases(boot)[name])
    done = subprocess.run([COUNT, os.path.join(boot.dir, name + ".kev"), str(boot.cpus()),
                           *(f"{p}={n}" for p, n in made)], capture_output=True, text=True)
    with open(os.path.join(boot.dir, name + ".account.txt"), "w") as f:
        f.write(done.stdout + done.stderr)
    return done.returncode == 0 and bool(made), int((re.search(
        r"\+ DROPPED (\d+)", done.stdout) or [0, -1])[1]), (done.stdout + done.stderr)[-200:]


def events_are_accounted_for(boot):
    wrong = []
    for name, drops in ("whole", False), ("again", False):
        good, lost, text = counted(boot, name)
        if not good or (lost != 0) != drops:
            wrong.append(f"{name}: {lost} lost, {text}")
    return "; ".join(wrong) or None


def what_is_full_is_cut_at_a_whole_buffer(boot):
    said = logger.cases(boot)["cut"]
    path = os.path.join(boot.dir, "cut.kev")
    numbers = logger.Capture(path).numbers
    behind = re.search(r"-S 102400 is reached: the capture ends with a whole buffer, and the (\d+) "
                       r"events after it are counted in it as lost", said)
    if not behind or numbers != list(range(len(numbers))) or os.path.getsize(path) > 102400:
        return f"{said[-300:]!r} {len(numbers)} {os.path.getsize(path)}"
    dropped = sum(d2 for cls, event, d1, d2 in kev.slots(path)
                  if cls == kev.CLASSES["CONTROL"] and event == 8)
    return None if dropped == int(behind[1]) > 0 else f"{dropped} DROPPED of {behind[1]}"


def the_killed_ones_is_readable_and_said_to_be_cut(boot):
    path = os.path.join(boot.dir, "killed.kev")
    numbers = logger.Capture(path).numbers
    done = subprocess.run([logger.KYMO, "print", path], capture_output=True, text=True)
    if (done.returncode, "without an end mark" in done.stderr) != (1, True):
        return f"status {done.returncode}: {done.stderr[:200]}"
    if numbers != list(range(len(numbers))) or not numbers:
        return f"{len(numbers)} events; {done.stderr[:200]}"
    return None if len(numbers) < 9000 else "it was killed too late"


def kept_is_what_was_recorded(boot):
    """What is in each kept buffer stands in the capture in one piece, byte for byte."""
    with open(os.path.join(boot.dir, "keep.raw"), "rb") as f:
        raw = f.read()
    with open(os.path.join(boot.dir, "keep.kev"), "rb") as f:
        start = kev.slots_offset(f)
        f.seek(start)
        capture = f.read()
    if len(raw) != 5 * boot.cpus() * 16384 or "the kernel's buffers are kept in /ktrace.buffers" \
            not in logger.cases(boot)["keep"]:
        return f"{len(raw)} bytes"
    found = 0
    for at in range(0, len(raw), 16384):
        header, _, _, slots = struct.unpack_from("<4I", raw, at)
        if header >> 10 & 0x1f == kev.CLASSES["CONTROL"] and header & 0x3ff == 2:
            if capture.find(raw[at:at + 16 * slots]) % 16 != 0:
                return f"buffer {at // 16384} of {slots} slots isn't in the capture"
            found += 1
    return None if found >= 5 else f"only {found} buffers"


def reused_ones_work(boot):
    said, wrong = logger.cases(boot), []
    if "5 kernel buffers per CPU" not in said["reuse"]:
        wrong.append(said["reuse"][:200])
    for name in "keep", "reuse":
        good, lost, text = counted(boot, name)
        if not good or lost != 0:
            wrong.append(f"{name}: {lost} lost, {text}")
    numbers = logger.Capture(os.path.join(boot.dir, "last.kev")).numbers
    if numbers != list(range(9000 - len(numbers), 9000)) or not numbers:
        wrong.append(f"last: {len(numbers)} events")
    return "; ".join(wrong) or None


def removed_is_gone(boot):
    said = logger.cases(boot)
    return None if said["removed"].count("No such file") == 1 and \
        "tracelogger" not in said["end"] else said["removed"] + said["end"]


OBJECT = re.compile(r"^ +(\d+) +(\d+)k +(-|\d+) +(\d+) +(\d+) +(\d+)  (\S+)(.*)$", re.M)


def pidin_lists_them(boot):
    """What is left behind, and what tracelogger -P keeps: its size, who uses it."""
    said, wrong = logger.cases(boot), []
    for name, want in ("leave", ("70000", "-", "600", "0", "0", "")), \
                      ("listed", (str(5 * boot.cpus() * 16384), "-", "660", "0", "0", "")):
        rows = {row[6]: row for row in OBJECT.findall(said[name])}
        row = rows.get("ktrace.buffers", ("",) * 8)
        if (row[0], *row[2:6], row[7]) != want or int(row[1]) * 1024 < int(row[0]):
            wrong.append(f"{name}: {said[name]!r}")
        if name == "listed" and not {"tracebuffer.kev", "cut.kev"} <= rows.keys():
            wrong.append(f"{name}: only {rows.keys()}")
    return "; ".join(wrong) or None


CHECKS = [pidin_lists_them, what_cannot_be_is_refused, saved_is_what_was_recorded,
          events_are_accounted_for,
          what_is_full_is_cut_at_a_whole_buffer, the_killed_ones_is_readable_and_said_to_be_cut,
          kept_is_what_was_recorded, reused_ones_work, removed_is_gone]
