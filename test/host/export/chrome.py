# SPDX-License-Identifier: BSD-2-Clause
"""The grammar of `kymo export --chrome` (docs/reference/export.md), strictly: what breaks it is an
error. Then its events, losses, runs, states and messages against `kymo export --jsonl` and the
oracle."""
import json
from collections import Counter, defaultdict

from common import drawn_name, export, lines, same, want
from oracle import Oracle

CPUS, RUN, INTERRUPT, STATE = 1000000000, 1, 101, 1000000
COMMON = {"ph", "pid", "tid"}
MEMBERS = {  # of each phase: those that it has, and those that it may have
    "M": ({"name", "args"}, set()),
    "B": ({"ts", "cat", "name", "args"}, set()),
    "E": ({"ts", "args"}, {"cat", "name"}),
    "X": ({"ts", "dur", "cat", "name"}, {"args"}),
    "i": ({"ts", "s", "cat", "name", "args"}, set()),
    "C": ({"ts", "name", "args"}, set()),
    "b": ({"ts", "cat", "name", "id"}, set()),
    "n": ({"ts", "cat", "name", "id"}, set()),
    "e": ({"ts", "cat", "name", "id"}, {"args"}),
    "s": ({"ts", "cat", "name", "id"}, set()),
    "t": ({"ts", "cat", "name", "id"}, set()),
    "f": ({"ts", "cat", "name", "id", "bp"}, set()),
}
PAIRS = {"KER_EXIT": "KER_CALL"}


def no_twins(pairs):
    same(len({k for k, _ in pairs}), len(pairs), "a member comes twice")
    return dict(pairs)


def refuse(text):
    raise ValueError(f"{text} is no JSON")


def ns(number):
    """The digits of microseconds, exactly."""
    whole, _, decimals = number.partition(".")
    same(len(decimals), 3, "decimals")
    value = int(whole.lstrip("-")) * 1000 + int(decimals)
    return -value if number.startswith("-") else value


class Text(str):
    """A number as it is written."""


def load(raw):
    raw.decode("ascii")
    want(not any(c < 32 and c != 10 or c == 127 for c in raw), "a control character")
    trace = json.loads(raw, parse_float=Text, parse_constant=refuse, object_pairs_hook=no_twins)
    same(list(trace), ["displayTimeUnit", "otherData", "traceEvents", "kymo"], "members")
    same(trace["displayTimeUnit"], "ns", "unit")
    records = trace["traceEvents"]
    same(len(raw.splitlines()), len(records) + 2, "a record is a line")
    for record in records:
        needs, may = MEMBERS[record["ph"]]
        want(set(record) >= needs | COMMON and set(record) <= needs | may | COMMON,
             f"members of {record}")
        for key in ("pid", "tid"):
            same(type(record[key]), int, key)
        for key in ("ts", "dur"):
            if key in record:
                same(type(record[key]), Text, key)
                record[key] = ns(record[key])
        for key in ("name", "cat", "id"):
            want(isinstance(record.get(key, ""), str) and record.get(key, "x"), f"{key}: {record}")
        if record["ph"] == "i":
            want(record["s"] in ("t", "g"), "scope of an instant")
        if record["ph"] == "M":
            want(record["name"] in ("process_name", "thread_name"), f"metadata {record}")
            same([type(x) for x in record["args"].values()], [str], "a name")
        if record["ph"] == "C":
            want(record["args"] and all(type(v) is int and v >= 0 for v in record["args"].values()),
                 f"a counter counts: {record}")
        if record["ph"] == "f":
            same(record["bp"], "e", "bp")
    return trace


