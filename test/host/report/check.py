#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""`kymo report` from the outside: a second reader of the page's blocks against `kymo print --json`,
usage, files, and the page in chromium with interactions driven. The last line counts."""
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "test/tool"))
sys.path.append(os.path.join(ROOT, "test/board"))
import kev  # noqa: E402
import patience  # noqa: E402
import temporary  # noqa: E402
import browser  # noqa: E402
from page_blocks import blocks, bytes_of, text_of  # noqa: E402
import colours  # noqa: E402
import why  # noqa: E402

KYMO, ASAN, MK = "build/kymo", "build/kymo-asan", "build/tools/mkcapture"
MKSCRIPT = "build/tools/mkscript"
counts = {True: 0, False: 0}


def ok(name, good, why=""):
    counts[bool(good)] += 1
    if not good:
        print(f"FAIL {name} {why}")


def kymo(*arguments, command=KYMO):
    return subprocess.run([command, *arguments], capture_output=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=patience.seconds(60))


# ---- the blocks, by a second reader --------------------------------------------------------------

def varint(data, at):
    value, shift = 0, 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def signed(data, at):
    value, at = varint(data, at)
    return (value >> 1) ^ -(value & 1), at


def marks_of(rows, data):
    """(ns, cpu, kind, thread) of each event of a block."""
    unit, at = varint(data, 0)
    ns, times, found, current = 0, [], [None] * rows, {}
    for i in range(rows):
        delta, at = signed(data, at)
        ns += delta * (unit if i else 1)
        times.append(ns)
    cpus = data[at:at + rows]
    plane = [data[at + n * rows:at + (n + 1) * rows] for n in range(1, 6)]
    assert at + 6 * rows == len(data)
    for n, i in enumerate(sorted(range(rows), key=lambda i: cpus[i])):
        thread = current.get(cpus[i], 0) ^ (plane[2][n] | plane[3][n] << 8 | plane[4][n] << 16)
        current[cpus[i]] = thread
        found[i] = (times[i], cpus[i], plane[0][n] | plane[1][n] << 8, thread)
    return found


def events_of(path):
    """(ns, cpu, class, name) of each event of a page, and its tables."""
    found, tables = [], None
    for stream, rows, data in blocks(path):
        if stream == "tables":
            tables = json.loads(data)
        if stream == "events":
            found += marks_of(rows, data)
    return [(t, cpu, tables["kinds"][k]["class"], tables["kinds"][k]["name"])
            for t, cpu, k, _ in found], tables


def compare(name, capture, page):
    lines = kymo("print", "--json", capture).stdout.decode().splitlines()
    printed = [json.loads(line) for line in lines if line.startswith("{")]
    wanted = [(e["ns"], e["cpu"], e["class"], e["event"]) for e in printed]
    got, tables = events_of(page)
    ok(f"{name}: the page has the events that kymo print prints", got == wanted,
       f"{len(got)} and {len(wanted)}")
    return tables


def outside(folder):
    page = f"{folder}/p.html"
    for capture in "test/host/golden/virt-a64.kev", "test/host/golden/mps2-an386.kev":
        done = kymo("report", "--force", capture, "-o", page, command=ASAN)
        ok(f"{capture}: a page", done.returncode == 0 and not done.stderr, done.stderr)
        compare(capture, capture, page)
    again = kymo("report", "test/host/golden/virt-a64.kev", "-o", page)
    ok("an existing file stays", again.returncode)
    ok("no file: usage", kymo("report").returncode == 2)
    ok("two files: usage", kymo("report", "a", "b").returncode == 2)
    ok("no such file", kymo("report", f"{folder}/none", "-o", f"{folder}/x").returncode == 1)
    ok("nothing is left of it", not os.path.exists(f"{folder}/x"))
    for kind in "lossy", "foreign", "swapped":
        capture = f"{folder}/{kind}.kev"
        subprocess.run([MK, capture, "8", "3000", "7", kind], check=True)
        kymo("report", "--force", capture, "-o", page, command=ASAN)
        tables = compare(kind, capture, page)
        ok(f"{kind}: losses", bool(tables["lossCount"]) == (kind == "lossy"))
        with open(capture, "rb") as f:
            whole = f.read()
        for cut in 0, 100, len(whole) // 2, len(whole) - 5:
            with open(f"{folder}/cut.kev", "wb") as f:
                f.write(whole[:cut])
            for more in (), ("--recover",):
                done = kymo("report", "--force", *more, f"{folder}/cut.kev", "-o", page,
                            command=ASAN)
                ok(f"{kind} cut at {cut}: no crash", done.returncode in (0, 1), done.stderr)
        if kind == "lossy":
            with open(f"{folder}/damaged.kev", "wb") as f:
                f.write(whole[:-900] + b"\xee" * 40 + whole[-860:])
            done = kymo("report", f"{folder}/damaged.kev", "-o", f"{folder}/none.html",
                        command=ASAN)
            ok("damaged: the remedy", done.returncode == 1 and b"`--recover` reads" in done.stderr,
               done.stderr)


def broken_clock(folder):
    """Events that are as far apart as stamps can be, in both forms of the page."""
    capture = f"{folder}/clock.kev"
    lines = "e 0 5 4 1 4 1\ne 0 0x80000000000000 6 1 1 2\ne 0 7 6 1 3 4\n"
    subprocess.run([MKSCRIPT, capture, "1"], check=True, input=lines.encode())
    for form in (), ("--most", "0"):
        done = kymo("report", "--force", *form, capture, "-o", f"{folder}/p.html", command=ASAN)
        ok(f"a broken clock {form}", done.returncode == 0 and not done.stderr, done.stderr)
    # An event before the first one, and the latest that there can be.
    back = 2**64 - 0x80000000000000 - 4294900000
    subprocess.run([MKSCRIPT, capture, "1"], check=True, input=(
        lines[:lines.index("e 0 7")] + f"e 0 {back} 6 1 3 4\ne 0 9 6 1 3 4\n").encode())
    with open(capture, "rb") as f:
        data = kev.unchecked(f.read())
    with open(capture, "wb") as f:
        f.write(data[:-59] + bytes(4) + data[-55:])
    done = kymo("report", "--force", "--recover", capture, "-o", f"{folder}/p.html", command=ASAN)
    ok("a clock that goes back", b"runtime error" not in done.stderr, done.stderr)


def under_limits(folder):
    """Without memory or files there is no page, or a whole one, and a message with the cause."""
    capture, page = f"{folder}/limits.kev", f"{folder}/limits.html"
    subprocess.run([MK, capture, "4", "120000", "5"], check=True)
    kymo("report", capture, "-o", page)
    with open(page, "rb") as f:
        whole = f.read()
    steps = [(resource.RLIMIT_AS, mb << 20, (b"memory",)) for mb in (16, 24, 32, 40, 48, 64, 256)]
    steps += [(resource.RLIMIT_NOFILE, n, (b"open files",)) for n in (4, 5, 6, 7, 8, 9, 10, 12, 64)]
    outcomes = {}
    for which, most, causes in steps:
        os.unlink(page)
        done = subprocess.run(
            [KYMO, "report", capture, "-o", page], capture_output=True, check=False,
            stdin=subprocess.DEVNULL, timeout=patience.seconds(60),
            preexec_fn=lambda which=which, most=most: resource.setrlimit(which, (most, most)))
        made = os.path.exists(page)
        outcomes.setdefault(which, set()).add(done.returncode)
        good = not done.stderr if made else any(cause in done.stderr for cause in causes)
        # What ld.so says is not the command's.
        good = good or not made and done.returncode == 127
        if made:
            with open(page, "rb") as f:
                good = good and f.read() == whole
        ok(f"limit {which} of {most}: {'a page' if made else 'none'}",
           good and made == (done.returncode == 0), (done.returncode, done.stderr))
        if not made:
            with open(page, "wb"):
                pass
    def full():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))

    # A part of a block fits, as on a full disk.
    with open(capture, "rb") as file:
        done = subprocess.run([KYMO, "report", "--force", "-", "-o", page], capture_output=True,
                              check=False, input=file.read(), timeout=patience.seconds(60),
                              preexec_fn=full)
    ok("a stream that can't be kept", done.returncode == 1 and done.stderr ==
       b"kymo: standard input: cannot keep a copy of the stream: File too large\n", done.stderr)
    ok("limits were met, and were wide enough", all(
        {0, 1} <= codes for codes in outcomes.values()), outcomes)


# ---- the page ------------------------------------------------------------------------------------

def ready(b, path, fragment=""):
    b.open(path, fragment)
    b.until("document.documentElement.dataset.ready", "the page")


def hostile(folder):
    """The golden capture with a name of HTML: a process's, and the file's."""
    with open("test/host/golden/virt-a64.kev", "rb") as f:
        data = bytearray(f.read())
    at = data.find(b"tracelog")
    while at >= 0:
        if data[at + 16:at + 20] == b"ger\0":  # after the next slot's header and time
            data[at:at + 8], data[at + 16:at + 20] = b"<img src", b"=x>\0"
        at = data.find(b"tracelog", at + 1)
    path = f"{folder}/{'<img src=x onerror=hurt=1>'}.kev"
    with open(path, "wb") as f:
        f.write(data)
    return path


def because(b):
    """A wait of the summary's list, by keys: its path, its steps, and the link to it."""
    b.keys("Escape")
    b.until("document.getElementById('waits')", "the longest waits")
    deep = b.run("return whyWaits(WAITS_SHOWN).findIndex((w) => whyPath(w.thread, w.from, w.to)"
                 ".parts.some((p) => p.thread !== w.thread))")
    b.run("document.querySelectorAll('#waits button')[arguments[0]].focus()", deep)
    b.keys("Enter")
    b.until("document.getElementById('why') && document.querySelectorAll('.why tr').length > 1",
            "why")
    ok("why: a path", b.run("return whyLeaves(view.why).length > 0 && view.why.parts.length > 1"))
    b.until("location.hash.includes('w=') && location.hash === viewLink()", "its link")
    link = b.run("return location.hash")
    b.run("document.querySelectorAll('.why tr[tabindex]')[1].focus()")
    b.keys("Enter")
    b.until("document.getElementById('why') && view.rows[view.row].thread !== view.why.thread",
            "a step")
    ok("why: a step goes to the other thread", True)
    b.run("document.getElementById('why-close').click()")
    b.until("!document.getElementById('why') && location.hash === viewLink()", "no why")
    b.run("location.hash = arguments[0]", link)
    b.until("document.getElementById('why') && view.why", "why by its link")
    ok("why: the link opens it", True)
    b.run("document.getElementById('canvas').focus()")
    b.keys("Escape")
    ok("why: Esc closes it", b.run("return view.why === null"))
    b.run("view.row = view.rows.findIndex((r) => r.type === 'thread'); setCursor(middleTime())")
    b.keys("w")
    b.until("document.getElementById('why')", "why by key")
    ok("why: W asks", True)
    b.keys("Escape")


