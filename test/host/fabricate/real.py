#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Holds the simulated system against real captures: what can follow what, of a thread and of a CPU.

real.py [--all] [CAPTURE...]: pairs of states of a thread, and pairs of events of a CPU, of real
boots (CAPTURE; those of test/host/golden if none is given) and of simulated systems (mkcapture
simulate). It prints the pairs that only one side has, and how often. A pair of states that only the
simulator has fails, unless BY_CODE names the code that makes it: the simulator must not make what
no kernel makes. --all prints the pairs of CPUs, too, but for calls that programs choose.
"""
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "test/tool"))
import temporary  # noqa: E402,F401

KYMO = os.path.join(ROOT, "build/kymo")
MKCAPTURE = os.path.join(ROOT, "build/tools/mkcapture")
SEEDS = 24
# Pairs of states that few boots show, and the code of the kernel that makes them.
BY_CODE = {
    ("THSEND", "THREADY"): "msg_client_fail(): the server, or the time, is over",
    ("THREADY", "THREADY"): "thread_end_schedule(): it ends its process",
}
# Any state: kernel/thread/thread_end.c, thread_die(), of a thread that another one ends.
BY_CODE_LAST = "THDEAD"
LINE = re.compile(r"t:0x[0-9a-f]+ CPU:(\d+) (\S[^:]*?) *:(\S+)(.*)")
FIELD = re.compile(r"\b(pid|tid|dump):(\S+)")


def events(path):
    """(cpu, class, name, fields) of each event, in the order of `kymo print`."""
    out = subprocess.run([KYMO, "print", path], capture_output=True, text=True, check=False).stdout
    found = None
    for line in out.splitlines():
        match = LINE.match(line)
        if match:
            if found:
                yield found
            cpu, kind, name, rest = match.groups()
            found = (int(cpu), kind.strip(), name, dict(FIELD.findall(rest)))
        elif found and line.startswith(" "):
            found[3].update(FIELD.findall(line))
    if found:
        yield found


class Pairs:
    """Counts of pairs, by CPU and by thread."""

    def __init__(self):
        self.cpus, self.threads = collections.Counter(), collections.Counter()

    def take(self, path):
        last_of_cpu, last_of_thread, current = {}, {}, {}
        for cpu, kind, name, fields in events(path):
            if kind == "CONTROL" or fields.get("dump") == "1":
                continue
            thread = (fields.get("pid"), fields.get("tid"))
            token = kind if kind.startswith("INT_") and kind != "INT_CALL" else name
            if kind in ("KER_CALL", "KER_EXIT", "INT_CALL"):
                token = f"{kind} {name}"
            if kind == "THREAD":
                if name != "THRUNNING" and name.startswith("TH"):
                    token += " of itself" if current.get(cpu) == thread else " of another"
                before = last_of_thread.get(thread)
                if before:
                    self.threads[before, name] += 1
                last_of_thread[thread] = None if name == "THDESTROY" else name
                if name == "THRUNNING":
                    current[cpu] = thread
            if cpu in last_of_cpu:
                self.cpus[last_of_cpu[cpu], token] += 1
            last_of_cpu[cpu] = token

    def names(self):
        return {name for pair in self.cpus for name in pair}


def simulated():
    pairs = Pairs()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "made.kev")
        for seed in range(1, SEEDS + 1):
            subprocess.run([MKCAPTURE, "simulate", "--seed", str(seed), "--cpus",
                            str(1 + seed % 8), "--steps", "1500", path],
                           stdout=subprocess.DEVNULL, check=True)
            pairs.take(path)
    return pairs


def listed(title, these, those, known):
    """Prints the pairs of `these` that `those` lacks, of names that both know."""
    missing = [(count, pair) for pair, count in these.items()
               if pair not in those and pair[0] in known and pair[1] in known]
    for count, (first, second) in sorted(missing, reverse=True):
        why = BY_CODE.get((first, second), "") if second != BY_CODE_LAST else "a killed thread"
        print(f"{title}: {first} -> {second} ({count}) {why}".rstrip())
    return {pair for _, pair in missing}


def main():
    arguments = [a for a in sys.argv[1:] if a != "--all"]
    captures = arguments or sorted(glob.glob(os.path.join(ROOT, "test/host/golden/*.kev")))
    real, made = Pairs(), simulated()
    for path in filter(os.path.isfile, captures):
        real.take(path)
    states = {name for pair in real.threads for name in pair}
    states &= {name for pair in made.threads for name in pair}
    listed("a thread, only real", real.threads, made.threads, states)
    bad = {pair for pair in listed("a thread, only simulated", made.threads, real.threads, states)
           if pair not in BY_CODE and pair[1] != BY_CODE_LAST}
    if "--all" in sys.argv:
        known = {n for n in real.names() & made.names() if not n.startswith("KER_CALL")}
        listed("a CPU, only real", real.cpus, made.cpus, known)
        listed("a CPU, only simulated", made.cpus, real.cpus, known)
    for first, second in sorted(bad):
        print(f"FAILED: {first} -> {second}: no real capture has it, and BY_CODE names no code")
    print(f"{len(made.threads) - len(bad)} passed, {len(bad)} failed")
    return 1 if bad else 0


sys.exit(main())