def check_tracks(records):
    """Slices nest and end; flat ones don't overlap; tracks have a name."""
    stacks, last, flat, named = defaultdict(list), {}, defaultdict(list), set()
    for r in records:
        track = (r["pid"], r["tid"])
        if r["ph"] == "M" and r["name"] == "thread_name":
            named.add(track)
        if r["ph"] in "BE":
            want(r["ts"] >= last.get(track, r["ts"]), f"time goes back: {r}")
            last[track] = r["ts"]
        if r["ph"] == "B":
            stacks[track].append(r)
        elif r["ph"] == "E":
            want(stacks[track], f"an end without a beginning: {r}")
            begin = stacks[track].pop()
            if "name" in r:
                want(begin["cat"] == PAIRS.get(r["cat"], r["cat"]), f"{begin} ends with {r}")
                want(r["cat"] != "KER_EXIT" or r["name"] == begin["name"], f"{begin} ends with {r}")
            else:
                same(r["args"], {"end": "not known"}, "an end of no event")
        elif r["ph"] == "X":
            want(r["dur"] > 0, f"an empty slice: {r}")
            flat[track].append((r["ts"], r["ts"] + r["dur"]))
    want(not any(stacks.values()), "a slice without an end")
    for track, spans in flat.items():
        spans.sort()
        for one, other in zip(spans, spans[1:]):
            want(one[1] <= other[0], f"track {track}: {one} and {other} overlap")
    want({t for t in (set(stacks) | set(flat))} <= named, "a track without a name")


def check_names(records, have):
    """A thread has the last name that an event gave it, even after its first event."""
    told = {(r["name"], r["pid"], r["tid"]): r["args"]["name"] for r in records if r["ph"] == "M"}
    last = {}
    for x in have:
        if x.get("event") == "PROCTHREAD_NAME" and x["args"]["name"]:
            last[x["args"]["pid"], x["args"]["tid"]] = x["args"]["name"]
        elif x.get("event") in ("PROCTHREAD_DESTROY", "PROCDESTROY"):
            last = {k: v for k, v in last.items()
                    if k[0] != x["args"]["pid"] or k[1] != x["args"].get("tid", k[1])}
    for (pid, tid), name in last.items():
        same(told.get(("thread_name", pid, tid)), name, f"the name of {pid}.{tid}")
        same(told.get(("thread_name", pid, tid + STATE)), name + " state", f"{pid}.{tid}")
    named = {pid for what, pid, _ in told if what == "process_name"}
    want({r["pid"] for r in records if r["ph"] != "M"} <= named, "a process without a name")


def check_ids(records):
    seen = defaultdict(list)
    for r in records:
        if r["ph"] in "bnestf":
            seen[(r["cat"], r["id"])].append((r["ph"], r["ts"]))
    for key, steps in seen.items():
        phases = "".join(p for p, _ in steps)
        want(phases in ("be", "bne", "s", "st", "sf", "stf"), f"{key}: {phases}")
        want([t for _, t in steps] == sorted(t for _, t in steps), f"{key}: time goes back")


def carriers(records):
    return [r for r in records if "values" in r.get("args", {})]


def check_events(records, have):
    events = [x for x in have if x["kind"] == "event"]
    ours = carriers(records)
    same(len(ours), len(events), "records of events")
    for r, event in zip(ours, events):
        name, own = drawn_name(event)
        args = {"cpu": event["cpu"], "cycles": event["cycles"]} | ({"event": own} if own else {})
        args |= {"dump": True} if event["dump"] else {}
        same([r["ts"], r["cat"], r["args"]],
             [event["ns"], event["class"], args | {"values": event["args"]}], "an event")
        want(r["name"] == name or (own and r["name"].startswith(name + " ")), f"{r}: no {name}")
        if r["pid"] != CPUS:
            same([r["pid"], r["tid"]], [event["pid"], event["tid"]], "whose it is")


