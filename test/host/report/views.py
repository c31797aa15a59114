#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The views of a report: what the page's blocks hold against `kymo stat`, added up here, and what
the views show in chromium against both. The last line counts."""
import collections
import fnmatch
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path[:0] = [os.path.join(ROOT, "test/tool"), os.path.join(ROOT, "test/host/fabricate")]
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import temporary  # noqa: E402
import browser  # noqa: E402
import check  # noqa: E402
import colours  # noqa: E402
import fabricate  # noqa: E402
import findings  # noqa: E402
from check import kymo, ok, signed, varint  # noqa: E402

# The planes of each stream's columns (docs/reference/report-data.md), how they are guessed, and
# whether a row has a length.
STREAMS = {"known": ([], "", True), "ran": ([3, 1], "bk", True), "moves": ([3, 1, 1], "bkk", False),
           "waited": ([3, 1], "bk", True), "woken": ([3, 2, 1], "ekk", True),
           "messages": ([3, 4, 1, 3], "bkkk", True), "served": ([3, 3], "bk", True),
           "interrupts": ([2, 1, 1, 1], "kkkk", True)}
SENT, RECEIVED, REPLIED, ERROR = range(4)


def times_of(data, rows, lasts, marks):
    """Each row's (begin, end), the events at which it does that (None: none), and what follows."""
    at, now, last, times, places = 0, 0, 0, [], []
    for _ in range(rows):
        away, at = varint(data, at) if marks else (0, at)
        if away == 0:
            delta, at = signed(data, at)
            now, end = now + delta, None
        else:
            last += ((away - 1) >> 1) ^ -((away - 1) & 1)
            now, end = marks[last][0], last
        begin, since = end, now
        if lasts:
            back, at = varint(data, at) if marks else (0, at)
            if back == 0:
                length, at = varint(data, at)
                since = now - length
            else:
                begin = last - back + 1
                since = marks[begin][0]
        times.append((since, now))
        places.append((begin, end))
    return times, places, at


def rows_of(data, rows, planes, guess, lasts, marks):
    """(from, to, column...) of each row of a block."""
    marks = marks if guess else None
    times, places, at = times_of(data, rows, lasts, marks)
    columns = []
    for how, count in zip(guess or "-" * len(planes), planes):
        column, seen = [], collections.Counter()
        for i in range(rows):
            value = sum(data[at + plane * rows + i] << 8 * plane for plane in range(count))
            mark = places[i][how == "e"]
            kind = marks[mark][2] % 1024 if marks and mark is not None else 0
            if marks and how == "k":
                value ^= seen[kind]
                seen[kind] = value
            elif marks and mark is not None:
                value ^= marks[mark][3]
            column.append(value)
        columns.append(column)
        at += count * rows
    assert at == len(data)
    return [times[i] + tuple(c[i] for c in columns) for i in range(rows)]


def read(page):
    streams, tables, marks = {name: [] for name in STREAMS}, None, []
    for name, rows, data in check.blocks(page):
        if name == "events":
            marks += check.marks_of(rows, data)
        elif name == "tables":
            tables = json.loads(data)
    for name, rows, data in check.blocks(page):
        if name in STREAMS:
            streams[name] += rows_of(data, rows, *STREAMS[name],
                                     marks if tables["hasMarks"] else None)
    return streams, tables


def overlap(spans, a, b):
    return sum(max(0, min(b, to) - max(a, from_)) for from_, to in spans)


