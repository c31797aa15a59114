# SPDX-License-Identifier: BSD-2-Clause
"""What is asked of tracelogger's modes and of the options whose captures say whether they work:
test/board/images/modes.start runs the cases, each after a line `hello NAME`, into NAME.kev."""
import json
import os
import re
import subprocess

import kev
import logger
import merged

CONTROL, TIME, DROPPED = 1, 1, 8
GAVE_WAY = 8  # reason of DROPPED: a ring's, no loss
OUTSIDE = 900
RECYCLED = re.compile(r"^tracelogger: (\d+) older events were overwritten by newer ones$", re.M)
NOT_IN_THEM = re.compile(r"^tracelogger: .* the (\d+) events (?:after it|in them) are counted",
                         re.M)
LAG = re.compile(r"^tracelogger: not keeping up: (\d+) events lost so far \((CPU [^)]*)\); "
                 r"-k (\d+) would have been enough$", re.M)


class Events:
    """All of a capture, with 64-bit times."""

    def __init__(self, boot, name):
        path = os.path.join(boot.dir, name + ".kev")
        high, self.events = {}, []  # (time, class, event, d1)
        self.dropped, self.recycled = {}, {}  # (cpu, reason): n
        for header, time, d1, d2 in kev.raw_slots(path):
            cls, event, cpu = header >> 10 & 0x1f, header & 0x3ff, header >> 24 & 0x3f
            if cls == CONTROL and event == TIME:
                high[cpu] = d1
            elif cls == CONTROL and event == DROPPED:
                key = cpu, d1 >> 8
                counts = self.recycled if d1 >> 8 == GAVE_WAY else self.dropped
                counts[key] = counts.get(key, 0) + d2
            elif cls != CONTROL and header >> 30 < 2:
                self.events.append((high[cpu] << 32 | time, cls, event, d1))

    def user(self, code):
        return [d1 for _, cls, event, d1 in self.events
                if cls == kev.CLASSES["USER"] and event == code]

    def classes(self):
        return {cls for _, cls, _, _ in self.events}

    def span(self, cls, codes):
        times = [time for time, c, event, _ in self.events if c == cls and event in codes]
        return (min(times), max(times)) if times else None


def every_event_is_in_the_capture_or_counted(boot):
    """made, by the kernel = in the file + DROPPED in the file + recycled; for every capture."""
    wrong, count = [], 0
    for name, text in logger.cases(boot).items():
        summary = logger.SUMMARY.search(text)
        if not summary:
            continue
        count += 1
        capture = Events(boot, name)
        made, lost = int(summary[1]), int(summary[2])
        recycled = sum(map(int, RECYCLED.findall(text)))
        behind = sum(map(int, NOT_IN_THEM.findall(text)))
        dropped = sum(capture.dropped.values())
        if dropped != lost + behind or made != len(capture.events) + dropped + recycled:
            wrong.append(f"{name}: made {made}, lost {lost} + {behind}, recycled {recycled}, but "
                         f"{len(capture.events)} are there and {dropped} counted")
    return "; ".join(wrong) or (None if count >= 17 else f"only {count} captures")


def each_logger_ends_well(boot):
    wrong = [name for name, text in logger.cases(boot).items()
             if "exited with status" in text and
             name not in ("S-small", "S-ring", "at-once", "recovers", "library-killed",
                          "library-waits")]
    return f"status: {wrong}" if wrong else None


def three_runs_are_one_capture(boot):
    """Their events and no others; what each run's filter let through, only in that run."""
    runs = Events(boot, "daemon")
    user, comm, states = (kev.CLASSES[name] for name in ("USER", "COMM", "PR_TH"))
    for number in range(3):
        if runs.user(100 + number) != list(range(200)):
            return f"run {number}: {len(runs.user(100 + number))} events"
    if runs.user(OUTSIDE):
        return "events from outside of the runs"
    first, second, third = (runs.span(user, {100 + n}) for n in range(3))
    talk, threads = runs.span(comm, range(1024)), runs.span(states, range(1024))
    if not talk or not first[1] < talk[0] < talk[1] < third[0]:
        return f"COMM: {talk}, the runs {first}, {second}, {third}"
    if not threads or not second[1] < threads[0]:
        return f"THREAD: {threads}, the runs {first}, {second}, {third}"
    return None if runs.classes() == {user, comm, states} else f"classes {runs.classes()}"


def the_filters_are_the_applications(boot):
    """-d1 leaves what was on; with -E all is, but for -F."""
    before, everything = Events(boot, "daemon-filters"), Events(boot, "daemon-E")
    if before.classes() != {kev.CLASSES["USER"]} or before.user(100) != list(range(200)):
        return f"-d1: classes {before.classes()}"
    want = set(kev.CLASSES.values()) - {kev.CLASSES["CONTROL"], kev.CLASSES["COMM"]}
    maybe = {kev.CLASSES["SYSTEM"], kev.CLASSES["KYMO_CALL"]}  # few of these calls are made
    return None if want - maybe <= everything.classes() <= want else \
        f"-E -F 6: classes {everything.classes()}"


