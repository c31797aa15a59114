#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The babeltrace2 plugin, by babeltrace2: each event and loss against `kymo print --json`, directly
and through CTF that sink.ctf.fs wrote; the command, its trimmer and muxer; damaged captures."""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
os.chdir(ROOT)
sys.path.insert(0, "test/tool")
import temporary  # noqa: E402,F401

os.environ["TZ"] = "UTC"
os.environ["BABELTRACE_PLUGIN_PATH"] = os.path.join(ROOT, "build/babeltrace2")
import bt2  # noqa: E402

D_EVENTS = dict(enumerate("NOTES RECORD TAKEN ENTRY ENTRIES STATUS PROCESS".split(), 1))
counts = {True: 0, False: 0}


def verdict(name, good, why=""):
    counts[bool(good)] += 1
    if not good:
        print(f"FAIL {name}: {str(why)[:600]}")


def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          text=True, errors="replace")


def plain(value):
    return value if isinstance(value, str) else [int(b) for b in value] \
        if isinstance(value, bt2._ArrayFieldConst) else int(value)


def read(path):
    """Events of each CPU, with losses where they are: ("lost", count, begin, end)."""
    streams = {}
    for message in bt2.TraceCollectionMessageIterator(path):
        if isinstance(message, bt2._EventMessageConst):
            event = message.event
            common = event.common_context_field
            streams.setdefault(int(event.packet.context_field["cpu_id"]), []).append((
                event.name, message.default_clock_snapshot.value,
                [plain(common[k]) if k in ("pid", "tid", "dump") else str(common[k])
                 for k in common],
                [(k, str(v) if isinstance(v, bt2._StringFieldConst) else plain(v))
                 for k, v in event.payload_field.items()]))
        elif isinstance(message, bt2._DiscardedEventsMessageConst):
            streams.setdefault(message.stream.id, []).append((
                "lost", message.count, message.beginning_default_clock_snapshot.value,
                message.end_default_clock_snapshot.value))
    return streams


def wanted(path):
    streams = {}
    for line in run("build/kymo", "print", "--json", path).stdout.splitlines():
        event = json.loads(line)
        name = D_EVENTS.get(event["number"]) if event["class"] == "D" else event["event"]
        streams.setdefault(event["cpu"], []).append((event, name))
    return streams


def same(ours, event, name):
    theirs = [-1 if event[k] is None else event[k] for k in ("pid", "tid")] + \
        [event[k] or "-" for k in ("process", "thread")] + [event["dump"]]
    if name is not None and ours[0] != f"{event['class']}:{name}":
        return False
    if ours[1] != int(event["cycles"], 16) or ours[2] != theirs:
        return False
    return event["class"] == "D" or [k for k, _ in ours[3]] == list(event["args"]) and all(
        v == (int(event["args"][k], 16) if isinstance(v, int) and
              isinstance(event["args"][k], str) else event["args"][k]) for k, v in ours[3])


def compare(path, lost=0):
    name = os.path.basename(path)
    streams, want = read(path), wanted(path)
    ours = {cpu: [e for e in s if e[0] != "lost"] for cpu, s in streams.items()}
    total = sum(map(len, want.values()))
    verdict(f"{name} has events", total > 0)
    verdict(f"{name}: as many events on each CPU",
            {c: len(s) for c, s in ours.items() if s} == {c: len(s) for c, s in want.items()})
    wrong = [(one, other) for cpu in want for one, (other, called) in
             zip(ours.get(cpu, []), want[cpu]) if not same(one, other, called)]
    verdict(f"{name}: the same events", not wrong, wrong[:1])
    losses = [e for s in streams.values() for e in s if e[0] == "lost"]
    dropped = sum(e["args"]["num_events"] for s in want.values() for e, n in s
                  if e["class"] == "CONTROL" and n == "DROPPED")
    verdict(f"{name}: counted losses are those of DROPPED", dropped == sum(
        e[1] or 0 for e in losses), (dropped, losses))
    verdict(f"{name}: has the losses that it should", bool(losses) == bool(lost), losses)
    return streams


def through_ctf(path, streams, tmp):
    folder = os.path.join(tmp, "ctf")
    done = run("babeltrace2", path, "--component=k:sink.ctf.fs", f'--params=path="{folder}"')
    verdict("sink.ctf.fs takes it", done.returncode == 0, done.stderr)
    verdict("CTF reads back the same", read(folder) == streams,
            [pair for c in streams for pair in zip(streams[c], read(folder)[c])
             if pair[0] != pair[1]][:1])


def damaged(path, tmp):
    with open(path, "rb") as file:
        whole = file.read()
    for name, content in (("short", whole[:len(whole) // 2]), ("bare", whole[:40]),
                          ("bit", whole[:-9000] + bytes([whole[-9000] ^ 4]) + whole[-8999:])):
        bad = os.path.join(tmp, name + ".kev")
        with open(bad, "wb") as file:
            file.write(content)
        done = run("babeltrace2", bad)
        verdict(f"{name}: an error with the file's name, or a loss",
                "iscarded" in done.stderr if name == "short" else
                done.returncode == 1 and bad in done.stderr, done)
        done = run("babeltrace2", "--component=s:source.kymo.kev",
                   f'--params=inputs=["{bad}"],recover=true')
        verdict(f"{name}: recovered, or refused", done.returncode in (0, 1), done.returncode)
    with open(os.path.join(tmp, "empty.kev"), "wb"):
        pass
    verdict("an empty file is refused", run("babeltrace2", tmp + "/empty.kev").returncode == 1)
    done = run("babeltrace2", "--component=s:source.kymo.kev", "--params=inputs=1")
    verdict("wrong parameters are refused", done.returncode == 1 and "inputs" in done.stderr)


def main():
    subprocess.run(["make", "-s", "babeltrace2", "build/kymo", "build/tools/mkcapture"], check=True)
    golden = ["test/host/golden/virt-a64.kev", "test/host/golden/mps2-an386.kev"]
    with tempfile.TemporaryDirectory() as tmp:
        for path in golden:
            compare(path)
        lossy = os.path.join(tmp, "lossy.kev")
        subprocess.run(["build/tools/mkcapture", lossy, "8", "3000", "5", "lossy"], check=True,
                       stdout=subprocess.DEVNULL)
        streams = compare(lossy, lost=1)
        through_ctf(lossy, streams, tmp)
        lines = run("babeltrace2", *golden).stdout.splitlines()
        verdict("two captures are merged", len(lines) == sum(
            len(s) for path in golden for s in wanted(path).values()))
        cut = run("babeltrace2", golden[0], "--begin", "1970-01-01 00:00:00.001000000",
                  "--end", "1970-01-01 00:00:00.002000000", "--clock-gmt").stdout
        inside = [e for s in wanted(golden[0]).values() for e, _ in s
                  if 1000000 <= e["ns"] <= 2000000]
        verdict("the trimmer", len(cut.splitlines()) == len(inside) > 0,
                (len(cut.splitlines()), len(inside)))
        damaged(golden[0], tmp)
    print(f"babeltrace2: {counts[True]} passed, {counts[False]} failed")
    sys.exit(1 if counts[False] else 0)


main()
