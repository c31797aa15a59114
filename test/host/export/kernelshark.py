# SPDX-License-Identifier: BSD-2-Clause
"""`kymo export --trace-dat`, read by KernelShark's library (kshark.c): CPU, time, task and name of
each event, and where it draws that events are missing, against `kymo export --jsonl`."""
import subprocess
from collections import defaultdict

from common import ROOT, STATUS, lines, run, same, want
from linux import Names


def check(capture, status=0):
    run("export", "--trace-dat", capture, "-o", "shark.dat", status=STATUS.get(capture, status))
    have = lines(capture, status=status)
    done = subprocess.run([f"{ROOT}/build/tools/kshark", "shark.dat"], capture_output=True,
                          check=False)
    want(done.returncode == 0, f"libkshark: {done.stderr.decode()[:300]}")
    ours, missed = defaultdict(list), defaultdict(int)
    for line in done.stdout.decode("utf-8").splitlines():
        cpu, ns, pid, name = line.split(" ", 3)
        if "missed" in name.lower():
            missed[int(cpu)] += 1
        else:
            ours[int(cpu)].append((int(ns), int(pid), name))
    theirs, names = defaultdict(list), Names(have)
    for item in have[1:-1]:
        if item["kind"] in ("event", "loss"):
            theirs[item["cpu"] or 0].append(item)
    same(sorted(ours), sorted(theirs), f"{capture}: CPUs")
    for cpu, items in theirs.items():
        same(len(ours[cpu]), len(items), f"{capture}: events of CPU {cpu}")
        for (ns, pid, name), item in zip(ours[cpu], items):
            if item["kind"] == "loss":
                same(name, "kymo/lost", "a loss")
                continue
            same(ns, item["ns"], f"time of {name}")
            if item["class"] not in ("THREAD", "PROCESS") and item["tid"] is not None:
                same(pid, names.tid(item["pid"], item["tid"]), f"task of {name}")
        same(missed[cpu] > 0, any(x["kind"] == "loss" for x in items), "whether events are missed")