def a_daemons_ring_is_written_at_each_stop(boot):
    ring = Events(boot, "daemon-r")
    for run in range(2):
        numbers = ring.user(100 + run)
        if not numbers or numbers != list(range(numbers[0], 5000)) or numbers[0] == 0:
            return f"run {run}: {len(numbers)} events, {numbers[:1]} to {numbers[-1:]}"
    between, all_of_them = sum(ring.recycled.values()), sum(map(int, RECYCLED.findall(
        logger.cases(boot)["daemon-r"])))
    if ring.dropped or not 0 < between < all_of_them:
        return f"lost {ring.dropped}, of {all_of_them} recycled ones {between} between the runs"
    path = os.path.join(boot.dir, "daemon-r.kev")
    stat = subprocess.run([logger.KYMO, "stat", "--json", path], capture_output=True, text=True)
    if stat.returncode != 0 or json.loads(stat.stdout)["losses"]:
        return f"kymo stat: {stat.stderr} {stat.stdout[-300:]}"
    stat = subprocess.run([logger.KYMO, "stat", path], capture_output=True, text=True).stdout
    said = f"recycled {between} events between" in stat and "may be more" not in stat
    return None if said else f"kymo stat: {stat}"


def it_ends_by_itself(boot):
    """-d1 -n and -s; another process's STOP, a signal, with all events up to there."""
    said, wrong = logger.cases(boot), []
    for name in "daemon-n", "stop", "stop-r", "signal":
        if "TEST slay/gone without a trace: ok" not in said[name]:
            wrong.append(f"{name}: it goes on")
    for name in "stop", "stop-r":
        if said[name].count("tracelogger: stopped by another process\n") != 1:
            wrong.append(f"{name}: it doesn't say why it stopped")
    for name in "stop", "signal":
        if Events(boot, name).user(0) != list(range(3000)):
            wrong.append(f"{name}: not all events")
    newest = Events(boot, "stop-r").user(0)
    if not newest or newest != list(range(9000 - len(newest), 9000)) or len(newest) == 9000:
        wrong.append(f"stop-r: {len(newest)} events")
    if int(logger.SUMMARY.search(said["daemon-n"])[4]) < 3:
        wrong.append("daemon-n: fewer than 3 buffers")
    return "; ".join(wrong) or None


def of_two_one_records(boot):
    """However close they begin; the other says who does, if that has the buffers by then."""
    text = logger.cases(boot)["at-once"]
    who = re.findall(r"^tracelogger: (?:tracelogger \(process \d+\) is recording already|"
                     r"another program is starting a recording): `tracestop` ends it$", text, re.M)
    summaries, failed = len(logger.SUMMARY.findall(text)), text.count("exited with status 1\n")
    return None if (len(who), summaries, failed) == (1, 1, 1) else text[:500]


def a_capture_without_a_run_is_empty(boot):
    if "0 events, 0 lost" not in logger.cases(boot)["stop-nothing"]:
        return "it doesn't say so"
    path = os.path.join(boot.dir, "stop-nothing.kev")
    return None if not kev.slot_bytes(path) else "it has slots"


def attributes_are_read_back(boot):
    """The last first, after the system page's length and before the arguments."""
    with open(os.path.join(boot.dir, "A.kev"), "rb") as f:
        head = f.read(2000)
    if b"TRACE__x::TRACE_note::two words, 3TRACE_first::1TRACE_FILTER_1::all " not in head:
        return f"{head[:700]}"
    path = os.path.join(boot.dir, "A.kev")
    printed = subprocess.run([logger.KYMO, "print", path], capture_output=True, text=True).stdout
    lines = re.findall(r"^ *TRACE_(\w+):: ?(.*)$", printed, re.M)
    want = [("note", "two words, 3"), ("first", "1")]  # an empty one is not printed
    if [pair for pair in lines if pair in want] != want:
        return f"kymo print: {lines}"
    stat = subprocess.run([logger.KYMO, "stat", "--json", path], capture_output=True, text=True)
    return None if stat.returncode == 0 and json.loads(stat.stdout) else "kymo stat fails"


def flushing_closes_quiet_buffers(boot):
    """-D 1: in three and a half seconds of silence at least 3 buffers; without it one a CPU."""
    said = logger.cases(boot)
    line = re.compile(r"^tracelogger: CPU 0 buffer \d+: \d+ slots$", re.M)
    flushed, quiet = (len(line.findall(said[name])) for name in ("D", "without-D"))
    return None if flushed >= 4 > quiet >= 1 else f"{flushed} with -D, {quiet} without"


