# SPDX-License-Identifier: BSD-2-Clause
"""`kymo export --ctf`, read by babeltrace2 (its Python bindings): each event with its values, its
names for Trace Compass, discarded events and packets, against `kymo export --jsonl`."""
import os
import re
import shutil
import struct
import subprocess
from collections import Counter, defaultdict

import bt2

from common import STATUS, lines, printable, run, same, want
from linux import Names, Pairs, standard

FUNCTIONS = {"FUNC_ENTER": "lttng_ust_cyg_profile:func_entry",
             "FUNC_EXIT": "lttng_ust_cyg_profile:func_exit"}
# What Trace Compass looks for: the names of its classes LttngEventLayout, Lttng26EventLayout,
# LttngUst20EventLayout and LttngUstCallStackProvider (docs/reference/export.md), each with its
# type.
TEXT, NUMBER = "String", "Integer"
COMPASS = {
    "sched_switch": {"prev_comm": TEXT, "prev_tid": NUMBER, "prev_prio": NUMBER,
                     "prev_state": NUMBER, "next_comm": TEXT, "next_tid": NUMBER,
                     "next_prio": NUMBER},
    "sched_wakeup": {"comm": TEXT, "tid": NUMBER, "prio": NUMBER, "target_cpu": NUMBER},
    "sched_process_exit": {"comm": TEXT, "tid": NUMBER, "prio": NUMBER},
    "irq_handler_entry": {"irq": NUMBER, "name": TEXT}, "irq_handler_exit": {"irq": NUMBER},
    "syscall_entry_": {}, "syscall_exit_": {"ret": NUMBER},
    "lttng_ust_cyg_profile:func_entry": {"addr": NUMBER, "call_site": NUMBER},
    "lttng_ust_cyg_profile:func_exit": {"addr": NUMBER, "call_site": NUMBER}}
COMPASS_CONTEXT = {"kernel": {}, "ust": {"vpid": NUMBER, "vtid": NUMBER, "procname": TEXT}}
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


def name_of(event, switched, own):
    """own: an end whose begin is not known, or the other way round, goes by its own name."""
    name, kind = event["event"], event["class"]
    if own and (kind in ("KER_CALL", "KER_EXIT", "INT") or name in FUNCTIONS):
        return f"kymo_{lower(kind)}_{lower(name or str(event['number'] % 128))}"
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
    same(name, name_of(event, linux, name.startswith("kymo_")), "an event's name")
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


def check_pairs(have, given):
    pairs = Pairs()
    for item in have:
        name, _, context, fields = given.get(id(item), ("", 0, {}, {}))
        if name.startswith("irq_"):
            pairs.take(name, item["cpu"], fields["irq"])
        elif name.startswith(("syscall_", "lttng_")):
            pairs.take(name, (item["pid"], item["tid"]), fields.get("addr"))


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
    given = {}
    for cpu, items in expected.items():
        ours = [x for x in streams[cpu] if not x[0].startswith("_Discarded")]
        same(len(ours), len(items), f"{capture}: events of CPU {cpu}")
        for have_one, item in zip(ours, items):
            if item["kind"] == "event":
                check_event(have_one, item, start, names)
                given[id(item)] = have_one
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
    check_pairs(have, given)
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


def compass_names(folder, domain):
    """The events of Trace Compass that a trace has; each has the fields that are looked for, in a
    trace that is taken for one of LTTng."""
    found, metadata = set(), open(f"{folder}/{domain}/metadata", encoding="utf-8").read()
    want(f'domain = "{domain}"' in metadata, "the domain is all that such a trace is known by")
    want("struct { u32 magic; u8 uuid[16]; u32 stream_id;" in metadata, "the packet's header")
    for message in bt2.TraceCollectionMessageIterator(f"{folder}/{domain}"):
        if type(message).__name__ != "_EventMessageConst":
            continue
        event, env = message.event, message.event.stream.trace.environment
        same([str(env["domain"]), str(env["tracer_name"]), int(env["tracer_major"])],
             [domain, {"kernel": "lttng-modules", "ust": "lttng-ust"}[domain], 2], "the tracer")
        want(int(env["tracer_minor"]) >= 9, "the tracer")
        want("Integer" in type(event.packet.context_field["cpu_id"]).__name__, "the CPU")
        for field, kind in COMPASS_CONTEXT[domain].items():
            want(kind in type(event.common_context_field[field]).__name__, f"context {field}")
        for name, fields in COMPASS.items():
            if event.name == name or name.endswith("_") and event.name.startswith(name):
                found.add(name)
                for field, kind in fields.items():
                    want(field in event.payload_field and
                         kind in type(event.payload_field[field]).__name__, f"{name}: {field}")
    return found


def packets(folder, domain):
    """Per CPU its packets: what their contexts have, and whether there are events in them. Read by
    the names of the metadata, as CTFPacketReader does."""
    with open(f"{folder}/{domain}/metadata", encoding="utf-8") as f:
        metadata = f.read()
    sizes, layout = {"u8": "B", "u32": "I", "u64": "Q", "stamp": "Q"}, "<"
    names = []
    for which in ("packet.header", "packet.context"):
        text = re.search(re.escape(which) + r" := struct \{(.*?)\}", metadata, re.S)[1]
        for kind, name, count in re.findall(r"(\w+) (\w+)(?:\[(\d+)\])?;", text):
            layout += f"{count}s" if count else sizes[kind]
            names.append(name)
    streams = defaultdict(list)
    for name in sorted(set(os.listdir(f"{folder}/{domain}")) - {"metadata"}):
        with open(f"{folder}/{domain}/{name}", "rb") as f:
            data = f.read()
        while data:
            head = dict(zip(names, struct.unpack_from(layout, data)))
            head["empty"] = head["content_size"] == 8 * struct.calcsize(layout)
            streams[head["cpu_id"]].append(head)
            data = data[head["packet_size"] // 8:]
    return streams


def compass_discarded(capture):
    """Trace Compass reads events_discarded of each packet, the sum of the stream so far, also of
    one without events. Returns how many packets without events tell of a loss."""
    lost, empty = Counter(), 0
    for item in lines(capture)[1:-1]:
        if item["kind"] == "loss":
            lost[item["cpu"] or 0] += item["events"] or 0
    for cpu, of_cpu in packets("compass.ctf", "kernel").items():
        sums = [packet["events_discarded"] for packet in of_cpu]
        same(sums, sorted(sums), f"{capture}: events_discarded of CPU {cpu}")
        same(sums[-1] - sums[0], lost[cpu], f"{capture}: events_discarded of CPU {cpu}")
        empty += sum(after["empty"] and after["events_discarded"] > before["events_discarded"]
                     for before, after in zip(of_cpu, of_cpu[1:]))
    return empty


def compass(captures):
    """All of these events are in some of the captures, and losses."""
    found, told = set(), 0
    for capture in captures:
        shutil.rmtree("compass.ctf", ignore_errors=True)
        run("export", "--ctf", capture, "-o", "compass.ctf", status=STATUS.get(capture, 0))
        for domain in os.listdir("compass.ctf"):
            found |= compass_names("compass.ctf", domain)
        told += compass_discarded(capture)
    want(told > 0, "no capture has a loss")
    same(sorted(COMPASS.keys() - found), [], "events that no capture has")


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
