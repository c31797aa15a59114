#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Branches of kernel/, lib/link and lib/linkd that no unit program takes, by gcov, against a list.

    branches.py [--write] [--show FILE]...

Builds the unit programs of these folders for gcov in a copy of the tree, without sanitizers, whose
checks are branches, too, and runs them with one seed. branches.list has the number of branches of
each file that are never taken, and the files that no unit program links: those run on boards alone.
The list only shrinks: a file with more is red, and so is one without a row that has any. --show
names the places in a file; --write writes the list, after a test took a branch. Assertions don't
count.
"""
import collections
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LIST = os.path.join(HERE, "branches.list")
COPY = os.path.join(ROOT, f"build/tmp/branches.{os.getpid()}")
FOLDERS = ("kernel/", "lib/link/", "lib/linkd/")
PROGRAMS = re.compile(r"build/unit/((kernel|ipc)_\w+|linkd?|(text|tlb|lapic|clock)_test)$")
LEFT_OUT = ("kernel_crosscall_test",)  # under a race detector
# They count basic blocks or compare all memory, of which code for gcov has more: red here, in other
# suites green. What they take until then counts.
RED = ("kernel_phys_test", "kernel_trie_test", "kernel_order_test", "kernel_name_test",
       "ipc_direct_test", "ipc_window_test")
# The sanitizer of leaks adds nothing to the code; some programs call what they all have.
SETTINGS = [f"HOST_CC=cc --coverage -w -Xlinker --wrap=_exit -Xlinker {COPY}/exit.o",
            "HOST_SANITIZE=-fsanitize=leak -fno-pie -no-pie", "UNIT_UBSAN=", "HOST_DEBUG=-g0"]
# Tests that try things in processes of their own end these by _exit(), which keeps no counts.
EXIT = """void __gcov_dump(void);
void __real__exit(int status);
void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}
"""
SEEDS = {"SEED": "1", "KYMO_SEED": "1", "STEPS": "100000", "ROUNDS": "500", "EVERY": "50"}


def output(*command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def programs():
    units = output("make", "-s", "list-unit", cwd=ROOT).split()
    return [u for u in units if PROGRAMS.match(u) and os.path.basename(u) not in LEFT_OUT]


def build_and_run():
    os.makedirs(COPY)
    output("sh", "-c", f"git ls-files -coz --exclude-standard | xargs -0 cp -a --parents -t {COPY}",
           cwd=ROOT)
    output("cc", "-c", "-o", f"{COPY}/exit.o", "-x", "c", "-", input=EXIT)
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")}
    env.update(SEEDS, KYMO_LOCKS="build", LSAN_OPTIONS="detect_leaks=0")
    units = programs()
    output("make", "-s", f"-j{os.cpu_count()}", *SETTINGS, *units, cwd=COPY, env=env)
    for unit in units:
        steps = dict(env, STEPS="300") if unit.endswith("direct_test") else env
        done = subprocess.run([unit], cwd=COPY, env=steps, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode and os.path.basename(unit) not in RED:
            sys.exit(f"FAILED: {unit} is red when built for gcov:\n{done.stdout[-2000:]}")


def gcov(notes):
    """What one object's notes and counts say; empty for an object that never ran."""
    out = output("gcov", "--json-format", "--stdout", "--branch-probabilities", notes,
                 stderr=subprocess.DEVNULL, cwd=COPY)
    return [json.loads(line)["files"] for line in out.splitlines() if line.startswith("{")]


def all_counts():
    """Of each file and line, by the number of its branches: how often each was taken, at most."""
    found = collections.defaultdict(lambda: collections.defaultdict(dict))
    notes = [os.path.join(folder, name) for folder, _, names in os.walk(f"{COPY}/build")
             for name in names if name.endswith(".gcno")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for files in (files for result in pool.map(gcov, notes) for files in result):
            for file in files:
                name = os.path.normpath(file["file"])
                for line in file["lines"] if name.startswith(FOLDERS) else ():
                    counts = [branch["count"] for branch in line["branches"]]
                    at = found[name][line["line_number"]]
                    before = at.get(len(counts), counts)
                    at[len(counts)] = [max(pair) for pair in zip(counts, before)]
    return found


def never_taken(found):
    """The lines of each linked file with branches that are never taken, and how many."""
    result = {}
    for name, lines in found.items():
        with open(os.path.join(ROOT, name), encoding="utf-8") as f:
            text = f.read().splitlines()
        result[name] = {}
        for number, variants in lines.items():
            if "assert(" not in text[number - 1]:
                least = min(counts.count(0) for counts in variants.values())
                result[name].update({number: (least, text[number - 1])} if least else {})
    return result


def unlinked(found):
    names = output("git", "ls-files", "-co", "--exclude-standard", *FOLDERS, cwd=ROOT).split()
    return sorted(n for n in names if n.endswith(".c") and n not in found)


def read_list():
    with open(LIST, encoding="utf-8") as f:
        words = [line.split() for line in f if line.strip() and not line.startswith("#")]
    return {name: number if number == "boards" else int(number) for number, name in words}


def write_list(left, only_boards):
    with open(LIST, encoding="utf-8") as f:
        head = [line for line in f if line.startswith("#")]
    rows = [f"{sum(n for n, _ in lines.values()):6} {name}\n"
            for name, lines in left.items() if lines]
    rows += [f"boards {name}\n" for name in only_boards]
    with open(LIST, "w", encoding="utf-8") as f:
        f.write("".join(head + sorted(rows, key=lambda row: row.split()[1])))


def compare(left, only_boards):
    rows, wrong = read_list(), []
    for name, lines in sorted(left.items()):
        n, most = sum(n for n, _ in lines.values()), rows.get(name, 0)
        if most == "boards" or n > most:
            wrong.append(f"{name}: {n} branches never taken, the list has {most}: --show {name}")
    wrong += [f"{name}: no unit program links it" for name in only_boards
              if rows.get(name) != "boards"]
    wrong += [f"{name}: in the list, and no such file" for name in rows
              if not os.path.exists(os.path.join(ROOT, name))]
    return wrong


def main():
    words = sys.argv[1:]
    try:
        build_and_run()
        found = all_counts()
    finally:
        shutil.rmtree(COPY, ignore_errors=True)
    left, only_boards = never_taken(found), unlinked(found)
    for name in words[1:] if words[:1] == ["--show"] else ():
        for number, (n, text) in sorted(left.get(name, {}).items()):
            print(f"{name}:{number}: {n} never taken: {text.strip()}")
    if words[:1] == ["--write"]:
        write_list(left, only_boards)
    wrong = compare(left, only_boards)
    print("".join(f"FAILED: {line}\n" for line in wrong), end="")
    print(f"{len(left) - len(wrong)} passed, {len(wrong)} failed")
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