class Figures:
    """What `kymo stat` would say, from a page's blocks, of [begin, end]."""

    def __init__(self, page, begin=None, end=None):
        s, self.tables = read(page)
        t = self.tables
        self.begin = min([t["first"]] + [r[0] for rows in s.values() for r in rows]) \
            if begin is None else begin
        self.end = max([t["last"]] + [r[1] for rows in s.values() for r in rows]) \
            if end is None else end
        known = [row[:2] for row in s["known"]]
        self.known = overlap(known, self.begin, self.end)
        self.cpus = collections.defaultdict(collections.Counter)
        self.states = collections.defaultdict(collections.Counter)
        self.runs, self.migrations = collections.Counter(), collections.Counter()
        for from_, to, thread, cpu in s["ran"]:
            a, b = max(from_, self.begin), min(to, self.end)
            if a >= b:
                continue
            idle = self.idle(thread)
            self.cpus[cpu]["unknown" if thread == 0 else "idle" if idle else "busy"] += b - a
            self.states[self.id(thread)][1] += b - a if idle else overlap(known, a, b)
        for from_, to, thread, state in s["waited"]:
            self.states[self.id(thread)][state] += overlap([(from_, to)], self.begin, self.end)
        for now, _, thread, was, cpu in filter(self.inside, s["moves"]):
            self.runs[self.id(thread)] += 1
            self.migrations[self.id(thread)] += was not in (255, cpu)
        self.sent = collections.Counter()
        self.latency, self.wait = collections.defaultdict(list), collections.defaultdict(list)
        self.errors = collections.Counter()
        for from_, to, client, pid, what, _ in filter(self.inside, s["messages"]):
            pair = (self.id(client)[0], pid)
            if what == SENT:
                self.sent[pair] += 1
            else:
                (self.wait if what == RECEIVED else self.latency)[pair].append(to - from_)
                self.errors[pair] += what == ERROR
        self.served = collections.Counter()
        for from_, to, client, server in s["served"]:
            time = overlap([(from_, to)], self.begin, self.end)
            self.served[self.id(client) + (self.id(server)[0],)] += time
        self.irqs = collections.defaultdict(list)
        self.entered = collections.Counter()
        for from_, to, line, cpu, depth, what in filter(self.inside, s["interrupts"]):
            if what:
                self.irqs[line].append(to - from_)
            else:
                self.entered[line] += 1
        for from_, to, line, cpu, depth, what in s["interrupts"]:
            if what and depth == 0:
                self.cpus[cpu]["interrupt"] += overlap([(from_, to)], self.begin, self.end)
        self.woken = s["woken"]
        self.streams = s

    def inside(self, row):
        return self.begin <= row[1] <= self.end

    def id(self, thread):
        info = self.tables["threads"][thread]
        return (info[0], info[1]) if info else (0, 0)

    def idle(self, thread):
        pid, tid = self.id(thread)
        return pid == 1 and 1 <= tid <= self.tables["cpus"]


def near(a, b, rows):
    """Equal but for the rounding of both ends of `rows` stretches."""
    return abs(a - b) <= rows + 2


def stat_of(*arguments):
    done = kymo("stat", "--json", *arguments)
    return json.loads(done.stdout) if done.stdout else None


def compare(name, stat, figures):
    s = figures.streams
    for cpu in stat["cpus"]:
        got, n = figures.cpus[cpu["cpu"]], len(s["ran"]) + len(s["interrupts"])
        ok(f"{name}: CPU {cpu['cpu']}", all(near(got[key], cpu[key + "_ns"], n) for key in (
            "busy", "idle", "unknown", "interrupt")), f"{got} {cpu}")
    ok(f"{name}: covered", near(figures.known, stat["covered_ns"], len(s["known"])),
       f"{figures.known} {stat['covered_ns']}")
    names = [state and state.replace("STATE_", "").removeprefix("TH")
             for state in figures.tables["states"]]
    threads = {(t["pid"], t["tid"]): t for t in stat["threads"]}
    for who, thread in threads.items():
        got = collections.Counter({names[state]: time for state, time in
                                   figures.states[who].items() if time})
        if thread["idle"]:
            got = collections.Counter({"RUNNING": got["RUNNING"]} if got["RUNNING"] else {})
        wanted = thread["states_ns"]
        ok(f"{name}: states of {who}", all(near(got[key], wanted.get(key, 0), len(s["ran"]))
                                           for key in set(got) | set(wanted)), f"{got} {wanted}")
        ok(f"{name}: runs of {who}", (figures.runs[who], figures.migrations[who]) ==
           (thread["runs"], thread["migrations"]),
           f"{figures.runs[who]} {figures.migrations[who]} {thread}")
    ok(f"{name}: no thread more", not {who for who, states in figures.states.items()
                                       if sum(states.values())} - set(threads) - {(0, 0)})
    pairs = {(m["from"], m["to"]): m for m in stat["messages"]}
    ok(f"{name}: pairs", set(pairs) == set(figures.sent), f"{set(pairs) ^ set(figures.sent)}")
    for pair, m in pairs.items():
        lists = figures.latency[pair], figures.wait[pair]
        good = figures.sent[pair] == m["sent"] and figures.errors[pair] == m["errors"]
        for values, hist in zip(lists, (m["latency"], m["wait"])):
            good = good and len(values) == hist["count"]
            if good and values:
                good = near(min(values), hist["min_ns"], 0) and near(max(values), hist["max_ns"], 0)
        ok(f"{name}: messages {pair}", good, f"{m}")
    wanted = {(i["pid"], i["tid"], i["server_pid"]): i["time_ns"] for i in stat["imposed"]}
    ok(f"{name}: imposed", set(wanted) == {k for k, v in figures.served.items()} and
       all(near(figures.served[k], v, len(s["served"])) for k, v in wanted.items()),
       f"{wanted} {figures.served}")
    irqs = {i["line"]: i for i in stat["interrupts"]}
    for line, irq in irqs.items():
        got = figures.irqs[line]
        ok(f"{name}: interrupt {line}", (figures.entered[line], len(got)) ==
           (irq["count"], irq["timed"]) and near(sum(got), irq["time_ns"], len(got)), f"{irq}")


