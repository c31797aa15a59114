# SPDX-License-Identifier: BSD-2-Clause
"""What threads did and what CPUs ran, from the lines of `kymo export --jsonl`: all at once, where
host/export/follow.c goes forward. For captures that lost nothing and record all classes."""
from common import want


def covered(events, cpus):
    """Of each CPU the time of which all is there, from its first event to the capture's end; and
    that of all CPUs."""
    each, end = {}, max(e["ns"] for e in events)
    for event in events:
        if event["cpu"] is not None and not event["injected"]:
            each.setdefault(event["cpu"], [event["ns"], end])
    return each, [max(first for first, _ in each.values()), end] if len(each) == cpus else [1, 0]


class Oracle:
    def __init__(self, lines):
        self.events = [x for x in lines if x["kind"] == "event"]
        want(not any(x["kind"] == "loss" for x in lines), "the oracle wants all events")
        self.each, self.all = covered(self.events, lines[0]["cpus"])
        self.end = self.events[-1]["ns"]
        self.turns = [(n, e) for n, e in enumerate(self.events)
                      if e["class"] == "THREAD" and e["event"] not in ("THCREATE", "THDESTROY")]
        self.runs = self.find_runs()
        self.states = self.find_states()

    def find_runs(self):
        """[order, order of the end, cpu, thread, from, to]"""
        open_runs, runs = {}, []
        for n, event in self.turns:
            thread = (event["pid"], event["tid"])
            if event["event"] != "THRUNNING":
                continue
            cpu = event["cpu"]
            if cpu in open_runs and open_runs[cpu][3] == thread:
                continue
            for other in list(open_runs):
                if other == cpu or open_runs[other][3] == thread:
                    run = open_runs.pop(other)
                    run[1], run[5] = n, min(event["ns"], self.each[other][1])
                    runs.append(run)
            open_runs[cpu] = [n, None, cpu, thread, event["ns"], None]
        for cpu, run in open_runs.items():
            run[1], run[5] = len(self.events), self.each[cpu][1]
            runs.append(run)
        return runs

    def running(self, thread, n):
        for run in self.runs:
            if run[3] == thread and run[0] <= n < run[1]:
                return run
        return None

    def find_states(self):
        """{(pid, tid, state, from, to)}, all but RUNNING."""
        begins, last = {}, {}
        for n, event in self.turns:
            thread, name = (event["pid"], event["tid"]), event["event"]
            if name == "THRUNNING":
                begins.setdefault(thread, []).append((n, event["ns"], None))
                continue
            run = self.running(thread, n)
            if run is not None:
                last[(thread, run[0])] = (run[1], run[5], name, n)
                continue
            where, when = n, event["ns"]
            known = any(r[2] == event["cpu"] and r[0] < n for r in self.runs)
            if not known and not begins.get(thread):
                following = [r for r in self.runs if r[2] == event["cpu"] and r[0] > n]
                if not following:
                    continue
                where, when = min(r[0] for r in following), min(r[4] for r in following)
            begins.setdefault(thread, []).append((where, when, name))
        for (thread, first), (where, when, name, n) in last.items():
            resumed = any(m > n and e["event"] == "THRUNNING" and (e["pid"], e["tid"]) == thread and
                          m < where and m > first for m, e in self.turns)
            begins[thread].append((where, when, None if resumed else name))
        for n, event in enumerate(self.events):
            thread = (event["pid"], event["tid"])
            if event["class"] == "THREAD" and event["event"] == "THDESTROY":
                if self.running(thread, n) is None and thread in begins:
                    begins[thread].append((n, event["ns"], None))
        states = set()
        for thread, all_of in begins.items():
            all_of.sort(key=lambda x: (x[0], x[2] is None))
            for i, (_, when, name) in enumerate(all_of):
                to = all_of[i + 1][1] if i + 1 < len(all_of) else self.end
                to = min(to, self.all[1])
                if name not in (None, "THDEAD") and self.all[0] <= when < to:
                    states.add((*thread, name[2:], when, to))
        return states

    def run_set(self):
        return {(cpu, *thread, start, to) for _, _, cpu, thread, start, to in self.runs
                if to > start}