def interactions(b, page):
    ready(b, page)
    whole = b.run("return [view.from, view.to]")
    few = "arrowsInSight() !== null && arrowsInSight().length <= 200"
    b.run("showTimes(view.from, view.from + (view.to - view.from) / 500)")
    ok("few arrows are drawn", b.run(f"return {few}"))
    b.run("const one = report.loaded.arrows; const wide = new one.to.constructor(30000)"
          ".fill((view.from + view.to) / 2); report.loaded.arrows = {...one, to: wide}; drawSoon()")
    b.until("view.arrowsHidden", "no arrows where there are too many")
    b.run("location.reload()")
    ready(b, page)
    box = b.run("const r = document.getElementById('canvas').getBoundingClientRect();"
                "return [r.x, r.y, r.width, r.height]")
    x, y = box[0] + 190 + (box[2] - 190) / 2, box[1] + 90
    span = "view.to - view.from"
    b.wheel(x, y, 0, -300)
    b.until(f"{span} < {0.8 * (whole[1] - whole[0])}", "zoom by wheel")
    ok("the wheel zooms", True)
    before = b.run("return view.from")
    b.pointer((x, y), "down", (x - 120, y), "up")
    ok("dragging moves", b.run("return view.from") > before)
    b.pointer((x - 100, y), "down", (x, y), "up", hold="Shift")
    ok("Shift and dragging measures", b.run("return view.range && view.range[1] > view.range[0]"))
    b.until("document.getElementById('cut') && document.getElementById('cut').textContent",
            "the command of the selection")
    ok("a selection has its command", b.run(
        "return document.getElementById('cut').textContent").startswith("kymo cut "))
    row = b.run("const rows = view.rows.filter((r) => r.type === 'thread' && processText(r.thread)"
                ".startsWith('t_msg')); return [rows[0].key, AXIS - view.scroll + rows[0].y + 8]")
    b.pointer((x, box[1] + row[1]), "down", "up")
    b.until("document.getElementById('details').textContent.includes('of this thread') &&"
            f"view.rows[view.row].key === '{row[0]}' &&"
            "document.querySelectorAll('#events tbody tr').length > 5", "events around")
    ok("a click shows the events around", True)
    b.until("location.hash === viewLink()", "the link")
    link, shown = b.run("return [location.hash, [view.from, view.to, view.cursor, view.row]]")
    ready(b, page, link)
    again = b.run("return [view.from, view.to, view.cursor, view.row]")
    ok("the link opens the same view", all(abs(p - q) <= 2 for p, q in zip(shown, again)),
       f"{shown} {again}")
    b.click("#canvas")
    for key, what, script in (
            ("f", "F shows everything", f"{span} >= {whole[1] - whole[0]}"),
            ("+", "+ zooms", f"{span} < {0.6 * (whole[1] - whole[0])}"),
            ("ArrowDown", "an arrow selects a row", "view.row >= 0"),
            ("]", "] steps to a change", "view.cursor !== null"),
            ("a", "A hides arrows", "view.showArrows === false"),
            ("t", "T changes the theme", "document.documentElement.dataset.theme === 'dark'"),
            ("b", "B bookmarks", "document.querySelectorAll('#bookmarks button').length === 2"),
            ("?", "? helps", "document.getElementById('keys').open")):
        b.keys(key)
        b.until(script, what)
        ok(what, True)
    b.keys("Escape")
    because(b)
    # The worker answers in order, so what the panel asked for first is answered by then.
    b.run("bookmarks = []; setCursor((view.from + view.to) / 2); addBookmark();"
          "return ask('around', {time: 0, filter: {}, before: 1, after: 1})"
          ".then(() => new Promise((done) => setTimeout(done)))")
    ok("a late answer does not replace the bookmarks", b.run(
        "return document.querySelectorAll('#bookmarks button').length") == 2)
    b.keys("/")
    b.keys(*"MSG_SENDV")
    b.keys("Enter")
    b.until("document.getElementById('found').textContent.includes('MSG_SENDV')", "search")
    ok("search finds", True)
    at = b.run("return searchAt.index")
    b.keys("Enter")
    b.until(f"searchAt && searchAt.index > {at}", "the next one")
    ok("search finds the next", True)
    b.run("showTimes(...wholeSpan())")
    b.touch(((x - 40, y), (x - 160, y)), ((x + 40, y), (x + 160, y)))
    b.until(f"{span} < {0.9 * (whole[1] - whole[0])}", "pinch")
    ok("two fingers zoom", True)


