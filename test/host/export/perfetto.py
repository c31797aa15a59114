# SPDX-License-Identifier: BSD-2-Clause
"""`kymo export --perfetto`, read by `protoc --decode`: each event, state, message, loss and counter
against `kymo export --jsonl` and the oracle."""
import codecs
import os
import subprocess
from collections import Counter, defaultdict

from common import ROOT, drawn_name, export, lines, printable, same, want
from linux import Names
from oracle import Oracle

CAPTURE, THREAD, STATES, CPU, COUNTER, MESSAGE, LOSS = 1, 3, 4, 5, 6, 7, 8


def decode(raw):
    """The packets as lists of (name, value); a value is such a list, a text, or a number."""
    folder = os.path.join(ROOT, "host/export")
    done = subprocess.run(["protoc", "--decode=perfetto.Trace", f"--proto_path={folder}",
                           "perfetto.proto"], input=raw, capture_output=True, check=False)
    want(done.returncode == 0, f"protoc: {done.stderr.decode()[:300]}")
    top, stack = [], []
    for line in done.stdout.decode("ascii").splitlines():
        line = line.strip()
        if line.endswith("{"):
            name, inner = line[:-2], []
            want(not name[0].isdigit(), f"a field that the .proto has not: {line}")
            (stack[-1] if stack else top).append((name, inner))
            stack.append(inner)
        elif line == "}":
            stack.pop()
        else:
            name, _, value = line.partition(": ")
            want(not name[0].isdigit(), f"a field that the .proto has not: {line}")
            stack[-1].append((name, scalar(value)))
    return [dict_of(packet) for _, packet in top]


def scalar(value):
    if value[:1] == '"':
        return codecs.escape_decode(value[1:-1].encode("ascii"))[0].decode("utf-8")
    if value.lstrip("-").isdigit():
        return int(value)
    return value


COUNTS = "events", "control", "added", "losses", "lost_events"
MANY = {"debug_annotations", "categories", "flow_ids", "terminating_flow_ids", "event"}


def dict_of(fields):
    made = {}
    for name, value in fields:
        value = dict_of(value) if isinstance(value, list) else value
        if name in MANY:
            made.setdefault(name, []).append(value)
        else:
            want(name not in made, f"{name} comes twice")
            made[name] = value
    return made


def note(one):
    values = [v for k, v in one.items() if k != "name"]
    same(len(values), 1, f"values of {one}")
    return values[0]


def notes(event):
    return [(n["name"], note(n)) for n in event.get("debug_annotations", [])]


def number(value):
    if isinstance(value, str) and value.startswith("0x"):
        return int(value, 16)
    return printable(value) if isinstance(value, str) else value


def check_events(packets, have, tracks):
    events = [x for x in have if x["kind"] == "event"]
    ours = [(p, notes(p["track_event"])) for p in packets if "track_event" in p]
    ours = [(p, n) for p, n in ours if [k for k, _ in n[:2]] == ["cpu", "cycles"]]
    same(len(ours), len(events), "records of events")
    for (packet, values), event in zip(ours, events):
        track_event = packet["track_event"]
        name, own = drawn_name(event)
        same([packet.get("timestamp", 0), track_event["categories"]],
             [event["ns"], [printable(event["class"])]], "an event")
        same(track_event["name"][:len(printable(name))], printable(name), "an event's name")
        if own:
            same(values.pop(2), ("event", own), "an event's own name")
        same([values[0][1], values[1][1] & (1 << 64) - 1], [event["cpu"], int(event["cycles"], 16)],
             "where")
        same([(k, v & (1 << 64) - 1 if isinstance(v, int) else v) for k, v in values[2:]],
             [(printable(k), number(v) & (1 << 64) - 1 if isinstance(number(v), int) else number(v))
              for k, v in [*event["args"].items()] + [("dump", 1)] * event["dump"]],
             f"values of {track_event['name']}")
        track = track_event["track_uuid"]
        if track >> 56 == THREAD:
            same(tracks[track], (event["pid"], event["tid"]), "whose it is")
        else:
            same(track, CPU << 56 | event["cpu"], "an event of a CPU")


def track_owners(packets, have):
    """{uuid: (pid, tid)} of threads; their numbers and names are those of Linux."""
    names, owners, parents, called = Names(have), {}, {}, {}
    for packet in packets:
        track = packet.get("track_descriptor")
        if track and track["uuid"] >> 56 == THREAD:
            if "thread" in track:
                pid, tid = track["thread"]["pid"], track["thread"]["tid"]
                owners[track["uuid"]] = (pid, tid - 10000 * pid)
                names.check(track["thread"]["thread_name"], pid, tid - 10000 * pid, tid)
                called[owners[track["uuid"]]] = track["thread"]["thread_name"]
            else:
                owners[track["uuid"]] = (1, int(track["name"].split("/")[1]) + 1)
        elif track and track["uuid"] >> 56 == STATES:
            parents[track["uuid"]] = track["parent_uuid"]
    for owner, name in names.last.items():
        same(called.get(owner, printable(name)), printable(name), f"the last name of {owner}")
    for states, parent in parents.items():
        owners[states] = owners[parent]
    return owners


