# SPDX-License-Identifier: BSD-2-Clause
"""`kymo export --trace-dat`, read by `trace-cmd report`: each event with its CPU, time and values,
and the losses where it says so, against `kymo export --jsonl`."""
import re
import subprocess
from collections import defaultdict

from common import STATUS, lines, printable, run, same, want
from linux import Names, Pairs

LINE = re.compile(r"\s*(.*?)-(-?\d+)\s+\[(\d+)\]\s+(\d+)\.(\d{9}): (\w+):(.*)", re.S)
DROPPED = re.compile(r"CPU:(\d+) \[(\d* ?)EVENTS DROPPED\]")
LINUX = {"sched_switch": "THRUNNING", "sched_waking": "THREADY", "sched_process_exit": "THDESTROY"}
HOW_MANY = {"sched_switch": 7, "sched_waking": 4, "sched_process_exit": 3, "irq_handler_entry": 2,
            "irq_handler_exit": 2}


def text(value):
    return printable(value).replace("\n", "\\012").replace("\t", "\\011")


def report(path):
    done = subprocess.run(["trace-cmd", "report", "-N", "-t", "-i", path], capture_output=True,
                          check=False)
    want(done.returncode == 0, f"trace-cmd: {done.stderr.decode()[:300]}")
    complaint = done.stderr.decode()
    want("rror" not in complaint and "arning" not in complaint, f"trace-cmd: {complaint[:300]}")
    streams = defaultdict(list)
    for line in done.stdout.decode("utf-8").split("\n"):
        lost = DROPPED.match(line)
        if lost:
            streams[int(lost[1])].append(("lost", int(lost[2]) if lost[2].strip() else None))
        elif line and not line.startswith("cpus="):
            comm, pid, cpu, seconds, nanoseconds, name, body = LINE.fullmatch(line).groups()
            ns = int(seconds) * 10**9 + int(nanoseconds)
            streams[int(cpu)].append((name, ns, body.strip(" "), comm, int(pid)))
    return streams


def lower(name):
    return re.sub("[^a-z0-9]", "_", name.lower())


def number(value):
    return int(value, 16) if isinstance(value, str) else value


def pattern(value):
    if isinstance(value, int):
        return f"(?:{value}|0x{value & 0xffffffffffffffff:x})"
    if re.fullmatch("0x[0-9a-f]+", value):
        number = int(value, 16)
        return f"(?:0x{number:x}|{re.escape(value)})"
    return f"(?:{re.escape(text(value))}|{' '.join(f'{ord(c):02x}' for c in value)})"


def check_event(ours, event, names):
    name, ns, body, _, pid = ours
    same(ns, event["ns"], f"time of {name}")
    kind, own = event["class"], event["event"] or str(event["number"])
    if name in LINUX:
        same(event["event"], LINUX[name], name)
    elif kind in ("INT", "KER_CALL", "KER_EXIT") and name == f"{lower(kind)}_{lower(own)}":
        pass  # an end whose begin is not known, or the other way round
    elif kind == "INT" and own in ("INT_ENTR", "INT_EXIT"):
        same(name, {"INT_ENTR": "irq_handler_entry", "INT_EXIT": "irq_handler_exit"}[own], "name")
    elif kind in ("KER_CALL", "KER_EXIT"):
        same(name, f"sys_{'enter' if kind == 'KER_CALL' else 'exit'}_{lower(own)}", "name")
    else:
        same(name, f"{lower(kind)}_{lower(own)}", "name")
    if kind not in ("THREAD", "PROCESS") and event["tid"] is not None:
        same(pid, names.tid(event["pid"], event["tid"]), f"who ran at {event}")
    values = " ".join(f"k_{re.sub('[^A-Za-z0-9]', '_', k)}(?:_[0-9]+)?={pattern(v)}"
                      for k, v in event["args"].items())
    if name in HOW_MANY or name.startswith("sys_exit"):
        values = "(?:.* )?" + values
    want(re.fullmatch(values, body, re.S), f"{name}: {body!r} is not {event['args']}")
    if name == "sched_switch":
        fields = re.fullmatch(r"prev_comm=(.*) prev_pid=(-?\d+) prev_prio=\d+ prev_state=(\d+) "
                              r"next_comm=(.*) next_pid=(-?\d+) next_prio=(-?\d+) k_.*", body, re.S)
        want(fields, body)
        same(int(fields[5]), names.tid(event["args"]["pid"], event["args"]["tid"]), "next_pid")
        same(int(fields[2]), pid, "a switch is an event of who ran")
        want(int(fields[3]) in (0, 1, 16, 1024), "prev_state")


def joined(streams):
    """Parts of an event become one: its words."""
    out, form = [], r"class_id=0x6 number=0x[0-9a-f]+ part=(\d+) parts=(\d+) words=(.*)"
    for one in streams:
        part = re.fullmatch(form, one[2]) if one[0] == "part" else None
        if part is None:
            out.append(one)
        elif part[1] == "0":
            out.append(["part", one[1], part[3]])
        else:
            out[-1][2] += " " + part[3]
    return out


def check_pairs(have, given):
    pairs = Pairs()
    for item in have:
        name, _, body = given.get(id(item), ("", 0, ""))[:3]
        if name.startswith("irq_"):
            pairs.take(name, item["cpu"], re.match(r"irq=(-?\d+)", body)[1])
        elif name.startswith("sys_e"):
            pairs.take(name, (item["pid"], item["tid"]), None)


def check(capture, *options, status=0):
    run("export", "--trace-dat", *options, capture, "-o", "out.dat",
        status=STATUS.get(capture, status))
    have = lines(capture, *options, status=status)
    streams, names, given = report("out.dat"), Names(have), {}
    expected = defaultdict(list)
    for item in have[1:-1]:
        if item["kind"] in ("event", "loss"):
            expected[item["cpu"] or 0].append(item)
    same(sorted(streams), sorted(expected), f"{capture}: CPUs")
    named = {names.tid(*key): text(name) for key, name in names.last.items()}
    for _, _, _, comm, pid in (x for one in streams.values() for x in one if len(x) == 5):
        same(comm, named.get(pid, comm), f"{capture}: the last name of {pid}")
    for cpu, items in expected.items():
        ours = joined(x for x in streams[cpu] if x[0] != "lost" or len(x) > 2)
        same(len(ours), len(items), f"{capture}: events of CPU {cpu}")
        for have_one, item in zip(ours, items):
            if have_one[0] == "part":
                data = bytes.fromhex(have_one[2])
                same([have_one[1], [int.from_bytes(data[i:i + 4], "little")
                                    for i in range(0, len(data), 4)]],
                     [item["ns"], [number(v) for v in item["args"].values()]], "parts of an event")
            elif item["kind"] == "event":
                check_event(have_one, item, names)
                given[id(item)] = have_one
            else:
                same(have_one[0], "lost", "a loss")
                want(have_one[2].startswith(f"events={item['events'] or 0} buffers="), have_one[2])
                want(have_one[2].endswith(f" text={text(item['text'])}"), have_one[2])
        told = [x[1] for x in streams[cpu] if x[0] == "lost" and len(x) == 2]
        losses = [x for x in items if x["kind"] == "loss"]
        same(sum(x or 0 for x in told), sum(x["events"] or 0 for x in losses), "events dropped")
        same(bool(told), bool(losses), "whether trace-cmd says that events are missing")
    check_pairs(have, given)