def causes(b, folder):
    """The page's chains of causes, and what is done with them."""
    seed = int(os.environ.get("SEED", "1"))
    captures = {"golden": "test/host/golden/virt-a64.kev",
                "small": "test/host/golden/mps2-an386.kev"}
    for kind, cpus in ("lossy", "8"), ("foreign", "1"), ("plain", "4"):
        captures[kind] = f"{folder}/why-{kind}.kev"
        subprocess.run([MK, captures[kind], cpus, "4000", str(seed), kind], check=True)
    for program in "why", "timeline":  # planted causes; a simulated system with losses
        kept = f"{folder}/{program}"
        os.mkdir(kept)
        subprocess.run([f"build/unit/{program}"], check=True, capture_output=True,
                       env=dict(os.environ, KEEP=kept, ROUNDS="1", SEED=str(seed)))
        captures.update((f"{program}-{file}", f"{kept}/{file}") for file in os.listdir(kept)
                        if os.path.getsize(f"{kept}/{file}") < 1000000)
    found = 0
    for name, capture in captures.items():
        kymo("report", "--force", capture, "-o", f"{folder}/why.html")
        ready(b, f"{folder}/why.html")
        found += why.compare(b, kymo, ok, name, capture, seed)
    ok("there were answers to compare", found > 100, found)