def check_slices(packets, tracks):
    """Slices of a track nest, in the order of time, and end. Returns those of states."""
    by_track, states = defaultdict(list), set()
    for n, packet in enumerate(packets):
        event = packet.get("track_event")
        if event and event["type"] in ("SLICE_BEGIN", "SLICE_END"):
            by_track[event["track_uuid"]].append((packet.get("timestamp", 0), n, event))
    for track, events in by_track.items():
        stack = []
        for when, _, event in sorted(events, key=lambda x: x[:2]):
            if event["type"] == "SLICE_BEGIN":
                stack.append((when, event))
                continue
            want(stack, f"an end without a beginning: {event}")
            start, begin = stack.pop()
            if track >> 56 == STATES:
                states.add((*tracks[track], begin["name"], start, when))
                want(not stack, "states nest")
        want(not stack, f"a slice that does not end: {stack}")
    return states


def check_losses(packets, have):
    told = [p for p in packets
            if p.get("track_event", {}).get("categories") in (["loss"], ["scope"])]
    losses = [x for x in have if x["kind"] in ("loss", "scope")]
    same(len(told), len(losses), "losses")
    for packet, loss in zip(told, losses):
        values = dict(notes(packet["track_event"]))
        same([values["what"], values["events"], values["buffers"], values["text"]],
             [loss["what"], loss["events"] or 0, loss["buffers"] or 0, loss["text"]], "a loss")
    same(Counter(p["ftrace_events"]["cpu"] for p in packets
                 if p.get("ftrace_events", {}).get("lost_events")),
         Counter(x["cpu"] for x in losses if x["kind"] == "loss" and x["cpu"] is not None), "CPUs")
    last = {}
    for packet in packets:
        event = packet.get("track_event", {})
        if event.get("type") == "COUNTER" and event["track_uuid"] & 0xff >= 16:
            last[event["track_uuid"]] = event["counter_value"]
    same(sum(last.values()), have[-1]["lost_events"], "counters of losses")
    end = dict(notes(packets[-1]["track_event"]))
    same([end[k] for k in COUNTS] + [bool(end["complete"])],
         [have[-1][k] for k in (*COUNTS, "complete")], "the end")


def check_whole(packets, have, states):
    oracle = Oracle(have)
    runs = {(p, t, "RUNNING", start, to) for _, p, t, start, to in oracle.run_set()}
    same(sorted(states ^ (oracle.states | runs)), [], "states that only one has")
    names, cpus = Names(have), defaultdict(list)
    for packet in packets:
        for event in packet.get("ftrace_events", {}).get("event", []):
            if "sched_switch" in event:
                cpus[packet["ftrace_events"]["cpu"]].append((event.get("timestamp", 0),
                                                             event["sched_switch"]))
    ours = set()
    for cpu, switches in cpus.items():
        for (start, switch), (end, after) in zip(switches, switches[1:]):
            want(after["prev_pid"] in (switch["next_pid"], -1), f"{switch} and then {after}")
            if after["prev_pid"] != -1 and end > start:
                ours.add((cpu, switch["next_pid"], start, end))
    theirs = {(cpu, names.tid(p, t), start, to) for cpu, p, t, start, to in oracle.run_set()}
    want(ours and ours <= theirs, f"runs that the oracle has not: {sorted(ours - theirs)[:3]}")
    want(len(theirs - ours) <= len(cpus) * 2, "runs that no switch tells of")


def check_interrupts(packets):
    """Each interrupt of ftrace's ends, those inside of it before."""
    stacks = defaultdict(list)
    for packet in packets:
        for event in packet.get("ftrace_events", {}).get("event", []):
            stack = stacks[packet["ftrace_events"].get("cpu", 0)]
            if "irq_handler_entry" in event:
                stack.append(event["irq_handler_entry"].get("irq", 0))
            elif "irq_handler_exit" in event:
                want(stack, "an interrupt ends that has not begun")
                same(event["irq_handler_exit"].get("irq", 0), stack.pop(), "the innermost ends")
    want(not any(stacks.values()), f"interrupts that do not end: {dict(stacks)}")


def check(capture, *options, whole=False, status=0):
    packets = decode(export("perfetto", capture, *options, status=status))
    have = lines(capture, *options, status=status)
    tracks = track_owners(packets, have)
    check_events(packets, have, tracks)
    states = check_slices(packets, tracks)
    check_losses(packets, have)
    check_interrupts(packets)
    flows = Counter(f for p in packets for f in p.get("track_event", {}).get("flow_ids", []))
    want(all(n <= 2 for n in flows.values()), "a message is sent and received once")
    if whole:
        check_whole(packets, have, states)
        want(flows, "no messages")