def captures(folder):
    """(name, path, arguments) of all kinds."""
    golden = "test/host/golden/virt-a64.kev"
    yield "golden", golden, ()
    yield "golden M4", "test/host/golden/mps2-an386.kev", ()
    for cpus in 1, 8:
        for kind in "whole", "lossy", "foreign", "swapped":
            path = f"{folder}/{kind}{cpus}.kev"
            subprocess.run([check.MK, path, str(cpus), "3000", "7", kind], check=True)
            yield f"{kind}, {cpus} CPUs", path, ()
    with open(f"{folder}/lossy8.kev", "rb") as f:
        data = bytearray(f.read())
    for at in range(len(data) // 3, len(data) // 3 + 20000):
        data[at] ^= 0x5a
    with open(f"{folder}/damaged.kev", "wb") as f:
        f.write(data)
    yield "damaged", f"{folder}/damaged.kev", ("--recover",)
    with open(f"{folder}/short.kev", "wb") as f:
        f.write(data[:len(data) // 3 - 8])
    yield "cut short", f"{folder}/short.kev", ()
    with open(golden, "rb") as f:
        data = fabricate.kev.unchecked(f.read())
    with open(f"{folder}/gated.kev", "wb") as f:
        f.write(data.replace(b"FILTER_2::wide", b"FILTER_2::gate x.d"))
    yield "gated", f"{folder}/gated.kev", ()
    subprocess.run([check.MK, f"{folder}/empty.kev", "2", "0", "7"], check=True)
    yield "empty", f"{folder}/empty.kev", ()


def blocks_agree(folder):
    for name, path, arguments in captures(folder):
        page = f"{folder}/{os.path.basename(path)}.html"
        done = kymo("report", "--force", *arguments, path, "-o", page, command=check.ASAN)
        ok(f"{name}: a page", done.returncode in (0, 1) and b"Sanitizer" not in done.stderr and
           b"runtime error" not in done.stderr, done.stderr.decode()[-300:])
        stat = stat_of(*arguments, path)
        ok(f"{name}: both or none", bool(stat) == os.path.exists(page), done.stderr)
        if stat:
            compare(name, stat, Figures(page))


# ---- the views, in a browser ---------------------------------------------------------------------

SHOWN = ("(() => { const p = document.getElementById('pane'); return p.dataset.shown === "
         "shownKey(currentView()) && p.getAttribute('aria-busy') === 'false'; })()")


def look(b, page, view, fragment="s=whole"):
    """Shows a view; of the page that is open by way of the link alone."""
    link = f"#v={view}&{fragment}"
    if getattr(b, "page", None) == page:
        b.run("location.hash = arguments[0]; return new Promise((done) => setTimeout(done))", link)
    else:
        check.ready(b, page, link)
        b.page = page
    b.until(f"pane.active === '{view}' && {SHOWN}", view)


def table(b, name):
    """The values of a table's cells, as numbers where they are."""
    rows = b.run("return [...document.querySelectorAll('#' + arguments[0] + ' tbody tr')].map((tr) "
                 "=> [...tr.cells].map((td) => td.dataset.value))", name)
    return [[float(v) if re.fullmatch(r"-?[\d.]+(e[+-]?\d+)?", v) else v for v in row]
            for row in rows]


def pids(text):
    """(pid, tid) or (pid,) of "name (4/1)"; of an idle thread; () of none."""
    idle = re.fullmatch(r"\(idle, CPU (\d+)\)", text)
    found = re.search(r"\((\d+)(?:/(\d+))?\)( \S+)?$", text)
    return (1, int(idle[1]) + 1) if idle else tuple(int(n) for n in found.groups()[:2] if n) \
        if found else (0, 0)


def summed(rows, at=0):
    """Sums of rows by the thread in a column: ids that were used again are rows of their own."""
    sums = {}
    for row in rows:
        was = sums.setdefault(pids(row[at]), [0] * len(row))
        for i, value in enumerate(row):
            was[i] += value if isinstance(value, float) else 0
    return sums


def views_agree(b, name, page, stat, figures, fragment="s=whole"):
    """What the views show of an interval is what the blocks say; of all of it what `stat` says."""
    look(b, page, "summary", fragment)
    for cpu, covered, busy, programs, calls, interrupts, idle, unknown in table(b, "cpu-table"):
        got = figures.cpus[cpu]
        ok(f"{name}: summary of CPU {cpu}", [busy, idle, unknown] == [
            got[key] for key in ("busy", "idle", "unknown")] and
           covered == busy + idle + unknown and programs >= 0 and calls >= 0 and
           near(interrupts, got["interrupt"], 1), f"{interrupts} {got}")
    modes = b.run(f"return ask('modes', scopeOf()).then((m) => ['idle', 'user', 'system', "
                  "'interrupt', 'unknown'].map((k) => [...m[k]]))")
    ok(f"{name}: the modes are all of the time", all(
        near(sum(mode[cpu] for mode in modes), sum(figures.cpus[cpu][k] for k in (
            "busy", "idle", "unknown")), 0) for cpu in range(figures.tables["cpus"])), modes)
    look(b, page, "cpu", fragment)
    rows = summed(table(b, "thread-table"))
    wanted = {who: states for who, states in figures.states.items() if who != (0, 0) and (
        sum(states.values()) or figures.runs[who])}
    ok(f"{name}: threads", set(wanted) <= set(rows), f"{set(wanted) ^ set(rows)}")
    ok(f"{name}: threads' times, runs, migrations", all(
        row[1] == wanted[who][1] and row[4] == wanted[who][2] and row[2] == sum(
            wanted[who].values()) and row[5] == figures.runs[who] and
        row[6] == figures.migrations[who] for who, row in rows.items() if who in wanted))
    look(b, page, "service", fragment)
    served = {pids(c) + pids(s)[:1]: t for c, s, t, _ in table(b, "served-table")}
    ok(f"{name}: imposed", served == {k: v for k, v in figures.served.items() if v},
       f"{served} {figures.served}")
    ok(f"{name}: self", all(row[1] == figures.states[who][1] for who, row in
                            summed(table(b, "self-table")).items()))
    look(b, page, "messages", fragment)
    found = {}
    for client, server, sent, replied, errors, p50, p90, p99, most, _ in table(b, "message-table"):
        pair = pids(client)[0], pids(server)[0]
        found[pair] = sent
        times = sorted(figures.latency[pair])
        exact = [times[max(0, -(-len(times) * p // 100) - 1)] for p in (50, 90, 99, 100)] \
            if times else [-1] * 4
        ok(f"{name}: messages {pair}", (sent, replied + errors, errors) == (
            figures.sent[pair], len(times), figures.errors[pair]) and
           [p50, p90, p99, most] == exact, f"{exact}")
        if stat:
            wanted = next(m for m in stat["messages"] if (m["from"], m["to"]) == pair)["latency"]
            ok(f"{name}: percentiles of {pair}", not times or all(
                abs(mine - wanted[f"p{p}_ns"]) <= 0.02 * mine + 1
                for p, mine in ((50, p50), (90, p90), (99, p99))), wanted)
    ok(f"{name}: pairs", set(found) >= set(figures.sent))
    look(b, page, "interrupts", fragment)
    rows = table(b, "interrupt-table")
    ok(f"{name}: interrupts", {row[0]: row[1:4] for row in rows} == {
        line: [figures.entered[line], len(figures.irqs[line]), sum(figures.irqs[line])]
        for line in set(figures.entered) | set(figures.irqs)}, rows)


def counts_agree(b, name, page, events):
    """Counts by class, event, owner against what `kymo print` prints."""
    look(b, page, "statistics")
    classes = collections.Counter(e["class"] for e in events)
    got = {row[0]: row[1] for row in table(b, "class-table")}
    ok(f"{name}: classes", got == dict(classes), f"{got} {classes}")
    rows = table(b, "event-table")
    wanted = collections.Counter((e["class"], e["event"]) for e in events if e["event"])
    got = collections.Counter()
    for row in rows:
        got[row[0], str(row[1]).split(" ")[0]] += row[2]
    ok(f"{name}: events", all(got[key] == n for key, n in wanted.items()), f"{got} {wanted}")
    owners = collections.Counter((e["pid"] or 0, e["tid"] or 0) for e in events)
    got = collections.Counter()
    for row in table(b, "owner-table"):
        got[pids(row[0])] += row[1]
    ok(f"{name}: owners", got == owners, f"{got} {owners}")


# ---- conditions, evaluated here ------------------------------------------------------------------

def holds(event, words):
    """Does each word, (not, name, operator, value), hold of a line of `kymo print --json`?"""
    def one(name, op, value):
        if name is None:
            texts = [event["class"], event["event"] or str(event["number"]), event["process"],
                     event["thread"], f"{event['pid']}/{event['tid']}" if event["pid"] else None]
            texts += [v for v in event["args"].values() if isinstance(v, str) and
                      not v.startswith("0x")]
            return any(text and value.lower() in text.lower() for text in texts)
        if name in ("class", "event", "cpu", "process", "thread"):
            mine = {"class": [event["class"]], "event": [event["event"]],
                    "cpu": [str(event["cpu"])], "process": [event["process"], str(event["pid"])],
                    "thread": [event["thread"], f"{event['pid']}/{event['tid']}"]}[name]
            is_in = any(m is not None and fnmatch.fnmatchcase(m.lower(), v.lower())
                        for m in mine for v in value.split(","))
            return is_in if op == "=" else not is_in
        if name not in event["args"]:
            return False
        mine = event["args"][name]
        mine = int(mine, 0) if isinstance(mine, str) and mine.startswith("0x") else mine
        if isinstance(mine, str):
            return mine == value if op == "=" else value.lower() in mine.lower()
        if not re.fullmatch(r"-?(0x)?[0-9a-f]+", value):
            return False
        wanted = int(value, 0)
        return {"=": mine == wanted, "!=": mine != wanted, "<": mine < wanted, ">": mine > wanted,
                "<=": mine <= wanted, ">=": mine >= wanted}[op]
    return all((name is None or name in event["args"] or name in (
        "class", "event", "cpu", "process", "thread") or no) and
        one(name, op, value) != no for no, name, op, value in words)


CONDITIONS = ["", "class=COMM", "event=TH*", "!class=THREAD", "class!=THREAD cpu=0",
              "process=t_msg", "thread=4/2 event=MSG_*", "pid=4", "pid>=3 !pid=4", "msg_re",
              "tracelogger", "name~init", "event=THRUNNING,THREADY priority>10", "ret_val<0",
              "errno=0x20",
              "class=KER_CALL,KER_EXIT process=2,4", "rcvid!=0 class=COMM", "!t_msg event=THREADY"]


def words_of(text):
    found = re.findall(r"(!?)(?:(\w+)(!=|<=|>=|=|<|>|~))?(\S+)", text)
    return [(no == "!", name or None, op, value) for no, name, op, value in found]


def conditions_hold(b, page, events):
    look(b, page, "log")
    for text in CONDITIONS:
        got = b.run("return ask('filter', {text: arguments[0], from: report.loaded.tables.first, "
                    "to: report.loaded.tables.last}).then((a) => [...a.indexes])", text)
        wanted = [i for i, e in enumerate(events) if holds(e, words_of(text))]
        ok(f"condition {text!r}", got == wanted and (text != "" or len(got) == len(events)),
           f"{len(got)} {len(wanted)} {[events[i] for i in sorted(set(got) ^ set(wanted))[:2]]}")
    for text in "nosuch=1", "pid<x", "class<3":
        ok(f"no condition {text!r}", b.run(
            "return ask('check', {text: arguments[0]}).then(() => '', (e) => e.message)", text))


# ---- interrupts that wake threads ----------------------------------------------------------------

def woken_agree(folder, b):
    """A capture in which it is known which interrupt made which thread run when."""
    rng = random.Random(11)
    capture = fabricate.Capture(1, form="wide")
    time, wanted = 5000, []

    def put(slot_class, number, words):
        nonlocal time
        time += rng.randrange(3, 300)
        capture.put(0, slot_class, number, time, words)
        return time * fabricate.NS

    def state(number, pid):
        return put(fabricate.PR_TH, number, [pid, 1, 10, 1])

    for pid in 2, 3, 4:
        put(fabricate.PR_TH, 24, [pid, 1])
    state(fabricate.RUNNING, 2)
    for pid in 3, 4:
        state(fabricate.READY, pid)
        state(fabricate.RUNNING, pid)
        state(fabricate.RECEIVE, pid)
        state(fabricate.RUNNING, 2)
    for _ in range(300):
        pid, line = rng.choice([3, 4]), rng.choice([27, 33, 40])
        calls = rng.random() < 0.3
        if calls:
            put(fabricate.KER_CALL, 14, [0, 0, 0, 0])
        since = put(3, 1, [line, 0])
        put(3, 2, [line, 0])
        spoilt = rng.random() < 0.2
        if spoilt:  # what comes after it may not be the interrupt's doing
            put(fabricate.USER, 5, [1, 2])
        state(fabricate.READY, pid)
        if calls:
            put(fabricate.KER_CALL, 14 | 128, [0, 0])
        ran = state(fabricate.RUNNING, pid)
        if not calls and not spoilt:
            wanted.append((line, pid, ran - since))
        state(fabricate.RECEIVE, pid)
        state(fabricate.RUNNING, 2)
    capture.write(f"{folder}/woken.kev")
    kymo("report", "--force", f"{folder}/woken.kev", "-o", f"{folder}/woken.html")
    look(b, f"{folder}/woken.html", "interrupts")
    groups = collections.defaultdict(list)
    for line, pid, length in wanted:
        groups[line, pid].append(length)
    got = {(row[0], pids(row[1])[0]): row[2:] for row in table(b, "woken-table")}
    ok("from interrupts to their threads", len(groups) == 6 and got == {
        key: [len(v)] + [sorted(v)[-(-len(v) * p // 100) - 1] for p in (50, 90, 99, 100)]
        for key, v in groups.items()}, f"{got} {dict(groups)}")


# ---- aggregations of D programs ----------------------------------------------------------------

AGGREGATIONS = [
    {"aggregation": "a", "function": "quantize", "rows": [
        {"key": ["k"], "value": [{"bucket": "< 0", "count": 12}, {"bucket": "8", "count": 40}]},
        {"key": ["<img src=x onerror=hurt=1>"], "value": [{"bucket": "0", "count": 9}]}]},
    {"aggregation": "c", "function": "count", "rows": [
        {"key": ["<b>x</b>", 4], "value": 1200}, {"key": ["filter", 3], "value": 7}]},
    {"aggregation": "s", "function": "avg", "rows": [{"key": [["f+0x1", "g"]], "value": 3}]}]


def with_aggregations(page, to, shown):
    """A copy of a page whose capture a D program would have logged into (test/board/dlog.py)."""
    def block(name, data):
        deflated = zlib.compress(data)
        return (f'<script type="text/plain" data-stream="{name}" data-rows="1" data-bytes="'
                f'{len(data)}" data-deflated="{len(deflated)}">').encode() + \
            check.text_of(deflated) + b"</script>\n"
    with open(page, "rb") as f:
        data = f.read()
    at = data.index(b'<script type="text/plain" data-stream="tables"')
    end = data.index(b"</script>\n", at) + 10
    tables = read(page)[1]
    tables["aggregations"] = {"ended": 1, "left": 2, "said": "dtrace: 3 drops on CPU 0"}
    lines = "".join(json.dumps(one) + "\n" for one in shown) + "no line\n"
    with open(to, "wb") as f:
        f.write(data[:at] + block("aggregations", lines.encode()) +
                block("tables", json.dumps(tables).encode()) + data[end:])


def aggregations_shown(folder, b, page):
    look(b, page, "aggregations")
    ok("no aggregations: that is said", "No D program" in b.run(
        "return document.getElementById('pane').textContent"))
    with_aggregations(page, f"{folder}/unknown.html", [])
    look(b, f"{folder}/unknown.html", "aggregations")
    text = b.run("return document.getElementById('pane').textContent")
    ok("without a program's description nobody says that it has none",
       "have no aggregations" not in text and "No aggregation is known" in text, text)
    with_aggregations(page, f"{folder}/aggregations.html", AGGREGATIONS)
    look(b, f"{folder}/aggregations.html", "aggregations")
    text = b.run("return document.getElementById('pane').textContent")
    ok("drops and what is left out are said", "3 drops on CPU 0" in text and "2 aggregations" in
       text)
    ok("keys of aggregations are text", b.run("return document.images.length") == 0 and
       "<img src=x onerror=hurt=1>" in text and "<b>x</b>" in text)
    ok("values of aggregations", table(b, "aggregation-1") == [
        ["<b>x</b>", 4, 1200], ["filter", 3, 7]] and table(b, "aggregation-2")[0][1] == 3)
    b.run("document.getElementById('aggregation-0-0').focus()")
    b.keys("End")
    b.until("document.getElementById('status').textContent === '8: 40'", "a bar is read out")
    ok("a bar is read out", True)


# ---- what a user does ----------------------------------------------------------------------------

def moment_agrees(b, page, figures):
    rng = random.Random(5)
    first, last = figures.tables["first"], figures.tables["last"]
    for _ in range(6):
        time = rng.randrange(first + 1, last)
        look(b, page, "threads", f"c={time}")
        got = {pids(row[0]): row[1:4] for row in table(b, "moment-table")}
        names = figures.tables["states"]
        wanted = {}
        for from_, to, thread, state in figures.streams["waited"]:
            if from_ <= time < to:
                wanted[figures.id(thread)] = [names[state].removeprefix("TH"), time - from_]
        for from_, to, thread, cpu in figures.streams["ran"]:
            if thread and from_ <= time < to:
                wanted[figures.id(thread)] = [f"RUNNING on CPU {cpu}", time - from_]
        ok(f"threads at {time}", all(got[who][:2] == w for who, w in wanted.items()) and all(
            row[0] == "not known" for who, row in got.items() if who not in wanted),
           f"{got} {wanted}")


def user_goes_about(b, page, events):
    look(b, page, "messages")
    sent = b.run("return ask('messages', scopeOf()).then((a) => [...a.replied.sent])")
    b.click("#message-points")  # focuses it
    b.keys("Home")
    b.keys("Enter")
    b.until(f"view.cursor === {int(min(sent))}", "Enter on a point goes to its message")
    ok("a point goes to the timeline, which is shown beside", b.run(
        "return pane.split && document.getElementById('canvas').clientHeight > 50"))
    b.run("document.querySelector('#slow-table tbody tr').click()")
    slowest = b.run("return ask('messages', {from: 0, to: 1e15}).then((a) => "
                    "a.replied.sent[a.replied.latency.indexOf(Math.max(...a.replied.latency))])")
    b.until(f"view.cursor === {int(slowest)}", "a click on the slowest message goes there")
    ok("a click on the slowest message goes there", True)
    b.run("document.activeElement.blur()")
    b.keys("s")
    b.until("!pane.split", "S ends the split")
    b.keys("v")
    b.until("pane.active === 'interrupts'", "V shows the next view")
    ok("V and S", True)
    b.run("document.getElementById('tab-interrupts').focus()")
    b.keys("ArrowLeft")
    b.until("pane.active === 'messages' && document.activeElement.id === 'tab-messages'", "tabs")
    ok("arrows go from tab to tab", True)

    look(b, page, "log")
    b.until("document.querySelectorAll('#log-rows .log-row').length > 5", "rows of the log")
    rows = b.run("return document.querySelectorAll('#log-rows .log-row').length")
    values = b.run("return document.querySelector('#log-rows .log-row').lastChild.clientWidth")
    ok("beside the panel there is room for values", values > 200, values)
    ok("heads stand above their columns", b.run("""
        const of = (row) => [...row.children].map((e) => Math.round(e.getBoundingClientRect().x));
        return String(of(document.querySelector('.log-head'))) ===
            String(of(document.querySelector('#log-rows .log-row')))"""))
    ok("only the rows in sight are in the document", rows < 80 and len(events) > 500, rows)
    b.run("document.getElementById('log').focus()")
    b.keys("End")
    b.until(f"log.selected === {len(events) - 1} && view.cursor === {events[-1]['ns']}", "End")
    b.until(f"document.getElementById('log-{len(events) - 1}')", "the last row")
    b.keys("Home")
    b.keys("ArrowDown")
    b.until(f"log.selected === 1 && view.cursor === {events[1]['ns']}", "Home and down")
    ok("keys in the log move the cursor", True)
    b.until("document.querySelector('#log-detail dl')", "the event's values")
    b.run("const f = document.getElementById('log-filter'); f.value = 'class=COMM';"
          "f.dispatchEvent(new Event('change'))")
    few = sum(e["class"] == "COMM" for e in events)
    b.until(f"log.indexes.length === {few} && {SHOWN}", "the filter")
    b.until("location.hash.includes('q=class%3DCOMM')", "the link has the condition")
    b.run("[...document.querySelectorAll('.log-head button')][4].click()")
    b.until("log.sort === 'event' && " + SHOWN, "sorted by event")
    kinds = b.run("return ask('rows', {indexes: [...log.indexes]}).then((a) => a.rows.map((r) => "
                  "kindText(r.kind)))")
    ok("the log is sorted by event", kinds == sorted(kinds) and len(set(kinds)) > 2, kinds)
    b.run("document.getElementById('condition-name').value = '<b>mine</b>';"
          "document.getElementById('condition-keep').click()")
    b.until("document.querySelectorAll('button.saved').length === 1", "a kept condition")
    link = b.run("return location.hash")
    check.ready(b, page, link)  # anew
    b.until(f"log.indexes.length === {few}", "the link opens the same log")
    ok("the link opens the same log", b.run("return pane.active") == "log")
    look(b, page, "conditions")
    rows = {row[0]: row for row in table(b, "condition-table")}
    times = [e["ns"] for e in events if e["class"] == "COMM"]
    gaps = [b_ - a for a, b_ in zip(times, times[1:])]
    ok("a condition's statistics", rows["<b>mine</b>"][2] == few and rows["<b>mine</b>"][4] == min(
        gaps) and rows["<b>mine</b>"][6] == max(gaps) and rows["<b>mine</b>"][7:9] == [
            times[0], times[-1]], rows)
    b.run("document.querySelector('#own-conditions button[aria-label]').click()")
    b.until("document.querySelectorAll('#own-conditions').length === 0", "it is removed")
    b.run("document.getElementById('own-text').value = 'nosuch=1';"
          "document.getElementById('own-add').click()")
    b.until("document.querySelector('#pane .choices .doubt').textContent.includes('nosuch')",
            "a bad condition is refused by name")
    ok("a bad condition is refused by name", True)
    b.run("const was = ask; ask = (...of) => new Promise((go) => setTimeout(() => go(was(...of)),"
          " 500)); openView('summary')")
    b.until("pane.active === 'summary' && " + SHOWN, "a view that takes its time")
    ok("a view that takes its time is shown", True)
    check.ready(b, page)
    b.page = None
    look(b, page, "cpu")
    order = [row[1] for row in table(b, "thread-table")]
    b.run("[...document.querySelectorAll('#thread-table th button')][1].click()")
    again = [row[1] for row in table(b, "thread-table")]
    ok("a head sorts its table", order == sorted(order, reverse=True) and again == sorted(order))


def every_view(b, page):
    check.ready(b, page)
    for view in b.run("return views.map((one) => one.id)"):
        b.run("openView(arguments[0])", view)
        b.until(SHOWN, view)


def in_browser(folder):
    golden = "test/host/golden/virt-a64.kev"
    events = [json.loads(line) for line in kymo("print", "--json", golden).stdout.splitlines()
              if line.startswith(b"{")]
    with browser.opened() as b:
        for name, path, arguments in captures(folder):
            page = f"{folder}/{os.path.basename(path)}.html"
            if name.startswith(("golden", "whole, 1", "swapped", "damaged", "empty")) or \
                    not os.path.exists(page):
                continue
            views_agree(b, name, page, stat_of(*arguments, path), Figures(page))
        page = f"{folder}/virt-a64.kev.html"
        views_agree(b, "golden", page, stat_of(golden), Figures(page))
        rng = random.Random(3)
        for page in f"{folder}/whole8.kev.html", f"{folder}/lossy8.kev.html":
            tables = read(page)[1]
            a, z = sorted(rng.sample(range(tables["first"], tables["last"]), 2))
            views_agree(b, f"{os.path.basename(page)} {a} {z}", page, None, Figures(page, a, z),
                        f"m={a},{z}&s=range")
        look(b, f"{folder}/lossy8.kev.html", "cpu")
        doubt = "return document.querySelector('#pane .doubt').textContent"
        ok("losses are said", "lower bounds" in b.run(doubt))
        look(b, f"{folder}/gated.kev.html", "cpu")
        ok("a gate is said", "gate" in b.run(doubt))
        page = f"{folder}/virt-a64.kev.html"
        counts_agree(b, "golden", page, events)
        conditions_hold(b, page, events)
        moment_agrees(b, page, Figures(page))
        woken_agree(folder, b)
        aggregations_shown(folder, b, page)
        user_goes_about(b, page, events)
        b.page = None
        bad = check.hostile(folder)
        kymo("report", "--recover", "--force", bad, "-o", f"{folder}/bad.html")
        every_view(b, f"{folder}/bad.html")
        ok("hostile names are text", b.run("return document.images.length === 0 && typeof hurt === "
                                           "'undefined'"))
        if os.path.exists(f"{folder}/empty.kev.html"):
            every_view(b, f"{folder}/empty.kev.html")
        faults = b.run("return report.faults") + b.complaints()
        ok("nothing on the console", not faults, faults)


# What sticks out of the window to the side and no box of its own scrolls, and what covers a button.
OUTSIDE = """const all = 'header *, #tabs *, #pane *, #panel *, #legend *';
return [...document.querySelectorAll(all)].filter((e) => {
    const r = e.getBoundingClientRect();
    if (r.width === 0 || r.right <= innerWidth + 1 || e.classList.contains('hidden-label')) {
        return false;
    }
    for (let p = e.parentElement; p; p = p.parentElement) {
        if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(p).overflowX)) {
            return false;
        }
    }
    return true;
}).map((e) => e.id || e.className || e.tagName)"""
COVERED = """return [...document.querySelectorAll('header button, #tabs button')].filter((e) => {
    const r = e.getBoundingClientRect();
    const x = r.x + r.width / 2, y = r.y + r.height / 2;
    return r.width > 0 && !e.contains(document.elementFromPoint(x, y));
}).map((e) => e.id)"""


def twice_as_large(folder):
    """A window of 1280 pixels at 200 %: 640 of the page's. All of it can be reached and read."""
    page = f"{folder}/virt-a64.kev.html"
    with browser.opened(640, 540, ["--force-device-scale-factor=2"]) as b:
        check.ready(b, page)
        ok("200 %: the window is that small",
           b.run("return [innerWidth, devicePixelRatio]") == [640, 2])
        for view in b.run("return ['timeline', ...views.map((one) => one.id)]"):
            if view != "timeline":
                b.run("openView(arguments[0])", view)
                b.until(SHOWN, view)
            wide = b.run("return document.documentElement.scrollWidth - innerWidth")
            ok(f"200 %: {view} does not scroll sideways", wide <= 0, wide)
            ok(f"200 %: nothing of {view} is cut off", not b.run(OUTSIDE), b.run(OUTSIDE))
            ok(f"200 %: no button is covered in {view}", not b.run(COVERED), b.run(COVERED))
        b.run("document.getElementById('panel').focus(); "
              "document.getElementById('panel').scrollIntoView()")
        ok("200 %: the panel can be reached", b.run(
            "const r = document.getElementById('panel').getBoundingClientRect();"
            "return r.top < innerHeight - 50 && r.height > 50"), b.run("return JSON.stringify("
            "document.getElementById('panel').getBoundingClientRect())"))
        faults = b.run("return report.faults") + b.complaints()
        ok("200 %: nothing on the console", not faults, faults)


def main():
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory(dir=temporary.PLACE) as folder:
        near_series = colours.series("host/report/page/views/chart.js")
        ok("series are told apart by everybody", near_series[0] > 9, near_series)
        blocks_agree(folder)
        with browser.opened() as b:
            findings.shown(b, kymo, ok, folder, check.ready)
        in_browser(folder)
        twice_as_large(folder)
    print(f"{check.counts[True]} passed, {check.counts[False]} failed")
    return 0 if check.counts[True] and not check.counts[False] else 1


if __name__ == "__main__":
    sys.exit(main())
