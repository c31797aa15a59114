#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""kymo cut: cuts.py KYMO MKCAPTURE FOLDER [ROUNDS]

Random captures (several CPUs, the other byte order, losses), random selections: what the cut
prints is what the capture prints with the same selection, but for buffers' own events and what is
injected; the reader finds nothing wrong with it; losses are kept; a cut of a cut is the cut of both
selections; names and who runs at the beginning are known; time that the capture does not cover is
not covered by the cut. Captures of format 1.01, rings, captures that are cut short or lack buffers.
Any changed bit of a cut, and any group of slots that is taken out of it, is noticed.
SEED=n repeats."""
import collections
import json
import os
import random
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../fabricate"), os.path.join(HERE, "../print")]
from kev_file import Capture  # noqa: E402
from selections import Failed, choose, run  # noqa: E402
import patience  # noqa: E402 (selections.py has found it)

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


def losses_behind(events, options):
    """DROPPED at the head of each CPU's first buffer after the window, of the cut's CPUs."""
    if "--to" not in options:
        return collections.Counter()
    end, heads, taken = int(options[options.index("--to") + 1], 16), {}, []
    cpus = {e["cpu"] for e in events}
    if "--cpu" in options:
        cpus = {int(cpu) for cpu in options[options.index("--cpu") + 1].split(",")}
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


def check_quiet(kymo, path, what):
    """Neither print nor stat has anything to say."""
    for command in ("print", "stat"):
        done = subprocess.run([kymo, command, "--json", path], capture_output=True,
                              timeout=patience.seconds(60),
                              check=False)
        if done.returncode != 0 or done.stderr:
            raise Failed(f"{what}: {command} of the cut: status {done.returncode}: "
                         f"{done.stderr.decode()[:300]}")


def check_sound(kymo, path, what):
    """Buffers, stamps and sequences, by a look that is not the reader's; then the reader's."""
    check_quiet(kymo, path, what)
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
    if b"TRACE_VER_MINOR::02" not in open(path, "rb").read(65536):
        raise Failed(f"{what}: not of format 1.02")
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
        inside += losses_behind(events, options)
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
    """Nothing selected, one event, the last one, a window of one cycle, before and after all."""
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
        if "--cpu" in options:  # of others there are names, at most
            cpus = {e["cpu"] for e in found if e["class"] != "CONTROL" and not e["injected"]}
            wanted = {ncpu - 1}
        else:  # those that are recorded from the beginning on
            wanted = {e["cpu"] for e in events if e["event"] == "BUFFER" and
                      e["args"]["sequence"] == 1}
        if not wanted <= cpus or ("--cpu" in options and cpus != wanted):
            raise Failed(f"{options}: buffers of CPUs {cpus}")


def stat_of(kymo, path):
    return json.loads(run(kymo, "--json", path, command="stat"))


def check_coverage(kymo, path, out, rng, rounds):
    """Who runs is known from the window's beginning on; what is lost is not covered."""
    events = events_of(kymo, path)
    lossless = not losses(events)
    # The account of a CPU's first buffer, if the medium refused it, has no time.
    start = next(int(e["cycles"], 16) for e in events if e["event"] != "DROPPED")
    end = int(events[-1]["cycles"], 16)
    for _ in range(rounds):
        begin = rng.randint(start, end)
        limit = rng.randint(begin + 1, 2 * end - begin + 1)
        cut(kymo, path, out, "--force", "--from", f"{begin:#x}", "--to", f"{limit:#x}")
        for cpu in stat_of(kymo, out)["cpus"]:
            mine = [e for e in events if e["cpu"] == cpu["cpu"]]
            runs = [int(e["cycles"], 16) < begin for e in mine if e["event"] == "THRUNNING"]
            if lossless and any(runs) and cpu["unknown_ns"] > 0:
                raise Failed(f"{path}: from {begin:#x}: CPU {cpu['cpu']}: nobody knows who ran for "
                             f"{cpu['unknown_ns']} ns")
            known = covered_at_most(mine, begin, limit)
            if cpu["covered_ns"] > 1000 * (known + 1):
                raise Failed(f"{path}: {begin:#x} to {limit:#x}: CPU {cpu['cpu']}: "
                             f"{cpu['covered_ns']} ns are covered, at most {known} us can be")


