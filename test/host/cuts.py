#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""kymo cut: cuts.py KYMO MKCAPTURE FOLDER [ROUNDS]

Random captures (several CPUs, the other byte order, losses), random selections: what the cut
prints is what the capture prints with the same selection, but for buffers' own events and what is
injected; the reader finds nothing wrong with it; losses are kept; a cut of a cut is the cut of both
selections; names and who runs at the beginning are known. SEED=n repeats."""
import collections
import json
import os
import random
import subprocess
import sys

from selections import Failed, choose, run

OWNER = ("pid", "tid", "process", "thread")


def events_of(kymo, path, *options):
    return [json.loads(line) for line in run(kymo, "--json", *options, path).splitlines()]


def plain(events, owned):
    """Without what is a cut's own, and without whose they are, unless that must agree."""
    return [{k: v for k, v in e.items() if owned or k not in OWNER} for e in events
            if e["class"] != "CONTROL" and not e["injected"]]


def losses(events):
    lost = collections.Counter()
    for e in events:
        if e["event"] == "DROPPED":
            lost[e["cpu"], e["args"]["class"], e["args"]["reason"]] += e["args"]["num_events"]
    return lost


def losses_behind(events, options, found):
    """DROPPED at the head of each CPU's first buffer behind the window, of the cut's CPUs."""
    if "--to" not in options:
        return collections.Counter()
    end, heads, taken = int(options[options.index("--to") + 1], 16), {}, []
    cpus = {e["cpu"] for e in found}
    for e in events:
        if int(e["cycles"], 16) < end or e["cpu"] not in cpus:
            continue
        if e["event"] == "BUFFER":
            heads.setdefault(e["cpu"], True)
        elif e["class"] != "CONTROL" and e["cpu"] in heads:
            heads[e["cpu"]] = False
        elif e["event"] == "DROPPED" and heads.get(e["cpu"]):
            taken.append(e)
    return losses(taken)


def differs(what, given, wanted):
    if given == wanted:
        return
    pair = next(p for p in zip(given + [None], wanted + [None]) if p[0] != p[1])
    raise Failed(f"{what}: {len(given)} events instead of {len(wanted)}: {pair[0]} "
                 f"instead of {pair[1]}")


def check_sound(kymo, path, what):
    """Buffers, stamps and sequences, by a look that is not the reader's; then stat."""
    events, stamps, sequences = events_of(kymo, path), {}, {}
    for e in events:
        time, cpu = int(e["cycles"], 16), e["cpu"]
        if e["event"] == "BUFFER":
            if e["args"]["num_events"] > 1024 or e["args"]["sequence"] <= sequences.get(cpu, 0):
                raise Failed(f"{what}: {e}")
            sequences[cpu] = e["args"]["sequence"]
        elif e["class"] != "CONTROL":
            if time <= stamps.get(cpu, -1):
                raise Failed(f"{what}: two events at one time of a CPU: {e}")
            stamps[cpu] = time
    if any(sequence < 1 for sequence in sequences.values()):
        raise Failed(f"{what}: sequences {sequences}")
    run(kymo, path, command="stat")
    return events


def cut(kymo, path, out, *options):
    run(kymo, *options, path, "-o", out, command="cut")


def check_one(kymo, path, out, events, options):
    what = f"{path}: {' '.join(options)}"
    cut(kymo, path, out, "--force", *options)
    found = check_sound(kymo, out, what)
    wanted = events_of(kymo, path, *options)
    timed = not set(options) - {o for i, o in enumerate(options)
                                if options[i - i % 2] in ("--from", "--to")}
    differs(what, plain(found, timed), plain(wanted, timed))
    inside = losses(wanted if timed else events_of(kymo, path, *[
        o for i, o in enumerate(options) if options[i - i % 2] in ("--from", "--to", "--cpu")]))
    kept = losses(found)
    if "0x" in (options + ["--to", "0x"])[(options + ["--to"]).index("--to") + 1]:
        inside += losses_behind(events, options, found)
    for key, count in inside.items():
        if kept[key] < count:
            raise Failed(f"{what}: lost {key}: {kept[key]} of {count} are told")
    for key, count in kept.items():
        if count > losses(events)[key]:
            raise Failed(f"{what}: lost {key}: {count}, more than there were")
    if not set(options) & {"--from", "--to", "--cpu"} and kept != losses(events):
        raise Failed(f"{what}: losses are {kept} instead of {losses(events)}")
    return found, wanted


