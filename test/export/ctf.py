# SPDX-License-Identifier: BSD-2-Clause
"""`kymo export --ctf`, read by babeltrace2 (its Python bindings): each event with its values, its
names for Trace Compass, discarded events and packets, against `kymo export --jsonl`."""
import os
import re
import shutil
import subprocess
from collections import Counter, defaultdict

import bt2

from common import STATUS, lines, printable, run, same, want
from linux import Names, standard

FUNCTIONS = {"FUNC_ENTER": "lttng_ust_cyg_profile:func_entry",
             "FUNC_EXIT": "lttng_ust_cyg_profile:func_exit"}
LINUX = {"sched_switch": "THRUNNING", "sched_wakeup": "THREADY", "sched_process_exit": "THDESTROY"}
PLAIN = {"INT_ENTR": "irq_handler_entry", "INT_EXIT": "irq_handler_exit"}


def lower(text):
    return re.sub("[^a-z0-9]", "_", text.lower())


def read(folder):
    """Per CPU its events (name, stamp, context, fields) and, in their places, discarded counts."""
    streams = defaultdict(list)
    for message in bt2.TraceCollectionMessageIterator(folder):
        kind = type(message).__name__
        if kind == "_EventMessageConst":
            event = message.event
            cpu = int(event.packet.context_field["cpu_id"])
            fields = {k: plain(v) for k, v in event.payload_field.items()}
            context = {k: plain(v) for k, v in event.common_context_field.items()} \
                if event.common_context_field is not None else {}
            if not context:
                context = {k: plain(event[k]) for k in ("pid", "tid", "thread") if k in event}
            streams[cpu].append((event.name, message.default_clock_snapshot.value, context, fields))
        elif kind in ("_DiscardedEventsMessageConst", "_DiscardedPacketsMessageConst"):
            streams[message.stream.id].append((kind, message.count, None, None))
    return streams


def plain(field):
    kind = type(field).__name__
    if "Integer" in kind:
        return int(field)
    if "String" in kind:
        return str(field)
    return [int(x) for x in field]  # bytes


def name_of(event, switched):
    name, kind = event["event"], event["class"]
    if kind == "SYSTEM" and name in FUNCTIONS:
        return FUNCTIONS[name]
    if kind == "INT" and name in PLAIN:
        return PLAIN[name]
    if kind in ("KER_CALL", "KER_EXIT"):
        own = lower(name or str(event["number"] % 128))
        return ("syscall_entry_" if kind == "KER_CALL" else "syscall_exit_") + own
    if switched:
        return switched
    return f"kymo_{lower(kind)}_{lower(name or str(event['number']))}"


def check_event(ours, event, start, names):
    name, stamp, context, fields = ours
    same(stamp, int(event["cycles"], 16) - start, f"stamp of {name}")
    linux = name if name in LINUX else None
    same(name, name_of(event, linux), "an event's name")
    if linux:
        same(event["event"], LINUX[linux], linux)
    pid, tid = (-1 if event[k] is None else event[k] for k in ("pid", "tid"))
    ust = name.startswith("lttng_ust")
    same([context["vpid" if ust else "pid"], context["thread"], context["dump"]],
         [pid, tid, int(event["dump"])], "whose it is")
    extra = standard(name, event, fields, names)
    own = [fields[k] for k in list(fields)[extra:] if not k.endswith("_length")]
    values = [number(v) for v in event["args"].values()]
    same([x if isinstance(x, (int, str)) else bytes(x).decode("latin-1") for x in own],
         [printable(v) if isinstance(v, str) else v for v in values], f"values of {name}")


def number(value):
    is_hex = isinstance(value, str) and re.fullmatch("0x[0-9a-f]+", value)
    return int(value, 16) if is_hex else value


def check(capture, *options, status=0):
    shutil.rmtree("out.ctf", ignore_errors=True)
    run("export", "--ctf", *options, capture, "-o", "out.ctf", status=STATUS.get(capture, status))
    have = lines(capture, *options, status=status)
    streams, start = read("out.ctf"), int(have[0]["start"], 16)
    names = Names(have)
    expected = defaultdict(list)
    for item in have[1:-1]:
        if item["kind"] in ("event", "loss"):
            expected[item["cpu"] or 0].append(item)
    same(sorted(streams), sorted(expected), f"{capture}: CPUs")
    for cpu, items in expected.items():
        ours = [x for x in streams[cpu] if not x[0].startswith("_Discarded")]
        same(len(ours), len(items), f"{capture}: events of CPU {cpu}")
        for have_one, item in zip(ours, items):
            if item["kind"] == "event":
                check_event(have_one, item, start, names)
            else:
                same(have_one[0], "kymo_lost", "a loss")
                same([have_one[3][k] for k in ("what", "events", "buffers", "text")],
                     [item["what"], item["events"] or 0, item["buffers"] or 0, item["text"]],
                     "a loss")
        lost = Counter()
        for kind, count, _, _ in streams[cpu]:
            lost[kind] += count if kind.startswith("_Discarded") else 0
        losses = [x for x in items if x["kind"] == "loss"]
        same(lost["_DiscardedEventsMessageConst"], sum(x["events"] or 0 for x in losses),
             "discarded events")
        same(lost["_DiscardedPacketsMessageConst"],
             sum(x["buffers"] or 0 for x in losses if x["what"] == "missing"), "discarded packets")
    env = environment("out.ctf/kernel")
    if not expected:
        same(env, {}, "babeltrace2 has no message of a trace without events")
        return
    same([env["domain"], env["tracer_name"]], ["kernel", "lttng-modules"], "a kernel's trace")
    same(int(env["lost_events"]), have[-1]["lost_events"], "the sum of losses")
    same(bool(env["complete"]), have[-1]["complete"], "complete")
    scopes = [x["text"] for x in have if x["kind"] == "scope" and x["text"]]
    same([env[f"scope_{i}"] for i in range(len(scopes))], scopes, "scope")


def environment(folder):
    for message in bt2.TraceCollectionMessageIterator(folder):
        return {k: (int(v) if "Integer" in type(v).__name__ else str(v))
                for k, v in message.stream.trace.environment.items()}
    return {}


def refusals():
    os.makedirs("taken.ctf", exist_ok=True)
    open("taken.ctf/file", "w", encoding="ascii").close()
    err = run("export", "--ctf", "one.kev", "-o", "taken.ctf", status=1)[1]
    want("taken.ctf" in err and "remove" in err, err)
    os.remove("taken.ctf/file")
    run("export", "--ctf", "one.kev", "-o", "taken.ctf")  # an empty one is filled
    want(sorted(os.listdir("taken.ctf")) == ["kernel"], os.listdir("taken.ctf"))
    err = run("export", "--ctf", "one.kev", status=2)[1]
    want("-o FOLDER" in err, err)
    run("export", "--ctf", "one.kev", "-o", "no/where/here", status=1)
    same([x for x in os.listdir(".") if ".part" in x], [], "parts")
    text = subprocess.run(["babeltrace2", "taken.ctf"], capture_output=True, check=True).stdout
    want(text.count(b"\n") > 100, "babeltrace2 prints it")