def sizes_are_kept(boot):
    """At most -S, and nearly that; the rest is counted. What can't be is refused with a number."""
    said, wrong = logger.cases(boot), []
    reserve = 16 * 8 * 16 * boot.cpus()
    for name, most in ("S", 200 << 10), ("S-bytes", 123456):
        size = os.path.getsize(os.path.join(boot.dir, name + ".kev"))
        if not most - reserve - (16 << 10) < size <= most:
            wrong.append(f"{name}: {size} bytes of {most}")
        behind = re.search(rf"^tracelogger: the size of -S {most} is reached: the capture ends "
                           r"with a whole buffer, and the (\d+) events after it", said[name], re.M)
        if (not behind or "INCOMPLETE" in said[name] or
                "slay/gone without a trace: ok" not in said[name]):
            wrong.append(f"{name}: {said[name][-300:]}")
    for name in "S-enough", "S-r":
        if "is reached" in said[name]:
            wrong.append(f"{name}: cut")
    for name, what in ("S-small", "1000 is too small for the header, a buffer"), \
            ("S-ring", "204800 is too small for the header, the ring"):
        found = re.search(rf"^tracelogger: -S {what} and the account of losses: "
                          r"give at least (\d+)", said[name], re.M)
        if not found or "exited with status 1" not in said[name]:
            wrong.append(f"{name}: {said[name][:300]}")
    return "; ".join(wrong) or None


def a_and_b_are_as_documented(boot):
    said = logger.cases(boot)
    buffers = 8 + -(-8 // boot.cpus())
    if "tracelogger: -a is ignored: Kymo has no Security events\n" not in said["a"]:
        return "-a says nothing"
    return None if f"to b.kev, {buffers} kernel buffers per CPU\n" in said["b"] else said["b"]


def it_says_how_much_it_lost(boot):
    """The report = DROPPED in the capture, per CPU. The last message while it records says no more:
    events may be lost after it."""
    text = logger.cases(boot)["starved"]
    told = LAG.findall(text)
    if not told:
        return f"no message: {text[:300]}"
    total, cpus, advice = told[-1]
    message = {int(cpu): int(n) for cpu, n in re.findall(r"CPU (\d+): (\d+)", cpus)}
    report, capture = {}, {}
    for cpu, n in re.findall(r"^  CPU (\d+) lost (\d+) because: (?:overwritten|no buffer)$", text,
                             re.M):
        report[int(cpu)] = report.get(int(cpu), 0) + int(n)
    for (cpu, reason), n in Events(boot, "starved").dropped.items():
        if reason in (1, 2):
            capture[cpu] = capture.get(cpu, 0) + n
    too_much = any(n > report.get(cpu, 0) for cpu, n in message.items())
    if report != capture or too_much or int(total) != sum(message.values()):
        return f"message {total} {message}, report {report}, capture {capture}"
    if text.index("not keeping up") > text.index(" events, "):
        return "it comes after the summary"
    return None if 2 < int(advice) <= 1024 else f"-k {advice}"


def one_saves_or_discards_at_a_time(boot):
    """What is retained must not go while it is being saved."""
    text = logger.cases(boot)["recovers"]
    said = text.count("tracelogger: another process is saving or discarding the retained memory: "
                      "wait for it\n")
    return None if said == 2 and text.count("exited with status 1\n") == 2 else repr(text[:300])


def behind(path):
    """How far the slowest CPU is behind the fastest at the end of a buffer, at most: seconds; how
    many buffers have no events."""
    with open(path, "rb") as file:
        data = file.read()
    head, last, most, empty = merged.Head(data), {}, 0, 0
    for cpu, _, _, slots, ends in merged.buffers(data, head):
        last[cpu] = ends
        empty += slots == 2
        if len(last) == head.cpus:
            most = max(most, max(last.values()) - min(last.values()))
    return most / int(head.values["CYCLES_PER_SEC"]), empty


def no_cpu_is_silent_for_long(boot):
    """A CPU that has nothing to give is asked after 100 ms, and then only; with --idle 0 never."""
    with open(os.path.join(boot.dir, "idle.txt"), "w") as f:
        found = {}
        for name in "idle", "idle-never":
            path = os.path.join(boot.dir, name + ".kev")
            found[name] = *behind(path), os.path.getsize(path), logger.seconds(path)
            f.write(f"{name}: the slowest CPU is {found[name][0]:.3f} s behind, {found[name][1]} "
                    f"empty buffers, {found[name][2]} bytes, {found[name][3]:.3f} s\n")
    cpus = boot.cpus()
    (most, empty, _, length), (never, first, _, _) = found.values()
    if cpus == 1:
        return None if empty == first == 0 else f"{empty} and {first} empty buffers"
    good = most < 0.2 and never > 0.4 and first == cpus and \
        empty <= cpus + (cpus - 1) * (length / 0.1 + 1)
    return None if good else f"{found}"


CHECKS = [every_event_is_in_the_capture_or_counted, each_logger_ends_well,
          three_runs_are_one_capture, the_filters_are_the_applications,
          a_daemons_ring_is_written_at_each_stop, it_ends_by_itself, of_two_one_records,
          a_capture_without_a_run_is_empty, attributes_are_read_back, flushing_closes_quiet_buffers,
          sizes_are_kept, no_cpu_is_silent_for_long, a_and_b_are_as_documented,
          one_saves_or_discards_at_a_time,
          it_says_how_much_it_lost]
# Without the last: a storm that goes on while the message is said makes it out of date.
CHECKS_ON_THREADS = CHECKS[:-1]