def compare(kymo, path, ncpu, rng, rounds):
    out, again = path + ".cut", path + ".again"
    events, some = events_of(kymo, path), 0
    check_one(kymo, path, out, events, [])
    for _ in range(rounds):
        options, _ = choose(rng, events, ncpu)
        found, wanted = check_one(kymo, path, out, events, options)
        some += 0 < len(plain(wanted, False)) < len(plain(events, False))
        # A cut of it: relative times still count from where the original begins. Who runs is not
        # known any more if the first selection left THRUNNING events out.
        second = rng.choice([["--to", "7000us"], ["--from", "0.004"], ["--class", "comm,thread"],
                             ["--event", "THRUNNING"], []])
        times = {"--from", "--to"}
        if set(second) & set(options) or (set(second) & times and set(options) & times):
            continue
        cut(kymo, out, again, "--force", *second)
        check_sound(kymo, again, f"{path}: {options} then {second}")
        differs(f"{path}: {options} then {second}", plain(events_of(kymo, again), False),
                plain(events_of(kymo, path, *options, *second), False))
        names = {e["args"]["pid"] for e in found if e["event"] == "PROCCREATE_NAME"}
        if not names and plain(wanted, False) and not losses(events):
            raise Failed(f"{path}: {options}: no names")
    return some


def check_edges(kymo, path, ncpu):
    """Nothing selected, one event, the last one, a window of one cycle, before and behind all."""
    out = path + ".cut"
    events = events_of(kymo, path)
    real = [e for e in events if e["class"] != "CONTROL"]
    first, last = int(real[0]["cycles"], 16), int(real[-1]["cycles"], 16)
    combined = next(e for e in real if len(e["args"]) > 2)
    moment = int(combined["cycles"], 16)
    for options in (["--to", "0x1"], ["--from", f"{last + 1:#x}"], ["--from", "1000000"],
                    ["--from", f"{first:#x}", "--to", f"{first + 1:#x}"], ["--from", f"{last:#x}"],
                    ["--from", f"{moment:#x}", "--to", f"{moment + 1:#x}"],
                    ["--to", f"{moment:#x}"], ["--from", f"{moment + 1:#x}"],
                    ["--cpu", str(ncpu - 1)], ["--class", "other"], ["--pid", "77777"]):
        found, _ = check_one(kymo, path, out, events, options)
        cpus = {e["cpu"] for e in found if e["event"] == "BUFFER"}
        if len(cpus) != (1 if "--cpu" in options else ncpu):
            raise Failed(f"{options}: buffers of CPUs {cpus}")


def main(kymo, mkcapture, folder, rounds="10"):
    seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
    rng = random.Random(seed)
    print(f"SEED={seed}")
    path = os.path.join(folder, "cuts.kev")
    some = 0
    for ncpu, kind in [(1, []), (2, ["swapped"]), (4, []), (3, ["lossy"]), (1, ["lossy"])]:
        arguments = [path, str(ncpu), "1500", str(rng.randrange(1 << 30)), *kind]
        subprocess.run([mkcapture, *arguments], check=True, timeout=60)
        try:
            some += compare(kymo, path, ncpu, rng, int(rounds))
            check_edges(kymo, path, ncpu)
        except Failed as why:
            print(f"FAILED: {why}; mkcapture {' '.join(arguments)}")
            return 1
    if some < int(rounds):
        print(f"FAILED: only {some} cuts had some events and not all")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