def check_losses(records, trace, have):
    told = [r for r in records if r["ph"] == "i" and r["s"] == "g"]
    losses = [x for x in have if x["kind"] in ("loss", "scope")]
    same(len(told), len(losses), "losses")
    for r, loss in zip(told, losses):
        keys = ("what", "cpu", "class", "events", "buffers", "from_ns", "to_ns", "reason", "text")
        same(r["args"], {k: loss[k] for k in keys}, "a loss")
        same(r["cat"], loss["kind"], "what it is")
        same(r["ts"], loss.get("ns", 0), "when")
    counts = {r["name"]: r["args"]["events"] for r in records
              if r["ph"] == "C" and r["name"].startswith("lost events")}
    same(sum(counts.values()), have[-1]["lost_events"], "the counters of losses")
    same(trace["kymo"], {k: v for k, v in have[-1].items() if k != "kind"}, "the end")


def check_unknown(records, have):
    """In the time of a loss no CPU that has it runs a thread, and no thread waits."""
    windows = [(x["cpu"], x["from_ns"], x["to_ns"]) for x in have
               if x["kind"] == "loss" and x["from_ns"] is not None and x["to_ns"] is not None]
    for r in records:
        if r["ph"] != "X":
            continue
        cpu = r["tid"] - RUN if r["cat"] == "run" else None
        for on, start, end in windows:
            if (cpu == on or (cpu is None and r["name"] != "RUNNING")) and start < end:
                want(r["ts"] + r["dur"] <= start or r["ts"] >= end, f"{r} in a loss of CPU {on}")


def check_spans(records, have):
    oracle = Oracle(have)
    runs = {(r["tid"] - RUN, r["args"]["pid"], r["args"]["tid"], r["ts"], r["ts"] + r["dur"])
            for r in records if r["ph"] == "X" and r["cat"] == "run"}
    same(sorted(runs ^ oracle.run_set()), [], "runs that only one has")
    states = {(r["pid"], r["tid"] - STATE, r["name"], r["ts"], r["ts"] + r["dur"])
              for r in records if r["ph"] == "X" and r["cat"] == "state"}
    same({(p, t, a, b) for _, p, t, a, b in runs}, {(p, t, a, b) for p, t, s, a, b in states
                                                    if s == "RUNNING"}, "states while it runs")
    states = {x for x in states if x[2] != "RUNNING"}
    same(sorted(states ^ oracle.states), [], "states that only one has")
    want(runs and states, "nothing to compare")


def check_messages(records, have):
    """A message is sent by who ran, received by its server, and replied to its client."""
    comm = [x for x in have if x["kind"] == "event" and x["class"] == "COMM"]
    first, last = Oracle(have).all
    sent = [x for x in comm if x["event"] == "SND_MESSAGE" and x["pid"] is not None and
            first <= x["ns"] <= last]
    replied = [x for x in comm if x["event"] in ("REPLY_MESSAGE", "MSG_ERROR")]
    ours = {p: [r for r in records if r["ph"] == p] for p in "stf"}
    same(Counter((r["ts"], r["pid"], r["tid"]) for r in ours["s"]),
         Counter((x["ns"], x["pid"], x["tid"]) for x in sent), "messages sent")
    servers = {r["id"]: x["args"]["pid"] for r, x in zip(ours["s"], sent)}
    for r in ours["t"]:
        same(r["pid"], servers[r["id"]], "who receives it")
    replies = Counter((x["ns"], x["args"]["pid"], x["args"]["tid"]) for x in replied)
    want(not Counter((r["ts"], r["pid"], r["tid"]) for r in ours["f"]) - replies,
         "a reply of no event")
    want(len(ours["s"]) - 8 <= len(ours["f"]) <= len(ours["t"]), "messages that end")


def check(capture, *options, whole=False, status=0):
    raw, have = export("chrome", capture, *options, status=status), lines(capture, *options,
                                                                          status=status)
    trace = load(raw)
    records = trace["traceEvents"]
    check_tracks(records)
    check_names(records, have)
    check_ids(records)
    check_events(records, have)
    check_losses(records, trace, have)
    check_unknown(records, have)
    if whole:
        check_spans(records, have)
        check_messages(records, have)
    return trace