SHARES = """
const {states, levels, tables} = report.loaded, found = [];
for (let t = 1; t < tables.threads.length; t++) {
    for (let at = states.offset[t]; at < states.offset[t + 1]; at++) {
        found.push([t, states.state[at], states.start[at], stateEnd(t, at)]);
    }
}
return found;
"""


def whole_distribution(b, name, messages):
    """The bars of the messages' latencies: of all pairs, and of one, with kymo stat's counts."""
    def bars():
        return b.run(f"return {chart}.texts()")

    chart = "charts.find((one) => one.canvas.id === 'whole-distribution' && one.canvas.isConnected)"
    seen = [m for m in messages if m["latency"]["count"]]
    for m in seen:
        steps = m["latency"]["steps_ns"]
        ok(f"{name}: steps of a distribution", sum(s[2] for s in steps) == m["latency"]["count"] and
           all(a[0] < a[1] <= c[0] for a, c in zip(steps, steps[1:])) and
           steps[0][0] <= m["latency"]["min_ns"] <= m["latency"]["max_ns"] <= steps[-1][1], m)
    if not seen:
        return
    total = sum(m["latency"]["count"] for m in seen)
    shown = bars()
    ok(f"{name}: the distribution has each message",
       sum(int(re.sub(r"\D", "", text.rsplit(": ", 1)[1])) for text in shown) == total, shown)
    first = seen[0]
    b.run("$('pair').value = arguments[0]; $('pair').dispatchEvent(new Event('change'))",
          f"{first['from']} {first['to']}")
    steps = len(first["latency"]["steps_ns"])
    b.until(f"$('pair').value !== '' && {chart}.texts().length === {steps}",
            "the distribution of a pair")
    b.run("latency.pair = ''")


