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
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "../report"))
from page_blocks import blocks  # noqa: E402

# It says which programs ran, and has no sums of its buffers, as the fabricator's.
OLD = os.path.join(HERE, "../golden/old/2-virt-a64.kev")
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
    yield "export --ctf", ctf_of(kymo, path, folder)
    yield "why", read(kymo, "why", "--waits", "999", path)
    yield "report", page_of(kymo, path, folder)
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


def ctf_of(kymo, path, folder):
    out = os.path.join(folder, "names.ctf")
    shutil.rmtree(out, ignore_errors=True)
    read(kymo, "export", "--ctf", path, "-o", out)
    text = ""
    for folder, _, names in os.walk(out):
        for name in sorted(names):
            with open(os.path.join(folder, name), "rb") as f:
                text += f.read().decode("utf-8", "replace")
    return text


def page_of(kymo, path, folder):
    """The texts of the page's tables."""
    out = os.path.join(folder, "names.html")
    read(kymo, "report", path, "-o", out, "--force")
    text = "".join(data.decode("utf-8") for name, _, data in blocks(out) if name == "tables")
    return set(leaves(json.loads(text)))


def leaves(tree):
    """All texts of a JSON value."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, (dict, list)):
        for child in tree.values() if isinstance(tree, dict) else tree:
            yield from leaves(child)


def programs_of(kymo, path):
    """Those that `kymo symbols` names: of a capture that says which programs ran."""
    yield "symbols", read(kymo, "symbols", path)
    yield "symbols --json", {json.loads(x)["name"]
                             for x in read(kymo, "symbols", "--json", path).splitlines()}


def main(kymo, mkcapture, folder):
    path = os.path.join(folder, "names.kev")
    subprocess.run([mkcapture, path, "2", "400", "3", "old"], check=True)
    with open(path, "rb") as file:
        sound = file.read()
    with open(OLD, "rb") as file:
        mapped = file.read()
    wrong = []
    for name, text in NAMES:
        with open(path, "wb") as file:
            # As long as what it replaces: the rest of the event's words is zero.
            file.write(re.sub(rb"client\d", name.ljust(len("client0"), b"\0"), sound))
        programs = os.path.join(folder, "programs.kev")
        with open(programs, "wb") as file:
            word = name.ljust(8, b"\0")  # in two slots, between whose words are others
            file.write(re.sub(rb"t_ms(.{8})g\0\0\0", lambda m: word[:4] + m[1] + word[4:], mapped,
                              flags=re.DOTALL))
        for where, have in [*texts(kymo, path, folder), *programs_of(kymo, programs)]:
            parts = have if isinstance(have, set) else {have}
            if not any(text in (part or "") for part in parts):
                wrong.append(f"{where}: no {text!r}: {[str(x)[:40] for x in parts][:9]}")
    assert not wrong, "\n".join(wrong)


if __name__ == "__main__":
    main(*sys.argv[1:])
