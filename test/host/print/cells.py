#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""cells.py KYMO MKCAPTURE FOLDER: no cell of a CSV is a formula to a spreadsheet, and `kymo print
--csv` and `kymo export --csv` write the same texts of the same capture. Names of processes and
threads and of an event's arguments begin with each character that a spreadsheet looks at."""
import csv
import io
import os
import re
import subprocess
import sys

# Of the same length as what they replace.
NAMES = [b"=cmd|' /C calc'!A0", b"+1+cmd|\"", b"-2+3", b"@SUM(1)", b"\t=1+1", b"\r=1+1", b"\\=1",
         b"plain=1", b'"=1"']
SAME = ("ns", "cycles", "cpu", "event", "number", "pid", "tid", "process", "thread", "injected",
        "dump")


def rows(kymo, command, path):
    done = subprocess.run([kymo, command, "--csv", path], capture_output=True, check=True)
    return list(csv.DictReader(io.StringIO(done.stdout.decode(), newline=""), strict=True))


def hostile(data, name):
    """`name` in the place of each process's and thread's name, and at the front of the names that
    the event table has for arguments."""
    data = re.sub(rb"(server-with-a-long-name-\d|client\d|main)",
                  lambda m: (name + m[0])[:len(m[0])], data)
    return data.replace(b"rcvid", name[:1] + b"cvid") if name[:1] in b"=+-@" else data


def main(kymo, mkcapture, folder):
    path = os.path.join(folder, "cells.kev")
    subprocess.run([mkcapture, path, "2", "400", "3", "old"], check=True)
    with open(path, "rb") as file:
        sound = file.read()
    first = set()
    for name in NAMES:
        with open(path, "wb") as file:
            file.write(hostile(sound, name))
        printed = rows(kymo, "print", path)
        exported = [row for row in rows(kymo, "export", path) if row["kind"] == "event"]
        assert len(printed) == len(exported) > 100, (name, len(printed), len(exported))
        for mine, theirs in zip(printed, exported):
            for row in (mine, theirs):
                formulas = {key: cell for key, cell in row.items()
                            if re.match(r"[=+@\t\r]|-(?!\d+$)", cell)}
                assert not formulas, (name, formulas)
            assert all(mine[key] == theirs[key] for key in SAME), (name, mine, theirs)
            first |= {mine["process"][:4], mine["args"][:4]}
    # Each escape was seen, so the capture does have such names.
    assert {r"\075", r"\053", r"\055", r"\100", r"\011", r"\015", "\\\\=1"} <= first, first


if __name__ == "__main__":
    main(*sys.argv[1:])