def covered_at_most(events, begin, limit):
    """Cycles of a CPU's window that no loss lies in: between the last slot before and a buffer."""
    total, since, buffer, before, last, sequence = 0, begin, 0, 0, 0, 0
    for e in events:
        time = int(e["cycles"], 16)
        lost = e["event"] == "DROPPED" and e["args"]["class"] in ("PR_TH", "COMM", "INT")
        if e["event"] == "BUFFER":
            buffer, before = time, last
            lost = e["args"]["sequence"] != sequence + 1
            sequence = e["args"]["sequence"]
        if lost and since < buffer:
            total += max(0, min(before, limit) - since)
            since = max(begin, buffer)
        last = time
    return total + max(0, min(last, limit) - since)


NAMES = ("PROCCREATE_NAME", "PROCTHREAD_NAME", "MAPNAME")


def names_of(events):
    return sorted((e["cpu"], e["cycles"], e["event"], str(e["args"]))
                  for e in events if e["event"] in NAMES)


def check_names(kymo, path, out, ncpu):
    """With --cpu: the names inside the window, whichever CPU tells them, and on that CPU."""
    named = names_of(events_of(kymo, path))
    for cpu in range(ncpu):
        cut(kymo, path, out, "--force", "--cpu", str(cpu))
        found = names_of(check_sound(kymo, out, "--cpu"))
        lacks = [name for name in named if name not in found]  # others are told before the window
        if lacks:
            raise Failed(f"{path}: --cpu {cpu}: {len(lacks)} names are not there: {lacks[:3]}")


# ---- what is wrong with a capture, and with a cut

def save(path, data):
    with open(path, "wb") as file:
        file.write(data)


def status_of(kymo, *arguments):
    return subprocess.run([kymo, *arguments], capture_output=True, timeout=patience.seconds(60),
                          check=False).returncode


def check_tampered(kymo, path, rng, rounds):
    """A cut has the sums and marks of any capture."""
    whole, bad = Capture(path), path + ".bad"
    tampered = [whole.without(group) for group in whole.groups]
    for _ in range(rounds):
        data = bytearray(whole.data)
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        tampered.append(data)
        tampered.append(whole.data[:rng.randrange(len(data))])
    for i, data in enumerate(tampered):
        save(bad, data)
        if status_of(kymo, "print", bad) != 1:
            raise Failed(f"{path}: change {i} of it passes")


def expect_cut(kymo, path, out, status, *options):
    """Cuts with this status, and looks at the result: its events, and whether it is in doubt."""
    if status_of(kymo, "cut", "--force", *options, path, "-o", out) != status:
        raise Failed(f"cut {' '.join(options)} {path}: status is not {status}")
    events = check_sound(kymo, out, path)
    doubt = b"TRACE_CUT_DOUBT_1::" in open(out, "rb").read(65536)
    if stat_of(kymo, out)["complete"] == doubt:
        raise Failed(f"{path}: stat says that the cut is {'' if doubt else 'not '}complete")
    for other in ("assert", "--no-loss"), ("dtrace", "-qn", "END{}", "-r"):
        if doubt and status_of(kymo, *other, out) != 1:
            raise Failed(f"{path}: {other[0]} takes the cut for complete")
    done = subprocess.run([kymo, "export", "--jsonl", out], capture_output=True,
                          timeout=patience.seconds(60),
                          check=False)
    if doubt and json.loads(done.stdout.splitlines()[-1])["complete"]:
        raise Failed(f"{path}: export takes the cut for complete")
    return events, doubt


def check_cut_short(kymo, path, out, rng, rounds):
    """Also one that only lacks its end mark."""
    whole, part = Capture(path), path + ".part"
    marks = [g[0] for g in whole.groups if not g[3]] if whole.checked else []
    for length in marks + [rng.randrange(whole.slots + 32, len(whole.data)) for _ in range(rounds)]:
        if not whole.checked and any(g[1] == length for g in whole.groups):
            continue
        save(part, whole.data[:length])
        events, doubt = expect_cut(kymo, part, out, 1)
        shown = [json.loads(line) for line in subprocess.run(
            [kymo, "print", "--json", part], capture_output=True, timeout=patience.seconds(60),
            check=False).stdout.splitlines()]
        differs(f"{path} of {length} bytes", plain(events, True), plain(shown, True))
        if not doubt:
            raise Failed(f"{path}: cut at {length}: the cut claims that it is all there")
    save(part, whole.data[:-16])  # what it lacks is far after the window
    second = min(int(e["cycles"], 16) for e in events_of(kymo, path) if e["event"] == "BUFFER" and
                 e["args"]["sequence"] > 1)
    if expect_cut(kymo, part, out, 0, "--to", f"{second:#x}")[1]:
        raise Failed(f"{path}: the window is whole")


