# SPDX-License-Identifier: BSD-2-Clause
"""The page's answers to "why" against those of `kymo why --json`: the longest waits, waits at
random times and random intervals of random threads."""
import json
import random

ANSWER = """
const {tables, states} = report.loaded;
const who = (t) => t === 0 ? null : [tables.threads[t][0], tables.threads[t][1]];
const answer = (why) => ({from: why.from, to: why.to, thread: who(why.thread), whole: !why.full,
    path: why.parts.map((p) => {
        const state = p.at < 0 ? 255 : states.state[p.at];
        const one = {from: p.from, to: p.to, depth: p.depth, thread: who(p.thread), state:
            state === 255 ? "unknown" : tables.states[state].replace(/^TH/, "")};
        if (state === 255) {
            return one;
        }
        if (states.priority[p.at] >= 0) {
            one.priority = states.priority[p.at];
        }
        if (state === 1) {
            one.cpu = states.cpu[p.at];
        }
        if (states.object[p.at]) {
            one.object = tables.names[states.object[p.at]][1];
        }
        if (state === 2) {
            one.ran = whyRan(p.thread, p.from, p.to).map((r) => [who(r.thread), r.priority, r.ns]);
        } else if (state !== 1) {
            one.waits_for = who(states.waits[p.at]);
        }
        if (p.cut) {
            one.cut = true;
        }
        if (p.circle) {
            one.circle = true;
        }
        return one;
    }),
    inversions: why.inversions.map((i) => [who(i.victim), who(i.holder), who(i.middle),
        i.priorities, i.ns]),
    begun: why.chain.map((l) => [l.time, who(l.thread), l.cause === 3 ? l.by : who(l.by)])});
const one = arguments[0];
if (one.waits) {
    return whyWaits(one.waits).map((w) => answer(whyPath(w.thread, w.from, w.to)));
}
const interval = one.interval || whyInterval(one.thread, one.at);
return interval && [answer(whyPath(one.thread, ...interval))];
"""


def who(thread):
    return thread and [thread["pid"], thread["tid"]]


def told(line):
    """What `kymo why --json` said, in the form of ANSWER."""
    why = json.loads(line)
    path = []
    for part in why["path"]:
        one = {key: part[key] for key in ("from", "to", "depth", "state", "priority", "cpu",
                                          "object", "cut", "circle") if key in part}
        one["thread"] = who(part["thread"])
        if "ran" in part:
            one["ran"] = [[who(r["thread"]), r.get("priority", -1), r["ns"]] for r in part["ran"]]
        if "waits_for" in part:
            one["waits_for"] = who(part["waits_for"])
        path.append(one)
    return {"from": why["from"], "to": why["to"], "thread": who(why["thread"]),
            "whole": why["whole"], "path": path,
            "inversions": [[who(i["waited"]), who(i["for"]), who(i["while"]), i["priorities"],
                            i["ns"]] for i in why["inversions"]],
            "begun": [[l["at"], who(l["woke"]), l["interrupt"] if "interrupt" in l else
                       who(l["by"])] for l in why["begun"]]}


def compare(b, kymo, ok, name, capture, seed, rounds=12):
    """The browser has the capture's page open."""
    def ask(what, *words):
        done = kymo("why", "--json", *words, capture)
        wanted = [told(line) for line in done.stdout.decode().splitlines()]
        if "interval" in what and wanted:  # times of the command are rounded to cycles
            what["interval"] = [wanted[0]["from"], wanted[0]["to"]]
        got = b.run(ANSWER, what)
        ok(f"{name}: {' '.join(words)}: the page answers as kymo why does (seed {seed})",
           (got or []) == wanted, f"\n{got}\n{wanted}\n{done.stderr}")
        return len(wanted)

    rng = random.Random(f"{seed} {name}")
    found = ask({"waits": 20}, "--waits", "20")
    threads = b.run("return report.loaded.tables.threads")
    first, last = b.run("return [report.loaded.tables.first, report.loaded.tables.last]")
    alone = [i for i, t in enumerate(threads)  # ids that are used again need a time
             if t and sum(u is not None and u[:2] == t[:2] for u in threads) == 1]
    for _ in range(rounds if alone else 0):
        thread = rng.choice(alone)
        ids = f"{threads[thread][0]}:{threads[thread][1]}"
        begin = max(first, threads[thread][2] or first)
        end = min(last, threads[thread][3] or last)
        if begin >= end:
            continue
        at, other = rng.randrange(begin, end), rng.randrange(begin, end)
        row = b.run("const t = arguments[0], at = stateBehind(t, arguments[1]); return at <"
                    "report.loaded.states.offset[t + 1] ? [report.loaded.states.start[at],"
                    "stateEnd(t, at)] : null", thread, at)
        if row and row[1] - row[0] > 4000:
            middle = sum(row) // 2
            found += ask({"thread": thread, "at": middle}, "--thread", ids, "--at", f"{middle}ns")
        if other - at > 4000:
            found += ask({"thread": thread, "interval": [at, other]}, "--thread", ids,
                         "--from", f"{at}ns", "--to", f"{other}ns")
    return found