def whole_views(b, name, stat):
    """Each view of a page without events shows all rows of kymo stat --json, with its figures."""
    def expect(view, table, columns, wanted):
        b.run(f"openView('{view}')")
        b.until(f"document.getElementById('{table}')", table)
        got = sorted(b.run(
            "return [...document.querySelectorAll('#' + arguments[0] + ' tbody tr')].map((row) =>"
            " arguments[1].map((i) => row.cells[i].dataset.value))", table, columns))
        wanted = sorted([str(value) for value in row] for row in wanted)
        ok(f"{name}: {table} is kymo stat's", got == wanted, (got[:3], wanted[:3]))

    def thread(t):
        return f"{t['process'] or 'process'} ({t['pid']}/{t['tid']})" + \
            (f" {t['name']}" if t["name"] else "")

    busy = [t for t in stat["threads"] if not t["idle"]]
    expect("cpu", "whole-cpus", [0, 2, 3], [
        [c["cpu"], c["busy_ns"], c["idle_ns"]] for c in stat["cpus"]])
    expect("cpu", "whole-threads", [0, 1, 4], [
        [thread(t), t["states_ns"].get("RUNNING", 0), t["runs"]] for t in busy])
    expect("statistics", "whole-classes", [0, 1], stat["classes"].items())
    expect("statistics", "whole-calls", [0, 1, 3], [
        [c["name"] or c["number"], c["entered"], c["errors"]] for c in stat["kernel_calls"]])
    expect("service", "whole-service", [0, 2], [[thread(t), t["imposed_ns"]] for t in busy])
    expect("messages", "whole-messages", [2, 3, 7, 8], [
        [m["sent"], m["replied"]] +
        [m["latency"][k] if m["latency"]["count"] else "undefined" for k in ("p99_ns", "max_ns")]
        for m in stat["messages"]])
    expect("messages", "whole-slowest", [2, 3], [
        [m["latency_ns"], m["sent_at_ns"]] for m in stat["slowest_messages"]])
    whole_distribution(b, name, stat["messages"])
    expect("interrupts", "whole-interrupts", [1, 4], [
        [i["count"], i["max_ns"]] for i in stat["interrupts"]])
    ok(f"{name}: it says what it lacks", "no events" in b.run("return $('lacks').textContent"))
    b.run("openView('cpu')")
    ok(f"{name}: a chart of each CPU", b.until("document.getElementById('use-cpu0')", "a chart"))


