# SPDX-License-Identifier: BSD-2-Clause
"""What is remembered of suites that have run here, in build/check/: how long each took, and with
which inputs it last passed, so that `make quick` and `make check-all` need not repeat it."""
import hashlib
import json
import os
import subprocess

import suite_list

MARKS = "build/check/marks.json"


def read():
    """{suite's name: {"cpu": seconds, "passed": [keys]}}; a file that can't be read is none."""
    try:
        with open(MARKS, encoding="utf-8") as f:
            marks = json.load(f)
        return marks if isinstance(marks, dict) else {}
    except (OSError, ValueError):
        return {}


def write(marks):
    part = f"{MARKS}.{os.getpid()}"
    with open(part, "w", encoding="utf-8") as f:
        json.dump(marks, f, indent=0, sort_keys=True)
    os.replace(part, MARKS)


def git(*words):
    return subprocess.run(["git", *words], capture_output=True, check=True).stdout


def tree():
    """The contents of all files that git tracks or would track, as a number; None without git."""
    try:
        total = hashlib.sha256(git("ls-files", "-s"))
        total.update(git("rev-parse", "HEAD"))
        total.update(git("diff", "--no-ext-diff", "--binary"))
        for name in git("ls-files", "-z", "--others", "--exclude-standard").split(b"\0"):
            if name:
                total.update(name)
                total.update(contents(name))
        return total.hexdigest()
    except (OSError, subprocess.CalledProcessError):
        return None


def contents(path):
    """The digest of a file, or of all files of a folder."""
    if os.path.isdir(path):
        total = hashlib.sha256()
        for folder, folders, files in sorted(os.walk(path)):
            folders[:] = sorted(f for f in folders if f not in ("__pycache__", b"__pycache__"))
            for name in sorted(files):
                total.update(os.fsencode(name) + contents(os.path.join(folder, name)))
        return total.digest()
    try:
        with open(path, "rb") as f:
            return hashlib.file_digest(f, "sha256").digest()
    except OSError:
        return b"none"


def key(suite, of_tree):
    """What a suite's verdict depends on: its command and either the files that it needs, if it is
    one of `make quick` that has such, or the whole tree. None: nobody can tell."""
    files = suite_list.files_of(suite) if suite.tier == "quick" else None
    if files is None and of_tree is None:
        return None
    total = hashlib.sha256(suite.command.encode())
    for part in [contents(path) for path in files] if files else [of_tree.encode()]:
        total.update(part)
    return total.hexdigest()[:24]


def passed_before(marks, suite, of_tree):
    mine = key(suite, of_tree)
    return mine is not None and mine in marks.get(suite.name, {}).get("passed", [])


def remember(marks, result, of_tree):
    """Keeps the last few inputs with which a suite passed: to go back to one is to be done."""
    mark = marks.setdefault(result.suite.name, {})
    mark["cpu"] = round(result.cpu, 1)
    mine = key(result.suite, of_tree)
    if mine and not result.failed:
        mark["passed"] = ([mine] + [k for k in mark.get("passed", []) if k != mine])[:4]
    elif mine:
        mark["passed"] = [k for k in mark.get("passed", []) if k != mine]
