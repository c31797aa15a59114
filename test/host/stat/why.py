#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""why.py: each thread that `kymo stat --json` lists is one life, which `kymo why --thread
PID:TID@N` finds, by the same name and with the same times in each state, in captures of simulated
systems (mkcapture simulate), in which pids and tids are used again and clients die. Where events
are lost a thread is covered longer by `kymo stat`, which needs no events of kernel calls for it."""
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "test/tool"))
import temporary  # noqa: E402

KYMO, MKCAPTURE = "build/kymo", "build/tools/mkcapture"
SEEDS = int(os.environ.get("SEEDS", "8"))
MOST = 12  # threads of a capture that are compared
END = "1000000"  # seconds: after all events
failed = []


def output(*command):
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return run.returncode, run.stdout


def id_of(thread):
    life = thread.get("life", 1)
    return f"{thread['pid']}:{thread['tid']}" + (f"@{life}" if life > 1 else "")


def why_of(capture, name):
    """The line of kymo why, and its times by state; (None, {}): it finds no such thread."""
    _, out = output(
        KYMO, "why", "--json", "--all", "--thread", name, "--from", "0", "--to", END, capture
    )
    if not out:
        return None, {}
    line = json.loads(out)
    times = {}
    for part in line["path"]:
        if part["depth"] == 0 and part["state"] not in ("unknown", "none"):
            times[part["state"]] = times.get(part["state"], 0) + part["to"] - part["from"]
    return line["thread"], times


def compare(capture, thread, lossy):
    name = id_of(thread) + ("" if "life" in thread else "@1")
    found, times = why_of(capture, name)
    if found is None:
        failed.append(f"{capture}: kymo why finds no thread {name}")
        return
    process = "" if thread["process"] == "?" else thread["process"]
    names = id_of(thread), process, thread["name"]
    if (id_of(found), found["process"], found["name"]) != names:
        failed.append(f"{capture}: {name} is {found} to kymo why, {thread} to kymo stat")
    for state in set(times) | set(thread["states_ns"]):
        stat, why = thread["states_ns"].get(state, 0), times.get(state, 0)
        if stat != why and not (lossy and (state == "RUNNING" or stat > why)):
            failed.append(f"{capture}: {name} was {state} for {stat} ns, by kymo why for {why} ns")


def check(folder, seed):
    lossy = seed % 4 == 3
    capture = f"{folder}/{seed}.kev"
    how = ["--seed", str(seed), "--cpus", str(1 + seed % 4), "--steps", "700"]
    output(MKCAPTURE, "simulate", *how, *(["--loss"] if lossy else []), capture)
    stat = json.loads(output(KYMO, "stat", "--json", capture)[1])
    threads = [thread for thread in stat["threads"] if not thread["idle"]]
    again = [thread for thread in threads if "life" in thread]
    for thread in (again + threads)[:MOST]:
        compare(capture, thread, lossy)
    return len(again), sum("aborted" in message for message in stat["slowest_messages"])


def main():
    with tempfile.TemporaryDirectory(dir=temporary.PLACE) as folder:
        counts = [check(folder, seed) for seed in range(1, SEEDS + 1)]
    for what, n in ("id was used again", 0), ("client died", 1):
        if not any(count[n] for count in counts):
            failed.append(f"in no capture an {what}: nothing was tested")
    for line in failed[:20]:
        print("FAIL", line)
    print(f"{0 if failed else SEEDS} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