def detail(b, folder):
    """A page without events has the shares of the states that the whole page has, rounded up."""
    for name, capture in (("golden", "test/host/golden/virt-a64.kev"),
                          ("lossy", f"{folder}/lossy.kev")):
        page = f"{folder}/levels.html"
        kymo("report", "--force", capture, "-o", page)
        ready(b, page)
        states = b.run(SHARES)
        done = kymo("report", "--force", "--most", "0", capture, "-o", page, command=ASAN)
        ok(f"{name}: a page without events", done.returncode == 0, done.stderr)
        streams = {stream for stream, _, _ in blocks(page)}
        ok(f"{name}: it has levels only", streams == {"levels", "tables"}, streams)
        ready(b, page)
        b.run("openView('timeline')")
        b.keys("v")
        b.until("document.getElementById('whole')", "the summary")
        stat = kymo("stat", capture, command=ASAN).stdout.decode().rstrip("\n")
        ok(f"{name}: the summary is kymo stat's", b.run("return $('whole').textContent") == stat)
        ok(f"{name}: the views of the whole are offered", b.run(
            "return [...$('tabs').children].map((tab) => tab.id.slice(4))") ==
           ["findings", "timeline", "summary", "cpu", "statistics", "service", "messages",
            "interrupts"])
        whole_views(b, name, json.loads(kymo("stat", "--json", capture, command=ASAN).stdout))
        b.run("openView('timeline')")
        tables, lanes = b.run("return [report.loaded.tables, report.loaded.levels.map((l) =>"
                              "l && Array.from(l))]")
        width, bins = tables["levels"]["width"], tables["levels"]["bins"]
        spent = {}
        for thread, state, begin, end in states:
            plane = {1: 0, 2: 1, 255: 2}.get(state)
            begin, end = begin - tables["levels"]["from"], end - tables["levels"]["from"]
            while plane is not None and max(begin, 0) < end:
                begin = max(begin, 0)
                until = min(end, (begin // width + 1) * width)
                key = thread, plane, begin // width
                spent[key] = spent.get(key, 0) + until - begin
                begin = until
        wrong = [(t, p, i) for t in range(1, len(tables["threads"])) for p in range(3)
                 for i in range(bins) if lanes[t][p * bins + i] !=
                 min(255, -(-int(spent.get((t, p, i), 0)) * 255 // width))]
        ok(f"{name}: shares are those of the states", not wrong and spent, wrong[:5])
        ok(f"{name}: it says that it has no events", b.run(
            "return document.getElementById('banner').textContent.includes('kymo cut')"))
        b.run("view.row = view.rows.findIndex((r) => r.type === 'thread');"
              "setCursor((view.from + view.to) / 2)")
        b.until("document.getElementById('closer') && document.getElementById('status')"
                ".textContent.includes('ran')", "what is there")
        ok(f"{name}: how to see more", b.run(
            "return document.getElementById('closer').textContent").startswith("kymo cut "))
        b.run("document.getElementById('canvas').focus()")
        b.keys("+", "w", "]", "ArrowDown", "f", "Escape")
        b.keys("/", "x", "Enter")
        b.until("document.getElementById('found').textContent !== ''", "a search of nothing")
    ok("--most: usage", kymo("report", "--most", "x", "a").returncode == 2)


def missing_is_said(b, folder):
    """How many events are missing: as exactly as it is known, and in words."""
    with open("test/host/golden/virt-a64.kev", "rb") as f:
        whole = f.read()
    with open(f"{folder}/short.kev", "wb") as f:
        f.write(whole[:len(whole) - 3000])
    kymo("report", f"{folder}/short.kev", "-o", f"{folder}/short.html")
    ready(b, f"{folder}/short.html")
    said = b.run("return $('banner').textContent")
    ok("cut short: nobody counts", "missing: not known how many, in 1 place, hatched" in said, said)
    ready(b, f"{folder}/lossy.html")
    said = b.run("return $('banner').textContent")
    ok("what was recorded is not known", "does not say what was recorded" in said and
       "Not everything was recorded" not in said, said)
    # A text that the doubt begins with is said once; what the doubt does not have is said, too.
    for doubt, text, times in (("not known: why", "not known", 0), ("of threads", "of others", 1),
                               (None, "of others", 1)):
        said = b.run(f"report.loaded.tables.doubt = {json.dumps(doubt)};"
                     "report.loaded.tables.losses = [{scope: true, kind: SCOPE_UNKNOWN,"
                     f"text: {json.dumps(text)}}}]; showBanner(); return $('banner').textContent")
        ok(f"doubt {doubt}, unknown {text}",
           said.count(f"What was recorded is not known: {text}.") == times and
           (doubt is None or doubt[1:] in said), said)
    for kinds, text in ("1, 1", "7, in 2 places"), ("1, 2", "7 or more, in 2 places"):
        counted = b.run("return lostText({lossCount: 2, lostEvents: 7, losses: [{scope: true},"
                        f"...[{kinds}].map((kind) => ({{kind}}))]}})")
        ok(f"losses of kinds {kinds}", counted == text, counted)


TEXTS = """
const found = [], real = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    if (x > GUTTER && y > AXIS) {
        found.push([x, x + this.measureText(text).width]);
    }
    return real.call(this, text, x, y);
};
view.rows.forEach((row) => { row.gaps = arguments[0]; });
draw();
CanvasRenderingContext2D.prototype.fillText = real;
return [found, arguments[0].map((gap) => gap.map(placeOf))];
"""


def texts_stand_clear(b, page):
    """No text of a state, a call or a thread is drawn where its row is hatched."""
    ready(b, page)
    begin, end = b.run("showTimes(...wholeSpan()); return [view.from, view.to]")
    at = [begin + (end - begin) * part for part in (0.2, 0.6, 0.75, 0.8)]
    clear, _ = b.run(TEXTS, [])
    texts, hatched = b.run(TEXTS, [at[:2], at[2:]])
    over = [text for text in texts for gap in hatched if text[0] < gap[1] and text[1] > gap[0]]
    ok("texts stand beside the hatching", texts and len(clear) > len(texts) and not over, over)


def pages(folder):
    good, lossy = f"{folder}/good.html", f"{folder}/lossy.html"
    kymo("report", "test/host/golden/virt-a64.kev", "-o", good)
    kymo("report", f"{folder}/lossy.kev", "-o", lossy)
    bad = hostile(folder)
    kymo("report", "--recover", bad, "-o", f"{folder}/bad.html")
    with browser.opened() as b:
        interactions(b, good)
        causes(b, folder)
        detail(b, folder)
        ready(b, lossy)
        ok("losses: a banner", "Events are missing" in b.run(
            "return document.getElementById('banner').textContent"))
        missing_is_said(b, folder)
        texts_stand_clear(b, good)
        ready(b, lossy)
        ok("losses: stretches to hatch", b.run("return report.loaded.gaps.length > 0"))
        ready(b, f"{folder}/bad.html")
        b.run("showTimes(...wholeSpan()); setCursor(report.loaded.tables.first + 1e5)")
        b.until("document.getElementById('events')", "its events")
        ok("hostile names are text", b.run(
            "return document.images.length === 0 && typeof hurt === 'undefined' &&"
            "document.getElementById('title').textContent.includes('<img')"))
        ok("hostile names are there", b.run(
            "return report.loaded.tables.threads.some((t) => t && t[4] === '<img src=x>')"))
        faults = b.run("return report.faults") + b.complaints()
        ok("nothing on the console", not faults, faults)


def main():
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory(dir=temporary.PLACE) as folder:
        outside(folder)
        broken_clock(folder)
        under_limits(folder)
        styles, nearest = colours.nearest("host/report/page/view.js")
        ok("states of one height are told apart by everybody", styles > 8 and nearest[0] > 15,
           nearest)
        pages(folder)
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 0 if counts[True] and not counts[False] else 1


if __name__ == "__main__":
    sys.exit(main())
