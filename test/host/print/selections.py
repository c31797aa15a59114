#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Selections of kymo print against a second opinion: selections.py KYMO MKCAPTURE FOLDER [ROUNDS]

Random captures, random selections. What `kymo print --json` prints of all of a capture is filtered
here, event by event, from the rules of docs/man/kymo-print.1 and docs/inside/ring.md; `--json` with
the selection must print the same lines, `--csv` and the plain lines must agree with them.
SEED=n repeats."""
import csv
import fnmatch
import io
import json
import os
import random
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tool"))
import patience  # noqa: E402

CLASSES = {"kercall": {"KER_CALL", "KER_EXIT", "INT_CALL"}, "kercallexit": {"KER_EXIT"},
           "int": {"INT"}, "thread": {"THREAD"}, "process": {"PROCESS"}, "comm": {"COMM"},
           "system": {"SYSTEM"}, "user": {"USER"}, "control": {"CONTROL"}}
EVENTS = {"THRUNNING": lambda e: e["event"] == "THRUNNING",
          "th*": lambda e: (e["event"] or "").startswith("TH"),
          "kercallexit:MSG_SENDV": lambda e: (e["class"], e["event"]) == ("KER_EXIT", "MSG_SENDV"),
          "user:*": lambda e: e["class"] == "USER",
          "user:1": lambda e: e["class"] == "USER" and e["number"] == 1,
          "*_MESSAGE,INT_ENTR": lambda e: e["event"] in ("SND_MESSAGE", "REC_MESSAGE",
                                                         "REPLY_MESSAGE", "INT_ENTR")}


class Failed(Exception):
    pass


def run(kymo, *arguments, status=0, command="print"):
    done = subprocess.run([kymo, command, *arguments], capture_output=True,
                          timeout=patience.seconds(60), check=False)
    if done.returncode != status:
        raise Failed(f"kymo {command} {' '.join(arguments)}: status {done.returncode}: "
                     f"{done.stderr.decode()[:300]}")
    return done.stdout.decode("ascii")


def is_loss_of_threads(e, last):
    """Whether THREAD events may be missing right before this event. `last`: of a CPU's buffers."""
    if e["event"] == "BUFFER":
        before = last.get(e["cpu"])
        last[e["cpu"]] = e["args"]["sequence"]
        return before is not None and e["args"]["sequence"] != before + 1
    return e["event"] == "DROPPED" and e["args"]["class"] == "PR_TH"


def owners(events):
    """Of each event the (pid, tid) that select it: whose it is, and what it tells of."""
    running, dying, found, last = {}, {}, [], {}
    for e in events:
        cpu, args = e["cpu"], e["args"]
        if is_loss_of_threads(e, last):
            running.pop(cpu, None)
            dying.pop(cpu, None)
        whose = [running.get(cpu)]
        if e["class"] == "CONTROL":
            whose = [None]
        elif e["class"] == "THREAD":
            whose = [(args["pid"], args["tid"])]
            if e["event"] == "THRUNNING":
                running[cpu] = whose[0]
                dying.pop(cpu, None)
            elif e["event"] == "THDEAD":
                dying[cpu] = whose[0]
            elif e["event"] == "THDESTROY":
                dying.pop(cpu, None)
        elif e["class"] == "INT_CALL" and cpu in dying:
            whose = [dying[cpu]]
        elif e["class"] == "PROCESS":
            named = e["event"] == "PROCTHREAD_NAME"
            whose.append((args["pid"], args["tid"] if named else None))
        elif e["event"] == "MAPNAME":
            whose.append((args["pid"], None))
        found.append(whose)
    return found


def names_at(events):
    """Of each event the names of processes that hold there."""
    now, found = {}, []
    for e in events:
        if e["event"] == "PROCCREATE_NAME":
            now = dict(now)
            now[e["args"]["pid"]] = e["args"]["name"]
        found.append(now)
    return found


