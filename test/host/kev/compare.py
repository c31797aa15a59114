#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""compare.py KYMO DUMP CAPTURE: what test/host/kev/dump.c gives is what `kymo print --json` prints,
of the whole capture and of selections of it."""
import json
import subprocess
import sys

D_EVENTS = dict(enumerate("NOTES RECORD TAKEN ENTRY ENTRIES STATUS PROCESS".split(), 1))
SELECTIONS = [(), ("class", "comm,thread"), ("cpu", "0"), ("from", "1ms"), ("to", "2ms"),
              ("event", "THR*"), ("pid", "2-4,10"), ("tid", "1")]


def events(words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def same_value(ours, theirs):
    if isinstance(ours, int) and isinstance(theirs, str):
        theirs = int(theirs, 16)
    return ours == theirs


def same(ours, theirs):
    if theirs["class"] == "D":  # the library names these, and their words
        theirs = dict(theirs, event=D_EVENTS.get(theirs["number"]), args=ours["args"])
    return {k: v for k, v in ours.items() if k != "args"} == \
        {k: v for k, v in theirs.items() if k != "args"} and \
        list(ours["args"]) == list(theirs["args"]) and \
        all(same_value(ours["args"][k], theirs["args"][k]) for k in theirs["args"])


def main():
    kymo, dump, capture = sys.argv[1:]
    for selection in SELECTIONS:
        options = [f"--{selection[0]}", selection[1]] if selection else []
        status, theirs = events([kymo, "print", "--json", *options, capture])
        if selection and status == 2:
            continue  # the capture has nothing of the kind
        _, ours = events([dump, capture, *selection])
        if len(ours) != len(theirs) or not (ours or selection):
            sys.exit(f"{selection}: {len(ours)} events, not {len(theirs)}")
        for one, other in zip(ours, theirs):
            if not same(one, other):
                sys.exit(f"{selection}:\n{one}\nis not\n{other}")


main()
