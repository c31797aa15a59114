#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sizes that a board has no memory for are lowered with a message, or refused; none aborts later.

sizes.py BOARD [ROUNDS]

Boots the image `work`, whose linkd has little memory of its own, and traces with random sizes of
all buffers, 16 bytes to 1 TB, under each policy, one command at a time and two at once. A command
must end with status 0 and what BEGIN recorded, unless it says that something was dropped; or with
status 1 and a message that names the options, their sizes and the memory that there is, which only
bufresize=manual or a size too small for a record may get. KYMO_SEED=n repeats a run.
"""
import os
import random
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
from board import ROOT, Booted, patience  # noqa: E402

SEED = int(os.environ.get("KYMO_SEED", random.SystemRandom().randrange(1 << 30)))
PROGRAM = """
BEGIN { @[1] = count(); x[1] = 2; s = speculation(); }
BEGIN { speculate(s); trace("guess"); }
BEGIN { commit(s); }
BEGIN { trace("begun"); }
profile-97 { trace(2); @[pid] = count(); x[pid]++; }
tick-200ms { exit(0); }
"""
OPTIONS = ["bufsize", "aggsize", "specsize", "dynvarsize"]
POLICIES = ["switch", "switch", "ring", "fill"]
SMALL = {"ring": 4096, "fill": 256}
FIXED = [["-b", "128k"], ["-b", "1m"], ["-b", "1m", "-x", "bufpolicy=ring"],
         ["-b", "64m"], ["-x", "aggsize=64m"], ["-b", "64m", "-x", "bufresize=manual"]]


def random_options(chance):
    given = ["-x", "bufpolicy=" + chance.choice(POLICIES)]
    for option in OPTIONS:
        if chance.random() < 0.6:
            given += ["-x", f"{option}={(1 << chance.randrange(4, 41)) + chance.randrange(16)}"]
    if chance.random() < 0.25:
        given += ["-x", "bufresize=manual"]
    return given


def start(spec, options):
    return subprocess.Popen([f"{ROOT}/build/kymo", "dtrace", "-t", spec, "-q", *options,
                             "-n", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            encoding="utf-8")


def is_small(options, policy):
    """BEGIN's records are 200 bytes: a small ring keeps newer ones, and one that is filled has the
    first of them only."""
    sizes = [int(o.split("=")[1]) for o in options if o.startswith("bufsize=") and o[8:].isdigit()]
    return "bufpolicy=" + policy in options and bool(sizes) and sizes[-1] < SMALL[policy]


def wrong(options, process):
    """What is wrong with how a command ended; None: nothing."""
    out, err = process.communicate(timeout=patience.seconds(120))
    status = process.returncode
    if status == 0:
        told = re.search(r"drop|lowered", err)
        if is_small(options, "ring"):
            return None if "2" in out or told else f"nothing in the ring: {out}{err}"
        first = "guess" if is_small(options, "fill") else "begun"
        return None if first in out or told else f"nothing of BEGIN: {out}{err}"
    named = re.search(r"Not enough space\ndtrace: asked for bufsize=\S+, aggsize=\S+, "
                      r"specsize=\S+, dynvarsize=\S+; the target has memory=", err)
    small = re.search(r"could not enable tracing: (?!Not enough space)", err)
    if status == 1 and ((named and "bufresize=manual" in options) or small) and not out:
        return None
    return f"status {status}: {out}{err}"


def main():
    board, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 12
    chance, passed, failed = random.Random(SEED), 0, 0
    print(f"KYMO_SEED={SEED}")
    with Booted(board, "work") as spec:
        turns = [[options] for options in FIXED]
        turns += [[random_options(chance) for _ in range(1 + (n % 4 == 3))] for n in range(rounds)]
        for turn in turns:
            for options, process in [(o, start(spec, o)) for o in turn]:
                what = wrong(options, process)
                passed, failed = passed + (not what), failed + bool(what)
                if what:
                    print("FAIL " + " ".join(options) + ": " + what)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
