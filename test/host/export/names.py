#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""names.py KYMO MKCAPTURE FOLDER: every command and export prints the same text of a name.

UTF-8 stays as it is; control characters, controls of the writing direction and bytes that are no
UTF-8 are octal escapes, as host/escape.h has it."""
import csv
import io
import json
import os
import re
import subprocess
import sys

# A name, and the text that stands for it; no longer than the name that it replaces.
NAMES = [("é中".encode(), "é中"), (b"a\xe9b", r"a\351b"), (b"a\x1b[mb", r"a\033[mb"),
         ("a\u202eb".encode(), r"a\342\200\256b"), ("a\u009bb".encode(), r"a\302\233b"),
         (b"<&\"'>", "<&\"'>"),
         (b"a\xe4\xb8", r"a\344\270")]


def read(kymo, *words):
    done = subprocess.run([kymo, *words], capture_output=True, check=False)
    assert done.returncode in (0, 1), (words, done.stderr)
    return done.stdout.decode("utf-8")


def cells(text, column):
    return {row[column] for row in csv.DictReader(io.StringIO(text, newline=""), strict=True)}


def texts(kymo, path, folder):
    """What each command and export has of the capture, in the form in which a reader gets it."""
    out = os.path.join(folder, "names.out")
    yield "print", read(kymo, "print", path)
    yield "print --csv", cells(read(kymo, "print", "--csv", path), "process")
    yield "print --json", {json.loads(x)["process"]
                           for x in read(kymo, "print", "--json", path).splitlines()}
    yield "stat", read(kymo, "stat", "--all", path)
    threads = json.loads(read(kymo, "stat", "--json", path))["threads"]
    yield "stat --json", {t["process"] for t in threads}
    yield "export --csv", cells(read(kymo, "export", "--csv", path), "process")
    yield "export --jsonl", {json.loads(x).get("process")
                             for x in read(kymo, "export", "--jsonl", path).splitlines()}
    for form in "chrome", "speedscope", "perfetto", "trace-dat":
        read(kymo, "export", "--" + form, path, "-o", out, "--force")
        with open(out, "rb") as f:
            data = f.read()
        if form == "chrome":
            yield form, {r["args"]["name"] for r in json.loads(data)["traceEvents"]
                         if r["ph"] == "M"}
        elif form == "speedscope":
            quoted = " ".join(re.findall(r'"((?:[^"\\]|\\.)*)"', data.decode()))
            yield form, quoted.replace(r"\\", "\\").replace(r"\"", '"')
        else:
            yield form, data.decode("utf-8", "replace")


def main(kymo, mkcapture, folder):
    path = os.path.join(folder, "names.kev")
    subprocess.run([mkcapture, path, "2", "400", "3", "old"], check=True)
    with open(path, "rb") as file:
        sound = file.read()
    wrong = []
    for name, text in NAMES:
        with open(path, "wb") as file:
            # As long as what it replaces: the rest of the event's words is zero.
            file.write(re.sub(rb"client\d", name.ljust(len("client0"), b"\0"), sound))
        for where, have in texts(kymo, path, folder):
            parts = have if isinstance(have, set) else {have}
            if not any(text in (part or "") for part in parts):
                wrong.append(f"{where}: no {text!r}: {[str(x)[:40] for x in parts][:9]}")
    assert not wrong, "\n".join(wrong)


if __name__ == "__main__":
    main(*sys.argv[1:])