def check_missing(kymo, path, out, rng):
    """Buffers that nothing accounts for: format 1.01."""
    whole, part = Capture(path), path + ".part"
    cpu = rng.choice([c for c in range(64) if len(whole.buffers(c)) > 3])
    mine = whole.buffers(cpu)
    first = rng.randrange(1, len(mine) - 2)
    taken = mine[first:rng.randrange(first + 1, len(mine) - 1)]
    save(part, whole.without(*taken))
    events, doubt = expect_cut(kymo, part, out, 1)
    if not doubt or sum(losses(events).values()) < len(taken):
        raise Failed(f"{path} without {len(taken)} buffers: {losses(events)} are lost")


def check_ring(kymo, path, out, rng, rounds):
    """Each CPU's first buffers are gone, as a ring has it: format 1.01."""
    whole, ring = Capture(path), path + ".ring"
    taken = []
    for cpu in {g[2] for g in whole.buffers()}:
        mine = whole.buffers(cpu)
        taken += mine[:rng.randrange(1, len(mine) - 1)]
    save(ring, whole.without(*taken))
    expect_cut(kymo, ring, out, 0)
    check_coverage(kymo, ring, out, rng, rounds)


def check_equal_stamps(kymo, path, out):
    """Format 1.01 allows two events at one time."""
    whole, equal, changed = Capture(path), path + ".equal", 0
    for at, end, _, _ in whole.buffers():
        for slot in range(at + 48, end, 16):
            before, this = whole.slot(slot - 16), whole.slot(slot)
            if all(s[0] >> 30 == 0 and (s[0] >> 10 & 31) != 1 for s in (before, this)):
                whole.data[slot + 4:slot + 8] = whole.data[slot - 12:slot - 8]
                changed += 1
                break
    save(equal, whole.data)
    events, doubt = expect_cut(kymo, equal, out, 0)
    wanted = plain(events_of(kymo, equal), False)
    shifts = [abs(int(a["cycles"], 16) - int(b["cycles"], 16))
              for a, b in zip(sorted(plain(events, False), key=lambda e: (e["cpu"], e["cycles"])),
                              sorted(wanted, key=lambda e: (e["cpu"], e["cycles"])))]
    if doubt or len(plain(events, False)) != len(wanted) or sum(shifts) != changed or not changed:
        raise Failed(f"{path}: {changed} equal stamps are {sum(shifts)} cycles of difference")


def check_wrong(kymo, mkcapture, folder, rng, rounds):
    path = os.path.join(folder, "wrong.kev")
    out = path + ".cut"
    for kind in ([], ["swapped"], ["old", "lossy"], ["old", "lossy", "swapped"]):
        arguments = [path, "2", "3000", str(rng.randrange(1 << 30)), *kind]
        subprocess.run([mkcapture, *arguments], check=True, timeout=patience.seconds(60))
        try:
            cut(kymo, path, out, "--force", "--from", "1ms")
            check_tampered(kymo, out, rng, 8 * rounds)
            check_cut_short(kymo, path, out, rng, rounds)
            if "old" in kind:
                check_ring(kymo, path, out, rng, rounds)
                check_equal_stamps(kymo, path, out)
                arguments = [path, "2", "9000", arguments[3], *(k for k in kind if k != "lossy")]
                subprocess.run([mkcapture, *arguments], check=True, timeout=patience.seconds(60))
                check_missing(kymo, path, out, rng)
        except Failed as why:
            raise Failed(f"{why}; mkcapture {' '.join(arguments)}") from why


def main(kymo, mkcapture, folder, rounds="10"):
    seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
    rng = random.Random(seed)
    print(f"SEED={seed}")
    path = os.path.join(folder, "cuts.kev")
    some = 0
    for ncpu, kind in [(1, []), (2, ["swapped"]), (4, []), (3, ["lossy"]),
                       (1, ["lossy", "swapped"]), (2, ["old"]), (4, ["old", "swapped", "lossy"]),
                       (3, ["refused"]), (2, ["old", "refused", "swapped"])]:
        arguments = [path, str(ncpu), "1500", str(rng.randrange(1 << 30)), *kind]
        subprocess.run([mkcapture, *arguments], check=True, timeout=patience.seconds(60))
        try:
            some += compare(kymo, path, ncpu, rng, int(rounds))
            check_edges(kymo, path, ncpu)
            check_coverage(kymo, path, path + ".cut", rng, int(rounds))
            check_names(kymo, path, path + ".cut", ncpu)
        except Failed as why:
            print(f"FAILED: {why}; mkcapture {' '.join(arguments)}")
            return 1
    try:
        check_wrong(kymo, mkcapture, folder, rng, int(rounds))
    except Failed as why:
        print(f"FAILED: {why}")
        return 1
    if some < int(rounds):
        print(f"FAILED: only {some} cuts had some events and not all")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