def choose(rng, events, ncpu):
    """A random selection: (options, what says of an event and its number whether it is in it)."""
    options, tests = [], []
    whose, names = owners(events), names_at(events)
    # The account of a CPU's first buffer, if the medium refused it, has no time.
    events = [e for e in events if e["event"] != "DROPPED"]
    start, end = int(events[0]["cycles"], 16), int(events[-1]["cycles"], 16)

    def when(option, is_in):
        moment = rng.choice([rng.randint(start, end + 5), int(rng.choice(events)["cycles"], 16)])
        text = rng.choice([f"{moment:#x}", f"{moment - start}us", f"{(moment - start) / 1e6:.6f}",
                           f"{(moment - start) * 1000}ns"])  # a clock of 1 MHz
        options.extend([option, text])
        tests.append(lambda i, e: is_in(int(e["cycles"], 16), moment))
        return moment

    def owned(option, text, is_it):
        options.extend([option, text])
        return is_it

    if rng.random() < 0.5:
        moment = when("--from", lambda time, moment: time >= moment)
    else:
        moment = 0
    if rng.random() < 0.5 and moment < end:
        later = max(moment + 1, rng.choice([rng.randint(moment + 1, end + 9),
                                            int(rng.choice(events)["cycles"], 16)]))
        options.extend(["--to", f"{later:#x}"])
        tests.append(lambda i, e: int(e["cycles"], 16) < later)
    if rng.random() < 0.3:
        cpus = set(rng.sample(range(ncpu), rng.randint(1, ncpu)))
        options.extend(["--cpu", ",".join(map(str, cpus))])
        tests.append(lambda i, e: e["cpu"] in cpus)
    if rng.random() < 0.3:
        chosen = rng.sample(sorted(CLASSES), 2)
        options.extend(["--class", chosen[0], "--class", chosen[1]])
        tests.append(lambda i, e: any(e["class"] in CLASSES[c] for c in chosen))
    if rng.random() < 0.3:
        event = rng.choice(sorted(EVENTS))
        options.extend(["--event", event])
        tests.append(lambda i, e: EVENTS[event](e))
    owner_tests = []
    if rng.random() < 0.5:
        pids = {rng.randint(1, 2 * ncpu + 12) for _ in range(2)}
        owner_tests.append(owned("--pid", ",".join(map(str, pids)), lambda i, w: w[0] in pids))
    if rng.random() < 0.2:
        tid = rng.randint(1, 2)
        owner_tests.append(owned("--tid", str(tid), lambda i, w: w[1] == tid))
    ever = [e["args"]["name"] for e in events if e["event"] == "PROCCREATE_NAME"]
    globs = [g for g in ("client*", "server-with-a-long-name-0", "*[01]", "*")
             if fnmatch.filter(ever, g)]
    if globs and rng.random() < 0.3:
        glob = rng.choice(globs)
        owner_tests.append(owned("--name", glob, lambda i, w: w[0] in names[i] and
                                 fnmatch.fnmatchcase(names[i][w[0]], glob)))
    if owner_tests:
        tests.append(lambda i, e: any(w is not None and all(t(i, w) for t in owner_tests)
                                      for w in whose[i]))
    return options, lambda i, e: all(t(i, e) for t in tests)


def compare(kymo, path, ncpu, rng, rounds):
    lines = run(kymo, "--json", path).splitlines()
    events = [json.loads(line) for line in lines]
    whose = owners(events)
    for e, w in zip(events, whose):
        if (None if e["pid"] is None else (e["pid"], e["tid"])) != w[0]:
            raise Failed(f"{path}: {e} is {w[0]}'s")
    some = 0
    for _ in range(rounds):
        options, selected = choose(rng, events, ncpu)
        wanted = [line for i, line in enumerate(lines) if selected(i, events[i])]
        given = run(kymo, "--json", *options, path).splitlines()
        if given != wanted:
            first = next((p for p in zip(given + [""], wanted + [""]) if p[0] != p[1]), None)
            raise Failed(f"{path}: {' '.join(options)}: {len(given)} events instead of "
                         f"{len(wanted)}; the first that differs: {first}")
        some += 0 < len(wanted) < len(lines)
        plain = run(kymo, "-n", "--time", "ns", *options, path).split(" -- KERNEL EVENTS --\n")[1]
        times = [int(t) for t in re.findall(r"^t:(-?\d+) CPU:\d\d ", plain, re.M)]
        if times != [json.loads(line)["ns"] for line in wanted]:
            raise Failed(f"{path}: {' '.join(options)}: -n prints others")
        text = run(kymo, "--csv", *options, path)
        if text.count("\n") != text.count("\r\n"):
            raise Failed("a line of --csv does not end with CR LF")
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
        for row, line in zip(rows, wanted):
            e = json.loads(line)
            for key in ("ns", "cycles", "cpu", "class", "event", "number", "pid", "tid", "process"):
                if row[key] != ("" if e[key] is None else str(e[key])):
                    raise Failed(f"{path}: --csv has {key} = {row[key]} of {line}")
        if len(rows) != len(wanted):
            raise Failed(f"{path}: --csv has {len(rows)} rows instead of {len(wanted)}")
    return some


def main(kymo, mkcapture, folder, rounds="12"):
    seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
    rng = random.Random(seed)
    print(f"SEED={seed}")
    path = os.path.join(folder, "select.kev")
    some = 0
    for ncpu, kind in [(1, []), (2, ["swapped"]), (4, []), (3, ["lossy"])]:
        arguments = [path, str(ncpu), "1500", str(rng.randrange(1 << 30)), *kind]
        subprocess.run([mkcapture, *arguments], check=True, timeout=patience.seconds(60))
        try:
            some += compare(kymo, path, ncpu, rng, int(rounds))
        except Failed as why:
            print(f"FAILED: {why}; mkcapture {' '.join(arguments)}")
            return 1
    if 3 * some < int(rounds):  # of four times as many: a quarter on average
        print(f"FAILED: only {some} selections had some events and not all")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
